-- Queuing: which channels each message goes to, and its delivery to each.

set role watchpost_owner;

-- Security definer: the jobs change deliveries in no other way.
-- The first messages of alerts that go out or wait, to the channels of their zones: answers the alerts that have one now.
-- What was held goes out when its alert does. p_are_new: no message of them is there yet.
create function private.deliver_alerts(p_alert_ids uuid[], p_are_new boolean default false) returns uuid[]
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_told uuid[];
  v_older uuid[];
  v_ids uuid[];
  v_alert_ids uuid[];
  v_channel_ids uuid[];
begin
  if not p_are_new then
    perform private.cancel_deliveries(array(
      select d.id
      from watchpost.deliveries d
      join watchpost.alerts a on a.id = d.alert_id
      join watchpost.channels c on c.id = d.channel_id
      where d.alert_id = any(p_alert_ids) and d.status = 'held' and d.type = 'alert.raised' and a.status = 'pending'
        and not private.takes(c.messages, 'alert.raised')), 'The channel takes no alert.raised.');
  end if;
  with given as (
    -- Zones of an account that are told alike, so that its channels are asked for once.
    select z.owner_id, z.org_id, z.channel_ids, array_agg(a.id) as ids, array_agg(a.status) as states,
      array_agg(a.id) filter (where a.changed_in <> pg_current_xact_id()) as older
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id and z.deleted_at is null
    where a.id = any(p_alert_ids) and a.status in ('pending', 'held')
    group by z.owner_id, z.org_id, z.channel_ids
  ),
  sent as (
    -- The default of the trace would be worked out for each row.
    insert into watchpost.deliveries as d (alert_id, channel_id, type, status, trace)
    select a.id, c.id, 'alert.raised', case a.status when 'held' then 'held' else 'queued' end, (select private.current_trace())
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
    returning d.id, d.alert_id, d.channel_id, d.status
  )
  select array_agg(s.alert_id), (select array_agg(o.id) from given g cross join lateral unnest(g.older) as o (id)),
    array_agg(s.id) filter (where s.status = 'queued'), array_agg(s.alert_id) filter (where s.status = 'queued'),
    array_agg(s.channel_id) filter (where s.status = 'queued')
  into v_told, v_older, v_ids, v_alert_ids, v_channel_ids
  from sent s;
  -- What the triggers of private.note_delivery leave to this function. The other alerts changed in this transaction anyway.
  if v_older <> '{}' then
    perform from watchpost.alerts a where a.id = any(v_older) and a.id = any(v_told) order by a.id for no key update;
    update watchpost.alerts a
    set changed_in = pg_current_xact_id()
    where a.id = any(v_older) and a.id = any(v_told);
  end if;
  perform private.enqueue_deliveries(v_ids, v_alert_ids, v_channel_ids);
  return v_told;
end
$$;

-- An update of an alert, at once or held until p_held_until: to the channels its messages went to, or where
-- none of them is left to those of its zone now; and to those that take such updates but no first messages.
create function private.deliver_update(
  p_alert_id uuid, p_kind text, p_sequence integer, p_is_held boolean, p_held_until timestamptz
)
returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_type text := 'alert.' || p_kind;
  v_count bigint;
