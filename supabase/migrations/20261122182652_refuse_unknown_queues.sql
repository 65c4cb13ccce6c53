set role watchpost_owner;

CREATE OR REPLACE FUNCTION private.enqueue(p_queue text, p_id uuid, p_data jsonb, p_start_after timestamp with time zone DEFAULT NULL::timestamp with time zone, p_group text DEFAULT NULL::text, p_singleton text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_start timestamptz := coalesce(p_start_after, pgboss.job_now());
begin
  insert into pgboss.job (
    id, name, data, start_after, created_on, singleton_key, group_id, expire_seconds, deletion_seconds,
    keep_until, retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds)
  select p_id, q.name, p_data, v_start, pgboss.job_now(), p_singleton, p_group, q.expire_seconds, q.deletion_seconds,
    v_start + q.retention_seconds * interval '1 second', q.retry_limit, q.retry_delay, q.retry_backoff,
    q.retry_delay_max, q.policy, q.dead_letter, q.heartbeat_seconds
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
$function$;

reset role;
