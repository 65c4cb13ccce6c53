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
  first_reason text not null,
  status text not null check (status in ('pending', 'held', 'dispatched', 'failed', 'suppressed', 'recorded')),
  raised_at timestamptz not null,
  held_until timestamptz,
  dispatched_at timestamptz,
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
comment on column watchpost.alerts.id is 'The alert id in the API and in every message.';
comment on column watchpost.alerts.zone_id is 'Zone that was concerned.';
comment on column watchpost.alerts.zone_name is 'Label of the zone at that time.';
comment on column watchpost.alerts.owner_id is 'Owner of the zone, kept in step with it.';
comment on column watchpost.alerts.org_id is 'Organisation the zone is shared with, kept in step with it.';
comment on column watchpost.alerts.scope_id is 'Who may see it: organisation, else owner. Computed.';
comment on column watchpost.alerts.event_id is 'Event, or for a moving subject the position that began it.';
comment on column watchpost.alerts.source is 'Feed of the event.';
comment on column watchpost.alerts.subject is 'Moving subject of the stay; null for other events.';
comment on column watchpost.alerts.event is 'The event as it was told, so that it outlives the events table.';
comment on column watchpost.alerts.severity is 'Severity times the zones multiplier, at most 100.';
comment on column watchpost.alerts.reason is 'One sentence with the numbers of the decision.';
comment on column watchpost.alerts.first_reason is 'The sentence of the decision that raised it, beside the checks; reason follows the news.';
comment on column watchpost.alerts.status is 'pending, held (quiet hours), dispatched, failed, suppressed (never sent) or recorded (no channel).';
comment on column watchpost.alerts.raised_at is 'When the revision that raised it was first seen.';
comment on column watchpost.alerts.held_until is 'End of the quiet hours it waits for; null: not held.';
comment on column watchpost.alerts.dispatched_at is 'First delivery that succeeded.';
comment on column watchpost.alerts.checks is 'All eight checks of the decision with their numbers, for explain.';
comment on column watchpost.alerts.zone_version is 'Version of the zone that decided.';
comment on column watchpost.alerts.event_revision is 'Revision of the event it last spoke of.';
comment on column watchpost.alerts.updates is 'News since it was raised: list of time and kind.';
comment on column watchpost.alerts.resolved is 'Whether somebody has dealt with it.';
comment on column watchpost.alerts.resolved_at is 'When it was resolved; null while open.';
comment on column watchpost.alerts.resolved_via is 'How it was resolved: api, console or mcp.';
comment on column watchpost.alerts.note is 'What people wrote about it.';
comment on column watchpost.alerts.created_at is 'When the row was written.';
comment on column watchpost.alerts.updated_at is 'Last change of any kind; pollers ask by it.';
create index alerts_scope_raised on watchpost.alerts (scope_id, raised_at desc, id desc);
create index alerts_zone_raised on watchpost.alerts (zone_id, raised_at desc, id desc);
create index alerts_raised_at on watchpost.alerts (raised_at);
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
comment on column watchpost.deliveries.id is 'Also the webhook-id header and the id of its job.';
comment on column watchpost.deliveries.alert_id is 'Alert it tells of; null for a test.';
comment on column watchpost.deliveries.channel_id is 'Where it goes.';
comment on column watchpost.deliveries.message is 'What it says: alert.raised, alert.escalated, alert.digest, channel.test …';
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
create unique index deliveries_once on watchpost.deliveries (alert_id, channel_id, message, sequence)
  where redelivery_of is null and message <> 'alert.digest';
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
comment on table watchpost.delivery_attempts is 'Append-only: every attempt of a delivery and what the receiver answered. Kept 100 days.';
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

