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
  -- What is still reported is kept. Noted once a day, because most answers repeat what is known.
  update watchpost.events e
  set reported_at = g.seen_at
  from unnest(p_events) g
  where e.id = g.event_id and not g.is_moving
    and e.source = p_source
    and e.tenant_id is not distinct from coalesce(p_org_id, p_owner_id)
    and coalesce(e.reported_at, e.updated_at) < g.seen_at - interval '1 day';
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
  v_positions text[] := '{}';
  v_stored text[] := '{}';
  v_is_own boolean;
  v_latest timestamptz;
  v_moves boolean;
  v_stands boolean;
  v_tenant uuid := coalesce(p_org_id, p_owner_id);
  -- Events of accounts and organisations share one queue.
  v_queue text := case when starts_with(p_source, 'custom:') then 'custom' else p_source end;
begin
  -- A source can only name its own events: nobody takes over another's by an id or alias of it.
  select bool_and(starts_with(j.value ->> 'id', p_source || ':')), max((j.value ->> 'ts')::timestamptz)
  into v_is_own, v_latest
  from jsonb_array_elements(p_events) as j (value);
  if not v_is_own then
    raise exception 'every id of source % begins with %:', p_source, p_source using errcode = 'WP400';
  end if;
  -- One ingest of a source at a time, because aliases and revisions depend on what is stored.
  perform pg_advisory_xact_lock(hashtextextended('ingest:' || p_source || coalesce(':' || v_tenant, ''), 0));

  insert into watchpost.batches (id, source, size, matched_at)
  values (v_batch, v_queue, v_given, case when p_match then null else now() end);
  v_events := array(select e from private.read_events(p_source, p_events) e);
  -- Most batches have only the one or the other.
  select coalesce(bool_or(e.is_moving), false), coalesce(bool_or(not e.is_moving), false) into v_moves, v_stands
  from unnest(v_events) e;
  revised_ids := '{}';
  dropped := 0;
  flagged := 0;
  if v_moves then
    select p.stored, p.dropped, p.flagged into v_positions, dropped, flagged
    from private.store_positions(v_batch, p_source, v_tenant, v_events) p;
  end if;
  if v_stands then
    select e.inserted, e.revised into v_stored, revised_ids
    from private.store_events(v_batch, p_source, p_owner_id, p_org_id, v_events) e;
    perform private.store_aliases(p_source, v_events);
  end if;
  inserted_ids := v_positions || v_stored;
  inserted := cardinality(inserted_ids);
  revised := cardinality(revised_ids);
  unchanged := v_given - inserted - revised - dropped;

  update watchpost.sources
  set last_event_at = greatest(last_event_at, v_latest)
  where source = p_source and v_given > 0;

  if inserted + revised = 0 then
    delete from watchpost.batches where id = v_batch;
    return next;
    return;
  end if;
  if not p_match then
    -- Nothing will say which of its positions matter.
    perform private.thin_positions(array[v_batch], v_positions);
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

reset role;
