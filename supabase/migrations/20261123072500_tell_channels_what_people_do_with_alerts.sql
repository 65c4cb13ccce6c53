set role watchpost_owner;
set check_function_bodies = off;

alter table watchpost.deliveries
  add column act integer not null default 0,
  drop constraint deliveries_type_check,
  add constraint deliveries_type_check
    check (type ~ '^(alert\.(raised|revised|escalated|ended|retracted|acknowledged|resolved|reopened|digest)|zone\.(blind|sighted)|channel\.(failing|recovered|test|confirmation))$');
comment on column watchpost.deliveries.act is 'Of a message about what a person did with the alert: which one since the update of sequence; else 0.';
comment on column watchpost.channels.messages is 'Types of messages that it takes; null: all except alert.revised and what people do with alerts.';

drop index watchpost.deliveries_once;

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
      and (g.is_told and c.kind = 'pagerduty'
        or private.takes(c.messages, v_type) and (g.is_told or not private.takes(c.messages, 'alert.raised')))
    returning id, channel_id
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count from sent s;
end
$function$;

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
    on conflict (alert_id, channel_id, type, sequence, act)
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

CREATE OR REPLACE FUNCTION private.hurry_later(p_id uuid, p_alerts uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_channel uuid := (select d.channel_id from watchpost.deliveries d where d.id = p_id);
  v_ids text[] := array(
    select d.id::text from watchpost.deliveries d
    where d.alert_id = any(p_alerts) and d.channel_id = v_channel and d.status = 'queued' and d.digest_id is null
      and d.attempts = 0 and (d.sequence, d.act) > (0, 0) and d.next_attempt_at is not null);
begin
  if v_ids = '{}' then
    return;
  end if;
  update pgboss.job
  set start_after = pgboss.job_now()
  where name = 'deliver' and state = 'created' and group_id = v_channel::text and data ->> 'delivery_id' = any(v_ids)
    and start_after > pgboss.job_now();
  perform pg_notify('watchpost_jobs', 'deliver');
end
$function$;

CREATE OR REPLACE FUNCTION private.remote_ref_for(d watchpost.deliveries)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select e.remote_ref
  from watchpost.deliveries e
  where d.type not in ('alert.raised', 'alert.digest') and e.alert_id = d.alert_id and e.channel_id = d.channel_id
    and e.id <> d.id and e.status = 'succeeded' and e.type <> 'alert.digest' and e.remote_ref is not null
  order by e.type = 'alert.raised' desc, case when e.type = 'alert.raised' then e.delivered_at end desc, e.sequence, e.act, e.created_at
  limit 1
$function$;

CREATE OR REPLACE FUNCTION private.repeat_delivery(p_id uuid)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_new record;
begin
  insert into watchpost.deliveries (alert_id, blindness_id, trouble_id, channel_id, type, sequence, act, redelivery_of, step)
  select alert_id, blindness_id, trouble_id, channel_id, type, sequence, act, id, step from watchpost.deliveries where id = p_id
  returning id, channel_id into v_new;
  insert into watchpost.deliveries (alert_id, channel_id, type, sequence, act, redelivery_of, digest_id)
  select alert_id, channel_id, type, sequence, act, id, v_new.id from watchpost.deliveries where digest_id = p_id;
  perform private.enqueue_delivery(v_new.id, v_new.channel_id);
  return v_new.id;
end
$function$;

CREATE OR REPLACE FUNCTION private.takes(p_messages text[], p_type text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select case
    when p_messages is null
      then p_type <> all('{alert.revised,alert.acknowledged,alert.resolved,alert.reopened}'::text[])
    else p_type = any(p_messages)
  end
$function$;

CREATE OR REPLACE FUNCTION private.tell_act()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  perform private.deliver_act(new.id, case
    when new.resolved = old.resolved then 'acknowledged'
    when new.resolved then 'resolved'
    else 'reopened'
  end);
  return null;
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
      on earlier.alert_id = mine.alert_id and earlier.channel_id = mine.channel_id
      and (earlier.sequence, earlier.act) < (mine.sequence, mine.act)
    join watchpost.deliveries carrier on carrier.id = coalesce(earlier.digest_id, earlier.id)
    where (mine.id = d.id and d.type <> 'alert.digest' or mine.digest_id = d.id)
      and earlier.status in ('queued', 'sending') and earlier.type <> 'alert.digest'
      and carrier.id <> d.id
      and (carrier.created_at, carrier.sequence, carrier.act, carrier.id) < (d.created_at, d.sequence, d.act, d.id));
end
$function$;

CREATE UNIQUE INDEX deliveries_once ON watchpost.deliveries USING btree (alert_id, channel_id, type, sequence, act) WHERE ((redelivery_of IS NULL) AND (type <> 'alert.digest'::text) AND (step IS NULL));

CREATE TRIGGER alerts_acts AFTER UPDATE OF seen_at, resolved ON watchpost.alerts FOR EACH ROW WHEN (((new.status = ANY (ARRAY['pending'::text, 'dispatched'::text, 'failed'::text])) AND (((new.seen_at IS NOT NULL) AND (old.seen_at IS NULL)) OR (new.resolved AND (NOT old.resolved)) OR (old.resolved AND (NOT new.resolved) AND (new.seen_at IS NOT NULL))))) EXECUTE FUNCTION private.tell_act();

reset check_function_bodies;
reset role;
