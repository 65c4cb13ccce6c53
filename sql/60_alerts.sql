-- Alerts and deliveries: what was decided, what was sent, and every attempt to send it.

set role watchpost_owner;

create table watchpost.alerts (
  id uuid primary key default gen_random_uuid(),
  zone_id uuid not null references watchpost.zones on delete cascade,
  zone_name text not null,
  owner_id uuid not null references watchpost.accounts on delete cascade,
  org_id uuid references watchpost.organisations on delete set null,
  scope_id uuid generated always as (coalesce(org_id, owner_id)) stored,
  event_id text not null,
  source text not null,
  subject text,
  event jsonb not null,
  severity double precision not null,
  reason text not null,
  status text not null check (status in ('pending', 'held', 'dispatched', 'failed', 'suppressed', 'recorded')),
  raised_at timestamptz not null,
  held_until timestamptz,
  dispatched_at timestamptz,
  channel text,
  checks jsonb not null,
  zone_version integer not null,
  event_revision integer not null,
  updates jsonb not null default '[]',
  resolved boolean not null default false,
  resolved_at timestamptz,
  resolved_via text check (resolved_via in ('api', 'console', 'mcp')),
  note text check (length(note) <= 4000),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (zone_id, event_id)
);
comment on table watchpost.alerts is 'One row per zone and event (per stay of a moving subject), with the event and the checks as they were.';
create index alerts_scope_raised on watchpost.alerts (scope_id, raised_at desc, id desc);
create index alerts_zone_raised on watchpost.alerts (zone_id, raised_at desc, id desc);
create index alerts_owner_id on watchpost.alerts (owner_id);
create index alerts_org_id on watchpost.alerts (org_id) where org_id is not null;
create index alerts_event_id on watchpost.alerts (event_id);
create index alerts_zone_subject on watchpost.alerts (zone_id, subject, raised_at desc) where subject is not null;
create index alerts_held on watchpost.alerts (zone_id, held_until) where status = 'held';
alter table watchpost.alerts enable row level security;
alter table watchpost.alerts force row level security;
create policy alerts_select on watchpost.alerts for select to authenticated
  using (scope_id = any((select private.my_scopes())::uuid[]));
create policy alerts_update on watchpost.alerts for update to authenticated
  using ((select private.can_write()) and scope_id = any((select private.my_scopes())::uuid[]))
  with check ((select private.can_write()) and scope_id = any((select private.my_scopes())::uuid[]));
create policy alerts_jobs on watchpost.alerts for all to watchpost_jobs
  using (true) with check (true);
grant select on watchpost.alerts to authenticated;
grant update (resolved, resolved_at, resolved_via, note, updated_at) on watchpost.alerts to authenticated;
grant select, insert, update on watchpost.alerts to watchpost_jobs;

create table watchpost.deliveries (
  id uuid primary key default gen_random_uuid(),
  alert_id uuid references watchpost.alerts on delete cascade,
  channel_id uuid not null references watchpost.channels on delete cascade,
  message text not null check (message ~ '^(alert\.(raised|revised|escalated|ended|retracted|digest)|channel\.test)$'),
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
-- A redelivery or digest is a new message about the same thing; a first one exists once.
create unique index deliveries_once on watchpost.deliveries (alert_id, channel_id, message, sequence)
  where redelivery_of is null and message <> 'alert.digest';
create index deliveries_channel_created on watchpost.deliveries (channel_id, created_at desc, id desc);
create index deliveries_alert_id on watchpost.deliveries (alert_id);
create index deliveries_redelivery_of on watchpost.deliveries (redelivery_of) where redelivery_of is not null;
create index deliveries_digest_id on watchpost.deliveries (digest_id) where digest_id is not null;
create index deliveries_open on watchpost.deliveries (updated_at) where status in ('queued', 'sending');
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
comment on table watchpost.delivery_attempts is 'Append-only: every attempt of a delivery and what the receiver answered. Kept 100 days.';
create index delivery_attempts_at on watchpost.delivery_attempts (at);
alter table watchpost.delivery_attempts enable row level security;
alter table watchpost.delivery_attempts force row level security;
create policy delivery_attempts_select on watchpost.delivery_attempts for select to authenticated
  using (exists (select from watchpost.deliveries d where d.id = delivery_id));
create policy delivery_attempts_jobs on watchpost.delivery_attempts for all to watchpost_jobs
  using (true) with check (true);
grant select on watchpost.delivery_attempts to authenticated;
grant select, insert on watchpost.delivery_attempts to watchpost_jobs;

-- An alert as the wire has it. Runs as its caller, so that deliveries on channels the caller cannot
-- see are left out; p_channel_id narrows them to one channel for the message that channel gets.
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
    'channel', a.channel,
    'deliveries', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', d.id,
        'channel_id', d.channel_id,
        'channel', coalesce(c.label, c.kind),
        'kind', d.message,
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

-- Security definer: new deliveries for an alert, each with its job; which alert and channels is
-- decided here by the caller's right to write and to manage the zone. errcode WP403 otherwise.
create function private.redeliver(p_alert_id uuid, p_delivery_ids uuid[]) returns setof uuid
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_alert watchpost.alerts;
  v_old record;
  v_new uuid;
begin
  select * into v_alert from watchpost.alerts where id = p_alert_id and scope_id = any(private.my_scopes());
  if not found then
    return;
  end if;
  if not private.can_write() or not (
    v_alert.owner_id = private.uid() or coalesce(v_alert.org_id = any(private.admin_orgs()), false)) then
    raise exception 'only the owner or an admin redelivers' using errcode = 'WP403';
  end if;
  for v_old in
    select d.id, d.channel_id, d.message, d.sequence
    from watchpost.deliveries d
    join watchpost.channels c on c.id = d.channel_id
    where d.alert_id = p_alert_id
      and c.deleted_at is null
      and c.scope_id = any(private.my_scopes())
      and case
        when p_delivery_ids is null then d.status in ('failed', 'expired')
        else d.id = any(p_delivery_ids)
      end
      and not exists (
        select from watchpost.deliveries again
        where again.redelivery_of = d.id and again.status in ('queued', 'sending'))
  loop
    insert into watchpost.deliveries (alert_id, channel_id, message, sequence, redelivery_of)
    values (p_alert_id, v_old.channel_id, v_old.message, v_old.sequence, v_old.id)
    returning id into v_new;
    perform private.enqueue('deliver', v_new, '{}', p_group => v_old.channel_id::text);
    return next v_new;
  end loop;
end
$$;
grant execute on function private.redeliver to authenticated;

-- Security definer: a marked test to one of the caller's channels, sent at once by the API; it has no job.
create function private.begin_test(p_channel_id uuid, p_payload text) returns uuid
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_id uuid;
begin
  insert into watchpost.deliveries (channel_id, message, status, payload, first_attempt_at)
  select c.id, 'channel.test', 'sending', p_payload, now()
  from watchpost.channels c
  where c.id = p_channel_id and c.deleted_at is null and private.can_write()
    and (c.owner_id = private.uid() or c.org_id = any(private.admin_orgs()))
  returning id into v_id;
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
  where d.id = p_delivery_id and d.status = 'sending' and d.message = 'channel.test' and c.id = d.channel_id
    and private.can_write() and c.scope_id = any(private.my_scopes());
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
    update watchpost.deliveries
    set status = 'cancelled', last_error = 'The channel was deleted.', updated_at = now()
    where channel_id = new.id and status in ('queued', 'held', 'sending');
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
