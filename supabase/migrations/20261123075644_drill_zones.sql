select pgboss.create_queue('drill', '{"policy": "standard", "retryLimit": 20, "retryDelay": 1, "retryBackoff": true, "retryDelayMax": 300, "expireInSeconds": 120, "deleteAfterSeconds": 3600, "deadLetter": "dead"}');

set role watchpost_owner;
set check_function_bodies = off;

create table watchpost.drills (
  id uuid primary key default gen_random_uuid(),
  zone_id uuid not null references watchpost.zones on delete cascade,
  created_by uuid references watchpost.accounts on delete set null,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  event jsonb not null,
  ignores_quiet_hours boolean not null,
  escalates boolean not null,
  decided_at timestamptz,
  decision jsonb,
  channels jsonb not null default '[]',
  escalation jsonb,
  check ((decided_at is null) = (decision is null))
);
comment on table watchpost.drills is 'One row per fire drill of a zone: what it pretends, and what was decided about it.';
comment on column watchpost.drills.created_by is 'Account that asked for it; null: deleted since.';
comment on column watchpost.drills.event is 'The event that it pretends.';
comment on column watchpost.drills.ignores_quiet_hours is 'Whether it is sent in quiet hours, too.';
comment on column watchpost.drills.escalates is 'Whether the steps of the zone run if nobody acknowledges it.';
comment on column watchpost.drills.decided_at is 'Null: no job has taken it up yet.';
comment on column watchpost.drills.decision is 'zone_version, outcome, raised, is_sent, held_until, reason and checks.';
comment on column watchpost.drills.channels is 'The channels of the zone when it was decided, each with why it gets nothing; null: it gets it.';
comment on column watchpost.drills.escalation is 'The steps of the zone when it was decided.';
alter table watchpost.drills enable row level security;
alter table watchpost.drills force row level security;
create policy drills_jobs on watchpost.drills for select to watchpost_jobs using (true);
grant select on watchpost.drills to watchpost_jobs;


alter table watchpost.alerts add column drill_id uuid references watchpost.drills on delete cascade;
comment on column watchpost.alerts.drill_id is 'The drill that it belongs to; null: it is about a real event. No policy shows the alert of a drill.';
alter policy alerts_select on watchpost.alerts
  using (drill_id is null and tenant_id = any((select private.my_tenants())::uuid[]));
alter policy alerts_update on watchpost.alerts
  using ((select private.can_write()) and drill_id is null and tenant_id = any((select private.my_tenants())::uuid[]))
  with check ((select private.can_write()) and drill_id is null and tenant_id = any((select private.my_tenants())::uuid[]));
-- With a time of its own, so that a backup that is restored and one that is upgraded are equal.
insert into watchpost.retention (thing, keep, updated_at) values ('drills', '30 days', '2026-11-23 00:00:00+00');

create table watchpost.heartbeat (
  is_only boolean primary key default true check (is_only),
  looked_at timestamptz,
  reasons text[] not null default '{}',
  called_at timestamptz,
  error text
);
comment on table watchpost.heartbeat is 'One row, where HEARTBEAT_URL is set: what was found when it was looked last, and when the URL was called last.';
comment on column watchpost.heartbeat.reasons is 'Why not all was well then, so that the URL was not called; empty: all was.';
comment on column watchpost.heartbeat.called_at is 'When the URL accepted a call last; null: never.';
comment on column watchpost.heartbeat.error is 'Why the last call failed; null: it did not.';
alter table watchpost.heartbeat enable row level security;
alter table watchpost.heartbeat force row level security;
create policy heartbeat_jobs on watchpost.heartbeat for select to watchpost_jobs using (true);
grant select on watchpost.heartbeat to watchpost_jobs;
insert into watchpost.heartbeat default values;