begin
  with told as (
    select distinct d.channel_id
    from watchpost.deliveries d
    join watchpost.alerts a on a.id = d.alert_id
    join watchpost.zones z on z.id = a.zone_id
    join watchpost.channels c on c.id = d.channel_id
    where d.alert_id = p_alert_id and d.status <> 'cancelled' and private.is_usable(c, z.owner_id)
  ),
  chosen as (
    select goes.channel_id, exists (select from watchpost.deliveries d where d.alert_id = a.id) as had_channels
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id and z.deleted_at is null
    cross join lateral private.zone_channels(z.owner_id, z.org_id, z.channel_ids) goes
    where a.id = p_alert_id
  ),
  sent as (
    insert into watchpost.deliveries (alert_id, channel_id, type, sequence, status, next_attempt_at)
    select p_alert_id, c.id, v_type, p_sequence, case when p_is_held then 'held' else 'queued' end, p_held_until
    from watchpost.channels c
    where (private.takes(c.messages, v_type)
        or p_is_held and p_kind <> 'revised' and private.takes(c.messages, 'alert.digest'))
      and (c.id in (select channel_id from told) or c.id in (
        select channel_id from chosen
        where not private.takes(c.messages, 'alert.raised') or had_channels and not exists (select from told)))
    on conflict do nothing
    returning id, channel_id, status
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count
  from sent s
  where s.status = 'queued';
end
$$;

-- What a person has done with an alert that was sent, at once: to the channels its messages went to, and to those that
-- take such a message but no first ones. An incident of PagerDuty would stay open, and an emergency of Pushover would ring
-- on, so they hear of it whatever they take; of the end of a drill, which nobody has resolved, they alone.
create function private.deliver_act(p_alert_id uuid, p_kind text) returns void
language plpgsql volatile set search_path = '' as $$
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
        or private.takes(c.messages, v_type) and (g.is_told or not private.takes(c.messages, 'alert.raised'))
          and (a.drill_id is null or p_kind <> 'resolved'))
    returning id, channel_id
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count from sent s;
end
$$;

-- Alerts whose first messages go out now: one that somebody has seen before opens no incident as if nobody had.
create function private.deliver_seen(p_alert_ids uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform private.deliver_act(a.id, 'acknowledged')
  from watchpost.alerts a
  where a.id = any(p_alert_ids) and a.status = 'pending' and a.seen_at is not null and not a.resolved;
end
$$;

-- The message of a step that is due, to channels that were told of the alert already or not. An alert that had no
-- channel, or reached none, is on its way again.
create function private.deliver_step(p_alert_id uuid, p_channel_ids uuid[], p_step jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_count bigint;
begin
  with sent as (
    insert into watchpost.deliveries (alert_id, channel_id, type, sequence, step)
    select a.id, given.id, 'alert.raised', jsonb_array_length(a.updates), p_step
    from watchpost.alerts a
    cross join lateral unnest(p_channel_ids) as given (id)
    where a.id = p_alert_id
    returning id, channel_id
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count from sent s;
  update watchpost.alerts set status = 'pending', updated_at = now()
  where id = p_alert_id and status in ('recorded', 'failed') and v_count > 0;
end
$$;

-- A message about a source, to the channels of blind_zones; that it is well again only to those that were told.
create function private.deliver_blindness(p_blindness_id uuid, p_type text) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_count bigint;
begin
  with sent as (
    insert into watchpost.deliveries (blindness_id, channel_id, type)
    select p_blindness_id, c.id, p_type
    from watchpost.channels c
    where c.id in (select n.channel_id from watchpost.blind_zones n where n.blindness_id = p_blindness_id)
      and c.deleted_at is null and private.takes(c.messages, p_type)
      and (p_type = 'zone.blind' or exists (
        select from watchpost.deliveries d
        where d.blindness_id = p_blindness_id and d.channel_id = c.id and d.type = 'zone.blind'
          and d.status in ('queued', 'sending', 'succeeded')))
    on conflict do nothing
    returning id, channel_id
  )
  select count(private.enqueue_delivery(s.id, s.channel_id)) into v_count from sent s;
end
$$;

-- A message about the trouble of a channel, through another channel of its owner.
create function private.deliver_trouble(p_trouble_id uuid, p_channel_id uuid, p_type text) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_id uuid;
begin
  insert into watchpost.deliveries (trouble_id, channel_id, type) values (p_trouble_id, p_channel_id, p_type)
  on conflict do nothing
  returning id into v_id;
  if v_id is not null then
    perform private.enqueue_delivery(v_id, p_channel_id);
  end if;
end
$$;
grant execute on function private.deliver_alerts, private.deliver_update to watchpost_jobs;

reset role;
