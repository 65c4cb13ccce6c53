-- Near: events near a caller's zones, and every kept revision of an event, for reads.

set role watchpost_owner;

-- Events and positions as one, for searches by area.
create view private.sightings with (security_invoker = true) as
select e.id, e.source, e.type, e.severity, e.ts, e.extent, e.tenant_id, false as is_position, e.status, e.ends_at
from watchpost.events e
union all
select p.event_id, p.source, p.type, p.severity, p.ts, p.extent, p.tenant_id, true, p.status, null::timestamptz
from watchpost.positions p;
comment on view private.sightings is 'Events and positions as one, for searches by area.';

-- Whether an event was neither ended nor retracted at a time, by what was known of it then; of one that was
-- told later, by what was known first.
create function private.stood_at(p_event_id text, p_at timestamptz) returns boolean
language sql stable set search_path = '' as $$
  select coalesce((
    select r.status = 'active'
    from watchpost.event_revisions r
    where r.event_id = p_event_id
    order by r.first_seen_at > p_at, case when r.first_seen_at <= p_at then -r.revision else r.revision end
    limit 1), true)
$$;

-- What events_near searches for, anywhere. These two have no search_path of their own, so that Postgres can inline
-- them and use indexes; their callers have an empty one.
create function private.sightings_wanted(
  p_tenants uuid[],
  p_from timestamptz,
  p_before timestamptz,
  p_before_id text,
  p_source text,
  p_type text,
  p_min_severity integer,
  p_status text,
  p_active_at timestamptz
)
returns setof private.sightings
language sql stable as $$
  select s.*
  from private.sightings s
  where s.ts > p_from and s.ts <= p_before
    and (s.tenant_id is null or s.tenant_id = any(p_tenants))
    and (p_before_id is null or s.ts < p_before or s.id < p_before_id)
    and (p_source is null or s.source = p_source)
    and (p_type is null or s.type = p_type)
    and (p_min_severity is null or s.severity >= p_min_severity)
    and (p_status is null or s.status = p_status)
    and (p_active_at is null or s.ends_at > p_active_at and s.ts <= p_active_at and private.stood_at(s.id, p_active_at))
$$;

create function private.zones_wanted(p_tenants uuid[], p_zone_id uuid) returns setof watchpost.zones
language sql stable as $$
  select z.*
  from watchpost.zones z
  where z.tenant_id = any(p_tenants) and z.deleted_at is null and (p_zone_id is null or z.id = p_zone_id)
$$;

-- The newest events whose extent meets a box of the caller's zones, before a cursor. With more than p_max_boxes boxes
-- it scans the window by time instead and may stop early: then the last row says where. With several boxes it looks at
-- the newest few of each first: no page reaches further back than as many as it holds. Security definer: operators
-- on boxes are not leakproof, so under RLS no index could be used. It therefore checks the caller's tenants itself,
-- for zones and for events.
create function private.events_near(
  p_zone_id uuid,
  p_from timestamptz,
  p_before timestamptz,
  p_before_id text,
  p_source text,
  p_type text,
  p_min_severity integer,
  p_limit integer,
  p_max_boxes integer default 400,
  p_status text default null,
  p_active_at timestamptz default null
)
returns table (event_id text, ts timestamptz, is_position boolean, zone_ids uuid[])
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  v_tenants uuid[] := private.my_tenants();
  v_boxes bigint;
  v_few integer;
  v_from timestamptz;
