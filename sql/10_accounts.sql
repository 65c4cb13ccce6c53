-- Accounts: a person's plan and its limits, and how an account follows its row in auth.users.

set role watchpost_owner;

create table watchpost.accounts (
  user_id uuid primary key,
  email text not null check (email <> ''),
  plan text not null default 'free' check (plan in ('free', 'pro', 'enterprise')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  confirmed_at timestamptz,
  banned_until timestamptz
);
comment on table watchpost.accounts is 'One row per person, created when they sign up. The plan belongs to the account.';
comment on column watchpost.accounts.user_id is 'The id in auth.users; the account is deleted together with that row.';
comment on column watchpost.accounts.email is 'Sign-in address, copied from auth.users by a trigger. It does not identify an account: two accounts may share one.';
comment on column watchpost.accounts.plan is 'free, pro or enterprise. Set by an operator or by billing; below pro the API refuses requests and zones pause.';
comment on column watchpost.accounts.confirmed_at is 'When the address was confirmed; null: not yet, or an anonymous sign-in. Sessions need it, keys do not.';
comment on column watchpost.accounts.banned_until is 'Until then the account cannot act and its zones pause; null: never banned.';
create index accounts_email on watchpost.accounts (lower(email));
alter table watchpost.accounts enable row level security;
alter table watchpost.accounts force row level security;
create policy accounts_select on watchpost.accounts for select to authenticated
  using (user_id = (select private.uid()));
create policy accounts_jobs on watchpost.accounts for select to watchpost_jobs
  using (true);
grant select on watchpost.accounts to authenticated, watchpost_jobs;

create table watchpost.erased_accounts (
  user_id uuid primary key,
  at timestamptz not null default now()
);
comment on table watchpost.erased_accounts is 'People who deleted their account although their row in auth.users could not be deleted: signing in again gives them no new one.';
comment on column watchpost.erased_accounts.user_id is 'The id in auth.users; this row is deleted together with that one.';
alter table watchpost.erased_accounts enable row level security;
alter table watchpost.erased_accounts force row level security;

-- Whether an account is banned at the moment.
create function private.is_banned(p_banned_until timestamptz) returns boolean
language sql stable as $$
  select coalesce(p_banned_until > pg_catalog.now(), false)
$$;
grant execute on function private.is_banned to watchpost_jobs, service_role;

-- The account that a key, a session or a link acts for: no row for one that is deleted or banned. Without a search_path
-- of its own it becomes part of the query that asks it, which each request does twice.
create function private.active_account(p_user_id uuid) returns setof watchpost.accounts
language sql stable rows 1 as $$
  select * from watchpost.accounts a
  where a.user_id = p_user_id and not private.is_banned(a.banned_until)
$$;

-- How many of a thing a plan allows; null when there is no limit.
create function private.plan_limit(p_plan text, p_thing text) returns integer
language sql immutable set search_path = '' as $$
  select case p_thing
    when 'zones' then 1000
    when 'channels' then 50
    when 'members' then 50
    when 'keys' then 20
    when 'organisations' then 20
  end * case p_plan when 'enterprise' then 10 else 1 end
$$;

-- How many more of a thing an account may have that has so many, and the sentence that refuses more. Below 0: it has too
-- many already.
create function private.quota_room(p_user_id uuid, p_thing text, p_count bigint, out room bigint, out refusal text)
language sql stable set search_path = '' as $$
  select l.most - p_count, format('the %s plan allows %s %s', a.plan, l.most, p_thing)
  from watchpost.accounts a
  cross join lateral (select private.plan_limit(a.plan, p_thing) as most) l
  where a.user_id = p_user_id
$$;

-- Raises errcode WPLIM if the account has more of a thing than its plan allows. Those who count hold a lock, so that
-- two simultaneous inserts are counted one after the other.
create function private.require_quota(p_user_id uuid, p_thing text, p_count bigint) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_quota record;
begin
  select * into v_quota from private.quota_room(p_user_id, p_thing, p_count);
  if v_quota.room < 0 then
    raise exception '%', v_quota.refusal using errcode = 'WPLIM', detail = p_thing;
  end if;
end
$$;

-- Why no more can be created when so many were deleted recently, each of which is kept for 30 days, that creating and
-- deleting could fill the database beyond what a plan allows; null while they are fewer.
create function private.deleted_refusal(p_user_id uuid, p_thing text, p_deleted bigint) returns text
language sql stable set search_path = '' as $$
  select case when p_deleted >= 4 * l.most then format(
    'Deleted %s can be restored for 30 days, and this account has %s of them, which is the limit. Restore some instead of creating new ones, or wait.',
    p_thing, 4 * l.most) end
  from watchpost.accounts a
  cross join lateral (select private.plan_limit(a.plan, p_thing) as most) l
  where a.user_id = p_user_id
$$;

-- Raises it with errcode WP409.
create function private.require_deleted_quota(p_user_id uuid, p_thing text, p_deleted bigint) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal text := private.deleted_refusal(p_user_id, p_thing, p_deleted);
begin
  if v_refusal is not null then
    raise exception '%', v_refusal using errcode = 'WP409';
  end if;
end
$$;

-- Makes changes of a person in auth.users and of their account wait for each other.
create function private.lock_account(p_user_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('account:' || p_user_id, 0));
end
$$;

-- Creates or updates the account of a person in auth.users.
create function private.upsert_account(p_user_id uuid, p_email text, p_confirmed_at timestamptz, p_banned_until timestamptz)
returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into watchpost.accounts (user_id, email, confirmed_at, banned_until)
  values (p_user_id, coalesce(nullif(p_email, ''), p_user_id::text),
    case when p_email <> '' then p_confirmed_at end, p_banned_until)
  on conflict (user_id) do update
  set email = excluded.email, confirmed_at = excluded.confirmed_at, banned_until = excluded.banned_until,
      updated_at = now()
  where (watchpost.accounts.email, watchpost.accounts.confirmed_at, watchpost.accounts.banned_until)
    is distinct from (excluded.email, excluded.confirmed_at, excluded.banned_until);
end
$$;

-- Security definer: an account follows its row in auth.users, whoever changes that. A soft deletion cannot be undone
-- there, so it counts as a deletion.
create function private.sync_auth_user() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  perform private.lock_account(coalesce(new.id, old.id));
  if tg_op = 'DELETE' then
    perform private.erase_account(old.id);
    delete from watchpost.erased_accounts where user_id = old.id;
  elsif new.deleted_at is not null then
    perform private.erase_account(new.id);
  elsif tg_op = 'INSERT' or not exists (select from watchpost.erased_accounts where user_id = new.id) then
    perform private.upsert_account(new.id, new.email,
      case when not new.is_anonymous then new.email_confirmed_at end, new.banned_until);
  end if;
  return null;
end
$$;

reset role;

-- Security definer of the migrating role, which unlike watchpost_owner can read the schema auth: a person in the form
-- that upsert_account takes.
create function private.auth_user(p_user_id uuid)
returns table (email text, confirmed_at timestamptz, banned_until timestamptz)
language sql stable security definer set search_path = '' as $$
  select u.email, case when not u.is_anonymous then u.email_confirmed_at end, u.banned_until
  from auth.users u
  where u.id = p_user_id and u.deleted_at is null
$$;
revoke all on function private.auth_user from public;
grant execute on function private.auth_user to watchpost_owner;

set role watchpost_owner;

-- Creates the account of a person in auth.users who lacks one, because they signed up before Watchpost was installed
-- or while no triggers ran. People who deleted their account get no new one.
create function private.ensure_account(p_user_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.lock_account(p_user_id);
  perform private.upsert_account(p_user_id, p.email, p.confirmed_at, p.banned_until)
  from private.auth_user(p_user_id) p
  where not exists (select from watchpost.erased_accounts f where f.user_id = p_user_id);
end
$$;

reset role;

create trigger watchpost_account
  after insert or update of email, email_confirmed_at, is_anonymous, deleted_at, banned_until or delete on auth.users
  for each row execute function private.sync_auth_user();

-- Accounts for people who signed up before.
select private.ensure_account(id) from auth.users where deleted_at is null;
