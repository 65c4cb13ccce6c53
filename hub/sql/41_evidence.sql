-- Evidence of drafts: what a model said about a sentence, and the sentences that a person stands for.

create table hub.opinions (
  project_id uuid not null references hub.projects on delete cascade,
  -- The hash of the sentence, of the evidence it was compared with and of the way of asking.
  key text not null check (length(key) between 1 and 64),
  model text not null check (length(model) between 1 and 200),
  verdict text not null check (verdict in ('supported', 'contradicted', 'not_stated')),
  evidence_ids uuid[] not null default '{}',
  quote text check (length(quote) <= 2000),
  created_at timestamptz not null default now(),
  primary key (project_id, key, model)
);
comment on table hub.opinions is 'What a model said about a sentence of a draft; an edit asks only about what changed.';
alter table hub.opinions enable row level security;
alter table hub.opinions force row level security;
create policy opinions_select on hub.opinions for select to hub_ro, hub_rw
  using (private.in_project(project_id));
create policy opinions_write on hub.opinions for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.opinions to hub_ro;
grant select, insert, update, delete on hub.opinions to hub_rw;

-- The words of a lead itself, in its reply: its "we" is the lead, and its "you" is us.
alter table hub.evidence add column said_by_lead boolean not null default false;

create table hub.stands (
  draft_id uuid not null references hub.drafts on delete cascade,
  -- The hash of the sentence, of its readers and of what the judge said; another of these is not stood for.
  basis text not null check (length(basis) between 1 and 64),
  project_id uuid not null references hub.projects on delete cascade,
  sentence text not null check (length(sentence) between 1 and 20000),
  verdict text not null check (verdict in ('unsure', 'contradicted')),
  stood_by text not null check (stood_by in ('session', 'token')),
  stood_at timestamptz not null default now(),
  -- {"kind", "id", "name"} of that person.
  actor jsonb default private.current_actor(),
  primary key (draft_id, basis)
);
comment on table hub.stands is 'Sentences without evidence that a person stands for.';
comment on column hub.stands.stood_by is 'How that person was signed in: with the admin''s password, or with the token of scripts.';
create index stands_project on hub.stands (project_id);
alter table hub.stands enable row level security;
alter table hub.stands force row level security;
create policy stands_select on hub.stands for select to hub_ro, hub_rw
  using (private.in_project(project_id));
create policy stands_write on hub.stands for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.stands to hub_ro;
grant select, insert, update, delete on hub.stands to hub_rw;
