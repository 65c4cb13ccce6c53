-- Positions of moving subjects: what is dropped, what is kept as a sample, and their partitions.

set role watchpost_owner;

-- Great-circle distance in metres (haversine).
create function private.distance_m(
  p_lat_1 double precision, p_lon_1 double precision, p_lat_2 double precision, p_lon_2 double precision
)
returns double precision
language sql immutable set search_path = '' as $$
  select 2 * 6371008.8 * asin(least(1, sqrt(
    sin(radians(p_lat_2 - p_lat_1) / 2) ^ 2
    + cos(radians(p_lat_1)) * cos(radians(p_lat_2)) * sin(radians(p_lon_2 - p_lon_1) / 2) ^ 2)))
$$;

-- What is wrong with a step from one position of a subject to the next: after a silence of an hour (an aircraft: of ten
-- minutes) it is a gap; faster than 100 knots (1,000) and farther than a kilometre, which no jitter of clocks explains, a jump.
create function private.step_flag(p_type text, p_seconds double precision, p_metres double precision) returns text
language sql immutable set search_path = '' as $$
  select case
    when p_metres > 1000
      and p_metres > p_seconds * 0.514444 * case when p_type = 'aircraft' then 1000 else 100 end then 'jump'
    when p_seconds > case when p_type = 'aircraft' then 600 else 3600 end then 'gap'
  end
$$;

-- Stores the positions of a batch. A position is dropped if its subject was seen later already at this source, or if it
-- lies more than ten minutes ahead of the clock: it would make all that follow late. A position is a sample if 30 s or
-- 100 m lie between it and the sample before, if its severity changed, or if its step is flagged. All are matched;
-- thin_positions then deletes those that are neither samples nor changed a stay.
create function private.store_positions(
  p_batch_id uuid, p_source text, p_tenant_id uuid, p_events private.incoming_event[],
  out stored text[], out dropped integer, out flagged integer
)
language plpgsql volatile set search_path = '' as $$
declare
  v_tenant_id uuid := coalesce(p_tenant_id, '00000000-0000-0000-0000-000000000000');
  v record;
  v_subject text;
  v_last watchpost.subjects;
  v_is_new boolean;
  v_flag text;
  v_is_sample boolean;
  v_ids text[] := '{}';
  v_flags text[] := '{}';
  v_samples boolean[] := '{}';
  v_latest watchpost.subjects[] := '{}';
begin
  dropped := 0;
  flagged := 0;
  for v in
    select e.*, k as known
    from unnest(p_events) e
    left join watchpost.subjects k
      on k.source = p_source and k.subject = e.subject and k.tenant_id = v_tenant_id
    where e.is_moving
    order by e.subject, e.ts, e.event_id
  loop
    if v_subject is distinct from v.subject then
      if v_last.subject is not null then
        v_latest := array_append(v_latest, v_last);
      end if;
      v_subject := v.subject;
      v_last := v.known;
    end if;
    v_is_new := v_last.subject is null;
    if v.event_id = v_last.event_id then
      continue;
    end if;
    if v.ts < v_last.ts or v.ts > v.seen_at + interval '10 minutes' then
      dropped := dropped + 1;
      continue;
    end if;
    v_flag := case when not v_is_new then private.step_flag(
      v.type, extract(epoch from v.ts - v_last.ts)::float8, private.distance_m(v_last.lat, v_last.lon, v.lat, v.lon)) end;
    v_is_sample := v_is_new or v_flag is not null or v.severity <> v_last.severity
      or v.ts >= v_last.sampled_at + interval '30 seconds'
      or private.distance_m(v_last.sampled_lat, v_last.sampled_lon, v.lat, v.lon) >= 100;
    v_ids := array_append(v_ids, v.event_id);
    v_flags := array_append(v_flags, v_flag);
    v_samples := array_append(v_samples, v_is_sample);
    if v_flag is not null then
      flagged := flagged + 1;
    end if;
    if v_is_sample then
      v_last.sampled_at := v.ts;
      v_last.sampled_lat := v.lat;
      v_last.sampled_lon := v.lon;
    end if;
    v_last := row(
      p_source, v.subject, v_tenant_id, v.event_id, v.ts, v.lat, v.lon, v.severity,
      v_last.sampled_at, v_last.sampled_lat, v_last.sampled_lon);
  end loop;

  if v_last.subject is not null then
    v_latest := array_append(v_latest, v_last);
  end if;

  insert into watchpost.subjects as k (
    source, subject, tenant_id, event_id, ts, lat, lon, severity, sampled_at, sampled_lat, sampled_lon)
  select source, subject, tenant_id, event_id, ts, lat, lon, severity, sampled_at, sampled_lat, sampled_lon
  from unnest(v_latest)
  on conflict (source, subject, tenant_id) do update
  set event_id = excluded.event_id, ts = excluded.ts, lat = excluded.lat, lon = excluded.lon,
      severity = excluded.severity, sampled_at = excluded.sampled_at,
      sampled_lat = excluded.sampled_lat, sampled_lon = excluded.sampled_lon
  where k.event_id <> excluded.event_id;

  with kept as (
    insert into watchpost.positions (
      event_id, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, url, extent,
      tenant_id, is_sample, flag)
    select
      e.event_id, p_batch_id, e.seen_at, p_source, e.type, e.title, e.lat, e.lon, e.ts, e.severity, e.subject, e.status,
      e.url, e.extent, p_tenant_id, t.is_sample, t.flag
    from unnest(v_ids, v_flags, v_samples) as t (id, flag, is_sample)
    join unnest(p_events) e on e.event_id = t.id
    on conflict do nothing
    returning event_id
  )
  select coalesce(array_agg(event_id), '{}') into stored from kept;
end
$$;

-- Security definer: the jobs cannot delete positions. Deletes those of a matched batch that are neither samples nor
-- named in p_keep, because they changed a stay; returns how many.
create function private.thin_positions(p_batch_ids uuid[], p_keep text[]) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_count integer;
begin
  delete from watchpost.positions
  where batch_id = any(p_batch_ids) and not is_sample and event_id <> all(p_keep);
  get diagnostics v_count = row_count;
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
