-- The account: what only a signed-in person can do, never a key: keys, organisations, invites, deletion.

set role watchpost_owner;

-- The account of a session; raises errcode WP403 for a key, whatever its scopes.
create function private.require_session() returns uuid
language plpgsql stable set search_path = '' as $$
begin
  if private.claims() -> 'signed_in' is distinct from 'true'::jsonb then
    raise exception 'it needs a signed-in session, not an API key' using errcode = 'WP403';
  end if;
  return private.uid();
end
$$;

-- Raises errcode WP2FA for a session without the second factor of its account. Keys, members and deletion require it,
-- whatever route a caller uses.
create function private.require_second_factor() returns trigger
language plpgsql set search_path = '' as $$
begin
  if private.claims() -> 'second_factor_due' = 'true'::jsonb then
    raise exception 'the session went without the second factor' using errcode = 'WP2FA';
  end if;
  return null;
end
$$;
create trigger api_keys_second_factor before insert on watchpost.api_keys
  for each statement execute function private.require_second_factor();
create trigger members_second_factor before insert or update or delete on watchpost.members
  for each statement execute function private.require_second_factor();
create trigger organisations_second_factor before delete on watchpost.organisations
  for each statement execute function private.require_second_factor();
create trigger accounts_second_factor before delete on watchpost.accounts
  for each statement execute function private.require_second_factor();

-- Security definer, all that follow: callers cannot write these tables in any other way. The errors WP403, WP404 and
-- WP409 have a sentence for the caller; WPOWN protects owners.
create function private.create_key(
  p_name text, p_prefix text, p_key_hash bytea, p_scopes text[], p_expires_at timestamptz
)
returns uuid
language sql volatile security definer set search_path = '' as $$
  insert into watchpost.api_keys (user_id, name, prefix, key_hash, scopes, expires_at)
  values (private.require_session(), p_name, p_prefix, p_key_hash, p_scopes, p_expires_at)
  returning id
$$;

create function private.revoke_key(p_key_id uuid) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  update watchpost.api_keys
  set revoked_at = coalesce(revoked_at, now())
  where id = p_key_id and user_id = private.require_session();
  if not found then
    raise exception 'key' using errcode = 'WP404';
  end if;
end
$$;

create function private.create_org(p_name text) returns uuid
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_user uuid := private.require_session();
  v_org uuid := gen_random_uuid();
begin
  perform pg_advisory_xact_lock(hashtextextended('organisations:' || v_user, 0));
  perform private.require_quota(v_user, 'organisations', (
    select count(*) + 1 from watchpost.members where user_id = v_user and role = 'owner'));
  insert into watchpost.organisations (id, name) values (v_org, p_name);
  insert into watchpost.members (org_id, user_id, email, role, status, joined_at)
  select v_org, user_id, email, 'owner', 'active', now() from watchpost.accounts where user_id = v_user;
  return v_org;
end
$$;

-- The caller's role in an organisation, which is locked against other changes of its owner.
create function private.role_in(p_org_id uuid) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_user uuid := private.require_session();
  v_role text;
begin
  perform from watchpost.organisations where id = p_org_id for update;
  select role into v_role
  from watchpost.members
  where org_id = p_org_id and user_id = v_user;
  if not found then
    raise exception 'organisation' using errcode = 'WP404';
  end if;
  return v_role;
end
$$;

-- A name that is null stays as it is.
create function private.rename_org(p_org_id uuid, p_name text) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  if private.role_in(p_org_id) = 'member' then
    raise exception 'only the owner and admins can rename an organisation' using errcode = 'WP403';
  end if;
  update watchpost.organisations set name = p_name, updated_at = now() where id = p_org_id and name <> p_name;
end
$$;

