-- Roles, schemas and the caller: who owns, who logs in, and that nobody gets anything by default.

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
-- East of Greenwich the last day of the year 9999 would be written with five digits, which no client reads.
alter role watchpost_api set timezone = 'UTC';
alter role watchpost_jobs set timezone = 'UTC';

create schema watchpost authorization watchpost_owner;
create schema private authorization watchpost_owner;
comment on schema watchpost is 'Watchpost: what people own and what happened. Not exposed through PostgREST.';
comment on schema private is 'Watchpost: functions that policies, the API and the jobs call. Not exposed.';

grant usage on schema extensions to watchpost_owner;
alter default privileges for role watchpost_owner revoke execute on functions from public;

set role watchpost_owner;
grant usage on schema watchpost to authenticated, watchpost_jobs;
grant usage on schema private to authenticated, watchpost_api, watchpost_jobs;

-- The caller, as the API verified it; null outside a caller's transaction.
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