begin
  select count(*) into v_boxes
  from (
    select from private.zones_wanted(v_tenants, p_zone_id) z
    join watchpost.zone_boxes b on b.zone_id = z.id
    limit p_max_boxes + 1
  ) counted;

  if v_boxes <= p_max_boxes then
    v_few := ceil(3.0 * p_limit / greatest(v_boxes, 1));
    if v_few < p_limit then
      select min(n.ts) - interval '1 microsecond' into v_from
      from (
        select e.ts
        from private.zones_wanted(v_tenants, p_zone_id) z
        join watchpost.zone_boxes b on b.zone_id = z.id
        cross join lateral (
          select s.id, s.ts
          from private.sightings_wanted(
            v_tenants, p_from, p_before, p_before_id, p_source, p_type, p_min_severity, p_status, p_active_at) s
          where s.extent operator(pg_catalog.&&) b.box
          order by s.ts operator(extensions.<->) p_before
          limit v_few
        ) e
        group by e.id, e.ts
        order by e.ts desc
        limit p_limit) n
      having count(*) = p_limit;
    end if;
    return query
    with boxes as materialized (
      select b.zone_id, b.box
      from private.zones_wanted(v_tenants, p_zone_id) z
      join watchpost.zone_boxes b on b.zone_id = z.id
    )
    select e.id, e.ts, e.is_position, array_agg(distinct b.zone_id)
    from boxes b
    cross join lateral (
      select s.id, s.ts, s.is_position
      from private.sightings_wanted(
        v_tenants, coalesce(v_from, p_from), p_before, p_before_id, p_source, p_type, p_min_severity, p_status, p_active_at) s
      where s.extent operator(pg_catalog.&&) b.box
      order by s.ts operator(extensions.<->) p_before
      fetch first p_limit rows with ties
    ) e
    group by e.id, e.ts, e.is_position
    order by e.ts desc, e.id desc
    limit p_limit;
    return;
  end if;

  return query
  with walked as materialized (
    select s.id, s.ts, s.extent, s.is_position
    from private.sightings_wanted(
      v_tenants, p_from, p_before, p_before_id, p_source, p_type, p_min_severity, p_status, p_active_at) s
    order by s.ts desc, s.id desc
    limit 5000
  ),
  hits as (
    select w.id, w.ts, w.is_position, n.zone_ids
    from walked w
    cross join lateral (
      -- Offset 0: first find the boxes it meets, then their zones. Box operators are estimated so high that each
      -- event would otherwise be compared with all zones of the caller.
      select array_agg(distinct mine.id) as zone_ids
      from (
        select b.zone_id from watchpost.zone_boxes b
        where b.box operator(pg_catalog.&&) w.extent offset 0
      ) met
      cross join lateral (
        select z.id from private.zones_wanted(v_tenants, p_zone_id) z where z.id = met.zone_id offset 0
      ) mine
    ) n
    where n.zone_ids is not null
    order by w.ts desc, w.id desc
    limit p_limit
  ),
  stopped as (
    select w.id, w.ts, w.is_position, '{}'::uuid[] as zone_ids
    from walked w
    where (select count(*) from walked) = 5000 and (select count(*) from hits) < p_limit
    order by w.ts, w.id
    limit 1
  )
  select * from hits
  union all
  select * from stopped s where not exists (select from hits h where h.id = s.id)
  order by 2 desc, 1 desc;
end
$$;
grant execute on function private.events_near to authenticated;

-- Whether an event that was seen so long before a window may be the same as one of another source in it; for shared/decide/link.ts.
-- It has no search_path of its own, so that it is inlined; it is called where it is empty.
create function private.may_link(p_source text, p_type text, p_before interval) returns boolean
language sql immutable as $$
  select coalesce(p_before <= case
    when p_type = 'earthquake' and p_source in ('usgs', 'emsc', 'geonet', 'gdacs') then interval '1 day'
    when p_type = 'tsunami' and p_source in ('tsunami', 'nws') then interval '1 day'
    when p_type = 'storm' and p_source in ('nhc', 'gdacs', 'eonet') then interval '10 days'
    when p_type = 'wildfire' and p_source = 'firms' then interval '1 day'
    when p_type = 'wildfire' and p_source = 'eonet' then interval '10 days'
  end, false)
$$;

