-- Roles, schemas and the caller: who owns everything, who logs in, and that nobody has any right by default.
--
-- A function runs as its caller, so grants and policies decide what it sees. A security definer function runs as
-- watchpost_owner and bypasses row-level security. There are only these reasons for one, and its comment names its own:
--   * policies call it (my_orgs, admin_orgs): otherwise it would be subject to the policy that calls it;
--   * the login watchpost_api, which cannot read any table, calls it before the caller is known: check_key, key_claims,
--     check_session, session_claims, touch_key, record_refusal, the functions of the local issuer, and of links;
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

-- Whether an operator's commands run this, with an administrator's login and for no caller.
create function private.is_operator() returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return private.claims() is null and pg_has_role(session_user, 'watchpost_owner', 'member');
end
$$;

grant execute on function private.claims, private.uid, private.can_write to authenticated, watchpost_jobs;
grant execute on function private.is_operator to authenticated;

reset role;
