-- Positions of moving subjects: what is dropped, what is kept as a sample, and their partitions.

set role watchpost_owner;

-- Great-circle distance in metres (haversine). This and step_flag have no search_path of their own, so that Postgres can
-- inline them: a call for each position costs more than the rest of it. Their caller has an empty one.
create function private.distance_m(
  p_lat_1 double precision, p_lon_1 double precision, p_lat_2 double precision, p_lon_2 double precision
)
returns double precision
language sql immutable as $$
  select 2 * 6371008.8 * asin(least(1, sqrt(
    sin(radians(p_lat_2 - p_lat_1) / 2) ^ 2
    + cos(radians(p_lat_1)) * cos(radians(p_lat_2)) * sin(radians(p_lon_2 - p_lon_1) / 2) ^ 2)))
$$;

-- What is wrong with a step from one position of a subject to the next: after a silence of an hour (an aircraft: of ten
-- minutes) it is a gap; faster than 100 knots (1,000) and farther than a kilometre, which no jitter of clocks explains, a jump.
create function private.step_flag(p_type text, p_seconds double precision, p_metres double precision) returns text
language sql immutable as $$
  select case
    when p_metres > 1000
      and p_metres > p_seconds * 0.514444 * case when p_type = 'aircraft' then 1000 else 100 end then 'jump'
    when p_seconds > case when p_type = 'aircraft' then 600 else 3600 end then 'gap'
  end
$$;

-- Stores the positions of a batch. A position is dropped if its subject was seen later already at this source, or if it
-- lies more than ten minutes ahead of the clock: it would make all that follow late. A position is a sample if 30 s or
-- 100 m lie between it and the sample before, if its severity changed, or if its step is flagged. All are matched;
-- of those that are no samples thin_positions then keeps what changed a stay.
create function private.store_positions(
  p_batch_id uuid, p_source text, p_tenant_id uuid, p_events private.incoming_event[],
  out stored text[], out dropped integer, out flagged integer
)
-- Planned once, when there may be no subjects yet: for a few positions, which are hashed, and never to read all subjects.
language plpgsql volatile set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
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
      null::boolean as is_sample, null::boolean as has_moved_on
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
      t.is_told, not t.is_told and not t.is_known, s.flag, s.is_sample, t.seconds > 0
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
  arrived as materialized (
    select g.*, f.is_sample, f.flag, f.has_moved_on
    from followed f
    join given g on g.subject = f.subject and g.nr = f.nr
    where f.is_stored
  ),
  kept as (
    insert into watchpost.positions (
      event_id, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, url, extent,
      tenant_id, is_sample, flag)
    select event_id, p_batch_id, seen_at, p_source, type, title, lat, lon, ts, severity, subject, status, url, extent,
      p_tenant_id, true, flag
    from arrived
    where is_sample
    on conflict do nothing
    returning event_id
  ),
  passing as (
    insert into watchpost.passing_positions (
      event_id, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, url, extent,
      tenant_id)
    select event_id, p_batch_id, seen_at, p_source, type, title, lat, lon, ts, severity, subject, status, url, extent,
      p_tenant_id
    from arrived a
    where not is_sample
      -- Of two positions at the same time, either may be told again.
      and (has_moved_on or not exists (
        select from watchpost.positions p where p.ts = a.ts and p.event_id = a.event_id))
    on conflict do nothing
    returning event_id
  )
  select
    (select coalesce(array_agg(n.event_id), '{}') from (select * from kept union all select * from passing) n),
    count(*) filter (where f.is_dropped),
    count(*) filter (where f.is_stored and f.flag is not null)
  into stored, dropped, flagged
  from followed f;
end
$$;

-- Security definer: the jobs cannot write positions. Of the passing ones of matched batches keeps those in p_keep, which
-- changed a stay; returns how many went.
create function private.thin_positions(p_batch_ids uuid[], p_keep text[]) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_count integer;
begin
  with passed as (
    delete from watchpost.passing_positions where batch_id = any(p_batch_ids) returning *
  ),
  kept as (
    insert into watchpost.positions (
      event_id, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, url, extent,
      tenant_id, is_sample)
    select event_id, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, url, extent,
      tenant_id, false
    from passed
    where event_id = any(p_keep)
    on conflict do nothing
  )
  select count(*) filter (where event_id <> all(p_keep)) into v_count from passed;
  return v_count;
end
$$;
grant execute on function private.thin_positions to watchpost_jobs;

-- Creates partitions of positions from yesterday up to p_days ahead; the default partition takes the rest.
create function private.ensure_partitions(p_days integer default 3) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_day date;
  v_name text;
begin
  for v_day in
    select generate_series((now() at time zone 'UTC')::date - 1, (now() at time zone 'UTC')::date + p_days, '1 day')
  loop
    v_name := 'positions_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass('watchpost.' || v_name) is not null;
    -- Positions that arrived before their day had a partition stay in the default one until they are deleted.
    continue when exists (
      select from watchpost.positions_default p
      where p.ts >= v_day::timestamp at time zone 'UTC' and p.ts < (v_day + 1)::timestamp at time zone 'UTC');
    execute format(
      'create table watchpost.%I partition of watchpost.positions for values from (%L) to (%L)',
      v_name, v_day::text || ' 00:00:00+00', (v_day + 1)::text || ' 00:00:00+00');
    execute format('alter table watchpost.%I enable row level security', v_name);
    execute format('alter table watchpost.%I force row level security', v_name);
  end loop;
end
$$;
grant execute on function private.ensure_partitions to watchpost_jobs;

reset role;
