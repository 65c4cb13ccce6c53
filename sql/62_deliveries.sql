-- Deliveries: every message to a channel, every attempt to send it, and what a message says.

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
comment on table watchpost.deliveries is 'One message to one channel. Its id is the webhook-id, the same on every attempt.';
comment on column watchpost.deliveries.id is 'Also the webhook-id header and the id of its job.';
comment on column watchpost.deliveries.alert_id is 'Alert it tells of; null for a test.';
comment on column watchpost.deliveries.channel_id is 'Where it goes.';
comment on column watchpost.deliveries.type is 'What it says: alert.raised, alert.escalated, alert.digest, channel.test …';
comment on column watchpost.deliveries.sequence is 'Which update of the alert it tells; 0 for the first message.';
comment on column watchpost.deliveries.status is 'queued, held (quiet hours), sending, succeeded, failed, expired (gave up) or cancelled.';
comment on column watchpost.deliveries.attempts is 'How often it was tried.';
comment on column watchpost.deliveries.last_error is 'Why the last attempt failed, in words of ours.';
comment on column watchpost.deliveries.payload is 'What is sent, fixed at the first attempt so that retries say the same.';
comment on column watchpost.deliveries.next_attempt_at is 'When it is tried again, or a held one released.';
comment on column watchpost.deliveries.first_attempt_at is 'Start of the first attempt; retries end some time after it.';
comment on column watchpost.deliveries.delivered_at is 'When the receiver accepted it.';
comment on column watchpost.deliveries.redelivery_of is 'Delivery this one repeats on request.';
comment on column watchpost.deliveries.digest_id is 'Digest that carries this held message.';
comment on column watchpost.deliveries.created_at is 'When it was decided to send.';
comment on column watchpost.deliveries.updated_at is 'Last change of state.';
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
create policy deliveries_jobs on watchpost.deliveries for all to watchpost_jobs
  using (true) with check (true);
grant select on watchpost.deliveries to authenticated;
grant select, insert, update on watchpost.deliveries to watchpost_jobs;

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
comment on column watchpost.delivery_attempts.id is 'Row id.';
comment on column watchpost.delivery_attempts.delivery_id is 'Delivery that was tried.';
comment on column watchpost.delivery_attempts.attempt is 'Number of the try, from 1.';
comment on column watchpost.delivery_attempts.at is 'When it was tried.';
comment on column watchpost.delivery_attempts.outcome is 'ok, retry, fail_permanent or disable_channel.';
comment on column watchpost.delivery_attempts.status_code is 'HTTP status of the receiver; null when there was no answer.';
comment on column watchpost.delivery_attempts.duration_ms is 'How long the receiver took, milliseconds.';
comment on column watchpost.delivery_attempts.error is 'What went wrong, in words of ours.';
comment on column watchpost.delivery_attempts.response_excerpt is 'First characters of the answer; shown only to who may manage the channel.';
create index delivery_attempts_at on watchpost.delivery_attempts (at);
alter table watchpost.delivery_attempts enable row level security;
alter table watchpost.delivery_attempts force row level security;
create policy delivery_attempts_select on watchpost.delivery_attempts for select to authenticated
  using (exists (select from watchpost.deliveries d where d.id = delivery_id));
create policy delivery_attempts_jobs on watchpost.delivery_attempts for all to watchpost_jobs
  using (true) with check (true);
grant select on watchpost.delivery_attempts to authenticated;
grant select, insert on watchpost.delivery_attempts to watchpost_jobs;

