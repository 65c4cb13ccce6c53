-- Support: what people see in the dashboard, in plain names and without secrets. Only views, only for reading.

-- Of pg-boss's tables only what the two views below show; granted by the role that created them.
grant usage on schema pgboss to service_role;
grant select (name, retry_limit, dead_letter) on pgboss.queue to service_role;
grant select (id, name, data, state, retry_count, start_after, created_on, started_on, output, source_name,
    source_created_on, source_retry_count, source_output)
  on pgboss.job to service_role;

create schema support authorization watchpost_owner;
comment on schema support is 'Watchpost: views for people at the dashboard. No secrets, not exposed through PostgREST.';

set role watchpost_owner;

-- The views are security_invoker: service_role reads through them only what is granted here, which contains no secret
-- column; the dashboard's own role reads as a member of the owner.
grant usage on schema watchpost, private, support to service_role;
grant select on watchpost.accounts, watchpost.key_usage, watchpost.organisations, watchpost.sources,
  watchpost.alerts, watchpost.audit, watchpost.operator_acts to service_role;
grant select (id, user_id, name, prefix, scopes, expires_at, revoked_at, created_at)
  on watchpost.api_keys to service_role;
grant select (id, org_id, user_id, email, role, status, invited_by, invite_expires_at, joined_at, created_at)
  on watchpost.members to service_role;
grant select (
    id, owner_id, org_id, label, lat, lon, radius_km, shape_type, match, min_severity, severity_multiplier,
    dwell_minutes, quiet_hours_start, quiet_hours_end, quiet_hours_tz, quiet_windows, quiet_mode, emergency_severity,
    aftershocks, max_alerts_per_hour, escalation, channel_ids, sources, types, snoozed_until, enabled, version, created_at, updated_at, deleted_at,
    external_id)
  on watchpost.zones to service_role;
grant select (
    id, owner_id, org_id, kind, label, target_masked, config_masked, enabled, status, disabled_reason,
    failures, paused_until, created_at, updated_at, deleted_at)
  on watchpost.channels to service_role;
grant select (
    id, alert_id, channel_id, type, status, attempts, last_error, next_attempt_at, first_attempt_at,
    delivered_at, redelivery_of, created_at, updated_at)
  on watchpost.deliveries to service_role;
grant select (id, source, ts) on watchpost.events to service_role;
grant execute on function private.plan_limit, private.source_status, private.silent_after, private.is_garbled to service_role;

create view support.accounts with (security_invoker = true) as
select a.user_id, a.email, a.plan, a.created_at as signed_up_at,
  (select count(*) from watchpost.api_keys k
   where k.user_id = a.user_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())) as keys,
  (select count(*) from watchpost.zones z where z.owner_id = a.user_id and z.deleted_at is null) as zones,
  (select count(*) from watchpost.channels c where c.owner_id = a.user_id and c.deleted_at is null) as channels,
  (select string_agg(o.name, ', ' order by o.name)
   from watchpost.members m join watchpost.organisations o on o.id = m.org_id
   where m.user_id = a.user_id) as organisations,
  (select max(u.last_used_at)
   from watchpost.api_keys k join watchpost.key_usage u on u.key_id = k.id
   where k.user_id = a.user_id) as last_used_at,
  a.banned_until
from watchpost.accounts a;
comment on view support.accounts is 'Accounts with their plan and how much they have.';
comment on column support.accounts.plan is 'free, pro or enterprise; change it with the snippet "Change a plan".';
comment on column support.accounts.keys is 'Number of keys that work.';
comment on column support.accounts.zones is 'Zones it owns, without deleted ones.';
comment on column support.accounts.channels is 'Channels it owns, without deleted ones.';
comment on column support.accounts.last_used_at is 'When one of its keys was last used, accurate to about a minute.';
comment on column support.accounts.banned_until is 'Until then its keys and sessions are refused and its zones pause; null: never banned.';

create view support.plans with (security_invoker = true) as
select p.plan, p.plan <> 'free' as may_call,
  (select count(*) from watchpost.accounts a where a.plan = p.plan) as accounts,
  case p.plan when 'free' then 0 else private.plan_limit(p.plan, 'zones') end as zones,
  case p.plan when 'free' then 0 else private.plan_limit(p.plan, 'channels') end as channels,
  case p.plan when 'free' then 0 else private.plan_limit(p.plan, 'members') end as members,
  case p.plan when 'free' then 0 else private.plan_limit(p.plan, 'keys') end as keys
