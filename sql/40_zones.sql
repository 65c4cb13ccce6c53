-- Zones: the areas that people watch, every version of them, and the boxes that narrow the search.

set role watchpost_owner;

create table watchpost.zones (
  id uuid primary key default gen_random_uuid(),
  owner_id uuid not null default private.uid() references watchpost.accounts on delete cascade,
  org_id uuid references watchpost.organisations on delete set null,
  tenant_id uuid generated always as (coalesce(org_id, owner_id)) stored,
  label text not null check (length(label) between 1 and 120),
  lat double precision not null check (lat between -90 and 90),
  lon double precision not null check (lon between -180 and 180),
  radius_km double precision not null default 50 check (radius_km between 0.1 and 5000),
  shape_type text not null default 'circle' check (shape_type in ('circle', 'polygon')),
  polygon jsonb,
  match text not null default 'footprint' check (match in ('point', 'footprint')),
  min_severity double precision not null default 40 check (min_severity between 0 and 100),
  severity_multiplier double precision not null default 1 check (severity_multiplier between 0.1 and 5),
  dwell_minutes double precision not null default 0 check (dwell_minutes between 0 and 10080),
  quiet_hours_start text check (quiet_hours_start ~ '^([01]\d|2[0-3]):[0-5]\d$'),
  quiet_hours_end text check (quiet_hours_end ~ '^([01]\d|2[0-3]):[0-5]\d$'),
  quiet_hours_tz text not null default 'UTC',
  quiet_mode text not null default 'hold' check (quiet_mode in ('hold', 'drop')),
  emergency_severity double precision check (emergency_severity between 0 and 100),
  color text check (color ~ '^#[0-9a-f]{6}$'),
  icon text check (icon ~ '^[a-z0-9-]{1,32}$'),
  channel_ids uuid[],
  sources text[],
  types text[],
  snoozed_until timestamptz,
  enabled boolean not null default true,
  boxes box[] not null check (cardinality(boxes) > 0),
  version integer not null default 1,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  quiet_windows jsonb check (jsonb_typeof(quiet_windows) = 'array' and jsonb_array_length(quiet_windows) between 1 and 8),
  aftershocks jsonb check (coalesce((aftershocks ->> 'magnitude_gap')::float8 between 0.5 and 5, aftershocks is null)),
  max_alerts_per_hour integer check (max_alerts_per_hour between 1 and 1000),
  escalation jsonb check (jsonb_typeof(escalation) = 'array' and jsonb_array_length(escalation) between 1 and 5),
  external_id text check (length(external_id) between 1 and 200),
  check (quiet_windows is null or quiet_hours_start is null),
  check ((quiet_hours_start is null) = (quiet_hours_end is null)),
  check ((shape_type = 'polygon') <= (polygon is not null))
);
comment on table watchpost.zones is 'Zones in their latest version. Change shapes only through the API: it computes the boxes that matching needs.';
comment on column watchpost.zones.org_id is 'Null: private.';
comment on column watchpost.zones.tenant_id is 'Tenant that can see it: the organisation, or else the owner.';
comment on column watchpost.zones.lat is 'With lon: the centre of a circle, or the position of a polygon''s label.';
comment on column watchpost.zones.radius_km is 'For a circle; ignored for a polygon.';
comment on column watchpost.zones.polygon is 'GeoJSON Polygon or MultiPolygon; null: a circle.';
comment on column watchpost.zones.match is 'point: the event''s point must be inside; footprint: or its geometry must touch the zone.';
comment on column watchpost.zones.min_severity is 'Threshold, 0 to 100, for severity times severity_multiplier.';
comment on column watchpost.zones.dwell_minutes is 'How long a vessel or aircraft must stay before it alerts; other events ignore it.';
comment on column watchpost.zones.quiet_hours_start is 'HH:MM in quiet_hours_tz; null: no quiet hours.';
comment on column watchpost.zones.quiet_hours_end is 'May be after midnight.';
comment on column watchpost.zones.quiet_windows is 'List of {days, start, end} in quiet_hours_tz, instead of the two times; null: the two times are used.';
comment on column watchpost.zones.quiet_mode is 'What happens during quiet hours: hold (one digest at their end) or drop (recorded, never sent).';
comment on column watchpost.zones.emergency_severity is 'From this severity on quiet hours and the next two are ignored; null: never.';
comment on column watchpost.zones.aftershocks is 'Excludes them, with magnitude_gap: how far below its mainshock one is; null: off.';
comment on column watchpost.zones.max_alerts_per_hour is 'Alerts beyond this are held and sent in a digest; null: no limit.';
comment on column watchpost.zones.escalation is 'Steps that tell further channels when nobody acknowledges an alert: list of after_minutes, ascending, and channel_ids; null: none.';
comment on column watchpost.zones.channel_ids is 'Where alerts are sent: null: to every enabled channel of the owner (and organisation); empty: nowhere. Channels that were deleted or are no longer visible are skipped; if none is left, it counts as null.';
comment on column watchpost.zones.sources is 'Null: all feeds.';
comment on column watchpost.zones.types is 'Null: all types.';
comment on column watchpost.zones.snoozed_until is 'Until then alerts are recorded as suppressed.';
comment on column watchpost.zones.external_id is 'Its name in a list of the owner''s, by which the list finds it again; unique among the zones of its tenant that are not deleted.';
comment on column watchpost.zones.boxes is 'Bounding boxes of the shape, computed by the API; never set them by hand.';
comment on column watchpost.zones.version is 'Number of the version; each change that matters to decisions creates one in zone_versions.';
comment on column watchpost.zones.deleted_at is 'Can be restored for 30 days from then on.';
create index zones_tenant_created on watchpost.zones (tenant_id, created_at desc, id desc) where deleted_at is null;
create unique index zones_external_id on watchpost.zones (tenant_id, external_id)
  where external_id is not null and deleted_at is null;
