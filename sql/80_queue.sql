-- The queue: pg-boss's own schema, our queues, and the only function with which SQL enqueues.

-- @pg-boss

grant usage on schema pgboss to watchpost_owner, watchpost_jobs;
grant select, insert, update, delete on all tables in schema pgboss to watchpost_owner, watchpost_jobs;
grant execute on all functions in schema pgboss to watchpost_owner, watchpost_jobs;

select pgboss.create_queue('dead', '{"policy": "standard", "retentionSeconds": 7776000}');
select pgboss.create_queue('ingest', '{"policy": "exclusive", "retryLimit": 0, "expireInSeconds": 120, "deleteAfterSeconds": 3600}');
select pgboss.create_queue('match', '{"policy": "standard", "retryLimit": 20, "retryDelay": 1, "retryBackoff": true, "retryDelayMax": 300, "expireInSeconds": 120, "deleteAfterSeconds": 3600, "deadLetter": "dead"}');
select pgboss.create_queue('match_zone', '{"policy": "standard", "retryLimit": 20, "retryDelay": 1, "retryBackoff": true, "retryDelayMax": 300, "expireInSeconds": 120, "deleteAfterSeconds": 3600, "deadLetter": "dead"}');
select pgboss.create_queue('drill', '{"policy": "standard", "retryLimit": 20, "retryDelay": 1, "retryBackoff": true, "retryDelayMax": 300, "expireInSeconds": 120, "deleteAfterSeconds": 3600, "deadLetter": "dead"}');
select pgboss.create_queue('release', '{"policy": "standard", "retryLimit": 20, "retryDelay": 1, "retryBackoff": true, "retryDelayMax": 300, "expireInSeconds": 120, "deleteAfterSeconds": 3600, "deadLetter": "dead"}');
select pgboss.create_queue('deliver', '{"policy": "standard", "retryLimit": 1000, "expireInSeconds": 120, "deleteAfterSeconds": 3600, "deadLetter": "dead"}');
select pgboss.create_queue('purge', '{"policy": "exclusive", "retryLimit": 2, "retryDelay": 10, "expireInSeconds": 300, "deleteAfterSeconds": 86400}');

set role watchpost_owner;

-- Enqueues jobs with their queue's settings, in the caller's transaction; an id that exists already is skipped, and a
-- queue that does not exist is an error. Listeners are woken, once, if the jobs may run at once.
create function private.enqueue_all(
  p_queue text,
  p_ids uuid[],
  p_data jsonb[],
  p_groups text[],
  p_priorities integer[],
  p_start_after timestamptz default null,
  p_singleton text default null
)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_start timestamptz := coalesce(p_start_after, pgboss.job_now());
begin
  insert into pgboss.job (
    id, name, data, start_after, created_on, singleton_key, group_id, expire_seconds, deletion_seconds,
    keep_until, retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds, priority)
  select j.id, q.name, j.data, v_start, pgboss.job_now(), p_singleton, j.group_id, q.expire_seconds, q.deletion_seconds,
    v_start + q.retention_seconds * interval '1 second', q.retry_limit, q.retry_delay, q.retry_backoff,
    q.retry_delay_max, q.policy, q.dead_letter, q.heartbeat_seconds, j.priority
  from pgboss.queue q
  cross join unnest(p_ids, p_data, p_groups, p_priorities) as j (id, data, group_id, priority)
  where q.name = p_queue
  on conflict do nothing;
  if not found and not exists (select from pgboss.queue q where q.name = p_queue) then
    raise exception 'there is no queue "%"', p_queue using errcode = 'undefined_object';
  end if;
  if p_start_after is null or p_start_after <= now() then
    perform pg_notify('watchpost_jobs', p_queue);
  end if;
end
$$;

create function private.enqueue(
  p_queue text,
  p_id uuid,
  p_data jsonb,
  p_start_after timestamptz default null,
  p_group text default null,
  p_singleton text default null,
  p_priority integer default 0
)
returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.enqueue_all(
    p_queue, array[p_id], array[p_data], array[p_group], array[p_priority], p_start_after, p_singleton);
