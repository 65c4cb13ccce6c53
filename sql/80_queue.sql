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

-- Enqueues a job with its queue's settings, in the caller's transaction; an id that exists already is skipped,
-- and a queue that does not exist is an error. Listeners are woken if the job may run at once.
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
declare
  v_start timestamptz := coalesce(p_start_after, pgboss.job_now());
begin
  insert into pgboss.job (
    id, name, data, start_after, created_on, singleton_key, group_id, expire_seconds, deletion_seconds,
    keep_until, retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds, priority)
  select p_id, q.name, p_data, v_start, pgboss.job_now(), p_singleton, p_group, q.expire_seconds, q.deletion_seconds,
    v_start + q.retention_seconds * interval '1 second', q.retry_limit, q.retry_delay, q.retry_backoff,
    q.retry_delay_max, q.policy, q.dead_letter, q.heartbeat_seconds, p_priority
  from pgboss.queue q
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
grant execute on function private.enqueue to watchpost_jobs;

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
    where enabled and next_poll_at <= now()
    returning source
  loop
    perform private.enqueue('ingest', gen_random_uuid(), jsonb_build_object('source', v_source), p_singleton => v_source);
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;
grant execute on function private.enqueue_due to watchpost_jobs;

reset role;
