set role watchpost_owner;
set check_function_bodies = off;

alter table watchpost.zones
  add column escalation jsonb check (jsonb_typeof(escalation) = 'array' and jsonb_array_length(escalation) between 1 and 5);
comment on column watchpost.zones.escalation is 'Steps that tell further channels when nobody acknowledges an alert: list of after_minutes, ascending, and channel_ids; null: none.';
grant insert (escalation), update (escalation) on watchpost.zones to authenticated;
grant select (escalation) on watchpost.zones to service_role;
alter table watchpost.deliveries add column step jsonb;
comment on column watchpost.deliveries.step is 'Of a message that went out because nobody had acknowledged the alert: which step of its escalation.';

create table watchpost.alert_steps (
  alert_id uuid not null references watchpost.alerts on delete cascade,
  round integer not null,
  step smallint not null check (step between 1 and 5),
  after_minutes integer not null check (after_minutes between 1 and 1440),
  began_at timestamptz not null,
  due_at timestamptz not null,
  status text not null default 'waiting' check (status in ('waiting', 'ran', 'stopped')),
  reason text,
  settled_at timestamptz,
  channels jsonb not null default '[]',
  primary key (alert_id, round, step),
  check ((status = 'waiting') = (settled_at is null)),
  check ((status = 'stopped') = (reason is not null))
);
comment on table watchpost.alert_steps is 'One row per step of the escalation of an alert, from when the alert was sent.';
comment on column watchpost.alert_steps.round is 'Number of the escalated update with which the steps began anew; 0 for the alert itself.';
comment on column watchpost.alert_steps.after_minutes is 'Names the step of the zone, whose channels are read when it is due.';
comment on column watchpost.alert_steps.began_at is 'When the alert, or the update of round, was sent.';
comment on column watchpost.alert_steps.due_at is 'Later than after_minutes where it has to wait for the end of quiet hours.';
comment on column watchpost.alert_steps.reason is 'Why it was stopped, in one word.';
comment on column watchpost.alert_steps.channels is 'Of one that was due: each channel, and whether it was told or why not.';
alter table watchpost.alert_steps enable row level security;
alter table watchpost.alert_steps force row level security;
create policy alert_steps_select on watchpost.alert_steps for select to authenticated
  using (exists (select from watchpost.alerts a where a.id = alert_id));
create policy alert_steps_jobs on watchpost.alert_steps for select to watchpost_jobs using (true);
grant select on watchpost.alert_steps to authenticated, watchpost_jobs;

drop function private.zone_reach(uuid,uuid,uuid[]);

drop index watchpost.deliveries_once;

CREATE OR REPLACE FUNCTION private.alert_json(a watchpost.alerts, p_channel_id uuid DEFAULT NULL::uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'id', a.id,
    'zone_id', a.zone_id,
    'zone_name', a.zone_name,
    'event_id', a.event_id,
    'event', private.stored_event(a.event),
    'current', now_is.event,
    'event_ids', private.alert_event_json(now_is.event, a.raised_at, null) || coalesce((
      select jsonb_agg(private.alert_event_json(private.current_event(m.event_id, m.event), m.added_at, m.link)
        order by m.added_at, m.event_id)
      from (select * from watchpost.alert_events where alert_id = a.id offset 0) m), '[]'),
    'attribution', private.attribution(a.source),
    'severity', a.severity,
    'reason', a.reason,
    'status', a.status,
    'raised_at', private.iso(a.raised_at),
    'held_until', private.iso(a.held_until),
    'dispatched_at', private.iso(a.dispatched_at),
    'channel', (
      select coalesce(c.label, c.kind)
      from (select * from watchpost.deliveries where alert_id = a.id offset 0) d
      join watchpost.channels c on c.id = d.channel_id
      where d.status = 'succeeded' and (p_channel_id is null or d.channel_id = p_channel_id)
      order by d.delivered_at, d.id
      limit 1),
    'deliveries', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', d.id,
        'channel_id', d.channel_id,
        'channel', coalesce(c.label, c.kind),
        'kind', d.type,
        'status', d.status,
        'attempts', d.attempts,
        'last_error', d.last_error,
        'delivered_at', private.iso(d.delivered_at),
        'redelivery_of', d.redelivery_of,
        'step', d.step -> 'step') order by d.created_at, d.id)
      from (select * from watchpost.deliveries where alert_id = a.id offset 0) d
      join watchpost.channels c on c.id = d.channel_id
      where p_channel_id is null or d.channel_id = p_channel_id), '[]'),
    'updates', (
      select coalesce(jsonb_agg('{"changes": {}}'::jsonb || u.value order by u.nr), '[]')
      from jsonb_array_elements(a.updates) with ordinality as u (value, nr)),
    'resolved', a.resolved,
    'resolved_at', private.iso(a.resolved_at),
    'resolved_by', a.resolved_by,
    'resolved_via', a.resolved_via,
    'seen_at', private.iso(a.seen_at),
    'seen_by', a.seen_by,
    'seen_via', a.seen_via,
    'seen_channel', (
      select coalesce(c.label, c.kind) from watchpost.channels c
      where c.id = a.seen_channel_id and (p_channel_id is null or c.id = p_channel_id)),
    'note', a.note,
    'updated_at', private.iso(a.updated_at))
  from (select private.current_event(a.event_id, coalesce(a.current, a.event)) as event offset 0) now_is
