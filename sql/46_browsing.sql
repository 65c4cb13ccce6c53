-- Browsing: one event by any of its names, and the events of a map, for reads.

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
create function private.event_fields(e watchpost.events) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', e.id, 'source', e.source, 'type', e.type, 'title', e.title, 'lat', e.lat, 'lon', e.lon,
    'ts', private.iso(e.ts), 'severity', e.severity, 'subject', e.subject, 'status', e.status, 'url', e.url,
    'magnitude', e.magnitude, 'depth_km', e.depth_km,
    'ends_at', private.iso(e.ends_at), 'attribution', private.attribution(e.source), 'flag', null,
    'first_seen_at', private.iso(e.first_seen_at), 'updated_at', private.iso(e.updated_at))
$$;

-- The events whose point lies in one of these boxes, which do not overlap. It has no search_path of its own, so
-- that it is inlined and read by index; it is called where it is empty.
create function private.events_shown(p_tenants uuid[], p_boxes box[], p_from timestamptz, p_to timestamptz)
returns setof watchpost.events
language sql stable as $$
  select e.*
  from unnest(p_boxes) as shown (box)
  join watchpost.events e on e.extent operator(pg_catalog.&&) shown.box
    and point(e.lon, e.lat) operator(pg_catalog.<@) shown.box
  where e.ts >= p_from and e.ts < p_to
    and e.status <> 'retracted'
    and (e.tenant_id is null or e.tenant_id = any(p_tenants))
$$;

-- Security definer: operators on boxes are not leakproof, so under RLS no index could serve them. It therefore
-- asks for the caller's tenants itself. Each event by itself when there are at most p_max, else gathered in
-- cells of p_cell degrees; a cell with one event is that event.
create function private.events_on_map(
  p_boxes box[], p_from timestamptz, p_to timestamptz, p_cell double precision, p_max integer
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
  select count(*) into v_total from private.events_shown(v_tenants, p_boxes, p_from, p_to);
  if v_total <= p_max then
    return query
    select e.id, e.lat, e.lon, 1::bigint, e.severity, e.ts, e.lon, e.lat, e.lon, e.lat, v_total
    from private.events_shown(v_tenants, p_boxes, p_from, p_to) e
    order by e.ts desc, e.id desc;
    return;
  end if;
  return query
  select case when count(*) = 1 then min(e.id) end, avg(e.lat), avg(e.lon), count(*), max(e.severity), max(e.ts),
    min(e.lon), min(e.lat), max(e.lon), max(e.lat), v_total
  from private.events_shown(v_tenants, p_boxes, p_from, p_to) e
  group by floor(e.lon / p_cell), floor(e.lat / p_cell)
  order by 6 desc, 3, 2;
end
$$;
grant execute on function private.event_known_as, private.event_fields, private.events_on_map to authenticated;

reset role;
