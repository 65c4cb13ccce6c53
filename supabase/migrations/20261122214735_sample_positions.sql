set role watchpost_owner;
set check_function_bodies = off;

alter table watchpost.positions add column is_sample boolean not null default true;
alter table watchpost.positions add column flag text check (flag in ('gap', 'jump'));
comment on column watchpost.positions.is_sample is 'Kept for its distance in time or space from the one before; the others are deleted once they are matched, unless they changed a stay.';
comment on column watchpost.positions.flag is 'gap: nothing was heard of the subject for long before it; jump: nothing moves that fast from the position before.';

alter table watchpost.sources add column stream_holder uuid, add column stream_until timestamptz;
comment on column watchpost.sources.last_success_at is 'Last successful poll, or sign of life of its stream, with or without new events.';
comment on column watchpost.sources.next_poll_at is 'When it is polled next; set it to now() to poll at once. Infinity: it only streams.';
comment on column watchpost.sources.stream_holder is 'The process that holds its stream, until stream_until; then another may take over.';

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

drop function private.ingest_events(text,jsonb,boolean,uuid,uuid);

drop function private.store_positions(uuid,text,uuid,private.incoming_event[]);

CREATE OR REPLACE FUNCTION private.distance_m(p_lat_1 double precision, p_lon_1 double precision, p_lat_2 double precision, p_lon_2 double precision)
 RETURNS double precision
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select 2 * 6371008.8 * asin(least(1, sqrt(
    sin(radians(p_lat_2 - p_lat_1) / 2) ^ 2
    + cos(radians(p_lat_1)) * cos(radians(p_lat_2)) * sin(radians(p_lon_2 - p_lon_1) / 2) ^ 2)))
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
  batch_id := v_batch;
  update watchpost.batches set size = inserted + revised where id = v_batch;
  if p_match then
    perform private.enqueue('match', v_batch, jsonb_build_object('source', v_queue));
  end if;
  return next;
end
$function$;

grant execute on function private.ingest_events(text,jsonb,boolean,uuid,uuid) to watchpost_jobs;

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
  delete from watchpost.subjects where ts < v_before;
end
$function$;

CREATE OR REPLACE FUNCTION private.step_flag(p_type text, p_seconds double precision, p_metres double precision)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
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
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION private.thin_positions(p_batch_id uuid, p_keep text[])
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_count integer;
begin
  delete from watchpost.positions
  where batch_id = p_batch_id and not is_sample and event_id <> all(p_keep);
  get diagnostics v_count = row_count;
  return v_count;
end
$function$;

grant execute on function private.thin_positions(uuid,text[]) to watchpost_jobs;

reset check_function_bodies;
reset role;
