-- Raising: how alerts are born, get further and are updated.

set role watchpost_owner;

-- An event from JSON with what its revision says besides: what a decision needs is not all there is to tell.
create function private.told_event(p_event jsonb, p_revision integer) returns jsonb
language sql stable set search_path = '' as $$
  select p_event || coalesce((
    select jsonb_build_object('magnitude', r.magnitude, 'depth_km', r.depth_km, 'ends_at', private.iso(r.ends_at))
    from watchpost.event_revisions r
    where r.event_id = p_event ->> 'id' and r.revision = p_revision), '{}')
$$;

-- What changed between two states of an event: field to [from, to].
create function private.event_changes(p_from jsonb, p_to jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select coalesce(jsonb_object_agg(c.field, jsonb_build_array(c.was, c.is_now)), '{}')
  from (
    select 'place' as field,
      jsonb_build_object('lat', p_from -> 'lat', 'lon', p_from -> 'lon') as was,
      jsonb_build_object('lat', p_to -> 'lat', 'lon', p_to -> 'lon') as is_now
    union all
    select f.field, p_from -> f.field, p_to -> f.field
    from unnest(array['type', 'title', 'ts', 'severity', 'status', 'url', 'magnitude', 'depth_km', 'ends_at']) as f (field)
    where p_from ? f.field and p_to ? f.field
  ) c
  where c.was <> c.is_now
$$;

-- Whether an alert is about an event itself, not about the same thing as another source reports it.
create function private.is_own(a watchpost.alerts, p_event_id text) returns boolean
language sql immutable set search_path = '' as $$
  select a.event_id = p_event_id or a.subject is not null
$$;

-- An update in the list of an alert, which names the event if that is not its own. What made it worse reopens an alert
-- that somebody resolved, and is to be acknowledged anew.
create function private.noted_update(a watchpost.alerts, p_at timestamptz, p_kind text, p_event jsonb) returns jsonb
language sql stable set search_path = '' as $$
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
$$;

-- The status of an alert in a zone that may have been deleted in the meantime. It has no search_path of its own, so that
-- it is inlined.
create function private.status_in(z watchpost.zones, p_status text) returns text
language sql immutable as $$
  select case when z.deleted_at is not null and p_status in ('pending', 'held') then 'failed' else p_status end
$$;

-- New alerts from JSON, each with a delivery and job per channel; one that exists is left alone. If the zone
-- was deleted after the event was seen, the alert is stored and nothing is sent. p_events: their events, each once.
create function private.raise_alerts(p_alerts jsonb, p_events jsonb, p_run_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
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
$$;

-- The first message of alerts that go out or wait: deliveries with their jobs, the end of each wait,
-- `recorded` where there is no channel, and the steps of those that are out. p_held and p_escalating: those of them that may
-- be held, or whose zones may have steps. p_are_new: no message of them is there yet.
create function private.send_alerts(
  p_ids uuid[], p_run_id uuid, p_held uuid[], p_escalating uuid[], p_are_new boolean default false
)
returns void
language plpgsql volatile set search_path = '' as $$
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
$$;

-- Which alert news of an event is about: its own, that of another source, or for a moving subject the one of its stay.
create function private.alert_of(p_zone_id uuid, p_event_id text, p_subject text) returns uuid
language sql stable set search_path = '' as $$
  select coalesce(
    (select id from watchpost.alerts where zone_id = p_zone_id and event_id = p_event_id),
    (select alert_id from watchpost.alert_events where zone_id = p_zone_id and event_id = p_event_id),
    (select id from watchpost.alerts
     where p_subject is not null and zone_id = p_zone_id and subject = p_subject
     order by raised_at desc limit 1))
$$;

-- Alerts that were suppressed or held and now get further, because it got worse. It is from now on about the event
-- that took it further: of a stay a later position, or the same thing as another source reports it. One that was sent
-- meanwhile has escalated.
create function private.advance_alerts(p_alerts jsonb, p_run_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
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
  perform private.send_alerts(v_ids, p_run_id, v_ids, v_ids);
  perform private.update_alerts(v_sent);
end
$$;

-- News about alerts that exist: noted on each, and sent where the alert went when it is to be told now. What another
-- source says of the same thing changes its event among those of the alert, which may be new to it.
create function private.update_alerts(p_updates jsonb) returns void
language plpgsql volatile set search_path = '' as $$
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
    if v_update.send = 'now' and v_update.kind = 'escalated' then
      perform private.start_steps(array[v_alert.id]);
    end if;
    if v_update.send = 'held' then
      perform private.enqueue(
        'release', gen_random_uuid(), jsonb_build_object('zone_id', v_update.zone_id), v_update.held_until);
    end if;
  end loop;
end
$$;

-- Stays with an alert whose subject was not seen for 24 hours, with what the alert told last; locked, but for those
-- that are being matched.
create function private.unseen_stays(p_at timestamptz, p_limit integer)
returns table (zone_id uuid, key text, memory jsonb, event jsonb, event_revision integer)
language sql volatile set search_path = '' as $$
  with silent as (
    select m.zone_id, m.key, m.memory || jsonb_build_object('last_seen_at', private.iso(s.seen_at)) as memory
    from watchpost.match_memory m
    cross join lateral (select greatest(m.seen_at, (m.memory ->> 'last_seen_at')::timestamptz) as seen_at) s
    where m.updated_at < p_at - interval '24 hours'
      and m.memory ->> 'kind' = 'stay' and m.memory ->> 'alert' is not null
      and s.seen_at < p_at - interval '24 hours'
    order by m.updated_at
    limit p_limit
    for update of m skip locked
  )
  select s.zone_id, s.key, s.memory, private.stored_event(coalesce(a.current, a.event)), a.event_revision
  from silent s
  left join watchpost.alerts a
    on a.id = private.alert_of(s.zone_id, coalesce(s.memory ->> 'alert_event_id', ''), s.key)
$$;
grant execute on function private.told_event, private.event_changes, private.is_own, private.noted_update, private.status_in,
  private.raise_alerts, private.send_alerts, private.alert_of, private.advance_alerts, private.update_alerts,
  private.unseen_stays to watchpost_jobs;

reset role;