$function$;

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
  from watchpost.alerts a
  where a.id = d.alert_id
$function$;

CREATE OR REPLACE FUNCTION private.calm_of(a watchpost.alerts)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select case
    when a.resolved then 'resolved'
    when a.seen_at is not null then 'acknowledged'
    else (
      select nullif(last.kind, 'going on')
      from (
        select case when u.value ->> 'kind' in ('ended', 'retracted') then u.value ->> 'kind' else 'going on' end as kind
        from jsonb_array_elements(a.updates) with ordinality as u (value, nr)
        where u.value ->> 'kind' in ('ended', 'retracted', 'revised', 'escalated')
        order by u.nr desc
        limit 1) last)
  end
$function$;

CREATE OR REPLACE FUNCTION private.delay_step(p_alert_id uuid, p_round integer, p_step integer, p_until timestamp with time zone)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
  update watchpost.alert_steps set due_at = p_until
  where alert_id = p_alert_id and round = p_round and step = p_step and status = 'waiting'
$function$;

grant execute on function private.delay_step(uuid,integer,integer,timestamp with time zone) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.deliver_alerts(p_alert_ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_count bigint;
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
    join watchpost.channels c on c.id = goes.channel_id
    where a.id = any(p_alert_ids) and a.status in ('pending', 'held')
      and (private.takes(c.messages, 'alert.raised')
        or a.status = 'held' and private.takes(c.messages, 'alert.digest'))
    on conflict (alert_id, channel_id, type, sequence)
      where redelivery_of is null and type <> 'alert.digest' and step is null
    do update set status = 'queued', due_at = now(), updated_at = now()
      where d.status = 'held' and excluded.status = 'queued'
    returning d.id, d.channel_id, d.status
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count
  from sent s
  where s.status = 'queued';
end
$function$;

CREATE OR REPLACE FUNCTION private.deliver_step(p_alert_id uuid, p_channel_ids uuid[], p_step jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_count bigint;
begin
  with sent as (
    insert into watchpost.deliveries (alert_id, channel_id, type, sequence, step)
    select a.id, given.id, 'alert.raised', jsonb_array_length(a.updates), p_step
    from watchpost.alerts a
    cross join lateral unnest(p_channel_ids) as given (id)
    where a.id = p_alert_id
    returning id, channel_id
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count from sent s;
  update watchpost.alerts set status = 'pending', updated_at = now()
  where id = p_alert_id and status in ('recorded', 'failed') and v_count > 0;
end
$function$;

CREATE OR REPLACE FUNCTION private.due_steps(p_limit integer)
 RETURNS TABLE(alert_id uuid, round integer, step smallint, after_minutes integer, calm text, alert_status text, held_until timestamp with time zone, severity double precision, off text, snoozed_until timestamp with time zone, quiet_hours_start text, quiet_hours_end text, quiet_hours_tz text, quiet_windows jsonb, quiet_mode text, emergency_severity double precision, is_in_zone boolean)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[];
begin
  -- A lock of its own: what follows sees what whoever held it has committed.
  v_ids := array(
    select a.id
    from watchpost.alerts a
    join (
      select s.alert_id, min(s.due_at) as due_at
      from watchpost.alert_steps s
      where s.status = 'waiting' and s.due_at <= now()
      group by s.alert_id) due on due.alert_id = a.id
    order by due.due_at, a.id
    limit p_limit
    for no key update of a skip locked);
  return query
    select s.alert_id, s.round, s.step, s.after_minutes, private.calm_of(a), a.status, a.held_until, a.severity,
      case
        when z.deleted_at is not null then 'deleted'
        when p.plan = 'free' then 'paused_by_plan'
        when private.is_banned(p.banned_until) then 'owner_banned'
        when not z.enabled then 'disabled'
      end,
      z.snoozed_until, z.quiet_hours_start, z.quiet_hours_end, z.quiet_hours_tz, z.quiet_windows, z.quiet_mode,
      z.emergency_severity, coalesce(z.escalation @> jsonb_build_array(jsonb_build_object('after_minutes', s.after_minutes)), false)
    from watchpost.alert_steps s
    join watchpost.alerts a on a.id = s.alert_id
    join watchpost.zones z on z.id = a.zone_id
    join watchpost.accounts p on p.user_id = z.owner_id
    where s.alert_id = any(v_ids) and s.status = 'waiting' and s.due_at <= now()
    order by s.due_at, s.alert_id, s.round, s.step;
end
$function$;

grant execute on function private.due_steps(integer) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.forget_channels(p_ids uuid[])
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
  update watchpost.zones z
  set channel_ids = nullif(array(
    select kept.id from unnest(z.channel_ids) with ordinality as kept (id, nr)
    where kept.id <> all(p_ids)
    order by kept.nr), '{}')
  where z.channel_ids && p_ids;
  update watchpost.zones z
  set escalation = private.steps_without(z.escalation, p_ids)
  where z.escalation is not null and private.step_channels(z.escalation) && p_ids
$function$;

CREATE OR REPLACE FUNCTION private.release_held(p_zone_id uuid, p_early boolean DEFAULT false, p_burst_until timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_zone watchpost.zones;
  v_alerts uuid[];
  v_held uuid[];
  v_sent uuid[];
begin
  select * into v_zone from watchpost.zones where id = p_zone_id for share;
  if not found or v_zone.deleted_at is not null then
    return 0;
  end if;
  if p_early then
    update watchpost.alerts a
    set held_until = greatest(now(), case when private.is_bundled(a) then p_burst_until end), updated_at = now()
    where a.zone_id = p_zone_id and a.status = 'held'
      and a.held_until > greatest(now(), case when private.is_bundled(a) then p_burst_until end);
    perform private.end_hold(p_zone_id);
    perform private.enqueue(
      'release', gen_random_uuid(), jsonb_build_object('zone_id', p_zone_id), p_burst_until)
    where p_burst_until > now();
  end if;
  select array_agg(a.id) into v_alerts
  from (
    select id from watchpost.alerts
    where zone_id = p_zone_id and status = 'held' and held_until <= now()
    for update
  ) a;
  perform private.reroute_alerts(v_alerts);
  select array_agg(d.id), v_alerts || array_agg(d.alert_id) into v_held, v_alerts
  from watchpost.deliveries d
  join watchpost.alerts a on a.id = d.alert_id
  where a.zone_id = p_zone_id and d.status = 'held' and coalesce(d.next_attempt_at, a.held_until) <= now();
  if v_alerts is null then
    return 0;
  end if;
  if not v_zone.enabled or v_zone.snoozed_until > now() then
    perform private.cancel_deliveries(v_held, 'The zone was switched off or snoozed.');
    update watchpost.alerts set status = 'suppressed', updated_at = now()
    where id = any(v_alerts) and status = 'held';
    return 0;
  end if;
  v_sent := array(
    select a.id from watchpost.alerts a where a.id = any(v_alerts) and a.status = 'held'
    union
    select d.alert_id from watchpost.deliveries d where d.id = any(v_held) and d.type = 'alert.escalated');
  perform private.release_deliveries(v_held);
  update watchpost.alerts a
  set status = case
        when exists (select from watchpost.deliveries d where d.alert_id = a.id and d.status <> 'cancelled')
          then 'pending' else 'recorded' end,
      updated_at = now()
  where a.id = any(v_alerts) and a.status = 'held';
  perform private.start_steps(v_sent);
  return (select count(distinct id) from unnest(v_alerts) as released (id));
end
$function$;

CREATE OR REPLACE FUNCTION private.remove_member(p_member_id uuid)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_org uuid;
  v_user uuid;
  v_passed jsonb;
  v_zones uuid[];
begin
  select org_id, user_id into v_org, v_user from watchpost.members where id = p_member_id;
  select to_jsonb(s) into v_passed from private.count_shared(v_org, v_user) s;
  v_zones := array(
    select id from watchpost.zones where org_id = v_org and owner_id = v_user and deleted_at is null);
  delete from watchpost.members where id = p_member_id;
  if not found then
    return null;
  end if;
  return jsonb_build_object('passed_on', v_passed, 'zones', coalesce((
    select jsonb_agg(jsonb_build_object(
      'label', z.label, 'org_id', z.org_id, 'channel_ids', z.channel_ids,
      'reach', private.zone_reach(z.owner_id, z.org_id, z.channel_ids, z.escalation)) order by z.label, z.id)
    from watchpost.zones z
    where z.id = any(v_zones)), '[]'));
end
$function$;

CREATE OR REPLACE FUNCTION private.repeat_delivery(p_id uuid)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_new record;
begin
  insert into watchpost.deliveries (alert_id, blindness_id, trouble_id, channel_id, type, sequence, redelivery_of, step)
  select alert_id, blindness_id, trouble_id, channel_id, type, sequence, id, step from watchpost.deliveries where id = p_id
  returning id, channel_id into v_new;
  insert into watchpost.deliveries (alert_id, channel_id, type, sequence, redelivery_of, digest_id)
  select alert_id, channel_id, type, sequence, id, v_new.id from watchpost.deliveries where digest_id = p_id;
  perform private.enqueue_delivery(v_new.id, v_new.channel_id);
  return v_new.id;
end
$function$;

CREATE OR REPLACE FUNCTION private.round_of(a watchpost.alerts)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select coalesce(max(u.nr) filter (where u.value ->> 'kind' = 'escalated'), 0)::integer
  from jsonb_array_elements(a.updates) with ordinality as u (value, nr)
$function$;

CREATE OR REPLACE FUNCTION private.run_step(p_alert_id uuid, p_round integer, p_step integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_step watchpost.alert_steps;
  v_channels jsonb;
  v_told uuid[];
begin
  select * into v_step from watchpost.alert_steps
  where alert_id = p_alert_id and round = p_round and step = p_step and status = 'waiting'
  for update;
  if not found then
    return 0;
  end if;
  select coalesce(jsonb_agg(jsonb_build_object('channel_id', g.id, 'outcome', g.outcome) order by g.nr), '[]'),
    coalesce(array_agg(g.id order by g.nr) filter (where g.outcome = 'told'), '{}')
  into v_channels, v_told
  from (
    select given.id::uuid as id, min(given.nr) as nr, min(case
      when c.id is null or not private.is_usable(c, z.owner_id) then 'lost'
      when not c.enabled then 'disabled'
      when not private.takes(c.messages, 'alert.raised') then 'takes_no_alert_raised'
      else 'told'
    end) as outcome
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id
    cross join lateral jsonb_array_elements(z.escalation) s
    cross join lateral jsonb_array_elements_text(s -> 'channel_ids') with ordinality as given (id, nr)
    left join watchpost.channels c on c.id = given.id::uuid
    where a.id = p_alert_id and (s ->> 'after_minutes')::integer = v_step.after_minutes
    group by given.id
  ) g;
  update watchpost.alert_steps
  set status = case when v_told = '{}' then 'stopped' else 'ran' end,
      reason = case when v_told = '{}' then 'no_channel' end,
      settled_at = now(), channels = v_channels
  where alert_id = p_alert_id and round = p_round and step = p_step;
  perform private.deliver_step(p_alert_id, v_told, jsonb_build_object(
    'step', p_step, 'steps', (select count(*) from watchpost.alert_steps where alert_id = p_alert_id and round = p_round),
    'after_minutes', v_step.after_minutes, 'since', private.iso(v_step.began_at)));
  return cardinality(v_told);
end
$function$;

grant execute on function private.run_step(uuid,integer,integer) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.send_alerts(p_ids uuid[], p_run_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  perform private.deliver_alerts(p_ids);
  perform private.enqueue(
    'release', md5(concat_ws('|', h.zone_id, h.held_until, p_run_id))::uuid,
    jsonb_build_object('zone_id', h.zone_id), h.held_until)
  from (
    select distinct zone_id, held_until from watchpost.alerts
    where id = any(p_ids) and status = 'held' and held_until is not null
  ) h;

  update watchpost.alerts a
  set status = 'recorded', updated_at = now()
  where a.id = any(p_ids) and a.status in ('pending', 'held')
    and not exists (select from watchpost.deliveries d where d.alert_id = a.id and d.status <> 'cancelled');
  perform private.start_steps(p_ids);
end
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
  insert into watchpost.alert_steps (alert_id, round, step, after_minutes, began_at, due_at)
  select a.id, private.round_of(a), s.nr, (s.value ->> 'after_minutes')::integer, now(),
    now() + (s.value ->> 'after_minutes')::integer * interval '1 minute'
  from watchpost.alerts a
  join watchpost.zones z on z.id = a.zone_id and z.deleted_at is null
  cross join lateral jsonb_array_elements(z.escalation) with ordinality as s (value, nr)
  where a.id = any(p_alert_ids) and a.status not in ('held', 'suppressed') and private.calm_of(a) is null
  on conflict do nothing;
end
$function$;

grant execute on function private.start_steps(uuid[]) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.step_channels(p_escalation jsonb)
 RETURNS uuid[]
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select array(
    select c.id::uuid
    from jsonb_array_elements(p_escalation) s
    cross join lateral jsonb_array_elements_text(s -> 'channel_ids') as c (id))
$function$;

grant execute on function private.step_channels(jsonb) to authenticated, watchpost_jobs;

CREATE OR REPLACE FUNCTION private.steps_json(p_alert_id uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce(jsonb_agg(jsonb_build_object(
    'step', s.step, 'after_minutes', s.after_minutes, 'began_at', private.iso(s.began_at), 'due_at', private.iso(s.due_at),
    'status', s.status, 'reason', s.reason, 'settled_at', private.iso(s.settled_at), 'channels', s.channels)
    order by s.round, s.step), '[]')
  from watchpost.alert_steps s
  where s.alert_id = p_alert_id
$function$;

grant execute on function private.steps_json(uuid) to authenticated;

CREATE OR REPLACE FUNCTION private.steps_reach(p_owner_id uuid, p_escalation jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce(jsonb_agg(jsonb_build_object(
    'after_minutes', s.value -> 'after_minutes',
    'channels', (select count(*) from jsonb_array_elements(s.value -> 'channel_ids')),
    'lost', (
      select count(*) from jsonb_array_elements_text(s.value -> 'channel_ids') as given (id)
      where not exists (
        select from watchpost.channels c where c.id = given.id::uuid and private.is_usable(c, p_owner_id))),
    'is_reached', exists (
      select from jsonb_array_elements_text(s.value -> 'channel_ids') as given (id)
      join watchpost.channels c on c.id = given.id::uuid
      where private.is_usable(c, p_owner_id) and c.enabled and private.takes(c.messages, 'alert.raised'))) order by s.nr), '[]')
  from jsonb_array_elements(p_escalation) with ordinality as s (value, nr)
$function$;

CREATE OR REPLACE FUNCTION private.steps_without(p_escalation jsonb, p_ids uuid[])
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select jsonb_agg(jsonb_set(s.value, '{channel_ids}', coalesce((
    select jsonb_agg(c.id order by c.nr)
    from jsonb_array_elements_text(s.value -> 'channel_ids') with ordinality as c (id, nr)
    where c.id::uuid <> all(p_ids)), '[]')) order by s.nr)
  from jsonb_array_elements(p_escalation) with ordinality as s (value, nr)
$function$;

CREATE OR REPLACE FUNCTION private.stop_step(p_alert_id uuid, p_round integer, p_step integer, p_reason text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
  update watchpost.alert_steps set status = 'stopped', reason = p_reason, settled_at = now()
  where alert_id = p_alert_id and round = p_round and step = p_step and status = 'waiting'
$function$;

grant execute on function private.stop_step(uuid,integer,integer,text) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.stop_steps()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  update watchpost.alert_steps
  set status = 'stopped', reason = private.calm_of(new), settled_at = now()
  where alert_id = new.id and status = 'waiting' and private.calm_of(new) is not null;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION private.update_alerts(p_updates jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_update record;
  v_alert record;
begin
  for v_update in
    -- An update may name the event of its alert, because a later stay of the subject may have one of its own.
    select x.*, private.alert_of(x.zone_id, coalesce(x.alert_event_id, x.event_id), x.subject) as alert_id,
      private.told_event(x.event, x.event_revision) as told
    from jsonb_to_recordset(p_updates) as x (
      zone_id uuid, event_id text, alert_event_id text, subject text, event jsonb, kind text, at timestamptz,
      severity float8, reason text, send text, held_until timestamptz, event_revision integer, linked jsonb, news jsonb)
  loop
    update watchpost.alerts a
    set updates = private.noted_update(a, v_update.at, v_update.kind, v_update.told),
        current = case when private.is_own(a, v_update.event_id) then v_update.told else a.current end,
        severity = v_update.severity, reason = coalesce(v_update.reason, a.reason),
        news = case when v_update.reason is null then a.news else v_update.news end,
        event_revision = case when private.is_own(a, v_update.event_id) then v_update.event_revision else a.event_revision end,
        updated_at = now()
    where a.id = v_update.alert_id
    returning a.id, jsonb_array_length(a.updates) as sequence, private.is_own(a, v_update.event_id) as is_own into v_alert;
    continue when not found;
    if not v_alert.is_own then
      update watchpost.alert_events m
      set event = v_update.told, event_revision = v_update.event_revision
      where m.zone_id = v_update.zone_id and m.event_id = v_update.event_id;
    end if;
    if not v_alert.is_own and jsonb_typeof(v_update.linked) = 'object' then
      insert into watchpost.alert_events as m (
        zone_id, event_id, alert_id, source, event, event_revision, link, checks, reason, zone_version, added_at)
      select v_update.zone_id, v_update.event_id, v_alert.id, v_update.told ->> 'source', v_update.told,
        v_update.event_revision, l.link, l.checks, l.reason, l.zone_version, v_update.at
      from jsonb_to_record(v_update.linked) as l (link jsonb, checks jsonb, reason text, zone_version integer)
      on conflict (zone_id, event_id) do update
      set alert_id = excluded.alert_id, link = excluded.link, checks = excluded.checks, reason = excluded.reason,
          zone_version = excluded.zone_version, added_at = excluded.added_at;
    end if;
    if v_update.kind = 'escalated' then
      update watchpost.alerts
      set resolved = false, resolved_at = null, resolved_by = null, resolved_via = null,
          seen_at = null, seen_by = null, seen_via = null, seen_channel_id = null
      where id = v_alert.id and (resolved or seen_at is not null);
    end if;
    continue when v_update.send is null;
    perform private.deliver_update(
      v_alert.id, v_update.kind, v_alert.sequence, v_update.send = 'held', v_update.held_until);
    if v_update.send = 'now' and v_update.kind = 'escalated' then
      perform private.start_steps(array[v_alert.id]);
    end if;
    if v_update.send = 'held' then
      perform private.enqueue(
        'release', gen_random_uuid(), jsonb_build_object('zone_id', v_update.zone_id), v_update.held_until);
    end if;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION private.zone_after()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION private.zone_reach(p_owner_id uuid, p_org_id uuid, p_channel_ids uuid[], p_escalation jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select jsonb_build_object('lost', private.lost_channels(p_owner_id, p_channel_ids),
    'steps', private.steps_reach(p_owner_id, p_escalation), 'is_reached', case
    when p_channel_ids = '{}' then false
    -- As private.zone_channels chooses, but only until one is found.
    when exists (
      select from watchpost.channels c where c.id = any(p_channel_ids) and private.is_usable(c, p_owner_id))
      then exists (
        select from watchpost.channels c
        where c.id = any(p_channel_ids) and c.enabled and private.is_usable(c, p_owner_id))
    else exists (
        select from watchpost.channels c
        where c.owner_id = p_owner_id and c.enabled and c.deleted_at is null
          and (c.org_id is null or c.org_id is not distinct from p_org_id))
      or exists (
        select from watchpost.channels c where c.org_id = p_org_id and c.enabled and c.deleted_at is null)
  end)
  where p_owner_id = private.uid() or p_org_id = any(private.my_orgs()) or private.is_operator()
$function$;

grant execute on function private.zone_reach(uuid,uuid,uuid[],jsonb) to authenticated;

CREATE INDEX alert_steps_due ON watchpost.alert_steps USING btree (due_at) WHERE (status = 'waiting'::text);

CREATE UNIQUE INDEX deliveries_once ON watchpost.deliveries USING btree (alert_id, channel_id, type, sequence) WHERE ((redelivery_of IS NULL) AND (type <> 'alert.digest'::text) AND (step IS NULL));

CREATE INDEX zones_escalation ON watchpost.zones USING btree (id) WHERE (escalation IS NOT NULL);

CREATE TRIGGER alerts_steps AFTER UPDATE OF seen_at, resolved, updates ON watchpost.alerts FOR EACH ROW WHEN ((((new.seen_at IS NOT NULL) AND (old.seen_at IS NULL)) OR (new.resolved AND (NOT old.resolved)) OR (new.updates <> old.updates))) EXECUTE FUNCTION private.stop_steps();

reset check_function_bodies;
reset role;
