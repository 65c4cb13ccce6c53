set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.event_fields(e watchpost.events)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'id', e.id, 'source', e.source, 'type', e.type, 'title', e.title, 'lat', e.lat, 'lon', e.lon,
    'ts', private.iso(e.ts), 'severity', e.severity, 'subject', e.subject, 'status', e.status, 'url', e.url,
    'magnitude', e.magnitude, 'depth_km', e.depth_km,
    'ends_at', private.iso(e.ends_at), 'attribution', private.attribution(e.source), 'flag', null,
    'first_seen_at', private.iso(e.first_seen_at), 'updated_at', private.iso(e.updated_at))
$function$;

reset check_function_bodies;
reset role;
