-- Release 0.1.0, made from sql/. It never changes: later migrations change what it made.

-- sql/00_roles.sql
-- Roles, schemas and the caller: who owns everything, who logs in, and that nobody has any right by default.
--
-- A function runs as its caller, so grants and policies decide what it sees. A security definer function runs as
-- watchpost_owner and bypasses row-level security. There are only these reasons for one, and its comment names its own:
--   * policies call it (my_orgs, admin_orgs): otherwise it would be subject to the policy that calls it;
--   * the login watchpost_api, which cannot read any table, calls it before the caller is known: check_key, key_claims,
--     check_session, session_claims, touch_key, record_refusal, and the functions of the local issuer;
--   * it is the only way to change a table that no role may write: events, deliveries, keys, organisations,
--     idempotency keys, the audit log; or it locks a row for a role that may only read it;
--   * it is a trigger that follows every change, whoever makes it: limits, versions, boxes, cancelled deliveries;
--   * it returns less than the table contains: coverage, sources_health, my_invites, owner_states, revisions_of,
--     stay_before, zone_obstacles, zones_in_tenant;
--   * operators on boxes are not leakproof, so under row-level security no index could be used: events_near,
--     revisions_near.
-- Such a function checks the caller's tenants, scopes and roles itself. Those that a caller may execute are listed in
-- scripts/schema/schema-rules.ts; any other one fails `npm run check`.

create schema if not exists extensions;
create extension if not exists btree_gist with schema extensions;

do $$
begin
  -- Bypasses RLS because forced RLS would otherwise hide every row from security definer functions.
  if not exists (select from pg_catalog.pg_roles where rolname = 'watchpost_owner') then
    create role watchpost_owner nologin bypassrls;
  end if;
  if not exists (select from pg_catalog.pg_roles where rolname = 'watchpost_api') then
    create role watchpost_api login noinherit;
  end if;
  if not exists (select from pg_catalog.pg_roles where rolname = 'watchpost_jobs') then
    create role watchpost_jobs login;
  end if;
end
$$;

grant watchpost_owner to current_user;
grant anon, authenticated to watchpost_api;

alter role watchpost_api set idle_in_transaction_session_timeout = '10s';
alter role watchpost_api set lock_timeout = '5s';
alter role watchpost_api set statement_timeout = '15s';
alter role watchpost_jobs set idle_in_transaction_session_timeout = '60s';
alter role watchpost_jobs set lock_timeout = '30s';
alter role watchpost_jobs set statement_timeout = '5min';
-- East of Greenwich the last day of the year 9999 would have a year of five digits, which no client can read.
alter role watchpost_api set timezone = 'UTC';
alter role watchpost_jobs set timezone = 'UTC';

create schema watchpost authorization watchpost_owner;
create schema private authorization watchpost_owner;
comment on schema watchpost is 'Watchpost: accounts, zones, events, alerts and channels. Not exposed through PostgREST.';
comment on schema private is 'Watchpost: functions that policies, the API and the jobs call. Not exposed.';

grant usage on schema extensions to watchpost_owner;
alter default privileges for role watchpost_owner revoke execute on functions from public;

set role watchpost_owner;
grant usage on schema watchpost to authenticated, watchpost_jobs;
grant usage on schema private to authenticated, watchpost_api, watchpost_jobs;

-- The verified caller; null outside of a caller's transaction.
create function private.claims() returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return nullif(current_setting('request.jwt.claims', true), '')::jsonb;
end
$$;

create function private.uid() returns uuid
language plpgsql stable set search_path = '' as $$
begin
  return (private.claims() ->> 'sub')::uuid;
end
$$;

create function private.can_write() returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(private.claims() -> 'scopes' ? 'write', false);
end
$$;

grant execute on function private.claims, private.uid, private.can_write to authenticated, watchpost_jobs;

reset role;

-- sql/05_time.sql
-- Times: their form on the wire, and windows that are given in days.

set role watchpost_owner;

-- ISO 8601 UTC with milliseconds, as on the wire.
create function private.iso(t timestamptz) returns text
language sql stable set search_path = '' as $$
  select to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- The start of a window of N days: today and the N - 1 days before, in UTC.
create function private.window_start(p_days integer) returns timestamptz
language sql stable set search_path = '' as $$
  select (date_trunc('day', now() at time zone 'UTC') - (p_days - 1) * interval '1 day') at time zone 'UTC'
$$;
grant execute on function private.iso, private.window_start to authenticated;
grant execute on function private.iso to watchpost_jobs;

reset role;

-- sql/10_accounts.sql
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
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(p_banned_until > now(), false);
end
$$;
grant execute on function private.is_banned to watchpost_jobs, service_role;

-- The account that a key, a session or a link acts for: no row for one that is deleted or banned.
create function private.active_account(p_user_id uuid) returns setof watchpost.accounts
language plpgsql stable rows 1 set search_path = '' as $$
begin
  return query select * from watchpost.accounts a
    where a.user_id = p_user_id and not private.is_banned(a.banned_until);
end
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

-- Raises errcode WPLIM if the account already has as many of a thing as its plan allows. Because of the lock, two
-- simultaneous inserts are counted one after the other.
create function private.require_quota(p_user_id uuid, p_thing text, p_count bigint) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_plan text;
  v_limit integer;
begin
  select plan into v_plan from watchpost.accounts where user_id = p_user_id;
  v_limit := private.plan_limit(v_plan, p_thing);
  if p_count > v_limit then
    raise exception 'the % plan allows % %', v_plan, v_limit, p_thing
      using errcode = 'WPLIM', detail = p_thing;
  end if;
end
$$;

-- Raises errcode WP409 if so many were deleted recently, each of which is kept for 30 days, that creating and
-- deleting could fill the database beyond what a plan allows.
create function private.require_deleted_quota(p_user_id uuid, p_thing text, p_deleted bigint) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_limit integer := 4 * private.plan_limit((select plan from watchpost.accounts where user_id = p_user_id), p_thing);
begin
  if p_deleted >= v_limit then
    raise exception 'Deleted % can be restored for 30 days, and this account has % of them, which is the limit. Restore some instead of creating new ones, or wait.',
      p_thing, v_limit using errcode = 'WP409';
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

-- sql/11_rate_limits.sql
-- Rate limits: how many requests an account or address may make, and what happens beyond that.

set role watchpost_owner;

create unlogged table watchpost.rate_limits (
  bucket text primary key,
  tat timestamptz not null,
  denied boolean not null default false
);
comment on table watchpost.rate_limits is 'GCRA state per account or address: the theoretical arrival time of the next request.';
comment on column watchpost.rate_limits.bucket is 'account:<user_id> for known callers, address:<ip> for unknown ones.';
comment on column watchpost.rate_limits.tat is 'Theoretical arrival time of GCRA: the further ahead of now, the less budget is left.';
comment on column watchpost.rate_limits.denied is 'Whether the last request was refused.';
create index rate_limits_tat on watchpost.rate_limits (tat);
alter table watchpost.rate_limits enable row level security;
alter table watchpost.rate_limits force row level security;

create unlogged table watchpost.rate_denials (
  request_id uuid primary key,
  at timestamptz not null default now()
);
comment on table watchpost.rate_denials is 'Requests that the rate limit refused, so that their transaction does no work.';
comment on column watchpost.rate_denials.request_id is 'The refused request, as in its X-Request-Id.';
comment on column watchpost.rate_denials.at is 'When it was refused; rows are deleted after ten minutes.';
create index rate_denials_at on watchpost.rate_denials (at);
alter table watchpost.rate_denials enable row level security;
alter table watchpost.rate_denials force row level security;

-- GCRA: consumes, in one statement, one request of a bucket with a budget of p_limit per window.
create function private.consume(p_bucket text, p_limit integer, p_window interval)
returns table (allowed boolean, remaining integer, reset_seconds integer, retry_after integer)
language plpgsql volatile set search_path = '' as $$
declare
  v_now timestamptz := clock_timestamp();
  v_step interval := p_window / p_limit;
  v_tat timestamptz;
  v_denied boolean;
begin
  insert into watchpost.rate_limits as r (bucket, tat)
  values (p_bucket, v_now + v_step)
  on conflict (bucket) do update
  set denied = greatest(r.tat, v_now) + v_step > v_now + p_window,
      tat = case
        when greatest(r.tat, v_now) + v_step > v_now + p_window then r.tat
        else greatest(r.tat, v_now) + v_step
      end
  returning r.tat, r.denied into v_tat, v_denied;
  return query select
    not v_denied,
    greatest(0, floor(extract(epoch from (p_window - (v_tat - v_now))) / extract(epoch from v_step)))::integer,
    greatest(0, ceil(extract(epoch from (v_tat - v_now))))::integer,
    case when v_denied
      then greatest(1, ceil(extract(epoch from (v_tat + v_step - p_window - v_now))))::integer
      else 0
    end;
end
$$;

-- The verdict on a caller after the look-up; p_user_id is null for an unknown one. Consumes one request from the
-- account's budget, or from the address's budget if the account has none or is unknown.
create function private.admit(
  p_user_id uuid,
  p_email text,
  p_plan text,
  p_scopes text[],
  p_key_id uuid,
  p_any_plan boolean,
  p_address text,
  p_request_id uuid,
  p_limits jsonb
)
returns table (
  verdict text, user_id uuid, email text, plan text, scopes text[], key_id uuid,
  rate_limit integer, remaining integer, reset_seconds integer, retry_after integer
)
language plpgsql volatile set search_path = '' as $$
declare
  v_budget record;
  v_limit integer;
  v_refusal text := case
    when p_user_id is null then 'unauthenticated'
    -- A free account has no budget of its own; without the address's budget its refusals would be unlimited.
    when p_plan = 'free' and not p_any_plan then 'plan_required'
  end;
begin
  if v_refusal is not null then
    select * into v_budget
    from private.consume('address:' || p_address, (p_limits ->> 'address')::integer, interval '1 minute');
    return query select
      case when v_budget.allowed then v_refusal else 'address_limited' end,
      p_user_id, p_email, p_plan, p_scopes, p_key_id,
      null::integer, null::integer, null::integer, v_budget.retry_after;
    return;
  end if;
  v_limit := (p_limits ->> case p_plan when 'free' then 'address' else p_plan end)::integer;
  select * into v_budget
  from private.consume('account:' || p_user_id, v_limit, interval '1 minute');
  if not v_budget.allowed then
    insert into watchpost.rate_denials (request_id) values (p_request_id) on conflict do nothing;
  end if;
  return query select
    case when v_budget.allowed then 'ok' else 'rate_limited' end,
    p_user_id, p_email, p_plan, p_scopes, p_key_id,
    v_limit, v_budget.remaining, v_budget.reset_seconds, v_budget.retry_after;
end
$$;

reset role;

-- sql/12_keys.sql
-- Keys: what programs authenticate with instead of a session, and the account of a key.

set role watchpost_owner;

create table watchpost.api_keys (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references watchpost.accounts on delete cascade,
  name text not null default 'API key' check (length(name) between 1 and 120),
  prefix text not null,
  key_hash bytea not null unique check (length(key_hash) = 32),
  scopes text[] not null check (scopes <@ array['read', 'write', 'ingest'] and cardinality(scopes) > 0),
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default date_trunc('milliseconds', now())
);
comment on table watchpost.api_keys is 'API keys. Only the SHA-256 of a key is stored; the key itself is shown once.';
comment on column watchpost.api_keys.prefix is 'First characters of the key, so that its owner recognises it in a list.';
comment on column watchpost.api_keys.key_hash is 'SHA-256 of the whole key, by which requests look it up.';
comment on column watchpost.api_keys.scopes is 'write includes read.';
comment on column watchpost.api_keys.expires_at is 'Null: never.';
comment on column watchpost.api_keys.revoked_at is 'Takes effect with the next request.';
create index api_keys_user_id on watchpost.api_keys (user_id);
alter table watchpost.api_keys enable row level security;
alter table watchpost.api_keys force row level security;
create policy api_keys_select on watchpost.api_keys for select to authenticated
  using (user_id = (select private.uid()));
grant select (id, user_id, name, prefix, scopes, expires_at, revoked_at, created_at)
  on watchpost.api_keys to authenticated;

create table watchpost.key_usage (
  key_id uuid primary key references watchpost.api_keys on delete cascade,
  last_used_at timestamptz not null
);
comment on table watchpost.key_usage is 'When a key was last used, written at most once a minute.';
comment on column watchpost.key_usage.last_used_at is 'When the key was last used, accurate to about a minute; written by the API after its answer.';
alter table watchpost.key_usage enable row level security;
alter table watchpost.key_usage force row level security;
create policy key_usage_select on watchpost.key_usage for select to authenticated
  using (key_id in (select id from watchpost.api_keys));
grant select on watchpost.key_usage to authenticated;

-- The account of a key: no row for a key that is unknown, revoked or expired, or whose account may not act.
create function private.key_holder(p_key_hash bytea)
returns table (key_id uuid, user_id uuid, email text, plan text, scopes text[])
language plpgsql stable rows 1 set search_path = '' as $$
begin
  return query
    select k.id, a.user_id, a.email, a.plan, k.scopes
    from watchpost.api_keys k
    cross join lateral private.active_account(k.user_id) a
    where k.key_hash = p_key_hash
      and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now());
end
$$;

-- Security definer: the login role may check one key, but cannot read any table. All keys without a row in key_holder
-- get the same answer.
create function private.check_key(
  p_key_hash bytea,
  p_address text,
  p_request_id uuid,
  p_limits jsonb
)
returns table (
  verdict text, user_id uuid, email text, plan text, scopes text[], key_id uuid,
  rate_limit integer, remaining integer, reset_seconds integer, retry_after integer
)
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_key record;
begin
  select * into v_key from private.key_holder(p_key_hash);
  return query select * from private.admit(
    v_key.user_id, v_key.email, v_key.plan, v_key.scopes, v_key.key_id, false,
    p_address, p_request_id, p_limits);
end
$$;
revoke all on function private.check_key from public;
grant execute on function private.check_key to watchpost_api;

-- Security definer: makes the claims of a caller's transaction from the key, which is verified again here, so that a
-- statement pipelined behind a refused key does nothing. Raises errcode WP401 for a refused key.
create function private.key_claims(p_key_hash bytea, p_request_id uuid, p_context jsonb)
returns text
language plpgsql stable security definer set search_path = '' as $$
declare
  v_claims jsonb;
begin
  select p_context || jsonb_build_object(
    'sub', k.user_id,
    'role', 'authenticated',
    'scopes', case when 'write' = any(k.scopes) and not 'read' = any(k.scopes)
      then array_append(k.scopes, 'read') else k.scopes end,
    'key_id', k.key_id,
    'plan', k.plan,
    'request_id', p_request_id
  )
  into v_claims
  from private.key_holder(p_key_hash) k
  where k.plan <> 'free'
    and not exists (select from watchpost.rate_denials d where d.request_id = p_request_id);
  if v_claims is null then
    raise exception 'the caller was refused' using errcode = 'WP401';
  end if;
  return v_claims::text;
end
$$;
revoke all on function private.key_claims from public;
grant execute on function private.key_claims to watchpost_api;

-- Security definer: the login role cannot write anything else.
create function private.touch_key(p_key_id uuid) returns void
language sql volatile security definer set search_path = '' as $$
  insert into watchpost.key_usage as u (key_id, last_used_at)
  values (p_key_id, now())
  on conflict (key_id) do update
  set last_used_at = excluded.last_used_at
  where u.last_used_at < excluded.last_used_at - interval '1 minute'
$$;
revoke all on function private.touch_key from public;
grant execute on function private.touch_key to watchpost_api;

create function private.api_keys_quota() returns trigger
language plpgsql set search_path = '' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('keys:' || new.user_id, 0));
  perform private.require_quota(new.user_id, 'keys', (
    select count(*) + 1 from watchpost.api_keys
    where user_id = new.user_id and revoked_at is null and (expires_at is null or expires_at > now())));
  if (select count(*) from watchpost.api_keys
      where user_id = new.user_id and created_at > now() - interval '1 day') >= 200 then
    raise exception 'This account has created 200 keys in the last 24 hours. Wait, or use the existing ones.' using errcode = 'WP409';
  end if;
  return new;
end
$$;
create trigger api_keys_quota before insert on watchpost.api_keys
  for each row execute function private.api_keys_quota();

reset role;

-- sql/13_idempotency.sql
-- Idempotency: an Idempotency-Key that is sent twice creates one thing.

set role watchpost_owner;

create table watchpost.idempotency_keys (
  user_id uuid not null references watchpost.accounts on delete cascade,
  route text not null,
  key text not null check (length(key) between 1 and 255),
  request_hash bytea not null,
  status smallint not null,
  resource_id text not null,
  created_at timestamptz not null default now(),
  primary key (user_id, route, key)
);
comment on table watchpost.idempotency_keys is 'The outcome of an Idempotency-Key: status and id only, never a body. Kept for 24 hours.';
comment on column watchpost.idempotency_keys.route is 'Method and path it was sent to; the same key on another route is another request.';
comment on column watchpost.idempotency_keys.request_hash is 'SHA-256 of the request body, to refuse another body under the same key.';
comment on column watchpost.idempotency_keys.status is 'HTTP status of the first answer, repeated on a replay.';
comment on column watchpost.idempotency_keys.resource_id is 'Id of what was created, read again on a replay.';
create index idempotency_keys_created_at on watchpost.idempotency_keys (created_at);
alter table watchpost.idempotency_keys enable row level security;
alter table watchpost.idempotency_keys force row level security;

-- Security definer: starts an effect that must happen only once. Raises WPIDP with the first outcome as detail if the
-- key was used before, WPIDC for a different body, WPIDF while the first request is running.
create function private.begin_idempotent(p_route text, p_key text, p_request_hash bytea) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_user uuid := private.uid();
  v_seen record;
begin
  if not pg_try_advisory_xact_lock(hashtextextended(v_user || p_route || p_key, 0)) then
    raise exception 'the first request with this key is in flight' using errcode = 'WPIDF';
  end if;
  select request_hash, status, resource_id into v_seen
  from watchpost.idempotency_keys
  where user_id = v_user and route = p_route and key = p_key
    and created_at > now() - interval '24 hours';
  if not found then
    return;
  end if;
  if v_seen.request_hash <> p_request_hash then
    raise exception 'this key was used with another body' using errcode = 'WPIDC';
  end if;
  raise exception 'this key was used before' using errcode = 'WPIDP',
    detail = jsonb_build_object('status', v_seen.status, 'id', v_seen.resource_id)::text;
end
$$;

create function private.finish_idempotent(p_route text, p_key text, p_request_hash bytea, p_status integer, p_id text)
returns void
language sql volatile security definer set search_path = '' as $$
  insert into watchpost.idempotency_keys as k (user_id, route, key, request_hash, status, resource_id)
  values (private.uid(), p_route, p_key, p_request_hash, p_status, p_id)
  on conflict (user_id, route, key) do update
  set request_hash = excluded.request_hash,
      status = excluded.status,
      resource_id = excluded.resource_id,
      created_at = now()
$$;
grant execute on function private.begin_idempotent, private.finish_idempotent to authenticated;

reset role;

-- sql/15_sessions.sql
-- Sessions: people who are signed in, and the keys, links and refresh tokens of the local issuer. With another issuer
-- these tables stay empty, because it has its own.

set role watchpost_owner;

create table watchpost.issuer_keys (
  kid text primary key check (length(kid) between 1 and 100),
  private_sealed text not null,
  public_jwk jsonb not null,
  created_at timestamptz not null default now()
);
comment on table watchpost.issuer_keys is 'The signing keys of the local issuer: the newest signs, all verify.';
comment on column watchpost.issuer_keys.private_sealed is 'The private key, sealed by the API with SEAL_KEYS.';
alter table watchpost.issuer_keys enable row level security;
alter table watchpost.issuer_keys force row level security;

create table watchpost.sign_in_links (
  token_hash bytea primary key check (length(token_hash) = 32),
  user_id uuid not null references watchpost.accounts on delete cascade,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
comment on table watchpost.sign_in_links is 'One-time sign-in links of the local issuer, created by an operator. A used link is deleted.';
comment on column watchpost.sign_in_links.token_hash is 'SHA-256.';
create index sign_in_links_user_id on watchpost.sign_in_links (user_id);
create index sign_in_links_expires_at on watchpost.sign_in_links (expires_at);
alter table watchpost.sign_in_links enable row level security;
alter table watchpost.sign_in_links force row level security;

create table watchpost.sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references watchpost.accounts on delete cascade,
  created_at timestamptz not null default now(),
  refreshed_at timestamptz not null default now(),
  ended_at timestamptz
);
comment on table watchpost.sessions is 'Sign-ins at the local issuer. An ended session is kept for a while, so that its last access token is refused.';
comment on column watchpost.sessions.id is 'The session_id in access tokens.';
comment on column watchpost.sessions.refreshed_at is 'When the last access token was issued; a session that is not refreshed for 30 days ends.';
comment on column watchpost.sessions.ended_at is 'Signed out, or ended because a used refresh token was used again.';
create index sessions_user_id on watchpost.sessions (user_id);
create index sessions_refreshed_at on watchpost.sessions (refreshed_at);
alter table watchpost.sessions enable row level security;
alter table watchpost.sessions force row level security;

create table watchpost.refresh_tokens (
  token_hash bytea primary key check (length(token_hash) = 32),
  session_id uuid not null references watchpost.sessions on delete cascade,
  created_at timestamptz not null default now(),
  used_at timestamptz
);
comment on table watchpost.refresh_tokens is 'Refresh tokens of the local issuer, one chain per session. Each works once; one that is used again later was stolen and ends its session.';
comment on column watchpost.refresh_tokens.token_hash is 'SHA-256.';
comment on column watchpost.refresh_tokens.used_at is 'When it was exchanged for the next one; null: not yet.';
create index refresh_tokens_session_id on watchpost.refresh_tokens (session_id);
alter table watchpost.refresh_tokens enable row level security;
alter table watchpost.refresh_tokens force row level security;

reset role;

-- Security definer of the migrating role, which unlike watchpost_owner can read the schema auth: a session of
-- Supabase Auth, which deletes the row when the person signs out.
create function private.auth_session(p_user_id uuid, p_session_id uuid)
returns table (aal text, has_second_factor boolean)
language sql stable security definer set search_path = '' as $$
  select s.aal::text, exists (
    select from auth.mfa_factors f where f.user_id = p_user_id and f.status = 'verified')
  from auth.sessions s
  where s.id = p_session_id and s.user_id = p_user_id and (s.not_after is null or s.not_after > now())
$$;
revoke all on function private.auth_session from public;
grant execute on function private.auth_session to watchpost_owner;

set role watchpost_owner;

-- The account of a verified session token: no row for an account that may not act or whose address is not confirmed,
-- nor for a session that has ended, at the local issuer or at Supabase Auth.
create function private.session_holder(p_user_id uuid, p_session_id uuid)
returns table (user_id uuid, email text, plan text, aal text, has_second_factor boolean)
language plpgsql stable rows 1 set search_path = '' as $$
begin
  return query
    select a.user_id, a.email, a.plan, s.aal, s.has_second_factor
    from private.active_account(p_user_id) a
    cross join lateral (
      select 'aal1' as aal, false as has_second_factor
      from watchpost.sessions l
      where l.id = p_session_id and l.user_id = p_user_id and l.ended_at is null
      union all
      select * from private.auth_session(p_user_id, p_session_id)
    ) s
    where a.confirmed_at is not null
    limit 1;
end
$$;

-- Security definer: check_key for a session whose token the API has verified. A session may do what its account may;
-- p_any_plan is for the routes of the account itself.
create function private.check_session(
  p_user_id uuid,
  p_session_id uuid,
  p_any_plan boolean,
  p_address text,
  p_request_id uuid,
  p_limits jsonb
)
returns table (
  verdict text, user_id uuid, email text, plan text, scopes text[], key_id uuid,
  rate_limit integer, remaining integer, reset_seconds integer, retry_after integer
)
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_caller record;
begin
  if not exists (select from watchpost.accounts a where a.user_id = p_user_id) then
    perform private.ensure_account(p_user_id);
  end if;
  select * into v_caller from private.session_holder(p_user_id, p_session_id);
  return query select * from private.admit(
    v_caller.user_id, v_caller.email, v_caller.plan, array['read', 'write'], null, p_any_plan,
    p_address, p_request_id, p_limits);
end
$$;
revoke all on function private.check_session from public;
grant execute on function private.check_session to watchpost_api;

-- Security definer: key_claims for a session. Its claims contain signed_in, which those of a key never do, and
-- whether a second factor is still required: both the token and the session must have used it.
create function private.session_claims(
  p_user_id uuid, p_session_id uuid, p_aal text, p_any_plan boolean, p_request_id uuid, p_context jsonb
)
returns text
language plpgsql stable security definer set search_path = '' as $$
declare
  v_claims jsonb;
begin
  select p_context || jsonb_build_object(
    'sub', s.user_id,
    'role', 'authenticated',
    'scopes', array['read', 'write'],
    'signed_in', true,
    'second_factor_due', s.has_second_factor
      and not coalesce(p_aal in ('aal2', 'aal3') and s.aal in ('aal2', 'aal3'), false),
    'plan', s.plan,
    'request_id', p_request_id
  )
  into v_claims
  from private.session_holder(p_user_id, p_session_id) s
  where (p_any_plan or s.plan <> 'free')
    and not exists (select from watchpost.rate_denials d where d.request_id = p_request_id);
  if v_claims is null then
    raise exception 'the caller was refused' using errcode = 'WP401';
  end if;
  return v_claims::text;
end
$$;
revoke all on function private.session_claims from public;
grant execute on function private.session_claims to watchpost_api;

-- Security definer, all that follow: the local issuer uses the login role, which cannot read any table.
create function private.issuer_keys()
returns table (kid text, private_sealed text, public_jwk jsonb)
language sql stable security definer set search_path = '' as $$
  select k.kid, k.private_sealed, k.public_jwk from watchpost.issuer_keys k order by k.created_at desc, k.kid
$$;

-- Only the first key: if two processes start at once, one of them creates it.
create function private.add_issuer_key(p_kid text, p_private_sealed text, p_public_jwk jsonb) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('issuer_keys', 0));
  insert into watchpost.issuer_keys (kid, private_sealed, public_jwk)
  select p_kid, p_private_sealed, p_public_jwk
  where not exists (select from watchpost.issuer_keys);
end
$$;

-- A session in the form that the issuer returns.
create function private.session_of(p_session_id uuid)
returns table (
  session_id uuid, user_id uuid, email text, signed_in_at timestamptz, confirmed_at timestamptz,
  created_at timestamptz, updated_at timestamptz
)
language sql stable security definer set search_path = '' as $$
  select s.id, a.user_id, a.email, s.created_at, a.confirmed_at, a.created_at, a.updated_at
  from watchpost.sessions s
  cross join lateral private.active_account(s.user_id) a
  where s.id = p_session_id and s.ended_at is null and a.confirmed_at is not null
    and s.refreshed_at > now() - interval '30 days'
$$;

-- The account that the audit log records as the actor for the rest of this transaction.
create function private.act_as(p_user_id uuid, p_context jsonb) returns void
language sql volatile set search_path = '' as $$
  select set_config('request.jwt.claims', (p_context || jsonb_build_object('sub', p_user_id))::text, true)
$$;

-- Exchanges a one-time link for a session with its first refresh token; no row for a link that is unknown, used or
-- too old.
create function private.redeem_link(p_token_hash bytea, p_refresh_hash bytea, p_context jsonb)
returns table (
  session_id uuid, user_id uuid, email text, signed_in_at timestamptz, confirmed_at timestamptz,
  created_at timestamptz, updated_at timestamptz
)
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_user uuid;
  v_session uuid;
begin
  delete from watchpost.sign_in_links l
  where l.token_hash = p_token_hash and l.expires_at > now()
    and exists (select from private.active_account(l.user_id) a where a.confirmed_at is not null)
  returning l.user_id into v_user;
  if v_user is null then
    return;
  end if;
  insert into watchpost.sessions (user_id) values (v_user) returning id into v_session;
  insert into watchpost.refresh_tokens (token_hash, session_id) values (p_refresh_hash, v_session);
  perform private.act_as(v_user, p_context);
  perform private.record_audit('session.started', 'session', v_session::text, array[v_user]);
  return query select * from private.session_of(v_session);
end
$$;

