-- Cancelling: what is pending when its zone or channel is deleted.

set role watchpost_owner;

-- Alerts that wait only for channels their zone has lost go to those it has now.
create function private.reroute_alerts(p_alert_ids uuid[]) returns void
language sql volatile set search_path = '' as $$
  select private.deliver_alerts(array_agg(a.id))
  from watchpost.alerts a
  join watchpost.zones z on z.id = a.zone_id
  where a.id = any(p_alert_ids) and a.status in ('pending', 'held')
    and exists (
      select from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      where d.alert_id = a.id and not private.is_usable(c, z.owner_id))
    and not exists (
      select from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      where d.alert_id = a.id and d.status in ('queued', 'held', 'sending', 'succeeded')
        and private.is_usable(c, z.owner_id))
$$;

-- Security definer: what is pending for a deleted zone or channel is cancelled with it.
create function private.cancel_pending() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  v_ids uuid[];
begin
  if tg_table_name = 'zones' then
    v_ids := array(
      select d.id from watchpost.deliveries d
      join watchpost.alerts a on a.id = d.alert_id
      where a.zone_id = new.id and d.status in ('queued', 'held', 'sending')
      for update of d);
    perform private.cancel_deliveries(v_ids, 'The zone was deleted.');
    update watchpost.alerts
    set status = 'failed', updated_at = now()
    where zone_id = new.id and status in ('pending', 'held');
  else
    v_ids := array(
      select id from watchpost.deliveries
      where channel_id = new.id and status in ('queued', 'held', 'sending')
      for update);
    perform private.cancel_deliveries(v_ids, 'The channel was deleted.');
    perform private.reroute_alerts(array(select alert_id from watchpost.deliveries where id = any(v_ids)));
    update watchpost.alerts a
    set status = 'failed', updated_at = now()
    where a.id in (select alert_id from watchpost.deliveries where id = any(v_ids))
      and a.status in ('pending', 'held')
      and not exists (
        select from watchpost.deliveries d
        where d.alert_id = a.id and d.channel_id <> new.id and d.status in ('queued', 'held', 'sending', 'succeeded'));
  end if;
  return new;
end
$$;
create trigger zones_cancel after update of deleted_at on watchpost.zones
  for each row when (old.deleted_at is null and new.deleted_at is not null)
  execute function private.cancel_pending();
create trigger channels_cancel after update of deleted_at on watchpost.channels
  for each row when (old.deleted_at is null and new.deleted_at is not null)
  execute function private.cancel_pending();

reset role;
