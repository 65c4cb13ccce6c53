-- Sources and events: what the feeds said, every revision of it, and when it was first seen.

set role watchpost_owner;

create table watchpost.sources (
  source text primary key check (source ~ '^[a-z][a-z0-9-]*$'),
  title text not null,
  attribution text not null,
  types text[] not null,
  enabled boolean not null default true,
  interval_seconds integer not null check (interval_seconds > 0),
  next_poll_at timestamptz not null default now(),
  state jsonb not null default '{}',
  last_success_at timestamptz,
  last_event_at timestamptz,
  error text,
  error_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
comment on table watchpost.sources is 'One row a feed: when to poll it next, where it stopped, how it is.';
comment on column watchpost.sources.source is 'Short name, the first part of its event ids.';
comment on column watchpost.sources.title is 'Name for people.';
comment on column watchpost.sources.attribution is 'Credit its licence asks for, shown wherever its events are.';
comment on column watchpost.sources.types is 'Event types it brings; zones use it to say what can reach them.';
comment on column watchpost.sources.enabled is 'Whether it is polled; the service switches off what FEEDS does not name.';
comment on column watchpost.sources.interval_seconds is 'Time between two polls.';
comment on column watchpost.sources.next_poll_at is 'When it is due; set it to now() to poll at once.';
comment on column watchpost.sources.state is 'Where the feed stopped: ETag, last id and the like; written by its connector. Empty it to start over.';
comment on column watchpost.sources.last_success_at is 'Last poll that was answered well, news or not.';
comment on column watchpost.sources.last_event_at is 'Time of the newest event it ever brought.';
comment on column watchpost.sources.error is 'Why the last failing poll failed.';
comment on column watchpost.sources.error_at is 'When it last failed; the source is down while this is newer than last_success_at.';
comment on column watchpost.sources.created_at is 'When this Watchpost first knew it.';
comment on column watchpost.sources.updated_at is 'Last change of its description or switch; polls do not touch it.';
alter table watchpost.sources enable row level security;
alter table watchpost.sources force row level security;
create policy sources_jobs on watchpost.sources for all to watchpost_jobs
  using (true) with check (true);
grant select, insert, update on watchpost.sources to watchpost_jobs;

create table watchpost.events (
  id text primary key,
  source text not null references watchpost.sources,
  type text not null,
  title text not null,
  lat double precision not null check (lat between -90 and 90),
  lon double precision not null check (lon between -180 and 180),
  ts timestamptz not null,
  severity smallint not null check (severity between 0 and 100),
  subject text,
  status text not null check (status in ('active', 'ended', 'retracted')),
  url text,
  geometry jsonb,
  ends_at timestamptz,
  revised_at timestamptz,
  extent box not null,
  revision integer not null default 1,
  first_seen_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  owner_id uuid references watchpost.accounts on delete cascade,
  org_id uuid references watchpost.organisations on delete set null,
  scope_id uuid generated always as (coalesce(org_id, owner_id)) stored
);
comment on table watchpost.events is 'Canonical events as they are now. Public ones have no owner.';
comment on column watchpost.events.id is '<source>:<the sources own id>; the first id seen when a source renames its event.';
comment on column watchpost.events.source is 'Feed it came from.';
comment on column watchpost.events.type is 'Kind of event: earthquake, storm, vessel …';
comment on column watchpost.events.title is 'One line for people, in the words of the source.';
comment on column watchpost.events.lat is 'Latitude of its point, degrees.';
comment on column watchpost.events.lon is 'Longitude of its point, degrees from -180 to 180.';
comment on column watchpost.events.ts is 'When it happened, by the source.';
comment on column watchpost.events.severity is '0 to 100 by the rule of its feed; zones compare it with their threshold.';
comment on column watchpost.events.subject is 'The moving thing it is about, as mmsi:… or icao24:…, or another stable reference; else null.';
comment on column watchpost.events.status is 'active, ended, or retracted by the source.';
comment on column watchpost.events.url is 'Page of the source about it.';
comment on column watchpost.events.geometry is 'Footprint as GeoJSON when there is more than a point.';
comment on column watchpost.events.ends_at is 'Until when a standing event (a warning) lasts; null for what merely happened.';
comment on column watchpost.events.revised_at is 'When the source says it last changed it; an older one never overwrites a newer one.';
comment on column watchpost.events.extent is 'Bounding box of point and footprint, computed on ingest; finds the zones near it.';
comment on column watchpost.events.revision is 'Counts the states seen here, from 1; each is a row of event_revisions.';
comment on column watchpost.events.first_seen_at is 'When Watchpost first heard of it.';
comment on column watchpost.events.updated_at is 'When its last revision was first seen.';
comment on column watchpost.events.owner_id is 'Account that sent it in; null for public events.';
comment on column watchpost.events.org_id is 'Organisation it is shared with; null when public or private.';
comment on column watchpost.events.scope_id is 'Who may see it: organisation, else owner; null: everybody. Computed.';
create index events_ts on watchpost.events (ts desc, id desc);
create index events_extent_ts on watchpost.events using gist (extent, ts);
create index events_source_ts on watchpost.events (source, ts desc);
create index events_standing on watchpost.events (ends_at) where status = 'active' and ends_at is not null;
create index events_owner_id on watchpost.events (owner_id) where owner_id is not null;
create index events_org_id on watchpost.events (org_id) where org_id is not null;
alter table watchpost.events enable row level security;
alter table watchpost.events force row level security;
create policy events_select on watchpost.events for select to authenticated
  using (scope_id is null or scope_id = any((select private.my_scopes())::uuid[]));
create policy events_jobs on watchpost.events for select to watchpost_jobs
  using (true);
grant select on watchpost.events to authenticated, watchpost_jobs;

create table watchpost.event_aliases (
  alias text primary key,
  event_id text not null references watchpost.events on delete cascade
);
comment on table watchpost.event_aliases is 'Every id under which a source knew an event, to the first one seen.';
comment on column watchpost.event_aliases.alias is 'An id under which the source also knew the event.';
comment on column watchpost.event_aliases.event_id is 'The event it is stored as.';
create index event_aliases_event_id on watchpost.event_aliases (event_id);
alter table watchpost.event_aliases enable row level security;
alter table watchpost.event_aliases force row level security;

create table watchpost.batches (
  id uuid primary key default gen_random_uuid(),
  seq bigint not null generated always as identity,
  source text not null references watchpost.sources,
  size integer not null,
  created_at timestamptz not null default now(),
  matched_at timestamptz
);
comment on table watchpost.batches is 'What one ingest brought and whether it was matched; matched in order, source by source.';
comment on column watchpost.batches.id is 'Also the id of the match job that belongs to it.';
comment on column watchpost.batches.seq is 'Order of arrival.';
comment on column watchpost.batches.source is 'Feed it came from.';
comment on column watchpost.batches.size is 'New events and revisions in it.';
comment on column watchpost.batches.created_at is 'When it was stored.';
comment on column watchpost.batches.matched_at is 'When every zone near it was decided on; null means still to do.';
create index batches_unmatched on watchpost.batches (source, seq) where matched_at is null;
create index batches_created_at on watchpost.batches (created_at);
create index batches_source on watchpost.batches (source);
alter table watchpost.batches enable row level security;
alter table watchpost.batches force row level security;
create policy batches_jobs on watchpost.batches for all to watchpost_jobs
  using (true) with check (true);
grant select, update on watchpost.batches to watchpost_jobs;

create table watchpost.event_revisions (
  event_id text not null,
  revision integer not null,
  batch_id uuid references watchpost.batches on delete set null,
  first_seen_at timestamptz not null,
  source text not null,
  type text not null,
  title text not null,
  lat double precision not null,
  lon double precision not null,
  ts timestamptz not null,
  severity smallint not null,
  subject text,
  status text not null,
  url text,
  geometry jsonb,
  ends_at timestamptz,
  extent box not null,
  scope_id uuid,
  primary key (event_id, revision)
);
comment on table watchpost.event_revisions is 'Append-only: each state of an event and when it was first seen here. Decisions are replayed from it.';
comment on column watchpost.event_revisions.event_id is 'Event this is a state of; kept when the event itself has gone.';
comment on column watchpost.event_revisions.revision is 'Number of the state, from 1.';
comment on column watchpost.event_revisions.batch_id is 'Ingest that brought it; null once the batch is cleared away.';
comment on column watchpost.event_revisions.first_seen_at is 'When it was first seen here; decisions are made as of this moment.';
comment on column watchpost.event_revisions.source is 'Feed it came from.';
comment on column watchpost.event_revisions.type is 'Kind of event in this state.';
comment on column watchpost.event_revisions.title is 'One line for people in this state.';
comment on column watchpost.event_revisions.lat is 'Latitude in this state, degrees.';
comment on column watchpost.event_revisions.lon is 'Longitude in this state, degrees.';
comment on column watchpost.event_revisions.ts is 'When it happened, as the source said then.';
comment on column watchpost.event_revisions.severity is '0 to 100 in this state.';
comment on column watchpost.event_revisions.subject is 'The thing it is about; see events.';
comment on column watchpost.event_revisions.status is 'active, ended or retracted in this state.';
comment on column watchpost.event_revisions.url is 'Page of the source about it.';
comment on column watchpost.event_revisions.geometry is 'Footprint in this state, GeoJSON.';
comment on column watchpost.event_revisions.ends_at is 'Until when it was to last, as said then.';
comment on column watchpost.event_revisions.extent is 'Bounding box in this state.';
comment on column watchpost.event_revisions.scope_id is 'Who may see it, copied from its event; null: everybody.';
create index event_revisions_batch_id on watchpost.event_revisions (batch_id);
create index event_revisions_first_seen_at on watchpost.event_revisions (first_seen_at);
create index event_revisions_extent_seen on watchpost.event_revisions using gist (extent, first_seen_at);
alter table watchpost.event_revisions enable row level security;
alter table watchpost.event_revisions force row level security;
create policy event_revisions_select on watchpost.event_revisions for select to authenticated
  using (scope_id is null or scope_id = any((select private.my_scopes())::uuid[]));
create policy event_revisions_jobs on watchpost.event_revisions for select to watchpost_jobs
  using (true);
grant select on watchpost.event_revisions to authenticated, watchpost_jobs;

create table watchpost.positions (
  event_id text not null,
  batch_id uuid,
  first_seen_at timestamptz not null,
  source text not null,
  type text not null,
  title text not null,
  lat double precision not null,
  lon double precision not null,
  ts timestamptz not null,
  severity smallint not null,
  subject text not null,
  status text not null,
  url text,
  extent box not null,
  scope_id uuid,
  primary key (event_id, ts)
) partition by range (ts);
comment on table watchpost.positions is 'Positions of moving subjects, one event each, kept 48 hours, a partition a day.';
comment on column watchpost.positions.event_id is 'Id of this position as an event.';
comment on column watchpost.positions.batch_id is 'Ingest that brought it.';
comment on column watchpost.positions.first_seen_at is 'When it arrived here; a stay is replayed in this order.';
comment on column watchpost.positions.source is 'Feed it came from.';
comment on column watchpost.positions.type is 'vessel or aircraft.';
comment on column watchpost.positions.title is 'Name or callsign for people.';
comment on column watchpost.positions.lat is 'Latitude, degrees.';
comment on column watchpost.positions.lon is 'Longitude, degrees.';
comment on column watchpost.positions.ts is 'When the subject was there; dwell is measured on it.';
comment on column watchpost.positions.severity is '0 to 100 by the rule of its feed.';
comment on column watchpost.positions.subject is 'Who moves: mmsi:… or icao24:….';
comment on column watchpost.positions.status is 'active, ended or retracted.';
comment on column watchpost.positions.url is 'Page of the source about it.';
comment on column watchpost.positions.extent is 'The point as a box, for the search by area.';
comment on column watchpost.positions.scope_id is 'Who may see it; null: everybody.';
create index positions_batch_id on watchpost.positions (batch_id);
create index positions_ts on watchpost.positions (ts desc, event_id desc);
create index positions_extent_ts on watchpost.positions using gist (extent, ts);
create index positions_subject_ts on watchpost.positions (subject, ts desc);
alter table watchpost.positions enable row level security;
alter table watchpost.positions force row level security;
create policy positions_select on watchpost.positions for select to authenticated
  using (scope_id is null or scope_id = any((select private.my_scopes())::uuid[]));
create policy positions_jobs on watchpost.positions for select to watchpost_jobs
  using (true);
grant select on watchpost.positions to authenticated, watchpost_jobs;
create table watchpost.positions_default partition of watchpost.positions default;
comment on table watchpost.positions_default is 'Positions whose day has no partition yet.';
alter table watchpost.positions_default enable row level security;
alter table watchpost.positions_default force row level security;

-- Stores what a feed said. New events and true revisions become rows in events and event_revisions,
-- a batch is born with its match job, all in the caller's transaction. Input is a JSON array of
-- normalised events with `box` as [west, south, east, north]; `first_seen_at` may be given for history.
-- Times come in milliseconds, as on the wire, so that a cursor names a row exactly.
create function private.ingest_events(
  p_source text,
  p_events jsonb,
  p_match boolean default true,
  p_owner_id uuid default null,
  p_org_id uuid default null
)
returns table (inserted integer, revised integer, unchanged integer, batch_id uuid)
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_batch uuid := gen_random_uuid();
  v_inserted integer;
  v_revised integer;
  v_given integer := jsonb_array_length(p_events);
begin
  -- A source names its own events only: nobody takes over another's by an id or alias of it.
  if exists (
    select from jsonb_array_elements(p_events) as j (value)
    where not starts_with(j.value ->> 'id', p_source || ':')) then
    raise exception 'every id of source % begins with %:', p_source, p_source using errcode = 'WP400';
  end if;
  -- One ingest of a source at a time: aliases and revisions are decided on what is stored.
  perform pg_advisory_xact_lock(hashtextextended('ingest:' || p_source, 0));

  insert into watchpost.batches (id, source, size, matched_at)
  values (v_batch, p_source, v_given, case when p_match then null else now() end);

  with given as materialized (
    select distinct on (coalesce(known.event_id, e.id))
      coalesce(known.event_id, e.id) as event_id, e.*,
      date_trunc('milliseconds', coalesce(e.first_seen_at, now())) as seen_at,
      box(point(e.west, e.south), point(e.east, e.north)) as extent,
      coalesce(e.subject ~ '^(mmsi|icao24):', false) as is_moving
    from (
      select x.*, (x.box ->> 0)::float8 as west, (x.box ->> 1)::float8 as south,
        (x.box ->> 2)::float8 as east, (x.box ->> 3)::float8 as north, ordinal
      from jsonb_array_elements(p_events) with ordinality as j (value, ordinal)
      cross join lateral jsonb_to_record(j.value) as x (
        id text, type text, title text, lat float8, lon float8, ts timestamptz, severity smallint,
        subject text, status text, url text, geometry jsonb, ends_at timestamptz,
        revised_at timestamptz, first_seen_at timestamptz, aliases text[], box jsonb)
    ) e
    left join lateral (
      select a.event_id from watchpost.event_aliases a
      where a.alias = any(e.aliases || e.id) and starts_with(a.alias, p_source || ':')
      order by a.alias = e.id desc, a.event_id
      limit 1
    ) known on true
    order by coalesce(known.event_id, e.id), e.ordinal desc
  ),
  moved as (
    insert into watchpost.positions (
      event_id, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, url,
      extent, scope_id)
    select event_id, v_batch, seen_at, p_source, type, title, lat, lon, ts, severity, subject, status, url,
      extent, coalesce(p_org_id, p_owner_id)
    from given where is_moving
    on conflict do nothing
    returning event_id
  ),
  born as (
    insert into watchpost.events (
      id, source, type, title, lat, lon, ts, severity, subject, status, url, geometry, ends_at, revised_at,
      extent, first_seen_at, updated_at, owner_id, org_id, revision)
    select event_id, p_source, type, title, lat, lon, ts, severity, subject, status, url, geometry, ends_at,
      revised_at, extent, seen_at, seen_at, p_owner_id, p_org_id,
      -- One that was deleted for its age and is told again goes on where its revisions stopped.
      1 + coalesce((
        select max(r.revision) from watchpost.event_revisions r where r.event_id = given.event_id), 0)
    from given where not is_moving
    on conflict (id) do nothing
    returning *
  ),
  changed as (
    update watchpost.events e
    set type = g.type, title = g.title, lat = g.lat, lon = g.lon, ts = g.ts, severity = g.severity,
        subject = g.subject, status = g.status, url = g.url, geometry = g.geometry, ends_at = g.ends_at,
        revised_at = g.revised_at, extent = g.extent, revision = e.revision + 1, updated_at = g.seen_at
    from given g
    where e.id = g.event_id
      and e.source = p_source
      and e.scope_id is not distinct from coalesce(p_org_id, p_owner_id)
      and (g.revised_at is null or e.revised_at is null or g.revised_at >= e.revised_at)
      and (g.type, g.title, g.lat, g.lon, g.ts, g.severity, g.status, g.url, g.geometry, g.ends_at)
        is distinct from
        (e.type, e.title, e.lat, e.lon, e.ts, e.severity, e.status, e.url, e.geometry, e.ends_at)
    returning e.*
  ),
  revisions as (
    insert into watchpost.event_revisions (
      event_id, revision, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject,
      status, url, geometry, ends_at, extent, scope_id)
    select id, revision, v_batch, updated_at, source, type, title, lat, lon, ts, severity, subject,
      status, url, geometry, ends_at, extent, scope_id
    from (select * from born union all select * from changed) r
  ),
  aliased as (
    insert into watchpost.event_aliases (alias, event_id)
    select distinct on (a.alias) a.alias, g.event_id
    from given g
    cross join lateral unnest(g.aliases || g.id || g.event_id) as a (alias)
    where not g.is_moving and (g.aliases <> '{}' or g.id <> g.event_id) and starts_with(a.alias, p_source || ':')
    order by a.alias, g.event_id
    on conflict (alias) do nothing
  )
  select (select count(*) from born) + (select count(*) from moved), (select count(*) from changed)
  into v_inserted, v_revised;

  update watchpost.sources
  set last_event_at = greatest(last_event_at, (
        select max((j.value ->> 'ts')::timestamptz) from jsonb_array_elements(p_events) as j (value)))
  where source = p_source and v_given > 0;

  if v_inserted + v_revised = 0 then
    delete from watchpost.batches where id = v_batch;
    return query select 0, 0, v_given, null::uuid;
    return;
  end if;
  update watchpost.batches set size = v_inserted + v_revised where id = v_batch;
  if p_match then
    perform private.enqueue('match', v_batch, jsonb_build_object('source', p_source));
  end if;
  return query select v_inserted, v_revised, v_given - v_inserted - v_revised, v_batch;
end
$$;
grant execute on function private.ingest_events to watchpost_jobs;

-- Partitions of positions for yesterday up to p_days ahead; the default partition takes the rest.
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
    execute format(
      'create table watchpost.%I partition of watchpost.positions for values from (%L) to (%L)',
      v_name, v_day::text || ' 00:00:00+00', (v_day + 1)::text || ' 00:00:00+00');
    execute format('alter table watchpost.%I enable row level security', v_name);
    execute format('alter table watchpost.%I force row level security', v_name);
  end loop;
end
$$;
grant execute on function private.ensure_partitions to watchpost_jobs;

-- How a source is: an open source that has long given nothing is stale, one that answers with errors is down.
create function private.source_status(s watchpost.sources) returns text
language sql stable set search_path = '' as $$
  select case
    when not s.enabled then 'disabled'
    when s.last_success_at > now() - greatest(3 * s.interval_seconds, 180) * interval '1 second' then 'ok'
    when s.last_success_at is null and s.error_at is null
      and s.created_at > now() - interval '3 minutes' then 'stale'
    when s.error_at > coalesce(s.last_success_at, '-infinity') or s.last_success_at is null then 'down'
    else 'stale'
  end
$$;

-- Security definer: the sources a zone listens to and whether they can be heard, for its owner.
create function private.coverage(p_sources text[], p_types text[]) returns jsonb
language sql stable security definer set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('source', s.source, 'status', private.source_status(s)) order by s.source), '[]')
  from watchpost.sources s
  where s.source not like 'custom%'
    and (p_sources is null or s.source = any(p_sources))
    and (p_types is null or s.types && p_types)
