-- Members: the people of the hub and the keys of scripts, what each may do, and who does something in a transaction.

-- Who acts in this transaction: {"kind", "id", "name"}; null for the hub itself.
create function private.current_actor() returns jsonb
language sql stable
return nullif(current_setting('hub.actor', true), '')::jsonb - 'role';

-- Whether the hub itself acts, or somebody with the role of an admin.
create function private.is_admin() returns boolean
language sql stable
return coalesce(nullif(current_setting('hub.actor', true), '')::jsonb ->> 'role', 'admin') = 'admin';

grant execute on function private.current_actor, private.is_admin to hub_ro, hub_rw, hub_data;

create table hub.members (
  id uuid primary key default gen_random_uuid(),
  email text not null check (length(email) between 3 and 320),
  name text check (length(name) between 1 and 120),
  role text not null check (role in ('admin', 'seller', 'reader')),
  -- A salted scrypt hash; null until the invitation was accepted.
  password_hash text check (length(password_hash) <= 200),
  -- Sessions of another number have ended.
  session_epoch integer not null default 1,
  -- The open link to set a password: of an invitation, or of an admin who resets it.
  link_hash text check (length(link_hash) = 64),
  link_ends_at timestamptz,
  created_at timestamptz not null default now(),
  joined_at timestamptz,
  removed_at timestamptz,
  -- Who invited, as {"kind", "id", "name"}.
  invited_by jsonb default private.current_actor(),
  email_key text generated always as (lower(email)) stored,
  constraint members_link check ((link_hash is null) = (link_ends_at is null))
);
comment on table hub.members is
  'The people who were invited. No row is ever deleted, so that no restore gives back what was taken from somebody.';
create unique index members_email on hub.members (email_key) where removed_at is null;
create unique index members_link on hub.members (link_hash);
alter table hub.members enable row level security;
alter table hub.members force row level security;
create policy members_select on hub.members for select to hub_ro, hub_rw
  using ((select private.current_project()) is not null);
create policy members_insert on hub.members for insert to hub_rw
  with check ((select private.is_admin()));
create policy members_update on hub.members for update to hub_rw
  using ((select private.is_admin()))
  with check ((select private.is_admin()));
grant select on hub.members to hub_ro;
grant select, insert, update on hub.members to hub_rw;

create table hub.api_keys (
  id uuid primary key default gen_random_uuid(),
  name text not null check (length(name) between 1 and 120),
  -- `propose` also creates leads, notes, drafts and missions; `write` does what a seller may; `admin` everything.
  scope text not null check (scope in ('read', 'propose', 'write', 'admin')),
  key_hash text not null check (length(key_hash) = 64),
  -- The end of the key, by which people tell keys apart.
  hint text not null check (length(hint) = 4),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_by jsonb default private.current_actor()
);
comment on table hub.api_keys is
  'Keys of scripts and model clients, as hashes. No row is ever deleted, so that no restore revives a revoked key.';
create unique index api_keys_hash on hub.api_keys (key_hash);
alter table hub.api_keys enable row level security;
alter table hub.api_keys force row level security;
create policy api_keys_select on hub.api_keys for select to hub_ro, hub_rw
  using ((select private.current_project()) is not null);
create policy api_keys_insert on hub.api_keys for insert to hub_rw
  with check ((select private.is_admin()));
create policy api_keys_update on hub.api_keys for update to hub_rw
  using ((select private.is_admin()))
  with check ((select private.is_admin()));
grant select on hub.api_keys to hub_ro;
grant select, insert, update (name, last_used_at, revoked_at, created_by) on hub.api_keys to hub_rw;
