-- Deliveries on request: a message sent once more, and the test of a channel.

set role watchpost_owner;

-- What a caller may have sent again of an alert or channel: messages, and why each is not sent; null: it
-- is. What a digest carries goes out with the digest. A drill is not sent again: another one can be made.
create function private.repeatable(p_alert_id uuid, p_channel_id uuid)
returns table (
  id uuid, carried uuid[], status text, is_repeated boolean, created_at timestamptz, ended_at timestamptz, reason text
)
language sql stable set search_path = '' as $$
  with messages as (
    select coalesce(d.digest_id, d.id) as id, array_agg(d.id) as carried
    from watchpost.deliveries d
    where (d.alert_id = p_alert_id or d.channel_id = p_channel_id) and d.type <> 'channel.test' and not private.is_drill(d)
    group by coalesce(d.digest_id, d.id)
  )
  select d.id, m.carried || d.id, d.status,
    exists (select from watchpost.deliveries again where again.redelivery_of = d.id),
    d.created_at, d.updated_at,
    case
      when d.status in ('queued', 'held', 'sending') or exists (
        select from watchpost.deliveries again
        where again.redelivery_of = d.id and again.status in ('queued', 'sending'))
        then 'It is on its way.'
      else private.refusal_of_delivery(d, c)
    end
  from messages m
  join watchpost.deliveries d on d.id = m.id
  join watchpost.channels c on c.id = d.channel_id
  where c.tenant_id = any(private.my_tenants())
$$;

-- The first message of an alert that had no channel, to those its zone has now. errcode WPNTS: none.
create function private.send_recorded(p_alert_id uuid) returns uuid[]
language plpgsql volatile set search_path = '' as $$
declare
  v_ids uuid[];
begin
  update watchpost.alerts a
  set status = 'pending', held_until = null, updated_at = now()
  from watchpost.zones z
  join watchpost.accounts p on p.user_id = z.owner_id
  where a.id = p_alert_id and z.id = a.zone_id and z.deleted_at is null and p.plan <> 'free'
    and not private.is_banned(p.banned_until);
  perform private.deliver_alerts(array[p_alert_id]);
  perform private.deliver_seen(array[p_alert_id]);
  v_ids := array(select id from watchpost.deliveries where alert_id = p_alert_id and status = 'queued');
  if v_ids = '{}' then
    raise exception 'The zone of this alert was deleted or paused, or has no channel that is switched on. GET /zones/:id has its channel_ids.'
      using errcode = 'WPNTS';
  end if;
  return v_ids;
end
$$;

-- Security definer: new deliveries for an alert, each with its job; which alert and channels is
-- decided here by the caller's right to write and to manage the zone. Answers {delivery_ids, skipped},
-- null for an alert that is not the caller's. errcode WP403; WP404 for a delivery it does not have; WPNTS
-- when nothing is sent.
create function private.redeliver(p_alert_id uuid, p_delivery_ids uuid[]) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_alert watchpost.alerts;
  v_found record;
  v_unknown uuid;
  v_sent uuid[] := '{}';
  v_skipped jsonb := '[]';
  v_states text[];
begin
  select * into v_alert from watchpost.alerts
  where id = p_alert_id and drill_id is null and tenant_id = any(private.my_tenants())
  for no key update;
  if not found then
    return null;
  end if;
  if not private.can_write() or not (
    v_alert.owner_id = private.uid() or coalesce(v_alert.org_id = any(private.admin_orgs()), false)) then
    raise exception 'only the owner or an admin can redeliver an alert' using errcode = 'WP403';
  end if;
  if (select count(*) from watchpost.deliveries where alert_id = p_alert_id and redelivery_of is not null) >= 100 then
    raise exception 'This alert has been redelivered 100 times. See what the channel answers: GET /channels/:id/deliveries.'
      using errcode = 'WP409';
  end if;
  if p_delivery_ids is null and v_alert.status = 'recorded' then
    v_sent := private.send_recorded(p_alert_id);
  else
    select given.id into v_unknown
    from unnest(p_delivery_ids) as given (id)
    where not exists (select from private.repeatable(p_alert_id, null) m where given.id = any(m.carried));
    if found then
      raise exception 'delivery %', v_unknown using errcode = 'WP404';
    end if;
    select case
      when bool_or(m.status in ('failed', 'expired') and not m.is_repeated) then array['failed', 'expired']
      else array['cancelled']
    end into v_states
    from private.repeatable(p_alert_id, null) m;
    for v_found in
      select m.id, m.reason, coalesce(given.id, m.id) as asked
      from private.repeatable(p_alert_id, null) m
      left join lateral (select g.id from unnest(p_delivery_ids) as g (id) where g.id = any(m.carried) limit 1) given on true
      where case when p_delivery_ids is null then m.status = any(v_states) and not m.is_repeated else given.id is not null end
      order by m.created_at, m.id
    loop
      if v_found.reason is null then
        v_sent := v_sent || private.repeat_delivery(v_found.id);
      else
        v_skipped := v_skipped || jsonb_build_object('delivery_id', v_found.asked, 'reason', v_found.reason);
      end if;
    end loop;
  end if;
  if v_sent = '{}' then
    raise exception '%', coalesce(
      (select string_agg(format('Delivery %s: %s', s ->> 'delivery_id', s ->> 'reason'), ' ') from jsonb_array_elements(v_skipped) s),
      case
        when exists (select from private.repeatable(p_alert_id, null) m where m.reason = 'It is on its way.')
          then 'What is to be sent of this alert is on its way.'
        when v_alert.status = 'suppressed'
          then 'The alert was suppressed by a snooze or by quiet hours, so that no delivery was made.'
        else 'No delivery of this alert failed or was cancelled. Name those to send again in "delivery_ids".'
      end) using errcode = 'WPNTS';
  end if;
  perform private.record_audit('alert.redelivered', 'alert', p_alert_id::text,
    v_alert.owner_id || private.admins_of(array[v_alert.org_id]), jsonb_build_object('deliveries', cardinality(v_sent)));
  return jsonb_build_object('delivery_ids', v_sent, 'skipped', v_skipped);
