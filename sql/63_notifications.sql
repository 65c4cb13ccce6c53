-- Notifications: what a message says, and an alert as the wire has it.

set role watchpost_owner;

-- An event in an alert, as the wire has it.
create function private.event_json(e watchpost.events) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', e.id, 'source', e.source, 'type', e.type, 'title', e.title, 'lat', e.lat, 'lon', e.lon,
    'ts', private.iso(e.ts), 'severity', e.severity, 'subject', e.subject, 'status', e.status, 'url', e.url,
    'magnitude', e.magnitude, 'depth_km', e.depth_km, 'ends_at', private.iso(e.ends_at))
$$;
grant execute on function private.event_json to authenticated, watchpost_jobs;

-- An event as an alert has stored it, with the fields that were not stored at its time.
create function private.stored_event(p_event jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select '{"subject": null, "status": "active", "magnitude": null, "depth_km": null, "ends_at": null}'::jsonb || p_event
$$;
grant execute on function private.stored_event to authenticated, watchpost_jobs;

-- An alert as the wire has it. Runs as its caller, so that channels the caller cannot see, and
-- deliveries on them, are left out; p_channel_id narrows them to one channel for the message that channel gets.
-- `offset 0`: deliveries are looked up by their alert, never for every channel of the caller.
create function private.alert_json(a watchpost.alerts, p_channel_id uuid default null) returns jsonb
language sql stable set search_path = '' as $$
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
$$;
grant execute on function private.alert_json to authenticated, watchpost_jobs;

-- What a delivery says, but for its type: the alert as its channel may see it, and for a digest all
-- the alerts it gathers, the most severe first.
create function private.notification_json(d watchpost.deliveries) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'timestamp', case when d.type = 'alert.digest' then private.iso(d.created_at) else coalesce(a.current, a.event) ->> 'ts' end,
    'alert', private.alert_json(a, d.channel_id),
    'zone', jsonb_build_object('id', a.zone_id, 'label', a.zone_name))
    || case when d.type = 'alert.digest' then jsonb_build_object('alerts', (
      select jsonb_agg(private.alert_json(held, d.channel_id) order by held.severity desc, held.raised_at, held.id)
      from watchpost.alerts held
      where held.id in (
        select carried.alert_id from watchpost.deliveries carried where carried.digest_id = d.id
        union select d.alert_id)
    )) else '{}' end
  from watchpost.alerts a
  where a.id = d.alert_id
$$;
grant execute on function private.notification_json to watchpost_jobs;

reset role;
