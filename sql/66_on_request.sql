-- Deliveries on request: a message sent once more, and the test of a channel.

set role watchpost_owner;

-- Security definer: new deliveries for an alert, each with its job; which alert and channels is
-- decided here by the caller's right to write and to manage the zone. errcode WP403 otherwise.
create function private.redeliver(p_alert_id uuid, p_delivery_ids uuid[]) returns setof uuid
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_alert watchpost.alerts;
  v_old uuid;
  v_count integer := 0;
begin
  select * into v_alert from watchpost.alerts where id = p_alert_id and tenant_id = any(private.my_tenants());
  if not found then
    return;
  end if;
  if not private.can_write() or not (
    v_alert.owner_id = private.uid() or coalesce(v_alert.org_id = any(private.admin_orgs()), false)) then
    raise exception 'only the owner or an admin can redeliver an alert' using errcode = 'WP403';
  end if;
  if (select count(*) from watchpost.deliveries where alert_id = p_alert_id and redelivery_of is not null) >= 100 then
    raise exception 'This alert has been redelivered 100 times. See what the channel answers: GET /channels/:id/deliveries.'
      using errcode = 'WP409';
  end if;
  for v_old in
    select d.id
    from watchpost.deliveries d
    join watchpost.channels c on c.id = d.channel_id
    where d.alert_id = p_alert_id
      and c.deleted_at is null
      and c.tenant_id = any(private.my_tenants())
      and case
        when p_delivery_ids is null then d.status in ('failed', 'expired')
        else d.id = any(p_delivery_ids)
      end
      and not exists (
        select from watchpost.deliveries again
        where again.redelivery_of = d.id and again.status in ('queued', 'sending'))
  loop
    v_count := v_count + 1;
    return next private.repeat_delivery(v_old);
  end loop;
  if v_count > 0 then
    perform private.record_audit('alert.redelivered', 'alert', p_alert_id::text,
      v_alert.owner_id || private.admins_of(array[v_alert.org_id]), jsonb_build_object('deliveries', v_count));
  end if;
end
$$;
grant execute on function private.redeliver to authenticated;

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
  p_delivery_id uuid, p_outcome text, p_status_code integer, p_duration_ms integer, p_error text, p_excerpt text
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
      delivery_id, attempt, outcome, status_code, duration_ms, error, response_excerpt)
    values (p_delivery_id, 1, p_outcome, p_status_code, p_duration_ms, p_error, p_excerpt);
  end if;
end
$$;
grant execute on function private.begin_test, private.end_test to authenticated;

reset role;
