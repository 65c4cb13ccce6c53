set role watchpost_owner;
set check_function_bodies = off;

grant execute on function private.is_garbled(watchpost.sources) to service_role, watchpost_jobs;

CREATE OR REPLACE FUNCTION private.paused_hosts()
 RETURNS TABLE(kind text, count bigint)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return query select h.kind, count(*) from watchpost.hosts h where h.paused_until > pgboss.job_now() group by h.kind;
end
$function$;

grant execute on function private.paused_hosts() to watchpost_jobs;

grant execute on function private.silent_after(watchpost.sources) to service_role, watchpost_jobs;

grant execute on function private.source_status(watchpost.sources) to service_role, watchpost_jobs;

reset check_function_bodies;
reset role;
