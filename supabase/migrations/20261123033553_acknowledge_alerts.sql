set role watchpost_owner;
set check_function_bodies = off;

drop trigger alerts_audit on watchpost.alerts;

alter table watchpost.alerts
  add column seen_at timestamptz,
  add column seen_by uuid references watchpost.accounts on delete set null,
  add column seen_via text check (seen_via in ('api', 'console', 'mcp', 'channel')),
  add column seen_channel_id uuid references watchpost.channels on delete set null,
  add check ((seen_at is null) = (seen_via is null)),
  add check (seen_channel_id is null or seen_via = 'channel');
comment on column watchpost.alerts.seen_at is 'When it was acknowledged first since it was raised or escalated last; null: by nobody.';
comment on column watchpost.alerts.seen_by is 'Account that acknowledged it; null through the link of a message, which knows no person.';
comment on column watchpost.alerts.seen_channel_id is 'Channel whose message had the link.';
grant update (seen_at, seen_by, seen_via) on watchpost.alerts to authenticated;
-- Who resolved an alert has seen it. It is no news for those who follow it.
alter table watchpost.alerts disable trigger alerts_changed;
update watchpost.alerts
set seen_at = resolved_at, seen_by = resolved_by, seen_via = coalesce(resolved_via, 'api')
where resolved and resolved_at is not null;
alter table watchpost.alerts enable trigger alerts_changed;

CREATE OR REPLACE FUNCTION private.acknowledge_alert(p_alert_id uuid, p_channel_id uuid, p_context jsonb DEFAULT '{}'::jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$;

grant execute on function private.acknowledge_alert(uuid,uuid,jsonb) to watchpost_api;

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
        updates = case when a.resolved or a.seen_at is not null then private.noted_update(a, g.raised_at, 'escalated', g.event) else a.updates end,
        resolved = false, resolved_at = null, resolved_by = null, resolved_via = null,
        seen_at = null, seen_by = null, seen_via = null, seen_channel_id = null,
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

CREATE OR REPLACE FUNCTION private.alert_behind_link(p_alert_id uuid, p_channel_id uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select private.linked_alert(p_alert_id, p_channel_id)
$function$;

grant execute on function private.alert_behind_link(uuid,uuid) to watchpost_api;

CREATE OR REPLACE FUNCTION private.alert_json(a watchpost.alerts, p_channel_id uuid DEFAULT NULL::uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'id', a.id,
    'zone_id', a.zone_id,
    'zone_name', a.zone_name,
    'event_id', a.event_id,
    'event', private.stored_event(a.event),
    'current', now_is.event,
    'event_ids', private.alert_event_json(now_is.event, a.raised_at, null) || coalesce((
      select jsonb_agg(private.alert_event_json(private.current_event(m.event_id, m.event), m.added_at, m.link)
        order by m.added_at, m.event_id)
      from (select * from watchpost.alert_events where alert_id = a.id offset 0) m), '[]'),
    'attribution', private.attribution(a.source),
    'severity', a.severity,
    'reason', a.reason,
    'status', a.status,
    'raised_at', private.iso(a.raised_at),
    'held_until', private.iso(a.held_until),
    'dispatched_at', private.iso(a.dispatched_at),
    'channel', (
      select coalesce(c.label, c.kind)
      from (select * from watchpost.deliveries where alert_id = a.id offset 0) d
      join watchpost.channels c on c.id = d.channel_id
      where d.status = 'succeeded' and (p_channel_id is null or d.channel_id = p_channel_id)
      order by d.delivered_at, d.id
      limit 1),
    'deliveries', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', d.id,
        'channel_id', d.channel_id,
        'channel', coalesce(c.label, c.kind),
        'kind', d.type,
        'status', d.status,
        'attempts', d.attempts,
        'last_error', d.last_error,
        'delivered_at', private.iso(d.delivered_at),
        'redelivery_of', d.redelivery_of) order by d.created_at, d.id)
      from (select * from watchpost.deliveries where alert_id = a.id offset 0) d
      join watchpost.channels c on c.id = d.channel_id
      where p_channel_id is null or d.channel_id = p_channel_id), '[]'),
    'updates', (
      select coalesce(jsonb_agg('{"changes": {}}'::jsonb || u.value order by u.nr), '[]')
      from jsonb_array_elements(a.updates) with ordinality as u (value, nr)),
    'resolved', a.resolved,
    'resolved_at', private.iso(a.resolved_at),
    'resolved_by', a.resolved_by,
    'resolved_via', a.resolved_via,
    'seen_at', private.iso(a.seen_at),
    'seen_by', a.seen_by,
    'seen_via', a.seen_via,
    'seen_channel', (
      select coalesce(c.label, c.kind) from watchpost.channels c
      where c.id = a.seen_channel_id and (p_channel_id is null or c.id = p_channel_id)),
    'note', a.note,
    'updated_at', private.iso(a.updated_at))
  from (select private.current_event(a.event_id, coalesce(a.current, a.event)) as event offset 0) now_is
$function$;

CREATE OR REPLACE FUNCTION private.audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_old jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  v_new jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  v_row jsonb := coalesce(v_new, v_old);
  v_thing text := tg_argv[0];
  v_verb text := case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'updated' else 'deleted' end;
  v_changes jsonb := '{}';
  v_accounts uuid[];
  v_admins uuid[];
  v_id text;
