-- Near: what happened near a caller's zones, and every kept state of one event, for reads.

set role watchpost_owner;

-- Security definer: operators on boxes are not leakproof, so under RLS no index could serve them.
-- It therefore applies the same two rules itself: the caller's scopes for zones and for events.
-- Newest events whose extent meets a box of the caller's zones, before a cursor. With more than
-- p_walk boxes it walks the window by time instead and may stop early: then the last row says where.
create function private.events_near(
  p_zone_id uuid,
  p_from timestamptz,
  p_before timestamptz,
  p_before_id text,
  p_source text,
  p_type text,
  p_min_severity integer,
  p_limit integer,
  p_walk integer default 400
)
returns table (event_id text, ts timestamptz, is_position boolean, zone_ids uuid[])
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  v_tenants uuid[] := private.my_tenants();
  v_boxes bigint;
begin
  select count(*) into v_boxes
  from (
    select from watchpost.zones z join watchpost.zone_boxes b on b.zone_id = z.id
    where z.tenant_id = any(v_tenants) and z.deleted_at is null and (p_zone_id is null or z.id = p_zone_id)
    limit p_walk + 1
  ) counted;

  if v_boxes <= p_walk then
    return query
    with boxes as materialized (
      select b.zone_id, b.box
      from watchpost.zones z join watchpost.zone_boxes b on b.zone_id = z.id
      where z.tenant_id = any(v_tenants) and z.deleted_at is null and (p_zone_id is null or z.id = p_zone_id)
    ),
    near as (
      select e.id, e.ts, false as is_position, boxes.zone_id
      from boxes cross join lateral (
        select c.id, c.ts from watchpost.events c
        where c.extent operator(pg_catalog.&&) boxes.box and c.ts > p_from and c.ts <= p_before
          and (c.tenant_id is null or c.tenant_id = any(v_tenants))
          and (p_before_id is null or c.ts < p_before or c.id < p_before_id)
          and (p_source is null or c.source = p_source)
          and (p_type is null or c.type = p_type)
          and (p_min_severity is null or c.severity >= p_min_severity)
        order by c.ts operator(extensions.<->) p_before
        fetch first p_limit rows with ties
      ) e
      union all
      select e.event_id, e.ts, true, boxes.zone_id
      from boxes cross join lateral (
        select c.event_id, c.ts from watchpost.positions c
        where c.extent operator(pg_catalog.&&) boxes.box and c.ts > p_from and c.ts <= p_before
          and (c.tenant_id is null or c.tenant_id = any(v_tenants))
          and (p_before_id is null or c.ts < p_before or c.event_id < p_before_id)
          and (p_source is null or c.source = p_source)
          and (p_type is null or c.type = p_type)
          and (p_min_severity is null or c.severity >= p_min_severity)
        order by c.ts operator(extensions.<->) p_before
        fetch first p_limit rows with ties
      ) e
    )
    select n.id, n.ts, n.is_position, array_agg(distinct n.zone_id)
    from near n
    group by n.id, n.ts, n.is_position
    order by n.ts desc, n.id desc
    limit p_limit;
    return;
  end if;

  return query
  with walked as materialized (
    select * from (
      (select c.id, c.ts, c.extent, false as is_position from watchpost.events c
       where c.ts > p_from and c.ts <= p_before
         and (c.tenant_id is null or c.tenant_id = any(v_tenants))
         and (p_before_id is null or c.ts < p_before or c.id < p_before_id)
         and (p_source is null or c.source = p_source)
         and (p_type is null or c.type = p_type)
         and (p_min_severity is null or c.severity >= p_min_severity)
       order by c.ts desc, c.id desc limit 5000)
      union all
      (select c.event_id, c.ts, c.extent, true from watchpost.positions c
       where c.ts > p_from and c.ts <= p_before
         and (c.tenant_id is null or c.tenant_id = any(v_tenants))
         and (p_before_id is null or c.ts < p_before or c.event_id < p_before_id)
         and (p_source is null or c.source = p_source)
         and (p_type is null or c.type = p_type)
         and (p_min_severity is null or c.severity >= p_min_severity)
       order by c.ts desc, c.event_id desc limit 5000)
    ) w
    order by w.ts desc, w.id desc
    limit 5000
  ),
  hits as (
    select w.id, w.ts, w.is_position, n.zone_ids
    from walked w
    cross join lateral (
      -- Offset 0: first the boxes it meets, then whose they are. Box operators are estimated so high
      -- that each event would else be held against all zones of the caller.
      select array_agg(distinct mine.id) as zone_ids
      from (
        select b.zone_id from watchpost.zone_boxes b
        where b.box operator(pg_catalog.&&) w.extent offset 0
      ) near
      cross join lateral (
        select z.id from watchpost.zones z
        where z.id = near.zone_id and z.tenant_id = any(v_tenants) and z.deleted_at is null
          and (p_zone_id is null or z.id = p_zone_id)
        offset 0
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

-- Security definer: revisions and positions whose extent meets the given boxes, first seen in a
-- window, oldest first, with what came before them of the same events (and of the same subjects in the
-- day before), so that a preview remembers what matching remembered.
create function private.revisions_near(p_boxes box[], p_from timestamptz, p_to timestamptz, p_limit integer)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb
)
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  v_tenants uuid[] := private.my_tenants();
begin
  return query
  select * from (
    select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
      r.severity, r.subject, r.status, r.url, r.geometry
    from (
      select distinct n.event_id
      from unnest(p_boxes) as b (box)
      join watchpost.event_revisions n
        on n.extent operator(pg_catalog.&&) b.box and n.first_seen_at >= p_from and n.first_seen_at < p_to
    ) near
    join watchpost.event_revisions r on r.event_id = near.event_id and r.first_seen_at < p_to
    where r.tenant_id is null or r.tenant_id = any(v_tenants)
    union all
    select r.event_id, 1, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
      r.severity, r.subject, r.status, r.url, null::jsonb
    from (
      select distinct n.subject
      from unnest(p_boxes) as b (box)
      join watchpost.positions n
        on n.extent operator(pg_catalog.&&) b.box and n.first_seen_at >= p_from and n.first_seen_at < p_to
    ) near
    join watchpost.positions r on r.subject = near.subject
    where r.first_seen_at < p_to and (r.tenant_id is null or r.tenant_id = any(v_tenants))
  ) x
  order by x.first_seen_at, x.ts, x.event_id, x.revision
  limit p_limit;
end
$$;
grant execute on function private.revisions_near to authenticated;

-- Security definer: every kept revision of an event, by any id it was known under, oldest first.
create function private.revisions_of(p_event_id text)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb
)
language sql stable security definer set search_path = '' as $$
  with known as (
    select coalesce((select a.event_id from watchpost.event_aliases a where a.alias = p_event_id), p_event_id) as id
  )
  select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
    r.severity, r.subject, r.status, r.url, r.geometry
  from known
  join watchpost.event_revisions r on r.event_id = known.id
  where r.tenant_id is null or r.tenant_id = any(private.my_tenants())
  union all
  select r.event_id, 1, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
    r.severity, r.subject, r.status, r.url, null::jsonb
  from watchpost.positions r
  where r.event_id = p_event_id and (r.tenant_id is null or r.tenant_id = any(private.my_tenants()))
  order by 3, 2
$$;

-- The positions of a subject seen before one of them, oldest first, for its stay.
create function private.stay_before(p_event_id text, p_subject text)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb
)
language sql stable set search_path = '' as $$
  select r.event_id, 1, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
    r.severity, r.subject, r.status, r.url, null::jsonb
  from watchpost.positions p
  join watchpost.positions r on r.subject = p.subject
  where p.event_id = p_event_id and p.subject = p_subject
    and (r.first_seen_at, r.ts) < (p.first_seen_at, p.ts)
    and (r.tenant_id is null or r.tenant_id = any(private.my_tenants()))
  order by r.first_seen_at, r.ts
$$;
grant execute on function private.revisions_of, private.stay_before to authenticated;

reset role;
