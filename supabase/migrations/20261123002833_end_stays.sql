set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.unseen_stays(p_at timestamp with time zone, p_limit integer)
 RETURNS TABLE(zone_id uuid, key text, memory jsonb, event jsonb, event_revision integer)
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  with silent as (
    select m.zone_id, m.key, m.memory
    from watchpost.match_memory m
    where m.updated_at < p_at - interval '24 hours'
      and m.memory ->> 'kind' = 'stay' and m.memory ->> 'alert' is not null
      and (m.memory ->> 'last_seen_at')::timestamptz < p_at - interval '24 hours'
    order by m.updated_at
    limit p_limit
    for update skip locked
  )
  select s.zone_id, s.key, s.memory, private.stored_event(coalesce(a.current, a.event)), a.event_revision
  from silent s
  left join watchpost.alerts a
    on a.id = private.alert_of(s.zone_id, coalesce(s.memory ->> 'alert_event_id', ''), s.key)
$function$;

grant execute on function private.unseen_stays(timestamp with time zone,integer) to watchpost_jobs;

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
    select *, private.alert_of(x.zone_id, coalesce(x.alert_event_id, x.event_id), x.subject) as alert_id,
      private.told_event(x.event, x.event_revision) as told
    from jsonb_to_recordset(p_updates) as x (
      zone_id uuid, alert_event_id text, event_id text, subject text, event jsonb, kind text, at timestamptz, severity float8,
      reason text, send text, held_until timestamptz, event_revision integer)
  loop
    update watchpost.alerts a
    set updates = private.noted_update(a, v_update.at, v_update.kind, v_update.told),
        current = v_update.told, severity = v_update.severity, reason = v_update.reason,
        event_revision = v_update.event_revision, updated_at = now()
    where a.id = v_update.alert_id
    returning a.id, jsonb_array_length(a.updates) as sequence into v_alert;
    continue when not found;
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

CREATE INDEX match_memory_alerted_stays ON watchpost.match_memory USING btree (updated_at) WHERE (((memory ->> 'kind'::text) = 'stay'::text) AND ((memory ->> 'alert'::text) IS NOT NULL));

reset check_function_bodies;
reset role;
