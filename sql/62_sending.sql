-- Sending: what becomes of a delivery from the moment a job takes it up until it is settled. Times are those of the
-- queue (pgboss.job_now), so that a test can move them.

set role watchpost_owner;

-- When a message is given up. Of a webhook 48 hours after the first attempt; p_first_at: when that was. Of what people
-- read 6 hours after it was due when it is about one alert, else 24 hours: nobody wants to hear of an old quake as of a new one.
create function private.expiry_of(d watchpost.deliveries, p_schedule text, p_first_at timestamptz) returns timestamptz
language sql stable set search_path = '' as $$
  select coalesce(d.expires_at, case
    when p_schedule = 'webhook' then p_first_at + interval '48 hours'
    when d.type like 'alert.%' and d.type <> 'alert.digest' then d.due_at + interval '6 hours'
    else d.due_at + interval '24 hours'
  end)
$$;

-- Which step of an escalation sent a message (watchpost.deliveries.step); 0: none.
create function private.step_number(p_step jsonb) returns integer
language sql immutable set search_path = '' as $$
  select coalesce((p_step ->> 'step')::integer, 0)
$$;

-- When to look again at a delivery that would overtake an earlier message about its alert on its channel; null: it
-- would not. Of two the earlier is always the same one, so that no two wait for each other.
create function private.wait_for_earlier(d watchpost.deliveries) returns timestamptz
language plpgsql stable set search_path = '' as $$
begin
  if d.type <> 'alert.digest' and (d.sequence, d.act, private.step_number(d.step)) = (0, 0, 0) then
    return null;
  end if;
  return (
    select max(greatest(case carrier.status when 'queued' then carrier.next_attempt_at end, pgboss.job_now() + interval '5 seconds'))
    from watchpost.deliveries mine
    join watchpost.deliveries earlier
      on earlier.alert_id = mine.alert_id and earlier.channel_id = mine.channel_id
      and (earlier.sequence, earlier.act, private.step_number(earlier.step)) < (mine.sequence, mine.act, private.step_number(mine.step))
    join watchpost.deliveries carrier on carrier.id = coalesce(earlier.digest_id, earlier.id)
    where (mine.id = d.id and d.type <> 'alert.digest' or mine.digest_id = d.id)
      and earlier.status in ('queued', 'sending') and earlier.type <> 'alert.digest'
      and carrier.id <> d.id
      and (carrier.created_at, carrier.sequence, carrier.act, private.step_number(carrier.step), carrier.id)
        < (d.created_at, d.sequence, d.act, private.step_number(d.step), d.id));
end
$$;

-- What the receiver calls the message that a later one about the same alert is to change: the newest first message
-- that has such a name, or else the first of the updates that went out alone.
create function private.remote_ref_for(d watchpost.deliveries) returns text
language sql stable set search_path = '' as $$
  select e.remote_ref
  from watchpost.deliveries e
  where d.type not in ('alert.raised', 'alert.digest') and e.alert_id = d.alert_id and e.channel_id = d.channel_id
    and e.id <> d.id and e.status = 'succeeded' and e.type <> 'alert.digest' and e.remote_ref is not null
  order by e.type = 'alert.raised' desc, case when e.type = 'alert.raised' then e.delivered_at end desc, e.sequence, e.act, e.created_at
  limit 1
$$;

-- Bundles a message whose turn comes too late with all others of its channel that wait behind it: in the digest that
-- waits for its turn already, or in a new one; drills never with real alerts. False where the channel takes no digest, or
-- the message fits in none.
create function private.bundle_delivery(d watchpost.deliveries, c watchpost.channels) returns boolean
language plpgsql volatile set search_path = '' as $$
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
$$;

-- Whether enough messages try their channel when its pause is over. Of a receiver that is away for hours all the others
-- need not be looked at each time: the first that succeeds calls them, see private.end_pause.
create function private.has_probes(d watchpost.deliveries, p_now timestamptz, p_until timestamptz) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return 5 <= (
    select count(*)
    from (
      select from watchpost.deliveries x
      where x.channel_id = d.channel_id and x.status = 'queued' and x.id <> d.id and x.digest_id is null
        and x.next_attempt_at > p_now and x.next_attempt_at <= p_until
      limit 5) probes);
