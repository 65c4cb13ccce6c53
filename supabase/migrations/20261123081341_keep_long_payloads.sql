set role watchpost_owner;
set check_function_bodies = off;

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
  v_payload text;
  v_ref text;
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
  set status = d.status, payload = coalesce(x.payload, d.payload), first_attempt_at = d.first_attempt_at, expires_at = d.expires_at,
      turn_at = d.turn_at, next_attempt_at = coalesce(v_wait, x.next_attempt_at), updated_at = now()
  where x.id = d.id
  returning x.payload into v_payload;
  -- Not d.payload beside a function of d: one that is stored out of line came out empty, and PostgreSQL refused the row.
  v_ref := private.remote_ref_for(d);
  return query select
    d.id, c.id, c.kind, d.type, d.attempts, c.failures, c.target_sealed, c.config_sealed, c.signing_secret_sealed,
    private.living_secrets(c.former_secrets_sealed), c.language, c.time_zone, c.host, h.failures, v_wait, v_why, v_refusal,
    v_is_late, d.last_error, v_payload, v_ref, v_is_urgent, v_now, d.first_attempt_at, d.expires_at,
    (select count(*) from watchpost.delivery_attempts t where t.delivery_id = d.id and t.status_code is distinct from 429);
end
$function$;

reset check_function_bodies;
reset role;
