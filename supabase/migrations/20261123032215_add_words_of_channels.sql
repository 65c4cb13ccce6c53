set role watchpost_owner;
set check_function_bodies = off;

alter table watchpost.channels
  add column language text not null default 'en' check (language in ('en', 'tr')),
  add column time_zone text not null default 'UTC' check (length(time_zone) between 1 and 64);
comment on column watchpost.channels.language is 'Of its messages.';
comment on column watchpost.channels.time_zone is 'IANA name; its messages tell times in it.';
grant insert (language, time_zone), update (language, time_zone) on watchpost.channels to authenticated;
alter table watchpost.alerts add column news jsonb;
comment on column watchpost.alerts.news is 'What the reason follows: update, how a stay ended, and the checks; null: the checks that raised it.';

drop function private.claim_delivery(uuid);

CREATE OR REPLACE FUNCTION private.advance_alerts(p_alerts jsonb, p_run_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[];
  v_sent jsonb;
begin
  with given as (
    select *, private.alert_of(x.zone_id, coalesce(x.alert_event_id, x.event_id), x.subject) as alert_id
    from jsonb_to_recordset(p_alerts) as x (
      zone_id uuid, event_id text, alert_event_id text, subject text, event jsonb, severity float8, reason text, status text,
      raised_at timestamptz, held_until timestamptz, checks jsonb, zone_version integer, event_revision integer, linked jsonb)
  ),
  moved as (
    update watchpost.alerts a
    set event_id = g.event_id, source = g.event ->> 'source', event = private.told_event(g.event, g.event_revision), current = null,
        updates = case when a.resolved then private.noted_update(a, g.raised_at, 'escalated', g.event) else a.updates end,
        resolved = false, resolved_at = null, resolved_by = null, resolved_via = null,
        severity = g.severity, reason = g.reason, first_reason = g.reason, news = null,
        status = private.status_in(z, g.status), raised_at = g.raised_at, held_until = g.held_until, checks = g.checks, zone_version = g.zone_version,
        event_revision = g.event_revision, updated_at = now()
    from given g
    join watchpost.zones z on z.id = g.zone_id
    where a.id = g.alert_id
      and (a.status in ('suppressed', 'held') or (a.status = 'recorded' and a.held_until is not null))
      and not exists (
        select from watchpost.alerts o where o.zone_id = a.zone_id and o.event_id = g.event_id and o.id <> a.id)
    returning a.id, g.event_id
  ),
  former as (
    insert into watchpost.alert_events as m (
      zone_id, event_id, alert_id, source, event, event_revision, checks, reason, zone_version, added_at)
    select a.zone_id, a.event_id, a.id, a.source, coalesce(a.current, a.event), a.event_revision, a.checks, a.first_reason,
      a.zone_version, a.raised_at
    from watchpost.alerts a
    join moved on moved.id = a.id and moved.event_id <> a.event_id
    where a.subject is null
    on conflict (zone_id, event_id) do nothing
  ),
  own as (
    delete from watchpost.alert_events m
    using moved
    where m.alert_id = moved.id and m.event_id = moved.event_id
  )
  select array(select id from moved), (
    select jsonb_agg(jsonb_build_object(
      'zone_id', g.zone_id, 'event_id', g.event_id, 'alert_event_id', g.alert_event_id, 'subject', g.subject,
      'event', g.event, 'kind', 'escalated', 'linked', g.linked,
      'at', g.raised_at, 'severity', g.severity, 'reason', g.reason, 'event_revision', g.event_revision,
      'news', jsonb_build_object('update', 'escalated', 'how', null, 'checks', g.checks),
      'send', case g.status when 'pending' then 'now' when 'held' then 'held' end, 'held_until', g.held_until))
    from given g
    where g.alert_id not in (select id from moved))
  into v_ids, v_sent;
  perform private.send_alerts(v_ids, p_run_id);
  perform private.update_alerts(v_sent);
end
$function$;

CREATE OR REPLACE FUNCTION private.alerts_carried(d watchpost.deliveries)
 RETURNS SETOF watchpost.alerts
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select *
  from watchpost.alerts
  where id in (
    select carried.alert_id from watchpost.deliveries carried where carried.digest_id = d.id
    union select d.alert_id)
$function$;

grant execute on function private.alerts_carried(watchpost.deliveries) to watchpost_jobs;

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
    || case when d.type = 'alert.digest' then jsonb_build_object('summary', private.digest_summary(d.id), 'alerts', (
      select jsonb_agg(private.alert_json(held, d.channel_id) order by held.severity desc, held.raised_at, held.id)
      from private.alerts_carried(d) held
    )) else '{}' end
    -- A webhook sends the sentence itself.
    || case when (select kind from watchpost.channels where id = d.channel_id) = 'webhook' then '{}'
      when d.type = 'alert.digest' then jsonb_build_object('facts', (
        select jsonb_object_agg(held.id, private.facts_json(held)) from private.alerts_carried(d) held))
      else jsonb_build_object('facts', jsonb_build_object(a.id, private.facts_json(a))) end
  from watchpost.alerts a
  where a.id = d.alert_id
$function$;

CREATE OR REPLACE FUNCTION private.claim_delivery(p_id uuid)
 RETURNS TABLE(id uuid, channel_id uuid, kind text, type text, attempts integer, failures integer, target_sealed text, config_sealed text, secret_sealed text, former_sealed jsonb, paused_until timestamp with time zone, refusal text, payload text, first_attempt_at timestamp with time zone, used bigint, language text, time_zone text)
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
      select d.id, d.channel_id, c.kind, c.language, c.time_zone, d.type, d.attempts, c.failures,
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
       where t.delivery_id = d.id and t.status_code is distinct from 429), f.language, f.time_zone;
