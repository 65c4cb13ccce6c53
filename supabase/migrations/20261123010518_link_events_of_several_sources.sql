set role watchpost_owner;
set check_function_bodies = off;

comment on column watchpost.alerts.event_id is 'Event, or for a moving subject the position that began it; alert_events has those of other sources.';

create table watchpost.alert_events (
  zone_id uuid not null references watchpost.zones on delete cascade,
  event_id text not null,
  alert_id uuid not null references watchpost.alerts on delete cascade,
  source text not null,
  event jsonb not null,
  event_revision integer not null,
  link jsonb,
  checks jsonb not null,
  reason text not null,
  zone_version integer not null,
  added_at timestamptz not null,
  primary key (zone_id, event_id)
);
comment on table watchpost.alert_events is 'Further events of an alert: other sources reported the same thing.';
comment on column watchpost.alert_events.zone_id is 'Of the alert. An event belongs to one alert of a zone.';
comment on column watchpost.alert_events.event is 'The event as it was told last, so that it outlives the events table.';
comment on column watchpost.alert_events.event_revision is 'Revision of the event it last spoke of.';
comment on column watchpost.alert_events.link is 'Why it is the same, with the numbers; null: it raised the alert before a later event took that further.';
comment on column watchpost.alert_events.checks is 'With reason and zone_version: the decision that added it, for explain.';
comment on column watchpost.alert_events.added_at is 'When the revision that was added was first seen.';
alter table watchpost.alert_events enable row level security;
alter table watchpost.alert_events force row level security;
create policy alert_events_select on watchpost.alert_events for select to authenticated
  using (exists (select from watchpost.alerts a where a.id = alert_id));
create policy alert_events_jobs on watchpost.alert_events for all to watchpost_jobs
  using (true) with check (true);
