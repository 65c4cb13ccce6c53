set role watchpost_owner;
set check_function_bodies = off;

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
    where org_id = v_org and status = 'active' and user_id <> p_user_id
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

reset check_function_bodies;
reset role;