create function private.leave_org(p_org_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
begin
  if private.role_in(p_org_id) = 'owner' then
    raise exception 'The owner cannot leave. Transfer the ownership first, or delete the organisation.'
      using errcode = 'WPOWN';
  end if;
  return private.remove_member(m.id) from watchpost.members m where m.org_id = p_org_id and m.user_id = private.uid();
end
$$;

create function private.transfer_org(p_org_id uuid, p_user_id uuid) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  if private.role_in(p_org_id) <> 'owner' then
    raise exception 'only the owner can transfer an organisation' using errcode = 'WP403';
  end if;
  if not exists (
    select from watchpost.members where org_id = p_org_id and user_id = p_user_id
  ) then
    raise exception 'There is no such member. Ownership can only go to somebody who has joined the organisation.'
      using errcode = 'WP409';
  end if;
  if p_user_id = private.uid() then
    return;
  end if;
  perform private.move_ownership(p_org_id, p_user_id);
end
$$;

-- A unique index allows only one owner at any time; the previous one becomes an admin.
create function private.move_ownership(p_org_id uuid, p_user_id uuid) returns void
language sql volatile set search_path = '' as $$
  update watchpost.members set role = 'admin' where org_id = p_org_id and role = 'owner';
  update watchpost.members set role = 'owner' where org_id = p_org_id and user_id = p_user_id;
$$;

create function private.delete_org(p_org_id uuid) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  if private.role_in(p_org_id) <> 'owner' then
    raise exception 'only the owner can delete an organisation' using errcode = 'WP403';
  end if;
  delete from watchpost.organisations where id = p_org_id;
end
$$;

-- Invites to the caller's address that can still be accepted.
create function private.my_invites()
returns table (
  id uuid, org_id uuid, org_name text, email text, role text, invited_by text, expires_at timestamptz,
  created_at timestamptz
)
language sql stable security definer set search_path = '' as $$
  select m.id, m.org_id, o.name, m.email, m.role, i.email, m.invite_expires_at, m.created_at
  from watchpost.accounts a
  join watchpost.members m on lower(m.email) = lower(a.email) and m.status = 'invited'
  join watchpost.organisations o on o.id = m.org_id
  left join watchpost.accounts i on i.user_id = m.invited_by
  where a.user_id = private.require_session() and a.confirmed_at is not null and m.invite_expires_at > now()
  order by m.created_at desc, m.id
$$;

-- Accepts the invite with this token, or the one with this id if it is for the caller's address; returns
-- the organisation. An id proves nothing, so the invite of another address is unknown by it.
create function private.accept_invite(p_invite_hash bytea, p_id uuid) returns uuid
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_user uuid := private.require_session();
  v_email text := (select email from watchpost.accounts where user_id = v_user and confirmed_at is not null);
  v_invite record;
begin
  select m.id, m.org_id, m.email into v_invite
  from watchpost.members m
  where (m.invite_hash = p_invite_hash or m.id = p_id and lower(m.email) = lower(v_email))
    and m.status = 'invited' and m.invite_expires_at > now()
  for update;
  if not found then
    raise exception 'invite' using errcode = 'WP404';
  end if;
  if lower(v_invite.email) is distinct from lower(v_email) then
    raise exception 'this invite is for another address: sign in with the one it was sent to'
      using errcode = 'WP403';
  end if;
  if exists (select from watchpost.members where org_id = v_invite.org_id and user_id = v_user) then
    raise exception 'You are already a member of this organisation.' using errcode = 'WP409';
  end if;
  update watchpost.members
  set user_id = v_user, status = 'active', joined_at = now(), invite_hash = null, invite_expires_at = null
  where id = v_invite.id;
  return v_invite.org_id;
end
$$;

-- Removes an account and everything that belongs only to it. Shared zones and channels pass to the owner of their
-- organisation. An organisation that it owns passes to its longest-serving admin, or else member, or is deleted if
-- there is nobody. Its actions remain in the audit logs of others under a pseudonym.
create function private.erase_account(p_user_id uuid) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_pseudonym uuid := gen_random_uuid();
  v_proved text;
  v_org uuid;
  v_heir uuid;
  v_shared uuid[];
  v_orgs uuid[] := array(
    select distinct unnest(s.org_ids) from watchpost.account_states s where s.user_id = p_user_id);
  v_colleagues uuid[] := array(
    select distinct s.user_id from watchpost.account_states s where s.org_ids && v_orgs and s.user_id <> p_user_id);
begin
  select case when confirmed_at is not null then lower(email) end into v_proved
  from watchpost.accounts where user_id = p_user_id for update;
  if not found then
    return;
  end if;
  for v_org in select org_id from watchpost.members where user_id = p_user_id and role = 'owner' loop
    select user_id into v_heir
    from watchpost.members
    where org_id = v_org and user_id <> p_user_id
    order by role = 'admin' desc, joined_at, id
    limit 1;
    if found then
      perform private.move_ownership(v_org, v_heir);
    else
      delete from watchpost.organisations where id = v_org;
    end if;
  end loop;
  -- Not those of another person with the same address, nor those for an address that was never confirmed.
  delete from watchpost.members
  where lower(email) = v_proved and status = 'invited' and not exists (
    select from watchpost.accounts where lower(email) = v_proved and user_id <> p_user_id);
  v_shared := array(
    select z.id from watchpost.zones z where z.org_id = any(v_orgs));
  perform private.erase_from_evidence(p_user_id, v_pseudonym);
  -- Before the account itself is deleted, whose foreign keys would clear the sender of the invites that become void.
  delete from watchpost.members where user_id = p_user_id;
  perform private.record_audit('account.deleted', 'account', p_user_id::text, array[p_user_id]);
  delete from watchpost.accounts where user_id = p_user_id;
  delete from watchpost.visibility_changes where audience = p_user_id;

  -- The history of things that passed on would show whose they were.
  update watchpost.zone_versions
  set definition = replace(definition::text, p_user_id::text, v_pseudonym::text)::jsonb,
      changes = replace(changes::text, p_user_id::text, v_pseudonym::text)::jsonb,
      actor_id = case when actor_id = p_user_id then v_pseudonym else actor_id end
  where zone_id = any(v_shared)
    and (actor_id = p_user_id or concat(definition, changes) like '%' || p_user_id || '%');
  update watchpost.account_states set user_id = v_pseudonym where user_id = p_user_id;
  update watchpost.operator_acts
  set target_id = case when target_id = p_user_id::text then v_pseudonym::text else target_id end,
      details = replace((details - 'label')::text, p_user_id::text, v_pseudonym::text)::jsonb
  where target_id = p_user_id::text or details::text like '%' || p_user_id || '%';
  -- Its own log first, then its traces in the logs of others.
  update watchpost.audit
  set account_id = v_pseudonym,
      actor_id = case when actor_id = p_user_id then v_pseudonym else actor_id end,
      target_id = case when target_id = p_user_id::text then v_pseudonym::text else target_id end,
      ip = null, user_agent = null,
      details = replace((details - 'label' - 'changed')::text, p_user_id::text, v_pseudonym::text)::jsonb
  where account_id = p_user_id;
  update watchpost.audit
  set actor_id = v_pseudonym,
      target_id = case when target_id = p_user_id::text then v_pseudonym::text else target_id end,
      ip = null, user_agent = null,
      details = replace(details::text, p_user_id::text, v_pseudonym::text)::jsonb
  where actor_id = p_user_id and actor_id <> account_id;
  -- And where others are said to have done something with them or with what was theirs.
  update watchpost.audit
  set target_id = case when target_id = p_user_id::text then v_pseudonym::text else target_id end,
      details = replace(details::text, p_user_id::text, v_pseudonym::text)::jsonb
  where account_id = any(v_colleagues)
    and (target_id = p_user_id::text or details::text like '%' || p_user_id || '%');
end
$$;

-- Deletes the caller's account; raises WP409 while it owns an organisation.
-- Deletes a person and their account.
create function private.delete_person(p_user_id uuid) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_is_gone boolean := private.delete_auth_user(p_user_id);
begin
  -- The trigger on auth.users has done this already, if that row could be deleted.
  perform private.erase_account(p_user_id);
  if not v_is_gone then
    insert into watchpost.erased_accounts (user_id) values (p_user_id) on conflict do nothing;
  end if;
end
$$;

create function private.delete_account() returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_user uuid := private.require_session();
  v_names text;
begin
  select string_agg(o.name, ', ' order by o.name) into v_names
  from watchpost.members m
  join watchpost.organisations o on o.id = m.org_id
  where m.user_id = v_user and m.role = 'owner';
  if v_names is not null then
    raise exception 'Transfer or delete the organisations you own first: %.', v_names using errcode = 'WP409';
  end if;
  perform private.delete_person(v_user);
end
$$;

grant execute on function private.create_key, private.revoke_key, private.create_org, private.rename_org,
  private.leave_org, private.transfer_org, private.delete_org, private.my_invites, private.accept_invite,
  private.delete_account, private.plan_limit to authenticated;

reset role;

-- Security definer of the migrating role, which unlike watchpost_owner may delete people from auth.users, and by the
-- trigger there their account. Returns false if it may not: then the row remains and an operator removes it
-- (docs/accounts.md).
create function private.delete_auth_user(p_user_id uuid) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
begin
  delete from auth.users where id = p_user_id;
  return found;
exception when insufficient_privilege then
  return false;
end
$$;
revoke all on function private.delete_auth_user from public;
grant execute on function private.delete_auth_user to watchpost_owner;
