-- What Supabase provides and a plain PostgreSQL lacks: its roles, auth.users and the functions that read the caller's
-- claims. scripts/postgres/migrate.ts applies it at every start outside Supabase, so each statement can run again.

do $$
declare
  role_name text;
begin
  foreach role_name in array array['anon', 'authenticated', 'service_role'] loop
    if not exists (select from pg_catalog.pg_roles where rolname = role_name) then
      execute format('create role %I nologin noinherit', role_name);
    end if;
  end loop;
  -- Only a superuser may set it, so other owners keep the current value.
  if not (select rolbypassrls from pg_catalog.pg_roles where rolname = 'service_role') then
    alter role service_role bypassrls;
  end if;
end
$$;

create schema if not exists extensions;
do $$
declare
  role_name text;
begin
  -- The schema may belong to another role, which has granted this already.
  foreach role_name in array array['anon', 'authenticated', 'service_role'] loop
    if not has_schema_privilege(role_name, 'extensions', 'usage') then
      execute format('grant usage on schema extensions to %I', role_name);
    end if;
  end loop;
end
$$;

create schema if not exists auth;
grant usage on schema auth to anon, authenticated, service_role;
-- scripts/postgres/migrate.ts recognises by this comment that the schema is ours to keep up to date.
comment on schema auth is 'Watchpost''s stand-in for Supabase Auth.';

create table if not exists auth.users (
  instance_id uuid,
  id uuid primary key,
  aud varchar(255),
  role varchar(255),
  email varchar(255),
  encrypted_password varchar(255),
  email_confirmed_at timestamptz,
  invited_at timestamptz,
  confirmation_token varchar(255),
  confirmation_sent_at timestamptz,
  recovery_token varchar(255),
  recovery_sent_at timestamptz,
  email_change_token_new varchar(255),
  email_change varchar(255),
  email_change_sent_at timestamptz,
  last_sign_in_at timestamptz,
  raw_app_meta_data jsonb,
  raw_user_meta_data jsonb,
  is_super_admin boolean,
  created_at timestamptz,
  updated_at timestamptz,
  phone text default null unique,
  phone_confirmed_at timestamptz,
  phone_change text default '',
  phone_change_token varchar(255) default '',
  phone_change_sent_at timestamptz,
  confirmed_at timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored,
  email_change_token_current varchar(255) default '',
  email_change_confirm_status smallint default 0 check (email_change_confirm_status between 0 and 2),
  banned_until timestamptz,
  reauthentication_token varchar(255) default '',
  reauthentication_sent_at timestamptz,
  is_sso_user boolean not null default false,
  deleted_at timestamptz,
  is_anonymous boolean not null default false
);
comment on table auth.users is 'People who can sign in, with the columns of Supabase Auth.';

create unique index if not exists users_email_partial_key on auth.users (email) where not is_sso_user;
create index if not exists users_instance_id_email_idx on auth.users (instance_id, lower(email::text));
create index if not exists users_instance_id_idx on auth.users (instance_id);
create index if not exists users_is_anonymous_idx on auth.users (is_anonymous);

alter table auth.users enable row level security;

create table if not exists auth.sessions (
  id uuid primary key,
  user_id uuid not null references auth.users on delete cascade,
  created_at timestamptz,
  updated_at timestamptz,
  factor_id uuid,
  aal text check (aal in ('aal1', 'aal2', 'aal3')),
  not_after timestamptz
);
comment on table auth.sessions is 'Sessions of Supabase Auth: empty here, where Watchpost signs people in.';
create index if not exists sessions_user_id_idx on auth.sessions (user_id);
alter table auth.sessions enable row level security;

create table if not exists auth.mfa_factors (
  id uuid primary key,
  user_id uuid not null references auth.users on delete cascade,
  friendly_name text,
  factor_type text not null check (factor_type in ('totp', 'webauthn', 'phone')),
  status text not null check (status in ('unverified', 'verified')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table auth.mfa_factors is 'Second factors of Supabase Auth: empty here, where Watchpost signs people in.';
create index if not exists mfa_factors_user_id_idx on auth.mfa_factors (user_id);
alter table auth.mfa_factors enable row level security;

-- A pooled session returns '' for a setting that an earlier transaction made, hence nullif.
create or replace function auth.uid()
  returns uuid
  language sql
  stable
  set search_path = ''
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')
  )::uuid
$$;

create or replace function auth.role()
  returns text
  language sql
  stable
  set search_path = ''
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.role', true), ''),
    (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role')
  )::text
$$;

create or replace function auth.email()
  returns text
  language sql
  stable
  set search_path = ''
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.email', true), ''),
    (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'email')
  )::text
$$;

create or replace function auth.jwt()
  returns jsonb
  language sql
  stable
  set search_path = ''
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')
  )::jsonb
$$;

comment on function auth.uid() is 'The caller''s id, from the claims of the transaction.';
comment on function auth.role() is 'The caller''s role, from the claims of the transaction.';
comment on function auth.email() is 'The caller''s address, from the claims of the transaction.';
comment on function auth.jwt() is 'The caller''s claims.';
