-- Notifications: what a message says, and an alert as the wire has it.

set role watchpost_owner;

-- An alert as the wire has it. Runs as its caller, so that channels the caller cannot see, and
-- deliveries on them, are left out; p_channel_id narrows them to one channel for the message that channel gets.
create function private.alert_json(a watchpost.alerts, p_channel_id uuid default null) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', a.id,
    'zone_id', a.zone_id,
    'zone_name', a.zone_name,
    'event_id', a.event_id,
    'event', a.event,
    'severity', a.severity,
    'reason', a.reason,
    'status', a.status,
    'raised_at', private.iso(a.raised_at),
    'held_until', private.iso(a.held_until),
    'dispatched_at', private.iso(a.dispatched_at),
    'channel', (
      select coalesce(c.label, c.kind)
      from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      where d.alert_id = a.id and d.status = 'succeeded' and (p_channel_id is null or d.channel_id = p_channel_id)
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
      from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      where d.alert_id = a.id and (p_channel_id is null or d.channel_id = p_channel_id)), '[]'),
    'updates', a.updates,
    'resolved', a.resolved,
    'resolved_at', private.iso(a.resolved_at),
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
    'timestamp', case when d.type = 'alert.digest' then private.iso(d.created_at) else a.event ->> 'ts' end,
    'alert', private.alert_json(a, d.channel_id),
    'zone', jsonb_build_object('id', a.zone_id, 'label', a.zone_name))
    || case when d.type = 'alert.digest' then jsonb_build_object('alerts', (
      select jsonb_agg(private.alert_json(held, d.channel_id) order by held.severity desc, held.raised_at, held.id)
      from watchpost.alerts held
      where held.id in (select part.alert_id from watchpost.deliveries part where part.digest_id = d.id)
    )) else '{}' end
  from watchpost.alerts a
  where a.id = d.alert_id
$$;
grant execute on function private.notification_json to watchpost_jobs;

reset role;
