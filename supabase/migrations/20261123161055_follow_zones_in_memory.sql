set role watchpost_owner;
set check_function_bodies = off;

create table watchpost.zone_changes (
  changed_in xid8 not null default pg_current_xact_id(),
  zone_id uuid not null,
  at timestamptz not null default now(),
  primary key (changed_in, zone_id)
);
comment on table watchpost.zone_changes is 'Zones whose boxes were written anew, as they are with each version, or removed. Kept a day, see retention.';
comment on column watchpost.zone_changes.changed_in is 'The transaction that did: what a snapshot does not see of it is new to whoever knows that snapshot.';
comment on column watchpost.zone_changes.zone_id is 'The zone may be gone; the nil UUID: all were removed at once.';
create index zone_changes_at on watchpost.zone_changes (at);
alter table watchpost.zone_changes enable row level security;
alter table watchpost.zone_changes force row level security;
create policy zone_changes_jobs on watchpost.zone_changes for select to watchpost_jobs
  using (true);
grant select on watchpost.zone_changes to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.batch_candidates(p_batch_ids uuid[], p_after uuid DEFAULT NULL::uuid, p_most integer DEFAULT NULL::integer)
 RETURNS TABLE(id text, revision integer, first_seen_at timestamp with time zone, source text, type text, title text, lat double precision, lon double precision, ts timestamp with time zone, severity smallint, subject text, status text, url text, geometry jsonb, magnitude double precision, depth_km double precision, ends_at timestamp with time zone, flag text, known_since timestamp with time zone, zone_ids uuid[], cut_at uuid)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return query
  with r as materialized (select * from private.batch_revisions(p_batch_ids)),
  changed as materialized (
    select z.id from watchpost.zones z
    where z.updated_at > (select min(r.first_seen_at) from r)
  ),
  pairs as (
    select r.event_id, r.ts, b.zone_id
    from r
    join watchpost.zone_boxes b on b.box operator(pg_catalog.&&) r.extent
    where r.subject is null
      and b.min_severity <= r.severity::real
      and (b.sources is null or r.source = any(b.sources))
      and (b.types is null or r.type = any(b.types))
    union
    -- Of what moves every position counts, whatever its severity: stays begin and end with them.
    select r.event_id, r.ts, b.zone_id
    from r
    join watchpost.zone_boxes b on b.box operator(pg_catalog.&&) r.extent
    where r.subject is not null
      and (b.sources is null or r.source = any(b.sources))
      and (b.types is null or r.type = any(b.types))
    union
    select r.event_id, r.ts, m.zone_id
    from r
    join watchpost.match_memory m on m.key = r.key
    union
    select r.event_id, r.ts, c.id
    from r cross join changed c
  ),
  cut as materialized (
    select p.zone_id
    from pairs p
    where p_most is not null and (p_after is null or p.zone_id > p_after)
    order by p.zone_id
    offset p_most - 1 limit 1
  ),
  gathered as (
    select p.event_id, p.ts, array_agg(p.zone_id) as zone_ids
    from pairs p
    where (p_after is null or p.zone_id > p_after)
      and p.zone_id <= coalesce((select c.zone_id from cut c), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    group by p.event_id, p.ts
  )
  select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts, r.severity,
    r.subject, r.status, r.url, r.geometry, r.magnitude, r.depth_km, r.ends_at, r.flag, r.known_since,
    case when r.tenant_id is null then g.zone_ids else private.zones_in_tenant(g.zone_ids, r.tenant_id, r.first_seen_at) end,
    (select c.zone_id from cut c)
  from r
  join gathered g on g.event_id = r.event_id and g.ts = r.ts
  order by r.first_seen_at, r.ts, r.event_id, r.revision;
end
$function$;

CREATE OR REPLACE FUNCTION private.batch_revisions(p_batch_ids uuid[])
 RETURNS TABLE(event_id text, revision integer, first_seen_at timestamp with time zone, source text, type text, title text, lat double precision, lon double precision, ts timestamp with time zone, severity smallint, subject text, status text, url text, geometry jsonb, magnitude double precision, depth_km double precision, ends_at timestamp with time zone, flag text, known_since timestamp with time zone, extent box, tenant_id uuid, key text)
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select e.event_id, e.revision, e.first_seen_at, e.source, e.type, e.title, e.lat, e.lon, e.ts, e.severity,
    e.subject, e.status, e.url, e.geometry, e.magnitude, e.depth_km, e.ends_at, null::text,
    case when e.revision = 1 then e.first_seen_at else private.known_since(e) end, e.extent, e.tenant_id, e.event_id
  from watchpost.event_revisions e where e.batch_id = any(p_batch_ids)
  union all
  select p.event_id, 1, p.first_seen_at, p.source, p.type, p.title, p.lat, p.lon, p.ts, p.severity,
    p.subject, p.status, p.url, null::jsonb, null::float8, null::float8, null::timestamptz, p.flag,
    p.first_seen_at, p.extent, p.tenant_id, p.subject
  from watchpost.positions p where p.batch_id = any(p_batch_ids)
  union all
  select p.event_id, 1, p.first_seen_at, p.source, p.type, p.title, p.lat, p.lon, p.ts, p.severity,
    p.subject, p.status, p.url, null, null, null, null, null, p.first_seen_at, p.extent, p.tenant_id, p.subject
  from watchpost.passing_positions p where p.batch_id = any(p_batch_ids)
$function$;

grant execute on function private.batch_revisions(uuid[]) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.batch_zones(p_batch_ids uuid[])
 RETURNS TABLE(key text, zone_id uuid)
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  with r as materialized (select b.key, b.first_seen_at from private.batch_revisions(p_batch_ids) b)
  select r.key, m.zone_id
  from (select distinct r.key from r) r
  -- Offset 0: looked up one by one, however much is remembered.
  cross join lateral (select m.zone_id from watchpost.match_memory m where m.key = r.key offset 0) m
  union all
  select null, z.id from watchpost.zones z where z.updated_at > (select min(r.first_seen_at) from r)
$function$;

grant execute on function private.batch_zones(uuid[]) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.narrowing(p_zone_ids uuid[])
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', g.id, 'version', z.version, 'valid_from', private.iso(v.valid_from),
    'min_severity', b.min_severity, 'sources', b.sources, 'types', b.types, 'boxes', b.boxes)), '[]')
  from unnest(p_zone_ids) as g (id)
  -- Offset 0: looked up one by one, however few rows there seem to be.
  left join lateral (select * from watchpost.zones where id = g.id offset 0) z on true
  left join lateral (
    select valid_from from watchpost.zone_versions where zone_id = z.id and version = z.version offset 0) v on true
  cross join lateral (
    select min(min_severity) as min_severity, (array_agg(to_jsonb(sources)))[1] as sources,
      (array_agg(to_jsonb(types)))[1] as types,
      coalesce(jsonb_agg(jsonb_build_array((box[1])[0], (box[1])[1], (box[0])[0], (box[0])[1])), '[]') as boxes
    from watchpost.zone_boxes where zone_id = g.id) b
