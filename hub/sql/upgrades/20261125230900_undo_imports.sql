alter table hub.imports add column undone_at timestamptz;
alter table hub.imports add column removed integer not null default 0 check (removed >= 0);
comment on column hub.imports.removed is 'Leads that undoing deleted; those on which something was built stayed.';
