set role watchpost_owner;
set check_function_bodies = off;

drop function private.alerts_json(watchpost.deliveries);

drop function private.bundle_delivery(watchpost.deliveries,watchpost.channels);

drop function private.has_probes(watchpost.deliveries,timestamp with time zone,timestamp with time zone);

drop function private.hurry_later(uuid,uuid[]);

drop function private.notification_json(watchpost.deliveries);

drop function private.record_health(uuid,text,text,jsonb);

drop function private.sort_out(watchpost.deliveries,watchpost.channels);

CREATE OR REPLACE FUNCTION private.alert_in_json(a watchpost.alerts, p_channel_id uuid)
 RETURNS TABLE(alert jsonb)
 LANGUAGE sql
 STABLE
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
    'channel', sent.first_channel,
    'deliveries', coalesce(sent.deliveries, '[]'),
    'updates', case when a.updates = '[]' then a.updates else (
      select jsonb_agg('{"changes": {}}'::jsonb || u.value order by u.nr)
      from jsonb_array_elements(a.updates) with ordinality as u (value, nr)) end,
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
  cross join lateral (
    select
      (array_agg(coalesce(c.label, c.kind) order by d.delivered_at, d.id) filter (where d.status = 'succeeded'))[1] as first_channel,
      jsonb_agg(jsonb_build_object(
        'id', d.id,
        'channel_id', d.channel_id,
        'channel', coalesce(c.label, c.kind),
        'kind', d.type,
        'status', d.status,
        'attempts', d.attempts,
        'last_error', d.last_error,
        'delivered_at', private.iso(d.delivered_at),
        'redelivery_of', d.redelivery_of,
        'step', d.step -> 'step') order by d.created_at, d.id) as deliveries
    from (select * from watchpost.deliveries where alert_id = a.id offset 0) d
    join watchpost.channels c on c.id = d.channel_id
    where p_channel_id is null or d.channel_id = p_channel_id) sent
$function$;

grant execute on function private.alert_in_json(watchpost.alerts,uuid) to authenticated, watchpost_jobs;

