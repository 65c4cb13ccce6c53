-- Missions: tasks for agents, their steps and their results.

create table hub.missions (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  -- 'auto' until the agent is chosen.
  department text not null check (department in (
    'auto', 'research', 'web_research', 'marketing', 'sales', 'engineer', 'engineer_system', 'docs',
    'finance', 'legal', 'data', 'pm', 'system', 'ceo'
  )),
  -- How the department was chosen: given, by a phrase, by the model, by a schedule or by an alert.
  routed_by text not null default 'given'
    check (routed_by in ('given', 'phrase', 'model', 'schedule', 'alert', 'system')),
  routed_because hub.words,
  task text not null check (length(task) between 1 and 20000),
  input jsonb not null default '{}',
  status text not null default 'queued'
    check (status in ('queued', 'processing', 'done', 'failed', 'cancelled')),
  -- Why it waits, failed or was cancelled.
  reason hub.words,
  progress real not null default 0 check (progress between 0 and 1),
  tokens integer not null default 0,
  result jsonb,
  retry_of uuid references hub.missions on delete set null,
  -- What a queued mission waits for, other than its turn.
  waits_for text check (waits_for in ('model', 'approval', 'license')),
  -- The run that may write: after a run was taken over or cancelled, it changes nothing any more.
  run uuid,
  -- How often a run ended because the process ended.
  interruptions integer not null default 0,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  -- The mission whose result this one goes on from, and the first one of that conversation.
  continues uuid references hub.missions on delete set null,
  thread uuid references hub.missions on delete set null,
  -- Who asked for it, as {"kind", "id", "name"}.
  asked_by jsonb default private.current_actor()
);
comment on table hub.missions is 'Tasks for agents.';
create index missions_newest on hub.missions (project_id, created_at desc, id desc);
create index missions_open on hub.missions (status, created_at) where status in ('queued', 'processing');
create index missions_retry_of on hub.missions (retry_of);
create index missions_continues on hub.missions (continues);
create index missions_thread on hub.missions (thread);
alter table hub.missions enable row level security;
alter table hub.missions force row level security;
create policy missions_select on hub.missions for select to hub_ro, hub_rw, hub_data
  using (private.in_project(project_id));
create policy missions_write on hub.missions for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.missions to hub_ro, hub_data;
grant select, insert, update, delete on hub.missions to hub_rw;

alter table hub.evidence add constraint evidence_mission
  foreign key (mission_id) references hub.missions on delete set null;
create index evidence_mission on hub.evidence (mission_id);

create table hub.mission_steps (
  mission_id uuid not null references hub.missions on delete cascade,
  project_id uuid not null references hub.projects on delete cascade,
  position integer not null,
  name text not null,
  output jsonb,
  tokens integer not null default 0,
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  -- What was given and not used before this step, each in both languages.
  left_out jsonb not null default '[]',
  primary key (mission_id, position),
  constraint mission_steps_once unique (mission_id, name)
);
comment on table hub.mission_steps is 'The finished steps of a mission: after a kill it continues after the last one.';
create index mission_steps_project on hub.mission_steps (project_id);
alter table hub.mission_steps enable row level security;
alter table hub.mission_steps force row level security;
create policy mission_steps_select on hub.mission_steps for select to hub_ro, hub_rw
  using (private.in_project(project_id));
create policy mission_steps_write on hub.mission_steps for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.mission_steps to hub_ro;
grant select, insert, update, delete on hub.mission_steps to hub_rw;

-- The texts of a result before and after people edited them; the first is the agent's.
create table hub.result_versions (
  mission_id uuid not null references hub.missions on delete cascade,
  -- 'summary', or the path of a document.
  part text not null check (length(part) between 1 and 500),
  version integer not null check (version > 0),
  project_id uuid not null references hub.projects on delete cascade,
  text text not null check (length(text) <= 2000000),
  edited_by text not null check (edited_by in ('agent', 'session', 'token', 'file')),
  edited_at timestamptz not null default now(),
  -- {"kind", "id", "name"} of that person; null for the agent and the file.
  actor jsonb,
  primary key (mission_id, part, version)
);
comment on table hub.result_versions is 'The versions of an edited result of a mission.';
comment on column hub.result_versions.edited_by is
  'The agent; a person signed in with the admin''s password or with the token of scripts; or the file was changed by hand.';
create index result_versions_project on hub.result_versions (project_id);
alter table hub.result_versions enable row level security;
alter table hub.result_versions force row level security;
create policy result_versions_select on hub.result_versions for select to hub_ro, hub_rw
  using (private.in_project(project_id));
create policy result_versions_write on hub.result_versions for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.result_versions to hub_ro;
grant select, insert, update, delete on hub.result_versions to hub_rw;

-- Actions that need an approval, bound to a hash of what was shown, so that a change voids it.
create table hub.approvals (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  mission_id uuid references hub.missions on delete set null,
  kind text not null check (kind in ('external', 'destructive', 'prompt', 'process')),
  title hub.words not null,
  action jsonb not null,
  action_hash text not null,
  status text not null default 'waiting' check (status in ('waiting', 'approved', 'rejected', 'done', 'failed')),
  -- The result, or why it was rejected.
  outcome hub.words,
  decided_at timestamptz,
  created_at timestamptz not null default now(),
  -- Who decided, as {"kind", "id", "name"}.
  decided_by jsonb
);
comment on table hub.approvals is 'Actions that an agent may do only after an approval, bound to a hash of what was shown.';
create index approvals_waiting on hub.approvals (project_id, created_at desc);
create index approvals_mission on hub.approvals (mission_id);
alter table hub.approvals enable row level security;
alter table hub.approvals force row level security;
create policy approvals_select on hub.approvals for select to hub_ro, hub_rw
  using (private.in_project(project_id));
create policy approvals_write on hub.approvals for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.approvals to hub_ro;
grant select, insert, update, delete on hub.approvals to hub_rw;

create function private.name_decider() returns trigger
language plpgsql set search_path = '' as $$
begin
  if new.decided_at is distinct from old.decided_at then
    new.decided_by := case when new.decided_at is not null then private.current_actor() end;
  end if;
  return new;
end
$$;
create trigger approvals_decider before update of decided_at on hub.approvals
  for each row execute function private.name_decider();
