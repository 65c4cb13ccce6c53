set role watchpost_owner;
set check_function_bodies = off;

create table watchpost.channel_troubles (
  id uuid primary key default gen_random_uuid(),
  channel_id uuid not null references watchpost.channels on delete cascade,
  status text not null check (status in ('failing', 'disabled')),
  reason text not null,
  began_at timestamptz not null,
  told_at timestamptz,
  told_through uuid references watchpost.channels on delete set null,
  well_at timestamptz,
  ended_at timestamptz
);
comment on table watchpost.channel_troubles is 'A time in which nothing reached a channel. One that ended before its owner was told is deleted.';
comment on column watchpost.channel_troubles.status is 'With reason: how the channel was, as its owner heard it.';
comment on column watchpost.channel_troubles.told_at is 'When its owner was told; null: not yet, for want of another channel.';
comment on column watchpost.channel_troubles.told_through is 'The channel that its owner was told through.';
comment on column watchpost.channel_troubles.well_at is 'Since when the channel has been well again, without a relapse; null: it is not.';
comment on column watchpost.channel_troubles.ended_at is 'When the channel had been well for long enough, or was switched off or deleted; null: it goes on.';
alter table watchpost.channel_troubles enable row level security;
alter table watchpost.channel_troubles force row level security;

alter table watchpost.deliveries add column trouble_id uuid references watchpost.channel_troubles on delete cascade;
alter table watchpost.deliveries
  drop constraint deliveries_type_check,
  add constraint deliveries_type_check check (type ~ '^(alert\.(raised|revised|escalated|ended|retracted|digest)|zone\.(blind|sighted)|channel\.(failing|recovered|test))$'),
  add check ((type in ('channel.failing', 'channel.recovered')) = (trouble_id is not null));
comment on column watchpost.deliveries.alert_id is 'Null for a test, and for a message about a source or a channel.';
comment on column watchpost.deliveries.trouble_id is 'Of a message about another channel: what it tells of.';

