-- Deliveries: every message to a channel and every attempt to send it. Nothing but the functions of this
-- file changes a delivery: no role may write the table (scripts/schema/schema-rules.ts).
--
--   queued ──claim──▶ sending ──settle──▶ succeeded, failed, expired, or queued for the next attempt
--   held ──release──▶ queued, as a part of a digest
--   queued, held, sending ──cancel──▶ cancelled

set role watchpost_owner;

create table watchpost.deliveries (
  id uuid primary key default gen_random_uuid(),
  alert_id uuid references watchpost.alerts on delete cascade,
  channel_id uuid not null references watchpost.channels on delete cascade,
  type text not null check (type ~ '^(alert\.(raised|revised|escalated|ended|retracted|digest)|channel\.test)$'),
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
  updated_at timestamptz not null default now()
);
comment on table watchpost.deliveries is 'One message to one channel.';
comment on column watchpost.deliveries.id is 'Also the webhook-id header, the same on every attempt, and the id of its first job.';
comment on column watchpost.deliveries.alert_id is 'Null for a test.';
comment on column watchpost.deliveries.sequence is 'Number of the update of the alert; 0 for the first message.';
comment on column watchpost.deliveries.status is 'held waits for the end of quiet hours; expired was retried for 48 hours in vain.';
comment on column watchpost.deliveries.payload is 'What is sent, fixed at the first attempt so that retries say the same.';
comment on column watchpost.deliveries.next_attempt_at is 'Of a held one: when it is released; null: with its alert.';
comment on column watchpost.deliveries.redelivery_of is 'The delivery that this one repeats on request.';
comment on column watchpost.deliveries.digest_id is 'The digest that carries this message, which was held.';
-- A redelivery or digest is a new message about the same thing; a first one exists once.
create unique index deliveries_once on watchpost.deliveries (alert_id, channel_id, type, sequence)
  where redelivery_of is null and type <> 'alert.digest';
create index deliveries_channel_created on watchpost.deliveries (channel_id, created_at desc, id desc);
create index deliveries_alert_id on watchpost.deliveries (alert_id);
create index deliveries_redelivery_of on watchpost.deliveries (redelivery_of) where redelivery_of is not null;
create index deliveries_digest_id on watchpost.deliveries (digest_id) where digest_id is not null;
create index deliveries_open on watchpost.deliveries (updated_at) where status in ('queued', 'sending');
create index deliveries_failed on watchpost.deliveries (updated_at) where status in ('failed', 'expired');
alter table watchpost.deliveries enable row level security;
alter table watchpost.deliveries force row level security;
create policy deliveries_select on watchpost.deliveries for select to authenticated
  using (
    exists (select from watchpost.channels c where c.id = channel_id)
    and (alert_id is null or exists (select from watchpost.alerts a where a.id = alert_id)));
create policy deliveries_jobs on watchpost.deliveries for select to watchpost_jobs
  using (true);
grant select on watchpost.deliveries to authenticated, watchpost_jobs;

create table watchpost.delivery_attempts (
  id uuid primary key default gen_random_uuid(),
  delivery_id uuid not null references watchpost.deliveries on delete cascade,
  attempt integer not null,
  at timestamptz not null default now(),
  outcome text not null check (outcome in ('ok', 'retry', 'fail_permanent', 'disable_channel')),
  status_code smallint,
  duration_ms integer not null,
  error text,
  response_excerpt text,
  unique (delivery_id, attempt)
);
comment on table watchpost.delivery_attempts is 'Append-only: every attempt of a delivery and what the receiver answered. Kept 30 days, see retention.';
comment on column watchpost.delivery_attempts.attempt is 'Counts from 1.';
comment on column watchpost.delivery_attempts.status_code is 'HTTP status of the receiver; null: it did not answer.';
comment on column watchpost.delivery_attempts.error is 'In words of ours.';
comment on column watchpost.delivery_attempts.response_excerpt is 'Shown only to those who may manage the channel.';
create index delivery_attempts_at on watchpost.delivery_attempts (at);
alter table watchpost.delivery_attempts enable row level security;
alter table watchpost.delivery_attempts force row level security;
create policy delivery_attempts_select on watchpost.delivery_attempts for select to authenticated
  using (exists (select from watchpost.deliveries d where d.id = delivery_id));
create policy delivery_attempts_jobs on watchpost.delivery_attempts for all to watchpost_jobs
  using (true) with check (true);
grant select on watchpost.delivery_attempts to authenticated;
grant select, insert on watchpost.delivery_attempts to watchpost_jobs;

