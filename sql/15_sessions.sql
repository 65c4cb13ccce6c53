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
returns private.verdict
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_caller record;
begin
  if not exists (select from watchpost.accounts a where a.user_id = p_user_id) then
    perform private.ensure_account(p_user_id);
  end if;
  select * into v_caller from private.session_holder(p_user_id, p_session_id);
  return private.admit(
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