-- Of these zones, those all of whose readers see an event that belongs to an account or organisation:
-- an alert of a shared zone would tell its organisation what a private event, or another one's, said.
create function private.zones_for(p_zone_ids uuid[], p_scope_id uuid) returns uuid[]
language sql stable security definer set search_path = '' as $$
  select coalesce(array_agg(z.id), '{}')
  from watchpost.zones z
  where z.id = any(p_zone_ids) and (
    z.scope_id = p_scope_id or z.org_id is null and exists (
      select from watchpost.members o
      where o.org_id = p_scope_id and o.user_id = z.owner_id and o.status = 'active'))
$$;

-- Security definer: box operators are not leakproof. The zones that each revision of a batch may
-- concern: by box, least severity and filters, by memory of an earlier revision or position, or
-- changed since it was first seen. A superset: the decision itself is made in one place, not here.
create function private.batch_candidates(p_batch_id uuid)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb, zone_ids uuid[]
)
language plpgsql stable security definer set search_path = '' as $$
begin
  return query
  with r as materialized (
    select e.event_id, e.revision, e.first_seen_at, e.source, e.type, e.title, e.lat, e.lon, e.ts, e.severity,
      e.subject, e.status, e.url, e.geometry, e.extent, e.scope_id,
      e.event_id as key
    from watchpost.event_revisions e where e.batch_id = p_batch_id
    union all
    select p.event_id, 1, p.first_seen_at, p.source, p.type, p.title, p.lat, p.lon, p.ts, p.severity,
      p.subject, p.status, p.url, null::jsonb, p.extent, p.scope_id,
      p.subject
    from watchpost.positions p where p.batch_id = p_batch_id
  ),
  changed as materialized (
    select z.id from watchpost.zones z
    where z.updated_at > (select min(r.first_seen_at) from r) and z.deleted_at is null
  ),
  pairs as (
    select r.event_id, r.ts, b.zone_id
    from r
    join watchpost.zone_boxes b on b.box operator(pg_catalog.&&) r.extent
    where r.subject is null
      and b.needs <= r.severity::real
      and (b.sources is null or r.source = any(b.sources))
      and (b.types is null or r.type = any(b.types))
    union
    -- Of what moves every position counts, whatever its severity: stays begin and end with them.
    select r.event_id, r.ts, b.zone_id
    from r
    join watchpost.zone_boxes b on b.box operator(pg_catalog.&&) r.extent
    where r.subject is not null
      and (b.sources is null or r.source = any(b.sources))
      and (b.types is null or r.type = any(b.types))
    union
    select r.event_id, r.ts, m.zone_id
    from r
    join watchpost.match_memory m on m.key = r.key
    union
    select r.event_id, r.ts, c.id
    from r cross join changed c
  ),
  gathered as (
    select p.event_id, p.ts, array_agg(p.zone_id) as zone_ids
    from pairs p
    group by p.event_id, p.ts
  )
  select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts, r.severity,
    r.subject, r.status, r.url, r.geometry,
    case when r.scope_id is null then g.zone_ids else private.zones_for(g.zone_ids, r.scope_id) end
  from r
  join gathered g on g.event_id = r.event_id and g.ts = r.ts
  order by r.first_seen_at, r.ts, r.event_id, r.revision;
end
$$;
grant execute on function private.batch_candidates to watchpost_jobs;

