set role watchpost_owner;
set check_function_bodies = off;

alter table watchpost.channels add column host text;
comment on column watchpost.channels.host is 'Whose limits it shares, as its kind says; null: nothing was sent there yet.';
grant update (target_sealed, target_masked) on watchpost.channels to watchpost_jobs;

create table watchpost.hosts (
  kind text not null,
  host text not null,
  failures integer not null default 0,
  paused_until timestamptz,
  updated_at timestamptz not null default now(),
  primary key (kind, host)
);
comment on table watchpost.hosts is 'Hosts of receivers that do not answer, or that asked for a pause. Channels of one kind share it. Gone with the next success.';
comment on column watchpost.hosts.failures is 'How many requests in a row had no answer, whichever channel they were for.';
comment on column watchpost.hosts.paused_until is 'Until then nothing is sent there.';
alter table watchpost.hosts enable row level security;
alter table watchpost.hosts force row level security;

alter table watchpost.deliveries
  add column remote_ref text check (length(remote_ref) <= 500),
  add column due_at timestamptz,
  add column turn_at timestamptz,
  add column expires_at timestamptz;
-- Old deliveries were due when they were made. That is no change of theirs which anybody follows.
alter table watchpost.deliveries disable trigger user;
update watchpost.deliveries set due_at = created_at;
alter table watchpost.deliveries enable trigger user;
alter table watchpost.deliveries alter column due_at set default now(), alter column due_at set not null;

comment on column watchpost.deliveries.status is 'held waits for the end of quiet hours or of a burst; expired was not delivered before its deadline.';
comment on column watchpost.deliveries.next_attempt_at is 'When it is tried next; of a held one: when it is released; null: with its alert.';
comment on column watchpost.deliveries.remote_ref is 'What the receiver calls this message; with it, a later message about the alert changes this one.';
comment on column watchpost.deliveries.due_at is 'Since when it may be sent: when it was made, or when it was held no longer. Its deadline counts from then.';
comment on column watchpost.deliveries.turn_at is 'When the pace of its channel lets it out; null: it has taken no turn.';
comment on column watchpost.deliveries.expires_at is 'When it is given up, set when it is first taken up.';
comment on column watchpost.deliveries.digest_id is 'The digest that carries this message, which was held or waited for the pace of its channel: it shares the state of the digest.';

alter table watchpost.delivery_attempts add column request_id text check (length(request_id) <= 200);
comment on column watchpost.delivery_attempts.request_id is 'What the receiver calls the request, for whoever asks its support; null: it did not say.';

drop function private.claim_delivery(uuid);

drop function private.end_test(uuid,text,integer,integer,text,text);

drop function private.enqueue(text,uuid,jsonb,timestamp with time zone,text,text);

drop function private.enqueue_delivery(uuid,uuid);

drop function private.settle_delivery(uuid,text,text,timestamp with time zone);

CREATE OR REPLACE FUNCTION private.bundle_delivery(d watchpost.deliveries, c watchpost.channels)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[];
  v_digest uuid;
  v_is_new boolean;
begin
  if not private.takes(c.messages, 'alert.digest') or d.type not like 'alert.%' or d.type = 'alert.digest'
    or d.redelivery_of is not null or d.attempts > 0 then
    return false;
  end if;
  select x.id into v_digest
  from watchpost.deliveries x
  where x.channel_id = c.id and x.type = 'alert.digest' and x.status = 'queued' and x.turn_at is not null
    and x.payload is null and x.redelivery_of is null
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

