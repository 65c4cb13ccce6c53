set role watchpost_owner;

CREATE OR REPLACE FUNCTION private.alert_json(a watchpost.alerts, p_channel_id uuid DEFAULT NULL::uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'id', a.id,
    'zone_id', a.zone_id,
    'zone_name', a.zone_name,
    'event_id', a.event_id,
    'event', private.stored_event(a.event),
    'current', coalesce(
      (select private.event_json(e) from watchpost.events e where e.id = a.event_id),
      private.stored_event(coalesce(a.current, a.event))),
    'attribution', private.attribution(a.source),
    'severity', a.severity,
    'reason', a.reason,
    'status', a.status,
    'raised_at', private.iso(a.raised_at),
    'held_until', private.iso(a.held_until),
    'dispatched_at', private.iso(a.dispatched_at),
    'channel', (
      select coalesce(c.label, c.kind)
      from (select * from watchpost.deliveries where alert_id = a.id offset 0) d
      join watchpost.channels c on c.id = d.channel_id
      where d.status = 'succeeded' and (p_channel_id is null or d.channel_id = p_channel_id)
      order by d.delivered_at, d.id
      limit 1),
    'deliveries', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', d.id,
        'channel_id', d.channel_id,
        'channel', coalesce(c.label, c.kind),
        'kind', d.type,
        'status', d.status,
        'attempts', d.attempts,
        'last_error', d.last_error,
        'delivered_at', private.iso(d.delivered_at),
        'redelivery_of', d.redelivery_of) order by d.created_at, d.id)
      from (select * from watchpost.deliveries where alert_id = a.id offset 0) d
      join watchpost.channels c on c.id = d.channel_id
      where p_channel_id is null or d.channel_id = p_channel_id), '[]'),
    'updates', (
      select coalesce(jsonb_agg('{"changes": {}}'::jsonb || u.value order by u.nr), '[]')
      from jsonb_array_elements(a.updates) with ordinality as u (value, nr)),
    'resolved', a.resolved,
    'resolved_at', private.iso(a.resolved_at),
    'resolved_by', a.resolved_by,
    'resolved_via', a.resolved_via,
    'note', a.note,
    'updated_at', private.iso(a.updated_at))
$function$;

reset role;