begin
  if tg_op = 'UPDATE' then
    v_changes := private.changed_fields(v_old, v_new);
    if v_changes = '{}' then
      return null;
    end if;
    if v_changes ? 'deleted_at' then
      v_verb := case when v_new ->> 'deleted_at' is null then 'restored' else 'deleted' end;
      v_changes := '{}';
    end if;
    if v_thing = 'key' and v_changes ? 'revoked_at' then
      v_verb := 'revoked';
    end if;
    if v_thing = 'account' and v_changes ? 'plan' then
      v_verb := 'plan_changed';
    end if;
    if v_thing = 'alert' then
      v_verb := case
        when v_changes ? 'resolved' and (v_new ->> 'resolved')::boolean then 'resolved'
        when v_changes ? 'resolved' then 'reopened'
        when v_changes ? 'seen_at' then 'acknowledged'
        else 'noted'
      end;
      v_changes := v_changes - 'resolved' - 'resolved_at' - 'seen_at';
    end if;
    if v_thing = 'channel' and v_changes ? 'signing_secret_sealed' then
      v_verb := 'secret_rotated';
    end if;
  end if;
  if v_thing = 'member' and v_verb = 'created' and v_row ->> 'status' = 'invited' then
    v_verb := 'invited';
  end if;
  v_accounts := case
    when v_row ? 'owner_id' then array[(v_row ->> 'owner_id')::uuid, (v_old ->> 'owner_id')::uuid]
    else array[(v_row ->> 'user_id')::uuid]
  end;
  v_admins := private.admins_of(case
    when v_thing = 'organisation' then array[(v_row ->> 'id')::uuid]
    else array[(v_new ->> 'org_id')::uuid, (v_old ->> 'org_id')::uuid]
  end);
  v_id := coalesce(v_row ->> 'id', v_row ->> 'user_id');
  if v_row ? 'owner_id' and v_changes ? 'org_id' then
    -- An organisation must not see the state before or after the row was shared with it.
    perform private.record_audit(
      v_thing || '.' || v_verb, v_thing, v_id,
      array(select unnest(v_admins) except select unnest(v_accounts)),
      jsonb_build_object('changed', jsonb_build_object('org_id', v_changes -> 'org_id'))
      || private.label_of(case when v_new ->> 'org_id' is null then v_old else v_new end),
      false);
  else
    v_accounts := v_accounts || v_admins;
  end if;
  perform private.record_audit(
    v_thing || '.' || v_verb, v_thing, v_id, v_accounts,
    case when v_changes = '{}' then '{}' else jsonb_build_object('changed', v_changes) end
    || private.label_of(v_row));
  -- A trigger before a deletion must return the row, otherwise nothing is deleted.
  return coalesce(new, old);
end
$function$;

CREATE OR REPLACE FUNCTION private.changed_fields(p_old jsonb, p_new jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select coalesce(jsonb_object_agg(n.key, case
    when n.key ~ '(sealed|hash|polygon|target|^note$)' then '"changed"'::jsonb
    else jsonb_build_array(p_old -> n.key, n.value) end), '{}')
  from jsonb_each(p_new) n
  where n.value is distinct from p_old -> n.key
    and n.key not in ('boxes', 'version', 'updated_at', 'tenant_id', 'failures', 'paused_until', 'failing_reason', 'failing_since',
      'changed_in')
$function$;

CREATE OR REPLACE FUNCTION private.linked_alert(p_alert_id uuid, p_channel_id uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'alert_id', a.id, 'channel_id', c.id, 'channel', coalesce(c.label, c.kind), 'zone', a.zone_name,
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

CREATE OR REPLACE FUNCTION private.noted_update(a watchpost.alerts, p_at timestamp with time zone, p_kind text, p_event jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select a.updates
    || (jsonb_build_object(
      'at', private.iso(p_at), 'kind', p_kind, 'changes', case when p_kind = 'linked' then '{}' else
        private.event_changes(coalesce(
          (select m.event from watchpost.alert_events m where m.zone_id = a.zone_id and m.event_id = p_event ->> 'id'),
          a.current, a.event), p_event) end
      || case when p_kind = 'escalated' and a.seen_at is not null
        then jsonb_build_object('seen_at', jsonb_build_array(private.iso(a.seen_at), null)) else '{}' end)
      || case when private.is_own(a, p_event ->> 'id') then '{}' else jsonb_build_object('event_id', p_event ->> 'id') end)
    || case when a.resolved and p_kind = 'escalated'
      then jsonb_build_object('at', private.iso(p_at), 'kind', 'reopened', 'changes', '{"resolved": [true, false]}'::jsonb)
      else '[]' end
$function$;

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
      set resolved = false, resolved_at = null, resolved_by = null, resolved_via = null,
          seen_at = null, seen_by = null, seen_via = null, seen_channel_id = null
      where id = v_alert.id and (resolved or seen_at is not null);
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

CREATE INDEX alerts_seen_by ON watchpost.alerts USING btree (seen_by) WHERE (seen_by IS NOT NULL);

CREATE INDEX alerts_seen_channel_id ON watchpost.alerts USING btree (seen_channel_id) WHERE (seen_channel_id IS NOT NULL);

CREATE TRIGGER alerts_audit AFTER UPDATE OF resolved, note, seen_at ON watchpost.alerts FOR EACH ROW WHEN (((old.resolved IS DISTINCT FROM new.resolved) OR (old.note IS DISTINCT FROM new.note) OR ((old.seen_at IS NULL) AND (new.seen_at IS NOT NULL)))) EXECUTE FUNCTION private.audit_change('alert');

reset check_function_bodies;
reset role;
