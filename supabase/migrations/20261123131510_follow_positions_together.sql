set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.distance_m(p_lat_1 double precision, p_lon_1 double precision, p_lat_2 double precision, p_lon_2 double precision)
 RETURNS double precision
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select 2 * 6371008.8 * asin(least(1, sqrt(
    sin(radians(p_lat_2 - p_lat_1) / 2) ^ 2
    + cos(radians(p_lat_1)) * cos(radians(p_lat_2)) * sin(radians(p_lon_2 - p_lon_1) / 2) ^ 2)))
$function$;

CREATE OR REPLACE FUNCTION private.step_flag(p_type text, p_seconds double precision, p_metres double precision)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case
    when p_metres > 1000
      and p_metres > p_seconds * 0.514444 * case when p_type = 'aircraft' then 1000 else 100 end then 'jump'
    when p_seconds > case when p_type = 'aircraft' then 600 else 3600 end then 'gap'
  end
$function$;

CREATE OR REPLACE FUNCTION private.store_positions(p_batch_id uuid, p_source text, p_tenant_id uuid, p_events private.incoming_event[], OUT stored text[], OUT dropped integer, OUT flagged integer)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO ''
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
declare
  v_tenant_id uuid := coalesce(p_tenant_id, '00000000-0000-0000-0000-000000000000');
begin
  with recursive
  given as materialized (
    select e.*, row_number() over (partition by e.subject order by e.ts, e.event_id) as nr
    from unnest(p_events) e
    where e.is_moving
  ),
  -- `last` is where the subject was seen last, before its first position here and after each; the n-th of all at once.
  followed as (
    select g.subject, 0::bigint as nr, known.last, false as is_stored, false as is_dropped, null::text as flag,
      null::boolean as is_sample
    from given g
    -- Offset 0: by the whole key. Before the first ANALYZE, its other two columns alone would seem to find one row.
    left join lateral (
      select k as last from watchpost.subjects k
      where k.source = p_source and k.subject = g.subject and k.tenant_id = v_tenant_id offset 0
    ) known on true
    where g.nr = 1
    union all
    select g.subject, g.nr,
      case when t.is_told then row(
        p_source, g.subject, v_tenant_id, g.event_id, g.ts, g.lat, g.lon, g.severity,
        case when s.is_sample then g.ts else (f.last).sampled_at end,
        case when s.is_sample then g.lat else (f.last).sampled_lat end,
        case when s.is_sample then g.lon else (f.last).sampled_lon end)::watchpost.subjects
      else f.last end,
      t.is_told, not t.is_told and not t.is_known, s.flag, s.is_sample
    from followed f
    join given g on g.subject = f.subject and g.nr = f.nr + 1
    -- Offset 0: computed once, not wherever they are used.
    cross join lateral (
      select coalesce(g.event_id = (f.last).event_id, false) as is_known,
        coalesce(g.event_id <> (f.last).event_id and g.ts >= (f.last).ts, true)
          and g.ts <= g.seen_at + interval '10 minutes' as is_told,
        extract(epoch from g.ts - (f.last).ts)::float8 as seconds,
        private.distance_m((f.last).lat, (f.last).lon, g.lat, g.lon) as metres
      offset 0
    ) t
    cross join lateral (
      select p.flag, p.flag is not null or (f.last).event_id is null or g.severity <> (f.last).severity
          or g.ts >= (f.last).sampled_at + interval '30 seconds'
          or private.distance_m((f.last).sampled_lat, (f.last).sampled_lon, g.lat, g.lon) >= 100 as is_sample
      from (select private.step_flag(g.type, t.seconds, t.metres) as flag offset 0) p
      offset 0
    ) s
  ),
  seen as (
    insert into watchpost.subjects as k (
      source, subject, tenant_id, event_id, ts, lat, lon, severity, sampled_at, sampled_lat, sampled_lon)
    select (n.last).*
    from (
      select distinct on (f.subject) f.last, f.nr from followed f where f.is_stored order by f.subject, f.nr desc) n
    on conflict (source, subject, tenant_id) do update
    set event_id = excluded.event_id, ts = excluded.ts, lat = excluded.lat, lon = excluded.lon,
        severity = excluded.severity, sampled_at = excluded.sampled_at,
        sampled_lat = excluded.sampled_lat, sampled_lon = excluded.sampled_lon
  ),
  kept as (
    insert into watchpost.positions (
      event_id, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, url, extent,
      tenant_id, is_sample, flag)
    select
      g.event_id, p_batch_id, g.seen_at, p_source, g.type, g.title, g.lat, g.lon, g.ts, g.severity, g.subject, g.status,
      g.url, g.extent, p_tenant_id, f.is_sample, f.flag
    from followed f
    join given g on g.subject = f.subject and g.nr = f.nr
    where f.is_stored
    on conflict do nothing
    returning event_id
  )
  select
    (select coalesce(array_agg(event_id), '{}') from kept),
    count(*) filter (where f.is_dropped),
    count(*) filter (where f.is_stored and f.flag is not null)
  into stored, dropped, flagged
  from followed f;
end
$function$;

reset role;
