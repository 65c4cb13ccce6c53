set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.is_garbled(s watchpost.sources)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select s.garbled_polls >= 3 and s.garbled_items >= 10
$function$;

CREATE OR REPLACE FUNCTION private.silent_after(s watchpost.sources)
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when s.longest_silence_seconds is not null
    then greatest(2 * s.longest_silence_seconds, 3600) * interval '1 second' end
$function$;

CREATE OR REPLACE FUNCTION private.source_status(s watchpost.sources)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select case
    when not s.enabled or s.paused_at is not null then 'disabled'
    when s.last_success_at > pg_catalog.now() - greatest(3 * s.interval_seconds, 180) * interval '1 second' then
      case when s.last_event_at < pg_catalog.now() - private.silent_after(s) or private.is_garbled(s) then 'stale' else 'ok' end
    when s.last_success_at is null and s.error_at is null
      and s.created_at > pg_catalog.now() - interval '3 minutes' then 'stale'
    when s.error_at > coalesce(s.last_success_at, '-infinity') or s.last_success_at is null then 'down'
    else 'stale'
  end
$function$;

reset check_function_bodies;
reset role;
