-- Drills: made-up alerts that go the whole way of a real one, each marked in all that is said of it. What they do is
-- in 68_drilling.sql.

set role watchpost_owner;

create table watchpost.drills (
  id uuid primary key default gen_random_uuid(),
  zone_id uuid not null references watchpost.zones on delete cascade,
  created_by uuid references watchpost.accounts on delete set null,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  event jsonb not null,
  ignores_quiet_hours boolean not null,
  escalates boolean not null,
  decided_at timestamptz,
  decision jsonb,
  channels jsonb not null default '[]',
  escalation jsonb,
  check ((decided_at is null) = (decision is null))
);
comment on table watchpost.drills is 'One row per fire drill of a zone: what it pretends, and what was decided about it.';
comment on column watchpost.drills.created_by is 'Account that asked for it; null: deleted since.';
comment on column watchpost.drills.event is 'The event that it pretends.';
comment on column watchpost.drills.ignores_quiet_hours is 'Whether it is sent in quiet hours, too.';
comment on column watchpost.drills.escalates is 'Whether the steps of the zone run if nobody acknowledges it.';
comment on column watchpost.drills.decided_at is 'Null: no job has taken it up yet.';
comment on column watchpost.drills.decision is 'zone_version, outcome, raised, is_sent, held_until, reason and checks.';
comment on column watchpost.drills.channels is 'The channels of the zone when it was decided, each with why it gets nothing; null: it gets it.';
comment on column watchpost.drills.escalation is 'The steps of the zone when it was decided.';
create index drills_zone_created on watchpost.drills (zone_id, created_at);
create index drills_created_by on watchpost.drills (created_by) where created_by is not null;
create index drills_created_at on watchpost.drills (created_at);
alter table watchpost.drills enable row level security;
alter table watchpost.drills force row level security;
create policy drills_jobs on watchpost.drills for select to watchpost_jobs using (true);
grant select on watchpost.drills to watchpost_jobs;

reset role;
