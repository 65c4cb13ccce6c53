-- What people do with alerts. Through the link of a message whoever holds it may say that the alert was seen, and nothing
-- else. Signed-in people update the row itself, see functions/api/alerts.ts.

set role watchpost_owner;

-- What the holder of a link may know of its alert; null: the channel was never sent it, or gets nothing about its zone
-- any more. Names nobody, and no other channel.
create function private.linked_alert(p_alert_id uuid, p_channel_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'channel', coalesce(c.label, c.kind), 'language', c.language, 'time_zone', c.time_zone, 'zone', a.zone_name,
    'title', coalesce(a.current, a.event) -> 'title', 'facts', private.facts_json(a), 'resolved', a.resolved,
    'drill', case when a.drill_id is not null then a.event -> 'type' end,
    'seen_at', private.iso(a.seen_at), 'seen_via', a.seen_via, 'is_seen_here', coalesce(a.seen_channel_id = c.id, false))
  from watchpost.alerts a
  join watchpost.zones z on z.id = a.zone_id
  join watchpost.channels c on c.id = p_channel_id
  where a.id = p_alert_id and private.refusal_of(c, z) is null
    and exists (
      select from watchpost.deliveries d
      where d.alert_id = a.id and d.channel_id = c.id and (d.attempts > 0 or d.status in ('sending', 'succeeded')))
$$;

-- Security definer, both, because whoever opens a link is nobody that policies know. The API has verified that it made
-- the link for this alert and channel.
-- What the page of a link shows before anything is done: as private.linked_alert.
create function private.alert_behind_link(p_alert_id uuid, p_channel_id uuid) returns jsonb
language sql stable security definer set search_path = '' as $$
  select private.linked_alert(p_alert_id, p_channel_id)
$$;

-- Acknowledges an alert in the name of a channel: outcome is `acknowledged`, `already` (by the first one, who keeps it)
-- or `gone`, and alert what private.linked_alert tells afterwards. p_context: ip, user_agent and request_id, for the
-- audit log.
create function private.acknowledge_alert(p_alert_id uuid, p_channel_id uuid, p_context jsonb default '{}')
returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_is_first boolean;
begin
  perform from watchpost.alerts where id = p_alert_id for no key update;
  if private.linked_alert(p_alert_id, p_channel_id) is null then
    return '{"outcome": "gone", "alert": null}';
  end if;
  perform set_config('request.jwt.claims', p_context::text, true);
  update watchpost.alerts
  set seen_at = now(), seen_via = 'channel', seen_channel_id = p_channel_id, updated_at = now()
  where id = p_alert_id and seen_at is null;
  v_is_first := found;
  perform set_config('request.jwt.claims', '', true);
  return jsonb_build_object(
    'outcome', case when v_is_first then 'acknowledged' else 'already' end,
    'alert', private.linked_alert(p_alert_id, p_channel_id));
end
$$;
-- What a person does with an alert that was sent is told to its channels, whichever way it was done. Resolving one
-- acknowledges it too, and is told alone. An escalation reopens an alert and has a message of its own; it also takes
-- back that somebody has seen it. Security definer: whoever acts may write no deliveries.
create function private.tell_act() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform private.deliver_act(new.id, case
    when new.resolved = old.resolved then 'acknowledged'
    when new.resolved then 'resolved'
    else 'reopened'
  end);
  return null;
end
$$;
create trigger alerts_acts after update of seen_at, resolved on watchpost.alerts
  for each row when (
    new.status in ('pending', 'dispatched', 'failed')
    and (new.seen_at is not null and old.seen_at is null or new.resolved and not old.resolved
      or old.resolved and not new.resolved and new.seen_at is not null))
  execute function private.tell_act();
grant execute on function private.alert_behind_link, private.acknowledge_alert to watchpost_api;

reset role;
