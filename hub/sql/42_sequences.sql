-- Sequences: mails in steps with days between, approved once for all their recipients. A step is a draft.

create table hub.sequences (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  name text not null check (length(name) between 1 and 120),
  language text not null default 'en' check (language in ('en', 'tr')),
  -- The filter of an audience of the kind `list`.
  filter jsonb not null default '{}',
  -- {"days": ["mon", …], "from": "09:00", "to": "17:00", "time_zone": …}
  send_window jsonb not null,
  state text not null default 'draft' check (state in ('draft', 'running', 'paused', 'done', 'stopped')),
  state_reason hub.words,
  agent text,
  mission_id uuid references hub.missions on delete set null,
  -- Of all that is sent, to whom and when, as it was approved; null: not approved.
  approved_hash text,
  approved_at timestamptz,
  -- What was approved: the sender, and the sentences of each step.
  approved jsonb,
  started_at timestamptz,
  ended_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- When a person first changed the mails that its agent wrote.
  edited_at timestamptz
);
comment on table hub.sequences is 'Mails in steps with days between, approved once for all recipients.';
create index sequences_newest on hub.sequences (project_id, created_at desc, id desc);
create index sequences_running on hub.sequences (state) where state in ('running', 'paused');
create index sequences_mission on hub.sequences (mission_id);
alter table hub.sequences enable row level security;
alter table hub.sequences force row level security;
create policy sequences_select on hub.sequences for select to hub_ro, hub_rw, hub_data
  using (private.in_project(project_id));
create policy sequences_write on hub.sequences for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.sequences to hub_ro, hub_data;
grant select, insert, update, delete on hub.sequences to hub_rw;

-- The recipients of an approved sequence; what became of each mail is in hub.recipients.
create table hub.sequence_recipients (
  sequence_id uuid not null references hub.sequences on delete cascade,
  project_id uuid not null references hub.projects on delete cascade,
  lead_id uuid references hub.leads on delete set null,
  email text not null check (length(email) <= 320),
  name text,
  company text,
  -- A mail goes when it is office hours in all of these.
  time_zones text[] not null check (cardinality(time_zones) > 0),
  state text not null default 'active' check (state in ('active', 'done', 'stopped')),
  stop_reason text check (stop_reason in (
    'replied', 'bounced', 'complained', 'opted_out', 'stage', 'lead_deleted', 'erased', 'taken_out', 'left_out',
    'failed', 'sequence_stopped'
  )),
  stop_detail hub.words,
  -- Away until then, by an automatic answer.
  wait_until timestamptz,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (sequence_id, email),
  constraint sequence_recipients_stopped check ((state = 'stopped') = (stop_reason is not null))
);
comment on table hub.sequence_recipients is 'The recipients of an approved sequence, each with its state and why it stopped.';
create unique index sequence_recipients_one on hub.sequence_recipients (project_id, email) where state = 'active';
create index sequence_recipients_project on hub.sequence_recipients (project_id);
create index sequence_recipients_lead on hub.sequence_recipients (lead_id);
create index sequence_recipients_email on hub.sequence_recipients (email) where state = 'active';
alter table hub.sequence_recipients enable row level security;
alter table hub.sequence_recipients force row level security;
create policy sequence_recipients_select on hub.sequence_recipients for select to hub_ro, hub_rw, hub_data
  using (private.in_project(project_id));
create policy sequence_recipients_write on hub.sequence_recipients for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.sequence_recipients to hub_ro, hub_data;
grant select, insert, update, delete on hub.sequence_recipients to hub_rw;

-- A draft that is a step of a sequence: the first is 1; the days count from the step before it.
alter table hub.drafts add column sequence_id uuid references hub.sequences on delete cascade;
alter table hub.drafts add column step integer check (step between 1 and 12);
alter table hub.drafts add column wait_days integer check (wait_days between 0 and 90);
-- Its subject is that of the first step with Re: before it.
alter table hub.drafts add column is_reply boolean not null default false;
alter table hub.drafts add constraint drafts_step check (
  (sequence_id is null) = (step is null) and (sequence_id is null) = (wait_days is null));
-- Deferred, so that steps can change places.
alter table hub.drafts add constraint drafts_step_once unique (sequence_id, step) deferrable initially deferred;

-- The office hours in which the mail of a step may go; after them it is given new ones.
alter table hub.recipients add column due_at timestamptz;
alter table hub.recipients add column due_until timestamptz;
