-- Hands the schema `auth` over from Watchpost's stand-in to the real Supabase Auth, with all people in it. Run it once
-- as the role that runs Watchpost's migrations, while Watchpost is stopped. docs/accounts.md has the steps around it.
--   psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --single-transaction --file supabase/hand-over-auth.sql

set client_min_messages = warning;

do $$
declare
  v_statement text;
begin
  if obj_description(to_regnamespace('auth'), 'pg_namespace') is distinct from 'Watchpost''s stand-in for Supabase Auth.' then
    raise exception 'The schema auth is not Watchpost''s stand-in, so there is nothing to hand over.';
  end if;
  if exists (select from auth.sessions) or exists (select from auth.mfa_factors) then
    raise exception 'auth.sessions or auth.mfa_factors holds rows, which the stand-in never writes. Find out who does, and delete them first.';
  end if;
  if not exists (select from pg_roles where rolname = 'supabase_auth_admin') then
    create role supabase_auth_admin login noinherit;
  end if;
  -- Migrations of Supabase Auth grant it rights, so it must exist.
  if not exists (select from pg_roles where rolname = 'postgres') then
    create role postgres nologin;
  end if;
  -- Watchpost's functions that read auth.users and auth.sessions belong to the current role, which keeps its rights.
  execute format('grant supabase_auth_admin to %I with inherit true, set true', current_user);
  execute format('alter role supabase_auth_admin in database %I set search_path = auth', current_database());
  -- Supabase Auth creates these two anew, with the types and columns that the stand-in leaves out.
  drop table auth.sessions, auth.mfa_factors;
  alter schema auth owner to supabase_auth_admin;
  alter table auth.users owner to supabase_auth_admin;
  for v_statement in
    select format('alter function %s owner to supabase_auth_admin', p.oid::regprocedure)
    from pg_proc p
    where p.pronamespace = 'auth'::regnamespace
  loop
    execute v_statement;
  end loop;
  -- From now on the start of Watchpost leaves the schema alone.
  comment on schema auth is 'Supabase Auth.';
end
$$;