$function$;

grant execute on function private.narrowing(uuid[]) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.note_boxes()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if tg_op = 'TRUNCATE' then
    insert into watchpost.zone_changes (zone_id) values ('00000000-0000-0000-0000-000000000000') on conflict do nothing;
    return null;
  end if;
  insert into watchpost.zone_changes (zone_id)
  select distinct b.zone_id from changed b
  on conflict do nothing;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION private.purge(p_batch integer DEFAULT 2000)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_count integer := 0;
begin
  v_count := v_count + private.purge_revisions(p_batch);
  v_count := v_count + private.purge_mainshocks(p_batch);
  v_count := v_count + private.purge_events(p_batch);
  v_count := v_count + private.purge_batches(p_batch);
  v_count := v_count + private.purge_attempts(p_batch);
  v_count := v_count + private.purge_alerts(p_batch);
  v_count := v_count + private.purge_drills(p_batch);
  v_count := v_count + private.purge_tests(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_blindness(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_troubles(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_audit(p_batch);
  v_count := v_count + private.purge_memory(p_batch);
  v_count := v_count + private.purge_versions(p_batch);
  v_count := v_count + private.purge_account_states(p_batch);
  v_count := v_count + private.purge_deleted(p_batch);
  v_count := v_count + private.purge_changes(p_batch);
  v_count := v_count + private.purge_zone_changes(p_batch);
  perform private.keep_change_history();
  perform private.end_interrupted_tests();
  perform private.purge_credentials();
  perform private.purge_hosts();
  perform private.purge_positions();
  delete from watchpost.source_hours where hour < now() - interval '7 days';
  perform private.measure_silence();
  perform private.measure_accepted();
  perform private.measure_delivery();
  return v_count;
end
$function$;

CREATE OR REPLACE FUNCTION private.purge_zone_changes(p_batch integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_count integer;
begin
  delete from watchpost.zone_changes where (changed_in, zone_id) in (
    select changed_in, zone_id from watchpost.zone_changes
    where at < now() - interval '1 day'
    order by at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$function$;

CREATE OR REPLACE FUNCTION private.zones_after(p_after uuid, p_count integer)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select private.narrowing(array(
    select b.zone_id from watchpost.zone_boxes b
    where b.part = 1 and (p_after is null or b.zone_id > p_after)
    order by b.zone_id
    limit p_count))
$function$;

grant execute on function private.zones_after(uuid,integer) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.zones_since(p_since pg_snapshot, OUT snapshot pg_snapshot, OUT at timestamp with time zone, OUT zones jsonb)
 RETURNS record
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select pg_current_snapshot(), now(), private.narrowing(array(
    select distinct c.zone_id from watchpost.zone_changes c
    where c.changed_in >= pg_snapshot_xmin(p_since) and not pg_visible_in_snapshot(c.changed_in, p_since)))
$function$;

grant execute on function private.zones_since(pg_snapshot) to watchpost_jobs;

CREATE TRIGGER zone_boxes_removed AFTER DELETE ON watchpost.zone_boxes REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.note_boxes();

CREATE TRIGGER zone_boxes_truncated AFTER TRUNCATE ON watchpost.zone_boxes FOR EACH STATEMENT EXECUTE FUNCTION private.note_boxes();

CREATE TRIGGER zone_boxes_written AFTER INSERT ON watchpost.zone_boxes REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.note_boxes();

reset check_function_bodies;
reset role;
