-- Leads: people and companies that a project wants to win, with the facts about them and their sources.

-- Identifies a lead without an e-mail: the same name, company, phone and domain.
create function private.lead_identity(p_name text, p_company text, p_phone text, p_domain text) returns text
language sql immutable parallel safe set search_path = '' as $$
  select md5(
    coalesce(private.fold(p_name), '') || '|' || coalesce(private.fold(p_company), '') || '|'
    || coalesce(regexp_replace(p_phone, '[^0-9]', '', 'g'), '') || '|' || coalesce(p_domain, ''))
$$;
grant execute on function private.lead_identity to hub_ro, hub_rw;

create table hub.leads (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  name text check (length(name) <= 200),
  email text check (length(email) <= 320),
  company text check (length(company) <= 200),
  title text check (length(title) <= 200),
  phone text check (length(phone) <= 60),
  website text check (length(website) <= 500),
  country text check (length(country) <= 100),
  stage text not null default 'new'
    check (stage in ('new', 'contacted', 'replied', 'meeting', 'proposal', 'won', 'lost')),
  source text check (length(source) <= 200),
  lawful_basis text check (lawful_basis in ('consent', 'contract', 'legitimate_interest')),
  score integer check (score between 0 and 100),
  tags text[] not null default '{}',
  -- The domain of the e-mail or website, except those of mail providers; duplicates share it.
  domain text check (length(domain) <= 253),
  -- A stored column, because under row-level security an index is used only with leakproof operators: equality of
  -- texts is one, lower() is not.
  email_key text generated always as (lower(email)) stored,
  identity text generated always as (private.lead_identity(name, company, phone, domain)) stored,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint leads_named check (name is not null or email is not null or company is not null)
);
comment on table hub.leads is 'People and companies a project wants to win.';
comment on column hub.leads.email_key is 'The e-mail in lower case; unique in a project.';
comment on column hub.leads.identity is 'By this an import finds a lead without an e-mail.';
comment on column hub.leads.source is 'Where the lead came from, e.g. "fair.csv" or "mission <id>"; a check before sending requires it.';
comment on column hub.leads.lawful_basis is 'Why this person may be written to; without it nothing is sent.';
create unique index leads_email on hub.leads (project_id, email_key);
create index leads_stage on hub.leads (project_id, stage, created_at desc, id desc);
create index leads_newest on hub.leads (project_id, created_at desc, id desc);
create index leads_domain on hub.leads (project_id, domain);
create index leads_identity on hub.leads (project_id, identity);
alter table hub.leads enable row level security;
alter table hub.leads force row level security;
create policy leads_select on hub.leads for select to hub_ro, hub_rw, hub_data
  using (private.in_project(project_id));
create policy leads_write on hub.leads for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.leads to hub_ro, hub_data;
grant select, insert, update, delete on hub.leads to hub_rw;

create table hub.evidence (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  lead_id uuid references hub.leads on delete cascade,
  fact text not null check (length(fact) between 1 and 1000),
  quote text check (length(quote) <= 20000),
  source text not null check (length(source) between 1 and 500),
  mission_id uuid,
  created_at timestamptz not null default now()
);
comment on table hub.evidence is 'Facts about a lead with their sources; drafts may claim only these.';
comment on column hub.evidence.source is 'A URL, or the file and row of the fact.';
create index evidence_lead on hub.evidence (lead_id);
create index evidence_project on hub.evidence (project_id, created_at desc);
create index evidence_own on hub.evidence (project_id, created_at desc) where lead_id is null;
alter table hub.evidence enable row level security;
alter table hub.evidence force row level security;
create policy evidence_select on hub.evidence for select to hub_ro, hub_rw, hub_data
  using (private.in_project(project_id));
create policy evidence_write on hub.evidence for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.evidence to hub_ro, hub_data;
grant select, insert, update, delete on hub.evidence to hub_rw;

-- Notes, tasks and activities: together a lead's timeline.
create table hub.notes (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  lead_id uuid not null references hub.leads on delete cascade,
  text text not null check (length(text) between 1 and 10000),
  created_at timestamptz not null default now()
);
comment on table hub.notes is 'Notes about a lead.';
create index notes_lead on hub.notes (lead_id, created_at desc);
create index notes_project on hub.notes (project_id);
alter table hub.notes enable row level security;
alter table hub.notes force row level security;
create policy notes_select on hub.notes for select to hub_ro, hub_rw, hub_data
  using (private.in_project(project_id));
create policy notes_write on hub.notes for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.notes to hub_ro, hub_data;
grant select, insert, update, delete on hub.notes to hub_rw;

create table hub.tasks (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  lead_id uuid references hub.leads on delete cascade,
  title text not null check (length(title) between 1 and 500),
  due_on date,
  done_at timestamptz,
  created_at timestamptz not null default now()
);
comment on table hub.tasks is 'Tasks, mostly for a lead.';
create index tasks_lead on hub.tasks (lead_id);
create index tasks_open on hub.tasks (project_id, due_on) where done_at is null;
create index tasks_newest on hub.tasks (project_id, created_at desc, id desc);
alter table hub.tasks enable row level security;
alter table hub.tasks force row level security;
create policy tasks_select on hub.tasks for select to hub_ro, hub_rw, hub_data
  using (private.in_project(project_id));
create policy tasks_write on hub.tasks for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.tasks to hub_ro, hub_data;
grant select, insert, update, delete on hub.tasks to hub_rw;

create table hub.activities (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  lead_id uuid not null references hub.leads on delete cascade,
  kind text not null check (kind in (
    'created', 'imported', 'merged', 'edited', 'stage', 'tagged', 'moved', 'copied', 'note', 'task', 'task_done',
    'evidence', 'draft', 'approved', 'sent', 'opened', 'clicked', 'replied', 'bounced', 'unsubscribed', 'away',
    'answered', 'sequence', 'unmerged'
  )),
  details jsonb not null default '{}',
  at timestamptz not null default now(),
  -- {"kind", "id", "name"} at that time; null for the hub itself, and where it was not recorded yet.
  actor jsonb default private.current_actor()
);
comment on table hub.activities is 'What happened to a lead: its timeline.';
create index activities_lead on hub.activities (lead_id, at desc, id desc);
create index activities_project on hub.activities (project_id, at desc);
alter table hub.activities enable row level security;
alter table hub.activities force row level security;
create policy activities_select on hub.activities for select to hub_ro, hub_rw, hub_data
  using (private.in_project(project_id));
create policy activities_write on hub.activities for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.activities to hub_ro, hub_data;
grant select, insert, update, delete on hub.activities to hub_rw;
