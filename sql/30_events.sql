-- Sources and events: what the feeds reported, every revision of it, and when it was first seen.

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
  updated_at timestamptz not null default now(),
  ceilings jsonb not null default '{}',
  longest_silence_seconds double precision,
  stream_holder uuid,
  stream_until timestamptz,
  region box[],
  stand_ins jsonb not null default '[]',
  usual_accepted double precision,
  garbled_polls integer not null default 0,
  garbled_items integer not null default 0,
  delivery_p50 double precision,
  delivery_p95 double precision,
  error_code text,
  paused_at timestamptz,
  paused_reason text check (length(paused_reason) between 1 and 200),
  constraint sources_paused check ((paused_at is null) = (paused_reason is null))
);
comment on table watchpost.sources is 'One row per feed: when to poll it next, where polling stopped, and its health.';
comment on column watchpost.sources.source is 'Short name, the first part of the ids of its events.';
comment on column watchpost.sources.types is 'Types of its events; zones use it to tell what they can receive.';
comment on column watchpost.sources.enabled is 'The service switches off sources that FEEDS does not name.';
comment on column watchpost.sources.next_poll_at is 'When it is polled next; set it to now() to poll at once. Infinity: it only streams.';
comment on column watchpost.sources.state is 'Where polling stopped: ETag, last id and the like; written by the feed. Empty it to start over.';
comment on column watchpost.sources.last_success_at is 'Last successful poll, or sign of life of its stream, with or without new events.';
comment on column watchpost.sources.ceilings is 'Highest severity of a type by the rule of the feed, if below 100, such as {"volcano": 20}; for warnings about zones.';
comment on column watchpost.sources.longest_silence_seconds is 'Longest time between two of its latest events; null: too few events to tell.';
comment on column watchpost.sources.stream_holder is 'The process that holds its stream, until stream_until; then another may take over.';
comment on column watchpost.sources.region is 'The part of the world that it watches; null: all of it.';
comment on column watchpost.sources.stand_ins is 'Which sources see what it sees: list of by, types, from_severity.';
comment on column watchpost.sources.usual_accepted is 'Which share of its items is usually accepted, 0 to 1; null: not known yet.';
comment on column watchpost.sources.garbled_polls is 'How many answers in a row had less than half of the usual share accepted; of a stream, minutes.';
comment on column watchpost.sources.garbled_items is 'How many items of those answers were rejected.';
comment on column watchpost.sources.delivery_p50 is 'With delivery_p95: seconds from when an event was first seen until its alert was delivered, in the last 24 hours.';
comment on column watchpost.sources.error_code is 'What kind of error it is, in one word; null: not known.';
comment on column watchpost.sources.paused_at is 'Since when an operator has it paused: it is not polled, and its stream is left; null: it is not.';
comment on column watchpost.sources.paused_reason is 'Why, as everybody reads it with its health.';
comment on column watchpost.sources.error_at is 'When it last failed; the source is down while this is newer than last_success_at.';
alter table watchpost.sources enable row level security;
alter table watchpost.sources force row level security;
create policy sources_jobs on watchpost.sources for all to watchpost_jobs
  using (true) with check (true);
grant select, insert, update on watchpost.sources to watchpost_jobs;