end
$function$;

grant execute on function private.claim_delivery(uuid) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.facts_json(a watchpost.alerts)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object('checks', a.checks, 'news', a.news)
$function$;

grant execute on function private.facts_json(watchpost.alerts) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.update_alerts(p_updates jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_update record;
  v_alert record;
begin
  for v_update in
    -- An update may name the event of its alert, because a later stay of the subject may have one of its own.
    select x.*, private.alert_of(x.zone_id, coalesce(x.alert_event_id, x.event_id), x.subject) as alert_id,
      private.told_event(x.event, x.event_revision) as told
    from jsonb_to_recordset(p_updates) as x (
      zone_id uuid, event_id text, alert_event_id text, subject text, event jsonb, kind text, at timestamptz,
      severity float8, reason text, send text, held_until timestamptz, event_revision integer, linked jsonb, news jsonb)
  loop
    update watchpost.alerts a
    set updates = private.noted_update(a, v_update.at, v_update.kind, v_update.told),
        current = case when private.is_own(a, v_update.event_id) then v_update.told else a.current end,
        severity = v_update.severity, reason = coalesce(v_update.reason, a.reason),
        news = case when v_update.reason is null then a.news else v_update.news end,
        event_revision = case when private.is_own(a, v_update.event_id) then v_update.event_revision else a.event_revision end,
        updated_at = now()
    where a.id = v_update.alert_id
    returning a.id, jsonb_array_length(a.updates) as sequence, private.is_own(a, v_update.event_id) as is_own into v_alert;
    continue when not found;
    if not v_alert.is_own then
      update watchpost.alert_events m
      set event = v_update.told, event_revision = v_update.event_revision
      where m.zone_id = v_update.zone_id and m.event_id = v_update.event_id;
    end if;
    if not v_alert.is_own and jsonb_typeof(v_update.linked) = 'object' then
      insert into watchpost.alert_events as m (
        zone_id, event_id, alert_id, source, event, event_revision, link, checks, reason, zone_version, added_at)
      select v_update.zone_id, v_update.event_id, v_alert.id, v_update.told ->> 'source', v_update.told,
        v_update.event_revision, l.link, l.checks, l.reason, l.zone_version, v_update.at
      from jsonb_to_record(v_update.linked) as l (link jsonb, checks jsonb, reason text, zone_version integer)
      on conflict (zone_id, event_id) do update
      set alert_id = excluded.alert_id, link = excluded.link, checks = excluded.checks, reason = excluded.reason,
          zone_version = excluded.zone_version, added_at = excluded.added_at;
    end if;
    if v_update.kind = 'escalated' then
      update watchpost.alerts
      set resolved = false, resolved_at = null, resolved_by = null, resolved_via = null
      where id = v_alert.id and resolved;
    end if;
    continue when v_update.send is null;
    perform private.deliver_update(
      v_alert.id, v_update.kind, v_alert.sequence, v_update.send = 'held', v_update.held_until);
    if v_update.send = 'held' then
      perform private.enqueue(
        'release', gen_random_uuid(), jsonb_build_object('zone_id', v_update.zone_id), v_update.held_until);
    end if;
  end loop;
end
$function$;

reset check_function_bodies;
reset role;