-- Security definer: revisions and positions whose extent meets the given boxes, first seen in a window, oldest first,
-- together with earlier ones of the same events (and of the same subjects on the day before) and of what other sources
-- may have reported before, so that a preview remembers what matching remembered. Only what the caller may see, and what a zone of this owner and
-- organisation may contain.
create function private.revisions_near(
  p_boxes box[], p_from timestamptz, p_to timestamptz, p_owner_id uuid, p_org_id uuid, p_limit integer
)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb, magnitude double precision, depth_km double precision,
  ends_at timestamptz, flag text, known_since timestamptz
)
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  v_tenants uuid[] := private.my_tenants();
begin
  return query
  select * from (
    select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
      r.severity, r.subject, r.status, r.url, r.geometry, r.magnitude, r.depth_km, r.ends_at, null::text,
      known.since
    from (
      select distinct n.event_id
      from unnest(p_boxes) as b (box)
      join watchpost.event_revisions n
        on n.extent operator(pg_catalog.&&) b.box and n.first_seen_at < p_to
          and n.first_seen_at >= p_from - interval '10 days'
          and (n.first_seen_at >= p_from or private.may_link(n.source, n.type, p_from - n.first_seen_at))
    ) near
    -- Once for each event: in a plan that is made for each call, private.known_since would be planned for each revision.
    cross join lateral (
      select f.first_seen_at as since from watchpost.event_revisions f where f.event_id = near.event_id order by f.revision limit 1
    ) known
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
$$;
grant execute on function private.revisions_near to authenticated;

-- Security definer: every kept revision of an event that the caller may see, by any of its ids, oldest first; and
-- whether it was matched, and whether all readers of the zone could see the event then (is_heard) and can now.
create function private.revisions_of(p_event_id text, p_zone_id uuid)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb, magnitude double precision, depth_km double precision,
  ends_at timestamptz, flag text, known_since timestamptz, is_decided boolean, is_heard boolean, is_heard_now boolean
)
language sql stable security definer set search_path = '' as $$
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
    not exists (
      select from watchpost.batches b
      where b.id = s.batch_id and b.matched_at is null and (b.matched_to is null or b.matched_to < p_zone_id)),
    s.tenant_id is null or private.zones_in_tenant(array[p_zone_id], s.tenant_id, s.first_seen_at) <> '{}',
    s.tenant_id is null or private.zones_in_tenant(array[p_zone_id], s.tenant_id, now()) <> '{}'
  from seen s
  where s.tenant_id is null or s.tenant_id = any(private.my_tenants())
  order by 3, 2
$$;

-- Security definer: the positions of a subject seen before one of them, oldest first, for its stay.
create function private.stay_before(p_event_id text, p_subject text, p_zone_id uuid)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb, magnitude double precision, depth_km double precision,
  ends_at timestamptz, flag text, known_since timestamptz, is_decided boolean, is_heard boolean, is_heard_now boolean
)
language sql stable security definer set search_path = '' as $$
  select r.event_id, 1, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
    r.severity, r.subject, r.status, r.url, null::jsonb, null::float8, null::float8, null::timestamptz, r.flag,
    r.first_seen_at,
    not exists (
      select from watchpost.batches b
      where b.id = r.batch_id and b.matched_at is null and (b.matched_to is null or b.matched_to < p_zone_id)),
    r.tenant_id is null or private.zones_in_tenant(array[p_zone_id], r.tenant_id, r.first_seen_at) <> '{}',
    r.tenant_id is null
  from watchpost.positions p
  join watchpost.positions r on r.subject = p.subject
  where p.event_id = p_event_id and p.subject = p_subject
    and (r.first_seen_at, r.ts) < (p.first_seen_at, p.ts)
    and (r.tenant_id is null or r.tenant_id = any(private.my_tenants()))
  order by r.first_seen_at, r.ts
$$;
grant execute on function private.revisions_of, private.stay_before to authenticated;

reset role;
