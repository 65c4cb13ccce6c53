-- Projects: each isolated from the others, with a row and a folder.

create table hub.projects (
  id uuid primary key default gen_random_uuid(),
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{1,40}$'),
  name text not null check (length(name) between 1 and 120),
  website text check (length(website) <= 500),
  industry text check (length(industry) <= 200),
  icp text check (length(icp) <= 4000),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
comment on table hub.projects is 'Leads, drafts and missions belong to a project; the name of its folder is its slug.';
comment on column hub.projects.slug is 'Names the folder and is part of addresses; never changes.';
comment on column hub.projects.icp is 'The ideal customer profile when the project was created or last edited in the hub; agents read CONTEXT.md.';
alter table hub.projects enable row level security;
alter table hub.projects force row level security;
create policy projects_select on hub.projects for select to hub_ro, hub_rw, hub_data
  using ((select private.current_project()) = '*' or (select private.current_project()) = id::text);
create policy projects_write on hub.projects for all to hub_rw
  using ((select private.current_project()) = '*' or (select private.current_project()) = id::text)
  with check ((select private.current_project()) = '*' or (select private.current_project()) = id::text);
grant select on hub.projects to hub_ro, hub_data;
grant select, insert, update, delete on hub.projects to hub_rw;

-- How many projects are older than this one: those beyond the license's limit are read-only. Security definer: a
-- transaction sees only its own project.
create function private.older_projects(p_project_id uuid) returns integer
language sql stable security definer set search_path = '' as $$
  select count(*)::integer
  from hub.projects older
  join hub.projects project on project.id = p_project_id
  where (older.created_at, older.id) < (project.created_at, project.id)
$$;
grant execute on function private.older_projects to hub_ro, hub_rw;