-- An alert as the wire has it. Runs as its caller, so that channels the caller cannot see, and
-- deliveries on them, are left out; p_channel_id narrows them to one channel for the message that channel gets.
create function private.alert_json(a watchpost.alerts, p_channel_id uuid default null) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', a.id,
    'zone_id', a.zone_id,
    'zone_name', a.zone_name,
    'event_id', a.event_id,
    'event', a.event,
    'severity', a.severity,
    'reason', a.reason,
    'status', a.status,
    'raised_at', private.iso(a.raised_at),
    'held_until', private.iso(a.held_until),
    'dispatched_at', private.iso(a.dispatched_at),
    'channel', (
      select coalesce(c.label, c.kind)
      from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      where d.alert_id = a.id and d.status = 'succeeded' and (p_channel_id is null or d.channel_id = p_channel_id)
      order by d.delivered_at, d.id
      limit 1),
    'deliveries', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', d.id,
        'channel_id', d.channel_id,
        'channel', coalesce(c.label, c.kind),
        'kind', d.type,
        'status', d.status,
        'attempts', d.attempts,
        'last_error', d.last_error,
        'delivered_at', private.iso(d.delivered_at),
        'redelivery_of', d.redelivery_of) order by d.created_at, d.id)
      from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      where d.alert_id = a.id and (p_channel_id is null or d.channel_id = p_channel_id)), '[]'),
    'updates', a.updates,
    'resolved', a.resolved,
    'resolved_at', private.iso(a.resolved_at),
    'resolved_via', a.resolved_via,
    'note', a.note,
    'updated_at', private.iso(a.updated_at))
$$;
grant execute on function private.alert_json to authenticated, watchpost_jobs;

-- What a delivery says, but for its type: the alert as its channel may see it, and for a digest all
-- the alerts it gathers, the most severe first.
create function private.notification_json(d watchpost.deliveries) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'timestamp', case when d.type = 'alert.digest' then private.iso(d.created_at) else a.event ->> 'ts' end,
    'alert', private.alert_json(a, d.channel_id),
    'zone', jsonb_build_object('id', a.zone_id, 'label', a.zone_name))
    || case when d.type = 'alert.digest' then jsonb_build_object('alerts', (
      select jsonb_agg(private.alert_json(held, d.channel_id) order by held.severity desc, held.raised_at, held.id)
      from watchpost.alerts held
      where held.id in (select part.alert_id from watchpost.deliveries part where part.digest_id = d.id)
    )) else '{}' end
  from watchpost.alerts a
  where a.id = d.alert_id
$$;
grant execute on function private.notification_json to watchpost_jobs;

-- The state of a delivery after an attempt, and of what depends on it: the parts of a digest, and
-- the alert, which is dispatched with its first success and failed when nothing is left to try.
create function private.settle_delivery(p_id uuid, p_status text, p_error text, p_next_attempt_at timestamptz)
returns void
language plpgsql volatile set search_path = '' as $$
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
grant execute on function private.settle_delivery to watchpost_jobs;

-- Security definer: new deliveries for an alert, each with its job; which alert and channels is
-- decided here by the caller's right to write and to manage the zone. errcode WP403 otherwise.
create function private.redeliver(p_alert_id uuid, p_delivery_ids uuid[]) returns setof uuid
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_alert watchpost.alerts;
  v_old record;
  v_new uuid;
  v_count integer := 0;
begin
  select * into v_alert from watchpost.alerts where id = p_alert_id and tenant_id = any(private.my_tenants());
  if not found then
    return;
  end if;
  if not private.can_write() or not (
    v_alert.owner_id = private.uid() or coalesce(v_alert.org_id = any(private.admin_orgs()), false)) then
    raise exception 'only the owner or an admin redelivers' using errcode = 'WP403';
  end if;
  if (select count(*) from watchpost.deliveries where alert_id = p_alert_id and redelivery_of is not null) >= 100 then
    raise exception 'This alert was sent again a hundred times. Look at the channel: GET /channels/:id/deliveries says what it answers.'
      using errcode = 'WP409';
  end if;
  for v_old in
    select d.id, d.channel_id, d.type, d.sequence
    from watchpost.deliveries d
    join watchpost.channels c on c.id = d.channel_id
    where d.alert_id = p_alert_id
      and c.deleted_at is null
      and c.tenant_id = any(private.my_tenants())
      and case
        when p_delivery_ids is null then d.status in ('failed', 'expired')
        else d.id = any(p_delivery_ids)
      end
      and not exists (
        select from watchpost.deliveries again
        where again.redelivery_of = d.id and again.status in ('queued', 'sending'))
  loop
    insert into watchpost.deliveries (alert_id, channel_id, type, sequence, redelivery_of)
    values (p_alert_id, v_old.channel_id, v_old.type, v_old.sequence, v_old.id)
    returning id into v_new;
    perform private.enqueue(
      'deliver', v_new, jsonb_build_object('delivery_id', v_new), p_group => v_old.channel_id::text);
    v_count := v_count + 1;
    return next v_new;
  end loop;
  if v_count > 0 then
    perform private.record_audit('alert.redelivered', 'alert', p_alert_id::text,
      v_alert.owner_id || private.admins_of(array[v_alert.org_id]), jsonb_build_object('deliveries', v_count));
  end if;
