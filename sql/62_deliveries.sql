-- Deliveries: every message to a channel. Nothing but the functions of the four files 62_deliveries.sql,
-- 62_queuing.sql, 62_sending.sql and 62_settling.sql changes a delivery: no role may write the table
-- (scripts/schema/schema-rules.ts).
--
--   queued ──claim──▶ sending ──settle──▶ succeeded, failed, expired, or queued for the next attempt
--   queued ──bundle──▶ carried by a digest, where the pace of the channel carries it too late
--   held ──release──▶ queued, carried by a digest; one that is too large is split when it is claimed
--   queued, held, sending ──cancel──▶ cancelled

set role watchpost_owner;

create table watchpost.deliveries (
  id uuid primary key default gen_random_uuid(),
  alert_id uuid references watchpost.alerts on delete cascade,
  channel_id uuid not null references watchpost.channels on delete cascade,
  type text not null
    check (type in (
      'alert.raised', 'alert.revised', 'alert.escalated', 'alert.ended', 'alert.retracted', 'alert.acknowledged',
      'alert.resolved', 'alert.reopened', 'alert.digest', 'zone.blind', 'zone.sighted', 'channel.failing',
      'channel.recovered', 'channel.test', 'channel.confirmation')),
  sequence integer not null default 0,
  status text not null default 'queued'
    check (status in ('queued', 'held', 'sending', 'succeeded', 'failed', 'expired', 'cancelled')),
  attempts integer not null default 0,
  last_error text,
  payload text,
  next_attempt_at timestamptz,
  first_attempt_at timestamptz,
  delivered_at timestamptz,
  redelivery_of uuid references watchpost.deliveries on delete set null,
  digest_id uuid references watchpost.deliveries on delete set null,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default now(),
  blindness_id uuid references watchpost.blindness on delete cascade,
  remote_ref text check (length(remote_ref) <= 500),
  due_at timestamptz not null default now(),
  turn_at timestamptz,
  expires_at timestamptz,
  trouble_id uuid references watchpost.channel_troubles on delete cascade,
  step jsonb,
  act integer not null default 0,
  trace text default private.current_trace() check (length(trace) <= 70),
  check (starts_with(type, 'zone.') = (blindness_id is not null)),
  check ((type in ('channel.failing', 'channel.recovered')) = (trouble_id is not null))
);
comment on table watchpost.deliveries is 'One message to one channel.';
comment on column watchpost.deliveries.id is 'Also the webhook-id header, the same on every attempt, and the id of its first job.';
comment on column watchpost.deliveries.alert_id is 'Null for a test, and for a message about a source or a channel.';
comment on column watchpost.deliveries.sequence is 'Number of the update of the alert; 0 for the first message.';
comment on column watchpost.deliveries.status is 'held waits for the end of quiet hours or of a burst; expired was not delivered before its deadline.';
comment on column watchpost.deliveries.payload is 'What is sent, fixed at the first attempt so that retries say the same.';
comment on column watchpost.deliveries.remote_ref is 'What the receiver calls this message; with it, a later message about the alert changes this one.';
comment on column watchpost.deliveries.due_at is 'Since when it may be sent: when it was made, or when it was held no longer. Its deadline counts from then.';
comment on column watchpost.deliveries.turn_at is 'When the pace of its channel lets it out; null: it has taken no turn.';
comment on column watchpost.deliveries.expires_at is 'When it is given up, set when it is first taken up.';
comment on column watchpost.deliveries.next_attempt_at is 'When it is tried next; of a held one: when it is released; null: with its alert.';
comment on column watchpost.deliveries.redelivery_of is 'The delivery that this one repeats on request.';
comment on column watchpost.deliveries.digest_id is 'The digest that carries this message, which was held or waited for the pace of its channel: it shares the state of the digest.';
comment on column watchpost.deliveries.step is 'Of a message that went out because nobody had acknowledged the alert: which step of its escalation.';
comment on column watchpost.deliveries.act is 'Of a message about what a person did with the alert: which one since the update of sequence; else 0.';
comment on column watchpost.deliveries.trace is 'What its trace goes on from: a W3C traceparent, or with "apart" only a link; null: nothing was traced.';
comment on column watchpost.deliveries.blindness_id is 'Of a message about a source: what it tells of. Its zones are in blind_zones.';
comment on column watchpost.deliveries.trouble_id is 'Of a message about another channel: what it tells of.';
-- A redelivery or digest is a new message about the same thing, and so is that of a step; a first one exists once.
create unique index deliveries_once on watchpost.deliveries (alert_id, channel_id, type, sequence, act)
  where redelivery_of is null and type <> 'alert.digest' and step is null;