CREATE OR REPLACE FUNCTION private.deliver_trouble(p_trouble_id uuid, p_channel_id uuid, p_type text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION private.is_in_trouble(c watchpost.channels)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select c.deleted_at is null and (
    c.status = 'failing' and c.failing_since <= now() - interval '15 minutes'
    or c.status = 'disabled' and c.disabled_reason <> 'It was switched off.')
$function$;

CREATE OR REPLACE FUNCTION private.notification_json(d watchpost.deliveries)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select case
    when d.trouble_id is not null then private.trouble_json(d.trouble_id, d.type)
    when d.blindness_id is null then private.alerts_json(d)
    else private.blindness_json(d)
  end
$function$;

CREATE OR REPLACE FUNCTION private.purge(p_batch integer DEFAULT 2000)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_count integer := 0;
begin
  v_count := v_count + private.purge_revisions(p_batch);
  v_count := v_count + private.purge_mainshocks(p_batch);
  v_count := v_count + private.purge_events(p_batch);
  v_count := v_count + private.purge_batches(p_batch);
  v_count := v_count + private.purge_attempts(p_batch);
  v_count := v_count + private.purge_alerts(p_batch);
  v_count := v_count + private.purge_tests(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_blindness(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_troubles(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_audit(p_batch);
  v_count := v_count + private.purge_memory(p_batch);
  v_count := v_count + private.purge_versions(p_batch);
  v_count := v_count + private.purge_account_states(p_batch);
  v_count := v_count + private.purge_deleted(p_batch);
  v_count := v_count + private.purge_changes(p_batch);
  perform private.keep_change_history();
  perform private.end_interrupted_tests();
  perform private.purge_credentials();
  perform private.purge_hosts();
  perform private.purge_positions();
  delete from watchpost.source_hours where hour < now() - interval '7 days';
  perform private.measure_silence();
  perform private.measure_accepted();
  perform private.measure_delivery();
  return v_count;
end
$function$;

CREATE OR REPLACE FUNCTION private.purge_tests(p_before timestamp with time zone, p_batch integer)
 RETURNS integer
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  with gone as (
    delete from watchpost.deliveries where id in (
      select id from watchpost.deliveries where alert_id is null and blindness_id is null and trouble_id is null and created_at < p_before limit p_batch)
    returning 1)
  select count(*)::integer from gone
$function$;

CREATE OR REPLACE FUNCTION private.purge_troubles(p_before timestamp with time zone, p_batch integer)
 RETURNS integer
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  with gone as (
    delete from watchpost.channel_troubles where id in (
      select id from watchpost.channel_troubles where ended_at < p_before limit p_batch)
    returning 1)
  select count(*)::integer from gone
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
        when p.plan = 'free' or private.is_banned(p.banned_until) then 'The account is below the Pro plan or banned.'
      end
      from watchpost.accounts p
      where p.user_id = c.owner_id)
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

CREATE OR REPLACE FUNCTION private.repeat_delivery(p_id uuid)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_new record;
begin
  insert into watchpost.deliveries (alert_id, blindness_id, trouble_id, channel_id, type, sequence, redelivery_of)
  select alert_id, blindness_id, trouble_id, channel_id, type, sequence, id from watchpost.deliveries where id = p_id
  returning id, channel_id into v_new;
  insert into watchpost.deliveries (alert_id, channel_id, type, sequence, redelivery_of, digest_id)
  select alert_id, channel_id, type, sequence, id, v_new.id from watchpost.deliveries where digest_id = p_id;
  perform private.enqueue_delivery(v_new.id, v_new.channel_id);
  return v_new.id;
end
$function$;

CREATE OR REPLACE FUNCTION private.teller_for(c watchpost.channels)
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return (
    select r.id
    from watchpost.channels r
    join watchpost.accounts p on p.user_id = r.owner_id
    where r.owner_id = c.owner_id and r.id <> c.id and r.deleted_at is null and r.enabled and r.status = 'ok'
      and (r.org_id is null or r.org_id is not distinct from c.org_id)
      and private.takes(r.messages, 'channel.failing') and p.plan <> 'free' and not private.is_banned(p.banned_until)
    order by (r.kind, r.host) is distinct from (c.kind, c.host) desc, (
      select max(d.delivered_at) from watchpost.deliveries d
      where d.channel_id = r.id and d.status = 'succeeded' and d.created_at > now() - interval '30 days') desc nulls last,
      r.created_at, r.id
    limit 1);
end
$function$;

CREATE OR REPLACE FUNCTION private.trouble_json(p_trouble_id uuid, p_type text)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'timestamp', private.iso(case p_type when 'channel.failing' then t.told_at else t.ended_at end),
    'alert', null,
    'zone', null,
    'channel', jsonb_build_object(
      'id', c.id, 'kind', c.kind, 'label', c.label,
      'status', case p_type when 'channel.failing' then t.status else 'ok' end,
      'since', private.iso(t.began_at), 'reason', t.reason)
      || case when p_type = 'channel.failing' then '{}' else jsonb_build_object(
        'until', private.iso(t.well_at),
        'failing_seconds', round(extract(epoch from t.well_at - t.began_at))) end)
  from watchpost.channel_troubles t
  join watchpost.channels c on c.id = t.channel_id
  where t.id = p_trouble_id
$function$;

CREATE OR REPLACE FUNCTION private.watch_channel(c watchpost.channels)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  t watchpost.channel_troubles;
  v_teller uuid;
begin
  if private.is_in_trouble(c) then
    insert into watchpost.channel_troubles as o (channel_id, status, reason, began_at)
    values (c.id, c.status, coalesce(c.failing_reason, c.disabled_reason, 'It fails.'), coalesce(c.failing_since, now()))
    on conflict (channel_id) where ended_at is null do update
    set well_at = null,
        status = case when o.told_at is null then excluded.status else o.status end,
        reason = case when o.told_at is null then excluded.reason else o.reason end
    returning * into t;
    v_teller := case when t.told_at is null then private.teller_for(c) end;
    if v_teller is null then
      return null;
    end if;
    update watchpost.channel_troubles set told_at = now(), told_through = v_teller where id = t.id;
    perform private.deliver_trouble(t.id, v_teller, 'channel.failing');
    return 'failing';
  end if;
  select * into t from watchpost.channel_troubles o where o.channel_id = c.id and o.ended_at is null for update;
  if t.told_at is null then
    delete from watchpost.channel_troubles where id = t.id;
  elsif c.deleted_at is not null or not c.enabled then
    update watchpost.channel_troubles set ended_at = now() where id = t.id;
  elsif c.status <> 'ok' then
    update watchpost.channel_troubles set well_at = null where id = t.id;
  elsif t.well_at is null then
    update watchpost.channel_troubles set well_at = now() where id = t.id;
  elsif t.well_at <= now() - interval '5 minutes' and exists (
    select from watchpost.deliveries d
    where d.channel_id = c.id and d.status = 'succeeded' and d.delivered_at > t.began_at) then
    update watchpost.channel_troubles set ended_at = now() where id = t.id;
    if t.told_through is not null then
      perform private.deliver_trouble(t.id, t.told_through, 'channel.recovered');
    end if;
    return 'recovered';
  -- Its owner has mended it, and nothing was sent since: not worth a message.
  elsif t.well_at <= now() - interval '1 day' then
    update watchpost.channel_troubles set ended_at = now() where id = t.id;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION private.watch_channels()
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  c watchpost.channels;
  v_told text;
  v_all jsonb := '[]';
begin
  if not pg_try_advisory_xact_lock(hashtextextended('watch_channels', 0)) then
    return v_all;
  end if;
  for c in
    select x.* from watchpost.channels x
    where x.id in (select t.channel_id from watchpost.channel_troubles t where t.ended_at is null)
      -- What was disabled long ago is no news.
      or x.status <> 'ok' and private.is_in_trouble(x) and (x.status = 'failing' or x.updated_at > now() - interval '1 day')
    order by x.id
  loop
    v_told := private.watch_channel(c);
    if v_told is not null then
      v_all := v_all || jsonb_build_object('channel_id', c.id, 'told', v_told);
    end if;
  end loop;
  return v_all;
end
$function$;

grant execute on function private.watch_channels() to watchpost_jobs;

CREATE INDEX channel_troubles_channel_id ON watchpost.channel_troubles USING btree (channel_id);

CREATE INDEX channel_troubles_ended_at ON watchpost.channel_troubles USING btree (ended_at);

CREATE UNIQUE INDEX channel_troubles_open ON watchpost.channel_troubles USING btree (channel_id) WHERE (ended_at IS NULL);

CREATE INDEX channel_troubles_told_through ON watchpost.channel_troubles USING btree (told_through) WHERE (told_through IS NOT NULL);

CREATE INDEX deliveries_trouble_id ON watchpost.deliveries USING btree (trouble_id) WHERE (trouble_id IS NOT NULL);

CREATE UNIQUE INDEX deliveries_trouble_once ON watchpost.deliveries USING btree (trouble_id, type) WHERE (redelivery_of IS NULL);

reset check_function_bodies;
reset role;
