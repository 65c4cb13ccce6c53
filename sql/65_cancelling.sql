-- Cancelling: what is pending when its zone or channel is deleted.

set role watchpost_owner;

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