CREATE OR REPLACE FUNCTION private.alert_json(a watchpost.alerts, p_channel_id uuid DEFAULT NULL::uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select j.alert from private.alert_in_json(a, p_channel_id) j
$function$;

CREATE OR REPLACE FUNCTION private.bundle_delivery(p_id uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  d watchpost.deliveries;
  c watchpost.channels;
  v_ids uuid[];
  v_digest uuid;
  v_is_new boolean;
  v_is_drill boolean;
begin
  select * into d from watchpost.deliveries x where x.id = p_id;
  select * into c from watchpost.channels x where x.id = d.channel_id;
  v_is_drill := private.is_drill(d);
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

CREATE OR REPLACE FUNCTION private.claim_deliveries(p_ids uuid[], p_kinds jsonb)
 RETURNS TABLE(id uuid, channel_id uuid, kind text, type text, attempts integer, failures integer, target_sealed text, config_sealed text, secret_sealed text, former_sealed jsonb, language text, time_zone text, host text, host_failures integer, wait_until timestamp with time zone, waits_for text, refusal text, is_late boolean, last_error text, payload text, remote_ref text, is_urgent boolean, claimed_at timestamp with time zone, first_attempt_at timestamp with time zone, expires_at timestamp with time zone, used bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER ROWS 20
 SET search_path TO ''
AS $function$
declare
  v_now timestamptz := pgboss.job_now();
  v_ids uuid[];
  due record;
  d watchpost.deliveries;
  v_turn timestamptz;
  v_wait timestamptz;
  v_why text;
  v_has_bundled boolean := false;
  v_taken uuid[] := '{}';
  v_waits timestamptz[] := '{}';
  v_whys text[] := '{}';
  v_turns timestamptz[] := '{}';
  v_refusals text[] := '{}';
  v_expiries timestamptz[] := '{}';
  v_urgent boolean[] := '{}';
begin
  -- A lock of its own: what follows sees what whoever held it has committed. In the order of their channels, so that two
  -- processes do not wait for each other.
  v_ids := array(
    select x.id from watchpost.deliveries x
    where x.id = any(p_ids) and x.status in ('queued', 'sending') and x.digest_id is null and x.type <> 'channel.test'
    order by x.channel_id, x.id
    for update);
  for due in
    select x.id, x.channel_id, x.turn_at, x.type = 'alert.digest' as is_digest, x.payload is null as is_new,
      (x.sequence, x.act) <> (0, 0) or x.step is not null as is_update, c.paused_until, h.paused_until as host_paused_until,
      how ->> 'schedule' = 'message' as is_for_people, how ->> 'bundles' is distinct from 'false' as may_bundle,
      (how ->> 'messages')::integer as messages, (how ->> 'per_seconds')::double precision * interval '1 second' as period,
      private.is_emergency(x, a, z) as is_urgent,
      case when x.alert_id is null or x.blindness_id is not null or x.trouble_id is not null
        then private.refusal_of_delivery(x, c) else private.refusal_between(c, z, p) end as refusal,
      private.expiry_of(x, how ->> 'schedule', coalesce(x.first_attempt_at, v_now)) as expires_at
    from unnest(v_ids) with ordinality as given (id, nr)
    join watchpost.deliveries x on x.id = given.id
    join watchpost.channels c on c.id = x.channel_id
    cross join lateral (select p_kinds -> c.kind as how) kind
    left join watchpost.hosts h on h.kind = c.kind and h.host = c.host
    left join watchpost.alerts a on a.id = x.alert_id
    left join watchpost.zones z on z.id = a.zone_id
    left join watchpost.accounts p on p.user_id = z.owner_id
    order by given.nr
  loop
    v_turn := due.turn_at;
    v_wait := null;
    v_why := null;
    if v_has_bundled or due.is_digest or due.is_update then
      select * into d from watchpost.deliveries x where x.id = due.id;
      -- Of two messages to one channel the first may have been bundled with the second.
      if d.digest_id is not null then
        continue;
      end if;
      if due.is_digest and due.is_new then
        perform private.sort_out(d);
      end if;
    end if;
    if due.refusal is null and due.expires_at > v_now then
      v_wait := greatest(
        case when due.paused_until > v_now then due.paused_until end,
        case when due.host_paused_until > v_now then due.host_paused_until end);
      v_why := case when v_wait is not null then 'pause' end;
      if due.paused_until > v_now and private.has_probes(due.id, due.channel_id, v_now, v_wait) then
        v_wait := v_wait + interval '30 minutes';
      end if;
      if v_wait is null and (due.is_digest or due.is_update) then
        v_wait := private.wait_for_earlier(d);
        v_why := case when v_wait is not null then 'earlier' end;
      end if;
      if v_wait is not null then
        v_turn := null;
      -- Whoever comes a little late has not lost their turn, or a busy service would hand out turns without end.
      elsif due.period is not null and (v_turn is null or v_turn < v_now - greatest(due.period, interval '1 minute')) then
        -- People are better served by one digest now than by a queue of single messages later.
        if due.may_bundle and private.next_turn(due.channel_id, due.messages, due.period, due.is_urgent, false)
            > least(due.expires_at, case when due.is_for_people then v_now + interval '2 minutes' end)
          and private.bundle_delivery(due.id) then
          v_has_bundled := true;
          continue;
        end if;
        v_turn := private.next_turn(due.channel_id, due.messages, due.period, due.is_urgent, true);
      end if;
      if v_turn > v_now then
        v_wait := v_turn;
        v_why := 'turn';
      end if;
      v_wait := least(v_wait, case when v_wait is not null then due.expires_at end);
    end if;
    v_taken := v_taken || due.id;
    v_waits := v_waits || v_wait;
    v_whys := v_whys || v_why;
    v_turns := v_turns || v_turn;
    v_refusals := v_refusals || due.refusal;
    v_expiries := v_expiries || due.expires_at;
    v_urgent := v_urgent || due.is_urgent;
  end loop;
  return query
  with decided as (
    select t.*, t.refusal is null and t.expires_at <= v_now as is_late,
      t.refusal is null and t.expires_at > v_now and t.wait_until is null as is_sent
    from unnest(v_taken, v_waits, v_whys, v_turns, v_refusals, v_expiries, v_urgent)
      as t (id, wait_until, waits_for, turn_at, refusal, expires_at, is_urgent)
  ),
  worded as (
    select t.id, n.notification::text as words
    from decided t
    join watchpost.deliveries x on x.id = t.id
    cross join lateral private.notification_of(x) n
    where t.is_sent and x.payload is null
  ),
  taken as (
    update watchpost.deliveries x
    set status = case when t.is_sent then 'sending' else x.status end,
        payload = coalesce(x.payload, w.words), first_attempt_at = coalesce(x.first_attempt_at, v_now),
        expires_at = t.expires_at, turn_at = t.turn_at, next_attempt_at = coalesce(t.wait_until, x.next_attempt_at),
        updated_at = now()
    from decided t
    left join worded w on w.id = t.id
    where x.id = t.id
    returning x.id, x.channel_id, x.type, x.attempts, x.last_error, x.payload, x.first_attempt_at, x.expires_at,
      t.wait_until, t.waits_for, t.refusal, t.is_late, t.is_urgent
  )
  select
    t.id, t.channel_id, c.kind, t.type, t.attempts, c.failures, c.target_sealed, c.config_sealed, c.signing_secret_sealed,
    case c.former_secrets_sealed when '[]' then '[]' else private.living_secrets(c.former_secrets_sealed) end,
    c.language, c.time_zone, c.host, h.failures, t.wait_until, t.waits_for, t.refusal, t.is_late, t.last_error, t.payload,
    case when t.type not in ('alert.raised', 'alert.digest') then (
      select private.remote_ref_for(x) from watchpost.deliveries x where x.id = t.id) end,
    t.is_urgent, v_now, t.first_attempt_at, t.expires_at,
    case when t.attempts = 0 then 0 else (
      select count(*) from watchpost.delivery_attempts a where a.delivery_id = t.id and a.status_code is distinct from 429) end
  from taken t
  join watchpost.channels c on c.id = t.channel_id
  left join watchpost.hosts h on h.kind = c.kind and h.host = c.host;
end
$function$;

grant execute on function private.claim_deliveries(uuid[],jsonb) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.claim_delivery(p_id uuid, p_kinds jsonb)
 RETURNS TABLE(id uuid, channel_id uuid, kind text, type text, attempts integer, failures integer, target_sealed text, config_sealed text, secret_sealed text, former_sealed jsonb, language text, time_zone text, host text, host_failures integer, wait_until timestamp with time zone, waits_for text, refusal text, is_late boolean, last_error text, payload text, remote_ref text, is_urgent boolean, claimed_at timestamp with time zone, first_attempt_at timestamp with time zone, expires_at timestamp with time zone, used bigint)
 LANGUAGE sql
 SECURITY DEFINER ROWS 1
 SET search_path TO ''
AS $function$
  select * from private.claim_deliveries(array[p_id], p_kinds)
$function$;

CREATE OR REPLACE FUNCTION private.digest_json(d watchpost.deliveries, p_has_facts boolean)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
      'summary', private.digest_summary(d.id),
      'alerts', jsonb_agg(private.alert_json(held, d.channel_id) order by held.severity desc, held.raised_at, held.id))
    || case when p_has_facts then jsonb_build_object('facts', jsonb_object_agg(held.id, private.facts_json(held))) else '{}' end
  from private.alerts_carried(d) held
$function$;

CREATE OR REPLACE FUNCTION private.event_json(e watchpost.events)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object(
    'id', e.id, 'source', e.source, 'type', e.type, 'title', e.title, 'lat', e.lat, 'lon', e.lon,
    'ts', private.iso(e.ts), 'severity', e.severity, 'subject', e.subject, 'status', e.status, 'url', e.url,
    'magnitude', e.magnitude, 'depth_km', e.depth_km, 'ends_at', private.iso(e.ends_at))
$function$;

CREATE OR REPLACE FUNCTION private.expiry_of(d watchpost.deliveries, p_schedule text, p_first_at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(d.expires_at, case
    when p_schedule = 'webhook' then p_first_at + interval '48 hours'
    when d.type like 'alert.%' and d.type <> 'alert.digest' then d.due_at + interval '6 hours'
    else d.due_at + interval '24 hours'
  end)
$function$;

CREATE OR REPLACE FUNCTION private.facts_json(a watchpost.alerts)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select jsonb_build_object('checks', a.checks, 'news', a.news)
$function$;

CREATE OR REPLACE FUNCTION private.has_probes(p_id uuid, p_channel_id uuid, p_now timestamp with time zone, p_until timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return 5 <= (
    select count(*)
    from (
      select from watchpost.deliveries x
      where x.channel_id = p_channel_id and x.status = 'queued' and x.id <> p_id and x.digest_id is null
        and x.next_attempt_at > p_now and x.next_attempt_at <= p_until
      limit 5) probes);
end
$function$;

CREATE OR REPLACE FUNCTION private.hurry_later(p_alerts uuid[], p_channels uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_ids text[] := array(
    select d.id::text
    from unnest(p_alerts, p_channels) as s (alert_id, channel_id)
    join watchpost.deliveries d on d.alert_id = s.alert_id and d.channel_id = s.channel_id
    where d.status = 'queued' and d.digest_id is null
      and d.attempts = 0 and (d.sequence, d.act, private.step_number(d.step)) > (0, 0, 0) and d.next_attempt_at is not null);
begin
  if v_ids = '{}' then
    return;
  end if;
  update pgboss.job
  set start_after = pgboss.job_now()
  where name = 'deliver' and state = 'created' and group_id = any(p_channels::text[]) and data ->> 'delivery_id' = any(v_ids)
    and start_after > pgboss.job_now();
  perform pg_notify('watchpost_jobs', 'deliver');
end
$function$;

CREATE OR REPLACE FUNCTION private.is_emergency(d watchpost.deliveries, a watchpost.alerts, z watchpost.zones)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce(
    a.drill_id is null and d.type in ('alert.raised', 'alert.escalated') and a.severity >= coalesce(z.emergency_severity, 80),
    false)
$function$;

CREATE OR REPLACE FUNCTION private.is_urgent(d watchpost.deliveries)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce((
    select private.is_emergency(d, a, z)
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id
    where a.id = d.alert_id), false)
$function$;

CREATE OR REPLACE FUNCTION private.iso(t timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select pg_catalog.to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$function$;

CREATE OR REPLACE FUNCTION private.notification_of(d watchpost.deliveries)
 RETURNS TABLE(notification jsonb)
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object(
      'timestamp', case when d.type = 'alert.digest' then private.iso(d.created_at) else coalesce(a.current, a.event) ->> 'ts' end,
      'alert', told.alert,
      'zone', jsonb_build_object('id', a.zone_id, 'label', a.zone_name))
    || case
      when d.type = 'alert.digest' then private.digest_json(d, c.kind <> 'webhook')
      when c.kind = 'webhook' then '{}'
      else jsonb_build_object('facts', jsonb_build_object(a.id, private.facts_json(a)))
    end
    || case when d.step is null then '{}' else jsonb_build_object('unacknowledged', d.step) end
    || case when a.drill_id is null then '{}' else jsonb_build_object('drill', jsonb_build_object('id', a.drill_id)) end
  from watchpost.alerts a
  join watchpost.channels c on c.id = d.channel_id
  cross join lateral private.alert_in_json(a, d.channel_id) told
  where a.id = d.alert_id and d.trouble_id is null and d.blindness_id is null
  union all
  select private.trouble_json(d.trouble_id, d.type) where d.trouble_id is not null
  union all
  select private.blindness_json(d) where d.trouble_id is null and d.blindness_id is not null
$function$;

CREATE OR REPLACE FUNCTION private.record_attempt(p_id uuid, p_attempt jsonb, p_status text, p_next_at timestamp with time zone, p_health jsonb)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select private.settle_deliveries(jsonb_build_array(jsonb_build_object(
    'id', d.id, 'channel_id', d.channel_id, 'status', p_status, 'next_at', p_next_at, 'attempt', p_attempt, 'health', p_health)))
  from watchpost.deliveries d
  where d.id = p_id
$function$;

CREATE OR REPLACE FUNCTION private.record_failure(p_channel_id uuid, p_outcome text, p_error text, p_health jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_now timestamptz := pgboss.job_now();
  c watchpost.channels;
begin
  select * into c from watchpost.channels where id = p_channel_id;
  if (p_health ->> 'host_seconds')::double precision > 0 or (p_health ->> 'is_host_failure')::boolean then
    insert into watchpost.hosts as h (kind, host, failures, paused_until)
    select c.kind, c.host, (p_health ->> 'is_host_failure')::boolean::integer,
      v_now + (p_health ->> 'host_seconds')::double precision * interval '1 second'
    where c.host is not null
    on conflict (kind, host) do update
    set failures = h.failures + excluded.failures, paused_until = greatest(h.paused_until, excluded.paused_until),
        updated_at = now();
  end if;
  if p_outcome = 'disable_channel' then
    update watchpost.channels
    set enabled = false, status = 'disabled', failing_reason = null, failing_since = null,
        disabled_reason = coalesce(p_error, 'The receiver asked for it.')
    where id = c.id;
    return;
  end if;
  update watchpost.channels
  set failures = failures + 1, status = 'failing', failing_reason = p_error, failing_since = coalesce(failing_since, v_now),
      paused_until = greatest(
        paused_until, v_now + (p_health ->> 'channel_seconds')::double precision * interval '1 second')
  where id = c.id and status <> 'disabled';
end
$function$;

CREATE OR REPLACE FUNCTION private.record_health(p_settlements jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_well uuid[];
  v_failed record;
begin
  with given as (
    select x.channel_id, x.health
    from jsonb_to_recordset(p_settlements) as x (channel_id uuid, health jsonb)
    where x.health is not null
  )
  update watchpost.channels c
  set host = g.health ->> 'host',
      target_sealed = case when c.target_sealed = g.health #>> '{moved,from}'
        then g.health #>> '{moved,target_sealed}' else c.target_sealed end,
      target_masked = case when c.target_sealed = g.health #>> '{moved,from}'
        then g.health #>> '{moved,target_masked}' else c.target_masked end
  from given g
  where c.id = g.channel_id
    and (c.host is distinct from g.health ->> 'host' or c.target_sealed = g.health #>> '{moved,from}');

  select array_agg(x.channel_id) into v_well
  from jsonb_to_recordset(p_settlements) as x (channel_id uuid, attempt jsonb)
  where x.attempt ->> 'outcome' = 'ok';
  update watchpost.channels
  set failures = 0, status = 'ok', paused_until = null, failing_reason = null, failing_since = null
  where id = any(v_well) and failures > 0 and status <> 'disabled';
  delete from watchpost.hosts h
  where exists (select from watchpost.channels c where c.id = any(v_well) and c.kind = h.kind and c.host = h.host);

  for v_failed in
    select x.channel_id, x.attempt ->> 'outcome' as outcome, x.attempt ->> 'error' as error, x.health
    from jsonb_to_recordset(p_settlements) as x (channel_id uuid, attempt jsonb, health jsonb)
    where x.attempt ->> 'outcome' <> 'ok'
    order by x.channel_id
  loop
    perform private.record_failure(v_failed.channel_id, v_failed.outcome, v_failed.error, v_failed.health);
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION private.refusal_between(c watchpost.channels, z watchpost.zones, p watchpost.accounts)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select case
    when z.id is null then null
    when c.deleted_at is not null then 'The channel was deleted.'
    when not c.enabled then 'The channel is switched off.'
    when c.status = 'unconfirmed' then 'The address of the channel is not confirmed yet.'
    when z.deleted_at is not null then 'The zone was deleted.'
    when p.plan = 'free' then 'The account is below the Pro plan; its zones are paused.'
    when private.is_banned(p.banned_until) then 'The account is banned; its zones are paused.'
    when not private.is_usable(c, z.owner_id) then 'The owner of the zone no longer sees this channel.'
  end
$function$;

CREATE OR REPLACE FUNCTION private.refusal_of(c watchpost.channels, z watchpost.zones)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select private.refusal_between(c, z, p) from watchpost.accounts p where p.user_id = z.owner_id
$function$;

CREATE OR REPLACE FUNCTION private.settle_deliveries(p_settlements jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_new jsonb;
begin
  with given as (
    -- One that is deleted has nothing to settle.
    select distinct on (d.id) d.id, x.item
    from jsonb_array_elements(p_settlements) as x (item)
    join watchpost.deliveries d on d.id = (x.item ->> 'id')::uuid
  ),
  recorded as (
    insert into watchpost.delivery_attempts (
      delivery_id, attempt, outcome, status_code, duration_ms, error, response_excerpt, request_id)
    select g.id, t.attempt, t.outcome, t.status_code, t.duration_ms, t.error, t.response_excerpt, t.request_id
    from given g
    cross join lateral jsonb_to_record(g.item -> 'attempt') as t (
      attempt integer, outcome text, status_code smallint, duration_ms integer, error text, response_excerpt text,
      request_id text)
    where g.item ? 'attempt'
    on conflict (delivery_id, attempt) do nothing
    returning delivery_id
  )
  select jsonb_agg(g.item) into v_new
  from given g
  where not g.item ? 'attempt' or g.id in (select r.delivery_id from recorded r);

  perform private.settle_states(v_new);
  perform private.enqueue_delivery(x.id, x.channel_id, x.next_at, x.waits_for)
  from jsonb_to_recordset(v_new) as x (id uuid, channel_id uuid, next_at timestamptz, waits_for text)
  where x.next_at is not null;
  perform private.record_health(v_new);
end
$function$;

CREATE OR REPLACE FUNCTION private.settle_delivery(p_id uuid, p_status text, p_error text, p_next_attempt_at timestamp with time zone, p_remote_ref text DEFAULT NULL::text, p_is_attempt boolean DEFAULT true)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select private.settle_states(jsonb_build_array(jsonb_build_object(
    'id', p_id, 'status', p_status, 'error', p_error, 'next_at', p_next_attempt_at,
    'attempt', case when p_is_attempt then jsonb_build_object('remote_ref', p_remote_ref) end)))
$function$;

CREATE OR REPLACE FUNCTION private.settle_states(p_settlements jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_sent uuid[];
  v_given_up uuid[];
  v_alerts uuid[];
  v_channels uuid[];
begin
  with given as (
    select x.*, coalesce(x.error, x.attempt ->> 'error') as why, x.attempt ->> 'remote_ref' as remote_ref
    from jsonb_to_recordset(p_settlements) as x (id uuid, status text, error text, next_at timestamptz, attempt jsonb)
    where x.status is not null
  ),
  meant as (
    select g.id as delivery_id, g.* from given g
    union all
    select d.id, g.* from given g join watchpost.deliveries d on d.digest_id = g.id
  ),
  settled as (
    update watchpost.deliveries d
    set status = m.status,
        attempts = d.attempts + (m.status <> 'cancelled' and m.attempt is not null)::integer,
        last_error = m.why,
        next_attempt_at = m.next_at,
        delivered_at = case when m.status = 'succeeded' then now() end,
        remote_ref = case when d.id = m.id then m.remote_ref end,
        turn_at = null,
        updated_at = now()
    from meant m
    where d.id = m.delivery_id
    returning d.alert_id, d.channel_id, d.status
  )
  select array_agg(s.alert_id) filter (where s.status = 'succeeded'),
    array_agg(s.alert_id) filter (where s.status not in ('succeeded', 'queued')),
    array_agg(s.alert_id) filter (where s.status <> 'queued'), array_agg(s.channel_id) filter (where s.status <> 'queued')
  into v_sent, v_given_up, v_alerts, v_channels
  from settled s
  where s.alert_id is not null;

  -- In one order, so that two processes do not wait for each other.
  perform from watchpost.alerts a where a.id = any(v_alerts) order by a.id for no key update;
  update watchpost.alerts a
  set status = case when a.status in ('pending', 'failed', 'suppressed') then 'dispatched' else a.status end,
      dispatched_at = coalesce(a.dispatched_at, now()),
      updated_at = now()
  where a.id = any(v_sent);
  if v_given_up is not null then
    perform private.reroute_alerts(v_given_up);
    update watchpost.alerts a
    set status = 'failed', updated_at = now()
    where a.id = any(v_given_up)
      and a.status = 'pending'
      and not exists (
        select from watchpost.deliveries d
        where d.alert_id = a.id and d.status in ('queued', 'held', 'sending', 'succeeded'));
  end if;
  perform private.hurry_later(v_alerts, v_channels);
end
$function$;

CREATE OR REPLACE FUNCTION private.sort_out(d watchpost.deliveries)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  c watchpost.channels;
begin
  select * into c from watchpost.channels x where x.id = d.channel_id;
  if private.refusal_of_delivery(d, c) is not null then
    perform private.free_carried(array(
      select x.id from watchpost.deliveries x
      where x.digest_id = d.id and x.status = 'queued' and private.refusal_of_delivery(x, c) is null));
    return;
  end if;
  perform private.cancel_deliveries(array_agg(x.id), x.why)
  from (
    select carried.id, private.refusal_of_delivery(carried, c) as why
    from watchpost.deliveries carried
    where carried.digest_id = d.id and carried.status = 'queued') x
  where x.why is not null
  group by x.why;
end
$function$;

CREATE OR REPLACE FUNCTION private.stored_event(p_event jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select '{"subject": null, "status": "active", "magnitude": null, "depth_km": null, "ends_at": null}'::jsonb || p_event
$function$;

reset check_function_bodies;
reset role;
