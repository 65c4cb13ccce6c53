set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.linked_alert(p_alert_id uuid, p_channel_id uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'channel', coalesce(c.label, c.kind), 'language', c.language, 'time_zone', c.time_zone, 'zone', a.zone_name,
    'title', coalesce(a.current, a.event) -> 'title', 'facts', private.facts_json(a), 'resolved', a.resolved,
    'drill', case when a.drill_id is not null then a.event -> 'type' end,
    'seen_at', private.iso(a.seen_at), 'seen_via', a.seen_via, 'is_seen_here', coalesce(a.seen_channel_id = c.id, false))
  from watchpost.alerts a
  join watchpost.zones z on z.id = a.zone_id
  join watchpost.channels c on c.id = p_channel_id
  where a.id = p_alert_id and private.refusal_of(c, z) is null
    and exists (
      select from watchpost.deliveries d
      where d.alert_id = a.id and d.channel_id = c.id and (d.attempts > 0 or d.status in ('sending', 'succeeded')))
$function$;

reset check_function_bodies;
reset role;