end
$$;
grant execute on function private.redeliver to authenticated;

-- Security definer: what failed or was cancelled since p_since on one of the caller's channels once more,
-- the oldest first and up to p_limit messages. Answers {recovered, remaining, skipped}, null for a channel
-- that is not the caller's. errcode WPNTS when nothing is sent.
create function private.recover_channel(p_channel_id uuid, p_since timestamptz, p_limit integer) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_channel watchpost.channels;
  v_ids uuid[];
  v_skipped jsonb;
begin
  select * into v_channel from watchpost.channels c
  where c.id = p_channel_id and c.deleted_at is null and private.can_write()
    and (c.owner_id = private.uid() or c.org_id = any(private.admin_orgs()))
  for no key update;
  if not found then
    return null;
  end if;
  with lost as materialized (
    select m.* from private.repeatable(null, p_channel_id) m
    where m.status in ('failed', 'expired', 'cancelled') and not m.is_repeated and m.ended_at >= p_since
  )
  select array(select l.id from lost l where l.reason is null order by l.created_at, l.id), coalesce((
    select jsonb_agg(jsonb_build_object('reason', r.reason, 'count', r.count) order by r.count desc, r.reason)
    from (select l.reason, count(*) from lost l where l.reason is not null group by l.reason) r), '[]')
  into v_ids, v_skipped;
  if v_ids = '{}' then
    raise exception '%', coalesce(
      (select string_agg(format('%s (%s)', s ->> 'reason', s ->> 'count'), ' ') from jsonb_array_elements(v_skipped) s),
      format('Nothing that was sent to this channel failed or was cancelled since %s.', private.iso(p_since)))
      using errcode = 'WPNTS';
  end if;
  perform private.repeat_delivery(given.id) from unnest(v_ids[:p_limit]) with ordinality as given (id, nr);
  perform private.record_audit('channel.recovered', 'channel', p_channel_id::text,
    v_channel.owner_id || private.admins_of(array[v_channel.org_id]),
    jsonb_build_object('since', private.iso(p_since), 'deliveries', least(cardinality(v_ids), p_limit)));
  return jsonb_build_object(
    'recovered', least(cardinality(v_ids), p_limit),
    'remaining', greatest(cardinality(v_ids) - p_limit, 0),
    'skipped', v_skipped);
end
$$;
grant execute on function private.recover_channel to authenticated;

-- Security definer: a marked test to one of the caller's channels, sent at once by the API; it has no job.
create function private.begin_test(p_channel_id uuid, p_payload text) returns uuid
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_id uuid;
begin
  if (select count(*) from watchpost.deliveries
      where channel_id = p_channel_id and type = 'channel.test' and created_at > now() - interval '1 day') >= 100 then
    raise exception 'This channel has been tested 100 times in the last 24 hours. Wait, or see what it answered: GET /channels/:id/deliveries.'
      using errcode = 'WP409';
  end if;
  select private.add_test(c.id, p_payload) into v_id
  from watchpost.channels c
  where c.id = p_channel_id and c.deleted_at is null and private.can_write()
    and (c.owner_id = private.uid() or c.org_id = any(private.admin_orgs()));
  if v_id is not null then
    perform private.record_audit('channel.tested', 'channel', c.id::text, c.owner_id || private.admins_of(array[c.org_id]))
    from watchpost.channels c where c.id = p_channel_id;
  end if;
  return v_id;
end
$$;

create function private.end_test(
  p_delivery_id uuid, p_outcome text, p_status_code integer, p_duration_ms integer, p_error text, p_excerpt text,
  p_request_id text
)
returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform from watchpost.deliveries d
  join watchpost.channels c on c.id = d.channel_id
  where d.id = p_delivery_id and d.status = 'sending' and d.type = 'channel.test'
    and private.can_write() and c.tenant_id = any(private.my_tenants())
  for update of d;
  if found then
    perform private.settle_delivery(
      p_delivery_id, case when p_outcome = 'ok' then 'succeeded' else 'failed' end, p_error, null);
    insert into watchpost.delivery_attempts (
      delivery_id, attempt, outcome, status_code, duration_ms, error, response_excerpt, request_id)
    values (p_delivery_id, 1, p_outcome, p_status_code, p_duration_ms, p_error, p_excerpt, p_request_id);
  end if;
end
$$;
grant execute on function private.begin_test, private.end_test to authenticated;

reset role;