end
$$;
grant execute on function private.redeliver to authenticated;

-- Security definer: a marked test to one of the caller's channels, sent at once by the API; it has no job.
create function private.begin_test(p_channel_id uuid, p_payload text) returns uuid
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_id uuid;
begin
  if (select count(*) from watchpost.deliveries
      where channel_id = p_channel_id and type = 'channel.test' and created_at > now() - interval '1 day') >= 100 then
    raise exception 'This channel was tested a hundred times in a day. Wait, or look at what it answered: GET /channels/:id/deliveries.'
      using errcode = 'WP409';
  end if;
  insert into watchpost.deliveries (channel_id, type, status, payload, first_attempt_at)
  select c.id, 'channel.test', 'sending', p_payload, now()
  from watchpost.channels c
  where c.id = p_channel_id and c.deleted_at is null and private.can_write()
    and (c.owner_id = private.uid() or c.org_id = any(private.admin_orgs()))
  returning id into v_id;
  if v_id is not null then
    perform private.record_audit('channel.tested', 'channel', c.id::text, c.owner_id || private.admins_of(array[c.org_id]))
    from watchpost.channels c where c.id = p_channel_id;
  end if;
  return v_id;
end
$$;

create function private.end_test(
  p_delivery_id uuid, p_outcome text, p_status_code integer, p_duration_ms integer, p_error text, p_excerpt text
)
returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  update watchpost.deliveries d
  set status = case when p_outcome = 'ok' then 'succeeded' else 'failed' end,
      attempts = 1,
      last_error = p_error,
      delivered_at = case when p_outcome = 'ok' then now() end,
      updated_at = now()
  from watchpost.channels c
  where d.id = p_delivery_id and d.status = 'sending' and d.type = 'channel.test' and c.id = d.channel_id
    and private.can_write() and c.tenant_id = any(private.my_tenants());
  if found then
    insert into watchpost.delivery_attempts (delivery_id, attempt, outcome, status_code, duration_ms, error, response_excerpt)
    values (p_delivery_id, 1, p_outcome, p_status_code, p_duration_ms, p_error, p_excerpt);
  end if;
end
$$;
grant execute on function private.begin_test, private.end_test to authenticated;

-- Security definer, both: what is pending for a deleted zone or channel is cancelled with it.
create function private.cancel_pending() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if tg_table_name = 'zones' then
    update watchpost.deliveries d
    set status = 'cancelled', last_error = 'The zone was deleted.', updated_at = now()
    from watchpost.alerts a
    where a.zone_id = new.id and d.alert_id = a.id and d.status in ('queued', 'held', 'sending');
    update watchpost.alerts
    set status = 'failed', updated_at = now()
    where zone_id = new.id and status in ('pending', 'held');
  else
    with cancelled as (
      update watchpost.deliveries
      set status = 'cancelled', last_error = 'The channel was deleted.', updated_at = now()
      where channel_id = new.id and status in ('queued', 'held', 'sending')
      returning alert_id
    )
    update watchpost.alerts a
    set status = 'failed', updated_at = now()
    where a.id in (select alert_id from cancelled)
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

reset role;
