set role watchpost_owner;
set check_function_bodies = off;

drop function private.enqueue_deliveries(uuid[]);

drop function private.is_emergency(watchpost.deliveries,watchpost.alerts,watchpost.zones);

CREATE OR REPLACE FUNCTION private.claim_deliveries(p_ids uuid[], p_kinds jsonb)
 RETURNS TABLE(id uuid, channel_id uuid, kind text, type text, attempts integer, failures integer, target_sealed text, config_sealed text, secret_sealed text, former_sealed jsonb, language text, time_zone text, host text, host_failures integer, wait_until timestamp with time zone, waits_for text, refusal text, is_late boolean, last_error text, payload text, remote_ref text, is_urgent boolean, claimed_at timestamp with time zone, first_attempt_at timestamp with time zone, expires_at timestamp with time zone, used bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER ROWS 20
 SET search_path TO ''
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
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
  -- processes do not wait for each other. `offset 0`: looked up by id, never through an index of all that are open.
  v_ids := array(
    select x.id
    from unnest(p_ids) as given (id)
    cross join lateral (select y.id, y.channel_id from watchpost.deliveries y where y.id = given.id offset 0) x
    order by x.channel_id, x.id);
  v_ids := array(
    select x.id
    from unnest(v_ids) as given (id)
    cross join lateral (select * from watchpost.deliveries y where y.id = given.id offset 0 for update) x
    where x.status in ('queued', 'sending') and x.digest_id is null and x.type <> 'channel.test');
  for due in
    select x.id, x.channel_id, x.turn_at, x.type = 'alert.digest' as is_digest, x.payload is null as is_new,
      (x.sequence, x.act) <> (0, 0) or x.step is not null as is_update, c.paused_until, h.paused_until as host_paused_until,
      how ->> 'schedule' = 'message' as is_for_people, how ->> 'bundles' is distinct from 'false' as may_bundle,
      (how ->> 'messages')::integer as messages, (how ->> 'per_seconds')::double precision * interval '1 second' as period,
      private.is_emergency(x.type, a.severity, a.drill_id, z.emergency_severity) as is_urgent,
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
      -- False for a channel that was never paused: null would still look at the others.
      if coalesce(due.paused_until > v_now, false) and private.has_probes(due.id, due.channel_id, v_now, v_wait) then
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
        v_turn := private.next_turn(
          due.channel_id, due.messages, due.period, due.is_urgent,
          case when due.may_bundle
            then least(due.expires_at, case when due.is_for_people then v_now + interval '2 minutes' end)
            else 'infinity' end);
        -- People are better served by one digest now than by a queue of single messages later.
        if v_turn is null and private.bundle_delivery(due.id) then
          v_has_bundled := true;
          continue;
        end if;
        v_turn := coalesce(
          v_turn, private.next_turn(due.channel_id, due.messages, due.period, due.is_urgent, 'infinity'));
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
  taken as (
    update watchpost.deliveries x
    set status = case when t.is_sent then 'sending' else x.status end,
        payload = coalesce(x.payload, case when t.is_sent then (
          select n.notification::text from private.notification_of(x) n) end),
        first_attempt_at = coalesce(x.first_attempt_at, v_now),
        expires_at = t.expires_at, turn_at = t.turn_at, next_attempt_at = coalesce(t.wait_until, x.next_attempt_at),
        updated_at = now()
    from decided t
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

CREATE OR REPLACE FUNCTION private.deliver_alerts(p_alert_ids uuid[], p_are_new boolean DEFAULT false)
 RETURNS uuid[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_told uuid[];
  v_older uuid[];
  v_ids uuid[];
  v_alert_ids uuid[];
  v_channel_ids uuid[];
begin
  if not p_are_new then
    perform private.cancel_deliveries(array(
      select d.id
      from watchpost.deliveries d
      join watchpost.alerts a on a.id = d.alert_id
      join watchpost.channels c on c.id = d.channel_id
      where d.alert_id = any(p_alert_ids) and d.status = 'held' and d.type = 'alert.raised' and a.status = 'pending'
        and not private.takes(c.messages, 'alert.raised')), 'The channel takes no alert.raised.');
  end if;
  with given as (
    -- Zones of an account that are told alike, so that its channels are asked for once.
    select z.owner_id, z.org_id, z.channel_ids, array_agg(a.id) as ids, array_agg(a.status) as states,
      array_agg(a.id) filter (where a.changed_in <> pg_current_xact_id()) as older
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id and z.deleted_at is null
    where a.id = any(p_alert_ids) and a.status in ('pending', 'held')
    group by z.owner_id, z.org_id, z.channel_ids
  ),
  sent as (
    -- The default of the trace would be worked out for each row.
    insert into watchpost.deliveries as d (alert_id, channel_id, type, status, trace)
    select a.id, c.id, 'alert.raised', case a.status when 'held' then 'held' else 'queued' end, (select private.current_trace())
    from given g
    cross join lateral private.zone_channels(g.owner_id, g.org_id, g.channel_ids) goes
    -- `offset 0`: looked up one by one, never all channels.
    cross join lateral (select id, messages from watchpost.channels where id = goes.channel_id offset 0) c
    cross join lateral unnest(g.ids, g.states) as a (id, status)
    where private.takes(c.messages, 'alert.raised')
      or a.status = 'held' and private.takes(c.messages, 'alert.digest')
    on conflict (alert_id, channel_id, type, sequence, act)
      where redelivery_of is null and type <> 'alert.digest' and step is null
    do update set status = 'queued', due_at = now(), updated_at = now()
      where d.status = 'held' and excluded.status = 'queued'
    returning d.id, d.alert_id, d.channel_id, d.status
  )
  select array_agg(s.alert_id), (select array_agg(o.id) from given g cross join lateral unnest(g.older) as o (id)),
    array_agg(s.id) filter (where s.status = 'queued'), array_agg(s.alert_id) filter (where s.status = 'queued'),
    array_agg(s.channel_id) filter (where s.status = 'queued')
  into v_told, v_older, v_ids, v_alert_ids, v_channel_ids
  from sent s;
  -- What the triggers of private.note_delivery leave to this function. The other alerts changed in this transaction anyway.
  if v_older <> '{}' then
    perform from watchpost.alerts a where a.id = any(v_older) and a.id = any(v_told) order by a.id for no key update;
    update watchpost.alerts a
    set changed_in = pg_current_xact_id()
    where a.id = any(v_older) and a.id = any(v_told);
  end if;
  perform private.enqueue_deliveries(v_ids, v_alert_ids, v_channel_ids);
  return v_told;
end
$function$;

CREATE OR REPLACE FUNCTION private.enqueue_deliveries(p_ids uuid[], p_alert_ids uuid[], p_channel_ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_jobs record;
begin
  select array_agg(m.id order by m.nr, m.id) as ids,
    array_agg(jsonb_build_object('delivery_id', m.id) order by m.nr, m.id) as data,
    array_agg(m.channel_id::text order by m.nr, m.id) as groups,
    array_agg(m.priority order by m.nr, m.id) as priorities
  into v_jobs
  from (
    select made.id, made.channel_id,
      private.is_emergency('alert.raised', a.severity, a.drill_id, z.emergency_severity)::integer as priority,
      row_number() over (partition by made.channel_id order by a.severity desc, made.id) as nr
    from unnest(p_ids, p_alert_ids, p_channel_ids) as made (id, alert_id, channel_id)
    -- Offset 0: looked up one by one, never all of them.
    cross join lateral (
      select zone_id, severity, drill_id from watchpost.alerts where id = made.alert_id offset 0) a
    cross join lateral (select emergency_severity from watchpost.zones where id = a.zone_id offset 0) z) m;
  if v_jobs.ids is not null then
    perform private.enqueue_all('deliver', v_jobs.ids, v_jobs.data, v_jobs.groups, v_jobs.priorities);
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION private.is_emergency(p_type text, p_severity double precision, p_drill_id uuid, p_limit double precision)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce(
    p_drill_id is null and p_type in ('alert.raised', 'alert.escalated') and p_severity >= coalesce(p_limit, 80), false)
$function$;

CREATE OR REPLACE FUNCTION private.is_urgent(d watchpost.deliveries)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce((
    select private.is_emergency(d.type, a.severity, a.drill_id, z.emergency_severity)
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id
    where a.id = d.alert_id), false)
$function$;

reset check_function_bodies;
reset role;
