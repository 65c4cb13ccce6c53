set role watchpost_owner;
set check_function_bodies = off;

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
$function$;

reset check_function_bodies;
reset role;
