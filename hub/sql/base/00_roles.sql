-- Roles, schemas and the project of a transaction: Postgres itself refuses what a key may not do.

do $$
begin
  -- The role of the public key, that of the service key, and the one that runs the data agent's queries.
  if not exists (select from pg_catalog.pg_roles where rolname = 'hub_ro') then
    create role hub_ro login;
  end if;
  if not exists (select from pg_catalog.pg_roles where rolname = 'hub_rw') then
    create role hub_rw login;
  end if;
  if not exists (select from pg_catalog.pg_roles where rolname = 'hub_data') then
    create role hub_data nologin;
  end if;
end
$$;
grant hub_data to hub_ro, hub_rw with inherit false, set true;

alter role hub_ro set default_transaction_read_only = on;
alter role hub_ro set statement_timeout = '15s';
alter role hub_rw set statement_timeout = '60s';
alter role hub_ro set idle_in_transaction_session_timeout = '60s';
alter role hub_rw set idle_in_transaction_session_timeout = '60s';

create schema extensions;
create extension pg_trgm with schema extensions;
create extension unaccent with schema extensions;

create schema hub;
create schema private;
comment on schema hub is 'Watchpost Hub: projects and everything that belongs to them.';
comment on schema private is 'Watchpost Hub: functions that policies and queries call.';

revoke all on schema public from public;
grant usage on schema extensions, hub, private to hub_ro, hub_rw, hub_data;
alter default privileges revoke execute on functions from public;
-- SQL that the model writes must not be able to reach another project,
revoke execute on function pg_catalog.set_config(text, text, boolean) from public;
grant execute on function pg_catalog.set_config(text, text, boolean) to hub_ro, hub_rw;
-- nor by a DO block, which could use SET and reveal in an error what it saw, nor by a temporary function,
revoke usage on language plpgsql from public;
grant usage on language plpgsql to hub_rw;
do $$
begin
  execute format('revoke temporary on database %I from public', current_database());
  execute format('grant temporary on database %I to hub_rw', current_database());
end
$$;

-- nor take a lock that outlives its transaction, nor send a notification.
do $$
declare
  v_function regprocedure;
  v_name name;
begin
  for v_function, v_name in
    select oid, proname from pg_catalog.pg_proc
    where pronamespace = 'pg_catalog'::regnamespace
      and (proname like '%advisory%' or proname = 'pg_notify')
  loop
    execute format('revoke execute on function %s from public', v_function);
    execute format('grant execute on function %s to hub_rw', v_function);
    -- Backups are made with the public key too, e.g. before an upgrade, and one at a time.
    if v_name = 'pg_try_advisory_lock' then
      execute format('grant execute on function %s to hub_ro', v_function);
    end if;
  end loop;
end
$$;

-- The project of this transaction: its id, `*` for all, null for none. Policies call these two for every row and
-- inline them, which is only possible for a function without a search_path; instead their bodies are bound when they
-- are created (`return`). All other functions have an empty search_path.
create function private.current_project() returns text
language sql stable
return nullif(current_setting('hub.project', true), '');

create function private.in_project(p_project_id uuid) returns boolean
language sql stable
return private.current_project() = '*' or private.current_project() = p_project_id::text;

grant execute on function private.current_project, private.in_project to hub_ro, hub_rw, hub_data;

-- A time in the form of the API, for times inside of JSON.
create function private.iso(p_at timestamptz) returns text
language sql stable set search_path = '' as $$
  select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
grant execute on function private.iso to hub_ro, hub_rw, hub_data;

-- Folds case, accents and Turkish letters, so that "ISIK" finds "Işık".
create function private.fold(p_text text) returns text
language sql immutable parallel safe set search_path = '' as $$
  select lower(extensions.unaccent('extensions.unaccent', translate(p_text, 'İIı', 'iii')))
$$;
grant execute on function private.fold to hub_ro, hub_rw, hub_data;

-- A sentence in both languages of the hub, of which the reader's is read: {"en": …, "tr": …}.
create domain hub.words as jsonb check (
  value is null or coalesce(
    jsonb_typeof(value -> 'en') = 'string' and length(value ->> 'en') <= 2000
      and jsonb_typeof(value -> 'tr') = 'string' and length(value ->> 'tr') <= 2000,
    false
  )
);
comment on domain hub.words is 'A sentence in both languages of the hub: {"en", "tr"}.';
