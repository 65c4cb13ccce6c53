-- Ingest: how the items of a feed become events and revisions.

set role watchpost_owner;

-- An item of a feed, with the id under which its event is stored.
create type private.incoming_event as (
  event_id text,
  given_id text,
  aliases text[],
  is_moving boolean,
  type text,
  title text,
  lat double precision,
  lon double precision,
  ts timestamptz,
  severity smallint,
  subject text,
  status text,
  url text,
  geometry jsonb,
  ends_at timestamptz,
  revised_at timestamptz,
  extent box,
  seen_at timestamptz,
  magnitude double precision,
  depth_km double precision
);

-- Reads a JSON array of normalised events with `box` as [west, south, east, north]; `first_seen_at` may be given for
-- history. An event that is known under another id keeps that id; of several states the last one counts. An active event
-- whose end has passed is ended. Times are in milliseconds, as on the wire, so that a cursor names a row exactly.
create function private.read_events(p_source text, p_events jsonb) returns setof private.incoming_event
language sql stable set search_path = '' as $$
  select distinct on (coalesce(known.event_id, e.id))
    coalesce(known.event_id, e.id), e.id, e.aliases, coalesce(e.subject ~ '^(mmsi|icao24):', false),
    e.type, e.title, e.lat, e.lon, e.ts, e.severity, e.subject,
    case when e.status = 'active' and e.ends_at <= coalesce(e.first_seen_at, now()) then 'ended' else e.status end,
    e.url, e.geometry, e.ends_at, e.revised_at,
    box(
      point((e.box ->> 0)::float8, (e.box ->> 1)::float8),
      point((e.box ->> 2)::float8, (e.box ->> 3)::float8)),
    date_trunc('milliseconds', coalesce(e.first_seen_at, now())), e.magnitude, e.depth_km
  from (
    select x.*, j.ordinal
    from jsonb_array_elements(p_events) with ordinality as j (value, ordinal)
    cross join lateral jsonb_to_record(j.value) as x (
      id text, type text, title text, lat float8, lon float8, ts timestamptz, severity smallint,
      subject text, status text, url text, geometry jsonb, ends_at timestamptz,
      revised_at timestamptz, first_seen_at timestamptz, aliases text[], box jsonb, magnitude float8, depth_km float8)
  ) e
  left join lateral (
    select a.event_id from watchpost.event_aliases a
    where a.alias = any(e.aliases || e.id) and starts_with(a.alias, p_source || ':')
    order by a.alias = e.id desc, a.event_id
    limit 1
  ) known on true
  order by coalesce(known.event_id, e.id), e.ordinal desc
$$;

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
create function private.thin_positions(p_batch_id uuid, p_keep text[]) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_count integer;
begin
  delete from watchpost.positions
  where batch_id = p_batch_id and not is_sample and event_id <> all(p_keep);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
grant execute on function private.thin_positions to watchpost_jobs;

-- Stores new events and true revisions, each with its row in event_revisions; returns their ids.
create function private.store_events(
  p_batch_id uuid, p_source text, p_owner_id uuid, p_org_id uuid, p_events private.incoming_event[],
  out inserted text[], out revised text[]
)
language plpgsql volatile set search_path = '' as $$
begin
  with given as materialized (
    select * from unnest(p_events) where not is_moving
  ),
  born as (
    insert into watchpost.events (
      id, source, type, title, lat, lon, ts, severity, subject, status, url, geometry, ends_at, revised_at,
      extent, first_seen_at, updated_at, owner_id, org_id, magnitude, depth_km, revision)
    select
      event_id, p_source, type, title, lat, lon, ts, severity, subject, status, url, geometry, ends_at, revised_at,
      extent, seen_at, seen_at, p_owner_id, p_org_id, magnitude, depth_km,
      -- If an event that was deleted for its age is reported again, its revisions continue.
      1 + coalesce((
        select max(r.revision) from watchpost.event_revisions r where r.event_id = given.event_id), 0)
    from given
    on conflict (id) do nothing
    returning *
  ),
  changed as (
    update watchpost.events e
    set type = g.type, title = g.title, lat = g.lat, lon = g.lon, ts = g.ts, severity = g.severity,
        subject = g.subject, status = g.status, url = g.url, geometry = g.geometry, ends_at = g.ends_at,
        revised_at = g.revised_at, extent = g.extent, magnitude = coalesce(g.magnitude, e.magnitude),
        depth_km = coalesce(g.depth_km, e.depth_km),
        revision = e.revision + 1, updated_at = g.seen_at
    from given g
    where e.id = g.event_id
      and e.source = p_source
      and e.tenant_id is not distinct from coalesce(p_org_id, p_owner_id)
      and (g.revised_at is null or e.revised_at is null or g.revised_at >= e.revised_at)
      and (g.type, g.title, g.lat, g.lon, g.ts, g.severity, g.status, g.url, g.geometry, g.ends_at,
          coalesce(g.magnitude, e.magnitude), coalesce(g.depth_km, e.depth_km))
        is distinct from
        (e.type, e.title, e.lat, e.lon, e.ts, e.severity, e.status, e.url, e.geometry, e.ends_at, e.magnitude, e.depth_km)
    returning e.*
  ),
  revisions as (
    insert into watchpost.event_revisions (
      event_id, revision, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject,
      status, url, geometry, ends_at, extent, tenant_id, magnitude, depth_km)
    select
      id, revision, p_batch_id, updated_at, source, type, title, lat, lon, ts, severity, subject,
      status, url, geometry, ends_at, extent, tenant_id, magnitude, depth_km
    from (select * from born union all select * from changed) r
  )
  select coalesce((select array_agg(b.id) from born b), '{}'), coalesce((select array_agg(c.id) from changed c), '{}')
  into inserted, revised;
