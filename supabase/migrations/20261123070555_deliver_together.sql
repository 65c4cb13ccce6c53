set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.cancel_deliveries(p_ids uuid[], p_reason text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  if p_ids = '{}' then
    return;
  end if;
  update watchpost.deliveries
  set status = 'cancelled', last_error = p_reason, updated_at = now()
  where id = any(p_ids) and status in ('queued', 'held', 'sending');
  update watchpost.deliveries d
  set digest_id = null
  from watchpost.deliveries digest
  where d.id = any(p_ids) and d.status = 'cancelled' and digest.id = d.digest_id
    and digest.status = 'queued' and digest.payload is null;
  perform private.free_carried(array(
    select d.id from watchpost.deliveries d
    join watchpost.deliveries digest on digest.id = d.digest_id
    where d.digest_id = any(p_ids) and digest.status = 'cancelled' and d.status = 'queued'));
end
$function$;

CREATE OR REPLACE FUNCTION private.claim_deliveries(p_ids uuid[], p_kinds jsonb)
 RETURNS TABLE(id uuid, channel_id uuid, kind text, type text, attempts integer, failures integer, target_sealed text, config_sealed text, secret_sealed text, former_sealed jsonb, language text, time_zone text, host text, host_failures integer, wait_until timestamp with time zone, waits_for text, refusal text, is_late boolean, last_error text, payload text, remote_ref text, is_urgent boolean, claimed_at timestamp with time zone, first_attempt_at timestamp with time zone, expires_at timestamp with time zone, used bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_id uuid;
begin
  for v_id in
    select d.id from watchpost.deliveries d where d.id = any(p_ids) order by d.channel_id, d.id
  loop
    return query select * from private.claim_delivery(v_id, p_kinds);
  end loop;
end
$function$;

grant execute on function private.claim_deliveries(uuid[],jsonb) to watchpost_jobs;

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
    -- `offset 0`: looked up one by one, never all channels.
    cross join lateral (select * from watchpost.channels where id = goes.channel_id offset 0) c
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

CREATE OR REPLACE FUNCTION private.record_attempt(p_id uuid, p_attempt jsonb, p_status text, p_next_at timestamp with time zone, p_health jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_outcome text := p_attempt ->> 'outcome';
  v_error text := p_attempt ->> 'error';
  v_channel uuid;
begin
  insert into watchpost.delivery_attempts (
    delivery_id, attempt, outcome, status_code, duration_ms, error, response_excerpt, request_id)
  values (
    p_id, (p_attempt ->> 'attempt')::integer, v_outcome, (p_attempt ->> 'status_code')::smallint,
    (p_attempt ->> 'duration_ms')::integer, v_error, p_attempt ->> 'response_excerpt', p_attempt ->> 'request_id')
  on conflict (delivery_id, attempt) do nothing;
  if not found then
    return;
  end if;
  select d.channel_id into v_channel from watchpost.deliveries d where d.id = p_id;
  perform private.settle_delivery(p_id, p_status, v_error, p_next_at, p_attempt ->> 'remote_ref');
  if p_next_at is not null then
    perform private.enqueue_delivery(p_id, v_channel, p_next_at);
  end if;
  if p_health -> 'moved' is not null then
    update watchpost.channels
    set target_sealed = p_health #>> '{moved,target_sealed}', target_masked = p_health #>> '{moved,target_masked}'
    where id = v_channel and target_sealed = p_health #>> '{moved,from}';
  end if;
  perform private.record_health(v_channel, v_outcome, v_error, p_health);
end
$function$;

CREATE OR REPLACE FUNCTION private.settle_deliveries(p_settlements jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  s record;
begin
  for s in
    select x.*
    from jsonb_to_recordset(p_settlements) as x (
      id uuid, channel_id uuid, status text, error text, next_at timestamptz, attempt jsonb, health jsonb)
    join watchpost.deliveries d on d.id = x.id
    order by d.alert_id, d.id
  loop
    if s.attempt is not null then
      perform private.record_attempt(s.id, s.attempt, s.status, s.next_at, s.health);
    elsif s.status is not null then
      perform private.settle_delivery(s.id, s.status, s.error, null, p_is_attempt => false);
    else
      perform private.enqueue_delivery(s.id, s.channel_id, s.next_at);
    end if;
  end loop;
end
$function$;

grant execute on function private.settle_deliveries(jsonb) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.settle_delivery(p_id uuid, p_status text, p_error text, p_next_attempt_at timestamp with time zone, p_remote_ref text DEFAULT NULL::text, p_is_attempt boolean DEFAULT true)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_attempted boolean := p_status <> 'cancelled' and p_is_attempt;
  v_alerts uuid[];
begin
  with settled as (
    update watchpost.deliveries d
    set status = p_status,
        attempts = d.attempts + v_attempted::integer,
        last_error = p_error,
        next_attempt_at = p_next_attempt_at,
        delivered_at = case when p_status = 'succeeded' then now() end,
        remote_ref = case when d.id = p_id then p_remote_ref end,
        turn_at = null,
        updated_at = now()
    where d.id = p_id or d.digest_id = p_id
    returning d.alert_id
  )
  select array_agg(distinct s.alert_id) into v_alerts from settled s;

  if p_status = 'succeeded' then
    update watchpost.alerts a
    set status = case when a.status in ('pending', 'failed', 'suppressed') then 'dispatched' else a.status end,
        dispatched_at = coalesce(a.dispatched_at, now()),
        updated_at = now()
    where a.id = any(v_alerts);
  elsif p_status <> 'queued' then
    perform private.reroute_alerts(v_alerts);
    update watchpost.alerts a
    set status = 'failed', updated_at = now()
    where a.id = any(v_alerts)
      and a.status = 'pending'
      and not exists (
        select from watchpost.deliveries d
        where d.alert_id = a.id and d.status in ('queued', 'held', 'sending', 'succeeded'));
  end if;
  if p_status <> 'queued' then
    perform private.hurry_later(p_id, v_alerts);
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION private.wait_for_earlier(d watchpost.deliveries)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  if d.type <> 'alert.digest' and d.sequence = 0 then
    return null;
  end if;
  return (
    select max(greatest(case carrier.status when 'queued' then carrier.next_attempt_at end, pgboss.job_now() + interval '5 seconds'))
    from watchpost.deliveries mine
    join watchpost.deliveries earlier
      on earlier.alert_id = mine.alert_id and earlier.channel_id = mine.channel_id and earlier.sequence < mine.sequence
    join watchpost.deliveries carrier on carrier.id = coalesce(earlier.digest_id, earlier.id)
    where (mine.id = d.id and d.type <> 'alert.digest' or mine.digest_id = d.id)
      and earlier.status in ('queued', 'sending') and earlier.type <> 'alert.digest'
      and carrier.id <> d.id
      and (carrier.created_at, carrier.sequence, carrier.id) < (d.created_at, d.sequence, d.id));
end
$function$;

reset check_function_bodies;
reset role;
