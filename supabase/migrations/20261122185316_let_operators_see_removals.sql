set role watchpost_owner;

CREATE OR REPLACE FUNCTION private.count_shared(p_org_id uuid, p_user_id uuid)
 RETURNS TABLE(zones bigint, channels bigint)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return query select
    (select count(*) from watchpost.zones
     where org_id = p_org_id and owner_id = p_user_id and deleted_at is null),
    (select count(*) from watchpost.channels
     where org_id = p_org_id and owner_id = p_user_id and deleted_at is null)
  where p_org_id = any(private.my_orgs()) or private.is_operator();
end
$function$;

CREATE OR REPLACE FUNCTION private.is_operator()
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return private.claims() is null and pg_has_role(session_user, 'watchpost_owner', 'member');
end
$function$;

grant execute on function private.is_operator() to authenticated;

CREATE OR REPLACE FUNCTION private.zone_reach(p_owner_id uuid, p_org_id uuid, p_channel_ids uuid[])
 RETURNS jsonb
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select jsonb_build_object('lost', private.lost_channels(p_owner_id, p_channel_ids), 'is_reached', case
    when p_channel_ids = '{}' then false
    -- As private.zone_channels chooses, but only until one is found.
    when exists (
      select from watchpost.channels c where c.id = any(p_channel_ids) and private.is_usable(c, p_owner_id))
      then exists (
        select from watchpost.channels c
        where c.id = any(p_channel_ids) and c.enabled and private.is_usable(c, p_owner_id))
    else exists (
        select from watchpost.channels c
        where c.owner_id = p_owner_id and c.enabled and c.deleted_at is null
          and (c.org_id is null or c.org_id is not distinct from p_org_id))
      or exists (
        select from watchpost.channels c where c.org_id = p_org_id and c.enabled and c.deleted_at is null)
  end)
  where p_owner_id = private.uid() or p_org_id = any(private.my_orgs()) or private.is_operator()
$function$;

reset role;
