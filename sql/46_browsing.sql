-- Browsing: one event by any of its names, and the events, footprints and tracks of a map, for reads.

set role watchpost_owner;

-- Security definer, because aliases are nobody's to read: the id of an event the caller may see that was once
-- known as this one, or that the caller or an organisation of the caller sent under it; else the same again.
create function private.event_known_as(p_id text) returns text
language sql stable security definer set search_path = '' as $$
  select coalesce((
    select e.id
    from watchpost.event_aliases a
    join watchpost.events e on e.id = a.event_id
    where a.alias = p_id and (e.tenant_id is null or e.tenant_id = any(private.my_tenants()))), (
    select e.id
    from regexp_match(p_id, '^(custom:[a-z][a-z0-9-]*):(.+)$') as own (parts)
    cross join unnest(private.my_tenants()) with ordinality as mine (tenant_id, ordinal)
    cross join lateral (select private.own_event_id(own.parts[1], mine.tenant_id, own.parts[2])) as given (id)
    left join watchpost.event_aliases a on a.alias = given.id
    join watchpost.events e on e.id = coalesce(a.event_id, given.id) and e.tenant_id = mine.tenant_id
    order by mine.ordinal
    limit 1), p_id)
$$;

-- An event as the wire has it, but for its footprint.
create function private.event_fields(e watchpost.events, p_attributions jsonb) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', e.id, 'source', e.source, 'type', e.type, 'title', e.title, 'lat', e.lat, 'lon', e.lon,
    'ts', private.iso(e.ts), 'severity', e.severity, 'subject', e.subject, 'status', e.status, 'url', e.url,
    'magnitude', e.magnitude, 'depth_km', e.depth_km,
    'ends_at', private.iso(e.ends_at), 'attribution', private.attribution_among(p_attributions, e.source),
    'flag', null,
    'first_seen_at', private.iso(e.first_seen_at), 'updated_at', private.iso(e.updated_at))
$$;

-- The events whose point lies in one of these boxes, which do not overlap. It has no search_path of its own, so
-- that it is inlined and read by index; it is called where it is empty.
create function private.events_shown(
  p_tenants uuid[], p_boxes box[], p_from timestamptz, p_to timestamptz, p_types text[], p_min_severity integer
)
returns setof watchpost.events
language sql stable as $$
  select e.*
  from unnest(p_boxes) as shown (box)
  join watchpost.events e on e.extent operator(pg_catalog.&&) shown.box
    and point(e.lon, e.lat) operator(pg_catalog.<@) shown.box
  where e.ts >= p_from and e.ts < p_to
    and e.status <> 'retracted'
    and (e.tenant_id is null or e.tenant_id = any(p_tenants))
    and (p_types is null or e.type = any(p_types))
    and (p_min_severity is null or e.severity >= p_min_severity)
$$;

-- Security definer: operators on boxes are not leakproof, so under RLS no index could serve them. It therefore
-- asks for the caller's tenants itself. Each event by itself when there are at most p_max, else gathered in
-- cells of p_cell degrees; a cell with one event is that event.
create function private.events_on_map(
  p_boxes box[], p_from timestamptz, p_to timestamptz, p_types text[], p_min_severity integer,
  p_cell double precision, p_max integer
)
returns table (
  id text, lat double precision, lon double precision, count bigint, severity smallint, ts timestamptz,
  west double precision, south double precision, east double precision, north double precision, total bigint
)
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan as $$
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
$$;

-- Security definer as events_on_map is. The footprints that meet one of these boxes and are at least p_min_degrees
-- wide or high, newest first and before a cursor: at most p_limit, and after p_bytes of them no more. `found` is how
-- many of p_limit there are.
create function private.footprints_on_map(
  p_boxes box[], p_from timestamptz, p_to timestamptz, p_types text[], p_min_severity integer,
  p_min_degrees double precision, p_before timestamptz, p_before_id text, p_limit integer, p_bytes bigint
)
returns table (
  id text, type text, title text, severity smallint, status text, ts timestamptz, geometry text, found bigint
)
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan as $$
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
$$;

-- Security definer as events_on_map is. What moves in these boxes, each with where it was, oldest first: storms and other
-- events by their revisions (a warning has an end; its area changes, but does not move), vessels and aircraft by the
-- newest p_max positions there. At most p_max_tracks, those that moved last.
create function private.tracks_on_map(
  p_boxes box[], p_from timestamptz, p_to timestamptz, p_types text[], p_min_severity integer,
  p_max integer, p_max_tracks integer
)
returns table (
  id text, source text, type text, title text, severity smallint, subject text, status text, ts timestamptz, steps text
)
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan as $$
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
$$;

-- The same of one event or position, wherever it was.
create function private.track_of(p_id text, p_from timestamptz, p_to timestamptz, p_max integer)
returns table (
  id text, source text, type text, title text, severity smallint, subject text, status text, ts timestamptz, steps text
)
language sql stable set search_path = '' as $$
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
$$;
grant execute on function private.event_known_as, private.event_fields, private.events_on_map,
  private.footprints_on_map, private.tracks_on_map, private.track_of to authenticated;

reset role;
