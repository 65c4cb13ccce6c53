set role watchpost_owner;
set check_function_bodies = off;

alter table watchpost.sources
  add column region box[],
  add column stand_ins jsonb not null default '[]',
  add column usual_accepted double precision,
  add column garbled_polls integer not null default 0,
  add column garbled_items integer not null default 0,
  add column delivery_p50 double precision,
  add column delivery_p95 double precision;
comment on column watchpost.sources.region is 'The part of the world that it watches; null: all of it.';
comment on column watchpost.sources.stand_ins is 'Which sources see what it sees: list of by, types, from_severity.';
comment on column watchpost.sources.usual_accepted is 'Which share of its items is usually accepted, 0 to 1; null: not known yet.';
comment on column watchpost.sources.garbled_polls is 'How many answers in a row had less than half of the usual share accepted; of a stream, minutes.';
comment on column watchpost.sources.garbled_items is 'How many items of those answers were rejected.';
comment on column watchpost.sources.delivery_p50 is 'With delivery_p95: seconds from when an event was first seen until its alert was delivered, in the last 24 hours.';

create table watchpost.source_hours (
  source text not null references watchpost.sources,
  hour timestamptz not null,
  items integer not null,
  rejected integer not null check (rejected between 0 and items),
  reason text,
  primary key (source, hour)
);
comment on table watchpost.source_hours is 'What the answers of a source had in an hour, and what of it could not be used. Kept for 7 days.';
comment on column watchpost.source_hours.reason is 'Why the last item was rejected; null: none was.';
alter table watchpost.source_hours enable row level security;
alter table watchpost.source_hours force row level security;

create table watchpost.blindness (
  id uuid primary key default gen_random_uuid(),
  source text not null references watchpost.sources,
  status text not null check (status in ('stale', 'down')),
  reason text not null,
  began_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  told_at timestamptz,
  well_at timestamptz,
  ended_at timestamptz
);
comment on table watchpost.blindness is 'A time in which a source was not well. One that ended before anybody was told is deleted.';
comment on column watchpost.blindness.status is 'With reason: how the source was, as those who were told heard it.';
comment on column watchpost.blindness.seen_at is 'When the source was looked at last; time in which nobody looked does not count.';
comment on column watchpost.blindness.told_at is 'When it reached the limit of the source and the zones were told; null: not yet.';
comment on column watchpost.blindness.well_at is 'Since when the source has been well again, without a relapse; null: it is not.';
comment on column watchpost.blindness.ended_at is 'When the source had been well for long enough; null: it goes on.';
alter table watchpost.blindness enable row level security;
alter table watchpost.blindness force row level security;

create table watchpost.blind_zones (
  blindness_id uuid not null references watchpost.blindness on delete cascade,
  channel_id uuid not null references watchpost.channels on delete cascade,
  zone_id uuid not null references watchpost.zones on delete cascade,
  primary key (blindness_id, channel_id, zone_id)
);
comment on table watchpost.blind_zones is 'Which channel was told of which zones when a source had failed for too long.';
alter table watchpost.blind_zones enable row level security;
alter table watchpost.blind_zones force row level security;


alter table watchpost.deliveries add column blindness_id uuid references watchpost.blindness on delete cascade;
alter table watchpost.deliveries
  drop constraint deliveries_type_check,
  add constraint deliveries_type_check check (type ~ '^(alert\.(raised|revised|escalated|ended|retracted|digest)|zone\.(blind|sighted)|channel\.test)$'),
  add check (starts_with(type, 'zone.') = (blindness_id is not null));
comment on column watchpost.deliveries.alert_id is 'Null for a test, and for a message about a source.';
comment on column watchpost.deliveries.blindness_id is 'Of a message about a source: what it tells of. Its zones are in blind_zones.';
comment on column support.deliveries_failing.zone is 'Zone of the alert; null without one.';
comment on column support.deliveries_failing.alert_id is 'The alert of the message; null for a test, and for one about a source.';

drop function private.sources_health();

