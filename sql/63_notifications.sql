-- Notifications: what a message says, and an alert as the wire has it.

set role watchpost_owner;

-- An event in an alert, as the wire has it.
create function private.event_json(e watchpost.events) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', e.id, 'source', e.source, 'type', e.type, 'title', e.title, 'lat', e.lat, 'lon', e.lon,
    'ts', private.iso(e.ts), 'severity', e.severity, 'subject', e.subject, 'status', e.status, 'url', e.url,
    'magnitude', e.magnitude, 'depth_km', e.depth_km, 'ends_at', private.iso(e.ends_at))
$$;
grant execute on function private.event_json to authenticated, watchpost_jobs;

-- An event as an alert has stored it, with the fields that were not stored at its time.
create function private.stored_event(p_event jsonb) returns jsonb
language sql immutable as $$
  select '{"subject": null, "status": "active", "magnitude": null, "depth_km": null, "ends_at": null}'::jsonb || p_event
$$;
grant execute on function private.stored_event to authenticated, watchpost_jobs;

-- An event of an alert as it is now; as the alert has stored it when it is deleted. In one row: part of the plan of whoever
-- asks for many.
create function private.current_event(p_event_id text, p_stored jsonb) returns table (event jsonb)
language sql stable as $$
  select coalesce(
    (select private.event_json(e) from watchpost.events e where e.id = p_event_id),
    private.stored_event(p_stored))
$$;
grant execute on function private.current_event to authenticated, watchpost_jobs;

-- An event of an alert in short: the one that it is about, or one of another source.
create function private.alert_event_json(
  p_event jsonb, p_added_at timestamptz, p_link jsonb, p_attributions jsonb
)
returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'event_id', p_event -> 'id', 'source', p_event -> 'source', 'title', p_event -> 'title', 'ts', p_event -> 'ts',
    'severity', p_event -> 'severity', 'magnitude', p_event -> 'magnitude', 'status', p_event -> 'status',
    'url', p_event -> 'url', 'attribution', private.attribution_among(p_attributions, p_event ->> 'source'),
    'added_at', private.iso(p_added_at), 'link', p_link)
$$;
grant execute on function private.alert_event_json to authenticated, watchpost_jobs;

-- An alert as the wire has it, in one row: part of the plan of whoever asks for many. Runs as its caller, so that channels
-- the caller cannot see, and deliveries on them, are left out; p_channel_id narrows them to one channel for the message that
-- channel gets. `offset 0`: deliveries are looked up by their alert, never for every channel of the caller.
create function private.alert_in_json(a watchpost.alerts, p_channel_id uuid) returns table (alert jsonb)
language sql stable as $$
  select jsonb_build_object(
    'id', a.id,
    'zone_id', a.zone_id,
    'zone_name', a.zone_name,
    'event_id', a.event_id,
    'event', private.stored_event(a.event),
    'current', now_is.event,
    'event_ids', private.alert_event_json(now_is.event, a.raised_at, null, (select private.attributions())) || coalesce((
      select jsonb_agg(
        private.alert_event_json(c.event, m.added_at, m.link, (select private.attributions())) order by m.added_at, m.event_id)
      from (select * from watchpost.alert_events where alert_id = a.id offset 0) m
      cross join lateral private.current_event(m.event_id, m.event) c), '[]'),
    'attribution', private.attribution_among((select private.attributions()), a.source),
    'severity', a.severity,
    'reason', a.reason,
    'status', a.status,
    'raised_at', private.iso(a.raised_at),
    'held_until', private.iso(a.held_until),
    'dispatched_at', private.iso(a.dispatched_at),
    'channel', sent.first_channel,
    'deliveries', coalesce(sent.deliveries, '[]'),
    'updates', case when a.updates = '[]' then a.updates else (
      select jsonb_agg('{"changes": {}}'::jsonb || u.value order by u.nr)
      from jsonb_array_elements(a.updates) with ordinality as u (value, nr)) end,
    'resolved', a.resolved,
    'resolved_at', private.iso(a.resolved_at),
    'resolved_by', a.resolved_by,
    'resolved_via', a.resolved_via,
    'seen_at', private.iso(a.seen_at),
    'seen_by', a.seen_by,
    'seen_via', a.seen_via,
    'seen_channel', (
      select coalesce(c.label, c.kind) from watchpost.channels c
      where c.id = a.seen_channel_id and (p_channel_id is null or c.id = p_channel_id)),
    'note', a.note,
    'updated_at', private.iso(a.updated_at))
  -- `offset 0`: worked out once, not for each of its fields.
  from (select c.event from private.current_event(a.event_id, coalesce(a.current, a.event)) c offset 0) now_is
  cross join lateral (
    select
      (array_agg(coalesce(c.label, c.kind) order by d.delivered_at, d.id) filter (where d.status = 'succeeded'))[1] as first_channel,
      jsonb_agg(jsonb_build_object(
        'id', d.id,
        'channel_id', d.channel_id,
        'channel', coalesce(c.label, c.kind),
        'kind', d.type,
        'status', d.status,
        'attempts', d.attempts,
        'last_error', d.last_error,
        'delivered_at', private.iso(d.delivered_at),
        'redelivery_of', d.redelivery_of,
        'step', d.step -> 'step') order by d.created_at, d.id) as deliveries
    from (select * from watchpost.deliveries where alert_id = a.id offset 0) d
    join watchpost.channels c on c.id = d.channel_id
    where p_channel_id is null or d.channel_id = p_channel_id) sent
