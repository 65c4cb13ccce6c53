set role watchpost_owner;
set check_function_bodies = off;

drop index watchpost.positions_ts;
drop index watchpost.positions_subject_ts;
alter table watchpost.positions drop constraint positions_pkey;
alter table watchpost.positions add primary key (ts, event_id);
create index positions_event_id on watchpost.positions using hash (event_id);
create index positions_subject on watchpost.positions (subject);
comment on column watchpost.positions.is_sample is 'Kept for its distance in time or space from the one before; the others because they changed a stay.';

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

-- What is not matched yet goes where matching will decide about it.
with passing as (
  delete from watchpost.positions p
  using watchpost.batches b
  where b.id = p.batch_id and b.matched_at is null and not p.is_sample
  returning p.*
)
insert into watchpost.passing_positions (
  event_id, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, url, extent, tenant_id)
select event_id, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, url, extent, tenant_id
from passing;

CREATE OR REPLACE FUNCTION private.batch_candidates(p_batch_ids uuid[])
 RETURNS TABLE(id text, revision integer, first_seen_at timestamp with time zone, source text, type text, title text, lat double precision, lon double precision, ts timestamp with time zone, severity smallint, subject text, status text, url text, geometry jsonb, magnitude double precision, depth_km double precision, ends_at timestamp with time zone, flag text, known_since timestamp with time zone, zone_ids uuid[])
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return query
  with r as materialized (
    select e.event_id, e.revision, e.first_seen_at, e.source, e.type, e.title, e.lat, e.lon, e.ts, e.severity,
      e.subject, e.status, e.url, e.geometry, e.magnitude, e.depth_km, e.ends_at, null::text as flag,
      case when e.revision = 1 then e.first_seen_at else private.known_since(e) end as known_since, e.extent, e.tenant_id, e.event_id as key
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
  ),
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
  gathered as (
    select p.event_id, p.ts, array_agg(p.zone_id) as zone_ids
    from pairs p
    group by p.event_id, p.ts
  )
  select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts, r.severity,
    r.subject, r.status, r.url, r.geometry, r.magnitude, r.depth_km, r.ends_at, r.flag, r.known_since,
    case when r.tenant_id is null then g.zone_ids else private.zones_in_tenant(g.zone_ids, r.tenant_id, r.first_seen_at) end
  from r
  join gathered g on g.event_id = r.event_id and g.ts = r.ts
  order by r.first_seen_at, r.ts, r.event_id, r.revision;
end
$function$;

CREATE OR REPLACE FUNCTION private.ingest_events(p_source text, p_events jsonb, p_match boolean DEFAULT true, p_owner_id uuid DEFAULT NULL::uuid, p_org_id uuid DEFAULT NULL::uuid)
 RETURNS TABLE(inserted integer, revised integer, unchanged integer, batch_id uuid, inserted_ids text[], revised_ids text[], dropped integer, flagged integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
  if not p_match then
    -- Nothing will say which of its positions matter.
    perform private.thin_positions(array[v_batch], v_positions.stored);
  end if;
  batch_id := v_batch;
  update watchpost.batches set size = inserted + revised where id = v_batch;
  if p_match then
    perform private.enqueue('match', v_batch, jsonb_build_object('source', v_queue));
  end if;
  return next;
end
$function$;

CREATE OR REPLACE FUNCTION private.next_batches(p_source text)
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[] := array(
    select b.id
    from (
      select w.id, w.seq, sum(w.size) over (order by w.seq) as total
      from (
        select * from watchpost.batches where source = p_source and matched_at is null order by seq limit 50) w) b
    where b.total <= 500
    order by b.seq);
begin
  if cardinality(v_ids) = 0 then
    return array(select id from watchpost.batches where source = p_source and matched_at is null order by seq limit 1);
  end if;
  if cardinality(v_ids) = 1 then
    return v_ids;
  end if;
  return v_ids[:(
    with told as (
      select distinct array_position(v_ids, r.batch_id) as nr, r.event_id as key
      from watchpost.event_revisions r where r.batch_id = any(v_ids)
      union
      select array_position(v_ids, p.batch_id), p.subject
      from watchpost.positions p where p.batch_id = any(v_ids)
      union
      select array_position(v_ids, p.batch_id), p.subject
      from watchpost.passing_positions p where p.batch_id = any(v_ids)
    )
    select coalesce(min(t.nr) - 1, cardinality(v_ids))
    from (select nr, min(nr) over (partition by key) as first from told) t
    where t.nr > t.first)];
end
$function$;

CREATE OR REPLACE FUNCTION private.purge_positions()
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_before timestamptz := private.kept_since('positions');
  v_partition text;
begin
  for v_partition in
    select c.relname
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'watchpost.positions'::regclass
      and c.relname ~ '^positions_\d{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 < v_before::date
  loop
    execute format('drop table watchpost.%I', v_partition);
  end loop;
  delete from watchpost.positions_default where ts < v_before;
  delete from watchpost.passing_positions where ts < v_before;
  delete from watchpost.subjects where ts < v_before;
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
$function$;

CREATE OR REPLACE FUNCTION private.thin_positions(p_batch_ids uuid[], p_keep text[])
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$;

reset check_function_bodies;
reset role;
