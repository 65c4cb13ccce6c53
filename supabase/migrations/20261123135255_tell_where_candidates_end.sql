set role watchpost_owner;
set check_function_bodies = off;

drop function private.batch_candidates(uuid[],uuid,integer);

CREATE OR REPLACE FUNCTION private.batch_candidates(p_batch_ids uuid[], p_after uuid DEFAULT NULL::uuid, p_most integer DEFAULT NULL::integer)
 RETURNS TABLE(id text, revision integer, first_seen_at timestamp with time zone, source text, type text, title text, lat double precision, lon double precision, ts timestamp with time zone, severity smallint, subject text, status text, url text, geometry jsonb, magnitude double precision, depth_km double precision, ends_at timestamp with time zone, flag text, known_since timestamp with time zone, zone_ids uuid[], cut_at uuid)
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
    from watchpost.event_revisions e where e.batch_id = any(p_batch_ids)
    union all
    select p.event_id, 1, p.first_seen_at, p.source, p.type, p.title, p.lat, p.lon, p.ts, p.severity,
      p.subject, p.status, p.url, null::jsonb, null::float8, null::float8, null::timestamptz, p.flag,
      p.first_seen_at, p.extent, p.tenant_id, p.subject
    from watchpost.positions p where p.batch_id = any(p_batch_ids)
    union all
    select p.event_id, 1, p.first_seen_at, p.source, p.type, p.title, p.lat, p.lon, p.ts, p.severity,
      p.subject, p.status, p.url, null, null, null, null, null, p.first_seen_at, p.extent, p.tenant_id, p.subject
    from watchpost.passing_positions p where p.batch_id = any(p_batch_ids)
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
  cut as materialized (
    select p.zone_id
    from pairs p
    where p_most is not null and (p_after is null or p.zone_id > p_after)
    order by p.zone_id
    offset p_most - 1 limit 1
  ),
  gathered as (
    select p.event_id, p.ts, array_agg(p.zone_id) as zone_ids
    from pairs p
    where (p_after is null or p.zone_id > p_after)
      and p.zone_id <= coalesce((select c.zone_id from cut c), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    group by p.event_id, p.ts
  )
  select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts, r.severity,
    r.subject, r.status, r.url, r.geometry, r.magnitude, r.depth_km, r.ends_at, r.flag, r.known_since,
    case when r.tenant_id is null then g.zone_ids else private.zones_in_tenant(g.zone_ids, r.tenant_id, r.first_seen_at) end,
    (select c.zone_id from cut c)
  from r
  join gathered g on g.event_id = r.event_id and g.ts = r.ts
  order by r.first_seen_at, r.ts, r.event_id, r.revision;
end
$function$;

grant execute on function private.batch_candidates(uuid[],uuid,integer) to watchpost_jobs;

reset check_function_bodies;
reset role;
