-- Drafts: mail on its way from a text to what was sent, each step by a conditional update.

create table hub.drafts (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  -- {"kind": "lead", "lead_id": …} or {"kind": "list", "filter": …}.
  audience jsonb not null,
  template text not null default 'letter' check (length(template) <= 60),
  language text not null default 'en' check (language in ('en', 'tr')),
  subject text not null default '' check (length(subject) <= 300),
  text text not null default '' check (length(text) <= 100000),
  slots jsonb not null default '{}',
  html text check (octet_length(html) <= 102400),
  state text not null default 'draft' check (state in (
    'draft', 'rendered', 'approved', 'pushed', 'sending', 'sent', 'unclear', 'rejected', 'failed'
  )),
  state_reason text check (length(state_reason) <= 2000),
  agent text,
  mission_id uuid references hub.missions on delete set null,
  -- The sentences that state a fact, each with the evidence it cites: [{"sentence", "evidence_ids"}].
  claims jsonb not null default '[]',
  -- Of the rendered bytes, sender, recipients and list, as they were approved.
  approved_hash text,
  approved_at timestamptz,
  listmonk_list_id int,
  listmonk_campaign_id int,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index drafts_newest on hub.drafts (project_id, created_at desc, id desc);
create index drafts_state on hub.drafts (state, updated_at);
create index drafts_mission on hub.drafts (mission_id);

-- The people an approved draft goes to, and what became of each mail.
create table hub.recipients (
  draft_id uuid not null references hub.drafts on delete cascade,
  project_id uuid not null references hub.projects on delete cascade,
  lead_id uuid references hub.leads on delete set null,
  email text not null check (length(email) <= 320),
  name text,
  state text not null default 'waiting'
    check (state in ('waiting', 'pushed', 'sending', 'sent', 'unclear', 'skipped', 'failed')),
  reason text check (length(reason) <= 2000),
  message_id text,
  token_hash text,
  sent_at timestamptz,
  opened_at timestamptz,
  clicked_at timestamptz,
  bounced_at timestamptz,
  replied_at timestamptz,
  unsubscribed_at timestamptz,
  primary key (draft_id, email)
);
create index recipients_lead on hub.recipients (lead_id);
create index recipients_project on hub.recipients (project_id, sent_at desc);
create index recipients_message on hub.recipients (message_id);
create unique index recipients_token on hub.recipients (token_hash);

alter table hub.drafts enable row level security;
alter table hub.drafts force row level security;
alter table hub.recipients enable row level security;
alter table hub.recipients force row level security;
create policy read_in_scope on hub.drafts for select to hub_ro, hub_rw, hub_data
using (private.in_scope(project_id));
create policy write_in_scope on hub.drafts for all to hub_rw
using (private.in_scope(project_id)) with check (private.in_scope(project_id));
create policy read_in_scope on hub.recipients for select to hub_ro, hub_rw, hub_data
using (private.in_scope(project_id));
create policy write_in_scope on hub.recipients for all to hub_rw
using (private.in_scope(project_id)) with check (private.in_scope(project_id));
grant select on hub.drafts, hub.recipients to hub_ro, hub_data;
grant select, insert, update, delete on hub.drafts, hub.recipients to hub_rw;
comment on table hub.drafts is 'Mail on its way: draft, rendered, approved, pushed, sent.';
comment on table hub.recipients is 'Who an approved draft goes to and what became of each mail.';
comment on column hub.recipients.token_hash is 'Of the token in this mail''s unsubscribe link.';

-- Who must never get mail again, from any project; only salted hashes, and nothing is ever removed.
create table hub.suppression (
  email_hash text primary key,
  reason text not null check (reason in ('unsubscribed', 'bounced', 'complained', 'manual', 'imported')),
  project_id uuid references hub.projects on delete set null,
  created_at timestamptz not null default now()
);
create index suppression_project on hub.suppression (project_id);
alter table hub.suppression enable row level security;
alter table hub.suppression force row level security;
create policy read_all on hub.suppression for select to hub_ro, hub_rw
using ((select private.scope()) is not null);
create policy add on hub.suppression for insert to hub_rw
with check ((select private.scope()) is not null);
grant select on hub.suppression to hub_ro;
grant select, insert on hub.suppression to hub_rw;
comment on table hub.suppression is 'Who must never get mail again, as salted hashes; shared by all projects.';