create function private.enqueue_delivery(p_delivery_id uuid, p_channel_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.enqueue(
    'deliver', p_delivery_id, jsonb_build_object('delivery_id', p_delivery_id), p_group => p_channel_id::text);
end
$$;

-- Security definer, the four that follow: the jobs change deliveries in no other way.
-- The first messages of alerts that go out or wait, to the channels of their zones. What was held goes
-- out when its alert does.
create function private.deliver_alerts(p_alert_ids uuid[]) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_count bigint;
begin
  with sent as (
    insert into watchpost.deliveries as d (alert_id, channel_id, type, status)
    select a.id, c.channel_id, 'alert.raised', case a.status when 'held' then 'held' else 'queued' end
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id
    cross join lateral private.zone_channels(z.owner_id, z.org_id, z.channel_ids) c
    where a.id = any(p_alert_ids) and a.status in ('pending', 'held')
    on conflict (alert_id, channel_id, type, sequence)
      where redelivery_of is null and type <> 'alert.digest'
    do update set status = 'queued', updated_at = now() where d.status = 'held' and excluded.status = 'queued'
    returning d.id, d.channel_id, d.status
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count
  from sent s
  where s.status = 'queued';
end
$$;

-- An update of an alert, to the channels its messages went to: at once, or held until p_held_until.
create function private.deliver_update(
  p_alert_id uuid, p_kind text, p_sequence integer, p_is_held boolean, p_held_until timestamptz
)
returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_count bigint;
begin
  with sent as (
    insert into watchpost.deliveries (alert_id, channel_id, type, sequence, status, next_attempt_at)
    select distinct d.alert_id, d.channel_id, 'alert.' || p_kind, p_sequence,
      case when p_is_held then 'held' else 'queued' end, p_held_until
    from watchpost.deliveries d
    where d.alert_id = p_alert_id and d.status <> 'cancelled'
    on conflict do nothing
    returning id, channel_id, status
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count
  from sent s
  where s.status = 'queued';
end
$$;

-- Takes up a delivery that is due and fixes what is sent: every retry repeats the same words. No row when
-- it is not to be sent any more. It stays as it is where there is a refusal or its channel is paused.
create function private.claim_delivery(p_id uuid)
returns table (
  id uuid, channel_id uuid, kind text, type text, attempts integer, failures integer, target_sealed text,
  config_sealed text, secret_sealed text, previous_sealed text, paused_until timestamptz, refusal text,
  payload text, first_attempt_at timestamptz, used bigint
)
language plpgsql volatile rows 1 security definer set search_path = '' as $$
begin
  -- A lock of its own: what follows sees what whoever held it has committed.
  perform from watchpost.deliveries d
  where d.id = p_id and d.status in ('queued', 'sending') and d.type <> 'channel.test'
  for update;
  if not found then
    return;
  end if;
  return query
    with facts as (
      select d.id, d.channel_id, c.kind, d.type, d.attempts, c.failures,
        c.target_sealed, c.config_sealed, c.signing_secret_sealed as secret_sealed,
        case when c.previous_secret_until > now() then c.previous_secret_sealed end as previous_sealed,
        case when c.paused_until > now() then c.paused_until end as paused_until,
        case
          when c.deleted_at is not null then 'The channel was deleted.'
          when not c.enabled then 'The channel is switched off.'
          when z.deleted_at is not null then 'The zone was deleted.'
          when p.plan = 'free' then 'The account is below the Pro plan; its zones are paused.'
          when private.is_banned(p.banned_until) then 'The account is banned; its zones are paused.'
          when not exists (select from private.zone_channels(z.owner_id, z.org_id, array[d.channel_id]))
            then 'The owner of the zone no longer sees this channel.'
        end as refusal,
        case when d.payload is null then private.notification_json(d)::text end as notification
      from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      join watchpost.alerts a on a.id = d.alert_id
      join watchpost.zones z on z.id = a.zone_id
      join watchpost.accounts p on p.user_id = z.owner_id
      where d.id = p_id
    )
    update watchpost.deliveries d
    set status = case when f.refusal is null and f.paused_until is null then 'sending' else d.status end,
        payload = coalesce(d.payload, f.notification),
        first_attempt_at = coalesce(d.first_attempt_at, now()),
        updated_at = now()
    from facts f
    where d.id = f.id
    returning f.id, f.channel_id, f.kind, f.type, f.attempts, f.failures, f.target_sealed, f.config_sealed,
      f.secret_sealed, f.previous_sealed, f.paused_until, f.refusal, d.payload, d.first_attempt_at,
      (select count(*) from watchpost.delivery_attempts t
       where t.delivery_id = d.id and t.status_code is distinct from 429);
end
$$;

-- The state of a delivery after an attempt, and of what depends on it: the parts of a digest, and
-- the alert, which is dispatched with its first success and failed when nothing is left to try.
create function private.settle_delivery(p_id uuid, p_status text, p_error text, p_next_attempt_at timestamptz)
returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_attempted boolean := p_status <> 'cancelled';
  v_alerts uuid[];
begin
  update watchpost.deliveries d
  set status = p_status,
      attempts = d.attempts + v_attempted::integer,
      last_error = p_error,
      next_attempt_at = p_next_attempt_at,
      delivered_at = case when p_status = 'succeeded' then now() end,
      updated_at = now()
  where d.id = p_id or d.digest_id = p_id;

  select array_agg(distinct d.alert_id) into v_alerts
  from watchpost.deliveries d
  where d.id = p_id or d.digest_id = p_id;

  if p_status = 'succeeded' then
    update watchpost.alerts a
    set status = case when a.status in ('pending', 'failed') then 'dispatched' else a.status end,
        dispatched_at = coalesce(a.dispatched_at, now()),
        updated_at = now()
    where a.id = any(v_alerts);
  elsif p_status <> 'queued' then
    update watchpost.alerts a
    set status = 'failed', updated_at = now()
    where a.id = any(v_alerts)
      and a.status = 'pending'
      and not exists (
        select from watchpost.deliveries d
        where d.alert_id = a.id and d.status in ('queued', 'held', 'sending', 'succeeded'));
  end if;
end
$$;
grant execute on function private.deliver_alerts, private.deliver_update, private.claim_delivery,
  private.settle_delivery to watchpost_jobs;

-- Held messages go out as one digest per channel, about the most severe of their alerts.
create function private.release_deliveries(p_ids uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_channel uuid;
  v_digest uuid;
begin
  for v_channel in
    select distinct channel_id from watchpost.deliveries where id = any(p_ids)
  loop
    insert into watchpost.deliveries (alert_id, channel_id, type)
    select d.alert_id, v_channel, 'alert.digest'
    from watchpost.deliveries d
    join watchpost.alerts a on a.id = d.alert_id
    where d.id = any(p_ids) and d.channel_id = v_channel
    order by a.severity desc, a.raised_at, a.id
    limit 1
    returning id into v_digest;
    update watchpost.deliveries
    set status = 'queued', digest_id = v_digest, next_attempt_at = null, updated_at = now()
    where id = any(p_ids) and channel_id = v_channel;
    perform private.enqueue_delivery(v_digest, v_channel);
  end loop;
end
$$;

-- What a zone holds back is due now.
create function private.end_hold(p_zone_id uuid) returns void
language sql volatile set search_path = '' as $$
  update watchpost.deliveries d
  set next_attempt_at = now(), updated_at = now()
  from watchpost.alerts a
  where a.id = d.alert_id and a.zone_id = p_zone_id and d.status = 'held' and d.next_attempt_at > now()
$$;

create function private.cancel_deliveries(p_ids uuid[], p_reason text) returns void
language sql volatile set search_path = '' as $$
  update watchpost.deliveries
  set status = 'cancelled', last_error = p_reason, updated_at = now()
  where id = any(p_ids) and status in ('queued', 'held', 'sending')
$$;

-- Security definer: what is pending for a deleted zone or channel is cancelled with it.
create function private.cancel_pending() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  v_ids uuid[];
begin
  if tg_table_name = 'zones' then
    v_ids := array(
      select d.id from watchpost.deliveries d
      join watchpost.alerts a on a.id = d.alert_id
      where a.zone_id = new.id and d.status in ('queued', 'held', 'sending')
      for update of d);
    perform private.cancel_deliveries(v_ids, 'The zone was deleted.');
    update watchpost.alerts
    set status = 'failed', updated_at = now()
    where zone_id = new.id and status in ('pending', 'held');
  else
    v_ids := array(
      select id from watchpost.deliveries
      where channel_id = new.id and status in ('queued', 'held', 'sending')
      for update);
    perform private.cancel_deliveries(v_ids, 'The channel was deleted.');
    update watchpost.alerts a
    set status = 'failed', updated_at = now()
    where a.id in (select alert_id from watchpost.deliveries where id = any(v_ids))
      and a.status in ('pending', 'held')
      and not exists (
        select from watchpost.deliveries d
        where d.alert_id = a.id and d.channel_id <> new.id and d.status in ('queued', 'held', 'sending', 'succeeded'));
  end if;
  return new;
end
$$;
create trigger zones_cancel after update of deleted_at on watchpost.zones
  for each row when (old.deleted_at is null and new.deleted_at is not null)
  execute function private.cancel_pending();
create trigger channels_cancel after update of deleted_at on watchpost.channels
  for each row when (old.deleted_at is null and new.deleted_at is not null)
  execute function private.cancel_pending();

-- The same message again, on request.
create function private.repeat_delivery(p_id uuid) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  v_new record;
begin
  insert into watchpost.deliveries (alert_id, channel_id, type, sequence, redelivery_of)
  select alert_id, channel_id, type, sequence, id from watchpost.deliveries where id = p_id
  returning id, channel_id into v_new;
  perform private.enqueue_delivery(v_new.id, v_new.channel_id);
  return v_new.id;
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
language plpgsql volatile set search_path = '' as $$
declare
  v_count integer;
begin
  delete from watchpost.deliveries where id in (
    select id from watchpost.deliveries
    where alert_id is null and created_at < p_before
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

reset role;
