set role watchpost_owner;
set check_function_bodies = off;

drop function private.claim_deliveries(uuid[],jsonb);

drop function private.enqueue_delivery(uuid,uuid,timestamp with time zone);

CREATE OR REPLACE FUNCTION private.claim_delivery(p_id uuid, p_kinds jsonb)
 RETURNS TABLE(id uuid, channel_id uuid, kind text, type text, attempts integer, failures integer, target_sealed text, config_sealed text, secret_sealed text, former_sealed jsonb, language text, time_zone text, host text, host_failures integer, wait_until timestamp with time zone, waits_for text, refusal text, is_late boolean, last_error text, payload text, remote_ref text, is_urgent boolean, claimed_at timestamp with time zone, first_attempt_at timestamp with time zone, expires_at timestamp with time zone, used bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER ROWS 1
 SET search_path TO ''
AS $function$
declare
  v_now timestamptz := pgboss.job_now();
  d watchpost.deliveries;
  c watchpost.channels;
  h watchpost.hosts;
  v_how jsonb;
  v_period interval;
  v_turn timestamptz;
  v_wait timestamptz;
  v_why text;
  v_refusal text;
  v_is_late boolean;
  v_is_urgent boolean;
begin
  -- A lock of its own: what follows sees what whoever held it has committed.
  perform from watchpost.deliveries x
  where x.id = p_id and x.status in ('queued', 'sending') and x.digest_id is null and x.type <> 'channel.test'
  for update;
  if not found then
    return;
  end if;
  select * into d from watchpost.deliveries x where x.id = p_id;
  select * into c from watchpost.channels x where x.id = d.channel_id;
  select * into h from watchpost.hosts x where x.kind = c.kind and x.host = c.host;
  v_how := p_kinds -> c.kind;
  v_period := (v_how ->> 'per_seconds')::double precision * interval '1 second';
  v_is_urgent := private.is_urgent(d);
  if d.type = 'alert.digest' and d.payload is null then
    perform private.sort_out(d, c);
  end if;
  v_refusal := private.refusal_of_delivery(d, c);
  d.first_attempt_at := coalesce(d.first_attempt_at, v_now);
  d.expires_at := private.expiry_of(d, v_how ->> 'schedule', d.first_attempt_at);
  v_is_late := v_refusal is null and d.expires_at <= v_now;
  if v_refusal is null and not v_is_late then
    v_wait := greatest(
      case when c.paused_until > v_now then c.paused_until end,
      case when h.paused_until > v_now then h.paused_until end);
    v_why := case when v_wait is not null then 'pause' end;
    if c.paused_until > v_now and private.has_probes(d, v_now, v_wait) then
      v_wait := v_wait + interval '30 minutes';
    end if;
    if v_wait is null then
      v_wait := private.wait_for_earlier(d);
      v_why := case when v_wait is not null then 'earlier' end;
    end if;
    if v_wait is not null then
      d.turn_at := null;
    -- Whoever comes a little late has not lost their turn, or a busy service would hand out turns without end.
    elsif v_period is not null and (d.turn_at is null or d.turn_at < v_now - greatest(v_period, interval '1 minute')) then
      v_turn := private.next_turn(c.id, (v_how ->> 'messages')::integer, v_period, v_is_urgent, false);
      -- People are better served by one digest now than by a queue of single messages later.
      if v_turn > least(d.expires_at, case when v_how ->> 'schedule' = 'message' then v_now + interval '2 minutes' end)
        and (v_how ->> 'bundles') is distinct from 'false' and private.bundle_delivery(d, c) then
        return;
      end if;
      d.turn_at := private.next_turn(c.id, (v_how ->> 'messages')::integer, v_period, v_is_urgent, true);
    end if;
    if d.turn_at > v_now then
      v_wait := d.turn_at;
      v_why := 'turn';
    end if;
    v_wait := least(v_wait, case when v_wait is not null then d.expires_at end);
  end if;
  if v_refusal is null and not v_is_late and v_wait is null then
    d.status := 'sending';
    d.payload := coalesce(d.payload, private.notification_json(d)::text);
  end if;
  update watchpost.deliveries x
  set status = d.status, payload = d.payload, first_attempt_at = d.first_attempt_at, expires_at = d.expires_at,
      turn_at = d.turn_at, next_attempt_at = coalesce(v_wait, x.next_attempt_at), updated_at = now()
  where x.id = d.id;
  return query select
    d.id, c.id, c.kind, d.type, d.attempts, c.failures, c.target_sealed, c.config_sealed, c.signing_secret_sealed,
    private.living_secrets(c.former_secrets_sealed), c.language, c.time_zone, c.host, h.failures, v_wait, v_why, v_refusal,
    v_is_late, d.last_error, d.payload, private.remote_ref_for(d), v_is_urgent, v_now, d.first_attempt_at, d.expires_at,
    (select count(*) from watchpost.delivery_attempts t where t.delivery_id = d.id and t.status_code is distinct from 429);
end
$function$;

CREATE OR REPLACE FUNCTION private.end_pause()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  update pgboss.job
  set start_after = pgboss.job_now()
  where name = 'deliver' and state = 'created' and group_id = new.id::text and data ->> 'waits_for' = 'pause'
    and start_after > pgboss.job_now();
  if found then
    perform pg_notify('watchpost_jobs', 'deliver');
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION private.enqueue_delivery(p_delivery_id uuid, p_channel_id uuid, p_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_waits_for text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  perform private.enqueue(
    'deliver', case when p_at is null then p_delivery_id else gen_random_uuid() end,
    jsonb_strip_nulls(jsonb_build_object('delivery_id', p_delivery_id, 'waits_for', p_waits_for)), p_at, p_channel_id::text,
    p_priority => (select private.is_urgent(d)::integer from watchpost.deliveries d where d.id = p_delivery_id));
end
$function$;

grant execute on function private.enqueue_delivery(uuid,uuid,timestamp with time zone,text) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.has_probes(d watchpost.deliveries, p_now timestamp with time zone, p_until timestamp with time zone)
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
      where x.channel_id = d.channel_id and x.status = 'queued' and x.id <> d.id and x.digest_id is null
        and x.next_attempt_at > p_now and x.next_attempt_at <= p_until
      limit 5) probes);
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
      id uuid, channel_id uuid, status text, error text, next_at timestamptz, waits_for text, attempt jsonb, health jsonb)
    join watchpost.deliveries d on d.id = x.id
    order by d.alert_id, d.id
  loop
    if s.attempt is not null then
      perform private.record_attempt(s.id, s.attempt, s.status, s.next_at, s.health);
    elsif s.status is not null then
      perform private.settle_delivery(s.id, s.status, s.error, null, p_is_attempt => false);
    else
      perform private.enqueue_delivery(s.id, s.channel_id, s.next_at, s.waits_for);
    end if;
  end loop;
end
$function$;

CREATE INDEX deliveries_waiting ON watchpost.deliveries USING btree (channel_id, next_attempt_at) WHERE (status = 'queued'::text);

CREATE TRIGGER channels_end_pause AFTER UPDATE OF paused_until ON watchpost.channels FOR EACH ROW WHEN (((old.paused_until IS NOT NULL) AND (new.paused_until IS NULL))) EXECUTE FUNCTION private.end_pause();

reset check_function_bodies;
reset role;
