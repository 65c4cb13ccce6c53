-- Alerts: what was decided about an event in a zone, and what became of it.

set role watchpost_owner;

create table watchpost.alerts (
  id uuid primary key default gen_random_uuid(),
  zone_id uuid not null references watchpost.zones on delete cascade,
  zone_name text not null,
  owner_id uuid not null references watchpost.accounts on delete cascade,
  org_id uuid references watchpost.organisations on delete set null,
  tenant_id uuid generated always as (coalesce(org_id, owner_id)) stored,
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
  current jsonb,
  resolved_by uuid references watchpost.accounts on delete set null,
  changed_in xid8 not null default pg_current_xact_id(),
  news jsonb,
  seen_at timestamptz,
  seen_by uuid references watchpost.accounts on delete set null,
  seen_via text check (seen_via in ('api', 'console', 'mcp', 'channel')),
  seen_channel_id uuid references watchpost.channels on delete set null,
  drill_id uuid references watchpost.drills on delete cascade,
  unique (zone_id, event_id),
  check ((seen_at is null) = (seen_via is null)),
  check (seen_channel_id is null or seen_via = 'channel')
);
comment on table watchpost.alerts is 'One row per zone and event (per stay of a moving subject), with the event and the checks as they were.';
comment on column watchpost.alerts.zone_name is 'Label of the zone when it was raised.';
comment on column watchpost.alerts.owner_id is 'With org_id: of the zone, kept in step with it.';
comment on column watchpost.alerts.tenant_id is 'Whose it is: organisation, else owner.';
comment on column watchpost.alerts.event_id is 'Event, or for a moving subject the position that began it; alert_events has those of other sources.';
comment on column watchpost.alerts.subject is 'Moving subject of the stay; null for other events.';
comment on column watchpost.alerts.event is 'The event as it was when the alert was raised, so that it outlives the events table.';
comment on column watchpost.alerts.current is 'The event as it was told last; null: nothing was told since.';
comment on column watchpost.alerts.resolved_by is 'Account that resolved it.';
comment on column watchpost.alerts.severity is 'Severity of the event times the multiplier of the zone, at most 100.';
comment on column watchpost.alerts.first_reason is 'The sentence of the decision that raised it, beside the checks; reason follows the news.';
comment on column watchpost.alerts.status is 'held waits for the end of quiet hours or of a burst; suppressed is never sent; recorded has no channel.';
comment on column watchpost.alerts.news is 'What the reason follows: update, how a stay ended, and the checks; null: the checks that raised it.';
comment on column watchpost.alerts.raised_at is 'When the revision that raised it was first seen.';
comment on column watchpost.alerts.held_until is 'Null: not held.';
comment on column watchpost.alerts.dispatched_at is 'First delivery that succeeded.';
comment on column watchpost.alerts.checks is 'All checks of the decision with their numbers, for explain.';
comment on column watchpost.alerts.event_revision is 'Revision of the event it last spoke of.';
comment on column watchpost.alerts.updates is 'News since it was raised: list of time, kind and changes (field to [from, to]).';
comment on column watchpost.alerts.updated_at is 'Last change of any kind.';
comment on column watchpost.alerts.seen_at is 'When it was acknowledged first since it was raised or escalated last; null: by nobody.';
comment on column watchpost.alerts.seen_by is 'Account that acknowledged it; null through the link of a message, which knows no person.';
comment on column watchpost.alerts.seen_channel_id is 'Channel whose message had the link.';
comment on column watchpost.alerts.changed_in is 'Transaction of its last change, or of one of its deliveries; followers are told by it.';
comment on column watchpost.alerts.drill_id is 'The drill that it belongs to; null: it is about a real event. No policy shows the alert of a drill.';
create index alerts_tenant_raised on watchpost.alerts (tenant_id, raised_at desc, id desc);
create index alerts_zone_raised on watchpost.alerts (zone_id, raised_at desc, id desc);
create index alerts_raised_at on watchpost.alerts (raised_at);
create index alerts_owner_id on watchpost.alerts (owner_id);
create index alerts_org_id on watchpost.alerts (org_id) where org_id is not null;
create index alerts_resolved_by on watchpost.alerts (resolved_by) where resolved_by is not null;
create index alerts_seen_by on watchpost.alerts (seen_by) where seen_by is not null;
create index alerts_seen_channel_id on watchpost.alerts (seen_channel_id) where seen_channel_id is not null;
create index alerts_drill_id on watchpost.alerts (drill_id) where drill_id is not null;
create index alerts_event_id on watchpost.alerts (event_id);
create index alerts_zone_subject on watchpost.alerts (zone_id, subject, raised_at desc) where subject is not null;
create index alerts_held on watchpost.alerts (zone_id, held_until) where status = 'held';
alter table watchpost.alerts enable row level security;
alter table watchpost.alerts force row level security;
create policy alerts_select on watchpost.alerts for select to authenticated
  using (drill_id is null and tenant_id = any((select private.my_tenants())::uuid[]));
create policy alerts_update on watchpost.alerts for update to authenticated
  using ((select private.can_write()) and drill_id is null and tenant_id = any((select private.my_tenants())::uuid[]))
  with check ((select private.can_write()) and drill_id is null and tenant_id = any((select private.my_tenants())::uuid[]));
create policy alerts_jobs on watchpost.alerts for all to watchpost_jobs
  using (true) with check (true);
grant select on watchpost.alerts to authenticated;
grant update (resolved, resolved_at, resolved_by, resolved_via, note, updated_at, seen_at, seen_by, seen_via)
  on watchpost.alerts to authenticated;
grant select, insert, update on watchpost.alerts to watchpost_jobs;

create table watchpost.alert_events (
  zone_id uuid not null references watchpost.zones on delete cascade,
  event_id text not null,
  alert_id uuid not null references watchpost.alerts on delete cascade,
  source text not null,
  event jsonb not null,
  event_revision integer not null,
  link jsonb,
  checks jsonb not null,
  reason text not null,
  zone_version integer not null,
  added_at timestamptz not null,
  primary key (zone_id, event_id)
);
comment on table watchpost.alert_events is 'Further events of an alert: other sources reported the same thing.';
comment on column watchpost.alert_events.zone_id is 'Of the alert. An event belongs to one alert of a zone.';
comment on column watchpost.alert_events.event is 'The event as it was told last, so that it outlives the events table.';
comment on column watchpost.alert_events.event_revision is 'Revision of the event it last spoke of.';
comment on column watchpost.alert_events.link is 'Why it is the same, with the numbers; null: it raised the alert before a later event took that further.';
comment on column watchpost.alert_events.checks is 'With reason and zone_version: the decision that added it, for explain.';
comment on column watchpost.alert_events.added_at is 'When the revision that was added was first seen.';
create index alert_events_alert_id on watchpost.alert_events (alert_id, added_at, event_id);
create index alert_events_event_id on watchpost.alert_events (event_id);
alter table watchpost.alert_events enable row level security;
alter table watchpost.alert_events force row level security;
create policy alert_events_select on watchpost.alert_events for select to authenticated
  using (exists (select from watchpost.alerts a where a.id = alert_id));
create policy alert_events_jobs on watchpost.alert_events for all to watchpost_jobs
  using (true) with check (true);
grant select on watchpost.alert_events to authenticated;
grant select, insert, update, delete on watchpost.alert_events to watchpost_jobs;

reset role;