-- Security definer: what a new or changed zone may concern: events that still stand, and revisions
-- first seen since its version, which matching may have missed while the change was not committed.
create function private.zone_candidates(p_zone_id uuid)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb, zone_ids uuid[], standing boolean
)
language plpgsql stable security definer set search_path = '' as $$
begin
  return query
  with zone as (
    select z.id, v.valid_from
    from watchpost.zones z
    join watchpost.zone_versions v on v.zone_id = z.id and v.version = z.version
    where z.id = p_zone_id and z.deleted_at is null
  )
  select distinct on (e.first_seen_at, e.ts, e.id)
    e.id, e.revision, e.first_seen_at, e.source, e.type, e.title, e.lat, e.lon, e.ts, e.severity, e.subject,
    e.status, e.url, e.geometry, array[zone.id], true
  from zone
  join watchpost.zone_boxes b on b.zone_id = zone.id
  join watchpost.events e on e.extent operator(pg_catalog.&&) b.box
  where e.status = 'active' and e.ends_at > now()
    and (e.scope_id is null or private.zones_for(array[zone.id], e.scope_id) <> '{}')
  union all
  select distinct on (r.first_seen_at, r.ts, r.event_id, r.revision)
    r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts, r.severity, r.subject,
    r.status, r.url, r.geometry, array[zone.id], false
  from zone
  join watchpost.zone_boxes b on b.zone_id = zone.id
  join watchpost.event_revisions r on r.extent operator(pg_catalog.&&) b.box and r.first_seen_at >= zone.valid_from
  join watchpost.batches done on done.id = r.batch_id and done.matched_at is not null
  where r.scope_id is null or private.zones_for(array[zone.id], r.scope_id) <> '{}'
  order by 3, 9, 1, 2;
end
$$;
grant execute on function private.zone_candidates to watchpost_jobs;

-- Security definer, these three: alerts, deliveries and jobs are born together, for the jobs' login.
-- New alerts from JSON, each with a delivery and job per channel; one that exists is left alone.
create function private.raise_alerts(p_alerts jsonb, p_wake_id uuid) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_ids uuid[];
begin
  with given as (
    select * from jsonb_to_recordset(p_alerts) as x (
      zone_id uuid, zone_name text, event_id text, source text, subject text, event jsonb, severity float8,
      reason text, status text, raised_at timestamptz, held_until timestamptz, checks jsonb,
      zone_version integer, event_revision integer)
  ),
  born as (
    insert into watchpost.alerts (
      zone_id, zone_name, owner_id, org_id, event_id, source, subject, event, severity, reason, first_reason, status,
      raised_at, held_until, checks, zone_version, event_revision)
    select g.zone_id, g.zone_name, z.owner_id, z.org_id, g.event_id, g.source, g.subject, g.event, g.severity,
      g.reason, g.reason, g.status, g.raised_at, g.held_until, g.checks, g.zone_version, g.event_revision
    from given g
    join watchpost.zones z on z.id = g.zone_id and z.deleted_at is null
    on conflict (zone_id, event_id) do nothing
    returning id
  )
  select array_agg(id) into v_ids from born;
  perform private.send_alerts(v_ids, p_wake_id);
end
$$;

-- The first message of alerts that go out or wait: deliveries with their jobs, the end of each wait,
-- and `recorded` where there is no channel.
create function private.send_alerts(p_ids uuid[], p_wake_id uuid) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_count bigint;
begin
  with sent as (
    insert into watchpost.deliveries as d (alert_id, channel_id, message, status)
    select a.id, c.channel_id, 'alert.raised', case a.status when 'held' then 'held' else 'queued' end
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id
    cross join lateral private.zone_channels(z.owner_id, z.org_id, z.channel_ids) c
    where a.id = any(p_ids) and a.status in ('pending', 'held')
    on conflict (alert_id, channel_id, message, sequence)
      where redelivery_of is null and message <> 'alert.digest'
    do update set status = 'queued', updated_at = now() where d.status = 'held' and excluded.status = 'queued'
    returning d.id, d.channel_id, d.status
  )
  select count(private.enqueue('deliver', s.id, jsonb_build_object('delivery_id', s.id), p_group => s.channel_id::text))
  into v_count
  from sent s where s.status = 'queued';

  perform private.enqueue(
    'release', md5(concat_ws('|', h.zone_id, h.held_until, p_wake_id))::uuid,
    jsonb_build_object('zone_id', h.zone_id), h.held_until)
  from (
    select distinct zone_id, held_until from watchpost.alerts
    where id = any(p_ids) and status = 'held' and held_until is not null
  ) h;

  update watchpost.alerts a
  set status = 'recorded', updated_at = now()
  where a.id = any(p_ids) and a.status in ('pending', 'held')
    and not exists (select from watchpost.deliveries d where d.alert_id = a.id);