create index zones_owner_id on watchpost.zones (owner_id);
create index zones_org_id on watchpost.zones (org_id) where org_id is not null;
create index zones_deleted_at on watchpost.zones (deleted_at) where deleted_at is not null;
create index zones_updated_at on watchpost.zones (updated_at);
create index zones_channel_ids on watchpost.zones using gin (channel_ids);
create index zones_escalation on watchpost.zones (id) where escalation is not null;
alter table watchpost.zones enable row level security;
alter table watchpost.zones force row level security;
create policy zones_select on watchpost.zones for select to authenticated
  using (tenant_id = any((select private.my_tenants())::uuid[]));
create policy zones_insert on watchpost.zones for insert to authenticated
  with check (
    (select private.can_write())
    and owner_id = (select private.uid())
    and (org_id is null or org_id = any((select private.my_orgs())::uuid[])));
create policy zones_update on watchpost.zones for update to authenticated
  using (
    (select private.can_write())
    and (owner_id = (select private.uid()) or org_id = any((select private.admin_orgs())::uuid[])))
  with check (
    (select private.can_write())
    and (org_id is null or org_id = any((select private.my_orgs())::uuid[])));
create policy zones_jobs on watchpost.zones for select to watchpost_jobs
  using (true);
grant select on watchpost.zones to authenticated, watchpost_jobs;
grant insert (
    org_id, label, lat, lon, radius_km, shape_type, polygon, match, min_severity, severity_multiplier,
    dwell_minutes, quiet_hours_start, quiet_hours_end, quiet_hours_tz, quiet_mode, emergency_severity,
    color, icon, channel_ids, sources, types, snoozed_until, enabled, boxes, quiet_windows,
    aftershocks, max_alerts_per_hour, escalation, external_id)
  on watchpost.zones to authenticated;
grant update (
    org_id, label, lat, lon, radius_km, shape_type, polygon, match, min_severity, severity_multiplier,
    dwell_minutes, quiet_hours_start, quiet_hours_end, quiet_hours_tz, quiet_mode, emergency_severity,
    color, icon, channel_ids, sources, types, snoozed_until, enabled, boxes, deleted_at, quiet_windows,
    aftershocks, max_alerts_per_hour, escalation, external_id)
  on watchpost.zones to authenticated;

create table watchpost.zone_boxes (
  zone_id uuid not null references watchpost.zones on delete cascade,
  part smallint not null,
  box box not null,
  min_severity real not null,
  sources text[],
  types text[],
  primary key (zone_id, part)
);
comment on table watchpost.zone_boxes is 'Narrows the search for zones that are not deleted: bounding boxes (several across the antimeridian), the minimum severity that can matter, and filters.';
comment on column watchpost.zone_boxes.box is 'Longitudes and latitudes, in degrees.';
comment on column watchpost.zone_boxes.min_severity is 'The minimum severity of an event that can reach the zone: its threshold divided by its multiplier, rounded down.';
comment on column watchpost.zone_boxes.sources is 'Like types, a copy of the zone''s filter, so that the index alone can exclude it.';
create index zone_boxes_box on watchpost.zone_boxes using gist (box, min_severity) include (zone_id, sources, types);
alter table watchpost.zone_boxes enable row level security;
alter table watchpost.zone_boxes force row level security;
create policy zone_boxes_jobs on watchpost.zone_boxes for select to watchpost_jobs
  using (true);
