-- Missions that go on from a result, and results that people edit.

alter table hub.missions
  add column continues uuid references hub.missions on delete set null,
  add column thread uuid references hub.missions on delete set null;
create index missions_continues on hub.missions (continues);
create index missions_thread on hub.missions (thread);

create table hub.result_versions (
  mission_id uuid not null references hub.missions on delete cascade,
  -- 'summary', or the path of a document.
  part text not null check (length(part) between 1 and 500),
  version integer not null check (version > 0),
  project_id uuid not null references hub.projects on delete cascade,
  text text not null check (length(text) <= 2000000),
  edited_by text not null check (edited_by in ('agent', 'session', 'token', 'file')),
  edited_at timestamptz not null default now(),
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