-- Exchanges a refresh token for its successor, which the API derives from it, so that it is always the same. A used
-- token may be used again within ten seconds, as long as its successor was not used (a lost answer, two tabs).
-- Otherwise two people have it, and the session ends.
create function private.refresh_session(p_old_hash bytea, p_new_hash bytea, p_context jsonb)
returns table (
  verdict text, session_id uuid, user_id uuid, email text, signed_in_at timestamptz,
  confirmed_at timestamptz, created_at timestamptz, updated_at timestamptz
)
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session uuid := (select t.session_id from watchpost.refresh_tokens t where t.token_hash = p_old_hash);
  v_used_at timestamptz;
  v_found record;
begin
  -- One exchange per session at a time: the second sees what the first has done.
  perform from watchpost.sessions s where s.id = v_session for update;
  select * into v_found from private.session_of(v_session);
  if v_found.session_id is null then
    return query select 'unknown', null::uuid, null::uuid, null::text, null::timestamptz,
      null::timestamptz, null::timestamptz, null::timestamptz;
    return;
  end if;
  select t.used_at into v_used_at from watchpost.refresh_tokens t where t.token_hash = p_old_hash;
  if v_used_at is null then
    update watchpost.refresh_tokens t set used_at = clock_timestamp() where t.token_hash = p_old_hash;
    insert into watchpost.refresh_tokens (token_hash, session_id) values (p_new_hash, v_session);
    update watchpost.sessions s set refreshed_at = now() where s.id = v_session;
  elsif v_used_at < clock_timestamp() - interval '10 seconds' or not exists (
    select from watchpost.refresh_tokens t
    where t.token_hash = p_new_hash and t.session_id = v_session and t.used_at is null
  ) then
    update watchpost.sessions s set ended_at = now() where s.id = v_session;
    perform private.act_as(v_found.user_id, p_context);
    perform private.record_audit('session.reused', 'session', v_session::text, array[v_found.user_id]);
    return query select 'reused', null::uuid, null::uuid, null::text, null::timestamptz,
      null::timestamptz, null::timestamptz, null::timestamptz;
    return;
  end if;
  return query select 'ok', v_found.session_id, v_found.user_id, v_found.email, v_found.signed_in_at,
    v_found.confirmed_at, v_found.created_at, v_found.updated_at;
end
$$;

-- Signs out: this session (local), all of its account (global), or all but this one (others).
create function private.end_sessions(p_session_id uuid, p_scope text, p_context jsonb) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_user uuid := (select s.user_id from watchpost.sessions s where s.id = p_session_id and s.ended_at is null);
  v_count integer;
begin
  update watchpost.sessions s
  set ended_at = now()
  where s.user_id = v_user and s.ended_at is null
    and case p_scope when 'local' then s.id = p_session_id when 'others' then s.id <> p_session_id else true end;
  get diagnostics v_count = row_count;
  if v_count > 0 then
    perform private.act_as(v_user, p_context);
    perform private.record_audit('session.ended', 'session', p_session_id::text, array[v_user],
      jsonb_build_object('scope', p_scope));
  end if;
  return v_count;
end
$$;

grant execute on function private.issuer_keys, private.add_issuer_key, private.session_of,
  private.redeem_link, private.refresh_session, private.end_sessions to watchpost_api;

reset role;

-- sql/20_organisations.sql
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
    where m.user_id = private.uid() and m.status = 'active'), '{}');
end
$$;

create function private.admin_orgs() returns uuid[]
language plpgsql stable security definer set search_path = '' as $$
begin
  return coalesce((
    select array_agg(m.org_id) from watchpost.members m
    where m.user_id = private.uid() and m.status = 'active' and m.role in ('owner', 'admin')), '{}');
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
create policy members_jobs on watchpost.members for select to watchpost_jobs
  using (true);
grant select (id, org_id, user_id, email, role, status, invited_by, invite_expires_at, joined_at, created_at)
  on watchpost.members to authenticated;
grant insert (org_id, email, role, invited_by, invite_hash, invite_expires_at) on watchpost.members to authenticated;
grant update (role, invited_by, invite_hash, invite_expires_at) on watchpost.members to authenticated;
grant delete on watchpost.members to authenticated;
grant select on watchpost.members to watchpost_jobs;

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
  for each row when (old.status = 'active' and old.role <> 'member')
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
  where p_org_id = any(private.my_orgs());
end
$$;
grant execute on function private.count_shared to authenticated;

-- Removes a member or an invite as its caller: {passed_on, zones}, where zones are those that passed on, each
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
      'reach', private.zone_reach(z.owner_id, z.org_id, z.channel_ids)) order by z.label, z.id)
    from watchpost.zones z
    where z.id = any(v_zones)), '[]'));
end
$$;
grant execute on function private.remove_member to authenticated;

reset role;

-- sql/22_account_states.sql
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
      where m.user_id = a.user_id and m.status = 'active'
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

-- sql/30_events.sql
-- Sources and events: what the feeds reported, every revision of it, and when it was first seen.

set role watchpost_owner;

create table watchpost.sources (
  source text primary key check (source ~ '^[a-z][a-z0-9-]*$'),
  title text not null,
  attribution text not null,
  types text[] not null,
  enabled boolean not null default true,
  interval_seconds integer not null check (interval_seconds > 0),
  next_poll_at timestamptz not null default now(),
  state jsonb not null default '{}',
  last_success_at timestamptz,
  last_event_at timestamptz,
  error text,
  error_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  ceilings jsonb not null default '{}',
  longest_silence_seconds double precision
);
comment on table watchpost.sources is 'One row per feed: when to poll it next, where polling stopped, and its health.';
comment on column watchpost.sources.source is 'Short name, the first part of the ids of its events.';
comment on column watchpost.sources.types is 'Types of its events; zones use it to tell what they can receive.';
comment on column watchpost.sources.enabled is 'The service switches off sources that FEEDS does not name.';
comment on column watchpost.sources.next_poll_at is 'When it is polled next; set it to now() to poll at once.';
comment on column watchpost.sources.state is 'Where polling stopped: ETag, last id and the like; written by the feed. Empty it to start over.';
comment on column watchpost.sources.last_success_at is 'Last successful poll, with or without new events.';
comment on column watchpost.sources.ceilings is 'Highest severity of a type by the rule of the feed, if below 100, such as {"volcano": 20}; for warnings about zones.';
comment on column watchpost.sources.longest_silence_seconds is 'Longest time between two of its latest events; null: too few events to tell.';
comment on column watchpost.sources.error_at is 'When it last failed; the source is down while this is newer than last_success_at.';
alter table watchpost.sources enable row level security;
alter table watchpost.sources force row level security;
create policy sources_jobs on watchpost.sources for all to watchpost_jobs
  using (true) with check (true);
grant select, insert, update on watchpost.sources to watchpost_jobs;

create table watchpost.events (
  id text primary key,
  source text not null references watchpost.sources,
  type text not null,
  title text not null,
  lat double precision not null check (lat between -90 and 90),
  lon double precision not null check (lon between -180 and 180),
  ts timestamptz not null,
  severity smallint not null check (severity between 0 and 100),
  subject text,
  status text not null check (status in ('active', 'ended', 'retracted')),
  url text,
  geometry jsonb,
  ends_at timestamptz,
  revised_at timestamptz,
  extent box not null,
  revision integer not null default 1,
  first_seen_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  owner_id uuid references watchpost.accounts on delete cascade,
  org_id uuid references watchpost.organisations on delete set null,
  tenant_id uuid generated always as (coalesce(org_id, owner_id)) stored,
  magnitude double precision,
  depth_km double precision,
  changed_in xid8 not null default pg_current_xact_id()
);
comment on table watchpost.events is 'Events in their latest state. Public ones have no owner.';
comment on column watchpost.events.id is '<source>:<id at the source>; the first id seen if a source renames its event.';
comment on column watchpost.events.ts is 'When it happened, according to the source.';
comment on column watchpost.events.severity is '0 to 100, by the rule of its feed.';
comment on column watchpost.events.subject is 'The moving thing it is about, as mmsi:… or icao24:…, or another stable reference; otherwise null.';
comment on column watchpost.events.geometry is 'Footprint as GeoJSON; null if the event is only a point.';
comment on column watchpost.events.ends_at is 'Until when an ongoing event (a warning) lasts; null for one that just happened.';
comment on column watchpost.events.revised_at is 'When the source last changed it; an older state never overwrites a newer one.';
comment on column watchpost.events.extent is 'Bounding box of point and footprint, computed on ingest; used to find the zones near it.';
comment on column watchpost.events.revision is 'Number of the latest state seen here, from 1; each state is a row of event_revisions.';
comment on column watchpost.events.first_seen_at is 'When Watchpost first saw it.';
comment on column watchpost.events.owner_id is 'Account that sent it; null for public events.';
comment on column watchpost.events.tenant_id is 'Tenant that can see it: the organisation, or else the owner; null: public.';
comment on column watchpost.events.magnitude is 'With depth_km: of an earthquake, if the source gives them.';
comment on column watchpost.events.changed_in is 'Transaction that changed it last; followers are told by it.';
create index events_ts on watchpost.events (ts desc, id desc);
create index events_extent_ts on watchpost.events using gist (extent, ts);
create index events_lasting on watchpost.events using gist (extent, ts) where ends_at is not null;
create index events_source_ts on watchpost.events (source, ts desc);
create index events_standing on watchpost.events (ends_at) where status = 'active' and ends_at is not null;
create index events_owner_id on watchpost.events (owner_id) where owner_id is not null;
create index events_org_id on watchpost.events (org_id) where org_id is not null;
alter table watchpost.events enable row level security;
alter table watchpost.events force row level security;
create policy events_select on watchpost.events for select to authenticated
  using (tenant_id is null or tenant_id = any((select private.my_tenants())::uuid[]));
create policy events_jobs on watchpost.events for select to watchpost_jobs
  using (true);
grant select on watchpost.events to authenticated, watchpost_jobs;

create table watchpost.event_aliases (
  alias text primary key,
  event_id text not null references watchpost.events on delete cascade
);
comment on table watchpost.event_aliases is 'Every id under which a source knew an event, with the first id seen.';
create index event_aliases_event_id on watchpost.event_aliases (event_id);
alter table watchpost.event_aliases enable row level security;
alter table watchpost.event_aliases force row level security;

create table watchpost.batches (
  id uuid primary key default gen_random_uuid(),
  seq bigint not null generated always as identity,
  source text not null references watchpost.sources,
  size integer not null,
  created_at timestamptz not null default now(),
  matched_at timestamptz
);
comment on table watchpost.batches is 'The result of one ingest, and whether it was matched. Batches of a source are matched in order.';
comment on column watchpost.batches.id is 'Also the id of its match job.';
comment on column watchpost.batches.size is 'Number of new events and revisions.';
comment on column watchpost.batches.matched_at is 'When it was matched with every zone near it; null: not yet.';
create index batches_unmatched on watchpost.batches (source, seq) where matched_at is null;
create index batches_created_at on watchpost.batches (created_at);
create index batches_source on watchpost.batches (source);
alter table watchpost.batches enable row level security;
alter table watchpost.batches force row level security;
create policy batches_jobs on watchpost.batches for all to watchpost_jobs
  using (true) with check (true);
grant select, update on watchpost.batches to watchpost_jobs;

create table watchpost.event_revisions (
  event_id text not null,
  revision integer not null,
  batch_id uuid references watchpost.batches on delete set null,
  first_seen_at timestamptz not null,
  source text not null,
  type text not null,
  title text not null,
  lat double precision not null,
  lon double precision not null,
  ts timestamptz not null,
  severity smallint not null,
  subject text,
  status text not null,
  url text,
  geometry jsonb,
  ends_at timestamptz,
  extent box not null,
  tenant_id uuid,
  magnitude double precision,
  depth_km double precision,
  primary key (event_id, revision)
);
comment on table watchpost.event_revisions is 'Append-only: each state of an event and when it was first seen here. Decisions are replayed from it.';
comment on column watchpost.event_revisions.event_id is 'The event; remains when the event itself is deleted.';
comment on column watchpost.event_revisions.batch_id is 'The ingest that stored it; null once the batch is deleted.';
comment on column watchpost.event_revisions.first_seen_at is 'When it was first seen here; decisions are made as of this time.';
comment on column watchpost.event_revisions.tenant_id is 'Copied from its event; null: public.';
create index event_revisions_batch_id on watchpost.event_revisions (batch_id);
create index event_revisions_first_seen_at on watchpost.event_revisions (first_seen_at);
create index event_revisions_extent_seen on watchpost.event_revisions using gist (extent, first_seen_at);
alter table watchpost.event_revisions enable row level security;
alter table watchpost.event_revisions force row level security;
create policy event_revisions_select on watchpost.event_revisions for select to authenticated
  using (tenant_id is null or tenant_id = any((select private.my_tenants())::uuid[]));
create policy event_revisions_jobs on watchpost.event_revisions for select to watchpost_jobs
  using (true);
grant select on watchpost.event_revisions to authenticated, watchpost_jobs;

create table watchpost.positions (
  event_id text not null,
  batch_id uuid,
  first_seen_at timestamptz not null,
  source text not null,
  type text not null,
  title text not null,
  lat double precision not null,
  lon double precision not null,
  ts timestamptz not null,
  severity smallint not null,
  subject text not null,
  status text not null,
  url text,
  extent box not null,
  tenant_id uuid,
  primary key (event_id, ts)
) partition by range (ts);
comment on table watchpost.positions is 'Positions of moving subjects, one event each, kept for 48 hours in one partition per day.';
comment on column watchpost.positions.first_seen_at is 'When it arrived here; a stay is replayed in this order.';
comment on column watchpost.positions.ts is 'When the subject was there; dwell is measured with it.';
comment on column watchpost.positions.subject is 'mmsi:… or icao24:….';
comment on column watchpost.positions.tenant_id is 'Null: public.';
create index positions_first_seen_at on watchpost.positions using brin (first_seen_at) with (pages_per_range = 32);
create index positions_batch_id on watchpost.positions (batch_id);
create index positions_ts on watchpost.positions (ts desc, event_id desc);
create index positions_extent_ts on watchpost.positions using gist (extent, ts);
create index positions_subject_ts on watchpost.positions (subject, ts desc);
alter table watchpost.positions enable row level security;
alter table watchpost.positions force row level security;
create policy positions_select on watchpost.positions for select to authenticated
  using (tenant_id is null or tenant_id = any((select private.my_tenants())::uuid[]));
create policy positions_jobs on watchpost.positions for select to watchpost_jobs
  using (true);
grant select on watchpost.positions to authenticated, watchpost_jobs;
create table watchpost.positions_default partition of watchpost.positions default;
comment on table watchpost.positions_default is 'Positions of days without a partition.';
alter table watchpost.positions_default enable row level security;
alter table watchpost.positions_default force row level security;

reset role;

-- sql/35_ingest.sql
-- Ingest: how the items of a feed become events and revisions, and the health of sources.

set role watchpost_owner;

-- An item of a feed, with the id under which its event is stored.
create type private.incoming_event as (
  event_id text,
  given_id text,
  aliases text[],
  is_moving boolean,
  type text,
  title text,
  lat double precision,
  lon double precision,
  ts timestamptz,
  severity smallint,
  subject text,
  status text,
  url text,
  geometry jsonb,
  ends_at timestamptz,
  revised_at timestamptz,
  extent box,
  seen_at timestamptz,
  magnitude double precision,
  depth_km double precision
);

-- Reads a JSON array of normalised events with `box` as [west, south, east, north]; `first_seen_at` may be given for
-- history. An event that is known under another id keeps that id; of several states the last one counts. An active event
-- whose end has passed is ended. Times are in milliseconds, as on the wire, so that a cursor names a row exactly.
create function private.read_events(p_source text, p_events jsonb) returns setof private.incoming_event
language sql stable set search_path = '' as $$
  select distinct on (coalesce(known.event_id, e.id))
    coalesce(known.event_id, e.id), e.id, e.aliases, coalesce(e.subject ~ '^(mmsi|icao24):', false),
    e.type, e.title, e.lat, e.lon, e.ts, e.severity, e.subject,
    case when e.status = 'active' and e.ends_at <= coalesce(e.first_seen_at, now()) then 'ended' else e.status end,
    e.url, e.geometry, e.ends_at, e.revised_at,
    box(
      point((e.box ->> 0)::float8, (e.box ->> 1)::float8),
      point((e.box ->> 2)::float8, (e.box ->> 3)::float8)),
    date_trunc('milliseconds', coalesce(e.first_seen_at, now())), e.magnitude, e.depth_km
  from (
    select x.*, j.ordinal
    from jsonb_array_elements(p_events) with ordinality as j (value, ordinal)
    cross join lateral jsonb_to_record(j.value) as x (
      id text, type text, title text, lat float8, lon float8, ts timestamptz, severity smallint,
      subject text, status text, url text, geometry jsonb, ends_at timestamptz,
      revised_at timestamptz, first_seen_at timestamptz, aliases text[], box jsonb, magnitude float8, depth_km float8)
  ) e
  left join lateral (
    select a.event_id from watchpost.event_aliases a
    where a.alias = any(e.aliases || e.id) and starts_with(a.alias, p_source || ':')
    order by a.alias = e.id desc, a.event_id
    limit 1
  ) known on true
  order by coalesce(known.event_id, e.id), e.ordinal desc
$$;

create function private.store_positions(
  p_batch_id uuid, p_source text, p_tenant_id uuid, p_events private.incoming_event[]
)
returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_count integer;
begin
  insert into watchpost.positions (
    event_id, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, url, extent,
    tenant_id)
  select
    event_id, p_batch_id, seen_at, p_source, type, title, lat, lon, ts, severity, subject, status, url, extent,
    p_tenant_id
  from unnest(p_events)
  where is_moving
  on conflict do nothing;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- Stores new events and true revisions, each with its row in event_revisions.
create function private.store_events(
  p_batch_id uuid, p_source text, p_owner_id uuid, p_org_id uuid, p_events private.incoming_event[],
  out inserted integer, out revised integer
)
language plpgsql volatile set search_path = '' as $$
begin
  with given as materialized (
    select * from unnest(p_events) where not is_moving
  ),
  born as (
    insert into watchpost.events (
      id, source, type, title, lat, lon, ts, severity, subject, status, url, geometry, ends_at, revised_at,
      extent, first_seen_at, updated_at, owner_id, org_id, magnitude, depth_km, revision)
    select
      event_id, p_source, type, title, lat, lon, ts, severity, subject, status, url, geometry, ends_at, revised_at,
      extent, seen_at, seen_at, p_owner_id, p_org_id, magnitude, depth_km,
      -- If an event that was deleted for its age is reported again, its revisions continue.
      1 + coalesce((
        select max(r.revision) from watchpost.event_revisions r where r.event_id = given.event_id), 0)
    from given
    on conflict (id) do nothing
    returning *
  ),
  changed as (
    update watchpost.events e
    set type = g.type, title = g.title, lat = g.lat, lon = g.lon, ts = g.ts, severity = g.severity,
        subject = g.subject, status = g.status, url = g.url, geometry = g.geometry, ends_at = g.ends_at,
        revised_at = g.revised_at, extent = g.extent, magnitude = coalesce(g.magnitude, e.magnitude),
        depth_km = coalesce(g.depth_km, e.depth_km),
        revision = e.revision + 1, updated_at = g.seen_at
    from given g
    where e.id = g.event_id
      and e.source = p_source
      and e.tenant_id is not distinct from coalesce(p_org_id, p_owner_id)
      and (g.revised_at is null or e.revised_at is null or g.revised_at >= e.revised_at)
      and (g.type, g.title, g.lat, g.lon, g.ts, g.severity, g.status, g.url, g.geometry, g.ends_at,
          coalesce(g.magnitude, e.magnitude), coalesce(g.depth_km, e.depth_km))
        is distinct from
        (e.type, e.title, e.lat, e.lon, e.ts, e.severity, e.status, e.url, e.geometry, e.ends_at, e.magnitude, e.depth_km)
    returning e.*
  ),
  revisions as (
    insert into watchpost.event_revisions (
      event_id, revision, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject,
      status, url, geometry, ends_at, extent, tenant_id, magnitude, depth_km)
    select
      id, revision, p_batch_id, updated_at, source, type, title, lat, lon, ts, severity, subject,
      status, url, geometry, ends_at, extent, tenant_id, magnitude, depth_km
    from (select * from born union all select * from changed) r
  )
  select (select count(*) from born), (select count(*) from changed) into inserted, revised;
end
$$;

create function private.store_aliases(p_source text, p_events private.incoming_event[]) returns void
language sql volatile set search_path = '' as $$
  insert into watchpost.event_aliases (alias, event_id)
  select distinct on (a.alias) a.alias, g.event_id
  from unnest(p_events) g
  cross join lateral unnest(g.aliases || g.given_id || g.event_id) as a (alias)
  where not g.is_moving and (g.aliases <> '{}' or g.given_id <> g.event_id) and starts_with(a.alias, p_source || ':')
  order by a.alias, g.event_id
  on conflict (alias) do nothing
$$;

-- Security definer: the jobs cannot write events in any other way. Stores the items of a feed as a batch with its
-- match job, in the caller's transaction; without a batch if nothing is new.
create function private.ingest_events(
  p_source text,
  p_events jsonb,
  p_match boolean default true,
  p_owner_id uuid default null,
  p_org_id uuid default null
)
returns table (inserted integer, revised integer, unchanged integer, batch_id uuid)
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_batch uuid := gen_random_uuid();
  v_given integer := jsonb_array_length(p_events);
  v_events private.incoming_event[];
  v_positions integer;
  v_stored record;
begin
  -- A source can only name its own events: nobody takes over another's by an id or alias of it.
  if exists (
    select from jsonb_array_elements(p_events) as j (value)
    where not starts_with(j.value ->> 'id', p_source || ':')) then
    raise exception 'every id of source % begins with %:', p_source, p_source using errcode = 'WP400';
  end if;
  -- One ingest of a source at a time, because aliases and revisions depend on what is stored.
  perform pg_advisory_xact_lock(hashtextextended('ingest:' || p_source, 0));

  insert into watchpost.batches (id, source, size, matched_at)
  values (v_batch, p_source, v_given, case when p_match then null else now() end);
  v_events := array(select e from private.read_events(p_source, p_events) e);
  v_positions := private.store_positions(v_batch, p_source, coalesce(p_org_id, p_owner_id), v_events);
  select * into v_stored from private.store_events(v_batch, p_source, p_owner_id, p_org_id, v_events);
  perform private.store_aliases(p_source, v_events);
  inserted := v_positions + v_stored.inserted;
  revised := v_stored.revised;
  unchanged := v_given - inserted - revised;

  update watchpost.sources
  set last_event_at = greatest(last_event_at, (
        select max((j.value ->> 'ts')::timestamptz) from jsonb_array_elements(p_events) as j (value)))
  where source = p_source and v_given > 0;

  if inserted + revised = 0 then
    delete from watchpost.batches where id = v_batch;
    return next;
    return;
  end if;
  batch_id := v_batch;
  update watchpost.batches set size = inserted + revised where id = v_batch;
  if p_match then
    perform private.enqueue('match', v_batch, jsonb_build_object('source', p_source));
  end if;
  return next;
end
$$;
grant execute on function private.ingest_events to watchpost_jobs;

-- Security definer, as ingest_events: events whose end has passed become `ended`, each with a revision and its
-- match job, up to p_limit of them. A source that is being ingested comes next time.
create function private.end_events(p_limit integer default 500) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_source text;
  v_batch uuid;
  v_ended integer;
  v_count integer := 0;
begin
  for v_source in
    select distinct e.source from watchpost.events e where e.status = 'active' and e.ends_at <= now()
  loop
    continue when not pg_try_advisory_xact_lock(hashtextextended('ingest:' || v_source, 0));
    insert into watchpost.batches (source, size) values (v_source, 0) returning id into v_batch;
    with over as (
      update watchpost.events
      set status = 'ended', revision = revision + 1, updated_at = date_trunc('milliseconds', now())
      where id in (
        select e.id from watchpost.events e
        where e.status = 'active' and e.ends_at <= now() and e.source = v_source
        order by e.ends_at
        limit p_limit)
      returning *
    )
    insert into watchpost.event_revisions (
      event_id, revision, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject,
      status, url, geometry, ends_at, extent, tenant_id, magnitude, depth_km)
    select
      id, revision, v_batch, updated_at, source, type, title, lat, lon, ts, severity, subject,
      status, url, geometry, ends_at, extent, tenant_id, magnitude, depth_km
    from over;
    get diagnostics v_ended = row_count;
    if v_ended = 0 then
      delete from watchpost.batches where id = v_batch;
      continue;
    end if;
    update watchpost.batches set size = v_ended where id = v_batch;
    perform private.enqueue('match', v_batch, jsonb_build_object('source', v_source));
    v_count := v_count + v_ended;
  end loop;
  return v_count;
end
$$;
grant execute on function private.end_events to watchpost_jobs;

-- Creates partitions of positions from yesterday up to p_days ahead; the default partition takes the rest.
create function private.ensure_partitions(p_days integer default 3) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_day date;
  v_name text;
begin
  for v_day in
    select generate_series((now() at time zone 'UTC')::date - 1, (now() at time zone 'UTC')::date + p_days, '1 day')
  loop
    v_name := 'positions_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass('watchpost.' || v_name) is not null;
    -- Positions that arrived before their day had a partition stay in the default one until they are deleted.
    continue when exists (
      select from watchpost.positions_default p
      where p.ts >= v_day::timestamp at time zone 'UTC' and p.ts < (v_day + 1)::timestamp at time zone 'UTC');
    execute format(
      'create table watchpost.%I partition of watchpost.positions for values from (%L) to (%L)',
      v_name, v_day::text || ' 00:00:00+00', (v_day + 1)::text || ' 00:00:00+00');
    execute format('alter table watchpost.%I enable row level security', v_name);
    execute format('alter table watchpost.%I force row level security', v_name);
  end loop;
end
$$;
grant execute on function private.ensure_partitions to watchpost_jobs;

-- Measures the longest time between two of the last 2,000 events of each source, of 30 days at most. With fewer
-- than 20 events the previous value is kept, so that a source that delivers nothing any more remains stale.
create function private.measure_silence() returns void
language sql volatile set search_path = '' as $$
  update watchpost.sources s
  set longest_silence_seconds = g.longest
  from watchpost.sources o
  cross join lateral (
    select extract(epoch from max(e.gap)) as longest, count(*) as count
    from (
      select latest.ts - lag(latest.ts) over (order by latest.ts) as gap
      from (
        select ts from watchpost.events
        where source = o.source and ts > now() - interval '30 days' and ts <= now()
        order by ts desc
        limit 2000
      ) latest
    ) e
  ) g
  where s.source = o.source and g.count >= 20 and s.longest_silence_seconds is distinct from g.longest
$$;

-- After how long without an event a source is stale: twice its longest silence, and at least an hour.
create function private.silent_after(s watchpost.sources) returns interval
language sql immutable set search_path = '' as $$
  select greatest(2 * s.longest_silence_seconds, 3600) * interval '1 second'
  where s.longest_silence_seconds is not null
$$;

-- The health of a source: down if it answers with errors; stale if it has not answered for long, or if it answers
-- but its last event is much older than usual.
create function private.source_status(s watchpost.sources) returns text
language sql stable set search_path = '' as $$
  select case
    when not s.enabled then 'disabled'
    when s.last_success_at > now() - greatest(3 * s.interval_seconds, 180) * interval '1 second' then
      case when s.last_event_at < now() - private.silent_after(s) then 'stale' else 'ok' end
    when s.last_success_at is null and s.error_at is null
      and s.created_at > now() - interval '3 minutes' then 'stale'
    when s.error_at > coalesce(s.last_success_at, '-infinity') or s.last_success_at is null then 'down'
    else 'stale'
  end
$$;

-- Security definer: the sources a zone receives events from with their health, for its owner.
create function private.coverage(p_sources text[], p_types text[]) returns jsonb
language sql stable security definer set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('source', s.source, 'status', private.source_status(s)) order by s.source), '[]')
  from watchpost.sources s
  where s.source not like 'custom%'
    and (p_sources is null or s.source = any(p_sources))
    and (p_types is null or s.types && p_types)
$$;
grant execute on function private.coverage to authenticated;