$$;
grant execute on function private.coverage to authenticated;

-- Security definer: health is public, the sources' state is not.
create function private.sources_health()
returns table (
  source text, title text, attribution text, types text[], enabled boolean, interval_seconds integer,
  status text, last_success_at timestamptz, last_event_at timestamptz, events_24h bigint, error text,
  latency_p50 double precision, latency_p95 double precision
)
language sql stable security definer set search_path = '' as $$
  select s.source, s.title, s.attribution, s.types, s.enabled, s.interval_seconds, private.source_status(s), s.last_success_at,
    s.last_event_at, coalesce(e.count, 0), case when s.error_at > coalesce(s.last_success_at, '-infinity') then s.error end,
    e.p50, e.p95
  from watchpost.sources s
  left join lateral (
    select count(*),
      percentile_cont(0.5) within group (order by extract(epoch from (e.first_seen_at - e.ts)))
        filter (where e.first_seen_at > e.ts) as p50,
      percentile_cont(0.95) within group (order by extract(epoch from (e.first_seen_at - e.ts)))
        filter (where e.first_seen_at > e.ts) as p95
    from watchpost.events e
    where e.source = s.source and e.ts > now() - interval '24 hours'
  ) e on true
  where s.source not like 'custom%'
  order by s.source
$$;
grant execute on function private.sources_health to watchpost_api, authenticated;

reset role;