grant select on watchpost.zone_boxes to watchpost_jobs;

create table watchpost.zone_shapes (
  zone_id uuid not null references watchpost.zones on delete cascade,
  hash bytea not null check (length(hash) = 32),
  polygon jsonb not null,
  bytes integer not null check (bytes > 0),
  primary key (zone_id, hash)
);
comment on table watchpost.zone_shapes is 'Each polygon that a kept version of a zone uses, stored once. It belongs to that zone only: the same polygon in another zone is another row.';
comment on column watchpost.zone_shapes.hash is 'SHA-256 of the polygon; identifies it within its zone.';
comment on column watchpost.zone_shapes.bytes is 'Its length as text, which counts towards the limit of the zone.';
alter table watchpost.zone_shapes enable row level security;
alter table watchpost.zone_shapes force row level security;
create policy zone_shapes_select on watchpost.zone_shapes for select to authenticated
  using (exists (select from watchpost.zones z where z.id = zone_id));
create policy zone_shapes_jobs on watchpost.zone_shapes for select to watchpost_jobs
  using (true);
grant select on watchpost.zone_shapes to authenticated, watchpost_jobs;

create table watchpost.zone_versions (
  zone_id uuid not null references watchpost.zones on delete cascade,
  version integer not null,
  valid_from timestamptz not null default now(),
  definition jsonb not null,
  shape_hash bytea,
  ended_at timestamptz,
  actor_id uuid,
  changes jsonb not null default '{}',
  primary key (zone_id, version),
  foreign key (zone_id, shape_hash) references watchpost.zone_shapes (zone_id, hash)
);
comment on table watchpost.zone_versions is 'Each version of a zone that was valid when something was seen, so that decisions can be replayed; others are removed, see retention.';
comment on column watchpost.zone_versions.definition is 'Every field that a decision uses, as JSON, without the polygon.';
comment on column watchpost.zone_versions.shape_hash is 'Its polygon in zone_shapes; null: a circle.';
comment on column watchpost.zone_versions.ended_at is 'When the next version began; null: it is the latest.';
comment on column watchpost.zone_versions.actor_id is 'Account that made the change; null: an operator or the service.';
comment on column watchpost.zone_versions.changes is 'Changes since the previous version: field to [old, new]; for the polygon only that it changed.';
create index zone_versions_shape on watchpost.zone_versions (zone_id, shape_hash) where shape_hash is not null;
create index zone_versions_ended_at on watchpost.zone_versions (ended_at) where ended_at is not null;
alter table watchpost.zone_versions enable row level security;
alter table watchpost.zone_versions force row level security;
create policy zone_versions_select on watchpost.zone_versions for select to authenticated
  using (exists (select from watchpost.zones z where z.id = zone_id));
create policy zone_versions_jobs on watchpost.zone_versions for select to watchpost_jobs
  using (true);
grant select on watchpost.zone_versions to authenticated, watchpost_jobs;

-- The channels of all steps of a zone.
create function private.step_channels(p_escalation jsonb) returns uuid[]
language sql immutable set search_path = '' as $$
  select array(
    select c.id::uuid
    from jsonb_array_elements(p_escalation) s
    cross join lateral jsonb_array_elements_text(s -> 'channel_ids') as c (id))
$$;
grant execute on function private.step_channels to authenticated, watchpost_jobs;

-- The steps of a zone without these channels.
create function private.steps_without(p_escalation jsonb, p_ids uuid[]) returns jsonb
language sql immutable set search_path = '' as $$
  select jsonb_agg(jsonb_set(s.value, '{channel_ids}', coalesce((
    select jsonb_agg(c.id order by c.nr)
    from jsonb_array_elements_text(s.value -> 'channel_ids') with ordinality as c (id, nr)
    where c.id::uuid <> all(p_ids)), '[]')) order by s.nr)
  from jsonb_array_elements(p_escalation) with ordinality as s (value, nr)
$$;

-- What a version contains: a change of any of it creates a new version.
create function private.zone_definition(z watchpost.zones) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(z) - array['boxes', 'version', 'created_at', 'updated_at', 'tenant_id']
$$;

