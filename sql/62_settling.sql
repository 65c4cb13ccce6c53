-- Settling: what becomes of deliveries that were taken up, and of their alerts, channels and hosts. Times are those of the
-- queue (pgboss.job_now), so that a test can move them.

set role watchpost_owner;

-- The state of deliveries, after an attempt or without one, and of what depends on it: the parts of a digest, and the
-- alert, which is dispatched with its first success and failed when nothing is left to try. p_settlements as in
-- settle_deliveries; one without a status keeps its state.
create function private.settle_states(p_settlements jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_sent uuid[];
  v_given_up uuid[];
  v_alerts uuid[];
  v_channels uuid[];
begin
  with given as (
    select x.*, coalesce(x.error, x.attempt ->> 'error') as why, x.attempt ->> 'remote_ref' as remote_ref
    from jsonb_to_recordset(p_settlements) as x (id uuid, status text, error text, next_at timestamptz, attempt jsonb)
    where x.status is not null
  ),
  meant as (
    select g.id as delivery_id, g.* from given g
    union all
    select d.id, g.* from given g join watchpost.deliveries d on d.digest_id = g.id
  ),
  settled as (
    update watchpost.deliveries d
    set status = m.status,
        attempts = d.attempts + (m.status <> 'cancelled' and m.attempt is not null)::integer,
        last_error = m.why,
        next_attempt_at = m.next_at,
        delivered_at = case when m.status = 'succeeded' then now() end,
        remote_ref = case when d.id = m.id then m.remote_ref end,
        turn_at = null,
        updated_at = now()
    from meant m
    where d.id = m.delivery_id
    returning d.alert_id, d.channel_id, d.status
  )
  select array_agg(s.alert_id) filter (where s.status = 'succeeded'),
    array_agg(s.alert_id) filter (where s.status not in ('succeeded', 'queued')),
    array_agg(s.alert_id) filter (where s.status <> 'queued'), array_agg(s.channel_id) filter (where s.status <> 'queued')
  into v_sent, v_given_up, v_alerts, v_channels
  from settled s
  where s.alert_id is not null;

  -- In one order, so that two processes do not wait for each other.
  perform from watchpost.alerts a where a.id = any(v_alerts) order by a.id for no key update;
  update watchpost.alerts a
  set status = case when a.status in ('pending', 'failed', 'suppressed') then 'dispatched' else a.status end,
      dispatched_at = coalesce(a.dispatched_at, now()),
      updated_at = now()
  where a.id = any(v_sent);
  if v_given_up is not null then
    perform private.reroute_alerts(v_given_up);
    update watchpost.alerts a
    set status = 'failed', updated_at = now()
    where a.id = any(v_given_up)
      and a.status = 'pending'
      and not exists (
        select from watchpost.deliveries d
        where d.alert_id = a.id and d.status in ('queued', 'held', 'sending', 'succeeded'));
  end if;
  perform private.hurry_later(v_alerts, v_channels);
end
$$;

-- What waited for messages that are settled now is due: about these alerts, each on the channel beside it.
create function private.hurry_later(p_alerts uuid[], p_channels uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_ids text[] := array(
    select d.id::text
    from unnest(p_alerts, p_channels) as s (alert_id, channel_id)
    join watchpost.deliveries d on d.alert_id = s.alert_id and d.channel_id = s.channel_id
    where d.status = 'queued' and d.digest_id is null
      and d.attempts = 0 and (d.sequence, d.act, private.step_number(d.step)) > (0, 0, 0) and d.next_attempt_at is not null);
begin
  if v_ids = '{}' then
    return;
  end if;
  update pgboss.job
  set start_after = pgboss.job_now()
  where name = 'deliver' and state = 'created' and group_id = any(p_channels::text[]) and data ->> 'delivery_id' = any(v_ids)
    and start_after > pgboss.job_now();
  perform pg_notify('watchpost_jobs', 'deliver');
end
$$;

-- Security definer, whoever changes a channel: one that works again, or that has another target, is paused no longer, and
-- what waited for the end of the pause is due.
create function private.end_pause() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
begin
  update pgboss.job
  set start_after = pgboss.job_now()
  where name = 'deliver' and state = 'created' and group_id = new.id::text and data ->> 'waits_for' = 'pause'
    and start_after > pgboss.job_now();
  if found then
    perform pg_notify('watchpost_jobs', 'deliver');
  end if;
  return null;
end
$$;
create trigger channels_end_pause after update of paused_until on watchpost.channels
  for each row when (old.paused_until is not null and new.paused_until is null)
  execute function private.end_pause();

-- What becomes of deliveries that were taken up, a list of {id, channel_id} with attempt, health, status and next_at after
-- an attempt; with status and error where there was none; and with next_at and waits_for where it only waits. An attempt is
-- recorded once. `attempt` has what is stored of it, `health` what private.record_failure needs, and where the receiver has
-- moved (moved: from, target_sealed, target_masked).
create function private.settle_deliveries(p_settlements jsonb) returns void
-- Planned once, when there may be few deliveries yet: each row is looked up, never all of them read.
language plpgsql volatile security definer set search_path = '' set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_new jsonb;
begin
  with given as (
    -- One that is deleted has nothing to settle.
    select distinct on (d.id) d.id, x.item
    from jsonb_array_elements(p_settlements) as x (item)
    join watchpost.deliveries d on d.id = (x.item ->> 'id')::uuid
  ),
  recorded as (
    insert into watchpost.delivery_attempts (
      delivery_id, attempt, outcome, status_code, duration_ms, error, response_excerpt, request_id)
    select g.id, t.attempt, t.outcome, t.status_code, t.duration_ms, t.error, t.response_excerpt, t.request_id
    from given g
    cross join lateral jsonb_to_record(g.item -> 'attempt') as t (
      attempt integer, outcome text, status_code smallint, duration_ms integer, error text, response_excerpt text,
      request_id text)
    where g.item ? 'attempt'
    on conflict (delivery_id, attempt) do nothing
    returning delivery_id
  )
  select jsonb_agg(g.item) into v_new
  from given g
  where not g.item ? 'attempt' or g.id in (select r.delivery_id from recorded r);

  perform private.settle_states(v_new);
  perform private.enqueue_delivery(x.id, x.channel_id, x.next_at, x.waits_for)
  from jsonb_to_recordset(v_new) as x (id uuid, channel_id uuid, next_at timestamptz, waits_for text)
  where x.next_at is not null;
  perform private.record_health(v_new);
end
$$;

-- One delivery after an attempt or without one. Of the test of a channel, which the API sends itself, and of a former
-- release that runs while the database is migrated.
create function private.settle_delivery(
  p_id uuid, p_status text, p_error text, p_next_attempt_at timestamptz, p_remote_ref text default null,
  p_is_attempt boolean default true
)
returns void
language sql volatile security definer set search_path = '' as $$
  select private.settle_states(jsonb_build_array(jsonb_build_object(
    'id', p_id, 'status', p_status, 'error', p_error, 'next_at', p_next_attempt_at,
    'attempt', case when p_is_attempt then jsonb_build_object('remote_ref', p_remote_ref) end)))
$$;

-- One attempt: of a former release that runs while the database is migrated.
create function private.record_attempt(p_id uuid, p_attempt jsonb, p_status text, p_next_at timestamptz, p_health jsonb)
returns void
language sql volatile security definer set search_path = '' as $$
  select private.settle_deliveries(jsonb_build_array(jsonb_build_object(
    'id', d.id, 'channel_id', d.channel_id, 'status', p_status, 'next_at', p_next_at, 'attempt', p_attempt, 'health', p_health)))
  from watchpost.deliveries d
  where d.id = p_id
$$;

grant execute on function private.settle_deliveries, private.settle_delivery, private.record_attempt to watchpost_jobs;

reset role;