end
$$;
grant execute on function private.enqueue_all, private.enqueue to watchpost_jobs;

-- Enqueues one ingest job for each source that is due. The same statement sets the next time, so that two machines
-- that run it at once enqueue only one.
create function private.enqueue_due() returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_source text;
  v_count integer := 0;
begin
  for v_source in
    update watchpost.sources
    set next_poll_at = now() + interval_seconds * interval '1 second'
    where enabled and paused_at is null and next_poll_at <= now()
    returning source
  loop
    perform private.enqueue('ingest', gen_random_uuid(), jsonb_build_object('source', v_source), p_singleton => v_source);
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;
grant execute on function private.enqueue_due to watchpost_jobs;

-- The jobs of each queue: those that may run now, those for later, those at work, and those that have used up their
-- tries and wait in `dead`; with how long the first one has been due, and how long ago the first one failed for good.
create function private.queue_counts()
returns table (
  queue text, waiting bigint, later bigint, running bigint, oldest_seconds double precision, failed bigint,
  oldest_failed_seconds double precision
)
language sql stable set search_path = '' as $$
  select q.name, open.waiting, open.later, active.count, open.oldest_seconds, dead.count, dead.oldest_seconds
  from pgboss.queue q
  cross join lateral (
    select count(*) filter (where j.start_after <= pgboss.job_now()) as waiting,
      count(*) filter (where j.start_after > pgboss.job_now()) as later,
      coalesce(extract(epoch from pgboss.job_now() - min(j.start_after) filter (
        where j.start_after <= pgboss.job_now())), 0)::double precision as oldest_seconds
    from pgboss.job j
    where j.name = q.name and j.state < 'active'
  ) open
  cross join lateral (
    select count(*) from pgboss.job j where j.name = q.name and j.state = 'active'
  ) active
  cross join lateral (
    select count(*), extract(epoch from pgboss.job_now() - min(j.created_on))::double precision as oldest_seconds
    from pgboss.job j
    where j.name = 'dead' and j.state < 'active' and j.source_name = q.name
  ) dead
  order by q.name
$$;
grant execute on function private.queue_counts to watchpost_jobs;

-- Deletes jobs that wait in `dead`, for good, and answers how many. The messages that they were to send are cancelled,
-- with the reason.
create function private.discard_dead(p_ids uuid[], p_reason text) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_dead uuid[] := array(
    select j.id from pgboss.job j where j.name = 'dead' and j.state < 'active' and j.id = any(p_ids) for update);
  v_deliveries uuid[] := array(
    select d.id from watchpost.deliveries d
    join pgboss.job j on j.data ->> 'delivery_id' = d.id::text
    where j.name = 'dead' and j.source_name = 'deliver' and j.id = any(v_dead)
      and d.status in ('queued', 'held', 'sending')
    for update of d);
begin
  if v_dead = '{}' then
    return 0;
  end if;
  perform private.record_operator_act(
    'queue.discarded', 'queue', 'dead', jsonb_build_object('jobs', cardinality(v_dead), 'reason', p_reason));
  perform private.record_audit(
    'queue.discarded', 'queue', 'dead', array[c.owner_id],
    jsonb_build_object('deliveries', count(*), 'reason', p_reason))
  from watchpost.deliveries d
  join watchpost.channels c on c.id = d.channel_id
  where d.id = any(v_deliveries)
  group by c.owner_id;
  perform private.cancel_deliveries(v_deliveries, 'An operator discarded it: ' || p_reason);
  update watchpost.alerts a
  set status = 'failed', updated_at = now()
  where a.id in (select d.alert_id from watchpost.deliveries d where d.id = any(v_deliveries))
    and a.status in ('pending', 'held') and not exists (
      select from watchpost.deliveries d
      where d.alert_id = a.id and d.status in ('queued', 'held', 'sending', 'succeeded'));
  delete from pgboss.job j where j.name = 'dead' and j.id = any(v_dead);
  return cardinality(v_dead);
end
$$;

reset role;
