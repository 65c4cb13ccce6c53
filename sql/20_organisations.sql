-- Organisations: accounts that share zones and channels. A row in members is an invite until it is accepted.

set role watchpost_owner;

create table watchpost.organisations (
  id uuid primary key default gen_random_uuid(),
  name text not null check (length(name) between 1 and 120),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
comment on table watchpost.organisations is 'A group of accounts that share zones and channels. It shares rows, but never a plan.';
alter table watchpost.organisations enable row level security;
alter table watchpost.organisations force row level security;

create table watchpost.members (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references watchpost.organisations on delete cascade,
  user_id uuid references watchpost.accounts on delete cascade,
  email text not null check (email ~ '^[^@\s]+@[^@\s]+$' and length(email) <= 254),
  role text not null check (role in ('owner', 'admin', 'member')),
  status text not null default 'invited' check (status in ('active', 'invited')),
  invited_by uuid references watchpost.accounts on delete set null,
  invite_hash bytea unique check (length(invite_hash) = 32),
  invite_expires_at timestamptz,
  joined_at timestamptz,
  created_at timestamptz not null default now(),
  -- So whoever looks for an account needs not look at the status.
  check ((status = 'active') = (user_id is not null)),
  check ((status = 'invited') = (invite_hash is not null))
);
comment on table watchpost.members is 'Members of an organisation, and people who are invited. Only the hash of an invite link is stored.';
comment on column watchpost.members.id is 'Identifies the membership; stays the same when an invite is accepted.';
comment on column watchpost.members.user_id is 'Account of the member; null while only invited.';
comment on column watchpost.members.email is 'The invited address; the invite works only for this address.';
comment on column watchpost.members.role is 'owner (one per organisation), admin (manages members, channels and all shared zones) or member.';
comment on column watchpost.members.invited_by is 'Account that sent the invite, which becomes void when that account loses its role.';
comment on column watchpost.members.invite_hash is 'SHA-256 of the token in the invite link; null once accepted.';
create unique index members_org_user_key on watchpost.members (org_id, user_id);
create unique index members_org_invited_key on watchpost.members (org_id, lower(email)) where status = 'invited';
create unique index members_org_owner_key on watchpost.members (org_id) where role = 'owner';
create index members_user_id on watchpost.members (user_id);
create index members_invited_by on watchpost.members (invited_by);

-- Security definer, both: policies use membership, so these must not be subject to the policies.
create function private.my_orgs() returns uuid[]
language plpgsql stable security definer set search_path = '' as $$
begin
  return coalesce((
    select array_agg(m.org_id) from watchpost.members m
    where m.user_id = private.uid()), '{}');
end
$$;

create function private.admin_orgs() returns uuid[]
language plpgsql stable security definer set search_path = '' as $$
begin
  return coalesce((
    select array_agg(m.org_id) from watchpost.members m
    where m.user_id = private.uid() and m.role in ('owner', 'admin')), '{}');
end
$$;

-- The tenants whose rows the caller can read: the caller and their organisations (see tenant_id).
create function private.my_tenants() returns uuid[]
language plpgsql stable set search_path = '' as $$
begin
  return private.uid() || private.my_orgs();
end
$$;
grant execute on function private.my_orgs, private.admin_orgs, private.my_tenants to authenticated;

create policy organisations_select on watchpost.organisations for select to authenticated
  using (id = any((select private.my_orgs())::uuid[]));
create policy organisations_jobs on watchpost.organisations for select to watchpost_jobs
  using (true);
grant select on watchpost.organisations to authenticated, watchpost_jobs;

alter table watchpost.members enable row level security;
alter table watchpost.members force row level security;
create policy members_select on watchpost.members for select to authenticated
  using (org_id = any((select private.my_orgs())::uuid[]));
create policy members_insert on watchpost.members for insert to authenticated
  with check (
    (select private.can_write())
    and org_id = any((select private.admin_orgs())::uuid[])
    and role in ('admin', 'member')
    and status = 'invited'
    and invited_by = (select private.uid()));
create policy members_update on watchpost.members for update to authenticated
  using (
    (select private.can_write())
    and org_id = any((select private.admin_orgs())::uuid[])
    and role <> 'owner')
  with check (
    (select private.can_write())
    and org_id = any((select private.admin_orgs())::uuid[])
    and role in ('admin', 'member'));
create policy members_delete on watchpost.members for delete to authenticated
  using (
    (select private.can_write())
    and org_id = any((select private.admin_orgs())::uuid[])
    and role <> 'owner');
grant select (id, org_id, user_id, email, role, status, invited_by, invite_expires_at, joined_at, created_at)
  on watchpost.members to authenticated;
grant insert (org_id, email, role, invited_by, invite_hash, invite_expires_at) on watchpost.members to authenticated;
grant update (role, invited_by, invite_hash, invite_expires_at) on watchpost.members to authenticated;
grant delete on watchpost.members to authenticated;

create function private.members_quota() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('members:' || new.org_id, 0));
  perform private.require_quota(o.user_id, 'members', (
    select count(*) + 1 from watchpost.members where org_id = new.org_id))
  from watchpost.members o
  where o.org_id = new.org_id and o.role = 'owner';
  return new;
