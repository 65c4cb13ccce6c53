set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.batch_candidates(p_batch_id uuid)
 RETURNS TABLE(id text, revision integer, first_seen_at timestamp with time zone, source text, type text, title text, lat double precision, lon double precision, ts timestamp with time zone, severity smallint, subject text, status text, url text, geometry jsonb, magnitude double precision, depth_km double precision, ends_at timestamp with time zone, flag text, known_since timestamp with time zone, zone_ids uuid[])
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return query
  with r as materialized (
    select e.event_id, e.revision, e.first_seen_at, e.source, e.type, e.title, e.lat, e.lon, e.ts, e.severity,
      e.subject, e.status, e.url, e.geometry, e.magnitude, e.depth_km, e.ends_at, null::text as flag,
      case when e.revision = 1 then e.first_seen_at else private.known_since(e) end as known_since, e.extent, e.tenant_id, e.event_id as key
    from watchpost.event_revisions e where e.batch_id = p_batch_id
    union all
    select p.event_id, 1, p.first_seen_at, p.source, p.type, p.title, p.lat, p.lon, p.ts, p.severity,
      p.subject, p.status, p.url, null::jsonb, null::float8, null::float8, null::timestamptz, p.flag,
      p.first_seen_at, p.extent, p.tenant_id, p.subject
    from watchpost.positions p where p.batch_id = p_batch_id
  ),
  changed as materialized (
    select z.id from watchpost.zones z
    where z.updated_at > (select min(r.first_seen_at) from r)
  ),
  pairs as (
    select r.event_id, r.ts, b.zone_id
    from r
    join watchpost.zone_boxes b on b.box operator(pg_catalog.&&) r.extent
    where r.subject is null
      and b.min_severity <= r.severity::real
      and (b.sources is null or r.source = any(b.sources))
      and (b.types is null or r.type = any(b.types))
    union
    -- Of what moves every position counts, whatever its severity: stays begin and end with them.
    select r.event_id, r.ts, b.zone_id
    from r
    join watchpost.zone_boxes b on b.box operator(pg_catalog.&&) r.extent
    where r.subject is not null
      and (b.sources is null or r.source = any(b.sources))
      and (b.types is null or r.type = any(b.types))
    union
    select r.event_id, r.ts, m.zone_id
    from r
    join watchpost.match_memory m on m.key = r.key
    union
    select r.event_id, r.ts, c.id
    from r cross join changed c
  ),
  gathered as (
    select p.event_id, p.ts, array_agg(p.zone_id) as zone_ids
    from pairs p
    group by p.event_id, p.ts
  )
  select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts, r.severity,
    r.subject, r.status, r.url, r.geometry, r.magnitude, r.depth_km, r.ends_at, r.flag, r.known_since,
    case when r.tenant_id is null then g.zone_ids else private.zones_in_tenant(g.zone_ids, r.tenant_id, r.first_seen_at) end
  from r
  join gathered g on g.event_id = r.event_id and g.ts = r.ts
  order by r.first_seen_at, r.ts, r.event_id, r.revision;
end
$function$;

CREATE OR REPLACE FUNCTION private.known_since(r watchpost.event_revisions)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select f.first_seen_at
  from watchpost.event_revisions f
  where f.event_id = r.event_id
  order by f.revision
  limit 1
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
      case when r.revision = 1 then r.first_seen_at else private.known_since(r) end
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

CREATE OR REPLACE FUNCTION private.revisions_of(p_event_id text, p_zone_id uuid)
 RETURNS TABLE(id text, revision integer, first_seen_at timestamp with time zone, source text, type text, title text, lat double precision, lon double precision, ts timestamp with time zone, severity smallint, subject text, status text, url text, geometry jsonb, magnitude double precision, depth_km double precision, ends_at timestamp with time zone, flag text, known_since timestamp with time zone, is_decided boolean, is_heard boolean, is_heard_now boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  with known as (
    select coalesce((select a.event_id from watchpost.event_aliases a where a.alias = p_event_id), p_event_id) as id
  ),
  seen as (
    select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
      r.severity, r.subject, r.status, r.url, r.geometry, r.magnitude, r.depth_km, r.ends_at, null::text as flag,
      case when r.revision = 1 then r.first_seen_at else private.known_since(r) end as known_since, r.batch_id, r.tenant_id
    from known
    join watchpost.event_revisions r on r.event_id = known.id
    union all
    select r.event_id, 1, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
      r.severity, r.subject, r.status, r.url, null::jsonb, null::float8, null::float8, null::timestamptz, r.flag,
      r.first_seen_at, r.batch_id, r.tenant_id
    from watchpost.positions r
    where r.event_id = p_event_id
  )
  select s.event_id, s.revision, s.first_seen_at, s.source, s.type, s.title, s.lat, s.lon, s.ts,
    s.severity, s.subject, s.status, s.url, s.geometry, s.magnitude, s.depth_km, s.ends_at, s.flag, s.known_since,
    not exists (select from watchpost.batches b where b.id = s.batch_id and b.matched_at is null),
    s.tenant_id is null or private.zones_in_tenant(array[p_zone_id], s.tenant_id, s.first_seen_at) <> '{}',
    s.tenant_id is null or private.zones_in_tenant(array[p_zone_id], s.tenant_id, now()) <> '{}'
  from seen s
  where s.tenant_id is null or s.tenant_id = any(private.my_tenants())
  order by 3, 2
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
    r.status, r.url, r.geometry, r.magnitude, r.depth_km, r.ends_at, null, case when r.revision = 1 then r.first_seen_at else private.known_since(r) end,
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

reset check_function_bodies;
reset role;
