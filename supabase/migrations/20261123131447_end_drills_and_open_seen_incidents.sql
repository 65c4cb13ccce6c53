set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.deliver_act(p_alert_id uuid, p_kind text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_type text := 'alert.' || p_kind;
  v_count bigint;
begin
  with given as (
    select d.channel_id, true as is_told
    from watchpost.deliveries d
    where d.alert_id = p_alert_id and d.status <> 'cancelled'
    union
    select goes.channel_id, false
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id
    cross join lateral private.zone_channels(z.owner_id, z.org_id, z.channel_ids) goes
    where a.id = p_alert_id
  ),
  sent as (
    insert into watchpost.deliveries (alert_id, channel_id, type, sequence, act)
    select a.id, c.id, v_type, jsonb_array_length(a.updates), 1 + coalesce((
      select max(d.act) from watchpost.deliveries d
      where d.alert_id = a.id and d.sequence = jsonb_array_length(a.updates)), 0)
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id and z.deleted_at is null
    cross join (select channel_id, bool_or(is_told) as is_told from given group by channel_id) g
    join watchpost.channels c on c.id = g.channel_id and private.is_usable(c, z.owner_id)
    where a.id = p_alert_id
      and (g.is_told and (c.kind = 'pagerduty' or c.kind = 'pushover' and p_kind <> 'reopened' and exists (
          select from watchpost.deliveries d
          where d.alert_id = a.id and d.channel_id = c.id and starts_with(d.remote_ref, 'receipt:')))
        or private.takes(c.messages, v_type) and (g.is_told or not private.takes(c.messages, 'alert.raised'))
          and (a.drill_id is null or p_kind <> 'resolved'))
    returning id, channel_id
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count from sent s;
end
$function$;

CREATE OR REPLACE FUNCTION private.deliver_seen(p_alert_ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  perform private.deliver_act(a.id, 'acknowledged')
  from watchpost.alerts a
  where a.id = any(p_alert_ids) and a.status = 'pending' and a.seen_at is not null and not a.resolved;
end
$function$;

CREATE OR REPLACE FUNCTION private.end_drill(p_id uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_alert uuid := (select a.id from watchpost.alerts a where a.drill_id = p_id);
  v_until timestamptz := (
    select max(case s.status when 'waiting' then greatest(s.due_at, now()) when 'ran' then s.settled_at end) + interval '15 minutes'
    from watchpost.alert_steps s
    where s.alert_id = v_alert);
begin
  if v_until > now() then
    perform private.enqueue(
      'drill', gen_random_uuid(), jsonb_build_object('drill_id', p_id, 'ends', 'true'), v_until);
    return false;
  end if;
  perform private.deliver_act(v_alert, 'resolved');
  return true;
end
$function$;

grant execute on function private.end_drill(uuid) to watchpost_jobs;

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
  v_released uuid[];
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
  v_released := array(select a.id from watchpost.alerts a where a.id = any(v_alerts) and a.status = 'held');
  v_sent := array(
    select id from unnest(v_released) as released (id)
    union
    select d.alert_id from watchpost.deliveries d where d.id = any(v_held) and d.type = 'alert.escalated');
  perform private.release_deliveries(v_held);
  update watchpost.alerts a
  set status = case
        when exists (select from watchpost.deliveries d where d.alert_id = a.id and d.status <> 'cancelled')
          then 'pending' else 'recorded' end,
      updated_at = now()
  where a.id = any(v_released);
  perform private.deliver_seen(v_released);
  perform private.start_steps(v_sent);
  return (select count(distinct id) from unnest(v_alerts) as released (id));
end
$function$;

CREATE OR REPLACE FUNCTION private.send_recorded(p_alert_id uuid)
 RETURNS uuid[]
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[];
begin
  update watchpost.alerts a
  set status = 'pending', held_until = null, updated_at = now()
  from watchpost.zones z
  join watchpost.accounts p on p.user_id = z.owner_id
  where a.id = p_alert_id and z.id = a.zone_id and z.deleted_at is null and p.plan <> 'free'
    and not private.is_banned(p.banned_until);
  perform private.deliver_alerts(array[p_alert_id]);
  perform private.deliver_seen(array[p_alert_id]);
  v_ids := array(select id from watchpost.deliveries where alert_id = p_alert_id and status = 'queued');
  if v_ids = '{}' then
    raise exception 'The zone of this alert was deleted or paused, or has no channel that is switched on. GET /zones/:id has its channel_ids.'
      using errcode = 'WPNTS';
  end if;
  return v_ids;
end
$function$;

CREATE OR REPLACE FUNCTION private.settle_drill(p_id uuid, p_decision jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  update watchpost.drills d
  set decided_at = now(), decision = p_decision, escalation = z.escalation,
      channels = coalesce((
        select jsonb_agg(jsonb_build_object('channel_id', c.channel_id, 'reason', c.reason))
        from private.drill_channels(z) c), '[]')
  from watchpost.zones z
  where d.id = p_id and d.decided_at is null and z.id = d.zone_id;
  if found and (p_decision ->> 'is_sent')::boolean then
    perform private.enqueue('drill', gen_random_uuid(), jsonb_build_object('drill_id', p_id, 'ends', 'true'),
      pgboss.job_now() + interval '15 minutes');
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION private.split_digest(p_id uuid, p_parts jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_part record;
  v_digest watchpost.deliveries;
begin
  for v_part in
    select x.nr, array(select jsonb_array_elements_text(x.part -> 'alert_ids')::uuid) as alert_ids, x.part ->> 'payload' as payload
    from jsonb_array_elements(p_parts) with ordinality as x (part, nr)
    order by x.nr
  loop
    if v_part.nr = 1 then
      update watchpost.deliveries
      set alert_id = v_part.alert_ids[1], payload = v_part.payload, updated_at = now()
      where id = p_id and status = 'sending' and payload::jsonb -> 'parts' is null
      returning * into v_digest;
      if not found then
        return false;
      end if;
      continue;
    end if;
    -- As old as the digest: what waits for that waits for each of them.
    insert into watchpost.deliveries (alert_id, channel_id, type, payload, redelivery_of, created_at)
    values (
      v_part.alert_ids[1], v_digest.channel_id, v_digest.type, v_part.payload, v_digest.redelivery_of, v_digest.created_at)
    returning * into v_digest;
    update watchpost.deliveries
    set digest_id = v_digest.id, updated_at = now()
    where digest_id = p_id and alert_id = any(v_part.alert_ids);
    perform private.enqueue_delivery(v_digest.id, v_digest.channel_id);
  end loop;
  return true;
end
$function$;

reset check_function_bodies;
reset role;
