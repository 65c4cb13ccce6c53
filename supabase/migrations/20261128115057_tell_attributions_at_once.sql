set role watchpost_owner;
set check_function_bodies = off;

drop function private.alert_event_json(jsonb,timestamp with time zone,jsonb);

drop function private.attribution(text);

drop function private.event_fields(watchpost.events);

drop function private.feed_alert_json(watchpost.alerts);

CREATE OR REPLACE FUNCTION private.alert_event_json(p_event jsonb, p_added_at timestamp with time zone, p_link jsonb, p_attributions jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object(
    'event_id', p_event -> 'id', 'source', p_event -> 'source', 'title', p_event -> 'title', 'ts', p_event -> 'ts',
    'severity', p_event -> 'severity', 'magnitude', p_event -> 'magnitude', 'status', p_event -> 'status',
    'url', p_event -> 'url', 'attribution', private.attribution_among(p_attributions, p_event ->> 'source'),
    'added_at', private.iso(p_added_at), 'link', p_link)
$function$;

grant execute on function private.alert_event_json(jsonb,timestamp with time zone,jsonb,jsonb) to authenticated, watchpost_jobs;

CREATE OR REPLACE FUNCTION private.alert_in_json(a watchpost.alerts, p_channel_id uuid)
 RETURNS TABLE(alert jsonb)
 LANGUAGE sql
 STABLE
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION private.attribution_among(p_attributions jsonb, p_source text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce(p_attributions ->> p_source, p_source)
$function$;

grant execute on function private.attribution_among(jsonb,text) to authenticated, watchpost_jobs;

CREATE OR REPLACE FUNCTION private.attributions()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return (select jsonb_object_agg(s.source, s.attribution) from watchpost.sources s);
end
$function$;

grant execute on function private.attributions() to authenticated, watchpost_jobs;

CREATE OR REPLACE FUNCTION private.event_fields(e watchpost.events, p_attributions jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object(
    'id', e.id, 'source', e.source, 'type', e.type, 'title', e.title, 'lat', e.lat, 'lon', e.lon,
    'ts', private.iso(e.ts), 'severity', e.severity, 'subject', e.subject, 'status', e.status, 'url', e.url,
    'magnitude', e.magnitude, 'depth_km', e.depth_km,
    'ends_at', private.iso(e.ends_at), 'attribution', private.attribution_among(p_attributions, e.source),
    'flag', null,
    'first_seen_at', private.iso(e.first_seen_at), 'updated_at', private.iso(e.updated_at))
$function$;

grant execute on function private.event_fields(watchpost.events,jsonb) to authenticated;

CREATE OR REPLACE FUNCTION private.evidence_facts(p_alert_id uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  with told as (
    select a.event_id, a.source, a.event, null::jsonb as link, a.raised_at as at, a.zone_version, a.first_reason as reason, a.checks
    from watchpost.alerts a where a.id = p_alert_id
    union all
    select m.event_id, m.source, m.event, m.link, m.added_at, m.zone_version, m.reason, m.checks
    from watchpost.alert_events m where m.alert_id = p_alert_id
  ), acts as (
    -- One row of several where several accounts are concerned.
    select min(l.seq) as first, jsonb_build_object(
      'at', private.iso(min(l.at)), 'actor_id', l.actor_id, 'action', l.action, 'outcome', l.outcome,
      'request_id', l.request_id) as act
    from watchpost.alerts a
    join watchpost.audit l on l.target_type = 'alert' and l.target_id = p_alert_id::text
    where a.id = p_alert_id
      and l.account_id in (
        select a.owner_id union all select m.user_id from watchpost.members m where m.org_id = a.org_id
        union all select l.actor_id)
    group by l.xid, l.actor_id, l.action, l.outcome, l.request_id
  )
  select jsonb_build_object(
    'read_at', private.iso(now()),
    'settled', private.is_settled(a),
    'alert', jsonb_build_object(
      'id', a.id, 'zone_id', a.zone_id, 'zone_name', a.zone_name, 'event_id', a.event_id, 'source', a.source,
      'attribution', private.attribution_among((select private.attributions()), a.source), 'subject', a.subject,
      'event', private.stored_event(a.event),
      'current', (select c.event from private.current_event(a.event_id, coalesce(a.current, a.event)) c),
      'severity', a.severity, 'reason', a.reason, 'status', a.status, 'raised_at', private.iso(a.raised_at),
      'held_until', private.iso(a.held_until), 'dispatched_at', private.iso(a.dispatched_at), 'updates', a.updates,
      'resolved', a.resolved, 'resolved_at', private.iso(a.resolved_at), 'resolved_by', a.resolved_by,
      'resolved_via', a.resolved_via, 'seen_at', private.iso(a.seen_at), 'seen_by', a.seen_by, 'seen_via', a.seen_via,
      'note', a.note),
    'decisions', (
      select jsonb_agg(jsonb_build_object(
        'event_id', t.event_id, 'source', t.source, 'at', private.iso(t.at), 'zone_version', t.zone_version,
        'reason', t.reason, 'checks', t.checks, 'link', t.link) order by t.at, t.event_id)
      from told t),
    'zone_versions', coalesce((
      select jsonb_agg(jsonb_build_object(
        'version', v.version, 'valid_from', private.iso(v.valid_from),
        'definition', private.version_definition(v) - 'channel_ids' - 'escalation' - 'owner_id' - 'org_id') order by v.version)
      from watchpost.zone_versions v
      where v.zone_id = a.zone_id and v.version in (select t.zone_version from told t)), '[]'),
    'revisions', coalesce((
      select jsonb_agg(r.revision order by r.event_id, r.nr)
      from (
        select r.event_id, r.revision as nr, jsonb_build_object(
          'event_id', r.event_id, 'revision', r.revision, 'first_seen_at', private.iso(r.first_seen_at),
          'source', r.source, 'type', r.type, 'title', r.title, 'lat', r.lat, 'lon', r.lon, 'ts', private.iso(r.ts),
          'severity', r.severity, 'subject', r.subject, 'status', r.status, 'url', r.url,
          'magnitude', r.magnitude, 'depth_km', r.depth_km, 'ends_at', private.iso(r.ends_at), 'geometry', r.geometry) as revision
        from watchpost.event_revisions r
        where r.event_id in (select t.event_id from told t)
          -- An event that somebody sent is shown to those it was sent to.
          and (r.tenant_id is null or r.tenant_id in (a.owner_id, a.tenant_id))
        order by r.first_seen_at desc
        limit 1000) r), '[]'),
    'deliveries', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', d.id, 'channel_id', d.channel_id, 'channel_kind', c.kind, 'type', d.type, 'sequence', d.sequence,
        'status', d.status, 'created_at', private.iso(d.created_at), 'delivered_at', private.iso(d.delivered_at),
        'redelivery_of', d.redelivery_of, 'digest_id', d.digest_id,
        'cancelled_because', case when d.status = 'cancelled' then d.last_error end,
        'attempts', coalesce((
          select jsonb_agg(jsonb_build_object(
            'attempt', t.attempt, 'at', private.iso(t.at), 'outcome', t.outcome, 'status_code', t.status_code,
            'duration_ms', t.duration_ms) order by t.attempt)
          from watchpost.delivery_attempts t where t.delivery_id = d.id), '[]')) order by d.created_at, d.id)
      from private.messages_of(a.id) d
      join watchpost.channels c on c.id = d.channel_id), '[]'),
    'revision_count', (
      select count(*) from watchpost.event_revisions r
      where r.event_id in (select t.event_id from told t) and (r.tenant_id is null or r.tenant_id in (a.owner_id, a.tenant_id))),
    'audit', coalesce((
      select jsonb_agg(g.act order by g.first) from (select * from acts order by first limit 1000) g), '[]'),
    'audit_count', (select count(*) from acts))
  from watchpost.alerts a
  where a.id = p_alert_id