end
$$;

-- Security definer, all that the jobs call: they change deliveries in no other way.
-- Takes up a delivery that is due and fixes what is sent: every retry repeats the same words. No row when it is not to be
-- sent any more, or a digest carries it now. It stays as it is where there is a refusal, its deadline is over, or it has
-- to wait until wait_until. p_kinds: of each kind of channel its schedule, its pace and,
-- where that is not to bundle messages, `bundles`.
create function private.claim_delivery(p_id uuid, p_kinds jsonb)
returns table (
  id uuid, channel_id uuid, kind text, type text, attempts integer, failures integer, target_sealed text,
  config_sealed text, secret_sealed text, former_sealed jsonb, language text, time_zone text, host text,
  host_failures integer, wait_until timestamptz, waits_for text, refusal text, is_late boolean, last_error text, payload text,
  remote_ref text, is_urgent boolean, claimed_at timestamptz, first_attempt_at timestamptz, expires_at timestamptz, used bigint
)
language plpgsql volatile rows 1 security definer set search_path = '' as $$
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
$$;

-- A digest of several zones: what may not be sent any more is not sent with the rest; where the digest itself may not,
-- the rest goes out alone.
create function private.sort_out(d watchpost.deliveries, c watchpost.channels) returns void
language plpgsql volatile set search_path = '' as $$
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
$$;

-- Stores a digest as the messages that its channel accepts: a list of {alert_ids, payload}, each with its fixed words.
-- The first is this delivery; each of the others becomes a delivery with a job, together with what it carries.
-- False if the digest is not being sent or was split already.
create function private.split_digest(p_id uuid, p_parts jsonb) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
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
$$;

-- The state of a delivery after an attempt, and of what depends on it: the parts of a digest, and
-- the alert, which is dispatched with its first success and failed when nothing is left to try.
create function private.settle_delivery(
  p_id uuid, p_status text, p_error text, p_next_attempt_at timestamptz, p_remote_ref text default null,
  p_is_attempt boolean default true
)
returns void
language plpgsql volatile security definer set search_path = '' as $$
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
$$;

-- What waited for a message that is settled now is due.
create function private.hurry_later(p_id uuid, p_alerts uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_channel uuid := (select d.channel_id from watchpost.deliveries d where d.id = p_id);
  v_ids text[] := array(
    select d.id::text from watchpost.deliveries d
    where d.alert_id = any(p_alerts) and d.channel_id = v_channel and d.status = 'queued' and d.digest_id is null
      and d.attempts = 0 and (d.sequence, d.act, private.step_number(d.step)) > (0, 0, 0) and d.next_attempt_at is not null);
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
$$;

-- Security definer, whoever changes a channel: one that works again, or that has another target, is paused no longer, and
-- what waited for the end of the pause is due.
create function private.end_pause() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
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
$$;
create trigger channels_end_pause after update of paused_until on watchpost.channels
  for each row when (old.paused_until is not null and new.paused_until is null)
  execute function private.end_pause();

-- Records an attempt (once) with what comes of it: the state of the delivery and the next job, and how its channel and
-- host are. p_attempt has what is stored of it, p_health what private.record_health needs, and where the receiver has
-- moved (moved: from, target_sealed, target_masked).
create function private.record_attempt(p_id uuid, p_attempt jsonb, p_status text, p_next_at timestamptz, p_health jsonb)
returns void
language plpgsql volatile security definer set search_path = '' as $$
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
$$;

-- What becomes of deliveries that were taken up, a list of {id, channel_id} with attempt, health, status and next_at after
-- an attempt; with status and error where there was none; and with next_at and waits_for where it only waits. In the order of
-- their alerts, so that two processes do not wait for each other.
create function private.settle_deliveries(p_settlements jsonb) returns void
language plpgsql volatile security definer set search_path = '' as $$
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
$$;

-- Of a former release that runs while the database is migrated: settle_delivery and those after it.
grant execute on function private.claim_delivery, private.split_digest, private.settle_deliveries, private.settle_delivery,
  private.record_attempt, private.enqueue_delivery to watchpost_jobs;

reset role;
