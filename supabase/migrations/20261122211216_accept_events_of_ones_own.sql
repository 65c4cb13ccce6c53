set role watchpost_owner;
set check_function_bodies = off;

drop function private.consume(text,integer,interval);

drop function private.ingest_events(text,jsonb,boolean,uuid,uuid);

drop function private.store_events(uuid,text,uuid,uuid,private.incoming_event[]);

drop function private.store_positions(uuid,text,uuid,private.incoming_event[]);

CREATE OR REPLACE FUNCTION private.consume(p_bucket text, p_limit integer, p_window interval, p_cost integer DEFAULT 1)
 RETURNS TABLE(allowed boolean, remaining integer, reset_seconds integer, retry_after integer)
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_now timestamptz := clock_timestamp();
  v_step interval := p_window / p_limit * p_cost;
  v_tat timestamptz;
  v_denied boolean;
begin
  insert into watchpost.rate_limits as r (bucket, tat)
  values (p_bucket, v_now + v_step)
  on conflict (bucket) do update
  set denied = greatest(r.tat, v_now) + v_step > v_now + p_window,
      tat = case
        when greatest(r.tat, v_now) + v_step > v_now + p_window then r.tat
        else greatest(r.tat, v_now) + v_step
      end
  returning r.tat, r.denied into v_tat, v_denied;
  return query select
    not v_denied,
    greatest(0, floor(extract(epoch from (p_window - (v_tat - v_now))) / extract(epoch from p_window / p_limit)))::integer,
    greatest(0, ceil(extract(epoch from (v_tat - v_now))))::integer,
    case when v_denied
      then greatest(1, ceil(extract(epoch from (v_tat + v_step - p_window - v_now))))::integer
      else 0
    end;
end
$function$;

CREATE OR REPLACE FUNCTION private.end_events(p_limit integer DEFAULT 500)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION private.event_known_as(p_id text)
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select coalesce((
    select e.id
    from watchpost.event_aliases a
    join watchpost.events e on e.id = a.event_id
    where a.alias = p_id and (e.tenant_id is null or e.tenant_id = any(private.my_tenants()))), (
    select private.own_event_id(own.parts[1], mine.tenant_id, own.parts[2])
    from regexp_match(p_id, '^(custom:[a-z][a-z0-9-]*):(.+)$') as own (parts)
    cross join unnest(private.my_tenants()) with ordinality as mine (tenant_id, ordinal)
    where exists (
      select from watchpost.events e
      where e.id = private.own_event_id(own.parts[1], mine.tenant_id, own.parts[2]) and e.tenant_id = mine.tenant_id)
    order by mine.ordinal
    limit 1), p_id)
$function$;

CREATE OR REPLACE FUNCTION private.ingest_events(p_source text, p_events jsonb, p_match boolean DEFAULT true, p_owner_id uuid DEFAULT NULL::uuid, p_org_id uuid DEFAULT NULL::uuid)
 RETURNS TABLE(inserted integer, revised integer, unchanged integer, batch_id uuid, inserted_ids text[], revised_ids text[])
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_batch uuid := gen_random_uuid();
  v_given integer := jsonb_array_length(p_events);
  v_events private.incoming_event[];
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
  select * into v_stored from private.store_events(v_batch, p_source, p_owner_id, p_org_id, v_events);
  inserted_ids := private.store_positions(v_batch, p_source, v_tenant, v_events) || v_stored.inserted;
  revised_ids := v_stored.revised;
  perform private.store_aliases(p_source, v_events);
  inserted := cardinality(inserted_ids);
  revised := cardinality(revised_ids);
  unchanged := v_given - inserted - revised;

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

