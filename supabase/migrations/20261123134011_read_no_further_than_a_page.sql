set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.events_near(p_zone_id uuid, p_from timestamp with time zone, p_before timestamp with time zone, p_before_id text, p_source text, p_type text, p_min_severity integer, p_limit integer, p_max_boxes integer DEFAULT 400, p_status text DEFAULT NULL::text, p_active_at timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS TABLE(event_id text, ts timestamp with time zone, is_position boolean, zone_ids uuid[])
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
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
$function$;

reset check_function_bodies;
reset role;