from unnest(array['free', 'pro', 'enterprise']) as p (plan);
comment on view support.plans is 'What each plan allows and how many accounts are on it.';
comment on column support.plans.may_call is 'Whether the API answers; below pro it answers 402 and zones pause.';
comment on column support.plans.members is 'Maximum of members and invites of an organisation with such an owner.';
comment on column support.plans.keys is 'Maximum of keys that work at the same time.';

create view support.api_keys with (security_invoker = true) as
select k.id, a.email, k.name, k.prefix, k.scopes,
  case
    when k.revoked_at is not null then 'revoked'
    when k.expires_at <= now() then 'expired'
    when private.is_banned(a.banned_until) then 'banned'
    when a.plan = 'free' then 'paused'
    else 'works'
  end as state,
  u.last_used_at, k.created_at, k.expires_at, k.revoked_at, k.user_id
from watchpost.api_keys k
join watchpost.accounts a on a.user_id = k.user_id
left join watchpost.key_usage u on u.key_id = k.id;
comment on view support.api_keys is 'API keys without their hashes.';
comment on column support.api_keys.id is 'Identifies the key in the audit log and in the snippet "Revoke a key".';
comment on column support.api_keys.prefix is 'First characters of the key, which its owner can read out.';
comment on column support.api_keys.state is 'works, paused (the plan is free), banned (the account is), expired or revoked.';
comment on column support.api_keys.last_used_at is 'When it was last used, accurate to about a minute; null: never.';

create view support.organisations with (security_invoker = true) as
select o.id, o.name,
  (select m.email from watchpost.members m where m.org_id = o.id and m.role = 'owner') as owner,
  (select count(*) from watchpost.members m where m.org_id = o.id and m.status = 'active') as members,
  (select count(*) from watchpost.members m where m.org_id = o.id and m.status = 'invited') as invited,
  (select count(*) from watchpost.zones z where z.org_id = o.id and z.deleted_at is null) as zones,
  (select count(*) from watchpost.channels c where c.org_id = o.id and c.deleted_at is null) as channels,
  o.created_at
from watchpost.organisations o;
comment on view support.organisations is 'Organisations and how much is shared with them.';
comment on column support.organisations.owner is 'Address of its owner, whose plan sets its limits.';
comment on column support.organisations.members is 'Members, including the owner.';
comment on column support.organisations.invited is 'Invites that are not accepted yet, including expired ones.';

create view support.members with (security_invoker = true) as
select m.id, o.name as organisation, m.email, m.role,
  case when m.status = 'invited' and m.invite_expires_at <= now() then 'invite expired' else m.status end as state,
  i.email as invited_by, m.invite_expires_at, m.joined_at, m.created_at, m.org_id, m.user_id
from watchpost.members m
join watchpost.organisations o on o.id = m.org_id
left join watchpost.accounts i on i.user_id = m.invited_by;
comment on view support.members is 'Members of organisations and invited people. The link itself is not stored.';
comment on column support.members.state is 'active, invited or invite expired.';
comment on column support.members.user_id is 'Id of the account; null while only invited.';

create view support.zones with (security_invoker = true) as
select z.id, z.label, a.email as owner, o.name as organisation,
  case
    when z.deleted_at is not null then 'deleted'
    when a.plan = 'free' or private.is_banned(a.banned_until) then 'paused'
    when not z.enabled then 'disabled'
    when z.snoozed_until > now() then 'snoozed'
    else 'watching'
  end as state,
  z.lat, z.lon, z.shape_type, z.radius_km, z.min_severity, z.severity_multiplier, z.dwell_minutes,
  coalesce(z.quiet_hours_start || ' to ' || z.quiet_hours_end, (
    select string_agg(concat_ws(' ', w.days, w.start, 'to', w."end"), ', ')
    from jsonb_array_elements(z.quiet_windows) with ordinality as j (value, nth)
    cross join lateral (
      select translate(j.value ->> 'days', '[]" ', '') as days, j.value ->> 'start' as start, j.value ->> 'end' as "end"
    ) w)) || ' ' || z.quiet_hours_tz || ', ' || z.quiet_mode as quiet_hours,
  z.emergency_severity, z.sources, z.types, cardinality(z.channel_ids) as channels, z.snoozed_until,
  (select max(l.raised_at) from watchpost.alerts l where l.zone_id = z.id and l.drill_id is null) as last_alert_at,
  z.created_at, z.updated_at, z.deleted_at, z.owner_id, z.org_id,
  (z.aftershocks ->> 'magnitude_gap')::float8 as aftershock_gap, z.max_alerts_per_hour, z.external_id