create or replace view support.zones with (security_invoker = true) as
select z.id, z.label, a.email as owner, o.name as organisation,
  case
    when z.deleted_at is not null then 'deleted'
    when a.plan = 'free' or private.is_banned(a.banned_until) then 'paused'
    when not z.enabled then 'disabled'
    when z.snoozed_until > now() then 'snoozed'
    else 'watching'
  end as state,
  z.lat, z.lon, z.shape_type, z.radius_km, z.min_severity, z.severity_multiplier, z.dwell_minutes,
  coalesce(z.quiet_hours_start || ' to ' || z.quiet_hours_end, (
    select string_agg(concat_ws(' ', w.days, w.start, 'to', w."end"), ', ')
    from jsonb_array_elements(z.quiet_windows) with ordinality as j (value, nth)
    cross join lateral (
      select translate(j.value ->> 'days', '[]" ', '') as days, j.value ->> 'start' as start, j.value ->> 'end' as "end"
    ) w)) || ' ' || z.quiet_hours_tz || ', ' || z.quiet_mode as quiet_hours,
  z.emergency_severity, z.sources, z.types, cardinality(z.channel_ids) as channels, z.snoozed_until,
  (select max(l.raised_at) from watchpost.alerts l where l.zone_id = z.id and l.drill_id is null) as last_alert_at,
  z.created_at, z.updated_at, z.deleted_at, z.owner_id, z.org_id,
  (z.aftershocks ->> 'magnitude_gap')::float8 as aftershock_gap, z.max_alerts_per_hour
from watchpost.zones z
join watchpost.accounts a on a.user_id = z.owner_id
left join watchpost.organisations o on o.id = z.org_id;

create or replace view support.alerts_today with (security_invoker = true) as
select l.id, l.raised_at, a.email as owner, o.name as organisation, l.zone_name as zone,
  l.event ->> 'title' as event, l.severity, l.status, l.reason, l.dispatched_at, l.held_until,
  (select count(*) from watchpost.deliveries d where d.alert_id = l.id and d.status = 'succeeded') as delivered,
  (select count(*) from watchpost.deliveries d
   where d.alert_id = l.id and d.status in ('failed', 'expired')) as failed,
  (select count(*) from watchpost.deliveries d
   where d.alert_id = l.id and d.status in ('queued', 'sending', 'held')) as waiting,
  l.resolved, l.zone_id, l.event_id, l.owner_id, l.org_id
from watchpost.alerts l
join watchpost.accounts a on a.user_id = l.owner_id
left join watchpost.organisations o on o.id = l.org_id
where l.raised_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' and l.drill_id is null
order by l.raised_at desc;

comment on view support.alerts_today is 'Alerts raised since midnight UTC, newest first, with their deliveries; without drills.';

drop trigger alerts_tenant on watchpost.alerts;

CREATE OR REPLACE FUNCTION private.alerts_json(d watchpost.deliveries)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'timestamp', case when d.type = 'alert.digest' then private.iso(d.created_at) else coalesce(a.current, a.event) ->> 'ts' end,
    'alert', private.alert_json(a, d.channel_id),
    'zone', jsonb_build_object('id', a.zone_id, 'label', a.zone_name))
    || case when d.type = 'alert.digest' then jsonb_build_object('summary', private.digest_summary(d.id), 'alerts', (
      select jsonb_agg(private.alert_json(held, d.channel_id) order by held.severity desc, held.raised_at, held.id)
      from private.alerts_carried(d) held
    )) else '{}' end
    -- A webhook sends the sentence itself.
    || case when (select kind from watchpost.channels where id = d.channel_id) = 'webhook' then '{}'
      when d.type = 'alert.digest' then jsonb_build_object('facts', (
        select jsonb_object_agg(held.id, private.facts_json(held)) from private.alerts_carried(d) held))
      else jsonb_build_object('facts', jsonb_build_object(a.id, private.facts_json(a))) end
    || case when d.step is null then '{}' else jsonb_build_object('unacknowledged', d.step) end
    || case when a.drill_id is null then '{}' else jsonb_build_object('drill', jsonb_build_object('id', a.drill_id)) end
  from watchpost.alerts a
  where a.id = d.alert_id
$function$;

