set role watchpost_owner;
set check_function_bodies = off;

drop function private.key_holder(bytea);

CREATE OR REPLACE FUNCTION private.active_account(p_user_id uuid)
 RETURNS SETOF watchpost.accounts
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  select * from watchpost.accounts a
  where a.user_id = p_user_id and not private.is_banned(a.banned_until)
$function$;

CREATE OR REPLACE FUNCTION private.check_key(p_key_hash bytea, p_address text, p_request_id uuid, p_limits jsonb)
 RETURNS private.verdict
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_key record;
begin
  select * into v_key from private.key_holder(p_key_hash);
  return private.admit(
    v_key.user_id, v_key.email, v_key.plan, v_key.scopes, v_key.key_id, false,
    p_address, p_request_id, p_limits);
end
$function$;

CREATE OR REPLACE FUNCTION private.is_banned(p_banned_until timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(p_banned_until > pg_catalog.now(), false)
$function$;

CREATE OR REPLACE FUNCTION private.key_claims(p_key_hash bytea, p_request_id uuid, p_context jsonb)
 RETURNS text
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION private.key_holder(p_key_hash bytea)
 RETURNS TABLE(key_id uuid, user_id uuid, email text, plan text, scopes text[])
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  select k.id, a.user_id, a.email, a.plan, k.scopes
  from watchpost.api_keys k
  cross join lateral private.active_account(k.user_id) a
  where k.key_hash = p_key_hash
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > pg_catalog.now())
$function$;

reset check_function_bodies;
reset role;