grant select on watchpost.alert_events to authenticated;
grant select, insert, update, delete on watchpost.alert_events to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.advance_alerts(p_alerts jsonb, p_run_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[];
  v_sent jsonb;
begin
  with given as (
    select *, private.alert_of(x.zone_id, coalesce(x.alert_event_id, x.event_id), x.subject) as alert_id
    from jsonb_to_recordset(p_alerts) as x (
      zone_id uuid, event_id text, alert_event_id text, subject text, event jsonb, severity float8, reason text, status text,
      raised_at timestamptz, held_until timestamptz, checks jsonb, zone_version integer, event_revision integer, linked jsonb)
  ),
  moved as (
    update watchpost.alerts a
    set event_id = g.event_id, source = g.event ->> 'source', event = private.told_event(g.event, g.event_revision), current = null,
        updates = case when a.resolved then private.noted_update(a, g.raised_at, 'escalated', g.event) else a.updates end,
        resolved = false, resolved_at = null, resolved_by = null, resolved_via = null,
        severity = g.severity, reason = g.reason, first_reason = g.reason,
        status = private.status_in(z, g.status), raised_at = g.raised_at, held_until = g.held_until, checks = g.checks, zone_version = g.zone_version,
        event_revision = g.event_revision, updated_at = now()
    from given g
    join watchpost.zones z on z.id = g.zone_id
    where a.id = g.alert_id
      and (a.status in ('suppressed', 'held') or (a.status = 'recorded' and a.held_until is not null))
      and not exists (
        select from watchpost.alerts o where o.zone_id = a.zone_id and o.event_id = g.event_id and o.id <> a.id)
    returning a.id, g.event_id
  ),
  former as (
    insert into watchpost.alert_events as m (
      zone_id, event_id, alert_id, source, event, event_revision, checks, reason, zone_version, added_at)
    select a.zone_id, a.event_id, a.id, a.source, coalesce(a.current, a.event), a.event_revision, a.checks, a.first_reason,
      a.zone_version, a.raised_at
    from watchpost.alerts a
    join moved on moved.id = a.id and moved.event_id <> a.event_id
    where a.subject is null
    on conflict (zone_id, event_id) do nothing
  ),
  own as (
    delete from watchpost.alert_events m
    using moved
    where m.alert_id = moved.id and m.event_id = moved.event_id
  )
  select array(select id from moved), (
    select jsonb_agg(jsonb_build_object(
      'zone_id', g.zone_id, 'event_id', g.event_id, 'alert_event_id', g.alert_event_id, 'subject', g.subject,
      'event', g.event, 'kind', 'escalated', 'linked', g.linked,
      'at', g.raised_at, 'severity', g.severity, 'reason', g.reason, 'event_revision', g.event_revision,
      'send', case g.status when 'pending' then 'now' when 'held' then 'held' end, 'held_until', g.held_until))
    from given g
    where g.alert_id not in (select id from moved))
  into v_ids, v_sent;
  perform private.send_alerts(v_ids, p_run_id);
  perform private.update_alerts(v_sent);
end
$function$;

CREATE OR REPLACE FUNCTION private.alert_event_json(p_event jsonb, p_added_at timestamp with time zone, p_link jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'event_id', p_event -> 'id', 'source', p_event -> 'source', 'title', p_event -> 'title', 'ts', p_event -> 'ts',
    'severity', p_event -> 'severity', 'magnitude', p_event -> 'magnitude', 'status', p_event -> 'status',
    'url', p_event -> 'url', 'attribution', private.attribution(p_event ->> 'source'),
    'added_at', private.iso(p_added_at), 'link', p_link)
$function$;

grant execute on function private.alert_event_json(jsonb,timestamp with time zone,jsonb) to authenticated, watchpost_jobs;

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
    'current', now_is.event,
    'event_ids', private.alert_event_json(now_is.event, a.raised_at, null) || coalesce((
      select jsonb_agg(private.alert_event_json(private.current_event(m.event_id, m.event), m.added_at, m.link)
        order by m.added_at, m.event_id)
      from (select * from watchpost.alert_events where alert_id = a.id offset 0) m), '[]'),
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
  from (select private.current_event(a.event_id, coalesce(a.current, a.event)) as event offset 0) now_is
$function$;

CREATE OR REPLACE FUNCTION private.alert_of(p_zone_id uuid, p_event_id text, p_subject text)
 RETURNS uuid
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce(
    (select id from watchpost.alerts where zone_id = p_zone_id and event_id = p_event_id),
    (select alert_id from watchpost.alert_events where zone_id = p_zone_id and event_id = p_event_id),
    (select id from watchpost.alerts
     where p_subject is not null and zone_id = p_zone_id and subject = p_subject
     order by raised_at desc limit 1))
$function$;

CREATE OR REPLACE FUNCTION private.current_event(p_event_id text, p_stored jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce(
    (select private.event_json(e) from watchpost.events e where e.id = p_event_id),
    private.stored_event(p_stored))
$function$;

grant execute on function private.current_event(text,jsonb) to authenticated, watchpost_jobs;

CREATE OR REPLACE FUNCTION private.is_own(a watchpost.alerts, p_event_id text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select a.event_id = p_event_id or a.subject is not null
$function$;

grant execute on function private.is_own(watchpost.alerts,text) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.may_link(p_source text, p_type text, p_before interval)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select coalesce(p_before <= case
    when p_type = 'earthquake' and p_source in ('usgs', 'emsc', 'geonet', 'gdacs') then interval '1 day'
    when p_type = 'tsunami' and p_source in ('tsunami', 'nws') then interval '1 day'
    when p_type = 'storm' and p_source in ('nhc', 'gdacs', 'eonet') then interval '10 days'
    when p_type = 'wildfire' and p_source = 'firms' then interval '1 day'
    when p_type = 'wildfire' and p_source = 'eonet' then interval '10 days'
  end, false)
$function$;

CREATE OR REPLACE FUNCTION private.noted_update(a watchpost.alerts, p_at timestamp with time zone, p_kind text, p_event jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select a.updates
    || (jsonb_build_object(
      'at', private.iso(p_at), 'kind', p_kind, 'changes', case when p_kind = 'linked' then '{}' else
        private.event_changes(coalesce(
          (select m.event from watchpost.alert_events m where m.zone_id = a.zone_id and m.event_id = p_event ->> 'id'),
          a.current, a.event), p_event) end)
      || case when private.is_own(a, p_event ->> 'id') then '{}' else jsonb_build_object('event_id', p_event ->> 'id') end)
    || case when a.resolved and p_kind = 'escalated'
      then jsonb_build_object('at', private.iso(p_at), 'kind', 'reopened', 'changes', '{"resolved": [true, false]}'::jsonb)
      else '[]' end
$function$;

CREATE OR REPLACE FUNCTION private.raise_alerts(p_alerts jsonb, p_run_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[];
begin
  with given as (
    select * from jsonb_to_recordset(p_alerts) as x (
      zone_id uuid, zone_name text, event_id text, source text, subject text, event jsonb, severity float8,
      reason text, status text, raised_at timestamptz, held_until timestamptz, checks jsonb,
      zone_version integer, event_revision integer)
  ),
  born as (
    insert into watchpost.alerts (
      zone_id, zone_name, owner_id, org_id, event_id, source, subject, event, severity, reason, first_reason, status,
      raised_at, held_until, checks, zone_version, event_revision)
    select g.zone_id, g.zone_name, z.owner_id, z.org_id, g.event_id, g.source, g.subject, private.told_event(g.event, g.event_revision), g.severity,
      g.reason, g.reason, private.status_in(z, g.status), g.raised_at, g.held_until, g.checks, g.zone_version, g.event_revision
    from given g
    join watchpost.zones z on z.id = g.zone_id
    on conflict (zone_id, event_id) do nothing
    returning id
  )
  select array_agg(id) into v_ids from born;
  -- An event that turned out to be another thing has an alert of its own now.
  delete from watchpost.alert_events m
  using watchpost.alerts a
  where a.id = any(v_ids) and m.zone_id = a.zone_id and m.event_id = a.event_id;
  perform private.send_alerts(v_ids, p_run_id);
end
$function$;

CREATE OR REPLACE FUNCTION private.revisions_near(p_boxes box[], p_from timestamp with time zone, p_to timestamp with time zone, p_owner_id uuid, p_org_id uuid, p_limit integer)
 RETURNS TABLE(id text, revision integer, first_seen_at timestamp with time zone, source text, type text, title text, lat double precision, lon double precision, ts timestamp with time zone, severity smallint, subject text, status text, url text, geometry jsonb, magnitude double precision, depth_km double precision, ends_at timestamp with time zone, flag text, known_since timestamp with time zone)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  v_tenants uuid[] := private.my_tenants();
begin
  return query
  select * from (
    select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
      r.severity, r.subject, r.status, r.url, r.geometry, r.magnitude, r.depth_km, r.ends_at, null::text,
      private.known_since(r)
    from (
      select distinct n.event_id
      from unnest(p_boxes) as b (box)
      join watchpost.event_revisions n
        on n.extent operator(pg_catalog.&&) b.box and n.first_seen_at < p_to
          and n.first_seen_at >= p_from - interval '10 days'
          and (n.first_seen_at >= p_from or private.may_link(n.source, n.type, p_from - n.first_seen_at))
    ) near
    join watchpost.event_revisions r on r.event_id = near.event_id and r.first_seen_at < p_to
    where r.tenant_id is null
      or r.tenant_id = any(v_tenants) and private.could_hear(p_owner_id, p_org_id, r.tenant_id, r.first_seen_at)
    union all
    select r.event_id, 1, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
      r.severity, r.subject, r.status, r.url, null::jsonb, null::float8, null::float8, null::timestamptz, r.flag,
      r.first_seen_at
    from (
      select distinct n.subject
      from unnest(p_boxes) as b (box)
      join watchpost.positions n
        on n.extent operator(pg_catalog.&&) b.box and n.first_seen_at >= p_from and n.first_seen_at < p_to
    ) near
    join watchpost.positions r on r.subject = near.subject
    where r.first_seen_at < p_to and (
      r.tenant_id is null
      or r.tenant_id = any(v_tenants) and private.could_hear(p_owner_id, p_org_id, r.tenant_id, r.first_seen_at))
  ) x
  order by x.first_seen_at, x.ts, x.event_id, x.revision
  limit p_limit;
end
$function$;

CREATE OR REPLACE FUNCTION private.update_alerts(p_updates jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_update record;
  v_alert record;
begin
  for v_update in
    -- An update may name the event of its alert, because a later stay of the subject may have one of its own.
    select x.*, private.alert_of(x.zone_id, coalesce(x.alert_event_id, x.event_id), x.subject) as alert_id,
      private.told_event(x.event, x.event_revision) as told
    from jsonb_to_recordset(p_updates) as x (
      zone_id uuid, event_id text, alert_event_id text, subject text, event jsonb, kind text, at timestamptz,
      severity float8, reason text, send text, held_until timestamptz, event_revision integer, linked jsonb)
  loop
    update watchpost.alerts a
    set updates = private.noted_update(a, v_update.at, v_update.kind, v_update.told),
        current = case when private.is_own(a, v_update.event_id) then v_update.told else a.current end,
        severity = v_update.severity, reason = coalesce(v_update.reason, a.reason),
        event_revision = case when private.is_own(a, v_update.event_id) then v_update.event_revision else a.event_revision end,
        updated_at = now()
    where a.id = v_update.alert_id
    returning a.id, jsonb_array_length(a.updates) as sequence, private.is_own(a, v_update.event_id) as is_own into v_alert;
    continue when not found;
    if not v_alert.is_own then
      update watchpost.alert_events m
      set event = v_update.told, event_revision = v_update.event_revision
      where m.zone_id = v_update.zone_id and m.event_id = v_update.event_id;
    end if;
    if not v_alert.is_own and jsonb_typeof(v_update.linked) = 'object' then
      insert into watchpost.alert_events as m (
        zone_id, event_id, alert_id, source, event, event_revision, link, checks, reason, zone_version, added_at)
      select v_update.zone_id, v_update.event_id, v_alert.id, v_update.told ->> 'source', v_update.told,
        v_update.event_revision, l.link, l.checks, l.reason, l.zone_version, v_update.at
      from jsonb_to_record(v_update.linked) as l (link jsonb, checks jsonb, reason text, zone_version integer)
      on conflict (zone_id, event_id) do update
      set alert_id = excluded.alert_id, link = excluded.link, checks = excluded.checks, reason = excluded.reason,
          zone_version = excluded.zone_version, added_at = excluded.added_at;
    end if;
    if v_update.kind = 'escalated' then
      update watchpost.alerts
      set resolved = false, resolved_at = null, resolved_by = null, resolved_via = null
      where id = v_alert.id and resolved;
    end if;
    continue when v_update.send is null;
    perform private.deliver_update(
      v_alert.id, v_update.kind, v_alert.sequence, v_update.send = 'held', v_update.held_until);
    if v_update.send = 'held' then
      perform private.enqueue(
        'release', gen_random_uuid(), jsonb_build_object('zone_id', v_update.zone_id), v_update.held_until);
    end if;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION private.zone_candidates(p_zone_id uuid)
 RETURNS TABLE(id text, revision integer, first_seen_at timestamp with time zone, source text, type text, title text, lat double precision, lon double precision, ts timestamp with time zone, severity smallint, subject text, status text, url text, geometry jsonb, magnitude double precision, depth_km double precision, ends_at timestamp with time zone, flag text, known_since timestamp with time zone, zone_ids uuid[], standing boolean)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return query
  with zone as (
    select z.id, date_trunc('milliseconds', greatest(v.valid_from, (
      select max(s.valid_from) from watchpost.account_states s where s.user_id = z.owner_id))) as changed_at
    from watchpost.zones z
    join watchpost.zone_versions v on v.zone_id = z.id and v.version = z.version
    where z.id = p_zone_id and z.deleted_at is null
  )
  select distinct on (e.first_seen_at, e.ts, e.id)
    e.id, e.revision, e.first_seen_at, e.source, e.type, e.title, e.lat, e.lon, e.ts, e.severity, e.subject,
    e.status, e.url, e.geometry, e.magnitude, e.depth_km, e.ends_at, null::text, e.first_seen_at,
    array[zone.id], true
  from zone
  join watchpost.zone_boxes b on b.zone_id = zone.id
  join watchpost.events e on e.extent operator(pg_catalog.&&) b.box
  where e.status = 'active' and e.ends_at > now()
    and (e.tenant_id is null or private.zones_in_tenant(array[zone.id], e.tenant_id, now()) <> '{}')
  union all
  select distinct on (r.first_seen_at, r.ts, r.event_id, r.revision)
    r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts, r.severity, r.subject,
    r.status, r.url, r.geometry, r.magnitude, r.depth_km, r.ends_at, null, private.known_since(r),
    array[zone.id], false
  from zone
  join watchpost.zone_boxes b on b.zone_id = zone.id
  join watchpost.event_revisions r on r.extent operator(pg_catalog.&&) b.box and r.first_seen_at >= zone.changed_at
  join watchpost.batches done on done.id = r.batch_id and done.matched_at is not null
  where (r.tenant_id is null or private.zones_in_tenant(array[zone.id], r.tenant_id, r.first_seen_at) <> '{}')
    and not exists (
      select from watchpost.alerts a
      where a.zone_id = zone.id and a.event_id = r.event_id and a.event_revision > r.revision)
    and not exists (
      select from watchpost.alert_events m
      where m.zone_id = zone.id and m.event_id = r.event_id and m.event_revision > r.revision)
  order by 3, 9, 1, 2;
end
$function$;

CREATE INDEX alert_events_alert_id ON watchpost.alert_events USING btree (alert_id, added_at, event_id);

CREATE INDEX alert_events_event_id ON watchpost.alert_events USING btree (event_id);

reset check_function_bodies;
reset role;