CREATE OR REPLACE FUNCTION private.own_event_id(p_source text, p_tenant_id uuid, p_id text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select p_source || ':' || left(replace(p_tenant_id::text, '-', ''), 12) || '.' || p_id
$function$;

CREATE OR REPLACE FUNCTION private.push_events(p_source text, p_org_id uuid, p_events jsonb, p_limits jsonb)
 RETURNS TABLE(id text, event_id text, outcome text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_caller uuid := private.uid();
  v_tenant uuid := coalesce(p_org_id, v_caller);
  v_count integer := jsonb_array_length(p_events);
  v_plan text;
  v_budget record;
  v_stored record;
begin
  if v_caller is null then
    raise exception 'unauthenticated' using errcode = 'WP401';
  end if;
  if p_org_id is not null and not p_org_id = any(private.my_orgs()) then
    raise exception 'not a member' using errcode = 'WPORG';
  end if;
  if p_source !~ '^custom:[a-z][a-z0-9-]*$' then
    raise exception '% is no source of your own', p_source using errcode = 'WP400';
  end if;
  select a.plan into v_plan from watchpost.accounts a where a.user_id = v_caller;
  if v_count > 0 then
    select * into v_budget
    from private.consume('events:' || v_caller, (p_limits ->> v_plan)::integer, interval '1 day', v_count);
    if not v_budget.allowed then
      raise exception '%', v_budget.retry_after using errcode = 'WPDAY', detail = p_limits ->> v_plan;
    end if;
  end if;
  -- Switched off, because nothing polls it.
  insert into watchpost.sources (source, title, attribution, types, enabled, interval_seconds)
  values ('custom', 'Events of accounts and organisations', 'custom', '{}', false, 60)
  on conflict do nothing;
  select * into v_stored
  from private.ingest_events(p_source, (
      select coalesce(jsonb_agg(
        j.value || jsonb_build_object('id', private.own_event_id(p_source, v_tenant, j.value ->> 'id'), 'aliases', '[]'::jsonb)
        order by j.ordinal), '[]')
      from jsonb_array_elements(p_events) with ordinality as j (value, ordinal)),
    true, v_caller, p_org_id);
  return query
    select distinct on (j.value ->> 'id') j.value ->> 'id', given.event_id, case
      when given.event_id = any(v_stored.inserted_ids) then 'created'
      when given.event_id = any(v_stored.revised_ids) then 'revised'
      else 'unchanged'
    end
    from jsonb_array_elements(p_events) as j (value)
    cross join lateral (select private.own_event_id(p_source, v_tenant, j.value ->> 'id')) as given (event_id);
end
$function$;

grant execute on function private.push_events(text,uuid,jsonb,jsonb) to authenticated;

CREATE OR REPLACE FUNCTION private.sources_health()
 RETURNS TABLE(source text, title text, attribution text, types text[], enabled boolean, interval_seconds integer, status text, last_success_at timestamp with time zone, last_event_at timestamp with time zone, events_24h bigint, error text, latency_p50 double precision, latency_p95 double precision)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select s.source, s.title, s.attribution, s.types, s.enabled, s.interval_seconds, private.source_status(s), s.last_success_at,
    s.last_event_at, coalesce(e.count, 0),
    case
      when not s.enabled or s.error_at > coalesce(s.last_success_at, '-infinity') then s.error
      when private.source_status(s) = 'stale' and s.last_event_at < now() - private.silent_after(s) then format(
        'It answers, but has sent no event since %s; before that it was never silent for more than %s.',
        private.iso(s.last_event_at), case
          when s.longest_silence_seconds <= 7200 then ceil(s.longest_silence_seconds / 60) || ' minutes'
          else ceil(s.longest_silence_seconds / 3600) || ' hours'
        end)
    end,
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
$function$;

CREATE OR REPLACE FUNCTION private.store_events(p_batch_id uuid, p_source text, p_owner_id uuid, p_org_id uuid, p_events private.incoming_event[], OUT inserted text[], OUT revised text[])
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION private.store_positions(p_batch_id uuid, p_source text, p_tenant_id uuid, p_events private.incoming_event[])
 RETURNS text[]
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_ids text[];
begin
  with stored as (
  insert into watchpost.positions (
    event_id, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, url, extent,
    tenant_id)
  select
    event_id, p_batch_id, seen_at, p_source, type, title, lat, lon, ts, severity, subject, status, url, extent,
    p_tenant_id
  from unnest(p_events)
  where is_moving
  on conflict do nothing
  returning event_id)
  select coalesce(array_agg(event_id), '{}') into v_ids from stored;
  return v_ids;
end
$function$;

alter table watchpost.events drop constraint events_source_fkey;

comment on column watchpost.events.source is 'A source, or custom:<name> for events that an account or organisation sent itself.';

reset check_function_bodies;
reset role;