create table watchpost.events (
  id text primary key,
  source text not null,
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
  tenant_id uuid generated always as (coalesce(org_id, owner_id)) stored,
  magnitude double precision,
  depth_km double precision,
  changed_in xid8 not null default pg_current_xact_id(),
  reported_at timestamptz
);
comment on table watchpost.events is 'Events in their latest state. Public ones have no owner.';
comment on column watchpost.events.id is '<source>:<id at the source>; the first id seen if a source renames its event.';
comment on column watchpost.events.source is 'A source, or custom:<name> for events that an account or organisation sent itself.';
comment on column watchpost.events.ts is 'When it happened, according to the source.';
comment on column watchpost.events.severity is '0 to 100, by the rule of its feed.';
comment on column watchpost.events.subject is 'The moving thing it is about, as mmsi:… or icao24:…, or another stable reference; otherwise null.';
comment on column watchpost.events.geometry is 'Footprint as GeoJSON; null if the event is only a point.';
comment on column watchpost.events.ends_at is 'Until when an ongoing event (a warning) lasts; null for one that just happened.';
comment on column watchpost.events.revised_at is 'When the source last changed it; an older state never overwrites a newer one.';
comment on column watchpost.events.extent is 'Bounding box of point and footprint, computed on ingest; used to find the zones near it.';
comment on column watchpost.events.revision is 'Number of the latest state seen here, from 1; each state is a row of event_revisions.';
comment on column watchpost.events.first_seen_at is 'When Watchpost first saw it.';
comment on column watchpost.events.owner_id is 'Account that sent it; null for public events.';
comment on column watchpost.events.tenant_id is 'Tenant that can see it: the organisation, or else the owner; null: public.';
comment on column watchpost.events.magnitude is 'With depth_km: of an earthquake, if the source gives them.';
comment on column watchpost.events.changed_in is 'Transaction that changed it last; followers are told by it.';
comment on column watchpost.events.reported_at is 'When its source last repeated it unchanged, to within a day; null: not since updated_at.';
create index events_ts on watchpost.events (ts desc, id desc);
create index events_extent_ts on watchpost.events using gist (extent, ts);
create index events_lasting on watchpost.events using gist (extent, ts) where ends_at is not null;
create index events_footprints on watchpost.events using gist (extent, ts) where geometry is not null;
create index events_source_ts on watchpost.events (source, ts desc);
create index events_standing on watchpost.events (ends_at) where status = 'active' and ends_at is not null;
create index events_owner_id on watchpost.events (owner_id) where owner_id is not null;
create index events_org_id on watchpost.events (org_id) where org_id is not null;
alter table watchpost.events enable row level security;
alter table watchpost.events force row level security;
create policy events_select on watchpost.events for select to authenticated
  using (tenant_id is null or tenant_id = any((select private.my_tenants())::uuid[]));
create policy events_jobs on watchpost.events for select to watchpost_jobs
  using (true);
grant select on watchpost.events to authenticated, watchpost_jobs;

create table watchpost.event_aliases (
  alias text primary key,
  event_id text not null references watchpost.events on delete cascade
);
comment on table watchpost.event_aliases is 'Every id under which a source knew an event, with the first id seen.';
create index event_aliases_event_id on watchpost.event_aliases (event_id);
alter table watchpost.event_aliases enable row level security;
alter table watchpost.event_aliases force row level security;

create table watchpost.batches (
  id uuid primary key default gen_random_uuid(),
  seq bigint not null generated always as identity,
  source text not null references watchpost.sources,
  size integer not null,
  created_at timestamptz not null default now(),
  matched_at timestamptz,
  trace text default private.current_trace() check (length(trace) <= 70),
  matched_to uuid,
  decisive text[] not null default '{}'
);
comment on table watchpost.batches is 'The result of one ingest, and whether it was matched. Batches of a source are matched in order.';
comment on column watchpost.batches.id is 'Also the id of its match job.';
comment on column watchpost.batches.size is 'Number of new events and revisions.';
comment on column watchpost.batches.matched_at is 'When it was matched with every zone near it; null: not yet.';
comment on column watchpost.batches.matched_to is 'Of one that concerns so many zones that they are matched some at a time, by their ids: the last of those that are done.';
comment on column watchpost.batches.decisive is 'Its positions that changed a stay in those zones, and are therefore kept.';
comment on column watchpost.batches.trace is 'What its trace goes on from: a W3C traceparent; null: nothing was traced.';
create index batches_unmatched on watchpost.batches (source, seq) where matched_at is null;
create index batches_begun on watchpost.batches (source) where matched_at is null and matched_to is not null;
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
  tenant_id uuid,
  magnitude double precision,
  depth_km double precision,
  primary key (event_id, revision)
);
comment on table watchpost.event_revisions is 'Append-only: each state of an event and when it was first seen here. Decisions are replayed from it.';
comment on column watchpost.event_revisions.event_id is 'The event; remains when the event itself is deleted.';
comment on column watchpost.event_revisions.batch_id is 'The ingest that stored it; null once the batch is deleted.';
comment on column watchpost.event_revisions.first_seen_at is 'When it was first seen here; decisions are made as of this time.';
comment on column watchpost.event_revisions.tenant_id is 'Copied from its event; null: public.';
create index event_revisions_batch_id on watchpost.event_revisions (batch_id);
create index event_revisions_first_seen_at on watchpost.event_revisions (first_seen_at);
create index event_revisions_extent_seen on watchpost.event_revisions using gist (extent, first_seen_at);
alter table watchpost.event_revisions enable row level security;
alter table watchpost.event_revisions force row level security;
create policy event_revisions_select on watchpost.event_revisions for select to authenticated
  using (tenant_id is null or tenant_id = any((select private.my_tenants())::uuid[]));
