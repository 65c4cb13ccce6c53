-- Audit: who did what and when. Rows are only added; not even the service key can change or delete one.

create table hub.audit (
  id uuid primary key default gen_random_uuid(),
  at timestamptz not null default now(),
  -- {"kind", "id", "name"} at that time.
  actor jsonb not null,
  -- The operation of the API, e.g. approveDraft.
  action text not null check (length(action) between 1 and 80),
  -- The group of operations, e.g. Drafts.
  area text not null check (length(area) between 1 and 80),
  -- The slug, also of a project that was deleted since.
  project text check (length(project) <= 41),
  -- An id or another name of what it was done to.
  target text check (length(target) <= 200),
  -- The names of the fields and settings that were sent or changed, never their values.
  fields text[] not null default '{}',
  outcome text not null default 'done' check (outcome in ('done', 'refused')),
  -- How often, for refusals of one minute.
  count integer not null default 1 check (count > 0),
  address text check (length(address) <= 100)
);
comment on table hub.audit is 'Who did what and when, without contents; rows are only added.';
create index audit_newest on hub.audit (at desc, id desc);
create index audit_actor on hub.audit ((actor ->> 'id'), at desc);
alter table hub.audit enable row level security;
alter table hub.audit force row level security;
create policy audit_select on hub.audit for select to hub_ro, hub_rw
  using ((select private.current_project()) is not null and (select private.is_admin()));
create policy audit_insert on hub.audit for insert to hub_rw
  with check ((select private.current_project()) is not null);
grant select on hub.audit to hub_ro;
grant select, insert on hub.audit to hub_rw;

-- Takes the name of a member who was erased out of the audit, where nothing else can be changed. Security definer:
-- nobody has the right to update.
create function private.forget_actor(p_member_id uuid) returns integer
language sql security definer set search_path = '' as $$
  with changed as (
    update hub.audit set actor = actor || '{"name": null}'
    where actor ->> 'id' = p_member_id::text and actor ->> 'name' is not null
    returning 1
  )
  select count(*)::integer from changed
$$;
grant execute on function private.forget_actor to hub_rw;

-- What people read of an actor, in both languages. The names of members and agents are their own.
create function private.words_of_actor(p_actor jsonb) returns jsonb
language sql immutable parallel safe set search_path = '' as $$
  select case
    when p_actor is null then null
    when p_actor ->> 'name' is not null
      then jsonb_build_object('en', p_actor ->> 'name', 'tr', p_actor ->> 'name')
    when p_actor ->> 'kind' = 'admin' then '{"en": "First admin", "tr": "İlk yönetici"}'::jsonb
    when p_actor ->> 'kind' = 'api' then '{"en": "API", "tr": "API"}'::jsonb
    when p_actor ->> 'kind' = 'hub' then '{"en": "The hub", "tr": "Hub"}'::jsonb
    when p_actor ->> 'kind' = 'member' then '{"en": "A former member", "tr": "Eski bir üye"}'::jsonb
    else '{"en": "Unknown", "tr": "Bilinmiyor"}'::jsonb
  end
$$;
grant execute on function private.words_of_actor to hub_ro, hub_rw, hub_data;