end
$$;

-- Which alert news of an event is about: its own, or for a moving subject the one of its stay.
create function private.alert_of(p_zone_id uuid, p_event_id text, p_subject text) returns uuid
language sql stable security definer set search_path = '' as $$
  select coalesce(
    (select id from watchpost.alerts where zone_id = p_zone_id and event_id = p_event_id),
    (select id from watchpost.alerts
     where p_subject is not null and zone_id = p_zone_id and subject = p_subject
     order by raised_at desc limit 1))
$$;

-- Alerts that were suppressed or held and now get further, because it got worse. Of a stay it is
-- from now on about the position that took it further.
create function private.advance_alerts(p_alerts jsonb, p_wake_id uuid) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_ids uuid[];
begin
  with given as (
    select *, private.alert_of(x.zone_id, x.event_id, x.subject) as alert_id
    from jsonb_to_recordset(p_alerts) as x (
      zone_id uuid, event_id text, subject text, event jsonb, severity float8, reason text, status text,
      raised_at timestamptz, held_until timestamptz, checks jsonb, zone_version integer, event_revision integer)
  ),
  moved as (
    update watchpost.alerts a
    set event_id = g.event_id, event = g.event, severity = g.severity, reason = g.reason, first_reason = g.reason,
        status = g.status, raised_at = g.raised_at, held_until = g.held_until, checks = g.checks, zone_version = g.zone_version,
        event_revision = g.event_revision, updated_at = now()
    from given g
    where a.id = g.alert_id
      and (a.status in ('suppressed', 'held') or (a.status = 'recorded' and a.held_until is not null))
    returning a.id
  )
  select array_agg(id) into v_ids from moved;
  perform private.send_alerts(v_ids, p_wake_id);
end
$$;

-- News about alerts that exist: noted on each, and sent where the alert went when it is to be told now.
create function private.update_alerts(p_updates jsonb) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_update record;
  v_alert record;
  v_count bigint;
begin
  for v_update in
    select *, private.alert_of(x.zone_id, x.event_id, x.subject) as alert_id
    from jsonb_to_recordset(p_updates) as x (
      zone_id uuid, event_id text, subject text, event jsonb, kind text, at timestamptz, severity float8,
      reason text, send text, held_until timestamptz, event_revision integer)
  loop
    update watchpost.alerts a
    set updates = a.updates || jsonb_build_object('at', private.iso(v_update.at), 'kind', v_update.kind),
        event = v_update.event, severity = v_update.severity, reason = v_update.reason, event_revision = v_update.event_revision,
        updated_at = now()
    where a.id = v_update.alert_id
    returning a.id, jsonb_array_length(a.updates) as sequence into v_alert;
    continue when not found or v_update.send is null;
    with sent as (
      insert into watchpost.deliveries (alert_id, channel_id, message, sequence, status, next_attempt_at)
      select distinct d.alert_id, d.channel_id, 'alert.' || v_update.kind, v_alert.sequence,
        case v_update.send when 'held' then 'held' else 'queued' end, v_update.held_until
      from watchpost.deliveries d
      where d.alert_id = v_alert.id and d.status <> 'cancelled'
      on conflict do nothing
      returning id, channel_id, status
    )
    select count(private.enqueue('deliver', s.id, jsonb_build_object('delivery_id', s.id), p_group => s.channel_id::text))
    into v_count
    from sent s where s.status = 'queued';
    if v_update.send = 'held' then
      perform private.enqueue(
        'release', gen_random_uuid(), jsonb_build_object('zone_id', v_update.zone_id), v_update.held_until);
    end if;
  end loop;
end
$$;

