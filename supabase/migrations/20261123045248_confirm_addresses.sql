set role watchpost_owner;

alter table watchpost.channels
  add column confirmation_id uuid,
  add column confirmed_at timestamptz,
  drop constraint channels_status_check,
  add constraint channels_status_check check (status in ('ok', 'failing', 'disabled', 'unconfirmed'));
comment on column watchpost.channels.status is 'ok, failing (it is retried) or disabled, written by the delivery job; unconfirmed until its address is confirmed.';
comment on column watchpost.channels.confirmation_id is 'What the link in a mail names to confirm the address, another one for each address; null: a kind that needs none.';
comment on column watchpost.channels.confirmed_at is 'When a reader confirmed the address; null: nothing else is sent to it yet.';

alter table watchpost.deliveries
  drop constraint deliveries_type_check,
  add constraint deliveries_type_check
    check (type ~ '^(alert\.(raised|revised|escalated|ended|retracted|digest)|zone\.(blind|sighted)|channel\.(failing|recovered|test|confirmation))$');
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.add_confirmation(p_channel_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_id uuid;
begin
  perform private.cancel_deliveries(array(
    select d.id from watchpost.deliveries d
    where d.channel_id = p_channel_id and d.type = 'channel.confirmation' and d.status = 'queued'),
    'Another confirmation was asked for.');
  insert into watchpost.deliveries (channel_id, type, payload)
  values (p_channel_id, 'channel.confirmation',
    jsonb_build_object('timestamp', private.iso(now()), 'alert', null, 'zone', null)::text)
  returning id into v_id;
  perform private.enqueue_delivery(v_id, p_channel_id);
end
$function$;

CREATE OR REPLACE FUNCTION private.address_behind_link(p_channel_id uuid, p_confirmation_id uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select jsonb_build_object('language', c.language, 'is_confirmed', c.confirmed_at is not null)
  from watchpost.channels c
  where c.id = p_channel_id and c.confirmation_id = p_confirmation_id and c.deleted_at is null
$function$;

grant execute on function private.address_behind_link(uuid,uuid) to watchpost_api;

CREATE OR REPLACE FUNCTION private.begin_confirmation(p_channel_id uuid, p_mailbox text)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_channel watchpost.channels;
  v_budget record;
begin
  select * into v_channel
  from watchpost.channels c
  where c.id = p_channel_id and c.deleted_at is null and private.can_write()
    and (c.owner_id = private.uid() or c.org_id = any(private.admin_orgs()));
  if not found then
    return null;
  end if;
  if v_channel.confirmation_id is null then
    raise exception 'A channel of this kind needs no confirmation.' using errcode = 'WP409';
  end if;
  if v_channel.confirmed_at is not null then
    raise exception 'The address of this channel is confirmed already.' using errcode = 'WP409';
  end if;
  select * into v_budget from private.consume('mailbox:' || p_mailbox, 3, interval '1 day');
  if v_budget.allowed then
    select * into v_budget from private.consume('mailboxes:' || private.uid(), 20, interval '1 day');
  end if;
  if not v_budget.allowed then
    return v_budget.retry_after;
  end if;
  perform private.add_confirmation(p_channel_id);
  perform private.record_audit('channel.confirmation_sent', 'channel', v_channel.id::text,
    v_channel.owner_id || private.admins_of(array[v_channel.org_id]));
  return 0;
end
$function$;

grant execute on function private.begin_confirmation(uuid,text) to authenticated;

CREATE OR REPLACE FUNCTION private.channel_before()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if new.kind = 'email' then
    if tg_op = 'INSERT' then
      new.confirmation_id := coalesce(new.confirmation_id, gen_random_uuid());
    elsif new.target_sealed <> old.target_sealed then
      new.confirmation_id := gen_random_uuid();
      new.confirmed_at := null;
    end if;
  end if;
  new.status := case
    when new.status = 'disabled' then 'disabled'
    when new.confirmation_id is not null and new.confirmed_at is null then 'unconfirmed'
    when new.status = 'unconfirmed' then 'ok'
    else new.status
  end;
  if tg_op = 'UPDATE' then
    if new.org_id is distinct from old.org_id and private.uid() is not null then
      if private.uid() <> old.owner_id and private.org_exists(old.org_id) then
        raise exception 'only the owner can share or unshare a channel' using errcode = 'WP403';
      end if;
      if new.org_id is not null and not new.org_id = any(private.admin_orgs()) then
        raise exception 'only an owner or admin can put a channel into an organisation' using errcode = 'WP403';
      end if;
    end if;
    new.updated_at := now();
    if new.target_sealed <> old.target_sealed or new.config_sealed is distinct from old.config_sealed then
      new.host := null;
    end if;
    if old.deleted_at is null or new.deleted_at is not null then
      return new;
    end if;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('channels:' || new.owner_id, 0));
  perform private.require_quota(new.owner_id, 'channels', (
    select count(*) + 1 from watchpost.channels where owner_id = new.owner_id and deleted_at is null));
  if tg_op = 'INSERT' then
    perform private.require_deleted_quota(new.owner_id, 'channels', (
      select count(*) from watchpost.channels
      where owner_id = new.owner_id and deleted_at > now() - interval '30 days'));
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION private.confirm_address(p_channel_id uuid, p_confirmation_id uuid, p_context jsonb DEFAULT '{}'::jsonb)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_is_first boolean;
begin
  if private.address_behind_link(p_channel_id, p_confirmation_id) is null then
    return 'gone';
  end if;
  perform set_config('request.jwt.claims', p_context::text, true);
  update watchpost.channels
  set confirmed_at = now()
  where id = p_channel_id and confirmation_id = p_confirmation_id and confirmed_at is null;
  v_is_first := found;
  perform set_config('request.jwt.claims', '', true);
  return case when v_is_first then 'confirmed' else 'already' end;
end
$function$;

grant execute on function private.confirm_address(uuid,uuid,jsonb) to watchpost_api;

CREATE OR REPLACE FUNCTION private.linked_alert(p_alert_id uuid, p_channel_id uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'alert_id', a.id, 'channel_id', c.id, 'channel', coalesce(c.label, c.kind), 'language', c.language, 'zone', a.zone_name,
    'title', coalesce(a.current, a.event) -> 'title', 'reason', a.reason, 'severity', a.severity,
    'raised_at', private.iso(a.raised_at), 'resolved', a.resolved, 'seen_at', private.iso(a.seen_at),
    'seen_via', a.seen_via, 'is_seen_here', coalesce(a.seen_channel_id = c.id, false))
  from watchpost.alerts a
  join watchpost.zones z on z.id = a.zone_id
  join watchpost.channels c on c.id = p_channel_id
  where a.id = p_alert_id and private.refusal_of(c, z) is null
    and exists (
      select from watchpost.deliveries d
      where d.alert_id = a.id and d.channel_id = c.id and (d.attempts > 0 or d.status in ('sending', 'succeeded')))
$function$;

CREATE OR REPLACE FUNCTION private.refusal_of(c watchpost.channels, z watchpost.zones)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select case
    when c.deleted_at is not null then 'The channel was deleted.'
    when not c.enabled then 'The channel is switched off.'
    when c.status = 'unconfirmed' then 'The address of the channel is not confirmed yet.'
    when z.deleted_at is not null then 'The zone was deleted.'
    when p.plan = 'free' then 'The account is below the Pro plan; its zones are paused.'
    when private.is_banned(p.banned_until) then 'The account is banned; its zones are paused.'
    when not private.is_usable(c, z.owner_id) then 'The owner of the zone no longer sees this channel.'
  end
  from watchpost.accounts p
  where p.user_id = z.owner_id
$function$;

CREATE OR REPLACE FUNCTION private.refusal_of_delivery(d watchpost.deliveries, c watchpost.channels)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select case
    when d.trouble_id is not null then (
      select case
        when c.deleted_at is not null then 'The channel was deleted.'
        when not c.enabled then 'The channel is switched off.'
        when c.status = 'unconfirmed' then 'The address of the channel is not confirmed yet.'
        when p.plan = 'free' or private.is_banned(p.banned_until) then 'The account is below the Pro plan or banned.'
      end
      from watchpost.accounts p
      where p.user_id = c.owner_id)
    when d.type = 'channel.confirmation' then case
      when c.deleted_at is not null then 'The channel was deleted.'
      when c.confirmed_at is not null then 'The address of the channel is confirmed already.'
    end
    when d.blindness_id is null then (
      select private.refusal_of(c, z)
      from watchpost.alerts a
      join watchpost.zones z on z.id = a.zone_id
      where a.id = d.alert_id)
    else (
      select case when bool_and(why is not null) is not false then coalesce(min(why), 'The zones were deleted.') end
      from (
        select private.refusal_of(c, z) as why
        from watchpost.blind_zones n
        join watchpost.zones z on z.id = n.zone_id
        where n.blindness_id = d.blindness_id and n.channel_id = d.channel_id) each)
  end
$function$;

CREATE OR REPLACE FUNCTION private.unsubscribe_address(p_channel_id uuid, p_confirmation_id uuid, p_context jsonb DEFAULT '{}'::jsonb)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_is_first boolean;
begin
  if private.address_behind_link(p_channel_id, p_confirmation_id) is null then
    return 'gone';
  end if;
  perform set_config('request.jwt.claims', p_context::text, true);
  update watchpost.channels
  set confirmed_at = null, enabled = false, status = 'disabled', failing_reason = null, failing_since = null,
      disabled_reason = 'Somebody unsubscribed with the link in one of its mails.'
  where id = p_channel_id and confirmation_id = p_confirmation_id and confirmed_at is not null;
  v_is_first := found;
  perform set_config('request.jwt.claims', '', true);
  return case when v_is_first then 'unsubscribed' else 'already' end;
end
$function$;

grant execute on function private.unsubscribe_address(uuid,uuid,jsonb) to watchpost_api;

CREATE OR REPLACE FUNCTION private.zone_reach(p_owner_id uuid, p_org_id uuid, p_channel_ids uuid[], p_escalation jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select jsonb_build_object('lost', private.lost_channels(p_owner_id, p_channel_ids),
    'steps', private.steps_reach(p_owner_id, p_escalation), 'unconfirmed', (
      select count(*)
      from private.zone_channels(p_owner_id, p_org_id, p_channel_ids) goes
      join watchpost.channels c on c.id = goes.channel_id
      where c.status = 'unconfirmed'), 'is_reached', case
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

reset check_function_bodies;
reset role;
