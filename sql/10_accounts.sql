-- Accounts and keys: who somebody is, what their plan allows, how often they may ask.

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
comment on table watchpost.accounts is 'One row a person, made when they sign up. The plan is the account''s own.';
comment on column watchpost.accounts.user_id is 'Same id as in auth.users; follows it when that row goes.';
comment on column watchpost.accounts.email is 'Sign-in address, copied from auth.users by a trigger. Tells whom to write to, never who somebody is: two accounts may share one.';
comment on column watchpost.accounts.plan is 'What is paid for: free, pro or enterprise. Set by an operator or the billing; below pro the API refuses and zones pause.';
comment on column watchpost.accounts.created_at is 'When the person signed up.';
comment on column watchpost.accounts.updated_at is 'Last change of address or plan.';
comment on column watchpost.accounts.confirmed_at is 'When the address was confirmed; null: not yet, or an anonymous sign-in. Sessions need it, keys do not.';
comment on column watchpost.accounts.banned_until is 'Until then nothing acts for it and its zones pause; null: never banned.';
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
comment on table watchpost.erased_accounts is 'People who deleted their account where their row in auth.users could not go: signing in again makes them no new one.';
comment on column watchpost.erased_accounts.user_id is 'Their id in auth.users; the row goes with that one.';
comment on column watchpost.erased_accounts.at is 'When the account was deleted.';
alter table watchpost.erased_accounts enable row level security;
alter table watchpost.erased_accounts force row level security;

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
comment on column watchpost.api_keys.id is 'Names the key in the audit log; not the key itself.';
comment on column watchpost.api_keys.user_id is 'Account that acts when this key is used.';
comment on column watchpost.api_keys.name is 'What its owner calls it.';
comment on column watchpost.api_keys.prefix is 'First characters of the key, so that its owner recognises it in a list.';
comment on column watchpost.api_keys.key_hash is 'SHA-256 of the whole key; a request is looked up by it.';
comment on column watchpost.api_keys.scopes is 'What it may do: read, write (which includes read), ingest.';
comment on column watchpost.api_keys.expires_at is 'From then on it is refused; null: never.';
comment on column watchpost.api_keys.revoked_at is 'Set to revoke; counts from the next request on.';
comment on column watchpost.api_keys.created_at is 'When it was made.';
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
comment on column watchpost.key_usage.key_id is 'Which API key.';
comment on column watchpost.key_usage.last_used_at is 'Time of a recent request, right to about a minute; written by the API after its answer.';
alter table watchpost.key_usage enable row level security;
alter table watchpost.key_usage force row level security;
create policy key_usage_select on watchpost.key_usage for select to authenticated
  using (key_id in (select id from watchpost.api_keys));
grant select on watchpost.key_usage to authenticated;

create unlogged table watchpost.rate_limits (
  bucket text primary key,
  tat timestamptz not null,
  denied boolean not null default false
);
comment on table watchpost.rate_limits is 'GCRA state per account or address: the theoretical arrival time of the next request.';
comment on column watchpost.rate_limits.bucket is 'account:<user_id> for keys, address:<ip> for unknown callers.';
comment on column watchpost.rate_limits.tat is 'Theoretical arrival time of GCRA: the further ahead of now, the less budget is left.';
comment on column watchpost.rate_limits.denied is 'Whether the last request was refused.';
create index rate_limits_tat on watchpost.rate_limits (tat);
alter table watchpost.rate_limits enable row level security;
alter table watchpost.rate_limits force row level security;

create unlogged table watchpost.rate_denials (
  request_id uuid primary key,
  at timestamptz not null default now()
);
comment on table watchpost.rate_denials is 'Requests refused by the rate limit, so that their transaction does no work.';
comment on column watchpost.rate_denials.request_id is 'The refused request, as in its X-Request-Id.';
comment on column watchpost.rate_denials.at is 'When it was refused; rows go after ten minutes.';
create index rate_denials_at on watchpost.rate_denials (at);
alter table watchpost.rate_denials enable row level security;
alter table watchpost.rate_denials force row level security;

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
comment on table watchpost.idempotency_keys is 'What an Idempotency-Key led to: status and id only, never a body. Kept 24 hours.';
comment on column watchpost.idempotency_keys.user_id is 'Account that sent the key.';
comment on column watchpost.idempotency_keys.route is 'Method and path it was sent to; the same key elsewhere is another request.';
comment on column watchpost.idempotency_keys.key is 'The Idempotency-Key header as the client chose it.';
comment on column watchpost.idempotency_keys.request_hash is 'SHA-256 of the request body, to refuse another body under the same key.';
comment on column watchpost.idempotency_keys.status is 'HTTP status of the first answer, repeated on a replay.';
comment on column watchpost.idempotency_keys.resource_id is 'Id of what was made, read again on a replay.';
comment on column watchpost.idempotency_keys.created_at is 'First use; forgotten 24 hours later.';
create index idempotency_keys_created_at on watchpost.idempotency_keys (created_at);
alter table watchpost.idempotency_keys enable row level security;
alter table watchpost.idempotency_keys force row level security;