$$;
grant execute on function private.alert_in_json to authenticated, watchpost_jobs;

-- Whether an alert waits, or waited, because its zone had sent as many as it may in an hour.
create function private.is_bundled(a watchpost.alerts) returns boolean
language sql immutable set search_path = '' as $$
  select a.checks @> '[{"name": "quiet_hours", "passed": true}, {"name": "burst", "passed": false}]'
$$;
grant execute on function private.is_bundled to watchpost_jobs;

-- What a digest says before its alerts; null where nothing needs to be said.
create function private.digest_summary(p_digest_id uuid) returns text
language sql stable set search_path = '' as $$
  select case when count(*) > 0 then count(*) || ' more in this zone' end
  from watchpost.deliveries d
  join watchpost.alerts a on a.id = d.alert_id
  where d.digest_id = p_digest_id and d.type = 'alert.raised' and private.is_bundled(a)
$$;
grant execute on function private.digest_summary to watchpost_jobs;

-- Why a channel gets nothing about a zone of this account; null: it gets it.
create function private.refusal_between(c watchpost.channels, z watchpost.zones, p watchpost.accounts) returns text
language sql stable as $$
  select case
    when z.id is null then null
    when c.deleted_at is not null then 'The channel was deleted.'
    when not c.enabled then 'The channel is switched off.'
    when c.status = 'unconfirmed' then 'The address of the channel is not confirmed yet.'
    when z.deleted_at is not null then 'The zone was deleted.'
    when p.plan = 'free' then 'The account is below the Pro plan; its zones are paused.'
    when private.is_banned(p.banned_until) then 'The account is banned; its zones are paused.'
    when not private.is_usable(c, z.owner_id) then 'The owner of the zone no longer sees this channel.'
  end
$$;

create function private.refusal_of(c watchpost.channels, z watchpost.zones) returns text
language sql stable set search_path = '' as $$
  select private.refusal_between(c, z, p) from watchpost.accounts p where p.user_id = z.owner_id
$$;

-- Why a delivery is not sent; null: it is. A message about a source is sent as long as one of its zones is left.
create function private.refusal_of_delivery(d watchpost.deliveries, c watchpost.channels) returns text
language sql stable set search_path = '' as $$
  select case
    when d.trouble_id is not null then (
      select case
        when c.deleted_at is not null then 'The channel was deleted.'
        when not c.enabled then 'The channel is switched off.'
        when c.status = 'unconfirmed' then 'The address of the channel is not confirmed yet.'
        when p.plan = 'free' or private.is_banned(p.banned_until) then 'The account is below the Pro plan or banned.'
      end
      from watchpost.accounts p
      where p.user_id = c.owner_id)
    when d.type = 'channel.confirmation' then case
      when c.deleted_at is not null then 'The channel was deleted.'
      when c.confirmed_at is not null then 'The address of the channel is confirmed already.'
    end
    when d.blindness_id is null then (
      select private.refusal_of(c, z)
      from watchpost.alerts a
      join watchpost.zones z on z.id = a.zone_id
      where a.id = d.alert_id)
    else (
      select case when bool_and(why is not null) is not false then coalesce(min(why), 'The zones were deleted.') end
      from (
        select private.refusal_of(c, z) as why
        from watchpost.blind_zones n
        join watchpost.zones z on z.id = n.zone_id
        where n.blindness_id = d.blindness_id and n.channel_id = d.channel_id) each)
  end
$$;