end
$$;
create trigger members_quota before insert on watchpost.members
  for each row execute function private.members_quota();

-- False while an organisation is being deleted, so that what was shared there can be unshared by anybody. Nobody can
-- share with an organisation that does not exist, so null is true.
create function private.org_exists(p_org_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select p_org_id is null or exists (select from watchpost.organisations where id = p_org_id)
$$;

-- Security definer: what a leaving member shared passes to the owner, so that the team keeps its alerts. When the
-- organisation itself is deleted, everybody keeps their own things.
create function private.reassign_shared() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  v_owner uuid := (select user_id from watchpost.members where org_id = old.org_id and role = 'owner');
  v_passed uuid[] := array(select id from watchpost.zones where org_id = old.org_id and owner_id = old.user_id);
begin
  if old.user_id is null or v_owner is null
    or not private.org_exists(old.org_id) then
    return old;
  end if;
  update watchpost.zones set owner_id = v_owner where id = any(v_passed);
  update watchpost.channels set owner_id = v_owner where org_id = old.org_id and owner_id = old.user_id;
  -- Their private channels stay with them: the owner is told which zones lose some by it.
  perform private.record_audit(
    'zone.channels_lost', 'zone', z.id::text, v_owner || private.admins_of(array[old.org_id]),
    jsonb_build_object('label', z.label, 'channel_ids', lost.ids))
  from watchpost.zones z
  cross join lateral (select private.lost_channels(z.owner_id, z.channel_ids) as ids) lost
  where z.id = any(v_passed) and z.deleted_at is null and lost.ids <> '{}';
  return old;
end
$$;
create trigger members_reassign before delete on watchpost.members
  for each row execute function private.reassign_shared();

-- Security definer: an invite becomes void when its sender has left or may no longer invite.
create function private.void_invites() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if tg_op = 'DELETE' or new.role = 'member' then
    delete from watchpost.members
    where org_id = old.org_id and invited_by = old.user_id and status = 'invited';
  end if;
  return null;
end
$$;
create trigger members_void_invites after update of role or delete on watchpost.members
  for each row when (old.role <> 'member')
  execute function private.void_invites();

-- How much a member shares with an organisation of the caller, counted before the trigger above moves it.
create function private.count_shared(p_org_id uuid, p_user_id uuid)
returns table (zones bigint, channels bigint)
language plpgsql stable set search_path = '' as $$
begin
  return query select
    (select count(*) from watchpost.zones
     where org_id = p_org_id and owner_id = p_user_id and deleted_at is null),
    (select count(*) from watchpost.channels
     where org_id = p_org_id and owner_id = p_user_id and deleted_at is null)
  where p_org_id = any(private.my_orgs()) or private.is_operator();
end
$$;
grant execute on function private.count_shared to authenticated;

-- Removes a member or an invite as its caller, or as the operator: {passed_on, zones}, where zones are those that passed on, each
-- with its reach. Null when there was nothing that the caller may remove.
create function private.remove_member(p_member_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_org uuid;
  v_user uuid;
  v_passed jsonb;
  v_zones uuid[];
begin
  select org_id, user_id into v_org, v_user from watchpost.members where id = p_member_id;
  select to_jsonb(s) into v_passed from private.count_shared(v_org, v_user) s;
  v_zones := array(
    select id from watchpost.zones where org_id = v_org and owner_id = v_user and deleted_at is null);
  delete from watchpost.members where id = p_member_id;
  if not found then
    return null;
  end if;
  return jsonb_build_object('passed_on', v_passed, 'zones', coalesce((
    select jsonb_agg(jsonb_build_object(
      'label', z.label, 'org_id', z.org_id, 'channel_ids', z.channel_ids,
      'reach', private.zone_reach(z.owner_id, z.org_id, z.channel_ids, z.escalation)) order by z.label, z.id)
    from watchpost.zones z
    where z.id = any(v_zones)), '[]'));
end
$$;
grant execute on function private.remove_member to authenticated;

reset role;