CREATE OR REPLACE FUNCTION private.alerts_json(d watchpost.deliveries)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'timestamp', case when d.type = 'alert.digest' then private.iso(d.created_at) else coalesce(a.current, a.event) ->> 'ts' end,
    'alert', private.alert_json(a, d.channel_id),
    'zone', jsonb_build_object('id', a.zone_id, 'label', a.zone_name))
    || case when d.type = 'alert.digest' then jsonb_build_object('alerts', (
      select jsonb_agg(private.alert_json(held, d.channel_id) order by held.severity desc, held.raised_at, held.id)
      from watchpost.alerts held
      where held.id in (
        select carried.alert_id from watchpost.deliveries carried where carried.digest_id = d.id
        union select d.alert_id)
    )) else '{}' end
  from watchpost.alerts a
  where a.id = d.alert_id
$function$;

grant execute on function private.alerts_json(watchpost.deliveries) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.blind_after(s watchpost.sources)
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select greatest(3 * s.interval_seconds, 900) * interval '1 second'
$function$;

CREATE OR REPLACE FUNCTION private.blindness_json(d watchpost.deliveries)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  with named as (
    select z.id, z.label, row_number() over (order by z.created_at, z.id) as nr
    from watchpost.blind_zones n
    join watchpost.zones z on z.id = n.zone_id
    join watchpost.channels c on c.id = n.channel_id
    where n.blindness_id = d.blindness_id and n.channel_id = d.channel_id and private.refusal_of(c, z) is null
  )
  select jsonb_build_object(
    'timestamp', private.iso(case d.type when 'zone.blind' then b.told_at else b.ended_at end),
    'alert', null,
    'zone', null,
    'source', jsonb_build_object(
      'source', s.source, 'title', s.title, 'attribution', s.attribution,
      'status', case d.type when 'zone.blind' then b.status else 'ok' end,
      'since', private.iso(b.began_at), 'reason', b.reason)
      || case when d.type = 'zone.blind' then '{}' else jsonb_build_object(
        'until', private.iso(b.well_at),
        'blind_seconds', round(extract(epoch from b.well_at - b.began_at))) end,
    'zones', (
      select jsonb_agg(jsonb_build_object('id', z.id, 'label', z.label) order by z.nr) from named z where z.nr <= 25),
    'zones_total', (select count(*) from named))
  from watchpost.blindness b
  join watchpost.sources s on s.source = b.source
  where b.id = d.blindness_id
$function$;