-- Security definer: what prevents a zone from raising alerts and is not visible to its readers: the state of its owner's
-- account, which of its sources are unknown or disabled, and the highest severity that its types can have there. Null
-- if the caller cannot see such a zone.
create function private.zone_obstacles(p_owner_id uuid, p_org_id uuid, p_sources text[], p_types text[]) returns jsonb
language sql stable security definer set search_path = '' as $$
  select jsonb_build_object(
    'paused', (
      select case when a.plan = 'free' then 'paused_by_plan' when private.is_banned(a.banned_until) then 'owner_banned' end
      from watchpost.accounts a
      where a.user_id = p_owner_id),
    'silent', coalesce((
      select jsonb_agg(jsonb_build_object(
        'source', given.source, 'status', case when s.source is null then 'unknown' else 'disabled' end)
        order by given.source)
      from unnest(p_sources) as given (source)
      left join watchpost.sources s on s.source = given.source
      where s.enabled is not true and given.source not like 'custom%'), '[]'),
    'highest', coalesce((
      select jsonb_agg(jsonb_build_object('type', given.type, 'severity', (
        select max(coalesce((s.ceilings ->> given.type)::integer, 100))
        from watchpost.sources s
        where s.enabled and given.type = any(s.types) and (p_sources is null or s.source = any(p_sources)))))
      from unnest(p_types) as given (type)), '[]'))
  where p_owner_id = private.uid() or p_org_id = any(private.my_orgs())
$$;
grant execute on function private.zone_obstacles to authenticated;

-- Security definer: the attribution of a source, for everybody who reads its events.
create function private.attribution(p_source text) returns text
language sql stable security definer set search_path = '' as $$
  select coalesce((select s.attribution from watchpost.sources s where s.source = p_source), p_source)
$$;
grant execute on function private.attribution to authenticated, watchpost_jobs;

-- Security definer: the health of sources is public, their state is not.
create function private.sources_health()
returns table (
  source text, title text, attribution text, types text[], enabled boolean, interval_seconds integer,
  status text, last_success_at timestamptz, last_event_at timestamptz, events_24h bigint, error text,
  latency_p50 double precision, latency_p95 double precision
)
language sql stable security definer set search_path = '' as $$
  select s.source, s.title, s.attribution, s.types, s.enabled, s.interval_seconds, private.source_status(s), s.last_success_at,
    s.last_event_at, coalesce(e.count, 0),
    case
      when s.error_at > coalesce(s.last_success_at, '-infinity') then s.error
      when private.source_status(s) = 'stale' and s.last_event_at < now() - private.silent_after(s) then format(
        'It answers, but has sent no event since %s; before that it was never silent for more than %s.',
        private.iso(s.last_event_at), case
          when s.longest_silence_seconds <= 7200 then ceil(s.longest_silence_seconds / 60) || ' minutes'
          else ceil(s.longest_silence_seconds / 3600) || ' hours'
        end)
    end,
    e.p50, e.p95
  from watchpost.sources s
  left join lateral (
    select count(*),
      percentile_cont(0.5) within group (order by extract(epoch from (e.first_seen_at - e.ts)))
        filter (where e.first_seen_at > e.ts) as p50,
      percentile_cont(0.95) within group (order by extract(epoch from (e.first_seen_at - e.ts)))
        filter (where e.first_seen_at > e.ts) as p95
    from watchpost.events e
    where e.source = s.source and e.ts > now() - interval '24 hours'
  ) e on true
  where s.source not like 'custom%'
  order by s.source
$$;
grant execute on function private.sources_health to watchpost_api, authenticated;

reset role;

-- sql/40_zones.sql
-- Zones: the areas that people watch, every version of them, and the boxes that narrow the search.

set role watchpost_owner;

create table watchpost.zones (
  id uuid primary key default gen_random_uuid(),
  owner_id uuid not null default private.uid() references watchpost.accounts on delete cascade,
  org_id uuid references watchpost.organisations on delete set null,
  tenant_id uuid generated always as (coalesce(org_id, owner_id)) stored,
  label text not null check (length(label) between 1 and 120),
  lat double precision not null check (lat between -90 and 90),
  lon double precision not null check (lon between -180 and 180),
  radius_km double precision not null default 50 check (radius_km between 0.1 and 5000),
  shape_type text not null default 'circle' check (shape_type in ('circle', 'polygon')),
  polygon jsonb,
  match text not null default 'footprint' check (match in ('point', 'footprint')),
  min_severity double precision not null default 40 check (min_severity between 0 and 100),
  severity_multiplier double precision not null default 1 check (severity_multiplier between 0.1 and 5),
  dwell_minutes double precision not null default 0 check (dwell_minutes between 0 and 10080),
  quiet_hours_start text check (quiet_hours_start ~ '^([01]\d|2[0-3]):[0-5]\d$'),
  quiet_hours_end text check (quiet_hours_end ~ '^([01]\d|2[0-3]):[0-5]\d$'),
  quiet_hours_tz text not null default 'UTC',
  quiet_mode text not null default 'hold' check (quiet_mode in ('hold', 'drop')),
  emergency_severity double precision check (emergency_severity between 0 and 100),
  color text check (color ~ '^#[0-9a-f]{6}$'),
  icon text check (icon ~ '^[a-z0-9-]{1,32}$'),
  channel_ids uuid[],
  sources text[],
  types text[],
  snoozed_until timestamptz,
  enabled boolean not null default true,
  boxes box[] not null check (cardinality(boxes) > 0),
  version integer not null default 1,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  quiet_windows jsonb check (jsonb_typeof(quiet_windows) = 'array' and jsonb_array_length(quiet_windows) between 1 and 8),
  check (quiet_windows is null or quiet_hours_start is null),
  check ((quiet_hours_start is null) = (quiet_hours_end is null)),
  check ((shape_type = 'polygon') <= (polygon is not null))
);
comment on table watchpost.zones is 'Zones in their latest version. Change shapes only through the API: it computes the boxes that matching needs.';
comment on column watchpost.zones.org_id is 'Null: private.';
comment on column watchpost.zones.tenant_id is 'Tenant that can see it: the organisation, or else the owner.';
comment on column watchpost.zones.lat is 'With lon: the centre of a circle, or the position of a polygon''s label.';
comment on column watchpost.zones.radius_km is 'For a circle; ignored for a polygon.';
comment on column watchpost.zones.polygon is 'GeoJSON Polygon or MultiPolygon; null: a circle.';
comment on column watchpost.zones.match is 'point: the event''s point must be inside; footprint: or its geometry must touch the zone.';
comment on column watchpost.zones.min_severity is 'Threshold, 0 to 100, for severity times severity_multiplier.';
comment on column watchpost.zones.dwell_minutes is 'How long a vessel or aircraft must stay before it alerts; other events ignore it.';
comment on column watchpost.zones.quiet_hours_start is 'HH:MM in quiet_hours_tz; null: no quiet hours.';
comment on column watchpost.zones.quiet_hours_end is 'May be after midnight.';
comment on column watchpost.zones.quiet_windows is 'List of {days, start, end} in quiet_hours_tz, instead of the two times; null: the two times are used.';
comment on column watchpost.zones.quiet_mode is 'What happens during quiet hours: hold (one digest at their end) or drop (recorded, never sent).';
comment on column watchpost.zones.emergency_severity is 'From this severity on quiet hours are ignored; null: never.';
comment on column watchpost.zones.channel_ids is 'Where alerts are sent: null: to every enabled channel of the owner (and organisation); empty: nowhere. Channels that were deleted or are no longer visible are skipped; if none is left, it counts as null.';
comment on column watchpost.zones.sources is 'Null: all feeds.';
comment on column watchpost.zones.types is 'Null: all types.';
comment on column watchpost.zones.snoozed_until is 'Until then alerts are recorded as suppressed.';
comment on column watchpost.zones.boxes is 'Bounding boxes of the shape, computed by the API; never set them by hand.';
comment on column watchpost.zones.version is 'Number of the version; each change that matters to decisions creates one in zone_versions.';
comment on column watchpost.zones.deleted_at is 'Can be restored for 30 days from then on.';
create index zones_tenant_created on watchpost.zones (tenant_id, created_at desc, id desc) where deleted_at is null;
create index zones_owner_id on watchpost.zones (owner_id);
create index zones_org_id on watchpost.zones (org_id) where org_id is not null;
create index zones_deleted_at on watchpost.zones (deleted_at) where deleted_at is not null;
create index zones_updated_at on watchpost.zones (updated_at);
create index zones_channel_ids on watchpost.zones using gin (channel_ids);
alter table watchpost.zones enable row level security;
alter table watchpost.zones force row level security;
create policy zones_select on watchpost.zones for select to authenticated
  using (tenant_id = any((select private.my_tenants())::uuid[]));
create policy zones_insert on watchpost.zones for insert to authenticated
  with check (
    (select private.can_write())
    and owner_id = (select private.uid())
    and (org_id is null or org_id = any((select private.my_orgs())::uuid[])));
create policy zones_update on watchpost.zones for update to authenticated
  using (
    (select private.can_write())
    and (owner_id = (select private.uid()) or org_id = any((select private.admin_orgs())::uuid[])))
  with check (
    (select private.can_write())
    and (org_id is null or org_id = any((select private.my_orgs())::uuid[])));
create policy zones_jobs on watchpost.zones for select to watchpost_jobs
  using (true);
grant select on watchpost.zones to authenticated, watchpost_jobs;
grant insert (
    org_id, label, lat, lon, radius_km, shape_type, polygon, match, min_severity, severity_multiplier,
    dwell_minutes, quiet_hours_start, quiet_hours_end, quiet_hours_tz, quiet_mode, emergency_severity,
    color, icon, channel_ids, sources, types, snoozed_until, enabled, boxes, quiet_windows)
  on watchpost.zones to authenticated;
grant update (
    org_id, label, lat, lon, radius_km, shape_type, polygon, match, min_severity, severity_multiplier,
    dwell_minutes, quiet_hours_start, quiet_hours_end, quiet_hours_tz, quiet_mode, emergency_severity,
    color, icon, channel_ids, sources, types, snoozed_until, enabled, boxes, deleted_at, quiet_windows)
  on watchpost.zones to authenticated;

create table watchpost.zone_boxes (
  zone_id uuid not null references watchpost.zones on delete cascade,
  part smallint not null,
  box box not null,
  min_severity real not null,
  sources text[],
  types text[],
  primary key (zone_id, part)
);
comment on table watchpost.zone_boxes is 'Narrows the search for zones that are not deleted: bounding boxes (several across the antimeridian), the minimum severity that can matter, and filters.';
comment on column watchpost.zone_boxes.box is 'Longitudes and latitudes, in degrees.';
comment on column watchpost.zone_boxes.min_severity is 'The minimum severity of an event that can reach the zone: its threshold divided by its multiplier, rounded down.';
comment on column watchpost.zone_boxes.sources is 'Like types, a copy of the zone''s filter, so that the index alone can exclude it.';
create index zone_boxes_box on watchpost.zone_boxes using gist (box, min_severity) include (zone_id, sources, types);
alter table watchpost.zone_boxes enable row level security;
alter table watchpost.zone_boxes force row level security;
create policy zone_boxes_jobs on watchpost.zone_boxes for select to watchpost_jobs
  using (true);
grant select on watchpost.zone_boxes to watchpost_jobs;

create table watchpost.zone_shapes (
  zone_id uuid not null references watchpost.zones on delete cascade,
  hash bytea not null check (length(hash) = 32),
  polygon jsonb not null,
  bytes integer not null check (bytes > 0),
  primary key (zone_id, hash)
);
comment on table watchpost.zone_shapes is 'Each polygon that a kept version of a zone uses, stored once. It belongs to that zone only: the same polygon in another zone is another row.';
comment on column watchpost.zone_shapes.hash is 'SHA-256 of the polygon; identifies it within its zone.';
comment on column watchpost.zone_shapes.bytes is 'Its length as text, which counts towards the limit of the zone.';
alter table watchpost.zone_shapes enable row level security;
alter table watchpost.zone_shapes force row level security;
create policy zone_shapes_select on watchpost.zone_shapes for select to authenticated
  using (exists (select from watchpost.zones z where z.id = zone_id));
create policy zone_shapes_jobs on watchpost.zone_shapes for select to watchpost_jobs
  using (true);
grant select on watchpost.zone_shapes to authenticated, watchpost_jobs;

create table watchpost.zone_versions (
  zone_id uuid not null references watchpost.zones on delete cascade,
  version integer not null,
  valid_from timestamptz not null default now(),
  definition jsonb not null,
  shape_hash bytea,
  ended_at timestamptz,
  actor_id uuid,
  changes jsonb not null default '{}',
  primary key (zone_id, version),
  foreign key (zone_id, shape_hash) references watchpost.zone_shapes (zone_id, hash)
);
comment on table watchpost.zone_versions is 'Each version of a zone that was valid when something was seen, so that decisions can be replayed; others are removed, see retention.';
comment on column watchpost.zone_versions.definition is 'Every field that a decision uses, as JSON, without the polygon.';
comment on column watchpost.zone_versions.shape_hash is 'Its polygon in zone_shapes; null: a circle.';
comment on column watchpost.zone_versions.ended_at is 'When the next version began; null: it is the latest.';
comment on column watchpost.zone_versions.actor_id is 'Account that made the change; null: an operator or the service.';
comment on column watchpost.zone_versions.changes is 'Changes since the previous version: field to [old, new]; for the polygon only that it changed.';
create index zone_versions_shape on watchpost.zone_versions (zone_id, shape_hash) where shape_hash is not null;
create index zone_versions_ended_at on watchpost.zone_versions (ended_at) where ended_at is not null;
alter table watchpost.zone_versions enable row level security;
alter table watchpost.zone_versions force row level security;
create policy zone_versions_select on watchpost.zone_versions for select to authenticated
  using (exists (select from watchpost.zones z where z.id = zone_id));
create policy zone_versions_jobs on watchpost.zone_versions for select to watchpost_jobs
  using (true);
grant select on watchpost.zone_versions to authenticated, watchpost_jobs;

create table watchpost.match_memory (
  zone_id uuid not null references watchpost.zones on delete cascade,
  key text not null,
  memory jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (zone_id, key)
);
comment on table watchpost.match_memory is 'What matching remembers per zone and event, or per zone and moving subject (a stay).';
comment on column watchpost.match_memory.key is 'Event id, or the subject of a stay.';
comment on column watchpost.match_memory.memory is 'State of the decision so far; only matching reads and writes it.';
create index match_memory_key on watchpost.match_memory (key);
create index match_memory_updated_at on watchpost.match_memory (updated_at);
alter table watchpost.match_memory enable row level security;
alter table watchpost.match_memory force row level security;
create policy match_memory_jobs on watchpost.match_memory for all to watchpost_jobs
  using (true) with check (true);
grant select, insert, update, delete on watchpost.match_memory to watchpost_jobs;

-- What a version contains: a change of any of it creates a new version.
create function private.zone_definition(z watchpost.zones) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(z) - array['boxes', 'version', 'created_at', 'updated_at', 'tenant_id']
$$;

-- A complete version, as decisions read it.
create function private.version_definition(v watchpost.zone_versions) returns jsonb
language sql stable set search_path = '' as $$
  select v.definition || jsonb_build_object('polygon', (
    select s.polygon from watchpost.zone_shapes s where s.zone_id = v.zone_id and s.hash = v.shape_hash))
$$;
grant execute on function private.version_definition to authenticated, watchpost_jobs;

-- Those of the given zones whose readers could all see, at a given time, an event of an account or organisation.
-- Security definer: it returns only ids, and reads every version of the zones.
create function private.zones_in_tenant(p_zone_ids uuid[], p_tenant_id uuid, p_at timestamptz) returns uuid[]
language sql stable security definer set search_path = '' as $$
  select coalesce(array_agg(g.id), '{}')
  from unnest(p_zone_ids) as g (id)
  cross join lateral (
    select v.definition from watchpost.zone_versions v
    where v.zone_id = g.id and date_trunc('milliseconds', v.valid_from) <= p_at
    order by v.version desc
    limit 1
  ) v
  where private.could_hear((v.definition ->> 'owner_id')::uuid, (v.definition ->> 'org_id')::uuid, p_tenant_id, p_at)
$$;
grant execute on function private.zones_in_tenant to watchpost_jobs;

-- Stores the version that begins now. Raises errcode WP409 if the zone already has as much history as it may;
-- versions that are removed later, see retention, make room again.
create function private.store_version(z watchpost.zones, p_changes jsonb, p_must_fit boolean) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_text text := z.polygon::text;
  v_hash bytea := sha256(convert_to(v_text, 'UTF8'));
begin
  if v_hash is not null then
    insert into watchpost.zone_shapes (zone_id, hash, polygon, bytes)
    values (z.id, v_hash, z.polygon, octet_length(v_text))
    on conflict do nothing;
  end if;
  update watchpost.zone_versions set ended_at = now() where zone_id = z.id and ended_at is null;
  insert into watchpost.zone_versions (zone_id, version, definition, shape_hash, actor_id, changes)
  values (z.id, z.version, private.zone_definition(z) - 'polygon', v_hash, private.uid(), p_changes);
  if p_must_fit and (
    (select count(*) from watchpost.zone_versions where zone_id = z.id) > 500
    or (select sum(bytes) from watchpost.zone_shapes where zone_id = z.id) > 4 * 1024 * 1024) then
    raise exception 'This zone has been changed too often: a zone keeps at most 500 versions and 4 MiB of shapes. Versions in which no event was seen are deleted within hours, the others after 100 days; until then, create a new zone.'
      using errcode = 'WP409';
  end if;
end
$$;

-- An event below this severity cannot reach the zone's threshold. It is rounded down, because it only narrows the
-- search. A tiny threshold is increased a little, which the rounding covers, because dividing it would underflow.
create function private.min_event_severity(z watchpost.zones) returns real
language sql immutable set search_path = '' as $$
  select (greatest(z.min_severity, 0.0001) / z.severity_multiplier - 0.01)::real
$$;

-- Security definer, both: limits, versions, boxes and jobs follow every change of a zone, whoever makes it.
create function private.zone_before() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if tg_op = 'INSERT' then
    perform pg_advisory_xact_lock(hashtextextended('zones:' || new.owner_id, 0));
    perform private.require_quota(new.owner_id, 'zones', (
      select count(*) + 1 from watchpost.zones where owner_id = new.owner_id and deleted_at is null));
    perform private.require_deleted_quota(new.owner_id, 'zones', (
      select count(*) from watchpost.zones
      where owner_id = new.owner_id and deleted_at > now() - interval '30 days'));
    return new;
  end if;
  if new.org_id is distinct from old.org_id and private.uid() is not null and private.uid() <> old.owner_id
    and private.org_exists(old.org_id) then
    raise exception 'only the owner can share or unshare a zone' using errcode = 'WP403';
  end if;
  if old.deleted_at is not null and new.deleted_at is null then
    perform pg_advisory_xact_lock(hashtextextended('zones:' || new.owner_id, 0));
    perform private.require_quota(new.owner_id, 'zones', (
      select count(*) + 1 from watchpost.zones where owner_id = new.owner_id and deleted_at is null));
  end if;
  new.updated_at := now();
  if private.zone_definition(new) is distinct from private.zone_definition(old) then
    new.version := old.version + 1;
  end if;
  return new;
end
$$;
create trigger zones_before before insert or update on watchpost.zones
  for each row execute function private.zone_before();

create function private.zone_after() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  v_changes jsonb := '{}';
begin
  if tg_op = 'UPDATE' then
    v_changes := private.changed_fields(to_jsonb(old), to_jsonb(new));
  end if;
  if tg_op = 'INSERT' or new.version <> old.version then
    -- Deleting a zone, leaving an organisation, deleting one and losing a channel are never refused.
    perform private.store_version(new, v_changes, tg_op = 'INSERT' or not (
      (new.deleted_at is not null and old.deleted_at is null)
      or (coalesce(cardinality(old.channel_ids), 0) > coalesce(cardinality(new.channel_ids), 0)
        and old.channel_ids @> coalesce(new.channel_ids, '{}'))
      or new.owner_id <> old.owner_id
      or not private.org_exists(old.org_id)));
    perform private.enqueue('match_zone', gen_random_uuid(), jsonb_build_object('zone_id', new.id));
  end if;
  if tg_op = 'INSERT' or new.version <> old.version then
    delete from watchpost.zone_boxes where zone_id = new.id;
    insert into watchpost.zone_boxes (zone_id, part, box, min_severity, sources, types)
    select new.id, b.part, b.box, private.min_event_severity(new), new.sources, new.types
    from unnest(new.boxes) with ordinality as b (box, part)
    where new.deleted_at is null;
  end if;
  if tg_op = 'UPDATE' and (new.org_id is distinct from old.org_id or new.owner_id <> old.owner_id) then
    update watchpost.alerts
    set org_id = new.org_id, owner_id = new.owner_id
    where zone_id = new.id;
  end if;
  return new;
end
$$;
create trigger zones_after after insert or update on watchpost.zones
  for each row execute function private.zone_after();

reset role;

-- sql/45_near.sql
-- Near: events near a caller's zones, and every kept revision of an event, for reads.

set role watchpost_owner;

-- Events and positions as one, for searches by area.
create view private.sightings with (security_invoker = true) as
select e.id, e.source, e.type, e.severity, e.ts, e.extent, e.tenant_id, false as is_position, e.status, e.ends_at
from watchpost.events e
union all
select p.event_id, p.source, p.type, p.severity, p.ts, p.extent, p.tenant_id, true, p.status, null::timestamptz
from watchpost.positions p;
comment on view private.sightings is 'Events and positions as one, for searches by area.';

-- Whether an event was neither ended nor retracted at a time, by what was known of it then; of one that was
-- told later, by what was known first.
create function private.stood_at(p_event_id text, p_at timestamptz) returns boolean
language sql stable set search_path = '' as $$
  select coalesce((
    select r.status = 'active'
    from watchpost.event_revisions r
    where r.event_id = p_event_id
    order by r.first_seen_at > p_at, case when r.first_seen_at <= p_at then -r.revision else r.revision end
    limit 1), true)
$$;

-- What events_near searches for, anywhere. These two have no search_path of their own, so that Postgres can inline
-- them and use indexes; their callers have an empty one.
create function private.sightings_wanted(
  p_tenants uuid[],
  p_from timestamptz,
  p_before timestamptz,
  p_before_id text,
  p_source text,
  p_type text,
  p_min_severity integer,
  p_status text,
  p_active_at timestamptz
)
returns setof private.sightings
language sql stable as $$
  select s.*
  from private.sightings s
  where s.ts > p_from and s.ts <= p_before
    and (s.tenant_id is null or s.tenant_id = any(p_tenants))
    and (p_before_id is null or s.ts < p_before or s.id < p_before_id)
    and (p_source is null or s.source = p_source)
    and (p_type is null or s.type = p_type)
    and (p_min_severity is null or s.severity >= p_min_severity)
    and (p_status is null or s.status = p_status)
    and (p_active_at is null or s.ends_at > p_active_at and s.ts <= p_active_at and private.stood_at(s.id, p_active_at))
$$;

create function private.zones_wanted(p_tenants uuid[], p_zone_id uuid) returns setof watchpost.zones
language sql stable as $$
  select z.*
  from watchpost.zones z
  where z.tenant_id = any(p_tenants) and z.deleted_at is null and (p_zone_id is null or z.id = p_zone_id)
$$;

-- The newest events whose extent meets a box of the caller's zones, before a cursor. With more than p_max_boxes boxes
-- it scans the window by time instead and may stop early: then the last row says where. Security definer: operators
-- on boxes are not leakproof, so under RLS no index could be used. It therefore checks the caller's tenants itself,
-- for zones and for events.
create function private.events_near(
  p_zone_id uuid,
  p_from timestamptz,
  p_before timestamptz,
  p_before_id text,
  p_source text,
  p_type text,
  p_min_severity integer,
  p_limit integer,
  p_max_boxes integer default 400,
  p_status text default null,
  p_active_at timestamptz default null
)
returns table (event_id text, ts timestamptz, is_position boolean, zone_ids uuid[])
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  v_tenants uuid[] := private.my_tenants();
  v_boxes bigint;
begin
  select count(*) into v_boxes
  from (
    select from private.zones_wanted(v_tenants, p_zone_id) z
    join watchpost.zone_boxes b on b.zone_id = z.id
    limit p_max_boxes + 1
  ) counted;

  if v_boxes <= p_max_boxes then
    return query
    with boxes as materialized (
      select b.zone_id, b.box
      from private.zones_wanted(v_tenants, p_zone_id) z
      join watchpost.zone_boxes b on b.zone_id = z.id
    )
    select e.id, e.ts, e.is_position, array_agg(distinct b.zone_id)
    from boxes b
    cross join lateral (
      select s.id, s.ts, s.is_position
      from private.sightings_wanted(
        v_tenants, p_from, p_before, p_before_id, p_source, p_type, p_min_severity, p_status, p_active_at) s
      where s.extent operator(pg_catalog.&&) b.box
      order by s.ts operator(extensions.<->) p_before
      fetch first p_limit rows with ties
    ) e
    group by e.id, e.ts, e.is_position
    order by e.ts desc, e.id desc
    limit p_limit;
    return;
  end if;

  return query
  with walked as materialized (
    select s.id, s.ts, s.extent, s.is_position
    from private.sightings_wanted(
      v_tenants, p_from, p_before, p_before_id, p_source, p_type, p_min_severity, p_status, p_active_at) s
    order by s.ts desc, s.id desc
    limit 5000
  ),
  hits as (
    select w.id, w.ts, w.is_position, n.zone_ids
    from walked w
    cross join lateral (
      -- Offset 0: first find the boxes it meets, then their zones. Box operators are estimated so high that each
      -- event would otherwise be compared with all zones of the caller.
      select array_agg(distinct mine.id) as zone_ids
      from (
        select b.zone_id from watchpost.zone_boxes b
        where b.box operator(pg_catalog.&&) w.extent offset 0
      ) met
      cross join lateral (
        select z.id from private.zones_wanted(v_tenants, p_zone_id) z where z.id = met.zone_id offset 0
      ) mine
    ) n
    where n.zone_ids is not null
    order by w.ts desc, w.id desc
    limit p_limit
  ),
  stopped as (
    select w.id, w.ts, w.is_position, '{}'::uuid[] as zone_ids
    from walked w
    where (select count(*) from walked) = 5000 and (select count(*) from hits) < p_limit
    order by w.ts, w.id
    limit 1
  )
  select * from hits
  union all
  select * from stopped s where not exists (select from hits h where h.id = s.id)
  order by 2 desc, 1 desc;
end
$$;
grant execute on function private.events_near to authenticated;

-- Security definer: revisions and positions whose extent meets the given boxes, first seen in a window, oldest first,
-- together with earlier ones of the same events (and of the same subjects on the day before), so that a preview
-- remembers what matching remembered. Only what the caller may see, and what a zone of this owner and
-- organisation may contain.
create function private.revisions_near(
  p_boxes box[], p_from timestamptz, p_to timestamptz, p_owner_id uuid, p_org_id uuid, p_limit integer
)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb
)
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  v_tenants uuid[] := private.my_tenants();
begin
  return query
  select * from (
    select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
      r.severity, r.subject, r.status, r.url, r.geometry
    from (
      select distinct n.event_id
      from unnest(p_boxes) as b (box)
      join watchpost.event_revisions n
        on n.extent operator(pg_catalog.&&) b.box and n.first_seen_at >= p_from and n.first_seen_at < p_to
    ) near
    join watchpost.event_revisions r on r.event_id = near.event_id and r.first_seen_at < p_to
    where r.tenant_id is null
      or r.tenant_id = any(v_tenants) and private.could_hear(p_owner_id, p_org_id, r.tenant_id, r.first_seen_at)
    union all
    select r.event_id, 1, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
      r.severity, r.subject, r.status, r.url, null::jsonb
    from (
      select distinct n.subject
      from unnest(p_boxes) as b (box)
      join watchpost.positions n
        on n.extent operator(pg_catalog.&&) b.box and n.first_seen_at >= p_from and n.first_seen_at < p_to
    ) near
    join watchpost.positions r on r.subject = near.subject
    where r.first_seen_at < p_to and (
      r.tenant_id is null
      or r.tenant_id = any(v_tenants) and private.could_hear(p_owner_id, p_org_id, r.tenant_id, r.first_seen_at))
  ) x
  order by x.first_seen_at, x.ts, x.event_id, x.revision
  limit p_limit;
end
$$;
grant execute on function private.revisions_near to authenticated;