create unique index deliveries_blindness_once on watchpost.deliveries (blindness_id, channel_id, type)
  where blindness_id is not null and redelivery_of is null;
create unique index deliveries_trouble_once on watchpost.deliveries (trouble_id, type)
  where trouble_id is not null and redelivery_of is null;
create index deliveries_channel_created on watchpost.deliveries (channel_id, created_at desc, id desc);
create index deliveries_alert_id on watchpost.deliveries (alert_id);
create index deliveries_redelivery_of on watchpost.deliveries (redelivery_of) where redelivery_of is not null;
create index deliveries_digest_id on watchpost.deliveries (digest_id) where digest_id is not null;
create index deliveries_blindness_id on watchpost.deliveries (blindness_id) where blindness_id is not null;
create index deliveries_trouble_id on watchpost.deliveries (trouble_id) where trouble_id is not null;
create index deliveries_open on watchpost.deliveries (updated_at) where status in ('queued', 'sending');
create index deliveries_waiting on watchpost.deliveries (channel_id, next_attempt_at) where status = 'queued';
create index deliveries_failed on watchpost.deliveries (updated_at) where status in ('failed', 'expired');
alter table watchpost.deliveries enable row level security;
alter table watchpost.deliveries force row level security;
create policy deliveries_select on watchpost.deliveries for select to authenticated
  using (
    exists (select from watchpost.channels c where c.id = channel_id)
    and (alert_id is null or exists (select from watchpost.alerts a where a.id = alert_id))
    and (blindness_id is null or private.sees_blind_zones(blindness_id, channel_id)));
create policy deliveries_jobs on watchpost.deliveries for select to watchpost_jobs using (true);
grant select on watchpost.deliveries to authenticated, watchpost_jobs;

-- Whether a message is about an emergency: severe enough to pass the quiet hours of its zone (p_limit), or, where the zone
-- has no such limit, extreme. A drill overtakes nothing.
create function private.is_emergency(
  p_type text, p_severity double precision, p_drill_id uuid, p_limit double precision
)
returns boolean
language sql immutable as $$
  select coalesce(
    p_drill_id is null and p_type in ('alert.raised', 'alert.escalated') and p_severity >= coalesce(p_limit, 80), false)
$$;

create function private.is_urgent(d watchpost.deliveries) returns boolean
language sql stable set search_path = '' as $$
  select coalesce((
    select private.is_emergency(d.type, a.severity, a.drill_id, z.emergency_severity)
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id
    where a.id = d.alert_id), false)
$$;

create function private.is_drill(d watchpost.deliveries) returns boolean
language sql stable set search_path = '' as $$
  select exists (select from watchpost.alerts a where a.id = d.alert_id and a.drill_id is not null)
$$;

-- An emergency is taken up before everything else. p_at: when; null: at once, as the first job of this delivery.
-- p_waits_for: what else than its own time it waits for.
create function private.enqueue_delivery(
  p_delivery_id uuid, p_channel_id uuid, p_at timestamptz default null, p_waits_for text default null
)
returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform private.enqueue(
    'deliver', case when p_at is null then p_delivery_id else gen_random_uuid() end,
    jsonb_strip_nulls(jsonb_build_object('delivery_id', p_delivery_id, 'waits_for', p_waits_for)), p_at, p_channel_id::text,
    p_priority => (select private.is_urgent(d)::integer from watchpost.deliveries d where d.id = p_delivery_id));
