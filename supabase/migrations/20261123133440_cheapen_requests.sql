set role watchpost_owner;
set check_function_bodies = off;

drop function private.admit(uuid,text,text,text[],uuid,boolean,text,uuid,jsonb);

drop function private.check_key(bytea,text,uuid,jsonb);

drop function private.check_session(uuid,uuid,boolean,text,uuid,jsonb);

drop function private.consume(text,integer,interval,integer);

drop function private.key_holder(bytea);

drop index watchpost.rate_limits_tat;

alter table watchpost.rate_limits set (fillfactor = 50);

create type private.verdict as (
  verdict text,
  user_id uuid,
  email text,
  plan text,
  scopes text[],
  key_id uuid,
  rate_limit integer,
  remaining integer,
  reset_seconds integer,
  retry_after integer
);

CREATE OR REPLACE FUNCTION private.admit(p_user_id uuid, p_email text, p_plan text, p_scopes text[], p_key_id uuid, p_any_plan boolean, p_address text, p_request_id uuid, p_limits jsonb)
 RETURNS private.verdict
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
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
    v_budget := private.consume('address:' || p_address, (p_limits ->> 'address')::integer, interval '1 minute');
    return row(
      case when v_budget.allowed then v_refusal else 'address_limited' end,
      p_user_id, p_email, p_plan, p_scopes, p_key_id, null, null, null, v_budget.retry_after)::private.verdict;
  end if;
  v_limit := (p_limits ->> case p_plan when 'free' then 'address' else p_plan end)::integer;
  v_budget := private.consume('account:' || p_user_id, v_limit, interval '1 minute');
  if not v_budget.allowed then
    insert into watchpost.rate_denials (request_id) values (p_request_id) on conflict do nothing;
  end if;
  return row(
    case when v_budget.allowed then 'ok' else 'rate_limited' end,
    p_user_id, p_email, p_plan, p_scopes, p_key_id,
    v_limit, v_budget.remaining, v_budget.reset_seconds, v_budget.retry_after)::private.verdict;
end
$function$;

CREATE OR REPLACE FUNCTION private.check_key(p_key_hash bytea, p_address text, p_request_id uuid, p_limits jsonb)
 RETURNS private.verdict
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_key record := private.key_holder(p_key_hash);
begin
  return private.admit(
    v_key.user_id, v_key.email, v_key.plan, v_key.scopes, v_key.key_id, false,
    p_address, p_request_id, p_limits);
end
$function$;

grant execute on function private.check_key(bytea,text,uuid,jsonb) to watchpost_api;

CREATE OR REPLACE FUNCTION private.check_session(p_user_id uuid, p_session_id uuid, p_any_plan boolean, p_address text, p_request_id uuid, p_limits jsonb)
 RETURNS private.verdict
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$;

grant execute on function private.check_session(uuid,uuid,boolean,text,uuid,jsonb) to watchpost_api;

CREATE OR REPLACE FUNCTION private.consume(p_bucket text, p_limit integer, p_window interval, p_cost integer DEFAULT 1, OUT allowed boolean, OUT remaining integer, OUT reset_seconds integer, OUT retry_after integer)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_now timestamptz := clock_timestamp();
  v_step interval := p_window / p_limit * p_cost;
  v_tat timestamptz;
begin
  insert into watchpost.rate_limits as r (bucket, tat)
  values (p_bucket, v_now + v_step)
  on conflict (bucket) do update
  set denied = greatest(r.tat, v_now) + v_step > v_now + p_window,
      tat = case
        when greatest(r.tat, v_now) + v_step > v_now + p_window then r.tat
        else greatest(r.tat, v_now) + v_step
      end
  returning r.tat, not r.denied into v_tat, allowed;
  remaining := greatest(0, floor(extract(epoch from (p_window - (v_tat - v_now))) / extract(epoch from p_window / p_limit)))::integer;
  reset_seconds := greatest(0, ceil(extract(epoch from (v_tat - v_now))))::integer;
  retry_after := case when allowed then 0
    else greatest(1, ceil(extract(epoch from (v_tat + v_step - p_window - v_now))))::integer
  end;
end
$function$;

CREATE OR REPLACE FUNCTION private.is_garbled(s watchpost.sources)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO ''
AS $function$
begin
  return s.garbled_polls >= 3 and s.garbled_items >= 10;
end
$function$;

CREATE OR REPLACE FUNCTION private.key_claims(p_key_hash bytea, p_request_id uuid, p_context jsonb)
 RETURNS text
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  k record := private.key_holder(p_key_hash);
  v_claims jsonb;
begin
  if k.user_id is not null and k.plan <> 'free'
    and not exists (select from watchpost.rate_denials d where d.request_id = p_request_id) then
    v_claims := p_context || jsonb_build_object(
      'sub', k.user_id,
      'role', 'authenticated',
      'scopes', case when 'write' = any(k.scopes) and not 'read' = any(k.scopes)
        then array_append(k.scopes, 'read') else k.scopes end,
      'key_id', k.key_id,
      'plan', k.plan,
      'request_id', p_request_id
    );
  end if;
  if v_claims is null then
    raise exception 'the caller was refused' using errcode = 'WP401';
  end if;
  return v_claims::text;
end
$function$;

CREATE OR REPLACE FUNCTION private.key_holder(p_key_hash bytea, OUT key_id uuid, OUT user_id uuid, OUT email text, OUT plan text, OUT scopes text[])
 RETURNS record
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  select k.id, a.user_id, a.email, a.plan, k.scopes
  into key_id, user_id, email, plan, scopes
  from watchpost.api_keys k
  cross join lateral private.active_account(k.user_id) a
  where k.key_hash = p_key_hash
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > now());
end
$function$;

CREATE OR REPLACE FUNCTION private.silent_after(s watchpost.sources)
 RETURNS interval
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO ''
AS $function$
begin
  return case when s.longest_silence_seconds is not null
    then greatest(2 * s.longest_silence_seconds, 3600) * interval '1 second' end;
end
$function$;

CREATE OR REPLACE FUNCTION private.source_states()
 RETURNS TABLE(source text, types text[], status text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return query
    select s.source, s.types, private.source_status(s) from watchpost.sources s
    where s.source not like 'custom%'
    order by s.source;
end
$function$;

grant execute on function private.source_states() to authenticated;

CREATE OR REPLACE FUNCTION private.source_status(s watchpost.sources)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return case
    when not s.enabled then 'disabled'
    when s.last_success_at > now() - greatest(3 * s.interval_seconds, 180) * interval '1 second' then
      case when s.last_event_at < now() - private.silent_after(s) or private.is_garbled(s) then 'stale' else 'ok' end
    when s.last_success_at is null and s.error_at is null
      and s.created_at > now() - interval '3 minutes' then 'stale'
    when s.error_at > coalesce(s.last_success_at, '-infinity') or s.last_success_at is null then 'down'
    else 'stale'
  end;
end
$function$;

reset check_function_bodies;
reset role;
