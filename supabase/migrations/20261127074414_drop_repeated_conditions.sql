set role watchpost_owner;
set check_function_bodies = off;

drop trigger members_void_invites on watchpost.members;

CREATE OR REPLACE FUNCTION private.admin_orgs()
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return coalesce((
    select array_agg(m.org_id) from watchpost.members m
    where m.user_id = private.uid() and m.role in ('owner', 'admin')), '{}');
end
$function$;

CREATE OR REPLACE FUNCTION private.erase_account(p_user_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_pseudonym uuid := gen_random_uuid();
  v_proved text;
  v_org uuid;
  v_heir uuid;
  v_shared uuid[];
  v_orgs uuid[] := array(
    select distinct unnest(s.org_ids) from watchpost.account_states s where s.user_id = p_user_id);
  v_colleagues uuid[] := array(
    select distinct s.user_id from watchpost.account_states s where s.org_ids && v_orgs and s.user_id <> p_user_id);
begin
  select case when confirmed_at is not null then lower(email) end into v_proved
  from watchpost.accounts where user_id = p_user_id for update;
  if not found then
    return;
  end if;
  for v_org in select org_id from watchpost.members where user_id = p_user_id and role = 'owner' loop
    select user_id into v_heir
    from watchpost.members
    where org_id = v_org and user_id <> p_user_id
    order by role = 'admin' desc, joined_at, id
    limit 1;
    if found then
      perform private.move_ownership(v_org, v_heir);
    else
      delete from watchpost.organisations where id = v_org;
    end if;
  end loop;
  -- Not those of another person with the same address, nor those for an address that was never confirmed.
  delete from watchpost.members
  where lower(email) = v_proved and status = 'invited' and not exists (
    select from watchpost.accounts where lower(email) = v_proved and user_id <> p_user_id);
  v_shared := array(
    select z.id from watchpost.zones z where z.org_id = any(v_orgs));
  perform private.erase_from_evidence(p_user_id, v_pseudonym);
  -- Before the account itself is deleted, whose foreign keys would clear the sender of the invites that become void.
  delete from watchpost.members where user_id = p_user_id;
  perform private.record_audit('account.deleted', 'account', p_user_id::text, array[p_user_id]);
  delete from watchpost.accounts where user_id = p_user_id;
  delete from watchpost.visibility_changes where audience = p_user_id;

  -- The history of things that passed on would show whose they were.
  update watchpost.zone_versions
  set definition = replace(definition::text, p_user_id::text, v_pseudonym::text)::jsonb,
      changes = replace(changes::text, p_user_id::text, v_pseudonym::text)::jsonb,
      actor_id = case when actor_id = p_user_id then v_pseudonym else actor_id end
  where zone_id = any(v_shared)
    and (actor_id = p_user_id or concat(definition, changes) like '%' || p_user_id || '%');
  update watchpost.account_states set user_id = v_pseudonym where user_id = p_user_id;
  update watchpost.operator_acts
  set target_id = case when target_id = p_user_id::text then v_pseudonym::text else target_id end,
      details = replace((details - 'label')::text, p_user_id::text, v_pseudonym::text)::jsonb
  where target_id = p_user_id::text or details::text like '%' || p_user_id || '%';
  -- Its own log first, then its traces in the logs of others.
  update watchpost.audit
  set account_id = v_pseudonym,
      actor_id = case when actor_id = p_user_id then v_pseudonym else actor_id end,
      target_id = case when target_id = p_user_id::text then v_pseudonym::text else target_id end,
      ip = null, user_agent = null,
      details = replace((details - 'label' - 'changed')::text, p_user_id::text, v_pseudonym::text)::jsonb
  where account_id = p_user_id;
  update watchpost.audit
  set actor_id = v_pseudonym,
      target_id = case when target_id = p_user_id::text then v_pseudonym::text else target_id end,
      ip = null, user_agent = null,
      details = replace(details::text, p_user_id::text, v_pseudonym::text)::jsonb
  where actor_id = p_user_id and actor_id <> account_id;
  -- And where others are said to have done something with them or with what was theirs.
  update watchpost.audit
  set target_id = case when target_id = p_user_id::text then v_pseudonym::text else target_id end,
      details = replace(details::text, p_user_id::text, v_pseudonym::text)::jsonb
  where account_id = any(v_colleagues)
    and (target_id = p_user_id::text or details::text like '%' || p_user_id || '%');
end
$function$;

CREATE OR REPLACE FUNCTION private.is_usable(c watchpost.channels, p_user_id uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select c.deleted_at is null and (c.owner_id = p_user_id or exists (
    select from watchpost.members m
    where m.org_id = c.org_id and m.user_id = p_user_id))
$function$;

CREATE OR REPLACE FUNCTION private.my_orgs()
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return coalesce((
    select array_agg(m.org_id) from watchpost.members m
    where m.user_id = private.uid()), '{}');
end
$function$;

CREATE OR REPLACE FUNCTION private.role_in(p_org_id uuid)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_user uuid := private.require_session();
  v_role text;
begin
  perform from watchpost.organisations where id = p_org_id for update;
  select role into v_role
  from watchpost.members
  where org_id = p_org_id and user_id = v_user;
  if not found then
    raise exception 'organisation' using errcode = 'WP404';
  end if;
  return v_role;
end
$function$;

CREATE OR REPLACE FUNCTION private.store_account_state(p_user_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_last watchpost.account_states;
begin
  -- One at a time, so that the latest state is the one that was committed last.
  perform pg_advisory_xact_lock(hashtextextended('account_state:' || p_user_id, 0));
  select * into v_last from watchpost.account_states
  where user_id = p_user_id order by valid_from desc limit 1;
  insert into watchpost.account_states (user_id, valid_from, plan, banned_until, org_ids)
  select n.user_id, greatest(now(), v_last.valid_from + interval '1 microsecond'), n.plan, n.banned_until, n.org_ids
  from (
    select a.user_id, a.plan, private.finite(a.banned_until) as banned_until, array(
      select m.org_id from watchpost.members m
      where m.user_id = a.user_id
      order by m.org_id) as org_ids
    from watchpost.accounts a
    where a.user_id = p_user_id
  ) n
  where (n.plan, n.banned_until, n.org_ids) is distinct from (v_last.plan, v_last.banned_until, v_last.org_ids);
end
$function$;

CREATE OR REPLACE FUNCTION private.transfer_org(p_org_id uuid, p_user_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if private.role_in(p_org_id) <> 'owner' then
    raise exception 'only the owner can transfer an organisation' using errcode = 'WP403';
  end if;
  if not exists (
    select from watchpost.members where org_id = p_org_id and user_id = p_user_id
  ) then
    raise exception 'There is no such member. Ownership can only go to somebody who has joined the organisation.'
      using errcode = 'WP409';
  end if;
  if p_user_id = private.uid() then
    return;
  end if;
  perform private.move_ownership(p_org_id, p_user_id);
end
$function$;

CREATE OR REPLACE FUNCTION private.zone_of_feed_link(p_token_hash bytea)
 RETURNS SETOF watchpost.zones
 LANGUAGE plpgsql
 STABLE ROWS 1
 SET search_path TO ''
AS $function$
begin
  return query
    select z.*
    from watchpost.feed_links l
    join watchpost.zones z on z.id = l.zone_id
    cross join lateral private.active_account(z.owner_id) p
    cross join lateral private.active_account(l.owner_id) m
    where l.token_hash = p_token_hash
      and z.deleted_at is null
      and p.plan <> 'free'
      and m.plan <> 'free'
      and (l.owner_id = z.owner_id or exists (
        select from watchpost.members a
        where a.org_id = z.org_id and a.user_id = l.owner_id and a.role in ('owner', 'admin')));
end
$function$;

CREATE TRIGGER members_void_invites AFTER DELETE OR UPDATE OF role ON watchpost.members FOR EACH ROW WHEN ((old.role <> 'member'::text)) EXECUTE FUNCTION private.void_invites();

reset check_function_bodies;
reset role;