create policy event_revisions_jobs on watchpost.event_revisions for select to watchpost_jobs
  using (true);
grant select on watchpost.event_revisions to authenticated, watchpost_jobs;

-- When the event of a later revision was first seen; while its first revision is kept. Queries ask only for those,
-- because most revisions are first ones and a call costs more than their other columns.
create function private.known_since(r watchpost.event_revisions) returns timestamptz
language sql stable set search_path = '' as $$
  select f.first_seen_at
  from watchpost.event_revisions f
  where f.event_id = r.event_id
  order by f.revision
  limit 1
$$;
grant execute on function private.known_since to authenticated, watchpost_jobs;

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
  tenant_id uuid,
  is_sample boolean not null default true,
  flag text check (flag in ('gap', 'jump')),
  primary key (ts, event_id)
) partition by range (ts);
comment on table watchpost.positions is 'Positions of moving subjects, one event each, kept for 48 hours in one partition per day.';
comment on column watchpost.positions.first_seen_at is 'When it arrived here; a stay is replayed in this order.';
comment on column watchpost.positions.ts is 'When the subject was there; dwell is measured with it.';
comment on column watchpost.positions.subject is 'mmsi:… or icao24:….';
comment on column watchpost.positions.tenant_id is 'Null: public.';
comment on column watchpost.positions.is_sample is 'Kept for its distance in time or space from the one before; the others because they changed a stay.';
comment on column watchpost.positions.flag is 'gap: nothing was heard of the subject for long before it; jump: nothing moves that fast from the position before.';
create index positions_first_seen_at on watchpost.positions using brin (first_seen_at) with (pages_per_range = 32);
create index positions_batch_id on watchpost.positions (batch_id);
create index positions_event_id on watchpost.positions using hash (event_id);
create index positions_extent_ts on watchpost.positions using gist (extent, ts);
create index positions_subject on watchpost.positions (subject);
alter table watchpost.positions enable row level security;
alter table watchpost.positions force row level security;
create policy positions_select on watchpost.positions for select to authenticated
  using (tenant_id is null or tenant_id = any((select private.my_tenants())::uuid[]));
create policy positions_jobs on watchpost.positions for select to watchpost_jobs
  using (true);
grant select on watchpost.positions to authenticated, watchpost_jobs;
create table watchpost.positions_default partition of watchpost.positions default;
comment on table watchpost.positions_default is 'Positions of days without a partition.';
alter table watchpost.positions_default enable row level security;
alter table watchpost.positions_default force row level security;

create table watchpost.passing_positions (
  batch_id uuid not null,
  event_id text not null,
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
  tenant_id uuid,
  primary key (batch_id, event_id)
);
comment on table watchpost.passing_positions is 'Positions that are no samples, until they are matched: most are then deleted, so the indexes of positions would be their whole cost.';
comment on column watchpost.passing_positions.ts is 'The columns are those of positions.';
alter table watchpost.passing_positions enable row level security;
alter table watchpost.passing_positions force row level security;
create policy passing_positions_jobs on watchpost.passing_positions for select to watchpost_jobs
  using (true);
grant select on watchpost.passing_positions to watchpost_jobs;

create table watchpost.subjects (
  source text not null,
  subject text not null,
  tenant_id uuid not null,
  event_id text not null,
  ts timestamptz not null,
  lat double precision not null,
  lon double precision not null,
  severity smallint not null,
  sampled_at timestamptz not null,
  sampled_lat double precision not null,
  sampled_lon double precision not null,
  primary key (source, subject, tenant_id)
) with (fillfactor = 70);
comment on table watchpost.subjects is 'Where each source saw a moving subject last, to sample its positions.';
comment on column watchpost.subjects.tenant_id is 'All zeros: public.';
comment on column watchpost.subjects.event_id is 'Its latest position.';
comment on column watchpost.subjects.sampled_at is 'Time of its latest position that was kept as a sample, with the place in sampled_lat and sampled_lon.';
alter table watchpost.subjects enable row level security;
alter table watchpost.subjects force row level security;

reset role;