CREATE OR REPLACE FUNCTION private.claim_delivery(p_id uuid)
 RETURNS TABLE(id uuid, channel_id uuid, kind text, type text, attempts integer, failures integer, target_sealed text, config_sealed text, secret_sealed text, former_sealed jsonb, paused_until timestamp with time zone, refusal text, payload text, first_attempt_at timestamp with time zone, used bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER ROWS 1
 SET search_path TO ''
AS $function$
begin
  -- A lock of its own: what follows sees what whoever held it has committed.
  perform from watchpost.deliveries d
  where d.id = p_id and d.status in ('queued', 'sending') and d.type <> 'channel.test'
  for update;
  if not found then
    return;
  end if;
  return query
    with facts as (
      select d.id, d.channel_id, c.kind, d.type, d.attempts, c.failures,
        c.target_sealed, c.config_sealed, c.signing_secret_sealed as secret_sealed,
        private.living_secrets(c.former_secrets_sealed) as former_sealed,
        case when c.paused_until > now() then c.paused_until end as paused_until,
        private.refusal_of_delivery(d, c) as refusal,
        case when d.payload is null then private.notification_json(d)::text end as notification
      from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      where d.id = p_id
    )
    update watchpost.deliveries d
    set status = case when f.refusal is null and f.paused_until is null then 'sending' else d.status end,
        payload = coalesce(d.payload, f.notification),
        first_attempt_at = coalesce(d.first_attempt_at, now()),
        updated_at = now()
    from facts f
    where d.id = f.id
    returning f.id, f.channel_id, f.kind, f.type, f.attempts, f.failures, f.target_sealed, f.config_sealed,
      f.secret_sealed, f.former_sealed, f.paused_until, f.refusal, d.payload, d.first_attempt_at,
      (select count(*) from watchpost.delivery_attempts t
       where t.delivery_id = d.id and t.status_code is distinct from 429);
end
$function$;

CREATE OR REPLACE FUNCTION private.count_items(p_source text, p_items integer, p_rejected integer, p_reason text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
  insert into watchpost.source_hours as h (source, hour, items, rejected, reason)
  values (p_source, date_trunc('hour', now(), 'UTC'), p_items, p_rejected, left(p_reason, 500))
  on conflict (source, hour) do update
  set items = h.items + excluded.items, rejected = h.rejected + excluded.rejected,
      reason = coalesce(excluded.reason, h.reason);
  update watchpost.sources s
  set garbled_polls = case when is_garbled then s.garbled_polls + 1 else 0 end,
      garbled_items = case when is_garbled then s.garbled_items + p_rejected else 0 end
  from (
    select o.source,
      p_items = p_rejected or p_items - p_rejected < p_items * coalesce(o.usual_accepted, 0) / 2 as is_garbled
    from watchpost.sources o where o.source = p_source
  ) judged
  where s.source = judged.source and (is_garbled or s.garbled_polls > 0)
$function$;

grant execute on function private.count_items(text,integer,integer,text) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.deliver_blindness(p_blindness_id uuid, p_type text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION private.is_blind_without(z watchpost.zones, s watchpost.sources)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select (z.sources is null or s.source = any(z.sources))
    and (z.types is null or z.types && s.types)
    and (s.region is null or exists (
      select from unnest(z.boxes) b, unnest(s.region) r where b operator(pg_catalog.&&) r))
    and exists (
      select from unnest(s.types) as given (type)
      where (z.types is null or given.type = any(z.types))
        and coalesce((s.ceilings ->> given.type)::integer, 100) * z.severity_multiplier >= z.min_severity
        and not exists (
          select from jsonb_array_elements(s.stand_ins) l
          join watchpost.sources o on o.source = l ->> 'by'
          where private.source_status(o) = 'ok'
            and (z.sources is null or o.source = any(z.sources))
            and (z.types is null or given.type = any(o.types))
            and l -> 'types' operator(pg_catalog.?) given.type
            and z.min_severity / z.severity_multiplier >= (l ->> 'from_severity')::double precision
            and (o.region is null or not exists (
              select from unnest(z.boxes) b
              where not exists (select from unnest(o.region) r where b operator(pg_catalog.<@) r)))))
$function$;

CREATE OR REPLACE FUNCTION private.is_garbled(s watchpost.sources)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select s.garbled_polls >= 3 and s.garbled_items >= 10
$function$;

CREATE OR REPLACE FUNCTION private.measure_accepted()
 RETURNS void
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  update watchpost.sources s
  set usual_accepted = h.accepted
  from (
    select source, 1 - sum(rejected)::double precision / sum(items) as accepted
    from watchpost.source_hours
    where hour > now() - interval '7 days'
    group by source
    having count(*) >= 12
  ) h
  where s.source = h.source and s.garbled_polls = 0 and s.usual_accepted is distinct from h.accepted
$function$;

CREATE OR REPLACE FUNCTION private.measure_delivery()
 RETURNS void
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  update watchpost.sources s
  set delivery_p50 = m.p50, delivery_p95 = m.p95
  from watchpost.sources o
  left join (
    select a.source,
      percentile_cont(0.5) within group (order by extract(epoch from (d.delivered_at - a.raised_at))) as p50,
      percentile_cont(0.95) within group (order by extract(epoch from (d.delivered_at - a.raised_at))) as p95
    from watchpost.alerts a
    join watchpost.deliveries d on d.alert_id = a.id
    where a.raised_at > now() - interval '24 hours' and a.held_until is null
      and d.type = 'alert.raised' and d.status = 'succeeded' and d.redelivery_of is null
    group by a.source
    having count(*) >= 5
  ) m on m.source = o.source
  where s.source = o.source and (s.delivery_p50, s.delivery_p95) is distinct from (m.p50, m.p95)
$function$;

CREATE OR REPLACE FUNCTION private.note_blind_zones(p_id uuid)
 RETURNS void
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  with blind as materialized (
    select z.id, z.owner_id, z.org_id, z.channel_ids
    from watchpost.blindness b
    join watchpost.sources s on s.source = b.source
    cross join watchpost.zones z
    join watchpost.accounts p on p.user_id = z.owner_id
    where b.id = p_id and z.enabled and z.deleted_at is null
      and (z.snoozed_until is null or z.snoozed_until <= now())
      and p.plan <> 'free' and not private.is_banned(p.banned_until)
      and private.is_blind_without(z, s)
  )
  insert into watchpost.blind_zones (blindness_id, channel_id, zone_id)
  select p_id, c.id, z.id
  from blind z
  cross join lateral private.zone_channels(z.owner_id, z.org_id, z.channel_ids) goes
  join watchpost.channels c on c.id = goes.channel_id
  where private.takes(c.messages, 'zone.blind')
$function$;

CREATE OR REPLACE FUNCTION private.notification_json(d watchpost.deliveries)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select case when d.blindness_id is null then private.alerts_json(d) else private.blindness_json(d) end
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
  v_count := v_count + private.purge_events(p_batch);
  v_count := v_count + private.purge_batches(p_batch);
  v_count := v_count + private.purge_attempts(p_batch);
  v_count := v_count + private.purge_alerts(p_batch);
  v_count := v_count + private.purge_tests(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_blindness(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_audit(p_batch);
  v_count := v_count + private.purge_memory(p_batch);
  v_count := v_count + private.purge_versions(p_batch);
  v_count := v_count + private.purge_account_states(p_batch);
  v_count := v_count + private.purge_deleted(p_batch);
  v_count := v_count + private.purge_changes(p_batch);
  perform private.keep_change_history();
  perform private.end_interrupted_tests();
  perform private.purge_credentials();
  perform private.purge_positions();
  delete from watchpost.source_hours where hour < now() - interval '7 days';
  perform private.measure_silence();
  perform private.measure_accepted();
  perform private.measure_delivery();
  return v_count;
end
$function$;

CREATE OR REPLACE FUNCTION private.purge_blindness(p_before timestamp with time zone, p_batch integer)
 RETURNS integer
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  with gone as (
    delete from watchpost.blindness where id in (
      select id from watchpost.blindness where ended_at < p_before limit p_batch)
    returning 1)
  select count(*)::integer from gone
$function$;

CREATE OR REPLACE FUNCTION private.purge_tests(p_before timestamp with time zone, p_batch integer)
 RETURNS integer
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  with gone as (
    delete from watchpost.deliveries where id in (
      select id from watchpost.deliveries where alert_id is null and blindness_id is null and created_at < p_before limit p_batch)
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
  insert into watchpost.deliveries (alert_id, blindness_id, channel_id, type, sequence, redelivery_of)
  select alert_id, blindness_id, channel_id, type, sequence, id from watchpost.deliveries where id = p_id
  returning id, channel_id into v_new;
  insert into watchpost.deliveries (alert_id, channel_id, type, sequence, redelivery_of, digest_id)
  select alert_id, channel_id, type, sequence, id, v_new.id from watchpost.deliveries where digest_id = p_id;
  perform private.enqueue_delivery(v_new.id, v_new.channel_id);
  return v_new.id;
end
$function$;

CREATE OR REPLACE FUNCTION private.repeatable(p_alert_id uuid, p_channel_id uuid)
 RETURNS TABLE(id uuid, carried uuid[], status text, is_repeated boolean, created_at timestamp with time zone, ended_at timestamp with time zone, reason text)
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  with messages as (
    select coalesce(d.digest_id, d.id) as id, array_agg(d.id) as carried
    from watchpost.deliveries d
    where (d.alert_id = p_alert_id or d.channel_id = p_channel_id) and d.type <> 'channel.test'
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
$function$;

CREATE OR REPLACE FUNCTION private.sees_blind_zones(p_blindness_id uuid, p_channel_id uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select not exists (
    select from watchpost.blind_zones n
    join watchpost.zones z on z.id = n.zone_id
    where n.blindness_id = p_blindness_id and n.channel_id = p_channel_id
      and z.tenant_id <> all(private.my_tenants()))
$function$;

grant execute on function private.sees_blind_zones(uuid,uuid) to authenticated;

CREATE OR REPLACE FUNCTION private.source_status(s watchpost.sources)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select case
    when not s.enabled then 'disabled'
    when s.last_success_at > now() - greatest(3 * s.interval_seconds, 180) * interval '1 second' then
      case when s.last_event_at < now() - private.silent_after(s) or private.is_garbled(s) then 'stale' else 'ok' end
    when s.last_success_at is null and s.error_at is null
      and s.created_at > now() - interval '3 minutes' then 'stale'
    when s.error_at > coalesce(s.last_success_at, '-infinity') or s.last_success_at is null then 'down'
    else 'stale'
  end
$function$;

CREATE OR REPLACE FUNCTION private.source_trouble(s watchpost.sources)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select case
    when private.source_status(s) not in ('stale', 'down') then null
    when s.error_at > coalesce(s.last_success_at, '-infinity')
      then coalesce(private.without_secrets(s.error), 'It answers with errors.')
    when s.last_success_at is null then 'It has not answered yet.'
    when s.last_success_at <= now() - greatest(3 * s.interval_seconds, 180) * interval '1 second'
      then format('Nothing has come from it since %s.', private.iso(s.last_success_at))
    when s.last_event_at < now() - private.silent_after(s) then format(
      'It answers, but has sent no event since %s; before that it was never silent for more than %s.',
      private.iso(s.last_event_at), case
        when s.longest_silence_seconds <= 7200 then ceil(s.longest_silence_seconds / 60) || ' minutes'
        else ceil(s.longest_silence_seconds / 3600) || ' hours'
      end)
    else format('It answers, but most of what it answers cannot be used: %s', coalesce((
      select private.without_secrets(h.reason) from watchpost.source_hours h
      where h.source = s.source and h.reason is not null
      order by h.hour desc limit 1), 'no reason is known'))
  end
$function$;

CREATE OR REPLACE FUNCTION private.sources_health()
 RETURNS TABLE(source text, title text, attribution text, types text[], enabled boolean, interval_seconds integer, status text, last_success_at timestamp with time zone, last_event_at timestamp with time zone, events_24h bigint, error text, latency_p50 double precision, latency_p95 double precision, delivery_p50 double precision, delivery_p95 double precision, items_24h bigint, rejected_24h bigint, rejected_reason text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select s.source, s.title, s.attribution, s.types, s.enabled, s.interval_seconds, private.source_status(s), s.last_success_at,
    s.last_event_at, coalesce(e.count, 0),
    case
      when not s.enabled or s.error_at > coalesce(s.last_success_at, '-infinity') then private.without_secrets(s.error)
      else private.source_trouble(s)
    end,
    e.p50, e.p95, s.delivery_p50, s.delivery_p95, coalesce(h.items, 0), coalesce(h.rejected, 0),
    private.without_secrets(h.reasons[1])
  from watchpost.sources s
  left join lateral (
    select count(*),
      percentile_cont(0.5) within group (order by extract(epoch from (e.first_seen_at - e.ts)))
        filter (where e.first_seen_at > e.ts) as p50,
      percentile_cont(0.95) within group (order by extract(epoch from (e.first_seen_at - e.ts)))
        filter (where e.first_seen_at > e.ts) as p95
    from watchpost.events e
    where e.source = s.source and e.ts > now() - interval '24 hours'
  ) e on true
  left join lateral (
    select sum(h.items) as items, sum(h.rejected) as rejected,
      array_agg(h.reason order by h.hour desc) filter (where h.reason is not null) as reasons
    from watchpost.source_hours h
    where h.source = s.source and h.hour > now() - interval '24 hours'
  ) h on true
  where s.source not like 'custom%'
  order by s.source
$function$;

grant execute on function private.sources_health() to authenticated, watchpost_api;

CREATE OR REPLACE FUNCTION private.watch_source(s watchpost.sources)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_status text := private.source_status(s);
  v_is_well boolean := v_status = 'ok';
  b watchpost.blindness;
begin
  -- Whoever looked away for 5 minutes does not know what was meanwhile.
  update watchpost.blindness o
  set seen_at = now(),
      well_at = case when v_is_well then coalesce(o.well_at, now()) end,
      began_at = case when o.told_at is null and o.seen_at < now() - interval '5 minutes' then now() else o.began_at end
  where o.source = s.source and o.ended_at is null and v_status <> 'disabled'
  returning * into b;
  if v_status = 'disabled' then
    delete from watchpost.blindness where source = s.source and told_at is null;
  elsif v_is_well and b.well_at <= now() - private.well_after(s) then
    if b.told_at is null then
      delete from watchpost.blindness where id = b.id;
      return null;
    end if;
    update watchpost.blindness set ended_at = now() where id = b.id;
    perform private.deliver_blindness(b.id, 'zone.sighted');
    return 'sighted';
  elsif not v_is_well and b.id is null then
    insert into watchpost.blindness (source, status, reason)
    values (s.source, v_status, private.source_trouble(s));
  elsif not v_is_well and b.told_at is null and b.began_at <= now() - private.blind_after(s) then
    update watchpost.blindness
    set told_at = now(), status = v_status, reason = private.source_trouble(s)
    where id = b.id;
    perform private.note_blind_zones(b.id);
    perform private.deliver_blindness(b.id, 'zone.blind');
    return 'blind';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION private.watch_sources()
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  s watchpost.sources;
  v_told text;
  v_all jsonb := '[]';
begin
  if not pg_try_advisory_xact_lock(hashtextextended('watch_sources', 0)) then
    return v_all;
  end if;
  for s in
    select x.* from watchpost.sources x
    where x.source not like 'custom%' and (private.source_status(x) in ('stale', 'down') or exists (
      select from watchpost.blindness b where b.source = x.source and b.ended_at is null))
    order by x.source
  loop
    v_told := private.watch_source(s);
    if v_told is not null then
      v_all := v_all || jsonb_build_object('source', s.source, 'told', v_told);
    end if;
  end loop;
  return v_all;
end
$function$;

grant execute on function private.watch_sources() to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.well_after(s watchpost.sources)
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select greatest(2 * s.interval_seconds, 300) * interval '1 second'
$function$;

CREATE OR REPLACE FUNCTION private.without_secrets(p_text text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select case when length(bare) > 200 then left(bare, 199) || '…' else bare end
  from regexp_replace(p_text, '\y([a-z][a-z0-9+.-]*://)([^\s/?#]*@)?([^\s/?#]*)\S*', '\1\3/…', 'gi') as bare
$function$;

CREATE INDEX blind_zones_channel_id ON watchpost.blind_zones USING btree (channel_id);

CREATE INDEX blind_zones_zone_id ON watchpost.blind_zones USING btree (zone_id);

CREATE INDEX blindness_ended_at ON watchpost.blindness USING btree (ended_at);

CREATE UNIQUE INDEX blindness_open ON watchpost.blindness USING btree (source) WHERE (ended_at IS NULL);

CREATE INDEX blindness_source ON watchpost.blindness USING btree (source);

CREATE INDEX deliveries_blindness_id ON watchpost.deliveries USING btree (blindness_id) WHERE (blindness_id IS NOT NULL);

CREATE UNIQUE INDEX deliveries_blindness_once ON watchpost.deliveries USING btree (blindness_id, channel_id, type) WHERE (redelivery_of IS NULL);

CREATE INDEX source_hours_hour ON watchpost.source_hours USING btree (hour);

reset check_function_bodies;
drop policy deliveries_select on watchpost.deliveries;
create policy deliveries_select on watchpost.deliveries for select to authenticated
  using (
    exists (select from watchpost.channels c where c.id = channel_id)
    and (alert_id is null or exists (select from watchpost.alerts a where a.id = alert_id))
    and (blindness_id is null or private.sees_blind_zones(blindness_id, channel_id)));

reset role;