end
$$;

create function private.store_aliases(p_source text, p_events private.incoming_event[]) returns void
language sql volatile set search_path = '' as $$
  insert into watchpost.event_aliases (alias, event_id)
  select distinct on (a.alias) a.alias, g.event_id
  from unnest(p_events) g
  cross join lateral unnest(g.aliases || g.given_id || g.event_id) as a (alias)
  where not g.is_moving and (g.aliases <> '{}' or g.given_id <> g.event_id) and starts_with(a.alias, p_source || ':')
  order by a.alias, g.event_id
  on conflict (alias) do nothing
$$;

-- Security definer: the jobs cannot write events in any other way. Stores the items of a feed as a batch with its
-- match job, in the caller's transaction; without a batch if nothing is new.
create function private.ingest_events(
  p_source text,
  p_events jsonb,
  p_match boolean default true,
  p_owner_id uuid default null,
  p_org_id uuid default null
)
returns table (
  inserted integer, revised integer, unchanged integer, batch_id uuid, inserted_ids text[], revised_ids text[],
  dropped integer, flagged integer
)
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_batch uuid := gen_random_uuid();
  v_given integer := jsonb_array_length(p_events);
  v_events private.incoming_event[];
  v_positions record;
  v_stored record;
  v_tenant uuid := coalesce(p_org_id, p_owner_id);
  -- Events of accounts and organisations share one queue.
  v_queue text := case when starts_with(p_source, 'custom:') then 'custom' else p_source end;
begin
  -- A source can only name its own events: nobody takes over another's by an id or alias of it.
  if exists (
    select from jsonb_array_elements(p_events) as j (value)
    where not starts_with(j.value ->> 'id', p_source || ':')) then
    raise exception 'every id of source % begins with %:', p_source, p_source using errcode = 'WP400';
  end if;
  -- One ingest of a source at a time, because aliases and revisions depend on what is stored.
  perform pg_advisory_xact_lock(hashtextextended('ingest:' || p_source || coalesce(':' || v_tenant, ''), 0));

  insert into watchpost.batches (id, source, size, matched_at)
  values (v_batch, v_queue, v_given, case when p_match then null else now() end);
  v_events := array(select e from private.read_events(p_source, p_events) e);
  select * into v_positions from private.store_positions(v_batch, p_source, v_tenant, v_events);
  select * into v_stored from private.store_events(v_batch, p_source, p_owner_id, p_org_id, v_events);
  inserted_ids := v_positions.stored || v_stored.inserted;
  revised_ids := v_stored.revised;
  perform private.store_aliases(p_source, v_events);
  inserted := cardinality(inserted_ids);
  revised := cardinality(revised_ids);
  dropped := v_positions.dropped;
  flagged := v_positions.flagged;
  unchanged := v_given - inserted - revised - dropped;

  update watchpost.sources
  set last_event_at = greatest(last_event_at, (
        select max((j.value ->> 'ts')::timestamptz) from jsonb_array_elements(p_events) as j (value)))
  where source = p_source and v_given > 0;

  if inserted + revised = 0 then
    delete from watchpost.batches where id = v_batch;
    return next;
    return;
  end if;
  batch_id := v_batch;
  update watchpost.batches set size = inserted + revised where id = v_batch;
  if p_match then
    perform private.enqueue('match', v_batch, jsonb_build_object('source', v_queue));
  end if;
  return next;
end
$$;
grant execute on function private.ingest_events to watchpost_jobs;

-- Security definer, as ingest_events: events whose end has passed become `ended`, each with a revision and its
-- match job, up to p_limit of them. A source that is being ingested comes next time.
create function private.end_events(p_limit integer default 500) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_source text;
  v_queue text;
  v_batch uuid;
  v_ended integer;
  v_count integer := 0;
begin
  for v_source in
    select distinct e.source from watchpost.events e where e.status = 'active' and e.ends_at <= now()
  loop
    v_queue := case when starts_with(v_source, 'custom:') then 'custom' else v_source end;
    continue when not pg_try_advisory_xact_lock(hashtextextended('ingest:' || v_source, 0));
    insert into watchpost.batches (source, size) values (v_queue, 0) returning id into v_batch;
    with over as (
      update watchpost.events
      set status = 'ended', revision = revision + 1, updated_at = date_trunc('milliseconds', now())
      where id in (
        select e.id from watchpost.events e
        where e.status = 'active' and e.ends_at <= now() and e.source = v_source
        order by e.ends_at
        limit p_limit)
      returning *
    )
    insert into watchpost.event_revisions (
      event_id, revision, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject,
      status, url, geometry, ends_at, extent, tenant_id, magnitude, depth_km)
    select
      id, revision, v_batch, updated_at, source, type, title, lat, lon, ts, severity, subject,
      status, url, geometry, ends_at, extent, tenant_id, magnitude, depth_km
    from over;
    get diagnostics v_ended = row_count;
    if v_ended = 0 then
      delete from watchpost.batches where id = v_batch;
      continue;
    end if;
    update watchpost.batches set size = v_ended where id = v_batch;
    perform private.enqueue('match', v_batch, jsonb_build_object('source', v_queue));
    v_count := v_count + v_ended;
  end loop;
  return v_count;
end
$$;
grant execute on function private.end_events to watchpost_jobs;

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