-- Security definer: every kept revision of an event that the caller may see, by any of its ids, oldest first; and
-- whether it was matched, and whether all readers of the zone could see the event then (is_heard) and can now.
create function private.revisions_of(p_event_id text, p_zone_id uuid)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb, is_decided boolean, is_heard boolean, is_heard_now boolean
)
language sql stable security definer set search_path = '' as $$
  with known as (
    select coalesce((select a.event_id from watchpost.event_aliases a where a.alias = p_event_id), p_event_id) as id
  ),
  seen as (
    select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
      r.severity, r.subject, r.status, r.url, r.geometry, r.batch_id, r.tenant_id
    from known
    join watchpost.event_revisions r on r.event_id = known.id
    union all
    select r.event_id, 1, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
      r.severity, r.subject, r.status, r.url, null::jsonb, r.batch_id, r.tenant_id
    from watchpost.positions r
    where r.event_id = p_event_id
  )
  select s.event_id, s.revision, s.first_seen_at, s.source, s.type, s.title, s.lat, s.lon, s.ts,
    s.severity, s.subject, s.status, s.url, s.geometry,
    not exists (select from watchpost.batches b where b.id = s.batch_id and b.matched_at is null),
    s.tenant_id is null or private.zones_in_tenant(array[p_zone_id], s.tenant_id, s.first_seen_at) <> '{}',
    s.tenant_id is null or private.zones_in_tenant(array[p_zone_id], s.tenant_id, now()) <> '{}'
  from seen s
  where s.tenant_id is null or s.tenant_id = any(private.my_tenants())
  order by 3, 2
$$;

-- Security definer: the positions of a subject seen before one of them, oldest first, for its stay.
create function private.stay_before(p_event_id text, p_subject text, p_zone_id uuid)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb, is_decided boolean, is_heard boolean, is_heard_now boolean
)
language sql stable security definer set search_path = '' as $$
  select r.event_id, 1, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts,
    r.severity, r.subject, r.status, r.url, null::jsonb,
    not exists (select from watchpost.batches b where b.id = r.batch_id and b.matched_at is null),
    r.tenant_id is null or private.zones_in_tenant(array[p_zone_id], r.tenant_id, r.first_seen_at) <> '{}',
    r.tenant_id is null
  from watchpost.positions p
  join watchpost.positions r on r.subject = p.subject
  where p.event_id = p_event_id and p.subject = p_subject
    and (r.first_seen_at, r.ts) < (p.first_seen_at, p.ts)
    and (r.tenant_id is null or r.tenant_id = any(private.my_tenants()))
  order by r.first_seen_at, r.ts
$$;
grant execute on function private.revisions_of, private.stay_before to authenticated;

reset role;

-- sql/46_browsing.sql
-- Browsing: one event by any of its names, and the events of a map, for reads.

set role watchpost_owner;

-- Security definer, because aliases are nobody's to read: the id of an event the caller may see that was once
-- known as this one, else the same again.
create function private.event_known_as(p_id text) returns text
language sql stable security definer set search_path = '' as $$
  select coalesce((
    select e.id
    from watchpost.event_aliases a
    join watchpost.events e on e.id = a.event_id
    where a.alias = p_id and (e.tenant_id is null or e.tenant_id = any(private.my_tenants()))), p_id)
$$;

-- An event as the wire has it, but for its footprint.
create function private.event_fields(e watchpost.events) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', e.id, 'source', e.source, 'type', e.type, 'title', e.title, 'lat', e.lat, 'lon', e.lon,
    'ts', private.iso(e.ts), 'severity', e.severity, 'subject', e.subject, 'status', e.status, 'url', e.url,
    'magnitude', e.magnitude, 'depth_km', e.depth_km,
    'ends_at', private.iso(e.ends_at), 'attribution', private.attribution(e.source), 'updated_at', private.iso(e.updated_at))
$$;

-- The events whose point lies in one of these boxes, which do not overlap. It has no search_path of its own, so
-- that it is inlined and read by index; it is called where it is empty.
create function private.events_shown(p_tenants uuid[], p_boxes box[], p_from timestamptz, p_to timestamptz)
returns setof watchpost.events
language sql stable as $$
  select e.*
  from unnest(p_boxes) as shown (box)
  join watchpost.events e on e.extent operator(pg_catalog.&&) shown.box
    and point(e.lon, e.lat) operator(pg_catalog.<@) shown.box
  where e.ts >= p_from and e.ts < p_to
    and e.status <> 'retracted'
    and (e.tenant_id is null or e.tenant_id = any(p_tenants))
$$;

-- Security definer: operators on boxes are not leakproof, so under RLS no index could serve them. It therefore
-- asks for the caller's tenants itself. Each event by itself when there are at most p_max, else gathered in
-- cells of p_cell degrees; a cell with one event is that event.
create function private.events_on_map(
  p_boxes box[], p_from timestamptz, p_to timestamptz, p_cell double precision, p_max integer
)
returns table (
  id text, lat double precision, lon double precision, count bigint, severity smallint, ts timestamptz,
  west double precision, south double precision, east double precision, north double precision, total bigint
)
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  v_tenants uuid[] := private.my_tenants();
  v_total bigint;
begin
  select count(*) into v_total from private.events_shown(v_tenants, p_boxes, p_from, p_to);
  if v_total <= p_max then
    return query
    select e.id, e.lat, e.lon, 1::bigint, e.severity, e.ts, e.lon, e.lat, e.lon, e.lat, v_total
    from private.events_shown(v_tenants, p_boxes, p_from, p_to) e
    order by e.ts desc, e.id desc;
    return;
  end if;
  return query
  select case when count(*) = 1 then min(e.id) end, avg(e.lat), avg(e.lon), count(*), max(e.severity), max(e.ts),
    min(e.lon), min(e.lat), max(e.lon), max(e.lat), v_total
  from private.events_shown(v_tenants, p_boxes, p_from, p_to) e
  group by floor(e.lon / p_cell), floor(e.lat / p_cell)
  order by 6 desc, 3, 2;
end
$$;
grant execute on function private.event_known_as, private.event_fields, private.events_on_map to authenticated;

reset role;

-- sql/50_channels.sql
-- Channels: where alerts are sent. The API seals targets, tokens and signing secrets before it stores them.

set role watchpost_owner;

create table watchpost.channels (
  id uuid primary key default gen_random_uuid(),
  owner_id uuid not null default private.uid() references watchpost.accounts on delete cascade,
  org_id uuid references watchpost.organisations on delete set null,
  tenant_id uuid generated always as (coalesce(org_id, owner_id)) stored,
  kind text not null check (kind ~ '^[a-z]{1,32}$'),
  label text check (length(label) between 1 and 120),
  target_sealed text not null,
  target_masked text not null,
  config_sealed text,
  config_masked jsonb,
  enabled boolean not null default true,
  status text not null default 'ok' check (status in ('ok', 'failing', 'disabled')),
  disabled_reason text,
  signing_secret_sealed text,
  failures integer not null default 0,
  paused_until timestamptz,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  former_secrets_sealed jsonb not null default '[]',
  messages text[] check (cardinality(messages) > 0),
  failing_reason text,
  failing_since timestamptz
);
comment on table watchpost.channels is 'Where alerts are sent. Everything secret is sealed; next to it there is a masked form.';
comment on column watchpost.channels.org_id is 'Null: private.';
comment on column watchpost.channels.tenant_id is 'Tenant that can see it: the organisation, or else the owner.';
comment on column watchpost.channels.label is 'Name given by the owner; null: shown by its kind.';
comment on column watchpost.channels.target_sealed is 'URL, address or key of the receiver, encrypted with SEAL_KEYS.';
comment on column watchpost.channels.target_masked is 'The target as others see it.';
comment on column watchpost.channels.config_sealed is 'Headers or tokens, encrypted with SEAL_KEYS; null: none.';
comment on column watchpost.channels.status is 'ok, failing (it is retried) or disabled; written by the delivery job.';
comment on column watchpost.channels.signing_secret_sealed is 'Key that signs webhooks, encrypted; null for other kinds.';
comment on column watchpost.channels.failures is 'Failed attempts in a row; 0 after a success.';
comment on column watchpost.channels.paused_until is 'Until then nothing is sent, after many failures.';
comment on column watchpost.channels.deleted_at is 'Can be restored for 30 days from then on.';
comment on column watchpost.channels.former_secrets_sealed is 'Keys before the last rotations: a list of sealed and until. Messages are also signed with each of them until its own 24 hours are over.';
comment on column watchpost.channels.messages is 'Types of messages that it takes; null: all except alert.revised.';
comment on column watchpost.channels.failing_reason is 'With failing_since: the last error while it is failing, and since when; otherwise null.';
create index channels_tenant_created on watchpost.channels (tenant_id, created_at desc, id desc);
create index channels_owner_id on watchpost.channels (owner_id);
create index channels_org_id on watchpost.channels (org_id) where org_id is not null;
alter table watchpost.channels enable row level security;
alter table watchpost.channels force row level security;
create policy channels_select on watchpost.channels for select to authenticated
  using (tenant_id = any((select private.my_tenants())::uuid[]));
create policy channels_insert on watchpost.channels for insert to authenticated
  with check (
    (select private.can_write())
    and owner_id = (select private.uid())
    and (org_id is null or org_id = any((select private.admin_orgs())::uuid[])));
create policy channels_update on watchpost.channels for update to authenticated
  using (
    (select private.can_write())
    and (owner_id = (select private.uid()) or org_id = any((select private.admin_orgs())::uuid[])))
  with check (
    (select private.can_write())
    and (org_id is null or org_id = any((select private.my_orgs())::uuid[])));
create policy channels_jobs on watchpost.channels for select to watchpost_jobs
  using (true);
create policy channels_jobs_update on watchpost.channels for update to watchpost_jobs
  using (true) with check (true);
grant select on watchpost.channels to authenticated, watchpost_jobs;
grant insert (
    org_id, kind, label, target_sealed, target_masked, config_sealed, config_masked, enabled,
    signing_secret_sealed, messages)
  on watchpost.channels to authenticated;
grant update (
    org_id, label, target_sealed, target_masked, config_sealed, config_masked, enabled, status,
    disabled_reason, signing_secret_sealed, former_secrets_sealed, failures, paused_until, deleted_at, messages,
    failing_reason, failing_since)
  on watchpost.channels to authenticated;
grant update (enabled, status, disabled_reason, failures, paused_until, failing_reason, failing_since)
  on watchpost.channels to watchpost_jobs;

-- Security definer: counts all of an owner's channels, and checks sharing in addition to the policy.
create function private.channel_before() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if tg_op = 'UPDATE' then
    if new.org_id is distinct from old.org_id and private.uid() is not null then
      if private.uid() <> old.owner_id and private.org_exists(old.org_id) then
        raise exception 'only the owner can share or unshare a channel' using errcode = 'WP403';
      end if;
      if new.org_id is not null and not new.org_id = any(private.admin_orgs()) then
        raise exception 'only an owner or admin can put a channel into an organisation' using errcode = 'WP403';
      end if;
    end if;
    new.updated_at := now();
    if old.deleted_at is null or new.deleted_at is not null then
      return new;
    end if;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('channels:' || new.owner_id, 0));
  perform private.require_quota(new.owner_id, 'channels', (
    select count(*) + 1 from watchpost.channels where owner_id = new.owner_id and deleted_at is null));
  if tg_op = 'INSERT' then
    perform private.require_deleted_quota(new.owner_id, 'channels', (
      select count(*) from watchpost.channels
      where owner_id = new.owner_id and deleted_at > now() - interval '30 days'));
  end if;
  return new;
end
$$;
create trigger channels_before before insert or update on watchpost.channels
  for each row execute function private.channel_before();

-- Whether an account can send its alerts to a channel: its own, or one of an organisation that it belongs to.
create function private.is_usable(c watchpost.channels, p_user_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select c.deleted_at is null and (c.owner_id = p_user_id or exists (
    select from watchpost.members m
    where m.org_id = c.org_id and m.user_id = p_user_id and m.status = 'active'))
$$;
grant execute on function private.is_usable to authenticated, watchpost_jobs;

-- Those of these channels that the caller and the zone's owner cannot both see.
create function private.unusable_channels(p_channel_ids uuid[], p_zone_owner uuid) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(given.id), '{}')
  from unnest(p_channel_ids) as given (id)
  where not exists (
    select from watchpost.channels c
    where c.id = given.id
      and c.tenant_id = any(private.my_tenants())
      and private.is_usable(c, p_zone_owner))
$$;
grant execute on function private.unusable_channels to authenticated;

-- The channels that an alert of a zone is sent to: the chosen ones that its owner can still see. If none is chosen, or
-- none of the chosen is left: every enabled one of the owner and, if the zone is shared, of the organisation.
create function private.zone_channels(p_owner_id uuid, p_org_id uuid, p_channel_ids uuid[])
returns table (channel_id uuid)
language sql stable set search_path = '' as $$
  with chosen as materialized (
    select c.id, c.enabled
    from watchpost.channels c
    where c.id = any(p_channel_ids) and private.is_usable(c, p_owner_id)
  )
  select chosen.id from chosen where chosen.enabled
  union all
  select c.id
  from watchpost.channels c
  where (p_channel_ids is null or p_channel_ids <> '{}' and not exists (select from chosen))
    and c.enabled and c.deleted_at is null
    and (c.owner_id = p_owner_id and (c.org_id is null or c.org_id is not distinct from p_org_id)
      or c.org_id = p_org_id)
$$;
grant execute on function private.zone_channels to watchpost_jobs;

-- Of the chosen channels of a zone those that it has lost: deleted, or its owner no longer sees them.
create function private.lost_channels(p_owner_id uuid, p_channel_ids uuid[]) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(given.id order by given.nr), '{}')
  from unnest(p_channel_ids) with ordinality as given (id, nr)
  where not exists (
    select from watchpost.channels c where c.id = given.id and private.is_usable(c, p_owner_id))
$$;

-- Security definer: which of its channels a zone has lost, and whether its alerts reach anybody. Null if the caller
-- cannot see such a zone.
create function private.zone_reach(p_owner_id uuid, p_org_id uuid, p_channel_ids uuid[]) returns jsonb
language sql stable security definer set search_path = '' as $$
  select jsonb_build_object('lost', private.lost_channels(p_owner_id, p_channel_ids), 'is_reached', case
    when p_channel_ids = '{}' then false
    -- As private.zone_channels chooses, but only until one is found.
    when exists (
      select from watchpost.channels c where c.id = any(p_channel_ids) and private.is_usable(c, p_owner_id))
      then exists (
        select from watchpost.channels c
        where c.id = any(p_channel_ids) and c.enabled and private.is_usable(c, p_owner_id))
    else exists (
        select from watchpost.channels c
        where c.owner_id = p_owner_id and c.enabled and c.deleted_at is null
          and (c.org_id is null or c.org_id is not distinct from p_org_id))
      or exists (
        select from watchpost.channels c where c.org_id = p_org_id and c.enabled and c.deleted_at is null)
  end)
  where p_owner_id = private.uid() or p_org_id = any(private.my_orgs())
$$;
grant execute on function private.zone_reach to authenticated;

-- Of the former secrets those that still sign, the newest first.
create function private.living_secrets(p_former jsonb) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(s order by (s ->> 'until')::timestamptz desc), '[]')
  from jsonb_array_elements(p_former) s
  where (s ->> 'until')::timestamptz > now()
$$;
grant execute on function private.living_secrets to authenticated;

-- Whether a channel takes messages of a type.
create function private.takes(p_messages text[], p_type text) returns boolean
language sql immutable set search_path = '' as $$
  select case when p_messages is null then p_type <> 'alert.revised' else p_type = any(p_messages) end
$$;
grant execute on function private.takes to watchpost_jobs;

-- Security definer: channels that are gone for good leave the zones that chose them. A zone that loses the
-- last one goes on as it did: with every channel.
create function private.forget_channels(p_ids uuid[]) returns void
language sql volatile security definer set search_path = '' as $$
  update watchpost.zones z
  set channel_ids = nullif(array(
    select kept.id from unnest(z.channel_ids) with ordinality as kept (id, nr)
    where kept.id <> all(p_ids)
    order by kept.nr), '{}')
  where z.channel_ids && p_ids
$$;

create function private.channels_gone() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  perform private.forget_channels(array(select id from gone));
  return null;
end
$$;
create trigger channels_gone after delete on watchpost.channels
  referencing old table as gone
  for each statement execute function private.channels_gone();

reset role;

-- sql/60_alerts.sql
-- Alerts: what was decided about an event in a zone, and what became of it.

set role watchpost_owner;

create table watchpost.alerts (
  id uuid primary key default gen_random_uuid(),
  zone_id uuid not null references watchpost.zones on delete cascade,
  zone_name text not null,
  owner_id uuid not null references watchpost.accounts on delete cascade,
  org_id uuid references watchpost.organisations on delete set null,
  tenant_id uuid generated always as (coalesce(org_id, owner_id)) stored,
  event_id text not null,
  source text not null,
  subject text,
  event jsonb not null,
  severity double precision not null,
  reason text not null,
  first_reason text not null,
  status text not null check (status in ('pending', 'held', 'dispatched', 'failed', 'suppressed', 'recorded')),
  raised_at timestamptz not null,
  held_until timestamptz,
  dispatched_at timestamptz,
  checks jsonb not null,
  zone_version integer not null,
  event_revision integer not null,
  updates jsonb not null default '[]',
  resolved boolean not null default false,
  resolved_at timestamptz,
  resolved_via text check (resolved_via in ('api', 'console', 'mcp')),
  note text check (length(note) <= 4000),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  current jsonb,
  resolved_by uuid references watchpost.accounts on delete set null,
  changed_in xid8 not null default pg_current_xact_id(),
  unique (zone_id, event_id)
);
comment on table watchpost.alerts is 'One row per zone and event (per stay of a moving subject), with the event and the checks as they were.';
comment on column watchpost.alerts.zone_name is 'Label of the zone when it was raised.';
comment on column watchpost.alerts.owner_id is 'With org_id: of the zone, kept in step with it.';
comment on column watchpost.alerts.tenant_id is 'Whose it is: organisation, else owner.';
comment on column watchpost.alerts.event_id is 'Event, or for a moving subject the position that began it.';
comment on column watchpost.alerts.subject is 'Moving subject of the stay; null for other events.';
comment on column watchpost.alerts.event is 'The event as it was when the alert was raised, so that it outlives the events table.';
comment on column watchpost.alerts.current is 'The event as it was told last; null: nothing was told since.';
comment on column watchpost.alerts.resolved_by is 'Account that resolved it.';
comment on column watchpost.alerts.severity is 'Severity of the event times the multiplier of the zone, at most 100.';
comment on column watchpost.alerts.first_reason is 'The sentence of the decision that raised it, beside the checks; reason follows the news.';
comment on column watchpost.alerts.status is 'held waits for the end of quiet hours; suppressed is never sent; recorded has no channel.';
comment on column watchpost.alerts.raised_at is 'When the revision that raised it was first seen.';
comment on column watchpost.alerts.held_until is 'Null: not held.';
comment on column watchpost.alerts.dispatched_at is 'First delivery that succeeded.';
comment on column watchpost.alerts.checks is 'All eight checks of the decision with their numbers, for explain.';
comment on column watchpost.alerts.event_revision is 'Revision of the event it last spoke of.';
comment on column watchpost.alerts.updates is 'News since it was raised: list of time, kind and changes (field to [from, to]).';
comment on column watchpost.alerts.updated_at is 'Last change of any kind.';
comment on column watchpost.alerts.changed_in is 'Transaction of its last change, or of one of its deliveries; followers are told by it.';
create index alerts_tenant_raised on watchpost.alerts (tenant_id, raised_at desc, id desc);
create index alerts_zone_raised on watchpost.alerts (zone_id, raised_at desc, id desc);
create index alerts_raised_at on watchpost.alerts (raised_at);
create index alerts_owner_id on watchpost.alerts (owner_id);
create index alerts_org_id on watchpost.alerts (org_id) where org_id is not null;
create index alerts_resolved_by on watchpost.alerts (resolved_by) where resolved_by is not null;
create index alerts_event_id on watchpost.alerts (event_id);
create index alerts_zone_subject on watchpost.alerts (zone_id, subject, raised_at desc) where subject is not null;
create index alerts_held on watchpost.alerts (zone_id, held_until) where status = 'held';
alter table watchpost.alerts enable row level security;
alter table watchpost.alerts force row level security;
create policy alerts_select on watchpost.alerts for select to authenticated
  using (tenant_id = any((select private.my_tenants())::uuid[]));
create policy alerts_update on watchpost.alerts for update to authenticated
  using ((select private.can_write()) and tenant_id = any((select private.my_tenants())::uuid[]))
  with check ((select private.can_write()) and tenant_id = any((select private.my_tenants())::uuid[]));
create policy alerts_jobs on watchpost.alerts for all to watchpost_jobs
  using (true) with check (true);
grant select on watchpost.alerts to authenticated;
grant update (resolved, resolved_at, resolved_by, resolved_via, note, updated_at) on watchpost.alerts to authenticated;
grant select, insert, update on watchpost.alerts to watchpost_jobs;

reset role;

-- sql/62_deliveries.sql
-- Deliveries: every message to a channel and every attempt to send it. Nothing but the functions of this
-- file changes a delivery: no role may write the table (scripts/schema/schema-rules.ts).
--
--   queued ──claim──▶ sending ──settle──▶ succeeded, failed, expired, or queued for the next attempt
--   held ──release──▶ queued, carried by a digest; one that is too large is split when it is claimed
--   queued, held, sending ──cancel──▶ cancelled

set role watchpost_owner;

create table watchpost.deliveries (
  id uuid primary key default gen_random_uuid(),
  alert_id uuid references watchpost.alerts on delete cascade,
  channel_id uuid not null references watchpost.channels on delete cascade,
  type text not null check (type ~ '^(alert\.(raised|revised|escalated|ended|retracted|digest)|channel\.test)$'),
  sequence integer not null default 0,
  status text not null default 'queued'
    check (status in ('queued', 'held', 'sending', 'succeeded', 'failed', 'expired', 'cancelled')),
  attempts integer not null default 0,
  last_error text,
  payload text,
  next_attempt_at timestamptz,
  first_attempt_at timestamptz,
  delivered_at timestamptz,
  redelivery_of uuid references watchpost.deliveries on delete set null,
  digest_id uuid references watchpost.deliveries on delete set null,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default now()
);
comment on table watchpost.deliveries is 'One message to one channel.';
comment on column watchpost.deliveries.id is 'Also the webhook-id header, the same on every attempt, and the id of its first job.';
comment on column watchpost.deliveries.alert_id is 'Null for a test.';
comment on column watchpost.deliveries.sequence is 'Number of the update of the alert; 0 for the first message.';
comment on column watchpost.deliveries.status is 'held waits for the end of quiet hours; expired was retried for 48 hours in vain.';
comment on column watchpost.deliveries.payload is 'What is sent, fixed at the first attempt so that retries say the same.';
comment on column watchpost.deliveries.next_attempt_at is 'Of a held one: when it is released; null: with its alert.';
comment on column watchpost.deliveries.redelivery_of is 'The delivery that this one repeats on request.';
comment on column watchpost.deliveries.digest_id is 'The digest that carries this message, which was held: it has no job and shares the state of the digest.';
-- A redelivery or digest is a new message about the same thing; a first one exists once.
create unique index deliveries_once on watchpost.deliveries (alert_id, channel_id, type, sequence)
  where redelivery_of is null and type <> 'alert.digest';
create index deliveries_channel_created on watchpost.deliveries (channel_id, created_at desc, id desc);
create index deliveries_alert_id on watchpost.deliveries (alert_id);
create index deliveries_redelivery_of on watchpost.deliveries (redelivery_of) where redelivery_of is not null;
create index deliveries_digest_id on watchpost.deliveries (digest_id) where digest_id is not null;
create index deliveries_open on watchpost.deliveries (updated_at) where status in ('queued', 'sending');
create index deliveries_failed on watchpost.deliveries (updated_at) where status in ('failed', 'expired');
alter table watchpost.deliveries enable row level security;
alter table watchpost.deliveries force row level security;
create policy deliveries_select on watchpost.deliveries for select to authenticated
  using (
    exists (select from watchpost.channels c where c.id = channel_id)
    and (alert_id is null or exists (select from watchpost.alerts a where a.id = alert_id)));
create policy deliveries_jobs on watchpost.deliveries for select to watchpost_jobs using (true);
grant select on watchpost.deliveries to authenticated, watchpost_jobs;