from watchpost.zones z
join watchpost.accounts a on a.user_id = z.owner_id
left join watchpost.organisations o on o.id = z.org_id;
comment on view support.zones is 'Zones with their owners, their rules and whether they are active.';
comment on column support.zones.organisation is 'Null: private.';
comment on column support.zones.state is 'watching, snoozed, disabled, paused (the owner''s plan is free, or they are banned) or deleted.';
comment on column support.zones.lat is 'With lon: the centre of a circle, or the position of a polygon''s label.';
comment on column support.zones.min_severity is 'Threshold for severity times severity_multiplier.';
comment on column support.zones.sources is 'Null: all feeds.';
comment on column support.zones.types is 'Null: all types.';
comment on column support.zones.channels is 'Number of chosen channels; 0: none; null: every enabled one.';
comment on column support.zones.aftershock_gap is 'Null: aftershocks are not excluded.';
comment on column support.zones.external_id is 'Null: it stands in no list.';
comment on column support.zones.deleted_at is 'Can be restored for 30 days from then on.';

create view support.channels with (security_invoker = true) as
select c.id, c.kind, c.label, a.email as owner, o.name as organisation,
  case
    when c.deleted_at is not null then 'deleted'
    when not c.enabled then 'disabled'
    when c.paused_until > now() then 'paused'
    else c.status
  end as state,
  c.disabled_reason, c.target_masked as target, c.config_masked as config, c.failures, c.paused_until,
  (select max(d.delivered_at) from watchpost.deliveries d
   where d.channel_id = c.id and d.created_at > now() - interval '30 days') as last_delivered_at,
  c.created_at, c.updated_at, c.deleted_at, c.owner_id, c.org_id
from watchpost.channels c
join watchpost.accounts a on a.user_id = c.owner_id
left join watchpost.organisations o on o.id = c.org_id;
comment on view support.channels is 'Where alerts are sent. Targets and configuration are masked, signing secrets left out.';
comment on column support.channels.organisation is 'Null: private.';
comment on column support.channels.state is 'ok, failing (it is retried), paused (after many failures), disabled or deleted.';
comment on column support.channels.failures is 'Failed attempts in a row.';
comment on column support.channels.last_delivered_at is 'Last delivery of the past 30 days that its receiver accepted.';
comment on column support.channels.deleted_at is 'Can be restored for 30 days from then on.';

create view support.feeds with (security_invoker = true) as
select s.source, s.title, private.source_status(s) as state, s.last_success_at, s.last_event_at,
  (select count(*) from watchpost.events e
   where e.source = s.source and e.ts > now() - interval '24 hours') as events_24h,
  s.error, s.error_at, s.enabled, s.interval_seconds, s.next_poll_at, s.types,
  s.paused_at, s.paused_reason
from watchpost.sources s;
comment on view support.feeds is 'The health of each feed, as at the public endpoint, with the errors.';
comment on column support.feeds.state is 'ok, stale (it answers but delivers nothing), down or disabled.';
comment on column support.feeds.events_24h is 'Events of the past day, without positions.';
comment on column support.feeds.enabled is 'Whether FEEDS names it; it is polled unless it is paused.';

create view support.alerts_today with (security_invoker = true) as
select l.id, l.raised_at, a.email as owner, o.name as organisation, l.zone_name as zone,
  l.event ->> 'title' as event, l.severity, l.status, l.reason, l.dispatched_at, l.held_until,
  (select count(*) from watchpost.deliveries d where d.alert_id = l.id and d.status = 'succeeded') as delivered,
  (select count(*) from watchpost.deliveries d
   where d.alert_id = l.id and d.status in ('failed', 'expired')) as failed,
  (select count(*) from watchpost.deliveries d
   where d.alert_id = l.id and d.status in ('queued', 'sending', 'held')) as waiting,
  l.resolved, l.zone_id, l.event_id, l.owner_id, l.org_id
from watchpost.alerts l
join watchpost.accounts a on a.user_id = l.owner_id
left join watchpost.organisations o on o.id = l.org_id
where l.raised_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' and l.drill_id is null
order by l.raised_at desc;
comment on view support.alerts_today is 'Alerts raised since midnight UTC, newest first, with their deliveries; without drills.';
comment on column support.alerts_today.severity is 'The effective severity in the zone.';
comment on column support.alerts_today.status is 'pending, held, dispatched, failed, suppressed or recorded (no channel).';
comment on column support.alerts_today.delivered is 'Messages that arrived.';
comment on column support.alerts_today.failed is 'Messages that failed for good.';
comment on column support.alerts_today.waiting is 'Messages still to send.';

