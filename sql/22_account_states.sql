-- Account states: plan, ban and memberships of every account at each time, so that decisions can be explained later.

set role watchpost_owner;

create table watchpost.account_states (
  user_id uuid not null,
  valid_from timestamptz not null default now(),
  plan text not null,
  banned_until timestamptz,
  org_ids uuid[] not null,
  primary key (user_id, valid_from)
);
comment on table watchpost.account_states is 'Plan, ban and memberships of an account from a time until its next state, so that decisions can be replayed.';
comment on column watchpost.account_states.user_id is 'The account, or its pseudonym once it was deleted.';
comment on column watchpost.account_states.org_ids is 'Organisations it was an active member of.';
alter table watchpost.account_states enable row level security;
alter table watchpost.account_states force row level security;
create policy account_states_jobs on watchpost.account_states for select to watchpost_jobs
  using (true);
grant select on watchpost.account_states to watchpost_jobs;

-- A time that every client can read: a ban for ever is written as 'infinity'.
create function private.finite(t timestamptz) returns timestamptz
language sql immutable set search_path = '' as $$
  select case when t is not null then least(greatest(t, '1000-01-01 00:00:00+00'), '9999-12-31 00:00:00+00') end
$$;

-- Stores the state of an account as it is now, unless it is the one stored last.
create function private.store_account_state(p_user_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_last watchpost.account_states;
begin
  -- One at a time, so that the latest state is the one that was committed last.
  perform pg_advisory_xact_lock(hashtextextended('account_state:' || p_user_id, 0));
  select * into v_last from watchpost.account_states
  where user_id = p_user_id order by valid_from desc limit 1;
  insert into watchpost.account_states (user_id, valid_from, plan, banned_until, org_ids)
  select n.user_id, greatest(now(), v_last.valid_from + interval '1 microsecond'), n.plan, n.banned_until, n.org_ids
  from (
    select a.user_id, a.plan, private.finite(a.banned_until) as banned_until, array(
      select m.org_id from watchpost.members m
      where m.user_id = a.user_id
      order by m.org_id) as org_ids
    from watchpost.accounts a
    where a.user_id = p_user_id
  ) n
  where (n.plan, n.banned_until, n.org_ids) is distinct from (v_last.plan, v_last.banned_until, v_last.org_ids);
end
$$;

-- Security definer, both: triggers that store states, whoever changes accounts and members.
create function private.follow_account() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  perform private.store_account_state(new.user_id);
  -- Its zones are on again: events that still stand are matched at once.
  if tg_op = 'UPDATE' and new.plan <> 'free' and not private.is_banned(new.banned_until)
    and (old.plan = 'free' or private.is_banned(old.banned_until)) then
    perform private.enqueue('match_zone', gen_random_uuid(), jsonb_build_object('zone_id', z.id))
    from watchpost.zones z
    where z.owner_id = new.user_id and z.deleted_at is null;
  end if;
  return null;
end
$$;
create trigger accounts_state_insert after insert on watchpost.accounts
  for each row execute function private.follow_account();
create trigger accounts_state after update of plan, banned_until on watchpost.accounts
  for each row when (old.plan <> new.plan or old.banned_until is distinct from new.banned_until)
  execute function private.follow_account();

create function private.follow_member() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  perform private.store_account_state(m.user_id)
  from unnest(array[
    case when tg_op <> 'INSERT' then old.user_id end,
    case when tg_op <> 'DELETE' then new.user_id end]) as m (user_id)
  where m.user_id is not null;
  return null;
end
$$;
create trigger members_state after insert or update of user_id, status or delete on watchpost.members
  for each row execute function private.follow_member();

-- Whether all readers of a zone of this owner and organisation could see, at a given time, an event of an account or
-- organisation. Otherwise an alert of a shared zone would show its organisation a private event, or one of another.
create function private.could_hear(p_owner_id uuid, p_org_id uuid, p_tenant_id uuid, p_at timestamptz) returns boolean
language sql stable set search_path = '' as $$
  select p_tenant_id = coalesce(p_org_id, p_owner_id) or p_org_id is null and coalesce(p_tenant_id = any((
    select s.org_ids from watchpost.account_states s
    where s.user_id = p_owner_id and date_trunc('milliseconds', s.valid_from) <= p_at
    order by s.valid_from desc
    limit 1)::uuid[]), false)
$$;

-- Security definer: it returns only plans and bans, at each time, of the owners of a zone that the caller sees.
create function private.owner_states(p_zone_id uuid)
returns table (user_id uuid, valid_from timestamptz, plan text, banned_until timestamptz)
language plpgsql stable security definer set search_path = '' as $$
begin
  return query
  select s.user_id, s.valid_from, s.plan, s.banned_until
  from watchpost.account_states s
  where s.user_id in (
    select (v.definition ->> 'owner_id')::uuid
    from watchpost.zones z
    join watchpost.zone_versions v on v.zone_id = z.id
    where z.id = p_zone_id and z.tenant_id = any(private.my_tenants()))
  order by s.valid_from;
end
$$;
grant execute on function private.owner_states to authenticated;

-- Accounts that exist already.
insert into watchpost.account_states (user_id, plan, banned_until, org_ids)
select a.user_id, a.plan, private.finite(a.banned_until), array(
  select m.org_id from watchpost.members m where m.user_id = a.user_id and m.status = 'active' order by m.org_id)
from watchpost.accounts a;

reset role;