create function private.enqueue_delivery(p_delivery_id uuid, p_channel_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.enqueue(
    'deliver', p_delivery_id, jsonb_build_object('delivery_id', p_delivery_id), p_group => p_channel_id::text);
end
$$;

-- Security definer, all up to the settling: the jobs change deliveries in no other way.
-- The first messages of alerts that go out or wait, to the channels of their zones. What was held goes
-- out when its alert does.
create function private.deliver_alerts(p_alert_ids uuid[]) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_count bigint;
begin
  perform private.cancel_deliveries(array(
    select d.id
    from watchpost.deliveries d
    join watchpost.alerts a on a.id = d.alert_id
    join watchpost.channels c on c.id = d.channel_id
    where d.alert_id = any(p_alert_ids) and d.status = 'held' and d.type = 'alert.raised' and a.status = 'pending'
      and not private.takes(c.messages, 'alert.raised')), 'The channel takes no alert.raised.');
  with sent as (
    insert into watchpost.deliveries as d (alert_id, channel_id, type, status)
    select a.id, c.id, 'alert.raised', case a.status when 'held' then 'held' else 'queued' end
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id and z.deleted_at is null
    cross join lateral private.zone_channels(z.owner_id, z.org_id, z.channel_ids) goes
    join watchpost.channels c on c.id = goes.channel_id
    where a.id = any(p_alert_ids) and a.status in ('pending', 'held')
      and (private.takes(c.messages, 'alert.raised')
        or a.status = 'held' and private.takes(c.messages, 'alert.digest'))
    on conflict (alert_id, channel_id, type, sequence)
      where redelivery_of is null and type <> 'alert.digest'
    do update set status = 'queued', updated_at = now() where d.status = 'held' and excluded.status = 'queued'
    returning d.id, d.channel_id, d.status
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count
  from sent s
  where s.status = 'queued';
end
$$;

-- An update of an alert, at once or held until p_held_until: to the channels its messages went to, or where
-- none of them is left to those of its zone now; and to those that take such updates but no first messages.
create function private.deliver_update(
  p_alert_id uuid, p_kind text, p_sequence integer, p_is_held boolean, p_held_until timestamptz
)
returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_type text := 'alert.' || p_kind;
  v_count bigint;
begin
  with told as (
    select distinct d.channel_id
    from watchpost.deliveries d
    join watchpost.alerts a on a.id = d.alert_id
    join watchpost.zones z on z.id = a.zone_id
    join watchpost.channels c on c.id = d.channel_id
    where d.alert_id = p_alert_id and d.status <> 'cancelled' and private.is_usable(c, z.owner_id)
  ),
  chosen as (
    select goes.channel_id, exists (select from watchpost.deliveries d where d.alert_id = a.id) as had_channels
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id and z.deleted_at is null
    cross join lateral private.zone_channels(z.owner_id, z.org_id, z.channel_ids) goes
    where a.id = p_alert_id
  ),
  sent as (
    insert into watchpost.deliveries (alert_id, channel_id, type, sequence, status, next_attempt_at)
    select p_alert_id, c.id, v_type, p_sequence, case when p_is_held then 'held' else 'queued' end, p_held_until
    from watchpost.channels c
    where (private.takes(c.messages, v_type)
        or p_is_held and p_kind <> 'revised' and private.takes(c.messages, 'alert.digest'))
      and (c.id in (select channel_id from told) or c.id in (
        select channel_id from chosen
        where not private.takes(c.messages, 'alert.raised') or had_channels and not exists (select from told)))
    on conflict do nothing
    returning id, channel_id, status
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count
  from sent s
  where s.status = 'queued';
end
$$;

-- Why a channel gets nothing about a zone; null: it gets it.
create function private.refusal_of(c watchpost.channels, z watchpost.zones) returns text
language sql stable set search_path = '' as $$
  select case
    when c.deleted_at is not null then 'The channel was deleted.'
    when not c.enabled then 'The channel is switched off.'
    when z.deleted_at is not null then 'The zone was deleted.'
    when p.plan = 'free' then 'The account is below the Pro plan; its zones are paused.'
    when private.is_banned(p.banned_until) then 'The account is banned; its zones are paused.'
    when not private.is_usable(c, z.owner_id) then 'The owner of the zone no longer sees this channel.'
  end
  from watchpost.accounts p
  where p.user_id = z.owner_id
$$;

-- Takes up a delivery that is due and fixes what is sent: every retry repeats the same words. No row when
-- it is not to be sent any more. It stays as it is where there is a refusal or its channel is paused.
create function private.claim_delivery(p_id uuid)
returns table (
  id uuid, channel_id uuid, kind text, type text, attempts integer, failures integer, target_sealed text,
  config_sealed text, secret_sealed text, former_sealed jsonb, paused_until timestamptz, refusal text,
  payload text, first_attempt_at timestamptz, used bigint
)
language plpgsql volatile rows 1 security definer set search_path = '' as $$
begin
  -- A lock of its own: what follows sees what whoever held it has committed.
  perform from watchpost.deliveries d
  where d.id = p_id and d.status in ('queued', 'sending') and d.type <> 'channel.test'
  for update;
  if not found then
    return;
  end if;
  return query
    with facts as (
      select d.id, d.channel_id, c.kind, d.type, d.attempts, c.failures,
        c.target_sealed, c.config_sealed, c.signing_secret_sealed as secret_sealed,
        private.living_secrets(c.former_secrets_sealed) as former_sealed,
        case when c.paused_until > now() then c.paused_until end as paused_until,
        private.refusal_of(c, z) as refusal,
        case when d.payload is null then private.notification_json(d)::text end as notification
      from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      join watchpost.alerts a on a.id = d.alert_id
      join watchpost.zones z on z.id = a.zone_id
      where d.id = p_id
    )
    update watchpost.deliveries d
    set status = case when f.refusal is null and f.paused_until is null then 'sending' else d.status end,
        payload = coalesce(d.payload, f.notification),
        first_attempt_at = coalesce(d.first_attempt_at, now()),
        updated_at = now()
    from facts f
    where d.id = f.id
    returning f.id, f.channel_id, f.kind, f.type, f.attempts, f.failures, f.target_sealed, f.config_sealed,
      f.secret_sealed, f.former_sealed, f.paused_until, f.refusal, d.payload, d.first_attempt_at,
      (select count(*) from watchpost.delivery_attempts t
       where t.delivery_id = d.id and t.status_code is distinct from 429);
end
$$;

-- Stores a digest as the messages that its channel accepts: a list of {alert_ids, payload}, each with its fixed words.
-- The first is this delivery; each of the others becomes a delivery with a job, together with what it carries.
-- False if the digest is not being sent or was split already.
create function private.split_digest(p_id uuid, p_parts jsonb) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_part record;
  v_digest watchpost.deliveries;
begin
  for v_part in
    select x.nr, array(select jsonb_array_elements_text(x.part -> 'alert_ids')::uuid) as alert_ids, x.part ->> 'payload' as payload
    from jsonb_array_elements(p_parts) with ordinality as x (part, nr)
    order by x.nr
  loop
    if v_part.nr = 1 then
      update watchpost.deliveries
      set alert_id = v_part.alert_ids[1], payload = v_part.payload, updated_at = now()
      where id = p_id and status = 'sending' and payload::jsonb -> 'parts' is null
      returning * into v_digest;
      if not found then
        return false;
      end if;
      continue;
    end if;
    insert into watchpost.deliveries (alert_id, channel_id, type, payload, redelivery_of)
    values (v_part.alert_ids[1], v_digest.channel_id, v_digest.type, v_part.payload, v_digest.redelivery_of)
    returning * into v_digest;
    update watchpost.deliveries
    set digest_id = v_digest.id, updated_at = now()
    where digest_id = p_id and alert_id = any(v_part.alert_ids);
    perform private.enqueue_delivery(v_digest.id, v_digest.channel_id);
  end loop;
  return true;
end
$$;

-- Alerts that wait only for channels their zone has lost go to those it has now.
create function private.reroute_alerts(p_alert_ids uuid[]) returns void
language sql volatile set search_path = '' as $$
  select private.deliver_alerts(array_agg(a.id))
  from watchpost.alerts a
  join watchpost.zones z on z.id = a.zone_id
  where a.id = any(p_alert_ids) and a.status in ('pending', 'held')
    and exists (
      select from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      where d.alert_id = a.id and not private.is_usable(c, z.owner_id))
    and not exists (
      select from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      where d.alert_id = a.id and d.status in ('queued', 'held', 'sending', 'succeeded')
        and private.is_usable(c, z.owner_id))
$$;

-- The state of a delivery after an attempt, and of what depends on it: the parts of a digest, and
-- the alert, which is dispatched with its first success and failed when nothing is left to try.
create function private.settle_delivery(p_id uuid, p_status text, p_error text, p_next_attempt_at timestamptz)
returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_attempted boolean := p_status <> 'cancelled';
  v_alerts uuid[];
begin
  update watchpost.deliveries d
  set status = p_status,
      attempts = d.attempts + v_attempted::integer,
      last_error = p_error,
      next_attempt_at = p_next_attempt_at,
      delivered_at = case when p_status = 'succeeded' then now() end,
      updated_at = now()
  where d.id = p_id or d.digest_id = p_id;

  select array_agg(distinct d.alert_id) into v_alerts
  from watchpost.deliveries d
  where d.id = p_id or d.digest_id = p_id;

  if p_status = 'succeeded' then
    update watchpost.alerts a
    set status = case when a.status in ('pending', 'failed', 'suppressed') then 'dispatched' else a.status end,
        dispatched_at = coalesce(a.dispatched_at, now()),
        updated_at = now()
    where a.id = any(v_alerts);
  elsif p_status <> 'queued' then
    perform private.reroute_alerts(v_alerts);
    update watchpost.alerts a
    set status = 'failed', updated_at = now()
    where a.id = any(v_alerts)
      and a.status = 'pending'
      and not exists (
        select from watchpost.deliveries d
        where d.alert_id = a.id and d.status in ('queued', 'held', 'sending', 'succeeded'));
  end if;
end
$$;
grant execute on function private.deliver_alerts, private.deliver_update, private.claim_delivery,
  private.split_digest, private.settle_delivery to watchpost_jobs;

-- Held messages go out as one digest per channel, about the most severe of their alerts; one by one where
-- the channel takes no digest.
create function private.release_deliveries(p_ids uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_channel watchpost.channels;
  v_digest uuid;
begin
  for v_channel in
    select * from watchpost.channels where id in (select channel_id from watchpost.deliveries where id = any(p_ids))
  loop
    if private.takes(v_channel.messages, 'alert.digest') then
      insert into watchpost.deliveries (alert_id, channel_id, type)
      select d.alert_id, v_channel.id, 'alert.digest'
      from watchpost.deliveries d
      join watchpost.alerts a on a.id = d.alert_id
      where d.id = any(p_ids) and d.channel_id = v_channel.id
      order by a.severity desc, a.raised_at, a.id
      limit 1
      returning id into v_digest;
      update watchpost.deliveries
      set status = 'queued', digest_id = v_digest, next_attempt_at = null, updated_at = now()
      where id = any(p_ids) and channel_id = v_channel.id;
      perform private.enqueue_delivery(v_digest, v_channel.id);
      continue;
    end if;
    perform private.cancel_deliveries(array(
      select d.id from watchpost.deliveries d
      where d.id = any(p_ids) and d.channel_id = v_channel.id and not private.takes(v_channel.messages, d.type)),
      'The channel takes no messages of this type.');
    update watchpost.deliveries
    set status = 'queued', next_attempt_at = null, updated_at = now()
    where id = any(p_ids) and channel_id = v_channel.id and status = 'held';
    perform private.enqueue_delivery(d.id, d.channel_id)
    from watchpost.deliveries d
    where d.id = any(p_ids) and d.channel_id = v_channel.id and d.status = 'queued';
  end loop;
end
$$;

-- What a zone holds back is due now.
create function private.end_hold(p_zone_id uuid) returns void
language sql volatile set search_path = '' as $$
  update watchpost.deliveries d
  set next_attempt_at = now(), updated_at = now()
  from watchpost.alerts a
  where a.id = d.alert_id and a.zone_id = p_zone_id and d.status = 'held' and d.next_attempt_at > now()
$$;

create function private.cancel_deliveries(p_ids uuid[], p_reason text) returns void
language sql volatile set search_path = '' as $$
  update watchpost.deliveries
  set status = 'cancelled', last_error = p_reason, updated_at = now()
  where id = any(p_ids) and status in ('queued', 'held', 'sending')
$$;

-- The same message again, on request; a digest with all that it carried.
create function private.repeat_delivery(p_id uuid) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  v_new record;
begin
  insert into watchpost.deliveries (alert_id, channel_id, type, sequence, redelivery_of)
  select alert_id, channel_id, type, sequence, id from watchpost.deliveries where id = p_id
  returning id, channel_id into v_new;
  insert into watchpost.deliveries (alert_id, channel_id, type, sequence, redelivery_of, digest_id)
  select alert_id, channel_id, type, sequence, id, v_new.id from watchpost.deliveries where digest_id = p_id;
  perform private.enqueue_delivery(v_new.id, v_new.channel_id);
  return v_new.id;
end
$$;

-- A test has no job: the API sends it at once.
create function private.add_test(p_channel_id uuid, p_payload text) returns uuid
language sql volatile set search_path = '' as $$
  insert into watchpost.deliveries (channel_id, type, status, payload, first_attempt_at)
  values (p_channel_id, 'channel.test', 'sending', p_payload, now())
  returning id
$$;

-- A test whose process died between sending and recording has no job to try it again.
create function private.end_interrupted_tests() returns void
language sql volatile set search_path = '' as $$
  update watchpost.deliveries
  set status = 'failed', last_error = 'The test was interrupted.', updated_at = now()
  where type = 'channel.test' and status = 'sending' and updated_at < now() - interval '5 minutes'
$$;

-- Old tests, which belong to no alert that would take them along; says how many.
create function private.purge_tests(p_before timestamptz, p_batch integer) returns integer
language sql volatile set search_path = '' as $$
  with gone as (
    delete from watchpost.deliveries where id in (
      select id from watchpost.deliveries where alert_id is null and created_at < p_before limit p_batch)
    returning 1)
  select count(*)::integer from gone
$$;

reset role;

-- sql/63_attempts.sql
-- Attempts: every try to send a delivery and what came of it.

set role watchpost_owner;

create table watchpost.delivery_attempts (
  id uuid primary key default gen_random_uuid(),
  delivery_id uuid not null references watchpost.deliveries on delete cascade,
  attempt integer not null,
  at timestamptz not null default now(),
  outcome text not null check (outcome in ('ok', 'retry', 'fail_permanent', 'disable_channel')),
  status_code smallint,
  duration_ms integer not null,
  error text,
  response_excerpt text,
  unique (delivery_id, attempt)
);
comment on table watchpost.delivery_attempts is 'Append-only: every attempt of a delivery and what the receiver answered. Kept 30 days, see retention.';
comment on column watchpost.delivery_attempts.attempt is 'Counts from 1.';
comment on column watchpost.delivery_attempts.status_code is 'HTTP status of the receiver; null: it did not answer.';
comment on column watchpost.delivery_attempts.error is 'In words of ours.';
comment on column watchpost.delivery_attempts.response_excerpt is 'Shown only to those who may manage the channel.';
create index delivery_attempts_at on watchpost.delivery_attempts (at);
alter table watchpost.delivery_attempts enable row level security;
alter table watchpost.delivery_attempts force row level security;
create policy delivery_attempts_select on watchpost.delivery_attempts for select to authenticated
  using (exists (select from watchpost.deliveries d where d.id = delivery_id));
create policy delivery_attempts_jobs on watchpost.delivery_attempts for all to watchpost_jobs
  using (true) with check (true);
grant select on watchpost.delivery_attempts to authenticated;
grant select, insert on watchpost.delivery_attempts to watchpost_jobs;

reset role;

-- sql/63_notifications.sql
-- Notifications: what a message says, and an alert as the wire has it.

set role watchpost_owner;

-- An event in an alert, as the wire has it.
create function private.event_json(e watchpost.events) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', e.id, 'source', e.source, 'type', e.type, 'title', e.title, 'lat', e.lat, 'lon', e.lon,
    'ts', private.iso(e.ts), 'severity', e.severity, 'subject', e.subject, 'status', e.status, 'url', e.url,
    'magnitude', e.magnitude, 'depth_km', e.depth_km, 'ends_at', private.iso(e.ends_at))
$$;
grant execute on function private.event_json to authenticated, watchpost_jobs;

-- An event as an alert has stored it, with the fields that were not stored at its time.
create function private.stored_event(p_event jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select '{"subject": null, "status": "active", "magnitude": null, "depth_km": null, "ends_at": null}'::jsonb || p_event
$$;
grant execute on function private.stored_event to authenticated, watchpost_jobs;

-- An alert as the wire has it. Runs as its caller, so that channels the caller cannot see, and
-- deliveries on them, are left out; p_channel_id narrows them to one channel for the message that channel gets.
create function private.alert_json(a watchpost.alerts, p_channel_id uuid default null) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', a.id,
    'zone_id', a.zone_id,
    'zone_name', a.zone_name,
    'event_id', a.event_id,
    'event', private.stored_event(a.event),
    'current', coalesce(
      (select private.event_json(e) from watchpost.events e where e.id = a.event_id),
      private.stored_event(coalesce(a.current, a.event))),
    'attribution', private.attribution(a.source),
    'severity', a.severity,
    'reason', a.reason,
    'status', a.status,
    'raised_at', private.iso(a.raised_at),
    'held_until', private.iso(a.held_until),
    'dispatched_at', private.iso(a.dispatched_at),
    'channel', (
      select coalesce(c.label, c.kind)
      from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      where d.alert_id = a.id and d.status = 'succeeded' and (p_channel_id is null or d.channel_id = p_channel_id)
      order by d.delivered_at, d.id
      limit 1),
    'deliveries', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', d.id,
        'channel_id', d.channel_id,
        'channel', coalesce(c.label, c.kind),
        'kind', d.type,
        'status', d.status,
        'attempts', d.attempts,
        'last_error', d.last_error,
        'delivered_at', private.iso(d.delivered_at),
        'redelivery_of', d.redelivery_of) order by d.created_at, d.id)
      from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      where d.alert_id = a.id and (p_channel_id is null or d.channel_id = p_channel_id)), '[]'),
    'updates', (
      select coalesce(jsonb_agg('{"changes": {}}'::jsonb || u.value order by u.nr), '[]')
      from jsonb_array_elements(a.updates) with ordinality as u (value, nr)),
    'resolved', a.resolved,
    'resolved_at', private.iso(a.resolved_at),
    'resolved_by', a.resolved_by,
    'resolved_via', a.resolved_via,
    'note', a.note,
    'updated_at', private.iso(a.updated_at))
$$;
grant execute on function private.alert_json to authenticated, watchpost_jobs;

-- What a delivery says, but for its type: the alert as its channel may see it, and for a digest all
-- the alerts it gathers, the most severe first.
create function private.notification_json(d watchpost.deliveries) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'timestamp', case when d.type = 'alert.digest' then private.iso(d.created_at) else coalesce(a.current, a.event) ->> 'ts' end,
    'alert', private.alert_json(a, d.channel_id),
    'zone', jsonb_build_object('id', a.zone_id, 'label', a.zone_name))
    || case when d.type = 'alert.digest' then jsonb_build_object('alerts', (
      select jsonb_agg(private.alert_json(held, d.channel_id) order by held.severity desc, held.raised_at, held.id)
      from watchpost.alerts held
      where held.id in (
        select carried.alert_id from watchpost.deliveries carried where carried.digest_id = d.id
        union select d.alert_id)
    )) else '{}' end
  from watchpost.alerts a
  where a.id = d.alert_id
$$;
grant execute on function private.notification_json to watchpost_jobs;

reset role;

-- sql/64_matching.sql
-- Matching: which zones a revision may concern, and how alerts are born, get further and are told.

set role watchpost_owner;

-- The zones that each revision of a batch may
-- concern: by box, least severity and filters, by memory of an earlier revision or position, or
-- changed since it was first seen. A superset: the decision itself is made in one place, not here.
create function private.batch_candidates(p_batch_id uuid)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb, zone_ids uuid[]
)
language plpgsql stable set search_path = '' as $$
begin
  return query
  with r as materialized (
    select e.event_id, e.revision, e.first_seen_at, e.source, e.type, e.title, e.lat, e.lon, e.ts, e.severity,
      e.subject, e.status, e.url, e.geometry, e.extent, e.tenant_id,
      e.event_id as key
    from watchpost.event_revisions e where e.batch_id = p_batch_id
    union all
    select p.event_id, 1, p.first_seen_at, p.source, p.type, p.title, p.lat, p.lon, p.ts, p.severity,
      p.subject, p.status, p.url, null::jsonb, p.extent, p.tenant_id,
      p.subject
    from watchpost.positions p where p.batch_id = p_batch_id
  ),
  changed as materialized (
    select z.id from watchpost.zones z
    where z.updated_at > (select min(r.first_seen_at) from r)
  ),
  pairs as (
    select r.event_id, r.ts, b.zone_id
    from r
    join watchpost.zone_boxes b on b.box operator(pg_catalog.&&) r.extent
    where r.subject is null
      and b.min_severity <= r.severity::real
      and (b.sources is null or r.source = any(b.sources))
      and (b.types is null or r.type = any(b.types))
    union
    -- Of what moves every position counts, whatever its severity: stays begin and end with them.
    select r.event_id, r.ts, b.zone_id
    from r
    join watchpost.zone_boxes b on b.box operator(pg_catalog.&&) r.extent
    where r.subject is not null
      and (b.sources is null or r.source = any(b.sources))
      and (b.types is null or r.type = any(b.types))
    union
    select r.event_id, r.ts, m.zone_id
    from r
    join watchpost.match_memory m on m.key = r.key
    union
    select r.event_id, r.ts, c.id
    from r cross join changed c
  ),
  gathered as (
    select p.event_id, p.ts, array_agg(p.zone_id) as zone_ids
    from pairs p
    group by p.event_id, p.ts
  )
  select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts, r.severity,
    r.subject, r.status, r.url, r.geometry,
    case when r.tenant_id is null then g.zone_ids else private.zones_in_tenant(g.zone_ids, r.tenant_id, r.first_seen_at) end
  from r
  join gathered g on g.event_id = r.event_id and g.ts = r.ts
  order by r.first_seen_at, r.ts, r.event_id, r.revision;
end
$$;

-- What a new or changed zone, or one that is awake again, may concern: events that still stand, and revisions
-- first seen since the change, which matching may have missed while it was not committed.
create function private.zone_candidates(p_zone_id uuid)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb, zone_ids uuid[], standing boolean
)
language plpgsql stable set search_path = '' as $$
begin
  return query
  with zone as (
    select z.id, date_trunc('milliseconds', greatest(v.valid_from, (
      select max(s.valid_from) from watchpost.account_states s where s.user_id = z.owner_id))) as changed_at
    from watchpost.zones z
    join watchpost.zone_versions v on v.zone_id = z.id and v.version = z.version
    where z.id = p_zone_id and z.deleted_at is null
  )
  select distinct on (e.first_seen_at, e.ts, e.id)
    e.id, e.revision, e.first_seen_at, e.source, e.type, e.title, e.lat, e.lon, e.ts, e.severity, e.subject,
    e.status, e.url, e.geometry, array[zone.id], true
  from zone
  join watchpost.zone_boxes b on b.zone_id = zone.id
  join watchpost.events e on e.extent operator(pg_catalog.&&) b.box
  where e.status = 'active' and e.ends_at > now()
    and (e.tenant_id is null or private.zones_in_tenant(array[zone.id], e.tenant_id, now()) <> '{}')
  union all
  select distinct on (r.first_seen_at, r.ts, r.event_id, r.revision)
    r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts, r.severity, r.subject,
    r.status, r.url, r.geometry, array[zone.id], false
  from zone
  join watchpost.zone_boxes b on b.zone_id = zone.id
  join watchpost.event_revisions r on r.extent operator(pg_catalog.&&) b.box and r.first_seen_at >= zone.changed_at
  join watchpost.batches done on done.id = r.batch_id and done.matched_at is not null
  where r.tenant_id is null or private.zones_in_tenant(array[zone.id], r.tenant_id, r.first_seen_at) <> '{}'
  order by 3, 9, 1, 2;
end
$$;

-- An event from JSON with what its revision says besides: what a decision needs is not all there is to tell.
create function private.told_event(p_event jsonb, p_revision integer) returns jsonb
language sql stable set search_path = '' as $$
  select p_event || coalesce((
    select jsonb_build_object('magnitude', r.magnitude, 'depth_km', r.depth_km, 'ends_at', private.iso(r.ends_at))
    from watchpost.event_revisions r
    where r.event_id = p_event ->> 'id' and r.revision = p_revision), '{}')
$$;

