set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.zone_reach(p_owner_id uuid, p_org_id uuid, p_channel_ids uuid[], p_escalation jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select jsonb_build_object('lost', private.lost_channels(p_owner_id, p_channel_ids),
    'steps', private.steps_reach(p_owner_id, p_escalation), 'unconfirmed', (
      -- Hardly anybody has one, and then the channels of the zone need not be looked up.
      select case when exists (
        select from watchpost.channels c
        where c.status = 'unconfirmed' and (c.owner_id = p_owner_id or c.org_id = p_org_id)) then (
          select count(*)
          from private.zone_channels(p_owner_id, p_org_id, p_channel_ids) goes
          join watchpost.channels c on c.id = goes.channel_id
          where c.status = 'unconfirmed') else 0 end),
    'is_reached', case
    when p_channel_ids = '{}' then false
    -- As private.zone_channels chooses, but only until one is found.
    when exists (
      select from watchpost.channels c where c.id = any(p_channel_ids) and private.is_usable(c, p_owner_id))
      then exists (
        select from watchpost.channels c
        where c.id = any(p_channel_ids) and c.enabled and c.status <> 'unconfirmed' and private.is_usable(c, p_owner_id))
    else exists (
        select from watchpost.channels c
        where c.owner_id = p_owner_id and c.enabled and c.status <> 'unconfirmed' and c.deleted_at is null
          and (c.org_id is null or c.org_id is not distinct from p_org_id))
      or exists (
        select from watchpost.channels c
        where c.org_id = p_org_id and c.enabled and c.status <> 'unconfirmed' and c.deleted_at is null)
  end)
  where p_owner_id = private.uid() or p_org_id = any(private.my_orgs()) or private.is_operator()
$function$;

CREATE INDEX channels_unconfirmed_org ON watchpost.channels USING btree (org_id) WHERE (status = 'unconfirmed'::text);

CREATE INDEX channels_unconfirmed_owner ON watchpost.channels USING btree (owner_id) WHERE (status = 'unconfirmed'::text);

reset check_function_bodies;
reset role;
