-- Drilling: how a drill begins, what is recorded of it and how it is told. In between it is an alert like any other, see
-- functions/jobs/drill.ts, but for watchpost.alerts.drill_id: with that, no caller sees it among the alerts.

set role watchpost_owner;

-- Security definer: a drill of a zone of the caller, with its job, as the wire has it; who may, and how often, is decided
-- here. Null for a zone that the caller does not see. errcode WP403; WP409 when there were too many.
create function private.begin_drill(p_zone_id uuid, p_event jsonb, p_ignores_quiet_hours boolean, p_escalates boolean)
returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_zone watchpost.zones;
  v_id uuid;
begin
  select * into v_zone from watchpost.zones
  where id = p_zone_id and deleted_at is null and tenant_id = any(private.my_tenants());
  if not found then
    return null;
  end if;
  if not private.can_write() or not (
    v_zone.owner_id = private.uid() or coalesce(v_zone.org_id = any(private.admin_orgs()), false)) then
    raise exception 'only the owner of the zone or an admin of its organisation may start a drill' using errcode = 'WP403';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('drill:' || v_zone.owner_id, 0));
  if (select count(*) from watchpost.drills where zone_id = p_zone_id and created_at > now() - interval '1 day') >= 20 then
    raise exception 'This zone has had 20 drills in the last 24 hours. Wait, or see what became of them: GET /zones/:id/drills/:drillId.'
      using errcode = 'WP409';
  end if;
  if (select count(*) from watchpost.drills d
      join watchpost.zones z on z.id = d.zone_id
      where z.owner_id = v_zone.owner_id and d.created_at > now() - interval '1 day') >= 100 then
    raise exception 'The zones of this account have had 100 drills in the last 24 hours. Wait until the first of them is a day old.'
      using errcode = 'WP409';
  end if;
  insert into watchpost.drills (zone_id, created_by, event, ignores_quiet_hours, escalates)
  values (p_zone_id, private.uid(), p_event, p_ignores_quiet_hours, p_escalates)
  returning id into v_id;
  perform private.enqueue('drill', v_id, jsonb_build_object('drill_id', v_id));
  perform private.record_audit('zone.drilled', 'zone', p_zone_id::text,
    v_zone.owner_id || private.admins_of(array[v_zone.org_id]), jsonb_build_object(
      'drill_id', v_id, 'label', v_zone.label, 'ignore_quiet_hours', p_ignores_quiet_hours, 'escalate', p_escalates));
  return private.drill_json(p_zone_id, v_id);
end
$$;
grant execute on function private.begin_drill to authenticated;

-- The channels that an alert of a zone goes to, and those that it might be expected to go to; with why it does not.
create function private.drill_channels(z watchpost.zones) returns table (channel_id uuid, reason text)
language sql stable set search_path = '' as $$
  with goes as materialized (
    select g.channel_id from private.zone_channels(z.owner_id, z.org_id, z.channel_ids) g
  )
  select c.id, coalesce(
    private.refusal_of(c, z),
    case
      when not private.takes(c.messages, 'alert.raised') then 'The channel takes no alert.raised.'
      when c.id not in (select g.channel_id from goes g) then 'The zone does not send to this channel.'
    end)
  from watchpost.channels c
  where c.id in (select g.channel_id from goes g) or c.id = any(z.channel_ids)
    or z.channel_ids is null and c.deleted_at is null
      and (c.owner_id = z.owner_id and (c.org_id is null or c.org_id is not distinct from z.org_id) or c.org_id = z.org_id)
  order by c.created_at, c.id
$$;

-- Security definer, both: the jobs write no drills themselves. Records what was decided about a drill, once; one that was
-- sent has an end.
create function private.settle_drill(p_id uuid, p_decision jsonb) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  update watchpost.drills d
  set decided_at = now(), decision = p_decision, escalation = z.escalation,
      channels = coalesce((
        select jsonb_agg(jsonb_build_object('channel_id', c.channel_id, 'reason', c.reason))
        from private.drill_channels(z) c), '[]')
  from watchpost.zones z
  where d.id = p_id and d.decided_at is null and z.id = d.zone_id;
  if found and (p_decision ->> 'is_sent')::boolean then
    perform private.enqueue('drill', gen_random_uuid(), jsonb_build_object('drill_id', p_id, 'ends', 'true'),
      pgboss.job_now() + interval '15 minutes');
  end if;
end
$$;

-- The end of a drill, 15 minutes after it rang last: an incident that it opened is resolved, and a phone that still rings
-- for it stops. Says whether it has ended; while a step is to come, it is looked at again.
create function private.end_drill(p_id uuid) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_alert uuid := (select a.id from watchpost.alerts a where a.drill_id = p_id);
  v_until timestamptz := (
    select max(case s.status when 'waiting' then greatest(s.due_at, now()) when 'ran' then s.settled_at end) + interval '15 minutes'
    from watchpost.alert_steps s
    where s.alert_id = v_alert);
begin
  if v_until > now() then
    perform private.enqueue(
      'drill', gen_random_uuid(), jsonb_build_object('drill_id', p_id, 'ends', 'true'), v_until);
    return false;
  end if;
  perform private.deliver_act(v_alert, 'resolved');
  return true;
end
$$;
grant execute on function private.settle_drill, private.end_drill to watchpost_jobs;

