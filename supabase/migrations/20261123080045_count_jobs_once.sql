set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.queue_counts()
 RETURNS TABLE(queue text, waiting bigint, later bigint, running bigint, oldest_seconds double precision, failed bigint, oldest_failed_seconds double precision)
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
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
$function$;

grant execute on function private.queue_counts() to watchpost_jobs;

reset check_function_bodies;
reset role;
