set role watchpost_owner;
set check_function_bodies = off;

alter table watchpost.deliveries drop constraint deliveries_type_check;
alter table watchpost.deliveries add constraint deliveries_type_check check (type in (
  'alert.raised', 'alert.revised', 'alert.escalated', 'alert.ended', 'alert.retracted', 'alert.acknowledged',
  'alert.resolved', 'alert.reopened', 'alert.digest', 'zone.blind', 'zone.sighted', 'channel.failing',
  'channel.recovered', 'channel.test', 'channel.confirmation'));

drop function private.deliver_alerts(uuid[]);

drop function private.send_alerts(uuid[],uuid,uuid[],uuid[]);

CREATE OR REPLACE FUNCTION private.deliver_alerts(p_alert_ids uuid[], p_are_new boolean DEFAULT false)
 RETURNS uuid[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[];
  v_told uuid[];
  v_older uuid[];
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
    returning d.id, d.alert_id, d.status
  )
  select array_agg(s.id) filter (where s.status = 'queued'), array_agg(s.alert_id),
    (select array_agg(o.id) from given g cross join lateral unnest(g.older) as o (id))
  into v_ids, v_told, v_older
  from sent s;
  -- What the triggers of private.note_delivery leave to this function. The other alerts changed in this transaction anyway.
  if v_older <> '{}' then
    perform from watchpost.alerts a where a.id = any(v_older) and a.id = any(v_told) order by a.id for no key update;
    update watchpost.alerts a
    set changed_in = pg_current_xact_id()
    where a.id = any(v_older) and a.id = any(v_told);
  end if;
  perform private.enqueue_deliveries(v_ids);
  return v_told;
end
$function$;

grant execute on function private.deliver_alerts(uuid[],boolean) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.raise_alerts(p_alerts jsonb, p_events jsonb, p_run_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_ids uuid[];
  v_held uuid[];
  v_escalating uuid[];
begin
  with told as materialized (
    select e.event ->> 'id' as event_id, e.event_revision, private.told_event(e.event, e.event_revision) as event
    from jsonb_to_recordset(p_events) as e (event jsonb, event_revision integer)
  ),
  given as materialized (
    select g.*, t.event, z.owner_id, z.org_id, private.status_in(z, g.status) as status_now, z.escalation is not null as escalates
    from jsonb_to_recordset(p_alerts) as g (
      zone_id uuid, zone_name text, event_id text, source text, subject text, severity float8,
      reason text, status text, raised_at timestamptz, held_until timestamptz, checks jsonb,
      zone_version integer, event_revision integer, drill_id uuid)
    join told t on t.event_id = g.event_id and t.event_revision = g.event_revision
    join watchpost.zones z on z.id = g.zone_id
  ),
  born as (
    insert into watchpost.alerts (
      zone_id, zone_name, owner_id, org_id, event_id, source, subject, event, severity, reason, first_reason, status,
      raised_at, held_until, checks, zone_version, event_revision, drill_id)
    select g.zone_id, g.zone_name, g.owner_id, g.org_id, g.event_id, g.source, g.subject, g.event, g.severity,
      g.reason, g.reason, g.status_now, g.raised_at, g.held_until, g.checks, g.zone_version, g.event_revision, g.drill_id
    from given g
    on conflict (zone_id, event_id) do nothing
    returning id, zone_id, status
  )
  select array_agg(b.id), array_agg(b.id) filter (where b.status = 'held'),
    array_agg(b.id) filter (where b.zone_id = any(array(select g.zone_id from given g where g.escalates)))
  into v_ids, v_held, v_escalating
  from born b;
  -- An event that turned out to be another thing has an alert of its own now.
  delete from watchpost.alert_events m
  using watchpost.alerts a
  where a.id = any(v_ids) and m.zone_id = a.zone_id and m.event_id = a.event_id;
  perform private.send_alerts(v_ids, p_run_id, v_held, v_escalating, true);
end
$function$;

CREATE OR REPLACE FUNCTION private.send_alerts(p_ids uuid[], p_run_id uuid, p_held uuid[], p_escalating uuid[], p_are_new boolean DEFAULT false)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_told uuid[] := private.deliver_alerts(p_ids, p_are_new);
begin
  if p_held <> '{}' then
    perform private.enqueue(
      'release', md5(concat_ws('|', h.zone_id, h.held_until, p_run_id))::uuid,
      jsonb_build_object('zone_id', h.zone_id), h.held_until)
    from (
      select distinct zone_id, held_until from watchpost.alerts
      where id = any(p_held) and status = 'held' and held_until is not null
    ) h;
  end if;

  update watchpost.alerts a
  set status = 'recorded', updated_at = now()
  where a.status in ('pending', 'held') and a.id = any(array(
    select given.id from (select unnest(p_ids) except select unnest(v_told)) as given (id)
    where not exists (select from watchpost.deliveries d where d.alert_id = given.id and d.status <> 'cancelled' offset 0)));
  if p_escalating <> '{}' then
    perform private.start_steps(p_escalating);
  end if;
end
$function$;

grant execute on function private.send_alerts(uuid[],uuid,uuid[],uuid[],boolean) to watchpost_jobs;

reset check_function_bodies;
reset role;
