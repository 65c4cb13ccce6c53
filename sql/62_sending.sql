-- Sending: what a job takes up, and when. Times are those of the queue (pgboss.job_now), so that a test can move them.

set role watchpost_owner;

-- When a message is given up. Of a webhook 48 hours after the first attempt; p_first_at: when that was. Of what people
-- read 6 hours after it was due when it is about one alert, else 24 hours: nobody wants to hear of an old quake as of a new one.
create function private.expiry_of(d watchpost.deliveries, p_schedule text, p_first_at timestamptz) returns timestamptz
language sql stable as $$
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
create function private.bundle_delivery(p_id uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
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
$$;

-- Whether enough messages try their channel when its pause is over. Of a receiver that is away for hours all the others
-- need not be looked at each time: the first that succeeds calls them, see private.end_pause.
create function private.has_probes(p_id uuid, p_channel_id uuid, p_now timestamptz, p_until timestamptz) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return 5 <= (
    select count(*)
    from (
      select from watchpost.deliveries x
      where x.channel_id = p_channel_id and x.status = 'queued' and x.id <> p_id and x.digest_id is null
        and x.next_attempt_at > p_now and x.next_attempt_at <= p_until
      limit 5) probes);
end
$$;

-- Security definer, all that the jobs call: they change deliveries in no other way.
-- Takes up deliveries that are due and fixes what is sent: every retry repeats the same words. No row of one that is not to
-- be sent any more, or that a digest carries now. It stays as it is where there is a refusal, its deadline is over, or it
-- has to wait until wait_until. p_kinds: of each kind of channel its schedule, its pace and, where that is not to bundle
-- messages, `bundles`.
create function private.claim_deliveries(p_ids uuid[], p_kinds jsonb)
returns table (
  id uuid, channel_id uuid, kind text, type text, attempts integer, failures integer, target_sealed text,
  config_sealed text, secret_sealed text, former_sealed jsonb, language text, time_zone text, host text,
  host_failures integer, wait_until timestamptz, waits_for text, refusal text, is_late boolean, last_error text, payload text,
  remote_ref text, is_urgent boolean, claimed_at timestamptz, first_attempt_at timestamptz, expires_at timestamptz, used bigint
)
-- Planned once, when there may be few deliveries yet: each row is looked up, never all of them read.
language plpgsql volatile rows 20 security definer set search_path = '' set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
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
$$;

-- One delivery: of a former release that runs while the database is migrated.
create function private.claim_delivery(p_id uuid, p_kinds jsonb)
returns table (
  id uuid, channel_id uuid, kind text, type text, attempts integer, failures integer, target_sealed text,
  config_sealed text, secret_sealed text, former_sealed jsonb, language text, time_zone text, host text,
  host_failures integer, wait_until timestamptz, waits_for text, refusal text, is_late boolean, last_error text, payload text,
  remote_ref text, is_urgent boolean, claimed_at timestamptz, first_attempt_at timestamptz, expires_at timestamptz, used bigint
)
language sql volatile rows 1 security definer set search_path = '' as $$
  select * from private.claim_deliveries(array[p_id], p_kinds)
$$;

-- A digest of several zones: what may not be sent any more is not sent with the rest; where the digest itself may not,
-- the rest goes out alone.
create function private.sort_out(d watchpost.deliveries) returns void
language plpgsql volatile set search_path = '' as $$
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

grant execute on function private.claim_deliveries, private.claim_delivery, private.split_digest, private.enqueue_delivery
  to watchpost_jobs;

reset role;
