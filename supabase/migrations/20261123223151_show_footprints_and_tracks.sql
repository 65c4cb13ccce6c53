set role watchpost_owner;
set check_function_bodies = off;

drop function private.events_on_map(box[],timestamp with time zone,timestamp with time zone,double precision,integer);

drop function private.events_shown(uuid[],box[],timestamp with time zone,timestamp with time zone);

CREATE OR REPLACE FUNCTION private.events_on_map(p_boxes box[], p_from timestamp with time zone, p_to timestamp with time zone, p_types text[], p_min_severity integer, p_cell double precision, p_max integer)
 RETURNS TABLE(id text, lat double precision, lon double precision, count bigint, severity smallint, ts timestamp with time zone, west double precision, south double precision, east double precision, north double precision, total bigint)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  v_tenants uuid[] := private.my_tenants();
  v_total bigint;
begin
  select count(*) into v_total
  from private.events_shown(v_tenants, p_boxes, p_from, p_to, p_types, p_min_severity);
  if v_total <= p_max then
    return query
    select e.id, e.lat, e.lon, 1::bigint, e.severity, e.ts, e.lon, e.lat, e.lon, e.lat, v_total
    from private.events_shown(v_tenants, p_boxes, p_from, p_to, p_types, p_min_severity) e
    order by e.ts desc, e.id desc;
    return;
  end if;
  return query
  select case when count(*) = 1 then min(e.id) end, avg(e.lat), avg(e.lon), count(*), max(e.severity), max(e.ts),
    min(e.lon), min(e.lat), max(e.lon), max(e.lat), v_total
  from private.events_shown(v_tenants, p_boxes, p_from, p_to, p_types, p_min_severity) e
  group by floor(e.lon / p_cell), floor(e.lat / p_cell)
  order by 6 desc, 3, 2;
end
$function$;

grant execute on function private.events_on_map(box[],timestamp with time zone,timestamp with time zone,text[],integer,double precision,integer) to authenticated;

CREATE OR REPLACE FUNCTION private.events_shown(p_tenants uuid[], p_boxes box[], p_from timestamp with time zone, p_to timestamp with time zone, p_types text[], p_min_severity integer)
 RETURNS SETOF watchpost.events
 LANGUAGE sql
 STABLE
AS $function$
  select e.*
  from unnest(p_boxes) as shown (box)
  join watchpost.events e on e.extent operator(pg_catalog.&&) shown.box
    and point(e.lon, e.lat) operator(pg_catalog.<@) shown.box
  where e.ts >= p_from and e.ts < p_to
    and e.status <> 'retracted'
    and (e.tenant_id is null or e.tenant_id = any(p_tenants))
    and (p_types is null or e.type = any(p_types))
    and (p_min_severity is null or e.severity >= p_min_severity)
$function$;

CREATE OR REPLACE FUNCTION private.footprints_on_map(p_boxes box[], p_from timestamp with time zone, p_to timestamp with time zone, p_types text[], p_min_severity integer, p_min_degrees double precision, p_before timestamp with time zone, p_before_id text, p_limit integer, p_bytes bigint)
 RETURNS TABLE(id text, type text, title text, severity smallint, status text, ts timestamp with time zone, geometry text, found bigint)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  v_tenants uuid[] := private.my_tenants();
begin
  return query
  with met as materialized (
    select distinct e.ts, e.id
    from unnest(p_boxes) as shown (box)
    join watchpost.events e on e.extent operator(pg_catalog.&&) shown.box
    where e.geometry is not null
      and e.ts >= p_from and e.ts < p_to
      and e.status <> 'retracted'
      and (e.tenant_id is null or e.tenant_id = any(v_tenants))
      and (p_types is null or e.type = any(p_types))
      and (p_min_severity is null or e.severity >= p_min_severity)
      and (p_before is null or (e.ts, e.id) < (p_before, p_before_id))
      and greatest(width(e.extent), height(e.extent)) >= p_min_degrees
    order by 1 desc, 2 desc
    limit p_limit
  ),
  sized as (
    select e.*, count(*) over () as found,
      sum(pg_column_size(e.geometry)) over (order by e.ts desc, e.id desc) - pg_column_size(e.geometry) as before
    from met m
    join watchpost.events e on e.id = m.id
  )
  select s.id, s.type, s.title, s.severity, s.status, s.ts, s.geometry::text, s.found
  from sized s
  where s.before < p_bytes
  order by s.ts desc, s.id desc;
end
$function$;

grant execute on function private.footprints_on_map(box[],timestamp with time zone,timestamp with time zone,text[],integer,double precision,timestamp with time zone,text,integer,bigint) to authenticated;