-- What a message about a source says: the first 25 of its zones that this channel may still hear of, and their number.
create function private.blindness_json(d watchpost.deliveries) returns jsonb
language sql stable set search_path = '' as $$
  with named as (
    select z.id, z.label, row_number() over (order by z.created_at, z.id) as nr
    from watchpost.blind_zones n
    join watchpost.zones z on z.id = n.zone_id
    join watchpost.channels c on c.id = n.channel_id
    where n.blindness_id = d.blindness_id and n.channel_id = d.channel_id and private.refusal_of(c, z) is null
  )
  select jsonb_build_object(
    'timestamp', private.iso(case d.type when 'zone.blind' then b.told_at else b.ended_at end),
    'alert', null,
    'zone', null,
    'source', jsonb_build_object(
      'source', s.source, 'title', s.title, 'attribution', s.attribution,
      'status', case d.type when 'zone.blind' then b.status else 'ok' end,
      'since', private.iso(b.began_at), 'reason', b.reason)
      || case when d.type = 'zone.blind' then '{}' else jsonb_build_object(
        'until', private.iso(b.well_at),
        'blind_seconds', round(extract(epoch from b.well_at - b.began_at))) end,
    'zones', (
      select jsonb_agg(jsonb_build_object('id', z.id, 'label', z.label) order by z.nr) from named z where z.nr <= 25),
    'zones_total', (select count(*) from named))
    -- A webhook sends the sentence itself.
    || case when (select kind from watchpost.channels where id = d.channel_id) = 'webhook' then '{}'
      else jsonb_build_object('cause', b.cause) end
  from watchpost.blindness b
  join watchpost.sources s on s.source = b.source
  where b.id = d.blindness_id
$$;

-- The alerts that a digest gathers.
create function private.alerts_carried(d watchpost.deliveries) returns setof watchpost.alerts
language sql stable set search_path = '' as $$
  select *
  from watchpost.alerts
  where id in (
    select carried.alert_id from watchpost.deliveries carried where carried.digest_id = d.id
    union select d.alert_id)
$$;
grant execute on function private.alerts_carried to watchpost_jobs;

-- What the sentence of an alert is made of.
create function private.facts_json(a watchpost.alerts) returns jsonb
language sql immutable as $$
  select jsonb_build_object('checks', a.checks, 'news', a.news)
$$;
grant execute on function private.facts_json to watchpost_jobs;

-- What the delivery of a digest says more: all the alerts that it gathers, the most severe first.
create function private.digest_json(d watchpost.deliveries, p_has_facts boolean) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
      'summary', private.digest_summary(d.id),
      'alerts', jsonb_agg(told.alert order by held.severity desc, held.raised_at, held.id))
    || case when p_has_facts then jsonb_build_object('facts', jsonb_object_agg(held.id, private.facts_json(held))) else '{}' end
  from private.alerts_carried(d) held
  cross join lateral private.alert_in_json(held, d.channel_id) told
$$;

-- What a delivery says, but for its type, in one row: part of the plan of whoever asks for many. About an alert: the alert as
-- its channel may see it, and what its sentence is made of, except for a webhook, which sends the sentence itself.
create function private.notification_of(d watchpost.deliveries) returns table (notification jsonb)
language sql stable as $$
  select jsonb_build_object(
      'timestamp', case when d.type = 'alert.digest' then private.iso(d.created_at) else coalesce(a.current, a.event) ->> 'ts' end,
      'alert', told.alert,
      'zone', jsonb_build_object('id', a.zone_id, 'label', a.zone_name))
    || case
      when d.type = 'alert.digest' then private.digest_json(d, c.kind <> 'webhook')
      when c.kind = 'webhook' then '{}'
      else jsonb_build_object('facts', jsonb_build_object(a.id, private.facts_json(a)))
    end
    || case when d.step is null then '{}' else jsonb_build_object('unacknowledged', d.step) end
    || case when a.drill_id is null then '{}' else jsonb_build_object('drill', jsonb_build_object('id', a.drill_id)) end
  from watchpost.alerts a
  join watchpost.channels c on c.id = d.channel_id
  cross join lateral private.alert_in_json(a, d.channel_id) told
  where a.id = d.alert_id and d.trouble_id is null and d.blindness_id is null
  union all
  select private.trouble_json(d.trouble_id, d.type) where d.trouble_id is not null
  union all
  select private.blindness_json(d) where d.trouble_id is null and d.blindness_id is not null
$$;

reset role;
