-- Releasing: what becomes of the alerts and updates that a zone has held.

set role watchpost_owner;

-- What was held and whose time has come (alerts, and updates of alerts) becomes one digest per channel,
-- or is cancelled when the zone was switched off or snoozed meanwhile. p_early: its time has come now, but that of a
-- burst only at p_burst_until, where one goes on.
-- Says how many alerts. Security definer, because it locks the zone, which the jobs may only read: one release of a zone at
-- a time, or what two find held would go out in two digests.
create function private.release_held(
  p_zone_id uuid, p_early boolean default false, p_burst_until timestamptz default null
)
returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_zone watchpost.zones;
  v_alerts uuid[];
  v_held uuid[];
  v_released uuid[];
  v_sent uuid[];
begin
  select * into v_zone from watchpost.zones where id = p_zone_id for no key update;
  if not found or v_zone.deleted_at is not null then
    return 0;
  end if;
  if p_early then
    update watchpost.alerts a
    set held_until = greatest(now(), case when private.is_bundled(a) then p_burst_until end), updated_at = now()
    where a.zone_id = p_zone_id and a.status = 'held'
      and a.held_until > greatest(now(), case when private.is_bundled(a) then p_burst_until end);
    perform private.end_hold(p_zone_id);
    perform private.enqueue(
      'release', gen_random_uuid(), jsonb_build_object('zone_id', p_zone_id), p_burst_until)
    where p_burst_until > now();
  end if;
  select array_agg(a.id) into v_alerts
  from (
    select id from watchpost.alerts
    where zone_id = p_zone_id and status = 'held' and held_until <= now()
    for update
  ) a;
  perform private.reroute_alerts(v_alerts);
  select array_agg(d.id), v_alerts || array_agg(d.alert_id) into v_held, v_alerts
  from watchpost.deliveries d
  join watchpost.alerts a on a.id = d.alert_id
  where a.zone_id = p_zone_id and d.status = 'held' and coalesce(d.next_attempt_at, a.held_until) <= now();
  if v_alerts is null then
    return 0;
  end if;
  if not v_zone.enabled or v_zone.snoozed_until > now() then
    perform private.cancel_deliveries(v_held, 'The zone was switched off or snoozed.');
    update watchpost.alerts set status = 'suppressed', updated_at = now()
    where id = any(v_alerts) and status = 'held';
    return 0;
  end if;
  v_released := array(select a.id from watchpost.alerts a where a.id = any(v_alerts) and a.status = 'held');
  v_sent := array(
    select id from unnest(v_released) as released (id)
    union
    select d.alert_id from watchpost.deliveries d where d.id = any(v_held) and d.type = 'alert.escalated');
  perform private.release_deliveries(v_held);
  update watchpost.alerts a
  set status = case
        when exists (select from watchpost.deliveries d where d.alert_id = a.id and d.status <> 'cancelled')
          then 'pending' else 'recorded' end,
      updated_at = now()
  where a.id = any(v_released);
  perform private.deliver_seen(v_released);
  perform private.start_steps(v_sent);
  return (select count(distinct id) from unnest(v_alerts) as released (id));
end
$$;
grant execute on function private.release_held to watchpost_jobs;

reset role;
