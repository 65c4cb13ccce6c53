-- The events of missions, in order: streamed to the page, and continued after an interruption.

create table hub.mission_events (
  id bigint generated always as identity primary key,
  project_id uuid not null references hub.projects on delete cascade,
  mission_id uuid not null references hub.missions on delete cascade,
  kind text not null check (kind in ('state', 'step')),
  data jsonb not null default '{}',
  at timestamptz not null default now()
);
comment on table hub.mission_events is 'States and finished steps of missions, in their order.';
create index mission_events_mission on hub.mission_events (mission_id, id);
create index mission_events_project on hub.mission_events (project_id);
alter table hub.mission_events enable row level security;
alter table hub.mission_events force row level security;
create policy mission_events_select on hub.mission_events for select to hub_ro, hub_rw
  using (private.in_project(project_id));
create policy mission_events_write on hub.mission_events for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.mission_events to hub_ro;
grant select, insert, update, delete on hub.mission_events to hub_rw;

-- After a restore the numbers continue after those that it brings.
grant usage, update on sequence hub.mission_events_id_seq to hub_rw;
