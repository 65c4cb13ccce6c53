set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.deliver_act(p_alert_id uuid, p_kind text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_type text := 'alert.' || p_kind;
  v_count bigint;
begin
  with given as (
    select d.channel_id, true as is_told
    from watchpost.deliveries d
    where d.alert_id = p_alert_id and d.status <> 'cancelled'
    union
    select goes.channel_id, false
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id
    cross join lateral private.zone_channels(z.owner_id, z.org_id, z.channel_ids) goes
    where a.id = p_alert_id
  ),
  sent as (
    insert into watchpost.deliveries (alert_id, channel_id, type, sequence, act)
    select a.id, c.id, v_type, jsonb_array_length(a.updates), 1 + coalesce((
      select max(d.act) from watchpost.deliveries d
      where d.alert_id = a.id and d.sequence = jsonb_array_length(a.updates)), 0)
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id and z.deleted_at is null
    cross join (select channel_id, bool_or(is_told) as is_told from given group by channel_id) g
    join watchpost.channels c on c.id = g.channel_id and private.is_usable(c, z.owner_id)
    where a.id = p_alert_id
      and (g.is_told and (c.kind = 'pagerduty' or c.kind = 'pushover' and p_kind <> 'reopened' and exists (
          select from watchpost.deliveries d
          where d.alert_id = a.id and d.channel_id = c.id and starts_with(d.remote_ref, 'receipt:')))
        or private.takes(c.messages, v_type) and (g.is_told or not private.takes(c.messages, 'alert.raised')))
    returning id, channel_id
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count from sent s;
end
$function$;

reset check_function_bodies;
reset role;
