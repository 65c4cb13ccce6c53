-- Imports: files of leads that are read row by row, so that the hub continues after the last row when it was killed.

create table hub.imports (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  file text not null check (length(file) between 1 and 200),
  -- The properties of the file and the choices: encoding, delimiter, mapping, duplicates and defaults.
  options jsonb not null,
  status text not null default 'queued' check (status in ('queued', 'processing', 'done', 'failed')),
  reason hub.words,
  -- Data rows in the file, and how many of them are done.
  total integer not null,
  handled integer not null default 0,
  created integer not null default 0,
  merged integer not null default 0,
  skipped integer not null default 0,
  refused integer not null default 0,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  -- Cells that were longer than a fact may be.
  cut integer not null default 0,
  constraint imports_handled check (handled between 0 and total)
);
comment on table hub.imports is 'Imports of leads; the file itself is deleted when its import is done.';
create index imports_newest on hub.imports (project_id, created_at desc, id desc);
create index imports_open on hub.imports (created_at) where status in ('queued', 'processing');
alter table hub.imports enable row level security;
alter table hub.imports force row level security;
create policy imports_select on hub.imports for select to hub_ro, hub_rw
  using (private.in_project(project_id));
create policy imports_write on hub.imports for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.imports to hub_ro;
grant select, insert, update, delete on hub.imports to hub_rw;

create table hub.import_errors (
  import_id uuid not null references hub.imports on delete cascade,
  project_id uuid not null references hub.projects on delete cascade,
  -- Counted as in a spreadsheet: the header is row 1.
  position integer not null,
  cells text[] not null,
  -- [{"column", "message": {"en", "tr"}}]
  mistakes jsonb not null,
  -- The lead of a row that was taken; null where the row was refused.
  lead_id uuid references hub.leads on delete cascade,
  primary key (import_id, position)
);
comment on table hub.import_errors is 'Rows of an import that were refused, or not taken as they were in the file, with the reason.';
create index import_errors_project on hub.import_errors (project_id);
create index import_errors_lead on hub.import_errors (lead_id);
alter table hub.import_errors enable row level security;
alter table hub.import_errors force row level security;
create policy import_errors_select on hub.import_errors for select to hub_ro, hub_rw
  using (private.in_project(project_id));
create policy import_errors_write on hub.import_errors for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.import_errors to hub_ro;
grant select, insert, update, delete on hub.import_errors to hub_rw;

-- The imported row, by its e-mail or identity: if it is imported again, it finds its lead, whatever was edited since.
alter table hub.evidence add column import_id uuid references hub.imports on delete set null;
alter table hub.evidence add column import_key text;
create index evidence_import on hub.evidence (import_id);
create index evidence_import_key on hub.evidence (project_id, import_key);

-- A column that no field of a lead takes is a fact of its own, which a later import of the same column replaces.
alter table hub.evidence add column import_column text check (length(import_column) between 1 and 300);
comment on column hub.evidence.import_column is 'The column of a list that says this about the lead; one fact for each.';
create unique index evidence_column on hub.evidence (lead_id, import_column) where import_column is not null;