-- A complete version, as decisions read it. functions/jobs/zone-cache.ts puts thousands together itself, in half the
-- time; tests/sql/versions.test.ts holds both to each other.
create function private.version_definition(v watchpost.zone_versions) returns jsonb
language sql stable set search_path = '' as $$
  select v.definition || jsonb_build_object('polygon', (
    select s.polygon from watchpost.zone_shapes s where s.zone_id = v.zone_id and s.hash = v.shape_hash))
$$;
grant execute on function private.version_definition to authenticated, watchpost_jobs;

-- Those of the given zones whose readers could all see, at a given time, an event of an account or organisation.
-- Security definer: it returns only ids, and reads every version of the zones.
create function private.zones_in_tenant(p_zone_ids uuid[], p_tenant_id uuid, p_at timestamptz) returns uuid[]
language sql stable security definer set search_path = '' as $$
  select coalesce(array_agg(g.id), '{}')
  from unnest(p_zone_ids) as g (id)
  cross join lateral (
    select v.definition from watchpost.zone_versions v
    where v.zone_id = g.id and date_trunc('milliseconds', v.valid_from) <= p_at
    order by v.version desc
    limit 1
  ) v
  where private.could_hear((v.definition ->> 'owner_id')::uuid, (v.definition ->> 'org_id')::uuid, p_tenant_id, p_at)
$$;
grant execute on function private.zones_in_tenant to watchpost_jobs;

-- Whether a zone has room in its history for one more version, with this polygon.
create function private.has_history_room(p_zone_id uuid, p_polygon jsonb) returns boolean
language sql stable set search_path = '' as $$
  select (select count(*) from watchpost.zone_versions where zone_id = p_zone_id) < 500
    and coalesce((select sum(bytes) from watchpost.zone_shapes where zone_id = p_zone_id), 0) + case
      when p_polygon is null or exists (
        select from watchpost.zone_shapes
        where zone_id = p_zone_id and hash = sha256(convert_to(p_polygon::text, 'UTF8'))) then 0
      else octet_length(p_polygon::text)
    end <= 4 * 1024 * 1024
$$;
grant execute on function private.has_history_room to authenticated;

-- Why a zone cannot be changed that has no such room.
create function private.no_history_room() returns text
language sql immutable set search_path = '' as $$
  select 'This zone has been changed too often: a zone keeps at most 500 versions and 4 MiB of shapes. Versions in which no event was seen are deleted within hours, the others after 100 days; until then, create a new zone.'
$$;
grant execute on function private.no_history_room to authenticated;

-- Stores the version that begins now. Raises errcode WP409 if the zone already has as much history as it may;
-- versions that are removed later, see retention, make room again.
create function private.store_version(z watchpost.zones, p_changes jsonb, p_must_fit boolean) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_text text := z.polygon::text;
  v_hash bytea := sha256(convert_to(v_text, 'UTF8'));
begin
  if p_must_fit and not private.has_history_room(z.id, z.polygon) then
    raise exception '%', private.no_history_room() using errcode = 'WP409';
  end if;
  if v_hash is not null then
    insert into watchpost.zone_shapes (zone_id, hash, polygon, bytes)
    values (z.id, v_hash, z.polygon, octet_length(v_text))
    on conflict do nothing;
  end if;
  update watchpost.zone_versions set ended_at = now() where zone_id = z.id and ended_at is null;
  insert into watchpost.zone_versions (zone_id, version, definition, shape_hash, actor_id, changes)
  values (z.id, z.version, private.zone_definition(z) - 'polygon', v_hash, private.uid(), p_changes);
end
$$;

-- An event below this severity cannot reach the zone's threshold. It is rounded down, because it only narrows the
-- search. A tiny threshold is increased a little, which the rounding covers, because dividing it would underflow.
create function private.min_event_severity(z watchpost.zones) returns real
language sql immutable set search_path = '' as $$
  select (greatest(z.min_severity, 0.0001) / z.severity_multiplier - 0.01)::real
$$;

-- Zones of an account are counted one transaction after the other. Taken before the first of them is written, so that
-- nobody waits for it who holds a row that its holder waits for.
create function private.lock_zones(p_owner_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('zones:' || p_owner_id, 0));
end
$$;
grant execute on function private.lock_zones to authenticated;