end
$$;

-- The first jobs of first messages of alerts, all at once: p_ids, each of an alert of p_alert_ids to a channel of
-- p_channel_ids. Jobs due at the same time are fetched in the order in which they are stored, one a channel: so the first
-- of each channel stands before the second of any. The four lists have one order, without ties: what belongs together
-- stands at one place.
create function private.enqueue_deliveries(p_ids uuid[], p_alert_ids uuid[], p_channel_ids uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
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
$$;

-- Held messages go out as one digest per channel, about the most severe of their alerts; one by one where
-- the channel takes no digest.
create function private.release_deliveries(p_ids uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
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
$$;

-- What a zone holds back is due now; updates of an alert that is still held, with it.
create function private.end_hold(p_zone_id uuid) returns void
language sql volatile set search_path = '' as $$
  update watchpost.deliveries d
  set next_attempt_at = greatest(now(), case when a.status = 'held' then a.held_until end), updated_at = now()
  from watchpost.alerts a
  where a.id = d.alert_id and a.zone_id = p_zone_id and d.status = 'held'
    and d.next_attempt_at > greatest(now(), case when a.status = 'held' then a.held_until end)
$$;

-- What is cancelled leaves a digest that has not been sent, and what a cancelled digest carries of other things goes
-- out alone.
create function private.cancel_deliveries(p_ids uuid[], p_reason text) returns void
language plpgsql volatile set search_path = '' as $$
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
$$;

-- Takes messages out of the digests that were to carry them.
create function private.free_carried(p_ids uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update watchpost.deliveries
  set digest_id = null, turn_at = null, updated_at = now()
  where id = any(p_ids) and status = 'queued';
  perform private.enqueue_delivery(d.id, d.channel_id, pgboss.job_now())
  from watchpost.deliveries d where d.id = any(p_ids) and d.status = 'queued';
end
$$;

-- The same message again, on request; a digest with all that it carried.
create function private.repeat_delivery(p_id uuid) returns uuid
language plpgsql volatile set search_path = '' as $$
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
$$;

-- A mail that asks an address for its consent; one that still waits is not sent any more.
create function private.add_confirmation(p_channel_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_id uuid;
begin
  perform private.cancel_deliveries(array(
    select d.id from watchpost.deliveries d
    where d.channel_id = p_channel_id and d.type = 'channel.confirmation' and d.status = 'queued'),
    'Another confirmation was asked for.');
  insert into watchpost.deliveries (channel_id, type, payload)
  values (p_channel_id, 'channel.confirmation',
    jsonb_build_object('timestamp', private.iso(now()), 'alert', null, 'zone', null)::text)
  returning id into v_id;
  perform private.enqueue_delivery(v_id, p_channel_id);
end
$$;

-- A test has no job: the API sends it at once.
create function private.add_test(p_channel_id uuid, p_payload text) returns uuid
language sql volatile set search_path = '' as $$
  insert into watchpost.deliveries (channel_id, type, status, payload, first_attempt_at)
  values (p_channel_id, 'channel.test', 'sending', p_payload, now())
  returning id
$$;

-- A test whose process died between sending and recording has no job to try it again.
create function private.end_interrupted_tests() returns void
language sql volatile set search_path = '' as $$
  update watchpost.deliveries
  set status = 'failed', last_error = 'The test was interrupted.', updated_at = now()
  where type = 'channel.test' and status = 'sending' and updated_at < now() - interval '5 minutes'
$$;

-- Old tests, which belong to no alert that would take them along; says how many.
create function private.purge_tests(p_before timestamptz, p_batch integer) returns integer
language sql volatile set search_path = '' as $$
  with gone as (
    delete from watchpost.deliveries where id in (
      select id from watchpost.deliveries where alert_id is null and blindness_id is null and trouble_id is null and created_at < p_before limit p_batch)
    returning 1)
  select count(*)::integer from gone
$$;

reset role;
