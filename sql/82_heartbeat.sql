-- Heartbeat: whether all is well, for a service outside that notices when it is told so no more.

set role watchpost_owner;

create table watchpost.heartbeat (
  is_only boolean primary key default true check (is_only),
  looked_at timestamptz,
  reasons text[] not null default '{}',
  called_at timestamptz,
  error text
);
comment on table watchpost.heartbeat is 'One row, where HEARTBEAT_URL is set: what was found when it was looked last, and when the URL was called last.';
comment on column watchpost.heartbeat.reasons is 'Why not all was well then, so that the URL was not called; empty: all was.';
comment on column watchpost.heartbeat.called_at is 'When the URL accepted a call last; null: never.';
comment on column watchpost.heartbeat.error is 'Why the last call failed; null: it did not.';
alter table watchpost.heartbeat enable row level security;
alter table watchpost.heartbeat force row level security;
create policy heartbeat_jobs on watchpost.heartbeat for select to watchpost_jobs using (true);
grant select on watchpost.heartbeat to watchpost_jobs;
insert into watchpost.heartbeat default values;

-- Why not all is well, in sentences; empty: it is. What waits for 10 minutes is stuck: retries and paces have jobs of
-- their own that are not due meanwhile.
create function private.unwell_reasons() returns text[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(r.reason order by r.nr, r.reason), '{}')
  from (
    select 1 as nr, format(
      case j.name when 'deliver' then 'The oldest due delivery has waited for %2$s minutes.'
        else 'A job of the queue %1$s has waited for %2$s minutes.' end,
      j.name, floor(extract(epoch from pgboss.job_now() - min(j.start_after)) / 60)) as reason
    from pgboss.job j
    where j.name <> 'dead' and j.state < 'active' and j.start_after < pgboss.job_now() - interval '10 minutes'
    group by j.name
    union all
    select 2, format('A step of an escalation has been due for %s minutes.',
      floor(extract(epoch from now() - min(s.due_at)) / 60))
    from watchpost.alert_steps s
    where s.status = 'waiting' and s.due_at < now() - interval '10 minutes'
    having count(*) > 0
    union all
    select 3, format('None of the %s feeds that are switched on is well.', count(*))
    from watchpost.sources s
    where s.enabled and s.paused_at is null
    having count(*) > 0 and bool_and(private.source_status(s) <> 'ok')
  ) r
$$;

-- Security definer, both: the jobs write the heartbeat in no other way.
-- Looks once in each minute, whichever process asks first, and answers why not all is well; null where another one has
-- looked.
create function private.begin_heartbeat() returns text[]
language sql volatile security definer set search_path = '' as $$
  update watchpost.heartbeat
  set looked_at = now(), reasons = private.unwell_reasons()
  where looked_at is null or date_trunc('minute', looked_at) <> date_trunc('minute', now())
  returning reasons
$$;

create function private.end_heartbeat(p_error text) returns void
language sql volatile security definer set search_path = '' as $$
  update watchpost.heartbeat set called_at = case when p_error is null then now() else called_at end, error = p_error
$$;
grant execute on function private.begin_heartbeat, private.end_heartbeat to watchpost_jobs;

reset role;