CREATE OR REPLACE FUNCTION private.cancel_deliveries(p_ids uuid[], p_reason text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
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

CREATE OR REPLACE FUNCTION private.changed_fields(p_old jsonb, p_new jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select coalesce(jsonb_object_agg(n.key, case
    when n.key ~ '(sealed|hash|polygon|target|^note$)' then '"changed"'::jsonb
    else jsonb_build_array(p_old -> n.key, n.value) end), '{}')
  from jsonb_each(p_new) n
  where n.value is distinct from p_old -> n.key
    and n.key not in ('boxes', 'version', 'updated_at', 'tenant_id', 'failures', 'paused_until', 'failing_reason', 'failing_since',
      'changed_in', 'host')
$function$;

CREATE OR REPLACE FUNCTION private.channel_before()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if tg_op = 'UPDATE' then
    if new.org_id is distinct from old.org_id and private.uid() is not null then
      if private.uid() <> old.owner_id and private.org_exists(old.org_id) then
        raise exception 'only the owner can share or unshare a channel' using errcode = 'WP403';
      end if;
      if new.org_id is not null and not new.org_id = any(private.admin_orgs()) then
        raise exception 'only an owner or admin can put a channel into an organisation' using errcode = 'WP403';
      end if;
    end if;
    new.updated_at := now();
    if new.target_sealed <> old.target_sealed or new.config_sealed is distinct from old.config_sealed then
      new.host := null;
    end if;
    if old.deleted_at is null or new.deleted_at is not null then
      return new;
    end if;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('channels:' || new.owner_id, 0));
  perform private.require_quota(new.owner_id, 'channels', (
    select count(*) + 1 from watchpost.channels where owner_id = new.owner_id and deleted_at is null));
  if tg_op = 'INSERT' then
    perform private.require_deleted_quota(new.owner_id, 'channels', (
      select count(*) from watchpost.channels
      where owner_id = new.owner_id and deleted_at > now() - interval '30 days'));
  end if;
  return new;
end
$function$;

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
        and private.bundle_delivery(d, c) then
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

grant execute on function private.claim_delivery(uuid,jsonb) to watchpost_jobs;

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
      where redelivery_of is null and type <> 'alert.digest'
    do update set status = 'queued', due_at = now(), updated_at = now()
      where d.status = 'held' and excluded.status = 'queued'
    returning d.id, d.channel_id, d.status
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count
  from sent s
  where s.status = 'queued';
end
$function$;

CREATE OR REPLACE FUNCTION private.end_test(p_delivery_id uuid, p_outcome text, p_status_code integer, p_duration_ms integer, p_error text, p_excerpt text, p_request_id text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  perform from watchpost.deliveries d
  join watchpost.channels c on c.id = d.channel_id
  where d.id = p_delivery_id and d.status = 'sending' and d.type = 'channel.test'
    and private.can_write() and c.tenant_id = any(private.my_tenants())
  for update of d;
  if found then
    perform private.settle_delivery(
      p_delivery_id, case when p_outcome = 'ok' then 'succeeded' else 'failed' end, p_error, null);
    insert into watchpost.delivery_attempts (
      delivery_id, attempt, outcome, status_code, duration_ms, error, response_excerpt, request_id)
    values (p_delivery_id, 1, p_outcome, p_status_code, p_duration_ms, p_error, p_excerpt, p_request_id);
  end if;
end
$function$;

grant execute on function private.end_test(uuid,text,integer,integer,text,text,text) to authenticated;

CREATE OR REPLACE FUNCTION private.enqueue(p_queue text, p_id uuid, p_data jsonb, p_start_after timestamp with time zone DEFAULT NULL::timestamp with time zone, p_group text DEFAULT NULL::text, p_singleton text DEFAULT NULL::text, p_priority integer DEFAULT 0)
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
  select p_id, q.name, p_data, v_start, pgboss.job_now(), p_singleton, p_group, q.expire_seconds, q.deletion_seconds,
    v_start + q.retention_seconds * interval '1 second', q.retry_limit, q.retry_delay, q.retry_backoff,
    q.retry_delay_max, q.policy, q.dead_letter, q.heartbeat_seconds, p_priority
  from pgboss.queue q
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

grant execute on function private.enqueue(text,uuid,jsonb,timestamp with time zone,text,text,integer) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.enqueue_delivery(p_delivery_id uuid, p_channel_id uuid, p_at timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  perform private.enqueue(
    'deliver', case when p_at is null then p_delivery_id else gen_random_uuid() end,
    jsonb_build_object('delivery_id', p_delivery_id), p_at, p_channel_id::text,
    p_priority => (select private.is_urgent(d)::integer from watchpost.deliveries d where d.id = p_delivery_id));
end
$function$;

grant execute on function private.enqueue_delivery(uuid,uuid,timestamp with time zone) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.expiry_of(d watchpost.deliveries, p_schedule text, p_first_at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce(d.expires_at, case
    when p_schedule = 'webhook' then p_first_at + interval '48 hours'
    when d.type like 'alert.%' and d.type <> 'alert.digest' then d.due_at + interval '6 hours'
    else d.due_at + interval '24 hours'
  end)
$function$;

CREATE OR REPLACE FUNCTION private.free_carried(p_ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  update watchpost.deliveries
  set digest_id = null, turn_at = null, updated_at = now()
  where id = any(p_ids) and status = 'queued';
  perform private.enqueue_delivery(d.id, d.channel_id, pgboss.job_now())
  from watchpost.deliveries d where d.id = any(p_ids) and d.status = 'queued';
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
      and d.attempts = 0 and d.sequence > 0 and d.next_attempt_at is not null);
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

CREATE OR REPLACE FUNCTION private.is_urgent(d watchpost.deliveries)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce((
    select d.type in ('alert.raised', 'alert.escalated') and a.severity >= coalesce(z.emergency_severity, 80)
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id
    where a.id = d.alert_id), false)
$function$;

CREATE OR REPLACE FUNCTION private.next_turn(p_channel_id uuid, p_messages integer, p_period interval, p_is_urgent boolean, p_take boolean)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_now timestamptz := pgboss.job_now();
  v_bucket text := 'channel:' || p_channel_id;
  v_step interval := p_period / p_messages;
  v_tat timestamptz;
begin
  if p_take then
    insert into watchpost.rate_limits as r (bucket, tat)
    values (v_bucket, v_now + v_step)
    on conflict (bucket) do update set tat = greatest(r.tat, v_now) + v_step
    returning r.tat into v_tat;
  else
    v_tat := greatest((select r.tat from watchpost.rate_limits r where r.bucket = v_bucket), v_now) + v_step;
  end if;
  return greatest(v_now, v_tat - p_period * (1 + p_is_urgent::integer));
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
  v_count := v_count + private.purge_tests(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_blindness(private.kept_since('alerts'), p_batch);
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

CREATE OR REPLACE FUNCTION private.purge_hosts()
 RETURNS void
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  delete from watchpost.hosts where updated_at < now() - interval '7 days'
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
  perform private.record_health(v_channel, v_outcome, v_error, p_health);
end
$function$;

grant execute on function private.record_attempt(uuid,jsonb,text,timestamp with time zone,jsonb) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.record_health(p_channel_id uuid, p_outcome text, p_error text, p_health jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_now timestamptz := pgboss.job_now();
  c watchpost.channels;
begin
  update watchpost.channels set host = p_health ->> 'host'
  where id = p_channel_id and host is distinct from p_health ->> 'host';
  select * into c from watchpost.channels where id = p_channel_id;
  if p_outcome = 'ok' then
    if c.failures > 0 then
      update watchpost.channels
      set failures = 0, status = 'ok', paused_until = null, failing_reason = null, failing_since = null
      where id = c.id and status <> 'disabled';
    end if;
    delete from watchpost.hosts where kind = c.kind and host = c.host;
    return;
  end if;
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

CREATE OR REPLACE FUNCTION private.release_deliveries(p_ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_channel watchpost.channels;
  v_digest uuid;
begin
  for v_channel in
    select * from watchpost.channels where id in (select channel_id from watchpost.deliveries where id = any(p_ids))
  loop
    if private.takes(v_channel.messages, 'alert.digest') then
      insert into watchpost.deliveries (alert_id, channel_id, type)
      select d.alert_id, v_channel.id, 'alert.digest'
      from watchpost.deliveries d
      join watchpost.alerts a on a.id = d.alert_id
      where d.id = any(p_ids) and d.channel_id = v_channel.id
      order by a.severity desc, a.raised_at, a.id
      limit 1
      returning id into v_digest;
      update watchpost.deliveries
      set status = 'queued', digest_id = v_digest, next_attempt_at = null, due_at = now(), updated_at = now()
      where id = any(p_ids) and channel_id = v_channel.id;
      perform private.enqueue_delivery(v_digest, v_channel.id);
      continue;
    end if;
    perform private.cancel_deliveries(array(
      select d.id from watchpost.deliveries d
      where d.id = any(p_ids) and d.channel_id = v_channel.id and not private.takes(v_channel.messages, d.type)),
      'The channel takes no messages of this type.');
    update watchpost.deliveries
    set status = 'queued', next_attempt_at = null, due_at = now(), updated_at = now()
    where id = any(p_ids) and channel_id = v_channel.id and status = 'held';
    perform private.enqueue_delivery(d.id, d.channel_id)
    from watchpost.deliveries d
    where d.id = any(p_ids) and d.channel_id = v_channel.id and d.status = 'queued';
  end loop;
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
  order by e.type = 'alert.raised' desc, case when e.type = 'alert.raised' then e.delivered_at end desc, e.sequence, e.created_at
  limit 1
$function$;

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
  update watchpost.deliveries d
  set status = p_status,
      attempts = d.attempts + v_attempted::integer,
      last_error = p_error,
      next_attempt_at = p_next_attempt_at,
      delivered_at = case when p_status = 'succeeded' then now() end,
      remote_ref = case when d.id = p_id then p_remote_ref end,
      turn_at = null,
      updated_at = now()
  where d.id = p_id or d.digest_id = p_id;

  select array_agg(distinct d.alert_id) into v_alerts
  from watchpost.deliveries d
  where d.id = p_id or d.digest_id = p_id;

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

grant execute on function private.settle_delivery(uuid,text,text,timestamp with time zone,text,boolean) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.sort_out(d watchpost.deliveries, c watchpost.channels)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_is_refused boolean := private.refusal_of_delivery(d, c) is not null;
begin
  if v_is_refused then
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

CREATE OR REPLACE FUNCTION private.wait_for_earlier(d watchpost.deliveries)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
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

CREATE INDEX hosts_updated_at ON watchpost.hosts USING btree (updated_at);

reset check_function_bodies;
reset role;
