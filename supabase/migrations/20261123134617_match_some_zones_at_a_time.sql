set role watchpost_owner;

alter table watchpost.batches
  add column matched_to uuid,
  add column decisive text[] not null default '{}';
comment on column watchpost.batches.matched_to is 'Of one that concerns so many zones that they are matched some at a time, by their ids: the last of those that are done.';
comment on column watchpost.batches.decisive is 'Its positions that changed a stay in those zones, and are therefore kept.';
-- Its parameter has another name now.
drop function private.end_batches(uuid[], text[]);

reset role;

set role watchpost_owner;
set check_function_bodies = off;

drop function private.batch_candidates(uuid[]);

drop function private.raise_alerts(jsonb,uuid);

CREATE OR REPLACE FUNCTION private.batch_candidates(p_batch_ids uuid[], p_after uuid DEFAULT NULL::uuid, p_most integer DEFAULT NULL::integer)
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
    where (p_after is null or p.zone_id > p_after)
      and (p_most is null or p.zone_id <= coalesce(
        (select last.zone_id from pairs last
         where p_after is null or last.zone_id > p_after
         order by last.zone_id offset p_most - 1 limit 1),
        'ffffffff-ffff-ffff-ffff-ffffffffffff'))
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

grant execute on function private.batch_candidates(uuid[],uuid,integer) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.deliver_alerts(p_alert_ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[];
begin
  perform private.cancel_deliveries(array(
    select d.id
    from watchpost.deliveries d
    join watchpost.alerts a on a.id = d.alert_id
    join watchpost.channels c on c.id = d.channel_id
    where d.alert_id = any(p_alert_ids) and d.status = 'held' and d.type = 'alert.raised' and a.status = 'pending'
      and not private.takes(c.messages, 'alert.raised')), 'The channel takes no alert.raised.');
  with sent as (
    insert into watchpost.deliveries as d (alert_id, channel_id, type, status)
    select a.id, c.id, 'alert.raised', case a.status when 'held' then 'held' else 'queued' end
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id and z.deleted_at is null
    cross join lateral private.zone_channels(z.owner_id, z.org_id, z.channel_ids) goes
    -- `offset 0`: looked up one by one, never all channels.
    cross join lateral (select * from watchpost.channels where id = goes.channel_id offset 0) c
    where a.id = any(p_alert_ids) and a.status in ('pending', 'held')
      and (private.takes(c.messages, 'alert.raised')
        or a.status = 'held' and private.takes(c.messages, 'alert.digest'))
    on conflict (alert_id, channel_id, type, sequence, act)
      where redelivery_of is null and type <> 'alert.digest' and step is null
    do update set status = 'queued', due_at = now(), updated_at = now()
      where d.status = 'held' and excluded.status = 'queued'
    returning d.id, d.status
  )
  select array_agg(s.id) into v_ids from sent s where s.status = 'queued';
  perform private.enqueue_deliveries(v_ids);
end
$function$;

CREATE OR REPLACE FUNCTION private.end_batches(p_ids uuid[], p_decisive text[])
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_decisive text[];
begin
  -- What was decisive in the zones before is the same in each of them.
  select p_decisive || b.decisive into v_decisive from watchpost.batches b where b.id = p_ids[1];
  update watchpost.batches set matched_at = now(), decisive = '{}' where id = any(p_ids);
  delete from pgboss.job where name = 'match' and id = any(p_ids) and state < 'active';
  return private.thin_positions(p_ids, v_decisive);
end
$function$;

grant execute on function private.end_batches(uuid[],text[]) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.enqueue(p_queue text, p_id uuid, p_data jsonb, p_start_after timestamp with time zone DEFAULT NULL::timestamp with time zone, p_group text DEFAULT NULL::text, p_singleton text DEFAULT NULL::text, p_priority integer DEFAULT 0)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  perform private.enqueue_all(
    p_queue, array[p_id], array[p_data], array[p_group], array[p_priority], p_start_after, p_singleton);
end
$function$;

CREATE OR REPLACE FUNCTION private.enqueue_all(p_queue text, p_ids uuid[], p_data jsonb[], p_groups text[], p_priorities integer[], p_start_after timestamp with time zone DEFAULT NULL::timestamp with time zone, p_singleton text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_start timestamptz := coalesce(p_start_after, pgboss.job_now());
begin
  insert into pgboss.job (
    id, name, data, start_after, created_on, singleton_key, group_id, expire_seconds, deletion_seconds,
    keep_until, retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds, priority)
  select j.id, q.name, j.data, v_start, pgboss.job_now(), p_singleton, j.group_id, q.expire_seconds, q.deletion_seconds,
    v_start + q.retention_seconds * interval '1 second', q.retry_limit, q.retry_delay, q.retry_backoff,
    q.retry_delay_max, q.policy, q.dead_letter, q.heartbeat_seconds, j.priority
  from pgboss.queue q
  cross join unnest(p_ids, p_data, p_groups, p_priorities) as j (id, data, group_id, priority)
  where q.name = p_queue
  on conflict do nothing;
  if not found and not exists (select from pgboss.queue q where q.name = p_queue) then
    raise exception 'there is no queue "%"', p_queue using errcode = 'undefined_object';
  end if;
  if p_start_after is null or p_start_after <= now() then
    perform pg_notify('watchpost_jobs', p_queue);
  end if;
end
$function$;

grant execute on function private.enqueue_all(text,uuid[],jsonb[],text[],integer[],timestamp with time zone,text) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.enqueue_deliveries(p_ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_jobs record;
begin
  select array_agg(d.id) as ids, array_agg(jsonb_build_object('delivery_id', d.id)) as data,
    array_agg(d.channel_id::text) as groups, array_agg(private.is_emergency(d, a, z)::integer) as priorities
  into v_jobs
  from unnest(p_ids) as made (id)
  join watchpost.deliveries d on d.id = made.id
  join watchpost.alerts a on a.id = d.alert_id
  join watchpost.zones z on z.id = a.zone_id;
  if v_jobs.ids is not null then
    perform private.enqueue_all('deliver', v_jobs.ids, v_jobs.data, v_jobs.groups, v_jobs.priorities);
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION private.is_usable(c watchpost.channels, p_user_id uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select c.deleted_at is null and (c.owner_id = p_user_id or exists (
    select from watchpost.members m
    where m.org_id = c.org_id and m.user_id = p_user_id and m.status = 'active'))
$function$;

CREATE OR REPLACE FUNCTION private.next_batches(p_source text)
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[] := array(
    select id from watchpost.batches
    where source = p_source and matched_at is null and matched_to is not null
    order by seq);
begin
  if v_ids <> '{}' then
    return v_ids;
  end if;
  v_ids := array(
    select b.id
    from (
      select w.id, w.seq, sum(w.size) over (order by w.seq) as total
      from (
        select * from watchpost.batches where source = p_source and matched_at is null order by seq limit 50) w) b
    where b.total <= 500
    order by b.seq);
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

CREATE OR REPLACE FUNCTION private.pass_batches(p_ids uuid[], p_to uuid, p_decisive text[])
 RETURNS void
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  update watchpost.batches set matched_to = p_to, decisive = decisive || p_decisive where id = any(p_ids)
$function$;

grant execute on function private.pass_batches(uuid[],uuid,text[]) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.raise_alerts(p_alerts jsonb, p_events jsonb, p_run_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[];
begin
  with given as materialized (
    select * from jsonb_to_recordset(p_alerts) as x (
      zone_id uuid, zone_name text, event_id text, source text, subject text, severity float8,
      reason text, status text, raised_at timestamptz, held_until timestamptz, checks jsonb,
      zone_version integer, event_revision integer, drill_id uuid)
  ),
  told as materialized (
    select e.event ->> 'id' as event_id, e.event_revision, private.told_event(e.event, e.event_revision) as event
    from jsonb_to_recordset(p_events) as e (event jsonb, event_revision integer)
  ),
  born as (
    insert into watchpost.alerts (
      zone_id, zone_name, owner_id, org_id, event_id, source, subject, event, severity, reason, first_reason, status,
      raised_at, held_until, checks, zone_version, event_revision, drill_id)
    select g.zone_id, g.zone_name, z.owner_id, z.org_id, g.event_id, g.source, g.subject, t.event, g.severity,
      g.reason, g.reason, private.status_in(z, g.status), g.raised_at, g.held_until, g.checks, g.zone_version, g.event_revision, g.drill_id
    from given g
    join told t on t.event_id = g.event_id and t.event_revision = g.event_revision
    join watchpost.zones z on z.id = g.zone_id
    on conflict (zone_id, event_id) do nothing
    returning id
  )
  select array_agg(id) into v_ids from born;
  -- An event that turned out to be another thing has an alert of its own now.
  delete from watchpost.alert_events m
  using watchpost.alerts a
  where a.id = any(v_ids) and m.zone_id = a.zone_id and m.event_id = a.event_id;
  perform private.send_alerts(v_ids, p_run_id);
end
$function$;

grant execute on function private.raise_alerts(jsonb,jsonb,uuid) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.revisions_of(p_event_id text, p_zone_id uuid)
 RETURNS TABLE(id text, revision integer, first_seen_at timestamp with time zone, source text, type text, title text, lat double precision, lon double precision, ts timestamp with time zone, severity smallint, subject text, status text, url text, geometry jsonb, magnitude double precision, depth_km double precision, ends_at timestamp with time zone, flag text, known_since timestamp with time zone, is_decided boolean, is_heard boolean, is_heard_now boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  with known as (
    select coalesce((select a.event_id from watchpost.event_aliases a where a.alias = p_event_id), p_event_id) as id
  ),
  seen as (
    select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
      r.severity, r.subject, r.status, r.url, r.geometry, r.magnitude, r.depth_km, r.ends_at, null::text as flag,
      case when r.revision = 1 then r.first_seen_at else private.known_since(r) end as known_since, r.batch_id, r.tenant_id
    from known
    join watchpost.event_revisions r on r.event_id = known.id
    union all
    select r.event_id, 1, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
      r.severity, r.subject, r.status, r.url, null::jsonb, null::float8, null::float8, null::timestamptz, r.flag,
      r.first_seen_at, r.batch_id, r.tenant_id
    from watchpost.positions r
    where r.event_id = p_event_id
  )
  select s.event_id, s.revision, s.first_seen_at, s.source, s.type, s.title, s.lat, s.lon, s.ts,
    s.severity, s.subject, s.status, s.url, s.geometry, s.magnitude, s.depth_km, s.ends_at, s.flag, s.known_since,
    not exists (
      select from watchpost.batches b
      where b.id = s.batch_id and b.matched_at is null and (b.matched_to is null or b.matched_to < p_zone_id)),
    s.tenant_id is null or private.zones_in_tenant(array[p_zone_id], s.tenant_id, s.first_seen_at) <> '{}',
    s.tenant_id is null or private.zones_in_tenant(array[p_zone_id], s.tenant_id, now()) <> '{}'
  from seen s
  where s.tenant_id is null or s.tenant_id = any(private.my_tenants())
  order by 3, 2
$function$;

CREATE OR REPLACE FUNCTION private.start_steps(p_alert_ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  update watchpost.alert_steps s
  set status = 'stopped', reason = 'escalated', settled_at = now()
  from watchpost.alerts a
  where a.id = any(p_alert_ids) and s.alert_id = a.id and s.status = 'waiting' and s.round < private.round_of(a);
  -- Hardly any zone has steps: of the others' alerts no update is read.
  with escalating as materialized (
    select a.id, z.escalation
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id and z.deleted_at is null and z.escalation is not null
    where a.id = any(p_alert_ids) and a.status not in ('held', 'suppressed')
  )
  insert into watchpost.alert_steps (alert_id, round, step, after_minutes, began_at, due_at)
  select a.id, private.round_of(a), s.nr, (s.value ->> 'after_minutes')::integer, now(),
    now() + (s.value ->> 'after_minutes')::integer * interval '1 minute'
  from escalating e
  join watchpost.alerts a on a.id = e.id
  cross join lateral jsonb_array_elements(e.escalation) with ordinality as s (value, nr)
  where private.calm_of(a) is null
    and (a.drill_id is null or (select d.escalates from watchpost.drills d where d.id = a.drill_id))
  on conflict do nothing;
end
$function$;

CREATE OR REPLACE FUNCTION private.status_in(z watchpost.zones, p_status text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when z.deleted_at is not null and p_status in ('pending', 'held') then 'failed' else p_status end
$function$;

CREATE OR REPLACE FUNCTION private.stay_before(p_event_id text, p_subject text, p_zone_id uuid)
 RETURNS TABLE(id text, revision integer, first_seen_at timestamp with time zone, source text, type text, title text, lat double precision, lon double precision, ts timestamp with time zone, severity smallint, subject text, status text, url text, geometry jsonb, magnitude double precision, depth_km double precision, ends_at timestamp with time zone, flag text, known_since timestamp with time zone, is_decided boolean, is_heard boolean, is_heard_now boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select r.event_id, 1, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
    r.severity, r.subject, r.status, r.url, null::jsonb, null::float8, null::float8, null::timestamptz, r.flag,
    r.first_seen_at,
    not exists (
      select from watchpost.batches b
      where b.id = r.batch_id and b.matched_at is null and (b.matched_to is null or b.matched_to < p_zone_id)),
    r.tenant_id is null or private.zones_in_tenant(array[p_zone_id], r.tenant_id, r.first_seen_at) <> '{}',
    r.tenant_id is null
  from watchpost.positions p
  join watchpost.positions r on r.subject = p.subject
  where p.event_id = p_event_id and p.subject = p_subject
    and (r.first_seen_at, r.ts) < (p.first_seen_at, p.ts)
    and (r.tenant_id is null or r.tenant_id = any(private.my_tenants()))
  order by r.first_seen_at, r.ts
$function$;

CREATE OR REPLACE FUNCTION private.takes(p_messages text[], p_type text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case
    when p_messages is null
      then p_type <> all('{alert.revised,alert.acknowledged,alert.resolved,alert.reopened}'::text[])
    else p_type = any(p_messages)
  end
$function$;

CREATE OR REPLACE FUNCTION private.zone_candidates(p_zone_id uuid)
 RETURNS TABLE(id text, revision integer, first_seen_at timestamp with time zone, source text, type text, title text, lat double precision, lon double precision, ts timestamp with time zone, severity smallint, subject text, status text, url text, geometry jsonb, magnitude double precision, depth_km double precision, ends_at timestamp with time zone, flag text, known_since timestamp with time zone, zone_ids uuid[], standing boolean)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return query
  with zone as (
    select z.id, date_trunc('milliseconds', greatest(v.valid_from, (
      select max(s.valid_from) from watchpost.account_states s where s.user_id = z.owner_id))) as changed_at
    from watchpost.zones z
    join watchpost.zone_versions v on v.zone_id = z.id and v.version = z.version
    where z.id = p_zone_id and z.deleted_at is null
  )
  select distinct on (e.first_seen_at, e.ts, e.id)
    e.id, e.revision, e.first_seen_at, e.source, e.type, e.title, e.lat, e.lon, e.ts, e.severity, e.subject,
    e.status, e.url, e.geometry, e.magnitude, e.depth_km, e.ends_at, null::text, e.first_seen_at,
    array[zone.id], true
  from zone
  join watchpost.zone_boxes b on b.zone_id = zone.id
  join watchpost.events e on e.extent operator(pg_catalog.&&) b.box
  where e.status = 'active' and e.ends_at > now()
    and (e.tenant_id is null or private.zones_in_tenant(array[zone.id], e.tenant_id, now()) <> '{}')
  union all
  select distinct on (r.first_seen_at, r.ts, r.event_id, r.revision)
    r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts, r.severity, r.subject,
    r.status, r.url, r.geometry, r.magnitude, r.depth_km, r.ends_at, null, case when r.revision = 1 then r.first_seen_at else private.known_since(r) end,
    array[zone.id], false
  from zone
  join watchpost.zone_boxes b on b.zone_id = zone.id
  join watchpost.event_revisions r on r.extent operator(pg_catalog.&&) b.box and r.first_seen_at >= zone.changed_at
  -- Of a batch that is being matched the zone may have been passed over.
  join watchpost.batches done on done.id = r.batch_id and coalesce(done.matched_at::text, done.matched_to::text) is not null
  where (r.tenant_id is null or private.zones_in_tenant(array[zone.id], r.tenant_id, r.first_seen_at) <> '{}')
    and not exists (
      select from watchpost.alerts a
      where a.zone_id = zone.id and a.event_id = r.event_id and a.event_revision > r.revision)
    and not exists (
      select from watchpost.alert_events m
      where m.zone_id = zone.id and m.event_id = r.event_id and m.event_revision > r.revision)
  order by 3, 9, 1, 2;
end
$function$;

CREATE OR REPLACE FUNCTION private.zone_channels(p_owner_id uuid, p_org_id uuid, p_channel_ids uuid[])
 RETURNS TABLE(channel_id uuid)
 LANGUAGE sql
 STABLE
AS $function$
  with chosen as materialized (
    select c.id, c.enabled
    from watchpost.channels c
    where c.id = any(p_channel_ids) and private.is_usable(c, p_owner_id)
  )
  select chosen.id from chosen where chosen.enabled
  union all
  select c.id
  from watchpost.channels c
  where (p_channel_ids is null or p_channel_ids <> '{}' and not exists (select from chosen))
    and c.enabled and c.deleted_at is null
    and (c.owner_id = p_owner_id and (c.org_id is null or c.org_id is not distinct from p_org_id)
      or c.org_id = p_org_id)
$function$;

CREATE INDEX batches_begun ON watchpost.batches USING btree (source) WHERE ((matched_at IS NULL) AND (matched_to IS NOT NULL));

reset check_function_bodies;
reset role;