-- ISO 8601 UTC with milliseconds, as on the wire.
create function private.iso(t timestamptz) returns text
language sql stable set search_path = '' as $$
  select to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Where a window of N days begins: today and the N - 1 before, UTC.
create function private.window_start(p_days integer) returns timestamptz
language sql stable set search_path = '' as $$
  select (date_trunc('day', now() at time zone 'UTC') - (p_days - 1) * interval '1 day') at time zone 'UTC'
$$;

-- GCRA: one statement consumes one request of a bucket of p_limit a window.
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

-- What a caller is told who was looked up; p_user_id is null for one who is not known. Consumes one request
-- from the account's budget, or from the address's where the account has none or nobody is known.
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
    -- It has no budget of its own, and without one its refusals would cost us without end.
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

-- Whether somebody is shut out at the moment.
create function private.is_banned(p_banned_until timestamptz) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(p_banned_until > now(), false);
end
$$;
grant execute on function private.is_banned to watchpost_jobs, service_role;

-- The account that a key, a session or a link would act for: no row for one that is gone or banned.
create function private.active_account(p_user_id uuid) returns setof watchpost.accounts
language plpgsql stable rows 1 set search_path = '' as $$
begin
  return query select * from watchpost.accounts a
    where a.user_id = p_user_id and not private.is_banned(a.banned_until);
end
$$;

-- Whom a key speaks for: no row for one that is unknown, revoked or expired, or may not act.
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

-- Security definer: the login role may ask about one key, and read no table.
-- The answer is the same for all that key_holder has no row for.
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

-- Security definer: makes the claims of a caller's transaction from the key, verified again here,
-- so that a statement pipelined behind a refused key does nothing. errcode WP401: refused.
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

-- Security definer: the login role writes nothing else.
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

-- errcode WPLIM when the account has as many of a thing as its plan allows. The lock makes two
-- creators at once count one after the other.
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

-- errcode WP409 when so many were deleted of late, each of which is kept for 30 days, that making and
-- deleting would fill the database past what a plan allows.
create function private.require_deleted_quota(p_user_id uuid, p_thing text, p_deleted bigint) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_limit integer := 4 * private.plan_limit((select plan from watchpost.accounts where user_id = p_user_id), p_thing);
begin
  if p_deleted >= v_limit then
    raise exception 'Of the % that you deleted in the last 30 days % are kept to be restored, and no more can be made. Change or restore some instead of making and deleting them.',
      p_thing, v_limit using errcode = 'WP409';
  end if;
end
$$;

create function private.api_keys_quota() returns trigger
language plpgsql set search_path = '' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('keys:' || new.user_id, 0));
  perform private.require_quota(new.user_id, 'keys', (
    select count(*) + 1 from watchpost.api_keys
    where user_id = new.user_id and revoked_at is null and (expires_at is null or expires_at > now())));
  if (select count(*) from watchpost.api_keys
      where user_id = new.user_id and created_at > now() - interval '1 day') >= 200 then
    raise exception 'This account made 200 keys in a day. Wait, or use those there are.' using errcode = 'WP409';
  end if;
  return new;
end
$$;
create trigger api_keys_quota before insert on watchpost.api_keys
  for each row execute function private.api_keys_quota();

-- Security definer: starts an effect that must happen once. Raises WPIDP with the first outcome as
-- detail when the key was used before, WPIDC for another body, WPIDF while the first is in flight.
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
grant execute on function private.iso, private.window_start, private.begin_idempotent, private.finish_idempotent to authenticated;
grant execute on function private.iso to watchpost_jobs;

-- One by one what changes who is in auth.users and whose account there is.
create function private.lock_account(p_user_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('account:' || p_user_id, 0));
end
$$;

-- Makes the account of somebody in auth.users, or brings it up to date.
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

-- Security definer: an account follows its row in auth.users, whoever writes that. A soft deletion
-- cannot be taken back there either, so it is one.
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

-- Security definer of the migrating role, which unlike watchpost_owner reads the schema auth: somebody
-- as follow_person takes them.
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

-- Makes the account that somebody in auth.users lacks, because they signed up before there was Watchpost
-- or while no triggers ran; nobody comes back who deleted theirs.
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

-- Whoever was there before.
select private.ensure_account(id) from auth.users where deleted_at is null;