-- Security definer, the first: how many more zones the caller may have, and why not more, as SQLSTATE and message.
create function private.room_for_zones(out room integer, out code text, out refusal text)
language sql stable security definer set search_path = '' as $$
  select case when d.refusal is null then greatest(q.room, 0) else 0 end,
    case when d.refusal is null then 'WPLIM' else 'WP409' end,
    coalesce(d.refusal, q.refusal)
  from (select count(*) filter (where deleted_at is null) as kept,
      count(*) filter (where deleted_at > now() - interval '30 days') as deleted
    from watchpost.zones where owner_id = private.uid()) n
  cross join lateral private.quota_room(private.uid(), 'zones', n.kept) q
  cross join lateral (select private.deleted_refusal(private.uid(), 'zones', n.deleted) as refusal) d
$$;
grant execute on function private.room_for_zones to authenticated;

-- Security definer, these three: limits, versions, boxes and jobs follow every change of a zone, whoever makes it.
create function private.zones_counted() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_owner uuid;
begin
  -- One by one, so that the index finds their zones however many there are of others.
  for v_owner in select distinct m.owner_id from made m loop
    perform private.require_quota(v_owner, 'zones', n.kept), private.require_deleted_quota(v_owner, 'zones', n.deleted)
    from (
      select count(*) filter (where deleted_at is null) as kept,
        count(*) filter (where deleted_at > now() - interval '30 days') as deleted
      from watchpost.zones where owner_id = v_owner) n;
  end loop;
  return null;
end
$$;
create trigger zones_counted after insert on watchpost.zones
  referencing new table as made for each statement execute function private.zones_counted();

create function private.zone_before() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if tg_op = 'INSERT' then
    perform private.lock_zones(new.owner_id);
    return new;
  end if;
  if new.org_id is distinct from old.org_id and private.uid() is not null and private.uid() <> old.owner_id
    and private.org_exists(old.org_id) then
    raise exception 'only the owner can share or unshare a zone' using errcode = 'WP403';
  end if;
  -- An organisation that is deleted gives its zones back, where another may already have the name.
  if old.org_id is not null and new.org_id is null and new.external_id is not null and not private.org_exists(old.org_id)
    and exists (
      select from watchpost.zones z
      where z.tenant_id = new.owner_id and z.external_id = new.external_id and z.deleted_at is null) then
    new.external_id := null;
  end if;
  if old.deleted_at is not null and new.deleted_at is null then
    perform private.lock_zones(new.owner_id);
    perform private.require_quota(new.owner_id, 'zones', (
      select count(*) + 1 from watchpost.zones where owner_id = new.owner_id and deleted_at is null));
  end if;
  new.updated_at := now();
  if private.zone_definition(new) is distinct from private.zone_definition(old) then
    new.version := old.version + 1;
  end if;
  return new;
end
$$;
create trigger zones_before before insert or update on watchpost.zones
  for each row execute function private.zone_before();

create function private.zone_after() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  v_changes jsonb := '{}';
begin
  if tg_op = 'UPDATE' then
    v_changes := private.changed_fields(to_jsonb(old), to_jsonb(new));
  end if;
  if tg_op = 'INSERT' or new.version <> old.version then
    -- Deleting a zone, leaving an organisation, deleting one and losing a channel are never refused.
    perform private.store_version(new, v_changes, tg_op = 'INSERT' or not (
      (new.deleted_at is not null and old.deleted_at is null)
      or (coalesce(cardinality(old.channel_ids), 0) > coalesce(cardinality(new.channel_ids), 0)
        and old.channel_ids @> coalesce(new.channel_ids, '{}'))
      or (cardinality(private.step_channels(old.escalation)) > cardinality(private.step_channels(new.escalation))
        and private.step_channels(old.escalation) @> private.step_channels(new.escalation))
      or new.owner_id <> old.owner_id
      or not private.org_exists(old.org_id)));
    perform private.enqueue('match_zone', gen_random_uuid(), jsonb_build_object('zone_id', new.id));
  end if;
  if tg_op = 'INSERT' or new.version <> old.version then
    delete from watchpost.zone_boxes where zone_id = new.id;
    insert into watchpost.zone_boxes (zone_id, part, box, min_severity, sources, types)
    select new.id, b.part, b.box, private.min_event_severity(new), new.sources, new.types
    from unnest(new.boxes) with ordinality as b (box, part)
    where new.deleted_at is null;
  end if;
  if tg_op = 'UPDATE' and (new.org_id is distinct from old.org_id or new.owner_id <> old.owner_id) then
    update watchpost.alerts
    set org_id = new.org_id, owner_id = new.owner_id
    where zone_id = new.id;
  end if;
  return new;
end
$$;
create trigger zones_after after insert or update on watchpost.zones
  for each row execute function private.zone_after();

reset role;