CREATE OR REPLACE FUNCTION private.begin_drill(p_zone_id uuid, p_event jsonb, p_ignores_quiet_hours boolean, p_escalates boolean)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_zone watchpost.zones;
  v_id uuid;
begin
  select * into v_zone from watchpost.zones
  where id = p_zone_id and deleted_at is null and tenant_id = any(private.my_tenants());
  if not found then
    return null;
  end if;
  if not private.can_write() or not (
    v_zone.owner_id = private.uid() or coalesce(v_zone.org_id = any(private.admin_orgs()), false)) then
    raise exception 'only the owner of the zone or an admin of its organisation may start a drill' using errcode = 'WP403';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('drill:' || v_zone.owner_id, 0));
  if (select count(*) from watchpost.drills where zone_id = p_zone_id and created_at > now() - interval '1 day') >= 20 then
    raise exception 'This zone has had 20 drills in the last 24 hours. Wait, or see what became of them: GET /zones/:id/drills/:drillId.'
      using errcode = 'WP409';
  end if;
  if (select count(*) from watchpost.drills d
      join watchpost.zones z on z.id = d.zone_id
      where z.owner_id = v_zone.owner_id and d.created_at > now() - interval '1 day') >= 100 then
    raise exception 'The zones of this account have had 100 drills in the last 24 hours. Wait until the first of them is a day old.'
      using errcode = 'WP409';
  end if;
  insert into watchpost.drills (zone_id, created_by, event, ignores_quiet_hours, escalates)
  values (p_zone_id, private.uid(), p_event, p_ignores_quiet_hours, p_escalates)
  returning id into v_id;
  perform private.enqueue('drill', v_id, jsonb_build_object('drill_id', v_id));
  perform private.record_audit('zone.drilled', 'zone', p_zone_id::text,
    v_zone.owner_id || private.admins_of(array[v_zone.org_id]), jsonb_build_object(
      'drill_id', v_id, 'label', v_zone.label, 'ignore_quiet_hours', p_ignores_quiet_hours, 'escalate', p_escalates));
  return private.drill_json(p_zone_id, v_id);
end
$function$;

grant execute on function private.begin_drill(uuid,jsonb,boolean,boolean) to authenticated;

CREATE OR REPLACE FUNCTION private.begin_heartbeat()
 RETURNS text[]
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
  update watchpost.heartbeat
  set looked_at = now(), reasons = private.unwell_reasons()
  where looked_at is null or date_trunc('minute', looked_at) <> date_trunc('minute', now())
  returning reasons
$function$;

grant execute on function private.begin_heartbeat() to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.bundle_delivery(d watchpost.deliveries, c watchpost.channels)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[];
  v_digest uuid;
  v_is_new boolean;
  v_is_drill boolean := private.is_drill(d);
begin
  if not private.takes(c.messages, 'alert.digest') or d.type not like 'alert.%' or d.type = 'alert.digest'
    or d.redelivery_of is not null or d.attempts > 0 then
    return false;
  end if;
  select x.id into v_digest
  from watchpost.deliveries x
  where x.channel_id = c.id and x.type = 'alert.digest' and x.status = 'queued' and x.turn_at is not null
    and x.payload is null and x.redelivery_of is null and private.is_drill(x) = v_is_drill
    and (select count(*) from watchpost.deliveries carried where carried.digest_id = x.id) < 500
  order by x.created_at, x.id
  limit 1
  for update;
  v_is_new := v_digest is null;
  v_ids := d.id || array(
    select x.id
    from watchpost.deliveries x
    join watchpost.alerts a on a.id = x.alert_id
    where x.channel_id = c.id and x.status = 'queued' and x.digest_id is null and x.turn_at is null and x.attempts = 0
      and x.redelivery_of is null and x.type like 'alert.%' and x.type <> 'alert.digest' and x.id <> d.id
      and (a.drill_id is not null) = v_is_drill
    order by a.severity desc, x.created_at, x.id
    limit 499
    for update of x skip locked);
  if v_is_new and cardinality(v_ids) = 1 then
    return false;
  end if;
  if v_is_new then
    insert into watchpost.deliveries (alert_id, channel_id, type)
    select x.alert_id, c.id, 'alert.digest'
    from watchpost.deliveries x
    join watchpost.alerts a on a.id = x.alert_id
    where x.id = any(v_ids)
    order by a.severity desc, a.raised_at, a.id
    limit 1
    returning id into v_digest;
  end if;
  update watchpost.deliveries
  set digest_id = v_digest, next_attempt_at = null, updated_at = now()
  where id = any(v_ids);
  if v_is_new then
    perform private.enqueue_delivery(v_digest, c.id);
  end if;
  return true;
