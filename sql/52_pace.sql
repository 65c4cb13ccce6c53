-- Pace: how fast a channel may be sent to, and when a channel or the host of many channels is left alone. Times are
-- those of the queue (pgboss.job_now), so that a test can move them.

set role watchpost_owner;

create table watchpost.hosts (
  kind text not null,
  host text not null,
  failures integer not null default 0,
  paused_until timestamptz,
  updated_at timestamptz not null default now(),
  primary key (kind, host)
);
comment on table watchpost.hosts is 'Hosts of receivers that do not answer, or that asked for a pause. Channels of one kind share it. Gone with the next success.';
comment on column watchpost.hosts.failures is 'How many requests in a row had no answer, whichever channel they were for.';
comment on column watchpost.hosts.paused_until is 'Until then nothing is sent there.';
create index hosts_updated_at on watchpost.hosts (updated_at);
alter table watchpost.hosts enable row level security;
alter table watchpost.hosts force row level security;

-- Security definer: the jobs read no hosts. How many of each kind get nothing now.
create function private.paused_hosts() returns table (kind text, count bigint)
language plpgsql stable security definer set search_path = '' as $$
begin
  return query select h.kind, count(*) from watchpost.hosts h where h.paused_until > pgboss.job_now() group by h.kind;
end
$$;
grant execute on function private.paused_hosts to watchpost_jobs;

-- Takes the next turn of a channel by its pace (GCRA: p_messages in p_period, as many at once) and says when it is. An
-- emergency may go ahead by as many again. Null, and no turn taken, where that would be after p_latest.
create function private.next_turn(
  p_channel_id uuid, p_messages integer, p_period interval, p_is_urgent boolean, p_latest timestamptz
)
returns timestamptz
language plpgsql volatile set search_path = '' as $$
declare
  v_now timestamptz := pgboss.job_now();
  v_step interval := p_period / p_messages;
  v_ahead interval := p_period * (1 + p_is_urgent::integer);
  v_tat timestamptz;
begin
  insert into watchpost.rate_limits as r (bucket, tat)
  values ('channel:' || p_channel_id, v_now + v_step)
  on conflict (bucket) do update set tat = greatest(r.tat, v_now) + v_step
    where greatest(v_now, greatest(r.tat, v_now) + v_step - v_ahead) <= p_latest
  returning r.tat into v_tat;
  return case when v_tat is not null then greatest(v_now, v_tat - v_ahead) end;
end
$$;

-- How channels and their hosts are after the attempts of private.settle_deliveries. A success ends the trouble of both.
create function private.record_health(p_settlements jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_well uuid[];
  v_failed record;
begin
  with given as (
    select x.channel_id, x.health
    from jsonb_to_recordset(p_settlements) as x (channel_id uuid, health jsonb)
    where x.health is not null
  )
  update watchpost.channels c
  set host = g.health ->> 'host',
      target_sealed = case when c.target_sealed = g.health #>> '{moved,from}'
        then g.health #>> '{moved,target_sealed}' else c.target_sealed end,
      target_masked = case when c.target_sealed = g.health #>> '{moved,from}'
        then g.health #>> '{moved,target_masked}' else c.target_masked end
  from given g
  where c.id = g.channel_id
    and (c.host is distinct from g.health ->> 'host' or c.target_sealed = g.health #>> '{moved,from}');

  select array_agg(x.channel_id) into v_well
  from jsonb_to_recordset(p_settlements) as x (channel_id uuid, attempt jsonb)
  where x.attempt ->> 'outcome' = 'ok';
  update watchpost.channels
  set failures = 0, status = 'ok', paused_until = null, failing_reason = null, failing_since = null
  where id = any(v_well) and failures > 0 and status <> 'disabled';
  delete from watchpost.hosts h
  where exists (select from watchpost.channels c where c.id = any(v_well) and c.kind = h.kind and c.host = h.host);

  for v_failed in
    select x.channel_id, x.attempt ->> 'outcome' as outcome, x.attempt ->> 'error' as error, x.health
    from jsonb_to_recordset(p_settlements) as x (channel_id uuid, attempt jsonb, health jsonb)
    where x.attempt ->> 'outcome' <> 'ok'
    order by x.channel_id
  loop
    perform private.record_failure(v_failed.channel_id, v_failed.outcome, v_failed.error, v_failed.health);
  end loop;
end
$$;

-- How a channel and its host are after an attempt that failed. p_health has the host, whether it did not answer
-- (is_host_failure), and for how long to pause both (channel_seconds, host_seconds).
create function private.record_failure(p_channel_id uuid, p_outcome text, p_error text, p_health jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_now timestamptz := pgboss.job_now();
  c watchpost.channels;
begin
  select * into c from watchpost.channels where id = p_channel_id;
  if (p_health ->> 'host_seconds')::double precision > 0 or (p_health ->> 'is_host_failure')::boolean then
    insert into watchpost.hosts as h (kind, host, failures, paused_until)
    select c.kind, c.host, (p_health ->> 'is_host_failure')::boolean::integer,
      v_now + (p_health ->> 'host_seconds')::double precision * interval '1 second'
    where c.host is not null
    on conflict (kind, host) do update
    set failures = h.failures + excluded.failures, paused_until = greatest(h.paused_until, excluded.paused_until),
        updated_at = now();
  end if;
  if p_outcome = 'disable_channel' then
    update watchpost.channels
    set enabled = false, status = 'disabled', failing_reason = null, failing_since = null,
        disabled_reason = coalesce(p_error, 'The receiver asked for it.')
    where id = c.id;
    return;
  end if;
  update watchpost.channels
  set failures = failures + 1, status = 'failing', failing_reason = p_error, failing_since = coalesce(failing_since, v_now),
      paused_until = greatest(
        paused_until, v_now + (p_health ->> 'channel_seconds')::double precision * interval '1 second')
  where id = c.id and status <> 'disabled';
end
$$;

-- Hosts that nothing was sent to for a week.
create function private.purge_hosts() returns void
language sql volatile set search_path = '' as $$
  delete from watchpost.hosts where updated_at < now() - interval '7 days'
$$;

reset role;