-- What changed between two states of an event: field to [from, to].
create function private.event_changes(p_from jsonb, p_to jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select coalesce(jsonb_object_agg(c.field, jsonb_build_array(c.was, c.is_now)), '{}')
  from (
    select 'place' as field,
      jsonb_build_object('lat', p_from -> 'lat', 'lon', p_from -> 'lon') as was,
      jsonb_build_object('lat', p_to -> 'lat', 'lon', p_to -> 'lon') as is_now
    union all
    select f.field, p_from -> f.field, p_to -> f.field
    from unnest(array['type', 'title', 'ts', 'severity', 'status', 'url', 'magnitude', 'depth_km', 'ends_at']) as f (field)
    where p_from ? f.field and p_to ? f.field
  ) c
  where c.was <> c.is_now
$$;

-- An update in the list of an alert; an alert that somebody resolved is reopened by what made it worse.
create function private.noted_update(a watchpost.alerts, p_at timestamptz, p_kind text, p_event jsonb) returns jsonb
language sql stable set search_path = '' as $$
  select a.updates
    || jsonb_build_object(
      'at', private.iso(p_at), 'kind', p_kind, 'changes', private.event_changes(coalesce(a.current, a.event), p_event))
    || case when a.resolved and p_kind = 'escalated'
      then jsonb_build_object('at', private.iso(p_at), 'kind', 'reopened', 'changes', '{"resolved": [true, false]}'::jsonb)
      else '[]' end
$$;

-- The status of an alert in a zone that may have been deleted in the meantime.
create function private.status_in(z watchpost.zones, p_status text) returns text
language sql immutable set search_path = '' as $$
  select case when z.deleted_at is not null and p_status in ('pending', 'held') then 'failed' else p_status end
$$;

-- New alerts from JSON, each with a delivery and job per channel; one that exists is left alone. If the zone
-- was deleted after the event was seen, the alert is stored and nothing is sent.
create function private.raise_alerts(p_alerts jsonb, p_run_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_ids uuid[];
begin
  with given as (
    select * from jsonb_to_recordset(p_alerts) as x (
      zone_id uuid, zone_name text, event_id text, source text, subject text, event jsonb, severity float8,
      reason text, status text, raised_at timestamptz, held_until timestamptz, checks jsonb,
      zone_version integer, event_revision integer)
  ),
  born as (
    insert into watchpost.alerts (
      zone_id, zone_name, owner_id, org_id, event_id, source, subject, event, severity, reason, first_reason, status,
      raised_at, held_until, checks, zone_version, event_revision)
    select g.zone_id, g.zone_name, z.owner_id, z.org_id, g.event_id, g.source, g.subject, private.told_event(g.event, g.event_revision), g.severity,
      g.reason, g.reason, private.status_in(z, g.status), g.raised_at, g.held_until, g.checks, g.zone_version, g.event_revision
    from given g
    join watchpost.zones z on z.id = g.zone_id
    on conflict (zone_id, event_id) do nothing
    returning id
  )
  select array_agg(id) into v_ids from born;
  perform private.send_alerts(v_ids, p_run_id);
end
$$;

-- The first message of alerts that go out or wait: deliveries with their jobs, the end of each wait,
-- and `recorded` where there is no channel.
create function private.send_alerts(p_ids uuid[], p_run_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.deliver_alerts(p_ids);
  perform private.enqueue(
    'release', md5(concat_ws('|', h.zone_id, h.held_until, p_run_id))::uuid,
    jsonb_build_object('zone_id', h.zone_id), h.held_until)
  from (
    select distinct zone_id, held_until from watchpost.alerts
    where id = any(p_ids) and status = 'held' and held_until is not null
  ) h;

  update watchpost.alerts a
  set status = 'recorded', updated_at = now()
  where a.id = any(p_ids) and a.status in ('pending', 'held')
    and not exists (select from watchpost.deliveries d where d.alert_id = a.id and d.status <> 'cancelled');
end
$$;

-- Which alert news of an event is about: its own, or for a moving subject the one of its stay.
create function private.alert_of(p_zone_id uuid, p_event_id text, p_subject text) returns uuid
language sql stable set search_path = '' as $$
  select coalesce(
    (select id from watchpost.alerts where zone_id = p_zone_id and event_id = p_event_id),
    (select id from watchpost.alerts
     where p_subject is not null and zone_id = p_zone_id and subject = p_subject
     order by raised_at desc limit 1))
$$;

-- Alerts that were suppressed or held and now get further, because it got worse. Of a stay it is
-- from now on about the position that took it further. One that was sent meanwhile has escalated.
create function private.advance_alerts(p_alerts jsonb, p_run_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_ids uuid[];
  v_sent jsonb;
begin
  with given as (
    select *, private.alert_of(x.zone_id, x.event_id, x.subject) as alert_id
    from jsonb_to_recordset(p_alerts) as x (
      zone_id uuid, event_id text, subject text, event jsonb, severity float8, reason text, status text,
      raised_at timestamptz, held_until timestamptz, checks jsonb, zone_version integer, event_revision integer)
  ),
  moved as (
    update watchpost.alerts a
    set event_id = g.event_id, event = private.told_event(g.event, g.event_revision), current = null,
        updates = case when a.resolved then private.noted_update(a, g.raised_at, 'escalated', g.event) else a.updates end,
        resolved = false, resolved_at = null, resolved_by = null, resolved_via = null,
        severity = g.severity, reason = g.reason, first_reason = g.reason,
        status = private.status_in(z, g.status), raised_at = g.raised_at, held_until = g.held_until, checks = g.checks, zone_version = g.zone_version,
        event_revision = g.event_revision, updated_at = now()
    from given g
    join watchpost.zones z on z.id = g.zone_id
    where a.id = g.alert_id
      and (a.status in ('suppressed', 'held') or (a.status = 'recorded' and a.held_until is not null))
    returning a.id
  )
  select array(select id from moved), (
    select jsonb_agg(jsonb_build_object(
      'zone_id', g.zone_id, 'event_id', g.event_id, 'subject', g.subject, 'event', g.event, 'kind', 'escalated',
      'at', g.raised_at, 'severity', g.severity, 'reason', g.reason, 'event_revision', g.event_revision,
      'send', case g.status when 'pending' then 'now' when 'held' then 'held' end, 'held_until', g.held_until))
    from given g
    where g.alert_id not in (select id from moved))
  into v_ids, v_sent;
  perform private.send_alerts(v_ids, p_run_id);
  perform private.update_alerts(v_sent);
end
$$;

-- News about alerts that exist: noted on each, and sent where the alert went when it is to be told now.
create function private.update_alerts(p_updates jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_update record;
  v_alert record;
begin
  for v_update in
    select *, private.alert_of(x.zone_id, x.event_id, x.subject) as alert_id,
      private.told_event(x.event, x.event_revision) as told
    from jsonb_to_recordset(p_updates) as x (
      zone_id uuid, event_id text, subject text, event jsonb, kind text, at timestamptz, severity float8,
      reason text, send text, held_until timestamptz, event_revision integer)
  loop
    update watchpost.alerts a
    set updates = private.noted_update(a, v_update.at, v_update.kind, v_update.told),
        current = v_update.told, severity = v_update.severity, reason = v_update.reason,
        event_revision = v_update.event_revision, updated_at = now()
    where a.id = v_update.alert_id
    returning a.id, jsonb_array_length(a.updates) as sequence into v_alert;
    continue when not found;
    if v_update.kind = 'escalated' then
      update watchpost.alerts
      set resolved = false, resolved_at = null, resolved_by = null, resolved_via = null
      where id = v_alert.id and resolved;
    end if;
    continue when v_update.send is null;
    perform private.deliver_update(
      v_alert.id, v_update.kind, v_alert.sequence, v_update.send = 'held', v_update.held_until);
    if v_update.send = 'held' then
      perform private.enqueue(
        'release', gen_random_uuid(), jsonb_build_object('zone_id', v_update.zone_id), v_update.held_until);
    end if;
  end loop;
end
$$;

-- What was held and whose time has come (alerts, and updates of alerts) becomes one digest per channel,
-- or is cancelled when the zone was switched off or snoozed meanwhile. p_early: its time has come now.
-- Says how many alerts. Security definer, because it locks the zone, which the jobs may only read.
create function private.release_held(p_zone_id uuid, p_early boolean default false) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_zone watchpost.zones;
  v_alerts uuid[];
  v_held uuid[];
begin
  select * into v_zone from watchpost.zones where id = p_zone_id for share;
  if not found or v_zone.deleted_at is not null then
    return 0;
  end if;
  if p_early then
    update watchpost.alerts
    set held_until = now(), updated_at = now()
    where zone_id = p_zone_id and status = 'held' and held_until > now();
    perform private.end_hold(p_zone_id);
  end if;
  select array_agg(a.id) into v_alerts
  from (
    select id from watchpost.alerts
    where zone_id = p_zone_id and status = 'held' and held_until <= now()
    for update
  ) a;
  perform private.reroute_alerts(v_alerts);
  select array_agg(d.id), v_alerts || array_agg(d.alert_id) into v_held, v_alerts
  from watchpost.deliveries d
  join watchpost.alerts a on a.id = d.alert_id
  where a.zone_id = p_zone_id and d.status = 'held' and coalesce(d.next_attempt_at, a.held_until) <= now();
  if v_alerts is null then
    return 0;
  end if;
  if not v_zone.enabled or v_zone.snoozed_until > now() then
    perform private.cancel_deliveries(v_held, 'The zone was switched off or snoozed.');
    update watchpost.alerts set status = 'suppressed', updated_at = now()
    where id = any(v_alerts) and status = 'held';
    return 0;
  end if;
  perform private.release_deliveries(v_held);
  update watchpost.alerts a
  set status = case
        when exists (select from watchpost.deliveries d where d.alert_id = a.id and d.status <> 'cancelled')
          then 'pending' else 'recorded' end,
      updated_at = now()
  where a.id = any(v_alerts) and a.status = 'held';
  return (select count(distinct id) from unnest(v_alerts) as released (id));
end
$$;
grant execute on function private.batch_candidates, private.zone_candidates,
  private.told_event, private.event_changes, private.noted_update,
  private.status_in, private.raise_alerts, private.send_alerts, private.alert_of, private.advance_alerts, private.update_alerts,
  private.release_held to watchpost_jobs;

reset role;

-- sql/65_cancelling.sql
-- Cancelling: what is pending when its zone or channel is deleted.

set role watchpost_owner;

-- Security definer: what is pending for a deleted zone or channel is cancelled with it.
create function private.cancel_pending() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  v_ids uuid[];
begin
  if tg_table_name = 'zones' then
    v_ids := array(
      select d.id from watchpost.deliveries d
      join watchpost.alerts a on a.id = d.alert_id
      where a.zone_id = new.id and d.status in ('queued', 'held', 'sending')
      for update of d);
    perform private.cancel_deliveries(v_ids, 'The zone was deleted.');
    update watchpost.alerts
    set status = 'failed', updated_at = now()
    where zone_id = new.id and status in ('pending', 'held');
  else
    v_ids := array(
      select id from watchpost.deliveries
      where channel_id = new.id and status in ('queued', 'held', 'sending')
      for update);
    perform private.cancel_deliveries(v_ids, 'The channel was deleted.');
    perform private.reroute_alerts(array(select alert_id from watchpost.deliveries where id = any(v_ids)));
    update watchpost.alerts a
    set status = 'failed', updated_at = now()
    where a.id in (select alert_id from watchpost.deliveries where id = any(v_ids))
      and a.status in ('pending', 'held')
      and not exists (
        select from watchpost.deliveries d
        where d.alert_id = a.id and d.channel_id <> new.id and d.status in ('queued', 'held', 'sending', 'succeeded'));
  end if;
  return new;
end
$$;
create trigger zones_cancel after update of deleted_at on watchpost.zones
  for each row when (old.deleted_at is null and new.deleted_at is not null)
  execute function private.cancel_pending();
create trigger channels_cancel after update of deleted_at on watchpost.channels
  for each row when (old.deleted_at is null and new.deleted_at is not null)
  execute function private.cancel_pending();

reset role;

-- sql/66_on_request.sql
-- Deliveries on request: a message sent once more, and the test of a channel.

set role watchpost_owner;

-- What a caller may have sent again of an alert or channel: messages, and why each is not sent; null: it
-- is. What a digest carries goes out with the digest.
create function private.repeatable(p_alert_id uuid, p_channel_id uuid)
returns table (
  id uuid, carried uuid[], status text, is_repeated boolean, created_at timestamptz, ended_at timestamptz, reason text
)
language sql stable set search_path = '' as $$
  with messages as (
    select coalesce(d.digest_id, d.id) as id, array_agg(d.id) as carried
    from watchpost.deliveries d
    where (d.alert_id = p_alert_id or d.channel_id = p_channel_id) and d.type <> 'channel.test'
    group by coalesce(d.digest_id, d.id)
  )
  select d.id, m.carried || d.id, d.status,
    exists (select from watchpost.deliveries again where again.redelivery_of = d.id),
    d.created_at, d.updated_at,
    case
      when d.status in ('queued', 'held', 'sending') or exists (
        select from watchpost.deliveries again
        where again.redelivery_of = d.id and again.status in ('queued', 'sending'))
        then 'It is on its way.'
      else private.refusal_of(c, z)
    end
  from messages m
  join watchpost.deliveries d on d.id = m.id
  join watchpost.channels c on c.id = d.channel_id
  join watchpost.alerts a on a.id = d.alert_id
  join watchpost.zones z on z.id = a.zone_id
  where c.tenant_id = any(private.my_tenants())
$$;

-- The first message of an alert that had no channel, to those its zone has now. errcode WPNTS: none.
create function private.send_recorded(p_alert_id uuid) returns uuid[]
language plpgsql volatile set search_path = '' as $$
declare
  v_ids uuid[];
begin
  update watchpost.alerts a
  set status = 'pending', held_until = null, updated_at = now()
  from watchpost.zones z
  join watchpost.accounts p on p.user_id = z.owner_id
  where a.id = p_alert_id and z.id = a.zone_id and z.deleted_at is null and p.plan <> 'free'
    and not private.is_banned(p.banned_until);
  perform private.deliver_alerts(array[p_alert_id]);
  v_ids := array(select id from watchpost.deliveries where alert_id = p_alert_id and status = 'queued');
  if v_ids = '{}' then
    raise exception 'The zone of this alert was deleted or paused, or has no channel that is switched on. GET /zones/:id has its channel_ids.'
      using errcode = 'WPNTS';
  end if;
  return v_ids;
end
$$;

-- Security definer: new deliveries for an alert, each with its job; which alert and channels is
-- decided here by the caller's right to write and to manage the zone. Answers {delivery_ids, skipped},
-- null for an alert that is not the caller's. errcode WP403; WP404 for a delivery it does not have; WPNTS
-- when nothing is sent.
create function private.redeliver(p_alert_id uuid, p_delivery_ids uuid[]) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_alert watchpost.alerts;
  v_found record;
  v_unknown uuid;
  v_sent uuid[] := '{}';
  v_skipped jsonb := '[]';
  v_states text[];
begin
  select * into v_alert from watchpost.alerts
  where id = p_alert_id and tenant_id = any(private.my_tenants())
  for no key update;
  if not found then
    return null;
  end if;
  if not private.can_write() or not (
    v_alert.owner_id = private.uid() or coalesce(v_alert.org_id = any(private.admin_orgs()), false)) then
    raise exception 'only the owner or an admin can redeliver an alert' using errcode = 'WP403';
  end if;
  if (select count(*) from watchpost.deliveries where alert_id = p_alert_id and redelivery_of is not null) >= 100 then
    raise exception 'This alert has been redelivered 100 times. See what the channel answers: GET /channels/:id/deliveries.'
      using errcode = 'WP409';
  end if;
  if p_delivery_ids is null and v_alert.status = 'recorded' then
    v_sent := private.send_recorded(p_alert_id);
  else
    select given.id into v_unknown
    from unnest(p_delivery_ids) as given (id)
    where not exists (select from private.repeatable(p_alert_id, null) m where given.id = any(m.carried));
    if found then
      raise exception 'delivery %', v_unknown using errcode = 'WP404';
    end if;
    select case
      when bool_or(m.status in ('failed', 'expired') and not m.is_repeated) then array['failed', 'expired']
      else array['cancelled']
    end into v_states
    from private.repeatable(p_alert_id, null) m;
    for v_found in
      select m.id, m.reason, coalesce(given.id, m.id) as asked
      from private.repeatable(p_alert_id, null) m
      left join lateral (select g.id from unnest(p_delivery_ids) as g (id) where g.id = any(m.carried) limit 1) given on true
      where case when p_delivery_ids is null then m.status = any(v_states) and not m.is_repeated else given.id is not null end
      order by m.created_at, m.id
    loop
      if v_found.reason is null then
        v_sent := v_sent || private.repeat_delivery(v_found.id);
      else
        v_skipped := v_skipped || jsonb_build_object('delivery_id', v_found.asked, 'reason', v_found.reason);
      end if;
    end loop;
  end if;
  if v_sent = '{}' then
    raise exception '%', coalesce(
      (select string_agg(format('Delivery %s: %s', s ->> 'delivery_id', s ->> 'reason'), ' ') from jsonb_array_elements(v_skipped) s),
      case
        when exists (select from private.repeatable(p_alert_id, null) m where m.reason = 'It is on its way.')
          then 'What is to be sent of this alert is on its way.'
        when v_alert.status = 'suppressed'
          then 'The alert was suppressed by a snooze or by quiet hours, so that no delivery was made.'
        else 'No delivery of this alert failed or was cancelled. Name those to send again in "delivery_ids".'
      end) using errcode = 'WPNTS';
  end if;
  perform private.record_audit('alert.redelivered', 'alert', p_alert_id::text,
    v_alert.owner_id || private.admins_of(array[v_alert.org_id]), jsonb_build_object('deliveries', cardinality(v_sent)));
  return jsonb_build_object('delivery_ids', v_sent, 'skipped', v_skipped);
end
$$;
grant execute on function private.redeliver to authenticated;

-- Security definer: what failed or was cancelled since p_since on one of the caller's channels once more,
-- the oldest first and up to p_limit messages. Answers {recovered, remaining, skipped}, null for a channel
-- that is not the caller's. errcode WPNTS when nothing is sent.
create function private.recover_channel(p_channel_id uuid, p_since timestamptz, p_limit integer) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_channel watchpost.channels;
  v_ids uuid[];
  v_skipped jsonb;
begin
  select * into v_channel from watchpost.channels c
  where c.id = p_channel_id and c.deleted_at is null and private.can_write()
    and (c.owner_id = private.uid() or c.org_id = any(private.admin_orgs()))
  for no key update;
  if not found then
    return null;
  end if;
  with lost as materialized (
    select m.* from private.repeatable(null, p_channel_id) m
    where m.status in ('failed', 'expired', 'cancelled') and not m.is_repeated and m.ended_at >= p_since
  )
  select array(select l.id from lost l where l.reason is null order by l.created_at, l.id), coalesce((
    select jsonb_agg(jsonb_build_object('reason', r.reason, 'count', r.count) order by r.count desc, r.reason)
    from (select l.reason, count(*) from lost l where l.reason is not null group by l.reason) r), '[]')
  into v_ids, v_skipped;
  if v_ids = '{}' then
    raise exception '%', coalesce(
      (select string_agg(format('%s (%s)', s ->> 'reason', s ->> 'count'), ' ') from jsonb_array_elements(v_skipped) s),
      format('Nothing that was sent to this channel failed or was cancelled since %s.', private.iso(p_since)))
      using errcode = 'WPNTS';
  end if;
  perform private.repeat_delivery(given.id) from unnest(v_ids[:p_limit]) with ordinality as given (id, nr);
  perform private.record_audit('channel.recovered', 'channel', p_channel_id::text,
    v_channel.owner_id || private.admins_of(array[v_channel.org_id]),
    jsonb_build_object('since', private.iso(p_since), 'deliveries', least(cardinality(v_ids), p_limit)));
  return jsonb_build_object(
    'recovered', least(cardinality(v_ids), p_limit),
    'remaining', greatest(cardinality(v_ids) - p_limit, 0),
    'skipped', v_skipped);
end
$$;
grant execute on function private.recover_channel to authenticated;

-- Security definer: a marked test to one of the caller's channels, sent at once by the API; it has no job.
create function private.begin_test(p_channel_id uuid, p_payload text) returns uuid
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_id uuid;
begin
  if (select count(*) from watchpost.deliveries
      where channel_id = p_channel_id and type = 'channel.test' and created_at > now() - interval '1 day') >= 100 then
    raise exception 'This channel has been tested 100 times in the last 24 hours. Wait, or see what it answered: GET /channels/:id/deliveries.'
      using errcode = 'WP409';
  end if;
  select private.add_test(c.id, p_payload) into v_id
  from watchpost.channels c
  where c.id = p_channel_id and c.deleted_at is null and private.can_write()
    and (c.owner_id = private.uid() or c.org_id = any(private.admin_orgs()));
  if v_id is not null then
    perform private.record_audit('channel.tested', 'channel', c.id::text, c.owner_id || private.admins_of(array[c.org_id]))
    from watchpost.channels c where c.id = p_channel_id;
  end if;
  return v_id;
end
$$;

create function private.end_test(
  p_delivery_id uuid, p_outcome text, p_status_code integer, p_duration_ms integer, p_error text, p_excerpt text
)
returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform from watchpost.deliveries d
  join watchpost.channels c on c.id = d.channel_id
  where d.id = p_delivery_id and d.status = 'sending' and d.type = 'channel.test'
    and private.can_write() and c.tenant_id = any(private.my_tenants())
  for update of d;
  if found then
    perform private.settle_delivery(
      p_delivery_id, case when p_outcome = 'ok' then 'succeeded' else 'failed' end, p_error, null);
    insert into watchpost.delivery_attempts (
      delivery_id, attempt, outcome, status_code, duration_ms, error, response_excerpt)
    values (p_delivery_id, 1, p_outcome, p_status_code, p_duration_ms, p_error, p_excerpt);
  end if;
end
$$;
grant execute on function private.begin_test, private.end_test to authenticated;

reset role;

-- sql/68_changes.sql
-- Changes: what followers of alerts and events are told, by the snapshots of the database and not by time.
--
-- A row says in changed_in which transaction changed it last. A follower's cursor holds the snapshot up to
-- which everything was told; what that snapshot does not see is new, however long its transaction took.
-- What somebody came to see, or sees no more, without a change of the row itself, or because it was deleted,
-- is noted in visibility_changes. Which of the two it is, is asked of the policies when it is told.

set role watchpost_owner;

create table watchpost.visibility_changes (
  audience uuid not null,
  thing text not null check (thing in ('alert', 'event')),
  id text collate "C" not null,
  changed_in xid8 not null default pg_current_xact_id(),
  at timestamptz not null default now(),
  primary key (audience, thing, id)
);
comment on table watchpost.visibility_changes is 'Alerts and events that somebody may have come to see, or may see no more. Kept 30 days, see retention.';
comment on column watchpost.visibility_changes.audience is 'Account or organisation whose view changed; the nil UUID: everybody''s.';
comment on column watchpost.visibility_changes.changed_in is 'Transaction of the last such change.';
create index visibility_changes_order on watchpost.visibility_changes (audience, thing, changed_in, id);
create index visibility_changes_at on watchpost.visibility_changes (at);
alter table watchpost.visibility_changes enable row level security;
alter table watchpost.visibility_changes force row level security;
create policy visibility_changes_select on watchpost.visibility_changes for select to authenticated
  using (
    audience = any((select private.my_tenants())::uuid[])
    or audience = '00000000-0000-0000-0000-000000000000' and (select private.uid()) is not null);
grant select on watchpost.visibility_changes to authenticated;

create table watchpost.change_history (
  is_only boolean primary key default true check (is_only),
  epoch uuid not null default '00000000-0000-0000-0000-000000000000',
  seen_in xid8 not null default '0',
  purged_in xid8
);
comment on table watchpost.change_history is 'One row: from where on changes can be followed.';
comment on column watchpost.change_history.epoch is 'Which numbering of transactions cursors are about; a new one when a backup is restored into another server.';
comment on column watchpost.change_history.seen_in is 'A transaction that there was; a current one below it shows that the numbering began anew.';
comment on column watchpost.change_history.purged_in is 'Newest of the visibility changes that were deleted for their age; null: none was yet.';
alter table watchpost.change_history enable row level security;
alter table watchpost.change_history force row level security;
create policy change_history_select on watchpost.change_history for select to authenticated
  using ((select private.uid()) is not null);
grant select on watchpost.change_history to authenticated;
insert into watchpost.change_history default values;

create index alerts_tenant_changed on watchpost.alerts (tenant_id, changed_in, id);
create index events_tenant_changed on watchpost.events (tenant_id, changed_in, id collate "C");

create function private.note_change() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  new.changed_in := pg_current_xact_id();
  return new;
end
$$;
create trigger alerts_changed before update on watchpost.alerts
  for each row execute function private.note_change();
create trigger events_changed before update on watchpost.events
  for each row execute function private.note_change();

-- Security definer, the triggers that follow: they note a change, whoever makes it.
-- An alert is answered with its deliveries, so their news is its news. At the end of the transaction, when
-- most alerts were changed along with their delivery anyway.
create function private.note_delivery() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
begin
  update watchpost.alerts set changed_in = pg_current_xact_id()
  where id = new.alert_id and changed_in <> pg_current_xact_id();
  return null;
end
$$;
create constraint trigger deliveries_changed after insert or update on watchpost.deliveries
  deferrable initially deferred
  for each row when (new.alert_id is not null and new.status <> 'sending')
  execute function private.note_delivery();

create function private.note_visibility(p_thing text, p_audiences uuid[], p_ids text[]) returns void
language sql volatile set search_path = '' as $$
  insert into watchpost.visibility_changes (audience, thing, id)
  select distinct n.audience, p_thing, n.id
  from unnest(p_audiences, p_ids) as n (audience, id)
  order by n.audience, n.id
  on conflict (audience, thing, id) do update set changed_in = excluded.changed_in, at = excluded.at
$$;

-- Nobody is left to be told what an account had that was deleted itself.
create function private.note_deleted() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
begin
  if tg_table_name = 'alerts' then
    perform private.note_visibility('alert', array_agg(d.tenant_id), array_agg(d.id::text))
    from deleted d
    where d.org_id is not null or exists (select from watchpost.accounts a where a.user_id = d.owner_id);
  else
    perform private.note_visibility(
      'event', array_agg(coalesce(d.tenant_id, '00000000-0000-0000-0000-000000000000')), array_agg(d.id))
    from deleted d
    where d.owner_id is null or d.org_id is not null
      or exists (select from watchpost.accounts a where a.user_id = d.owner_id);
  end if;
  return null;
end
$$;
create trigger alerts_deleted after delete on watchpost.alerts
  referencing old table as deleted for each statement execute function private.note_deleted();
create trigger events_deleted after delete on watchpost.events
  referencing old table as deleted for each statement execute function private.note_deleted();

create function private.note_tenant() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform private.note_visibility(
    case tg_table_name when 'alerts' then 'alert' else 'event' end,
    array[coalesce(old.tenant_id, '00000000-0000-0000-0000-000000000000')], array[old.id::text]);
  return null;
end
$$;
create trigger alerts_tenant after update on watchpost.alerts
  for each row when (old.tenant_id is distinct from new.tenant_id) execute function private.note_tenant();
create trigger events_tenant after update on watchpost.events
  for each row when (old.tenant_id is distinct from new.tenant_id) execute function private.note_tenant();

-- Whoever joins or leaves an organisation comes to see, or sees no more, all that it has. The lock waits for
-- alerts that are being written, which hold their organisation by the foreign key, and lets no others begin:
-- none is missed, and none noted that the member never saw.
create function private.note_membership() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_org uuid := case tg_op when 'DELETE' then old.org_id else new.org_id end;
  v_user uuid := case tg_op when 'DELETE' then old.user_id else new.user_id end;
begin
  perform from watchpost.organisations where id = v_org for update;
  if exists (select from watchpost.accounts where user_id = v_user) then
    perform private.note_visibility('alert', array_agg(v_user), array_agg(a.id::text))
    from watchpost.alerts a where a.tenant_id = v_org;
    perform private.note_visibility('event', array_agg(v_user), array_agg(e.id))
    from watchpost.events e where e.tenant_id = v_org;
    -- After those, so that nothing is deleted in between; whoever leaves is told of it no more otherwise.
    insert into watchpost.visibility_changes (audience, thing, id)
    select v_user, v.thing, v.id from watchpost.visibility_changes v where v.audience = v_org
    order by 1, 2, 3
    on conflict (audience, thing, id) do update set changed_in = excluded.changed_in, at = excluded.at;
  end if;
  return case tg_op when 'DELETE' then old else new end;
end
$$;
-- Before, and by its name before members_reassign: what was the organisation's still is.
create trigger members_changes before delete on watchpost.members
  for each row when (old.status = 'active') execute function private.note_membership();
create trigger members_changes_joined after insert on watchpost.members
  for each row when (new.status = 'active') execute function private.note_membership();
create trigger members_changes_accepted after update of status on watchpost.members
  for each row when (old.status <> 'active' and new.status = 'active') execute function private.note_membership();

-- Up to where changes can be told now. A replica knows for certain only what is older than anything that runs.
create function private.change_horizon() returns pg_snapshot
language sql stable set search_path = '' as $$
  select case
    when pg_is_in_recovery()
      then format('%s:%s:', s.now, s.now)::pg_snapshot
    else pg_current_snapshot()
  end
  from (select pg_snapshot_xmin(pg_current_snapshot()) as now) s
$$;

-- The facts about a cursor: whether its numbering of transactions is still the one in use, and whether all
-- that followed p_base is still there.
create function private.change_facts(p_base pg_snapshot)
returns table (epoch uuid, horizon pg_snapshot, has_expired boolean, is_restored boolean)
language sql stable set search_path = '' as $$
  select h.epoch, private.change_horizon(),
    coalesce(
      h.purged_in >= pg_snapshot_xmax(p_base)
        or exists (select from pg_snapshot_xip(p_base) as running where running <= h.purged_in),
      false),
    h.seen_in >= pg_snapshot_xmax(pg_current_snapshot())
  from watchpost.change_history h
$$;

-- Visibility changes of the caller between two snapshots, after a position: the last one of each thing.
-- It has no search_path of its own, so that it is inlined; it is called where it is empty.
create function private.visibility_between(
  p_thing text, p_tenants uuid[], p_from pg_snapshot, p_until pg_snapshot, p_after xid8, p_after_id text
)
returns setof watchpost.visibility_changes
language sql stable as $$
  select v.*
  from unnest(p_tenants || '00000000-0000-0000-0000-000000000000'::uuid) as who (audience)
  cross join lateral (
    select x.*
    from watchpost.visibility_changes x
    where x.audience = who.audience and x.thing = p_thing
      and (x.changed_in, x.id) > (p_after, p_after_id)
      and x.changed_in >= pg_snapshot_xmin(p_from)
      and x.changed_in < pg_snapshot_xmax(p_until)
      and not pg_visible_in_snapshot(x.changed_in, p_from)
      and pg_visible_in_snapshot(x.changed_in, p_until)
  ) v
  where not exists (
    select from watchpost.visibility_changes newer
    where newer.audience = any(p_tenants || '00000000-0000-0000-0000-000000000000'::uuid)
      and newer.thing = p_thing and newer.id = v.id
      and (newer.changed_in, newer.audience) > (v.changed_in, v.audience)
      and not pg_visible_in_snapshot(newer.changed_in, p_from))
$$;

-- What changed of the alerts that the caller sees, or saw, between two snapshots: each alert once, at its last
-- change, with what it is now; without it, when the caller does not see it any more. One that has changed
-- again since p_until is left to the next time. p_from null: all there is.
create function private.alert_news(
  p_from pg_snapshot, p_until pg_snapshot, p_after xid8, p_after_id text, p_limit integer
)
returns table (changed_in xid8, id text, thing jsonb)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  v_from pg_snapshot := coalesce(p_from, '1:1:');
  v_until pg_snapshot := coalesce(p_until, private.change_horizon());
  v_after xid8 := greatest(p_after, '0'::xid8);
  v_after_id text := coalesce(p_after_id, '');
  v_tenants uuid[] := private.my_tenants();
begin
  return query
  with own as (
    select o.changed_in, o.id::text collate "C" as id
    from unnest(v_tenants) as mine (tenant_id)
    cross join lateral (
      select x.changed_in, x.id
      from watchpost.alerts x
      where x.tenant_id = mine.tenant_id
        and (x.changed_in, x.id) > (v_after, coalesce(nullif(v_after_id, '')::uuid, '00000000-0000-0000-0000-000000000000'))
        and x.changed_in >= pg_snapshot_xmin(v_from)
        and x.changed_in < pg_snapshot_xmax(v_until)
        and not pg_visible_in_snapshot(x.changed_in, v_from)
        and pg_visible_in_snapshot(x.changed_in, v_until)
      order by x.changed_in, x.id
      limit p_limit
    ) o
  ),
  noted as (
    select v.changed_in, v.id
    from private.visibility_between('alert', v_tenants, v_from, v_until, v_after, v_after_id) v
    where p_from is not null and not exists (
      select from watchpost.alerts a
      where a.id = v.id::uuid and not pg_visible_in_snapshot(a.changed_in, v_from))
    order by v.changed_in, v.id
    limit p_limit
  )
  select c.changed_in, c.id::text, case when a.id is not null then private.alert_json(a) end
  from (
    select * from own union all select * from noted order by changed_in, id limit p_limit
  ) c
  left join watchpost.alerts a on a.id = c.id::uuid
  order by c.changed_in, c.id;
end
$$;

-- The same of events; those without a tenant are everybody's.
create function private.event_news(
  p_from pg_snapshot, p_until pg_snapshot, p_after xid8, p_after_id text, p_limit integer
)
returns table (changed_in xid8, id text, thing jsonb)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  v_from pg_snapshot := coalesce(p_from, '1:1:');
  v_until pg_snapshot := coalesce(p_until, private.change_horizon());
  v_after xid8 := greatest(p_after, '0'::xid8);
  v_after_id text := coalesce(p_after_id, '');
  v_tenants uuid[] := private.my_tenants();
begin
  return query
  with own as (
    select o.changed_in, o.id collate "C" as id
    from unnest(v_tenants) as mine (tenant_id)
    cross join lateral (
      select x.changed_in, x.id
      from watchpost.events x
      where x.tenant_id = mine.tenant_id
        and (x.changed_in, x.id collate "C") > (v_after, v_after_id)
        and x.changed_in >= pg_snapshot_xmin(v_from)
        and x.changed_in < pg_snapshot_xmax(v_until)
        and not pg_visible_in_snapshot(x.changed_in, v_from)
        and pg_visible_in_snapshot(x.changed_in, v_until)
      order by x.changed_in, x.id collate "C"
      limit p_limit
    ) o
    union all
    select o.changed_in, o.id collate "C"
    from (
      select x.changed_in, x.id
      from watchpost.events x
      where x.tenant_id is null
        and (x.changed_in, x.id collate "C") > (v_after, v_after_id)
        and x.changed_in >= pg_snapshot_xmin(v_from)
        and x.changed_in < pg_snapshot_xmax(v_until)
        and not pg_visible_in_snapshot(x.changed_in, v_from)
        and pg_visible_in_snapshot(x.changed_in, v_until)
      order by x.tenant_id, x.changed_in, x.id collate "C"
      limit p_limit
    ) o
  ),
  noted as (
    select v.changed_in, v.id
    from private.visibility_between('event', v_tenants, v_from, v_until, v_after, v_after_id) v
    where p_from is not null and not exists (
      select from watchpost.events e
      where e.id = v.id collate "default" and not pg_visible_in_snapshot(e.changed_in, v_from))
    order by v.changed_in, v.id
    limit p_limit
  )
  select c.changed_in, c.id::text, case when e.id is not null then private.event_fields(e) end
  from (
    select * from own union all select * from noted order by changed_in, id limit p_limit
  ) c
  left join watchpost.events e on e.id = c.id collate "default"
  order by c.changed_in, c.id;
end
$$;
grant execute on function private.change_horizon, private.change_facts, private.visibility_between,
  private.alert_news, private.event_news to authenticated;

-- Visibility changes that are past their time; a cursor from before them has expired.
create function private.purge_changes(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('changes');
  v_purged xid8[];
begin
  with old as (
    delete from watchpost.visibility_changes where (audience, thing, id) in (
      select audience, thing, id from watchpost.visibility_changes
      where at < v_before
      order by at
      limit p_batch)
    returning changed_in
  )
  select array_agg(changed_in) into v_purged from old;
  update watchpost.change_history
  set purged_in = greatest(purged_in, (select max(x) from unnest(v_purged) as x))
  where v_purged is not null;
  return coalesce(cardinality(v_purged), 0);
end
$$;

-- In a server that a backup was restored into, transactions are counted anew: what was counted before would be
-- told much later or never, so all is told again and cursors from before have expired.
create function private.keep_change_history() returns void
language plpgsql volatile set search_path = '' as $$
begin
  update watchpost.change_history set seen_in = pg_current_xact_id() where seen_in <= pg_current_xact_id();
  if not found then
    update watchpost.alerts set changed_in = pg_current_xact_id();
    update watchpost.events set changed_in = pg_current_xact_id();
    delete from watchpost.visibility_changes;
    update watchpost.change_history
    set epoch = gen_random_uuid(), seen_in = pg_current_xact_id(), purged_in = null;
  end if;
end
$$;

reset role;

-- sql/70_audit.sql
-- Audit: who did what. Triggers write it in the transaction of the action, and nothing changes it afterwards.

set role watchpost_owner;

create table watchpost.audit (
  id uuid primary key default gen_random_uuid(),
  at timestamptz not null default date_trunc('milliseconds', now()),
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null generated always as identity,
  account_id uuid not null,
  actor_id uuid,
  key_id uuid,
  action text not null,
  target_type text not null,
  target_id text,
  outcome text not null default 'success',
  ip text,
  user_agent text,
  request_id uuid,
  details jsonb not null default '{}'
);
comment on table watchpost.audit is 'Actions of an account, and of others on its things; one row per account concerned. Kept for 400 days.';
comment on column watchpost.audit.xid is 'With seq, the order of the export.';
comment on column watchpost.audit.account_id is 'Account whose log contains the row.';
comment on column watchpost.audit.actor_id is 'Account that acted; null for operators and the service itself.';
comment on column watchpost.audit.key_id is 'API key used; null outside the API.';
comment on column watchpost.audit.action is 'What was done, as <thing>.<verb>; request.refused for refusals.';
comment on column watchpost.audit.target_id is 'Its id, or the route of a refusal.';
comment on column watchpost.audit.request_id is 'X-Request-Id of the request; for refusals the key under which they are counted.';
comment on column watchpost.audit.details is 'Changed fields before and after, without secrets; the count of refusals.';
create index audit_account_at on watchpost.audit (account_id, at desc, id desc);
create index audit_account_order on watchpost.audit (account_id, xid, seq);
create index audit_at on watchpost.audit (at);
create index audit_foreign_actor on watchpost.audit (actor_id) where actor_id <> account_id;
create unique index audit_refusals on watchpost.audit (account_id, request_id)
  where action = 'request.refused';
alter table watchpost.audit enable row level security;
alter table watchpost.audit force row level security;
create policy audit_select on watchpost.audit for select to authenticated
  using (account_id = (select private.uid()));
grant select on watchpost.audit to authenticated;

-- Writes an action into the log of each account concerned, with the context of the request, if any, and into the
-- actor's log unless it is there already.
create function private.record_audit(
  p_action text, p_target_type text, p_target_id text, p_accounts uuid[], p_details jsonb default '{}',
  p_for_actor boolean default true
)
returns void
language sql volatile set search_path = '' as $$
  insert into watchpost.audit (
    account_id, actor_id, key_id, action, target_type, target_id, ip, user_agent, request_id, details)
  select distinct a.id, private.uid(), (c.claims ->> 'key_id')::uuid, p_action, p_target_type, p_target_id,
    c.claims ->> 'ip', c.claims ->> 'user_agent', (c.claims ->> 'request_id')::uuid,
    p_details || case when c.claims is null then jsonb_build_object('via', session_user::text) else '{}' end
  from (select private.claims() as claims) c
  cross join lateral unnest(p_accounts || private.uid()) as a (id)
  where a.id is not null and (p_for_actor or a.id is distinct from private.uid())
$$;

-- The people who are responsible for organisations: actions on things shared there appear in their logs too.
create function private.admins_of(p_org_ids uuid[]) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(m.user_id), '{}') from watchpost.members m
  where m.org_id = any(p_org_ids) and m.status = 'active' and m.role in ('owner', 'admin')
$$;

-- The changed columns of a row, old and new. Of secrets, hashes, boxes, coordinates and texts that people wrote it
-- says only that they changed.
create function private.changed_fields(p_old jsonb, p_new jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select coalesce(jsonb_object_agg(n.key, case
    when n.key ~ '(sealed|hash|polygon|target|^note$)' then '"changed"'::jsonb
    else jsonb_build_array(p_old -> n.key, n.value) end), '{}')
  from jsonb_each(p_new) n
  where n.value is distinct from p_old -> n.key
    and n.key not in ('boxes', 'version', 'updated_at', 'tenant_id', 'failures', 'paused_until', 'failing_reason', 'failing_since')
$$;

-- Security definer: the audit trigger of every table whose rows belong to somebody. Its argument names the thing; the
-- action is <thing>.<created|updated|deleted|restored>.
create function private.audit_change() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  v_old jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  v_new jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  v_row jsonb := coalesce(v_new, v_old);
  v_thing text := tg_argv[0];
  v_verb text := case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'updated' else 'deleted' end;
  v_changes jsonb := '{}';
  v_accounts uuid[];
  v_admins uuid[];
  v_id text;
begin
  if tg_op = 'UPDATE' then
    v_changes := private.changed_fields(v_old, v_new);
    if v_changes = '{}' then
      return null;
    end if;
    if v_changes ? 'deleted_at' then
      v_verb := case when v_new ->> 'deleted_at' is null then 'restored' else 'deleted' end;
      v_changes := '{}';
    end if;
    if v_thing = 'key' and v_changes ? 'revoked_at' then
      v_verb := 'revoked';
    end if;
    if v_thing = 'account' and v_changes ? 'plan' then
      v_verb := 'plan_changed';
    end if;
    if v_thing = 'alert' then
      v_verb := case
        when not v_changes ? 'resolved' then 'noted'
        when (v_new ->> 'resolved')::boolean then 'resolved'
        else 'reopened'
      end;
      v_changes := v_changes - 'resolved' - 'resolved_at';
    end if;
    if v_thing = 'channel' and v_changes ? 'signing_secret_sealed' then
      v_verb := 'secret_rotated';
    end if;
  end if;
  if v_thing = 'member' and v_verb = 'created' and v_row ->> 'status' = 'invited' then
    v_verb := 'invited';
  end if;
  v_accounts := case
    when v_row ? 'owner_id' then array[(v_row ->> 'owner_id')::uuid, (v_old ->> 'owner_id')::uuid]
    else array[(v_row ->> 'user_id')::uuid]
  end;
  v_admins := private.admins_of(case
    when v_thing = 'organisation' then array[(v_row ->> 'id')::uuid]
    else array[(v_new ->> 'org_id')::uuid, (v_old ->> 'org_id')::uuid]
  end);
  v_id := coalesce(v_row ->> 'id', v_row ->> 'user_id');
  if v_row ? 'owner_id' and v_changes ? 'org_id' then
    -- An organisation must not see the state before or after the row was shared with it.
    perform private.record_audit(
      v_thing || '.' || v_verb, v_thing, v_id,
      array(select unnest(v_admins) except select unnest(v_accounts)),
      jsonb_build_object('changed', jsonb_build_object('org_id', v_changes -> 'org_id'))
      || private.label_of(case when v_new ->> 'org_id' is null then v_old else v_new end),
      false);
  else
    v_accounts := v_accounts || v_admins;
  end if;
  perform private.record_audit(
    v_thing || '.' || v_verb, v_thing, v_id, v_accounts,
    case when v_changes = '{}' then '{}' else jsonb_build_object('changed', v_changes) end
    || private.label_of(v_row));
  -- A trigger before a deletion must return the row, otherwise nothing is deleted.
  return coalesce(new, old);
end
$$;

create function private.label_of(p_row jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select case when p_row ? 'label' then jsonb_build_object('label', p_row -> 'label') else '{}' end
$$;

create trigger zones_audit after insert or update on watchpost.zones
  for each row execute function private.audit_change('zone');
create trigger channels_audit after insert or update on watchpost.channels
  for each row execute function private.audit_change('channel');
create trigger members_audit after insert or update or delete on watchpost.members
  for each row execute function private.audit_change('member');
-- When the transaction commits, it has its owner; before its deletion it still has its members.
create constraint trigger organisations_audit_insert after insert on watchpost.organisations
  deferrable initially deferred for each row execute function private.audit_change('organisation');
create trigger organisations_audit after update on watchpost.organisations
  for each row execute function private.audit_change('organisation');
create trigger organisations_audit_delete before delete on watchpost.organisations
  for each row execute function private.audit_change('organisation');
create trigger api_keys_audit after insert or update on watchpost.api_keys
  for each row execute function private.audit_change('key');
create trigger accounts_audit_insert after insert on watchpost.accounts
  for each row execute function private.audit_change('account');
create trigger accounts_audit after update of plan on watchpost.accounts
  for each row execute function private.audit_change('account');
create trigger sign_in_links_audit after insert on watchpost.sign_in_links
  for each row execute function private.audit_change('sign_in_link');
create trigger alerts_audit after update of resolved, note on watchpost.alerts
  for each row when (old.resolved is distinct from new.resolved or old.note is distinct from new.note)
  execute function private.audit_change('alert');

-- Security definer: refusals of a known key, counted per minute, key, code and route in one row.
create function private.record_refusal(p_user_id uuid, p_key_id uuid, p_code text, p_route text, p_context jsonb)
returns void
language sql volatile security definer set search_path = '' as $$
  insert into watchpost.audit as a (
    account_id, actor_id, key_id, action, target_type, target_id, outcome, ip, user_agent, request_id, details)
  values (
    p_user_id, p_user_id, p_key_id, 'request.refused', 'route', p_route, 'failure',
    p_context ->> 'ip', p_context ->> 'user_agent',
    md5(concat_ws('|', p_user_id, p_key_id, p_code, p_route, date_trunc('minute', now())))::uuid,
    jsonb_build_object('code', p_code, 'count', 1))
  on conflict (account_id, request_id) where action = 'request.refused' do update
  set details = jsonb_set(a.details, '{count}', to_jsonb((a.details ->> 'count')::integer + 1))
$$;
grant execute on function private.record_refusal to watchpost_api;

reset role;

-- sql/75_account.sql
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
  where org_id = p_org_id and user_id = v_user and status = 'active';
  if not found then
    raise exception 'organisation' using errcode = 'WP404';
  end if;
  return v_role;
end
$$;

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
    select from watchpost.members where org_id = p_org_id and user_id = p_user_id and status = 'active'
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
begin
  select case when confirmed_at is not null then lower(email) end into v_proved
  from watchpost.accounts where user_id = p_user_id for update;
  if not found then
    return;
  end if;
  for v_org in select org_id from watchpost.members where user_id = p_user_id and role = 'owner' loop
    select user_id into v_heir
    from watchpost.members
    where org_id = v_org and status = 'active' and user_id <> p_user_id
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
    select z.id from watchpost.zones z
    where z.org_id in (select unnest(s.org_ids) from watchpost.account_states s where s.user_id = p_user_id));
  -- Before the account itself is deleted, whose foreign keys would clear the sender of the invites that become void.
  delete from watchpost.members where user_id = p_user_id;
  perform private.record_audit('account.deleted', 'account', p_user_id::text, array[p_user_id]);
  delete from watchpost.accounts where user_id = p_user_id;

  -- The history of things that passed on would show whose they were.
  update watchpost.zone_versions
  set definition = replace(definition::text, p_user_id::text, v_pseudonym::text)::jsonb,
      changes = replace(changes::text, p_user_id::text, v_pseudonym::text)::jsonb,
      actor_id = case when actor_id = p_user_id then v_pseudonym else actor_id end
  where zone_id = any(v_shared)
    and (actor_id = p_user_id or concat(definition, changes) like '%' || p_user_id || '%');
  update watchpost.account_states set user_id = v_pseudonym where user_id = p_user_id;
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

-- sql/80_queue.sql
-- The queue: pg-boss's own schema, our queues, and the only function with which SQL enqueues.

CREATE SCHEMA IF NOT EXISTS pgboss;

    CREATE TYPE pgboss.job_state AS ENUM (
      'created',
      'retry',
      'active',
      'completed',
      'cancelled',
      'failed'
    )
  ;

    CREATE FUNCTION pgboss.job_now()
    RETURNS timestamp with time zone AS
    $$
      SELECT pg_catalog.now();
    $$
    LANGUAGE sql STABLE;
  ;

    CREATE TABLE pgboss.version (
      version int primary key,
      cron_on timestamp with time zone,
      bam_on timestamp with time zone,
      flow_on timestamp with time zone,
      reindex_on timestamp with time zone,
      monitor_backoff_on timestamp with time zone
    )
  ;

    CREATE TABLE pgboss.queue (
      name text NOT NULL,
      policy text NOT NULL,
      retry_limit int NOT NULL,
      retry_delay int NOT NULL,
      retry_backoff bool NOT NULL,
      retry_delay_max int,
      expire_seconds int NOT NULL,
      retention_seconds int NOT NULL,
      deletion_seconds int NOT NULL,
      dead_letter text REFERENCES pgboss.queue (name) CHECK (dead_letter IS DISTINCT FROM name),
      partition bool NOT NULL,
      table_name text NOT NULL,
      deferred_count int NOT NULL default 0,
      queued_count int NOT NULL default 0,
      ready_count int NOT NULL default 0,
      warning_queued int NOT NULL default 0,
      active_count int NOT NULL default 0,
      failed_count int NOT NULL default 0,
      total_count int NOT NULL default 0,
      created_delta int NOT NULL default 0,
      completed_delta int NOT NULL default 0,
      failed_delta int NOT NULL default 0,
      delta_on timestamp with time zone,
      delta_seconds int,
      ready_history int[] NOT NULL default '{}',
      heartbeat_seconds int,
      notify bool NOT NULL DEFAULT false,
      singletons_active text[],
      monitor_claim_on timestamp with time zone,
      monitor_on timestamp with time zone,
      maintain_on timestamp with time zone,
      created_on timestamp with time zone not null default now(),
      updated_on timestamp with time zone not null default now(),
      PRIMARY KEY (name)
    )
  ;

    CREATE TABLE pgboss.schedule (
      name text REFERENCES pgboss.queue ON DELETE CASCADE,
      key text not null DEFAULT '',
      kind text not null DEFAULT 'cron' CHECK (kind IN ('cron', 'rrule')),
      cron text not null,
      timezone text DEFAULT 'UTC',
      data jsonb,
      options jsonb,
      created_on timestamp with time zone not null default now(),
      updated_on timestamp with time zone not null default now(),
      last_job_id uuid,
      PRIMARY KEY (name, key)
    )
  ;

    CREATE TABLE pgboss.subscription (
      event text not null,
      name text not null REFERENCES pgboss.queue ON DELETE CASCADE,
      created_on timestamp with time zone not null default now(),
      updated_on timestamp with time zone not null default now(),
      PRIMARY KEY(event, name)
    )
  ;

    CREATE TABLE pgboss.bam (
      id uuid PRIMARY KEY default gen_random_uuid(),
      name text NOT NULL,
      version int NOT NULL,
      status text NOT NULL DEFAULT 'pending',
      queue text,
      table_name text NOT NULL,
      command text NOT NULL,
      error text,
      created_on timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
      started_on timestamp with time zone,
      completed_on timestamp with time zone
    )
  ;

    CREATE FUNCTION pgboss.job_table_format(command text, table_name text)
    RETURNS text AS
    $$
      SELECT format(
        regexp_replace(
          regexp_replace(command, '\.job\y', '.%1$I', 'g'),
          '\yjob_i(\d+)', '%1$s_i\1', 'g'
        ),
        table_name
      );
    $$
    LANGUAGE sql IMMUTABLE;
  ;

    CREATE FUNCTION pgboss.job_table_run(command text, tbl_name text DEFAULT NULL, queue_name text DEFAULT NULL)
    RETURNS VOID AS
    $$
    DECLARE
      tbl RECORD;
    BEGIN
      IF queue_name IS NOT NULL THEN
        SELECT table_name INTO tbl_name FROM pgboss.queue WHERE name = queue_name;
      END IF;

      IF tbl_name IS NOT NULL THEN
        EXECUTE pgboss.job_table_format(command, tbl_name);
        RETURN;
      END IF;

      EXECUTE pgboss.job_table_format(command, 'job_common');

      FOR tbl IN SELECT table_name FROM pgboss.queue WHERE partition = true
      LOOP
        EXECUTE pgboss.job_table_format(command, tbl.table_name);
      END LOOP;
    END;
    $$
    LANGUAGE plpgsql;
  ;

    CREATE FUNCTION pgboss.job_table_run_async(command_name text, version int, command text, tbl_name text DEFAULT NULL, queue_name text DEFAULT NULL)
    RETURNS VOID AS
    $$
    BEGIN
      IF queue_name IS NOT NULL THEN
        SELECT table_name INTO tbl_name FROM pgboss.queue WHERE name = queue_name;
      END IF;

      IF tbl_name IS NOT NULL THEN
        INSERT INTO pgboss.bam (name, version, status, queue, table_name, command)
        VALUES (
          command_name,
          version,
          'pending',
          queue_name,
          tbl_name,
          pgboss.job_table_format(command, tbl_name)
        );
        RETURN;
      END IF;

      INSERT INTO pgboss.bam (name, version, status, queue, table_name, command)
      SELECT
        command_name,
        version,
        'pending',
        NULL,
        'job_common',
        pgboss.job_table_format(command, 'job_common')
      UNION ALL
      SELECT
        command_name,
        version,
        'pending',
        queue.name,
        queue.table_name,
        pgboss.job_table_format(command, queue.table_name)
      FROM pgboss.queue
      WHERE partition = true;
    END;
    $$
    LANGUAGE plpgsql;
  ;

    CREATE TABLE pgboss.job (
      id uuid not null default gen_random_uuid(),
      name text not null,
      priority integer not null default(0),
      data jsonb,
      state pgboss.job_state not null default 'created',
      retry_limit integer not null default 2,
      retry_count integer not null default 0,
      retry_delay integer not null default 0,
      retry_backoff boolean not null default false,
      retry_delay_max integer,
      expire_seconds int not null default 900,
      deletion_seconds int not null default 604800,
      singleton_key text,
      singleton_on timestamp without time zone,
      group_id text,
      group_tier text,
      start_after timestamp with time zone not null default now(),
      created_on timestamp with time zone not null default now(),
      started_on timestamp with time zone,
      completed_on timestamp with time zone,
      keep_until timestamp with time zone NOT NULL default now() + interval '1209600',
      output jsonb,
      dead_letter text,
      policy text,
      heartbeat_on timestamp with time zone,
      heartbeat_seconds int,
      blocked boolean not null default false,
      blocking boolean not null default false,
      pending_dependencies int not null default 0,
      source_name text,
      source_id uuid,
      source_created_on timestamp with time zone,
      source_retry_count int,
      source_output jsonb,
      source_root_id uuid
    ) PARTITION BY LIST (name)
  ;
ALTER TABLE pgboss.job ADD PRIMARY KEY (name, id);

    CREATE TABLE pgboss.job_common (LIKE pgboss.job INCLUDING GENERATED INCLUDING DEFAULTS);

    SELECT pgboss.job_table_run($cmd$ALTER TABLE pgboss.job ADD PRIMARY KEY (name, id)$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$ALTER TABLE pgboss.job ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES pgboss.queue (name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$ALTER TABLE pgboss.job ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue (name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$CREATE UNIQUE INDEX job_i1 ON pgboss.job (name, COALESCE(singleton_key, '')) WHERE state = 'created' AND policy = 'short'$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$CREATE UNIQUE INDEX job_i2 ON pgboss.job (name, COALESCE(singleton_key, '')) WHERE state = 'active' AND policy = 'singleton'$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$CREATE UNIQUE INDEX job_i3 ON pgboss.job (name, state, COALESCE(singleton_key, '')) WHERE state <= 'active' AND policy = 'stately'$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$CREATE UNIQUE INDEX job_i6 ON pgboss.job (name, COALESCE(singleton_key, '')) WHERE state <= 'active' AND policy = 'exclusive'$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$CREATE UNIQUE INDEX job_i8 ON pgboss.job (name, singleton_key) WHERE state IN ('active', 'retry', 'failed') AND policy = 'key_strict_fifo'$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$CREATE INDEX job_i10 ON pgboss.job (name, singleton_key, state DESC, created_on, id) INCLUDE (start_after) WHERE state < 'active' AND NOT blocked AND policy = 'key_strict_fifo'$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$ALTER TABLE pgboss.job ADD CONSTRAINT job_key_strict_fifo_singleton_key_check CHECK (NOT (policy = 'key_strict_fifo' AND singleton_key IS NULL))$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$CREATE UNIQUE INDEX job_i4 ON pgboss.job (name, singleton_on, COALESCE(singleton_key, '')) WHERE state <> 'cancelled' AND singleton_on IS NOT NULL$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$CREATE INDEX job_i11 ON pgboss.job (name, priority DESC, created_on, start_after) WHERE state < 'active' AND NOT blocked$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$CREATE INDEX job_i7 ON pgboss.job (name, group_id) WHERE state = 'active' AND group_id IS NOT NULL$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$CREATE INDEX job_i9 ON pgboss.job (name, id) WHERE blocking AND state = 'completed'$cmd$, 'job_common');
    SELECT pgboss.job_table_run($cmd$CREATE INDEX job_i12 ON pgboss.job (source_root_id) WHERE source_root_id IS NOT NULL$cmd$, 'job_common');

    ALTER TABLE pgboss.job ATTACH PARTITION pgboss.job_common DEFAULT;
  ;

    CREATE TABLE pgboss.warning (
      id uuid PRIMARY KEY default gen_random_uuid(),
      type text NOT NULL,
      message text NOT NULL,
      data jsonb,
      created_on timestamp with time zone NOT NULL DEFAULT now()
    )
  ;
CREATE INDEX warning_i1 ON pgboss.warning (created_on DESC);

    CREATE TABLE pgboss.queue_stats (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      name text NOT NULL,
      deferred_count int NOT NULL DEFAULT 0,
      queued_count   int NOT NULL DEFAULT 0,
      ready_count    int NOT NULL DEFAULT 0,
      active_count   int NOT NULL DEFAULT 0,
      failed_count   int NOT NULL DEFAULT 0,
      total_count    int NOT NULL DEFAULT 0,
      created_delta   int,
      completed_delta int,
      failed_delta    int,
      delta_seconds   int,
      delta_on        timestamptz,
      captured_on timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (id, captured_on)
    ) PARTITION BY RANGE (captured_on)
  ;
CREATE INDEX queue_stats_i1 ON pgboss.queue_stats (name, captured_on DESC) INCLUDE (deferred_count, queued_count, ready_count, active_count, failed_count, total_count);

    DO $$
    DECLARE
      d date;
      i int;
      part_name text;
    BEGIN
      FOR i IN 0..1 LOOP
        d := (pgboss.job_now() AT TIME ZONE 'UTC')::date + i;
        part_name := 'queue_stats_' || to_char(d, 'YYYYMMDD');
        IF NOT EXISTS (
          SELECT 1 FROM pg_class c
          JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = 'pgboss' AND c.relname = part_name
        ) THEN
          EXECUTE format(
            'CREATE TABLE pgboss.%I PARTITION OF pgboss.queue_stats FOR VALUES FROM (%L) TO (%L)',
            part_name,
            to_char(d, 'YYYY-MM-DD') || ' 00:00:00+00',
            to_char(d + 1, 'YYYY-MM-DD') || ' 00:00:00+00'
          );
        END IF;
      END LOOP;
    END;
    $$
  ;

    CREATE TABLE pgboss.job_dependency (
      child_name text NOT NULL,
      child_id uuid NOT NULL,
      parent_name text NOT NULL,
      parent_id uuid NOT NULL,
      PRIMARY KEY (child_name, child_id, parent_name, parent_id)
    )
  ;
CREATE INDEX IF NOT EXISTS job_dep_parent_idx ON pgboss.job_dependency (parent_name, parent_id);

    CREATE FUNCTION pgboss.create_queue(queue_name text, options jsonb)
    RETURNS VOID AS
    $$
    DECLARE
      tablename varchar := CASE WHEN options->>'partition' = 'true'
                            THEN 'j' || encode(sha224(queue_name::bytea), 'hex')
                            ELSE 'job_common'
                            END;
      queue_created_on timestamptz;
    BEGIN

      WITH q as (
        INSERT INTO pgboss.queue (
          name,
          policy,
          retry_limit,
          retry_delay,
          retry_backoff,
          retry_delay_max,
          expire_seconds,
          retention_seconds,
          deletion_seconds,
          warning_queued,
          dead_letter,
          partition,
          table_name,
          heartbeat_seconds,
          notify,
          created_on,
          updated_on
        )
        VALUES (
          queue_name,
          options->>'policy',
          COALESCE((options->>'retryLimit')::int, 2),
          COALESCE((options->>'retryDelay')::int, 0),
          COALESCE((options->>'retryBackoff')::bool, false),
          (options->>'retryDelayMax')::int,
          COALESCE((options->>'expireInSeconds')::int, 900),
          COALESCE((options->>'retentionSeconds')::int, 1209600),
          COALESCE((options->>'deleteAfterSeconds')::int, 604800),
          COALESCE((options->>'warningQueueSize')::int, 0),
          options->>'deadLetter',
          COALESCE((options->>'partition')::bool, false),
          tablename,
          (options->>'heartbeatSeconds')::int,
          COALESCE((options->>'notify')::bool, false),
          pgboss.job_now(),
          pgboss.job_now()
        )
        ON CONFLICT DO NOTHING
        RETURNING created_on
      )
      SELECT created_on into queue_created_on from q;

      IF queue_created_on IS NULL OR options->>'partition' IS DISTINCT FROM 'true' THEN
        RETURN;
      END IF;

      EXECUTE format('CREATE TABLE pgboss.%I (LIKE pgboss.job INCLUDING DEFAULTS)', tablename);

      EXECUTE pgboss.job_table_format($cmd$ALTER TABLE pgboss.job ADD PRIMARY KEY (name, id)$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$ALTER TABLE pgboss.job ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES pgboss.queue (name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$ALTER TABLE pgboss.job ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue (name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED$cmd$, tablename);

      EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i11 ON pgboss.job (name, priority DESC, created_on, start_after) WHERE state < 'active' AND NOT blocked$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i4 ON pgboss.job (name, singleton_on, COALESCE(singleton_key, '')) WHERE state <> 'cancelled' AND singleton_on IS NOT NULL$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i7 ON pgboss.job (name, group_id) WHERE state = 'active' AND group_id IS NOT NULL$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i9 ON pgboss.job (name, id) WHERE blocking AND state = 'completed'$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i12 ON pgboss.job (source_root_id) WHERE source_root_id IS NOT NULL$cmd$, tablename);

      IF options->>'policy' = 'short' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i1 ON pgboss.job (name, COALESCE(singleton_key, '')) WHERE state = 'created' AND policy = 'short'$cmd$, tablename);
      ELSIF options->>'policy' = 'singleton' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i2 ON pgboss.job (name, COALESCE(singleton_key, '')) WHERE state = 'active' AND policy = 'singleton'$cmd$, tablename);
      ELSIF options->>'policy' = 'stately' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i3 ON pgboss.job (name, state, COALESCE(singleton_key, '')) WHERE state <= 'active' AND policy = 'stately'$cmd$, tablename);
      ELSIF options->>'policy' = 'exclusive' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i6 ON pgboss.job (name, COALESCE(singleton_key, '')) WHERE state <= 'active' AND policy = 'exclusive'$cmd$, tablename);
      ELSIF options->>'policy' = 'key_strict_fifo' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i8 ON pgboss.job (name, singleton_key) WHERE state IN ('active', 'retry', 'failed') AND policy = 'key_strict_fifo'$cmd$, tablename);
        EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i10 ON pgboss.job (name, singleton_key, state DESC, created_on, id) INCLUDE (start_after) WHERE state < 'active' AND NOT blocked AND policy = 'key_strict_fifo'$cmd$, tablename);
        EXECUTE pgboss.job_table_format($cmd$ALTER TABLE pgboss.job ADD CONSTRAINT job_key_strict_fifo_singleton_key_check CHECK (NOT (policy = 'key_strict_fifo' AND singleton_key IS NULL))$cmd$, tablename);
      END IF;

      EXECUTE format('ALTER TABLE pgboss.%I ADD CONSTRAINT cjc CHECK (name=%L)', tablename, queue_name);
      EXECUTE format('ALTER TABLE pgboss.job ATTACH PARTITION pgboss.%I FOR VALUES IN (%L)', tablename, queue_name);
    END;
    $$
    LANGUAGE plpgsql;
  ;

    CREATE FUNCTION pgboss.delete_queue(queue_name text)
    RETURNS VOID AS
    $$
    DECLARE
      v_table varchar;
      v_partition bool;
    BEGIN
      
      SELECT table_name, partition
      FROM pgboss.queue
      WHERE name = queue_name
      INTO v_table, v_partition;

      IF v_partition THEN
        EXECUTE format('DROP TABLE IF EXISTS pgboss.%I', v_table);
      ELSE
        EXECUTE format('DELETE FROM pgboss.%I WHERE name = %L', v_table, queue_name);
      END IF;
    
      DELETE FROM pgboss.queue WHERE name = queue_name;
    END;
    $$
    LANGUAGE plpgsql;
  ;
INSERT INTO pgboss.version(version) VALUES ('43');

grant usage on schema pgboss to watchpost_owner, watchpost_jobs;
grant select, insert, update, delete on all tables in schema pgboss to watchpost_owner, watchpost_jobs;
grant execute on all functions in schema pgboss to watchpost_owner, watchpost_jobs;

select pgboss.create_queue('dead', '{"policy": "standard", "retentionSeconds": 7776000}');
select pgboss.create_queue('ingest', '{"policy": "exclusive", "retryLimit": 0, "expireInSeconds": 120, "deleteAfterSeconds": 3600}');
select pgboss.create_queue('match', '{"policy": "standard", "retryLimit": 20, "retryDelay": 1, "retryBackoff": true, "retryDelayMax": 300, "expireInSeconds": 120, "deleteAfterSeconds": 3600, "deadLetter": "dead"}');
select pgboss.create_queue('match_zone', '{"policy": "standard", "retryLimit": 20, "retryDelay": 1, "retryBackoff": true, "retryDelayMax": 300, "expireInSeconds": 120, "deleteAfterSeconds": 3600, "deadLetter": "dead"}');
select pgboss.create_queue('release', '{"policy": "standard", "retryLimit": 20, "retryDelay": 1, "retryBackoff": true, "retryDelayMax": 300, "expireInSeconds": 120, "deleteAfterSeconds": 3600, "deadLetter": "dead"}');
select pgboss.create_queue('deliver', '{"policy": "standard", "retryLimit": 1000, "expireInSeconds": 120, "deleteAfterSeconds": 3600, "deadLetter": "dead"}');
select pgboss.create_queue('purge', '{"policy": "exclusive", "retryLimit": 2, "expireInSeconds": 300, "deleteAfterSeconds": 86400}');

set role watchpost_owner;

-- Enqueues a job with its queue's settings, in the caller's transaction; an id that exists already is skipped.
-- Listeners are woken if the job may run at once.
create function private.enqueue(
  p_queue text,
  p_id uuid,
  p_data jsonb,
  p_start_after timestamptz default null,
  p_group text default null,
  p_singleton text default null
)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_start timestamptz := coalesce(p_start_after, pgboss.job_now());
begin
  insert into pgboss.job (
    id, name, data, start_after, created_on, singleton_key, group_id, expire_seconds, deletion_seconds,
    keep_until, retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds)
  select p_id, q.name, p_data, v_start, pgboss.job_now(), p_singleton, p_group, q.expire_seconds, q.deletion_seconds,
    v_start + q.retention_seconds * interval '1 second', q.retry_limit, q.retry_delay, q.retry_backoff,
    q.retry_delay_max, q.policy, q.dead_letter, q.heartbeat_seconds
  from pgboss.queue q
  where q.name = p_queue
  on conflict do nothing;
  if p_start_after is null or p_start_after <= now() then
    perform pg_notify('watchpost_jobs', p_queue);
  end if;
end
$$;
grant execute on function private.enqueue to watchpost_jobs;

-- Enqueues one ingest job for each source that is due. The same statement sets the next time, so that two machines
-- that run it at once enqueue only one.
create function private.enqueue_due() returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_source text;
  v_count integer := 0;
begin
  for v_source in
    update watchpost.sources
    set next_poll_at = now() + interval_seconds * interval '1 second'
    where enabled and next_poll_at <= now()
    returning source
  loop
    perform private.enqueue('ingest', gen_random_uuid(), jsonb_build_object('source', v_source), p_singleton => v_source);
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;
grant execute on function private.enqueue_due to watchpost_jobs;

reset role;

-- sql/90_retention.sql
-- Retention: how long things are kept, and their deletion in small batches.

set role watchpost_owner;

create table watchpost.retention (
  thing text primary key,
  keep interval not null check (keep >= interval '1 hour'),
  updated_at timestamptz not null default now()
);
comment on table watchpost.retention is 'How long each kind of row is kept; change it here.';
alter table watchpost.retention enable row level security;
alter table watchpost.retention force row level security;
insert into watchpost.retention (thing, keep) values
  ('events', '90 days'),
  ('event_revisions', '100 days'),
  ('delivery_attempts', '30 days'),
  ('alerts', '400 days'),
  ('audit', '400 days'),
  ('positions', '48 hours'),
  ('deleted', '30 days'),
  ('changes', '30 days');

-- Rows older than this have been kept long enough.
create function private.kept_since(p_thing text) returns timestamptz
language sql stable set search_path = '' as $$
  select now() - keep from watchpost.retention where thing = p_thing
$$;

-- The functions that follow delete up to p_batch rows each and return how many.
create function private.purge_revisions(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('event_revisions');
  v_count integer;
begin
  delete from watchpost.event_revisions where (event_id, revision) in (
    select event_id, revision from watchpost.event_revisions
    where first_seen_at < v_before
    order by first_seen_at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- An alert has its own copy of its event.
create function private.purge_events(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('events');
  v_count integer;
begin
  delete from watchpost.events where id in (
    select id from watchpost.events
    where ts < v_before and updated_at < v_before and (ends_at is null or ends_at < now())
    order by ts
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

create function private.purge_batches(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_count integer;
begin
  delete from watchpost.batches where id in (
    select id from watchpost.batches
    where matched_at is not null and created_at < now() - interval '7 days'
    order by created_at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- Not before the 48 hours in which a delivery may be tried: it counts its attempts.
create function private.purge_attempts(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := least(private.kept_since('delivery_attempts'), now() - interval '48 hours');
  v_count integer;
begin
  delete from watchpost.delivery_attempts where id in (
    select id from watchpost.delivery_attempts
    where at < v_before
    order by at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- Their deliveries are deleted with them.
create function private.purge_alerts(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('alerts');
  v_count integer;
begin
  delete from watchpost.alerts where id in (
    select id from watchpost.alerts
    where raised_at < v_before
    order by raised_at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

create function private.purge_audit(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('audit');
  v_count integer;
begin
  delete from watchpost.audit where id in (
    select id from watchpost.audit
    where at < v_before
    order by at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- Match memory is deleted when the revisions it refers to are.
create function private.purge_memory(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('event_revisions');
  v_count integer;
begin
  delete from watchpost.match_memory where (zone_id, key) in (
    select zone_id, key from watchpost.match_memory
    where updated_at < v_before
    order by updated_at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- A version during which nothing was seen decided nothing, so the previous version can replace it. Not within an
-- hour, because an ingest may still be running. The last p_keep versions are kept anyway, as long as the zone has at
-- most 1 MiB of shapes. A shape is deleted with the last version that uses it.
create function private.purge_versions(p_batch integer, p_keep integer default 50) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_count integer;
begin
  delete from watchpost.zone_versions where (zone_id, version) in (
    select v.zone_id, v.version from watchpost.zone_versions v
    join watchpost.zones z on z.id = v.zone_id
    where v.ended_at < now() - interval '1 hour'
      and (v.ended_at < private.kept_since('event_revisions')
        or v.version <= z.version - p_keep
        or (select sum(s.bytes) from watchpost.zone_shapes s where s.zone_id = v.zone_id) > 1024 * 1024)
      and not exists (
        select from watchpost.event_revisions r
        where r.first_seen_at >= date_trunc('milliseconds', v.valid_from)
          and r.first_seen_at < date_trunc('milliseconds', v.ended_at))
      and not exists (
        select from watchpost.positions p
        where p.first_seen_at >= date_trunc('milliseconds', v.valid_from)
          and p.first_seen_at < date_trunc('milliseconds', v.ended_at))
      and not exists (
        select from watchpost.alerts a where a.zone_id = v.zone_id and a.zone_version = v.version)
    limit p_batch);
  get diagnostics v_count = row_count;
  delete from watchpost.zone_shapes s
  where not exists (
    select from watchpost.zone_versions v where v.zone_id = s.zone_id and v.shape_hash = s.hash);
  return v_count;
end
$$;

-- A state is deleted when the next one has been valid for as long as decisions can be explained.
create function private.purge_account_states(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('event_revisions');
  v_count integer;
begin
  delete from watchpost.account_states where (user_id, valid_from) in (
    select s.user_id, s.valid_from from watchpost.account_states s
    where s.valid_from < v_before and exists (
      select from watchpost.account_states later
      where later.user_id = s.user_id and later.valid_from > s.valid_from and later.valid_from < v_before)
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- Zones and channels that were deleted long ago and that nothing kept refers to.
-- A channel that can no longer be restored is removed from its zones, even while its deliveries keep it.
create function private.purge_deleted(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('deleted');
  v_zones integer;
  v_channels integer;
begin
  delete from watchpost.zones where id in (
    select z.id from watchpost.zones z
    where z.deleted_at < v_before
      and not exists (select from watchpost.alerts a where a.zone_id = z.id)
    limit p_batch);
  get diagnostics v_zones = row_count;
  perform private.forget_channels(array(select id from watchpost.channels where deleted_at < v_before));
  delete from watchpost.channels where id in (
    select c.id from watchpost.channels c
    where c.deleted_at < v_before
      and not exists (select from watchpost.deliveries d where d.channel_id = c.id)
    limit p_batch);
  get diagnostics v_channels = row_count;
  return v_zones + v_channels;
end
$$;

-- Expired keys, links, sessions and limits. A revoked key is kept as long as the audit log may refer to it.
create function private.purge_credentials() returns void
language sql volatile set search_path = '' as $$
  delete from watchpost.api_keys where revoked_at < private.kept_since('audit');
  delete from watchpost.idempotency_keys where created_at < now() - interval '24 hours';
  delete from watchpost.sign_in_links where expires_at < now();
  delete from watchpost.refresh_tokens where used_at < now() - interval '30 days';
  delete from watchpost.sessions where refreshed_at < now() - interval '30 days';
  delete from watchpost.rate_denials where at < now() - interval '10 minutes';
  delete from watchpost.rate_limits where tat < now() - interval '10 minutes';
$$;

-- Positions are deleted a day at a time, with their partition.
create function private.purge_positions() returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('positions');
  v_partition text;
begin
  for v_partition in
    select c.relname
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'watchpost.positions'::regclass
      and c.relname ~ '^positions_\d{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 < v_before::date
  loop
    execute format('drop table watchpost.%I', v_partition);
  end loop;
  delete from watchpost.positions_default where ts < v_before;
end
$$;

-- Security definer: the jobs cannot delete anything themselves. Deletes expired rows, up to p_batch of each kind, and
-- returns how many: while that is not 0, more may be left.
create function private.purge(p_batch integer default 2000) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_count integer := 0;
begin
  v_count := v_count + private.purge_revisions(p_batch);
  v_count := v_count + private.purge_events(p_batch);
  v_count := v_count + private.purge_batches(p_batch);
  v_count := v_count + private.purge_attempts(p_batch);
  v_count := v_count + private.purge_alerts(p_batch);
  v_count := v_count + private.purge_tests(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_audit(p_batch);
  v_count := v_count + private.purge_memory(p_batch);
  v_count := v_count + private.purge_versions(p_batch);
  v_count := v_count + private.purge_account_states(p_batch);
  v_count := v_count + private.purge_deleted(p_batch);
  v_count := v_count + private.purge_changes(p_batch);
  perform private.keep_change_history();
  perform private.end_interrupted_tests();
  perform private.purge_credentials();
  perform private.purge_positions();
  perform private.measure_silence();
  return v_count;
end
$$;
grant execute on function private.purge to watchpost_jobs;

reset role;

-- sql/95_support.sql
-- Support: what people see in the dashboard, in plain names and without secrets. Only views, only for reading.

-- Of pg-boss's tables only what the two views below show; granted by the role that created them.
grant usage on schema pgboss to service_role;
grant select (name, retry_limit, dead_letter) on pgboss.queue to service_role;
grant select (id, name, data, state, retry_count, start_after, created_on, started_on, output, source_name,
    source_created_on, source_retry_count, source_output)
  on pgboss.job to service_role;

create schema support authorization watchpost_owner;
comment on schema support is 'Watchpost: views for people at the dashboard. No secrets, not exposed through PostgREST.';

set role watchpost_owner;

-- The views are security_invoker: service_role reads through them only what is granted here, which contains no secret
-- column; the dashboard's own role reads as a member of the owner.
grant usage on schema watchpost, private, support to service_role;
grant select on watchpost.accounts, watchpost.key_usage, watchpost.organisations, watchpost.sources,
  watchpost.alerts, watchpost.audit to service_role;
grant select (id, user_id, name, prefix, scopes, expires_at, revoked_at, created_at)
  on watchpost.api_keys to service_role;
grant select (id, org_id, user_id, email, role, status, invited_by, invite_expires_at, joined_at, created_at)
  on watchpost.members to service_role;
grant select (
    id, owner_id, org_id, label, lat, lon, radius_km, shape_type, match, min_severity, severity_multiplier,
    dwell_minutes, quiet_hours_start, quiet_hours_end, quiet_hours_tz, quiet_windows, quiet_mode, emergency_severity,
    channel_ids, sources, types, snoozed_until, enabled, version, created_at, updated_at, deleted_at)
  on watchpost.zones to service_role;
grant select (
    id, owner_id, org_id, kind, label, target_masked, config_masked, enabled, status, disabled_reason,
    failures, paused_until, created_at, updated_at, deleted_at)
  on watchpost.channels to service_role;
grant select (
    id, alert_id, channel_id, type, status, attempts, last_error, next_attempt_at, first_attempt_at,
    delivered_at, redelivery_of, created_at, updated_at)
  on watchpost.deliveries to service_role;
grant select (id, source, ts) on watchpost.events to service_role;
grant execute on function private.plan_limit, private.source_status, private.silent_after to service_role;

create view support.accounts with (security_invoker = true) as
select a.user_id, a.email, a.plan, a.created_at as signed_up_at,
  (select count(*) from watchpost.api_keys k
   where k.user_id = a.user_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())) as keys,
  (select count(*) from watchpost.zones z where z.owner_id = a.user_id and z.deleted_at is null) as zones,
  (select count(*) from watchpost.channels c where c.owner_id = a.user_id and c.deleted_at is null) as channels,
  (select string_agg(o.name, ', ' order by o.name)
   from watchpost.members m join watchpost.organisations o on o.id = m.org_id
   where m.user_id = a.user_id) as organisations,
  (select max(u.last_used_at)
   from watchpost.api_keys k join watchpost.key_usage u on u.key_id = k.id
   where k.user_id = a.user_id) as last_used_at,
  a.banned_until
from watchpost.accounts a;
comment on view support.accounts is 'Accounts with their plan and how much they have.';
comment on column support.accounts.plan is 'free, pro or enterprise; change it with the snippet "Change a plan".';
comment on column support.accounts.keys is 'Number of keys that work.';
comment on column support.accounts.zones is 'Zones it owns, without deleted ones.';
comment on column support.accounts.channels is 'Channels it owns, without deleted ones.';
comment on column support.accounts.last_used_at is 'When one of its keys was last used, accurate to about a minute.';
comment on column support.accounts.banned_until is 'Until then its keys and sessions are refused and its zones pause; null: never banned.';

create view support.plans with (security_invoker = true) as
select p.plan, p.plan <> 'free' as may_call,
  (select count(*) from watchpost.accounts a where a.plan = p.plan) as accounts,
  case p.plan when 'free' then 0 else private.plan_limit(p.plan, 'zones') end as zones,
  case p.plan when 'free' then 0 else private.plan_limit(p.plan, 'channels') end as channels,
  case p.plan when 'free' then 0 else private.plan_limit(p.plan, 'members') end as members,
  case p.plan when 'free' then 0 else private.plan_limit(p.plan, 'keys') end as keys
from unnest(array['free', 'pro', 'enterprise']) as p (plan);
comment on view support.plans is 'What each plan allows and how many accounts are on it.';
comment on column support.plans.may_call is 'Whether the API answers; below pro it answers 402 and zones pause.';
comment on column support.plans.members is 'Maximum of members and invites of an organisation with such an owner.';
comment on column support.plans.keys is 'Maximum of keys that work at the same time.';

create view support.api_keys with (security_invoker = true) as
select k.id, a.email, k.name, k.prefix, k.scopes,
  case
    when k.revoked_at is not null then 'revoked'
    when k.expires_at <= now() then 'expired'
    when private.is_banned(a.banned_until) then 'banned'
    when a.plan = 'free' then 'paused'
    else 'works'
  end as state,
  u.last_used_at, k.created_at, k.expires_at, k.revoked_at, k.user_id
from watchpost.api_keys k
join watchpost.accounts a on a.user_id = k.user_id
left join watchpost.key_usage u on u.key_id = k.id;
comment on view support.api_keys is 'API keys without their hashes.';
comment on column support.api_keys.id is 'Identifies the key in the audit log and in the snippet "Revoke a key".';
comment on column support.api_keys.prefix is 'First characters of the key, which its owner can read out.';
comment on column support.api_keys.state is 'works, paused (the plan is free), banned (the account is), expired or revoked.';
comment on column support.api_keys.last_used_at is 'When it was last used, accurate to about a minute; null: never.';

create view support.organisations with (security_invoker = true) as
select o.id, o.name,
  (select m.email from watchpost.members m where m.org_id = o.id and m.role = 'owner') as owner,
  (select count(*) from watchpost.members m where m.org_id = o.id and m.status = 'active') as members,
  (select count(*) from watchpost.members m where m.org_id = o.id and m.status = 'invited') as invited,
  (select count(*) from watchpost.zones z where z.org_id = o.id and z.deleted_at is null) as zones,
  (select count(*) from watchpost.channels c where c.org_id = o.id and c.deleted_at is null) as channels,
  o.created_at
from watchpost.organisations o;
comment on view support.organisations is 'Organisations and how much is shared with them.';
comment on column support.organisations.owner is 'Address of its owner, whose plan sets its limits.';
comment on column support.organisations.members is 'Members, including the owner.';
comment on column support.organisations.invited is 'Invites that are not accepted yet, including expired ones.';

create view support.members with (security_invoker = true) as
select m.id, o.name as organisation, m.email, m.role,
  case when m.status = 'invited' and m.invite_expires_at <= now() then 'invite expired' else m.status end as state,
  i.email as invited_by, m.invite_expires_at, m.joined_at, m.created_at, m.org_id, m.user_id
from watchpost.members m
join watchpost.organisations o on o.id = m.org_id
left join watchpost.accounts i on i.user_id = m.invited_by;
comment on view support.members is 'Members of organisations and invited people. The link itself is not stored.';
comment on column support.members.state is 'active, invited or invite expired.';
comment on column support.members.user_id is 'Id of the account; null while only invited.';

create view support.zones with (security_invoker = true) as
select z.id, z.label, a.email as owner, o.name as organisation,
  case
    when z.deleted_at is not null then 'deleted'
    when a.plan = 'free' or private.is_banned(a.banned_until) then 'paused'
    when not z.enabled then 'disabled'
    when z.snoozed_until > now() then 'snoozed'
    else 'watching'
  end as state,
  z.lat, z.lon, z.shape_type, z.radius_km, z.min_severity, z.severity_multiplier, z.dwell_minutes,
  coalesce(z.quiet_hours_start || ' to ' || z.quiet_hours_end, (
    select string_agg(concat_ws(' ', w.days, w.start, 'to', w."end"), ', ')
    from jsonb_array_elements(z.quiet_windows) with ordinality as j (value, nth)
    cross join lateral (
      select translate(j.value ->> 'days', '[]" ', '') as days, j.value ->> 'start' as start, j.value ->> 'end' as "end"
    ) w)) || ' ' || z.quiet_hours_tz || ', ' || z.quiet_mode as quiet_hours,
  z.emergency_severity, z.sources, z.types, cardinality(z.channel_ids) as channels, z.snoozed_until,
  (select max(l.raised_at) from watchpost.alerts l where l.zone_id = z.id) as last_alert_at,
  z.created_at, z.updated_at, z.deleted_at, z.owner_id, z.org_id
from watchpost.zones z
join watchpost.accounts a on a.user_id = z.owner_id
left join watchpost.organisations o on o.id = z.org_id;
comment on view support.zones is 'Zones with their owners, their rules and whether they are active.';
comment on column support.zones.organisation is 'Null: private.';
comment on column support.zones.state is 'watching, snoozed, disabled, paused (the owner''s plan is free, or they are banned) or deleted.';
comment on column support.zones.lat is 'With lon: the centre of a circle, or the position of a polygon''s label.';
comment on column support.zones.min_severity is 'Threshold for severity times severity_multiplier.';
comment on column support.zones.sources is 'Null: all feeds.';
comment on column support.zones.types is 'Null: all types.';
comment on column support.zones.channels is 'Number of chosen channels; 0: none; null: every enabled one.';
comment on column support.zones.deleted_at is 'Can be restored for 30 days from then on.';

create view support.channels with (security_invoker = true) as
select c.id, c.kind, c.label, a.email as owner, o.name as organisation,
  case
    when c.deleted_at is not null then 'deleted'
    when not c.enabled then 'disabled'
    when c.paused_until > now() then 'paused'
    else c.status
  end as state,
  c.disabled_reason, c.target_masked as target, c.config_masked as config, c.failures, c.paused_until,
  (select max(d.delivered_at) from watchpost.deliveries d
   where d.channel_id = c.id and d.created_at > now() - interval '30 days') as last_delivered_at,
  c.created_at, c.updated_at, c.deleted_at, c.owner_id, c.org_id
from watchpost.channels c
join watchpost.accounts a on a.user_id = c.owner_id
left join watchpost.organisations o on o.id = c.org_id;
comment on view support.channels is 'Where alerts are sent. Targets and configuration are masked, signing secrets left out.';
comment on column support.channels.organisation is 'Null: private.';
comment on column support.channels.state is 'ok, failing (it is retried), paused (after many failures), disabled or deleted.';
comment on column support.channels.failures is 'Failed attempts in a row.';
comment on column support.channels.last_delivered_at is 'Last delivery of the past 30 days that its receiver accepted.';
comment on column support.channels.deleted_at is 'Can be restored for 30 days from then on.';

create view support.feeds with (security_invoker = true) as
select s.source, s.title, private.source_status(s) as state, s.last_success_at, s.last_event_at,
  (select count(*) from watchpost.events e
   where e.source = s.source and e.ts > now() - interval '24 hours') as events_24h,
  s.error, s.error_at, s.enabled, s.interval_seconds, s.next_poll_at, s.types
from watchpost.sources s;
comment on view support.feeds is 'The health of each feed, as at the public endpoint, with the errors.';
comment on column support.feeds.state is 'ok, stale (it answers but delivers nothing), down or disabled.';
comment on column support.feeds.events_24h is 'Events of the past day, without positions.';
comment on column support.feeds.enabled is 'Whether it is polled; FEEDS decides.';

create view support.alerts_today with (security_invoker = true) as
select l.id, l.raised_at, a.email as owner, o.name as organisation, l.zone_name as zone,
  l.event ->> 'title' as event, l.severity, l.status, l.reason, l.dispatched_at, l.held_until,
  (select count(*) from watchpost.deliveries d where d.alert_id = l.id and d.status = 'succeeded') as delivered,
  (select count(*) from watchpost.deliveries d
   where d.alert_id = l.id and d.status in ('failed', 'expired')) as failed,
  (select count(*) from watchpost.deliveries d
   where d.alert_id = l.id and d.status in ('queued', 'sending', 'held')) as waiting,
  l.resolved, l.zone_id, l.event_id, l.owner_id, l.org_id
from watchpost.alerts l
join watchpost.accounts a on a.user_id = l.owner_id
left join watchpost.organisations o on o.id = l.org_id
where l.raised_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'
order by l.raised_at desc;
comment on view support.alerts_today is 'Alerts raised since midnight UTC, newest first, with their deliveries.';
comment on column support.alerts_today.severity is 'The effective severity in the zone.';
comment on column support.alerts_today.status is 'pending, held, dispatched, failed, suppressed or recorded (no channel).';
comment on column support.alerts_today.delivered is 'Messages that arrived.';
comment on column support.alerts_today.failed is 'Messages that failed for good.';
comment on column support.alerts_today.waiting is 'Messages still to send.';

create view support.deliveries_failing with (security_invoker = true) as
select d.id, d.updated_at, a.email as owner, c.kind, c.label as channel, c.target_masked as target, d.type,
  d.status, d.attempts, d.last_error, d.next_attempt_at, d.created_at, l.zone_name as zone,
  d.alert_id, d.channel_id
from watchpost.deliveries d
join watchpost.channels c on c.id = d.channel_id
join watchpost.accounts a on a.user_id = c.owner_id
left join watchpost.alerts l on l.id = d.alert_id
where d.status in ('queued', 'sending') and d.attempts > 0
   or d.status in ('failed', 'expired') and d.updated_at > now() - interval '7 days'
order by d.updated_at desc;
comment on view support.deliveries_failing is 'Messages being retried, and those that failed for good in the past 7 days, newest first.';
comment on column support.deliveries_failing.id is 'Id of the delivery, which is the webhook-id of every attempt.';
comment on column support.deliveries_failing.status is 'queued or sending (retried), failed or expired (failed for good).';
comment on column support.deliveries_failing.zone is 'Zone of the alert; null for a test.';
comment on column support.deliveries_failing.alert_id is 'The alert of the message; null for a test.';

create view support.queue with (security_invoker = true) as
select q.name as queue,
  count(*) filter (where j.state::text in ('created', 'retry') and j.start_after <= now()) as waiting,
  count(*) filter (where j.state::text in ('created', 'retry') and j.start_after > now()) as later,
  count(*) filter (where j.state::text = 'active') as running,
  count(*) filter (where j.state::text = 'retry') as retrying,
  now() - min(j.start_after) filter (
    where j.state::text in ('created', 'retry') and j.start_after <= now()) as oldest
from pgboss.queue q
left join pgboss.job j on j.name = q.name
group by q.name
order by q.name;
comment on view support.queue is 'Jobs of each queue. Those in "dead" have used up their retries; see dead_letters.';
comment on column support.queue.waiting is 'Jobs that may run now.';
comment on column support.queue.later is 'Jobs that may run later: retries, and those scheduled for a later time.';
comment on column support.queue.oldest is 'How long the first waiting job has been due; if it is minutes, the jobs are not running.';

create view support.dead_letters with (security_invoker = true) as
select j.id, j.created_on as died_at, j.source_name as queue, j.data, j.source_retry_count as retries,
  coalesce(j.source_output ->> 'message', j.source_output #>> '{}') as error, j.source_created_on as enqueued_at
from pgboss.job j
where j.name = 'dead' and j.state::text in ('created', 'retry')
order by j.created_on desc;
comment on view support.dead_letters is 'Jobs that have used up their retries, kept for 90 days; the snippet "Requeue dead letters" puts them back.';
comment on column support.dead_letters.data is 'What the job was about: only ids.';

create view support.audit with (security_invoker = true) as
select u.id, u.at, a.email as account, case
    when u.actor_id is null then coalesce('operator ' || (u.details ->> 'via'), 'service')
    else coalesce(b.email, u.actor_id::text)
  end as actor,
  u.action, u.outcome, u.target_type, u.target_id, k.name as key, u.ip, u.user_agent, u.details, u.request_id,
  u.account_id, u.actor_id, u.key_id
from watchpost.audit u
left join watchpost.accounts a on a.user_id = u.account_id
left join watchpost.accounts b on b.user_id = u.actor_id
left join watchpost.api_keys k on k.id = u.key_id
order by u.at desc;
comment on view support.audit is 'Who did what, newest first; one row per account concerned.';
comment on column support.audit.account is 'Account whose log contains the row; null once it is deleted.';
comment on column support.audit.actor is 'Address of the actor, or operator with the login used.';
comment on column support.audit.target_id is 'Its id, or the route of a refusal.';
comment on column support.audit.details is 'What changed, before and after, without secrets.';

grant select on all tables in schema support to service_role;

reset role;