end
$function$;

CREATE OR REPLACE FUNCTION private.drill_channels(z watchpost.zones)
 RETURNS TABLE(channel_id uuid, reason text)
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  with goes as materialized (
    select g.channel_id from private.zone_channels(z.owner_id, z.org_id, z.channel_ids) g
  )
  select c.id, coalesce(
    private.refusal_of(c, z),
    case
      when not private.takes(c.messages, 'alert.raised') then 'The channel takes no alert.raised.'
      when c.id not in (select g.channel_id from goes g) then 'The zone does not send to this channel.'
    end)
  from watchpost.channels c
  where c.id in (select g.channel_id from goes g) or c.id = any(z.channel_ids)
    or z.channel_ids is null and c.deleted_at is null
      and (c.owner_id = z.owner_id and (c.org_id is null or c.org_id is not distinct from z.org_id) or c.org_id = z.org_id)
  order by c.created_at, c.id
$function$;

CREATE OR REPLACE FUNCTION private.drill_json(p_zone_id uuid, p_id uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  with drill as (
    select d
    from watchpost.drills d
    join watchpost.zones z on z.id = d.zone_id
    where d.id = p_id and d.zone_id = p_zone_id and z.deleted_at is null and z.tenant_id = any(private.my_tenants())
  ),
  told as (
    select m.*, c.kind, coalesce(c.label, c.kind) as channel, c.tenant_id = any(private.my_tenants()) as is_seen
    from drill
    cross join lateral private.drill_messages(drill.d) m
    join watchpost.channels c on c.id = m.channel_id
  )
  select jsonb_build_object(
    'id', d.id, 'zone_id', d.zone_id, 'created_at', private.iso(d.created_at), 'event', d.event,
    'ignore_quiet_hours', d.ignores_quiet_hours, 'escalate', d.escalates,
    'status', case
      when d.decided_at is null then 'waiting'
      when not (d.decision ->> 'is_sent')::boolean then case d.decision ->> 'outcome' when 'held' then 'held' else 'stopped' end
      when exists (select from told t where t.outcome = 'waiting') then 'sending'
      when exists (select from told t where t.delivery_id is not null) then 'done'
      else 'no_channel'
    end,
    'decided_at', private.iso(d.decided_at),
    'zone_version', d.decision -> 'zone_version', 'raised', d.decision -> 'raised', 'reason', d.decision -> 'reason',
    'held_until', d.decision -> 'held_until', 'checks', coalesce(d.decision -> 'checks', '[]'),
    'channels', coalesce((
      select jsonb_agg(jsonb_build_object(
        'channel_id', t.channel_id, 'channel', t.channel, 'kind', t.kind, 'delivery_id', t.delivery_id, 'type', t.type, 'step', t.step,
        'outcome', t.outcome, 'reason', t.reason, 'next_attempt_at', private.iso(t.next_attempt_at),
        'delivered_at', private.iso(t.delivered_at), 'attempts', t.attempts)
        order by t.type, t.step nulls first, t.channel, t.channel_id)
      from told t where t.is_seen), '[]'),
    'hidden_channels', (select count(*) from told t where not t.is_seen),
    'escalation', private.drill_steps(d),
    'seen_at', (select private.iso(a.seen_at) from watchpost.alerts a where a.drill_id = d.id))
  from drill
  join watchpost.drills d on d.id = (drill.d).id
$function$;

grant execute on function private.drill_json(uuid,uuid) to authenticated;

CREATE OR REPLACE FUNCTION private.drill_messages(d watchpost.drills)
 RETURNS TABLE(channel_id uuid, delivery_id uuid, type text, step integer, outcome text, reason text, next_attempt_at timestamp with time zone, delivered_at timestamp with time zone, attempts jsonb)
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select x.channel_id, x.id, x.type, (x.step ->> 'step')::integer,
    case x.status
      when 'succeeded' then 'succeeded'
      when 'cancelled' then 'skipped'
      when 'failed' then 'failed'
      when 'expired' then 'failed'
      else 'waiting'
    end,
    x.last_error, x.next_attempt_at, x.delivered_at, coalesce((
      select jsonb_agg(jsonb_build_object(
        'at', private.iso(t.at), 'outcome', t.outcome, 'status_code', t.status_code, 'duration_ms', t.duration_ms,
        'error', t.error) order by t.attempt)
      from watchpost.delivery_attempts t where t.delivery_id = coalesce(x.digest_id, x.id)), '[]')
  from watchpost.deliveries x
  join watchpost.alerts a on a.id = x.alert_id
  where a.drill_id = d.id and x.type <> 'alert.digest'
  union all
  select c.channel_id, null, null, null,
    case when c.reason is null and d.decision ->> 'outcome' = 'held' then 'held' else 'skipped' end,
    coalesce(c.reason, d.decision ->> 'reason'), null, null, '[]'
  from jsonb_to_recordset(d.channels) as c (channel_id uuid, reason text)
  where not exists (
    select from watchpost.deliveries x
    join watchpost.alerts a on a.id = x.alert_id
    where a.drill_id = d.id and x.channel_id = c.channel_id)
$function$;

CREATE OR REPLACE FUNCTION private.drill_steps(d watchpost.drills)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce(jsonb_agg(jsonb_build_object(
    'step', s.nr, 'after_minutes', s.value -> 'after_minutes', 'channel_ids', s.value -> 'channel_ids',
    'due_at', private.iso(coalesce(ran.due_at, case when (d.decision ->> 'is_sent')::boolean then
      d.decided_at + (s.value ->> 'after_minutes')::integer * interval '1 minute' end)),
    'status', coalesce(ran.status, 'not_run'), 'reason', ran.reason) order by s.nr), '[]')
  from jsonb_array_elements(d.escalation) with ordinality as s (value, nr)
  left join (
    select x.* from watchpost.alert_steps x
    join watchpost.alerts a on a.id = x.alert_id
    where a.drill_id = d.id) ran on ran.step = s.nr
$function$;

CREATE OR REPLACE FUNCTION private.end_heartbeat(p_error text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
  update watchpost.heartbeat set called_at = case when p_error is null then now() else called_at end, error = p_error
$function$;

grant execute on function private.end_heartbeat(text) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.feed_of(p_token_hash bytea, p_days integer, p_limit integer)
 RETURNS TABLE(zone_id uuid, label text, created_at timestamp with time zone, modified_at timestamp with time zone, alerts jsonb)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return query
    select z.id, z.label, z.created_at, greatest(z.updated_at, found.modified_at), coalesce(found.alerts, '[]')
    from private.zone_of_feed_link(p_token_hash) z
    cross join lateral (
      select max(a.updated_at) as modified_at,
        jsonb_agg(private.feed_alert_json(a) order by a.raised_at desc, a.id desc) as alerts
      from (
        select * from watchpost.alerts
        where alerts.zone_id = z.id
          and status <> 'suppressed' and drill_id is null
          and raised_at > now() - make_interval(days => p_days)
        order by raised_at desc, alerts.id desc
        limit p_limit + 1) a) found;
end
$function$;

CREATE OR REPLACE FUNCTION private.is_drill(d watchpost.deliveries)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select exists (select from watchpost.alerts a where a.id = d.alert_id and a.drill_id is not null)
$function$;

CREATE OR REPLACE FUNCTION private.is_urgent(d watchpost.deliveries)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce((
    select a.drill_id is null and d.type in ('alert.raised', 'alert.escalated') and a.severity >= coalesce(z.emergency_severity, 80)
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id
    where a.id = d.alert_id), false)
$function$;

CREATE OR REPLACE FUNCTION private.measure_delivery()
 RETURNS void
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  update watchpost.sources s
  set delivery_p50 = m.p50, delivery_p95 = m.p95
  from watchpost.sources o
  left join (
    select a.source,
      percentile_cont(0.5) within group (order by extract(epoch from (d.delivered_at - a.raised_at))) as p50,
      percentile_cont(0.95) within group (order by extract(epoch from (d.delivered_at - a.raised_at))) as p95
    from watchpost.alerts a
    join watchpost.deliveries d on d.alert_id = a.id
    where a.raised_at > now() - interval '24 hours' and a.held_until is null and a.drill_id is null
      and d.type = 'alert.raised' and d.status = 'succeeded' and d.redelivery_of is null
    group by a.source
    having count(*) >= 5
  ) m on m.source = o.source
  where s.source = o.source and (s.delivery_p50, s.delivery_p95) is distinct from (m.p50, m.p95)
$function$;

CREATE OR REPLACE FUNCTION private.note_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if tg_table_name = 'alerts' then
    perform private.note_visibility('alert', array_agg(d.tenant_id), array_agg(d.id::text))
    from deleted d
    where d.drill_id is null
      and (d.org_id is not null or exists (select from watchpost.accounts a where a.user_id = d.owner_id));
  else
    perform private.note_visibility(
      'event', array_agg(coalesce(d.tenant_id, '00000000-0000-0000-0000-000000000000')), array_agg(d.id))
    from deleted d
    where d.owner_id is null or d.org_id is not null
      or exists (select from watchpost.accounts a where a.user_id = d.owner_id);
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION private.note_membership()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_org uuid := case tg_op when 'DELETE' then old.org_id else new.org_id end;
  v_user uuid := case tg_op when 'DELETE' then old.user_id else new.user_id end;
begin
  perform from watchpost.organisations where id = v_org for update;
  if exists (select from watchpost.accounts where user_id = v_user) then
    perform private.note_visibility('alert', array_agg(v_user), array_agg(a.id::text))
    from watchpost.alerts a where a.tenant_id = v_org and a.drill_id is null;
    perform private.note_visibility('event', array_agg(v_user), array_agg(e.id))
    from watchpost.events e where e.tenant_id = v_org;
    -- After those, so that nothing is deleted in between; whoever leaves is told of it no more otherwise.
    insert into watchpost.visibility_changes (audience, thing, id)
    select v_user, v.thing, v.id from watchpost.visibility_changes v where v.audience = v_org
    order by 1, 2, 3
    on conflict (audience, thing, id) do update set changed_in = excluded.changed_in, at = excluded.at;
  end if;
  return case tg_op when 'DELETE' then old else new end;
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

CREATE OR REPLACE FUNCTION private.purge_drills(p_batch integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_before timestamptz := private.kept_since('drills');
  v_count integer;
begin
  delete from watchpost.drills where id in (
    select id from watchpost.drills where created_at < v_before order by created_at limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$function$;

CREATE OR REPLACE FUNCTION private.raise_alerts(p_alerts jsonb, p_run_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[];
begin
  with given as (
    select * from jsonb_to_recordset(p_alerts) as x (
      zone_id uuid, zone_name text, event_id text, source text, subject text, event jsonb, severity float8,
      reason text, status text, raised_at timestamptz, held_until timestamptz, checks jsonb,
      zone_version integer, event_revision integer, drill_id uuid)
  ),
  born as (
    insert into watchpost.alerts (
      zone_id, zone_name, owner_id, org_id, event_id, source, subject, event, severity, reason, first_reason, status,
      raised_at, held_until, checks, zone_version, event_revision, drill_id)
    select g.zone_id, g.zone_name, z.owner_id, z.org_id, g.event_id, g.source, g.subject, private.told_event(g.event, g.event_revision), g.severity,
      g.reason, g.reason, private.status_in(z, g.status), g.raised_at, g.held_until, g.checks, g.zone_version, g.event_revision, g.drill_id
    from given g
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

CREATE OR REPLACE FUNCTION private.redeliver(p_alert_id uuid, p_delivery_ids uuid[])
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_alert watchpost.alerts;
  v_found record;
  v_unknown uuid;
  v_sent uuid[] := '{}';
  v_skipped jsonb := '[]';
  v_states text[];
begin
  select * into v_alert from watchpost.alerts
  where id = p_alert_id and drill_id is null and tenant_id = any(private.my_tenants())
  for no key update;
  if not found then
    return null;
  end if;
  if not private.can_write() or not (
    v_alert.owner_id = private.uid() or coalesce(v_alert.org_id = any(private.admin_orgs()), false)) then
    raise exception 'only the owner or an admin can redeliver an alert' using errcode = 'WP403';
  end if;
  if (select count(*) from watchpost.deliveries where alert_id = p_alert_id and redelivery_of is not null) >= 100 then
    raise exception 'This alert has been redelivered 100 times. See what the channel answers: GET /channels/:id/deliveries.'
      using errcode = 'WP409';
  end if;
  if p_delivery_ids is null and v_alert.status = 'recorded' then
    v_sent := private.send_recorded(p_alert_id);
  else
    select given.id into v_unknown
    from unnest(p_delivery_ids) as given (id)
    where not exists (select from private.repeatable(p_alert_id, null) m where given.id = any(m.carried));
    if found then
      raise exception 'delivery %', v_unknown using errcode = 'WP404';
    end if;
    select case
      when bool_or(m.status in ('failed', 'expired') and not m.is_repeated) then array['failed', 'expired']
      else array['cancelled']
    end into v_states
    from private.repeatable(p_alert_id, null) m;
    for v_found in
      select m.id, m.reason, coalesce(given.id, m.id) as asked
      from private.repeatable(p_alert_id, null) m
      left join lateral (select g.id from unnest(p_delivery_ids) as g (id) where g.id = any(m.carried) limit 1) given on true
      where case when p_delivery_ids is null then m.status = any(v_states) and not m.is_repeated else given.id is not null end
      order by m.created_at, m.id
    loop
      if v_found.reason is null then
        v_sent := v_sent || private.repeat_delivery(v_found.id);
      else
        v_skipped := v_skipped || jsonb_build_object('delivery_id', v_found.asked, 'reason', v_found.reason);
      end if;
    end loop;
  end if;
  if v_sent = '{}' then
    raise exception '%', coalesce(
      (select string_agg(format('Delivery %s: %s', s ->> 'delivery_id', s ->> 'reason'), ' ') from jsonb_array_elements(v_skipped) s),
      case
        when exists (select from private.repeatable(p_alert_id, null) m where m.reason = 'It is on its way.')
          then 'What is to be sent of this alert is on its way.'
        when v_alert.status = 'suppressed'
          then 'The alert was suppressed by a snooze or by quiet hours, so that no delivery was made.'
        else 'No delivery of this alert failed or was cancelled. Name those to send again in "delivery_ids".'
      end) using errcode = 'WPNTS';
  end if;
  perform private.record_audit('alert.redelivered', 'alert', p_alert_id::text,
    v_alert.owner_id || private.admins_of(array[v_alert.org_id]), jsonb_build_object('deliveries', cardinality(v_sent)));
  return jsonb_build_object('delivery_ids', v_sent, 'skipped', v_skipped);
end
$function$;

CREATE OR REPLACE FUNCTION private.repeatable(p_alert_id uuid, p_channel_id uuid)
 RETURNS TABLE(id uuid, carried uuid[], status text, is_repeated boolean, created_at timestamp with time zone, ended_at timestamp with time zone, reason text)
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  with messages as (
    select coalesce(d.digest_id, d.id) as id, array_agg(d.id) as carried
    from watchpost.deliveries d
    where (d.alert_id = p_alert_id or d.channel_id = p_channel_id) and d.type <> 'channel.test' and not private.is_drill(d)
    group by coalesce(d.digest_id, d.id)
  )
  select d.id, m.carried || d.id, d.status,
    exists (select from watchpost.deliveries again where again.redelivery_of = d.id),
    d.created_at, d.updated_at,
    case
      when d.status in ('queued', 'held', 'sending') or exists (
        select from watchpost.deliveries again
        where again.redelivery_of = d.id and again.status in ('queued', 'sending'))
        then 'It is on its way.'
      else private.refusal_of_delivery(d, c)
    end
  from messages m
  join watchpost.deliveries d on d.id = m.id
  join watchpost.channels c on c.id = d.channel_id
  where c.tenant_id = any(private.my_tenants())
$function$;

CREATE OR REPLACE FUNCTION private.settle_drill(p_id uuid, p_decision jsonb)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
  update watchpost.drills d
  set decided_at = now(), decision = p_decision, escalation = z.escalation,
      channels = coalesce((
        select jsonb_agg(jsonb_build_object('channel_id', c.channel_id, 'reason', c.reason))
        from private.drill_channels(z) c), '[]')
  from watchpost.zones z
  where d.id = p_id and d.decided_at is null and z.id = d.zone_id
$function$;

grant execute on function private.settle_drill(uuid,jsonb) to watchpost_jobs;

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
  insert into watchpost.alert_steps (alert_id, round, step, after_minutes, began_at, due_at)
  select a.id, private.round_of(a), s.nr, (s.value ->> 'after_minutes')::integer, now(),
    now() + (s.value ->> 'after_minutes')::integer * interval '1 minute'
  from watchpost.alerts a
  join watchpost.zones z on z.id = a.zone_id and z.deleted_at is null
  cross join lateral jsonb_array_elements(z.escalation) with ordinality as s (value, nr)
  where a.id = any(p_alert_ids) and a.status not in ('held', 'suppressed') and private.calm_of(a) is null
    and (a.drill_id is null or (select d.escalates from watchpost.drills d where d.id = a.drill_id))
  on conflict do nothing;
end
$function$;

CREATE OR REPLACE FUNCTION private.unwell_reasons()
 RETURNS text[]
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce(array_agg(r.reason order by r.nr, r.reason), '{}')
  from (
    select 1 as nr, format(
      case j.name when 'deliver' then 'The oldest due delivery has waited for %2$s minutes.'
        else 'A job of the queue %1$s has waited for %2$s minutes.' end,
      j.name, floor(extract(epoch from pgboss.job_now() - min(j.start_after)) / 60)) as reason
    from pgboss.job j
    where j.name <> 'dead' and j.state < 'active' and j.start_after < pgboss.job_now() - interval '10 minutes'
    group by j.name
    union all
    select 2, format('A step of an escalation has been due for %s minutes.',
      floor(extract(epoch from now() - min(s.due_at)) / 60))
    from watchpost.alert_steps s
    where s.status = 'waiting' and s.due_at < now() - interval '10 minutes'
    having count(*) > 0
    union all
    select 3, format('None of the %s feeds that are switched on is well.', count(*))
    from watchpost.sources s
    where s.enabled
    having count(*) > 0 and bool_and(private.source_status(s) <> 'ok')
  ) r
$function$;

CREATE INDEX alerts_drill_id ON watchpost.alerts USING btree (drill_id) WHERE (drill_id IS NOT NULL);

CREATE INDEX drills_created_at ON watchpost.drills USING btree (created_at);

CREATE INDEX drills_created_by ON watchpost.drills USING btree (created_by) WHERE (created_by IS NOT NULL);

CREATE INDEX drills_zone_created ON watchpost.drills USING btree (zone_id, created_at);

CREATE TRIGGER alerts_tenant AFTER UPDATE ON watchpost.alerts FOR EACH ROW WHEN (((old.tenant_id IS DISTINCT FROM new.tenant_id) AND (old.drill_id IS NULL))) EXECUTE FUNCTION private.note_tenant();

reset check_function_bodies;
reset role;
