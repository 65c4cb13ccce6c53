set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.deliver_alerts(p_alert_ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[];
begin
  perform private.cancel_deliveries(array(
    select d.id
    from watchpost.deliveries d
    join watchpost.alerts a on a.id = d.alert_id
    join watchpost.channels c on c.id = d.channel_id
    where d.alert_id = any(p_alert_ids) and d.status = 'held' and d.type = 'alert.raised' and a.status = 'pending'
      and not private.takes(c.messages, 'alert.raised')), 'The channel takes no alert.raised.');
  with given as (
    -- Zones of an account that are told alike, so that its channels are asked for once.
    select z.owner_id, z.org_id, z.channel_ids, array_agg(a.id) as ids, array_agg(a.status) as states
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id and z.deleted_at is null
    where a.id = any(p_alert_ids) and a.status in ('pending', 'held')
    group by z.owner_id, z.org_id, z.channel_ids
  ),
  sent as (
    insert into watchpost.deliveries as d (alert_id, channel_id, type, status)
    select a.id, c.id, 'alert.raised', case a.status when 'held' then 'held' else 'queued' end
    from given g
    cross join lateral private.zone_channels(g.owner_id, g.org_id, g.channel_ids) goes
    -- `offset 0`: looked up one by one, never all channels.
    cross join lateral (select id, messages from watchpost.channels where id = goes.channel_id offset 0) c
    cross join lateral unnest(g.ids, g.states) as a (id, status)
    where private.takes(c.messages, 'alert.raised')
      or a.status = 'held' and private.takes(c.messages, 'alert.digest')
    on conflict (alert_id, channel_id, type, sequence, act)
      where redelivery_of is null and type <> 'alert.digest' and step is null
    do update set status = 'queued', due_at = now(), updated_at = now()
      where d.status = 'held' and excluded.status = 'queued'
    returning d.id, d.status
  )
  select array_agg(s.id) into v_ids from sent s where s.status = 'queued';
  perform private.enqueue_deliveries(v_ids);
end
$function$;

reset check_function_bodies;
reset role;