$function$;

CREATE OR REPLACE FUNCTION private.feed_alert_json(a watchpost.alerts, p_attributions jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'id', a.id,
    'event', private.stored_event(a.event),
    'current', private.stored_event(coalesce(a.current, a.event)),
    'severity', a.severity,
    'reason', a.reason,
    'raised_at', private.iso(a.raised_at),
    'resolved', a.resolved,
    'updates', (
      select coalesce(jsonb_agg('{"changes": {}}'::jsonb || u.value order by u.nr), '[]')
      from jsonb_array_elements(a.updates) with ordinality as u (value, nr)),
    'attributions', (
      select jsonb_agg(distinct private.attribution_among(p_attributions, s.source))
      from (
        select a.source
        union all select m.source from watchpost.alert_events m where m.alert_id = a.id) s))
$function$;

CREATE OR REPLACE FUNCTION private.feed_of(p_token_hash bytea, p_days integer, p_limit integer)
 RETURNS TABLE(zone_id uuid, label text, created_at timestamp with time zone, modified_at timestamp with time zone, alerts jsonb)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return query
    select z.id, z.label, z.created_at, greatest(z.updated_at, found.modified_at), coalesce(found.alerts, '[]')
    from private.zone_of_feed_link(p_token_hash) z
    cross join lateral (
      select max(a.updated_at) as modified_at,
        jsonb_agg(private.feed_alert_json(a, (select private.attributions())) order by a.raised_at desc, a.id desc) as alerts
      from (
        select * from watchpost.alerts
        where alerts.zone_id = z.id
          and status <> 'suppressed' and drill_id is null
          and raised_at > now() - make_interval(days => p_days)
        order by raised_at desc, alerts.id desc
        limit p_limit + 1) a) found;
end
$function$;

reset check_function_bodies;
reset role;