CREATE OR REPLACE FUNCTION private.track_of(p_id text, p_from timestamp with time zone, p_to timestamp with time zone, p_max integer)
 RETURNS TABLE(id text, source text, type text, title text, severity smallint, subject text, status text, ts timestamp with time zone, steps text)
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  with seen as (
    select r.event_id, r.source, r.type, r.title, r.severity, r.subject, r.status, r.ts, r.lat, r.lon, null as flag, r.revision
    from watchpost.event_revisions r
    where r.event_id = private.event_known_as(p_id) and r.ends_at is null
      and (r.type = 'storm' or r.type in ('vessel', 'aircraft', 'other') and r.subject is not null)
      and r.ts >= p_from and r.ts < p_to and r.status <> 'retracted'
    union all
    (select p.event_id, p.source, p.type, p.title, p.severity, p.subject, p.status, p.ts, p.lat, p.lon, p.flag, 0
    from (
      select k.source, k.subject, k.tenant_id from watchpost.positions k where k.event_id = p_id limit 1
    ) known
    join watchpost.positions p on p.subject = known.subject and p.source = known.source
      and p.tenant_id is not distinct from known.tenant_id
    where p.ts >= p_from and p.ts < p_to
    order by p.ts desc
    limit p_max)
  ),
  settled as (
    select distinct on (s.ts) s.* from seen s order by s.ts, s.revision desc
  ),
  gathered as (
    select json_agg(json_build_array(s.lon, s.lat, private.iso(s.ts), s.severity, s.flag) order by s.ts)::text as steps
    from settled s
  )
  select l.event_id, l.source, l.type, l.title, l.severity, l.subject, l.status, l.ts, g.steps
  from settled l
  cross join gathered g
  order by l.ts desc
  limit 1
$function$;

grant execute on function private.track_of(text,timestamp with time zone,timestamp with time zone,integer) to authenticated;

CREATE OR REPLACE FUNCTION private.tracks_on_map(p_boxes box[], p_from timestamp with time zone, p_to timestamp with time zone, p_types text[], p_min_severity integer, p_max integer, p_max_tracks integer)
 RETURNS TABLE(id text, source text, type text, title text, severity smallint, subject text, status text, ts timestamp with time zone, steps text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  v_tenants uuid[] := private.my_tenants();
begin
  return query
  with movers as (
    select e.id
    from private.events_shown(v_tenants, p_boxes, p_from, p_to, p_types, p_min_severity) e
    where e.revision > 1 and e.ends_at is null
      and (e.type = 'storm' or e.type in ('vessel', 'aircraft', 'other') and e.subject is not null)
    order by e.ts desc, e.id desc
    limit p_max_tracks
  ),
  seen as (
    select r.event_id as thing, r.event_id, r.source, r.type, r.title, r.severity, r.subject, r.status, r.ts, r.lat, r.lon,
      null as flag, r.revision
    from movers m
    join watchpost.event_revisions r on r.event_id = m.id
    where r.ts >= p_from and r.ts < p_to and r.status <> 'retracted'
    union all
    select concat_ws(' ', p.source, p.tenant_id, p.subject), p.event_id, p.source, p.type, p.title, p.severity, p.subject,
      p.status, p.ts, p.lat, p.lon, p.flag, 0
    from unnest(p_boxes) as shown (box)
    cross join lateral (
      select p.*
      from watchpost.positions p
      where p.extent operator(pg_catalog.&&) shown.box
        and p.ts >= p_from and p.ts < p_to
        and (p.tenant_id is null or p.tenant_id = any(v_tenants))
        and (p_types is null or p.type = any(p_types))
        and (p_min_severity is null or p.severity >= p_min_severity)
      order by p.ts operator(extensions.<->) p_to
      limit p_max
    ) p
  ),
  -- Of several revisions at the same time the last one.
  settled as (
    select distinct on (s.thing, s.ts) s.*
    from seen s
    order by s.thing, s.ts, s.revision desc
  ),
  latest as (
    select distinct on (s.thing) s.* from settled s order by s.thing, s.ts desc
  ),
  gathered as (
    select s.thing,
      json_agg(json_build_array(s.lon, s.lat, private.iso(s.ts), s.severity, s.flag) order by s.ts)::text as steps
    from settled s
    group by s.thing
  )
  select l.event_id, l.source, l.type, l.title, l.severity, l.subject, l.status, l.ts, g.steps
  from latest l
  join gathered g on g.thing = l.thing
  order by l.ts desc, l.event_id
  limit p_max_tracks;
end
$function$;

grant execute on function private.tracks_on_map(box[],timestamp with time zone,timestamp with time zone,text[],integer,integer,integer) to authenticated;

CREATE INDEX events_footprints ON watchpost.events USING gist (extent, ts) WHERE (geometry IS NOT NULL);

reset check_function_bodies;
reset role;