-- What a drill said to each of its channels, first messages and those of steps, and why others got nothing.
create function private.drill_messages(d watchpost.drills)
returns table (
  channel_id uuid, delivery_id uuid, type text, step integer, outcome text, reason text, next_attempt_at timestamptz,
  delivered_at timestamptz, attempts jsonb
)
language sql stable set search_path = '' as $$
  select x.channel_id, x.id, x.type, (x.step ->> 'step')::integer,
    case x.status
      when 'succeeded' then 'succeeded'
      when 'cancelled' then 'skipped'
      when 'failed' then 'failed'
      when 'expired' then 'failed'
      else 'waiting'
    end,
    x.last_error, x.next_attempt_at, x.delivered_at, coalesce((
      select jsonb_agg(jsonb_build_object(
        'at', private.iso(t.at), 'outcome', t.outcome, 'status_code', t.status_code, 'duration_ms', t.duration_ms,
        'error', t.error) order by t.attempt)
      from watchpost.delivery_attempts t where t.delivery_id = coalesce(x.digest_id, x.id)), '[]')
  from watchpost.deliveries x
  join watchpost.alerts a on a.id = x.alert_id
  where a.drill_id = d.id and x.type <> 'alert.digest'
  union all
  select c.channel_id, null, null, null,
    case when c.reason is null and d.decision ->> 'outcome' = 'held' then 'held' else 'skipped' end,
    coalesce(c.reason, d.decision ->> 'reason'), null, null, '[]'
  from jsonb_to_recordset(d.channels) as c (channel_id uuid, reason text)
  where not exists (
    select from watchpost.deliveries x
    join watchpost.alerts a on a.id = x.alert_id
    where a.drill_id = d.id and x.channel_id = c.channel_id)
$$;

-- The steps of a drill: what became of each, or when each would have been due where none was to run.
create function private.drill_steps(d watchpost.drills) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'step', s.nr, 'after_minutes', s.value -> 'after_minutes', 'channel_ids', s.value -> 'channel_ids',
    'due_at', private.iso(coalesce(ran.due_at, case when (d.decision ->> 'is_sent')::boolean then
      d.decided_at + (s.value ->> 'after_minutes')::integer * interval '1 minute' end)),
    'status', coalesce(ran.status, 'not_run'), 'reason', ran.reason) order by s.nr), '[]')
  from jsonb_array_elements(d.escalation) with ordinality as s (value, nr)
  left join (
    select x.* from watchpost.alert_steps x
    join watchpost.alerts a on a.id = x.alert_id
    where a.drill_id = d.id) ran on ran.step = s.nr
$$;

-- Security definer, because no policy shows drills, or their alerts and deliveries. A drill as the wire has it, for
-- whoever sees its zone, with the channels that the caller sees; null for others.
create function private.drill_json(p_zone_id uuid, p_id uuid) returns jsonb
language sql stable security definer set search_path = '' as $$
  with drill as (
    select d
    from watchpost.drills d
    join watchpost.zones z on z.id = d.zone_id
    where d.id = p_id and d.zone_id = p_zone_id and z.deleted_at is null and z.tenant_id = any(private.my_tenants())
  ),
  told as (
    select m.*, c.kind, coalesce(c.label, c.kind) as channel, c.tenant_id = any(private.my_tenants()) as is_seen
    from drill
    cross join lateral private.drill_messages(drill.d) m
    join watchpost.channels c on c.id = m.channel_id
  )
  select jsonb_build_object(
    'id', d.id, 'zone_id', d.zone_id, 'created_at', private.iso(d.created_at), 'event', d.event,
    'ignore_quiet_hours', d.ignores_quiet_hours, 'escalate', d.escalates,
    'status', case
      when d.decided_at is null then 'waiting'
      when not (d.decision ->> 'is_sent')::boolean then case d.decision ->> 'outcome' when 'held' then 'held' else 'stopped' end
      when exists (select from told t where t.outcome = 'waiting') then 'sending'
      when exists (select from told t where t.delivery_id is not null) then 'done'
      else 'no_channel'
    end,
    'decided_at', private.iso(d.decided_at),
    'zone_version', d.decision -> 'zone_version', 'raised', d.decision -> 'raised', 'reason', d.decision -> 'reason',
    'held_until', d.decision -> 'held_until', 'checks', coalesce(d.decision -> 'checks', '[]'),
    'channels', coalesce((
      select jsonb_agg(jsonb_build_object(
        'channel_id', t.channel_id, 'channel', t.channel, 'kind', t.kind, 'delivery_id', t.delivery_id, 'type', t.type, 'step', t.step,
        'outcome', t.outcome, 'reason', t.reason, 'next_attempt_at', private.iso(t.next_attempt_at),
        'delivered_at', private.iso(t.delivered_at), 'attempts', t.attempts)
        order by t.type, t.step nulls first, t.channel, t.channel_id)
      from told t where t.is_seen), '[]'),
    'hidden_channels', (select count(*) from told t where not t.is_seen),
    'escalation', private.drill_steps(d),
    'seen_at', (select private.iso(a.seen_at) from watchpost.alerts a where a.drill_id = d.id))
  from drill
  join watchpost.drills d on d.id = (drill.d).id
$$;
grant execute on function private.drill_json to authenticated;

-- Old drills, with their alerts and deliveries; says how many.
create function private.purge_drills(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('drills');
  v_count integer;
begin
  delete from watchpost.drills where id in (
    select id from watchpost.drills where created_at < v_before order by created_at limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

reset role;