-- What was held and whose time has come (alerts, and news about alerts) becomes one digest per
-- channel, or is cancelled when the zone was switched off or snoozed meanwhile. Says how many alerts.
create function private.release_held(p_zone_id uuid) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_zone watchpost.zones;
  v_alerts uuid[];
  v_held uuid[];
  v_channel uuid;
  v_digest uuid;
begin
  select * into v_zone from watchpost.zones where id = p_zone_id for share;
  if not found or v_zone.deleted_at is not null then
    return 0;
  end if;
  select array_agg(a.id) into v_alerts
  from (
    select id from watchpost.alerts
    where zone_id = p_zone_id and status = 'held' and held_until <= now()
    for update
  ) a;
  select array_agg(d.id), v_alerts || array_agg(d.alert_id) into v_held, v_alerts
  from watchpost.deliveries d
  join watchpost.alerts a on a.id = d.alert_id
  where a.zone_id = p_zone_id and d.status = 'held' and coalesce(d.next_attempt_at, a.held_until) <= now();
  if v_alerts is null then
    return 0;
  end if;
  if not v_zone.enabled or v_zone.snoozed_until > now() then
    update watchpost.deliveries
    set status = 'cancelled', last_error = 'The zone was switched off or snoozed.', updated_at = now()
    where id = any(v_held);
    update watchpost.alerts set status = 'suppressed', updated_at = now()
    where id = any(v_alerts) and status = 'held';
    return 0;
  end if;
  for v_channel in
    select distinct channel_id from watchpost.deliveries where id = any(v_held)
  loop
    insert into watchpost.deliveries (alert_id, channel_id, message)
    select d.alert_id, v_channel, 'alert.digest'
    from watchpost.deliveries d join watchpost.alerts a on a.id = d.alert_id
    where d.id = any(v_held) and d.channel_id = v_channel
    order by a.severity desc, a.raised_at, a.id
    limit 1
    returning id into v_digest;
    update watchpost.deliveries
    set status = 'queued', digest_id = v_digest, next_attempt_at = null, updated_at = now()
    where id = any(v_held) and channel_id = v_channel;
    perform private.enqueue('deliver', v_digest, jsonb_build_object('delivery_id', v_digest), p_group => v_channel::text);
  end loop;
  update watchpost.alerts a
  set status = case when exists (select from watchpost.deliveries d where d.alert_id = a.id) then 'pending' else 'recorded' end,
      updated_at = now()
  where a.id = any(v_alerts) and a.status = 'held';
  return (select count(distinct id) from unnest(v_alerts) as released (id));
end
$$;
grant execute on function private.raise_alerts, private.advance_alerts, private.update_alerts, private.release_held
  to watchpost_jobs;

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

-- What a delivery says, but for its type: the alert as its channel may see it, and for a digest all
-- the alerts it gathers, the most severe first.
create function private.card_of(d watchpost.deliveries) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'timestamp', case when d.message = 'alert.digest' then private.iso(d.created_at) else a.event ->> 'ts' end,
    'alert', private.alert_json(a, d.channel_id),
    'zone', jsonb_build_object('id', a.zone_id, 'label', a.zone_name))
    || case when d.message = 'alert.digest' then jsonb_build_object('alerts', (
      select jsonb_agg(private.alert_json(held, d.channel_id) order by held.severity desc, held.raised_at, held.id)
      from watchpost.alerts held
      where held.id in (select part.alert_id from watchpost.deliveries part where part.digest_id = d.id)
    )) else '{}' end
  from watchpost.alerts a
  where a.id = d.alert_id
$$;
grant execute on function private.card_of to watchpost_jobs;

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
    perform private.enqueue(
      'deliver', v_new, jsonb_build_object('delivery_id', v_new), p_group => v_old.channel_id::text);
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
  if v_id is not null then
    perform private.record('channel.tested', 'channel', p_channel_id::text, array[(
      select owner_id from watchpost.channels where id = p_channel_id)]);
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