create view support.deliveries_failing with (security_invoker = true) as
select d.id, d.updated_at, a.email as owner, c.kind, c.label as channel, c.target_masked as target, d.type,
  d.status, d.attempts, d.last_error, d.next_attempt_at, d.created_at, l.zone_name as zone,
  d.alert_id, d.channel_id
from watchpost.deliveries d
join watchpost.channels c on c.id = d.channel_id
join watchpost.accounts a on a.user_id = c.owner_id
left join watchpost.alerts l on l.id = d.alert_id
where d.status in ('queued', 'sending') and d.attempts > 0
   or d.status in ('failed', 'expired') and d.updated_at > now() - interval '7 days'
order by d.updated_at desc;
comment on view support.deliveries_failing is 'Messages being retried, and those that failed for good in the past 7 days, newest first.';
comment on column support.deliveries_failing.id is 'Id of the delivery, which is the webhook-id of every attempt.';
comment on column support.deliveries_failing.status is 'queued or sending (retried), failed or expired (failed for good).';
comment on column support.deliveries_failing.zone is 'Zone of the alert; null without one.';
comment on column support.deliveries_failing.alert_id is 'The alert of the message; null for a test, and for one about a source.';

create view support.queue with (security_invoker = true) as
select q.name as queue,
  count(*) filter (where j.state::text in ('created', 'retry') and j.start_after <= now()) as waiting,
  count(*) filter (where j.state::text in ('created', 'retry') and j.start_after > now()) as later,
  count(*) filter (where j.state::text = 'active') as running,
  count(*) filter (where j.state::text = 'retry') as retrying,
  now() - min(j.start_after) filter (
    where j.state::text in ('created', 'retry') and j.start_after <= now()) as oldest
from pgboss.queue q
left join pgboss.job j on j.name = q.name
group by q.name
order by q.name;
comment on view support.queue is 'Jobs of each queue. Those in "dead" have used up their retries; see dead_letters.';
comment on column support.queue.waiting is 'Jobs that may run now.';
comment on column support.queue.later is 'Jobs that may run later: retries, and those scheduled for a later time.';
comment on column support.queue.oldest is 'How long the first waiting job has been due; if it is minutes, the jobs are not running.';

create view support.dead_letters with (security_invoker = true) as
select j.id, j.created_on as died_at, j.source_name as queue, j.data, j.source_retry_count as retries,
  coalesce(j.source_output ->> 'message', j.source_output #>> '{}') as error, j.source_created_on as enqueued_at
from pgboss.job j
where j.name = 'dead' and j.state::text in ('created', 'retry')
order by j.created_on desc;
comment on view support.dead_letters is 'Jobs that have used up their retries, kept for 90 days; the snippet "Requeue dead letters" puts them back.';
comment on column support.dead_letters.data is 'What the job was about: only ids.';

create view support.audit with (security_invoker = true) as
select u.id, u.at, a.email as account, case
    when u.actor_id is null then coalesce('operator ' || coalesce(u.details ->> 'operator', u.details ->> 'via'), 'service')
    else coalesce(b.email, u.actor_id::text)
  end as actor,
  u.action, u.outcome, u.target_type, u.target_id, k.name as key, u.ip, u.user_agent, u.details, u.request_id,
  u.account_id, u.actor_id, u.key_id
from watchpost.audit u
left join watchpost.accounts a on a.user_id = u.account_id
left join watchpost.accounts b on b.user_id = u.actor_id
left join watchpost.api_keys k on k.id = u.key_id
order by u.at desc;
comment on view support.audit is 'Who did what, newest first; one row per account concerned.';
comment on column support.audit.account is 'Account whose log contains the row; null once it is deleted.';
comment on column support.audit.actor is 'Address of the actor, or operator with the name, else the login used.';
comment on column support.audit.target_id is 'Its id, or the route of a refusal.';
comment on column support.audit.details is 'What changed, before and after, without secrets.';

create view support.operator_acts with (security_invoker = true) as
select o.id, o.at, o.operator, o.via, o.action, o.target_type, o.target_id, o.details
from watchpost.operator_acts o
order by o.at desc;
comment on view support.operator_acts is 'What operators did by a command or on the operator page, newest first.';
comment on column support.operator_acts.operator is 'The name that was given with the sign-in link, or the user of the machine.';

grant select on all tables in schema support to service_role;

reset role;
