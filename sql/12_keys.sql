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

-- The account of a key: no row for a key that is unknown, revoked or expired, or whose account may not act. It becomes
-- part of the query that asks it, as active_account does.
create function private.key_holder(p_key_hash bytea)
returns table (key_id uuid, user_id uuid, email text, plan text, scopes text[])
language sql stable rows 1 as $$
  select k.id, a.user_id, a.email, a.plan, k.scopes
  from watchpost.api_keys k
  cross join lateral private.active_account(k.user_id) a
  where k.key_hash = p_key_hash
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > pg_catalog.now())
$$;

-- Security definer: the login role may check one key, but cannot read any table. All keys without a holder get the same
-- answer.
create function private.check_key(
  p_key_hash bytea,
  p_address text,
  p_request_id uuid,
  p_limits jsonb
)
returns private.verdict
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_key record;
begin
  select * into v_key from private.key_holder(p_key_hash);
  return private.admit(
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
    'request_id', p_request_id)
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
