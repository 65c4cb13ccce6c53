-- Escalation: the steps of an alert that nobody acknowledges, when each is due, and what became of it.
--
--   waiting ──due, see functions/jobs/escalate.ts──▶ ran, stopped, or waiting until later
--   waiting ──the alert is seen, resolved or over, or escalates──▶ stopped

set role watchpost_owner;

create table watchpost.alert_steps (
  alert_id uuid not null references watchpost.alerts on delete cascade,
  round integer not null,
  step smallint not null check (step between 1 and 5),
  after_minutes integer not null check (after_minutes between 1 and 1440),
  began_at timestamptz not null,
  due_at timestamptz not null,
  status text not null default 'waiting' check (status in ('waiting', 'ran', 'stopped')),
  reason text,
  settled_at timestamptz,
  channels jsonb not null default '[]',
  primary key (alert_id, round, step),
  check ((status = 'waiting') = (settled_at is null)),
  check ((status = 'stopped') = (reason is not null))
);
comment on table watchpost.alert_steps is 'One row per step of the escalation of an alert, from when the alert was sent.';
comment on column watchpost.alert_steps.round is 'Number of the escalated update with which the steps began anew; 0 for the alert itself.';
comment on column watchpost.alert_steps.after_minutes is 'Names the step of the zone, whose channels are read when it is due.';
comment on column watchpost.alert_steps.began_at is 'When the alert, or the update of round, was sent.';
comment on column watchpost.alert_steps.due_at is 'Later than after_minutes where it has to wait for the end of quiet hours.';
comment on column watchpost.alert_steps.reason is 'Why it was stopped, in one word.';
comment on column watchpost.alert_steps.channels is 'Of one that was due: each channel, and whether it was told or why not.';
create index alert_steps_due on watchpost.alert_steps (due_at) where status = 'waiting';
alter table watchpost.alert_steps enable row level security;
alter table watchpost.alert_steps force row level security;
create policy alert_steps_select on watchpost.alert_steps for select to authenticated
  using (exists (select from watchpost.alerts a where a.id = alert_id));
create policy alert_steps_jobs on watchpost.alert_steps for select to watchpost_jobs using (true);
grant select on watchpost.alert_steps to authenticated, watchpost_jobs;

-- Which of its updates an alert was sent with last that made it worse; 0: none.
create function private.round_of(a watchpost.alerts) returns integer
language sql immutable set search_path = '' as $$
  select coalesce(max(u.nr) filter (where u.value ->> 'kind' = 'escalated'), 0)::integer
  from jsonb_array_elements(a.updates) with ordinality as u (value, nr)
$$;

-- Why nothing of an alert is left to be done; null: there is.
create function private.calm_of(a watchpost.alerts) returns text
language sql immutable set search_path = '' as $$
  select case
    when a.resolved then 'resolved'
    when a.seen_at is not null then 'acknowledged'
    else (
      select nullif(last.kind, 'going on')
      from (
        select case when u.value ->> 'kind' in ('ended', 'retracted') then u.value ->> 'kind' else 'going on' end as kind
        from jsonb_array_elements(a.updates) with ordinality as u (value, nr)
        where u.value ->> 'kind' in ('ended', 'retracted', 'revised', 'escalated')
        order by u.nr desc
        limit 1) last)
  end
$$;

-- Security definer, the functions that follow: no role may write the steps.
-- The steps of alerts that go out now, by the zones as they are. Those of an alert that escalated begin anew; others
-- exist once, however often this is called; a drill has them where its maker asked for them.
create function private.start_steps(p_alert_ids uuid[]) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  update watchpost.alert_steps s
  set status = 'stopped', reason = 'escalated', settled_at = now()
  from watchpost.alerts a
  where a.id = any(p_alert_ids) and s.alert_id = a.id and s.status = 'waiting' and s.round < private.round_of(a);
  -- Hardly any zone has steps: of the others' alerts no update is read.
  with escalating as materialized (
    select a.id, z.escalation
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id and z.deleted_at is null and z.escalation is not null
    where a.id = any(p_alert_ids) and a.status not in ('held', 'suppressed')
  )
  insert into watchpost.alert_steps (alert_id, round, step, after_minutes, began_at, due_at)
  select a.id, private.round_of(a), s.nr, (s.value ->> 'after_minutes')::integer, now(),
    now() + (s.value ->> 'after_minutes')::integer * interval '1 minute'
  from escalating e
  join watchpost.alerts a on a.id = e.id
  cross join lateral jsonb_array_elements(e.escalation) with ordinality as s (value, nr)
  where private.calm_of(a) is null
    and (a.drill_id is null or (select d.escalates from watchpost.drills d where d.id = a.drill_id))
  on conflict do nothing;
end
$$;
grant execute on function private.start_steps to watchpost_jobs;

-- What ends the steps of an alert, whoever does it.
create function private.stop_steps() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
begin
  update watchpost.alert_steps
  set status = 'stopped', reason = private.calm_of(new), settled_at = now()
  where alert_id = new.id and status = 'waiting' and private.calm_of(new) is not null;
  return null;
end
$$;
create trigger alerts_steps after update of seen_at, resolved, updates on watchpost.alerts
  for each row when (
    new.seen_at is not null and old.seen_at is null or new.resolved and not old.resolved or new.updates <> old.updates)
  execute function private.stop_steps();

-- The steps that are due of up to p_limit alerts, with what decides about them. Their alerts are locked: whoever
-- acknowledges one is either before its steps or after them. Alerts that another process looks at are left to it.
create function private.due_steps(p_limit integer)
returns table (
  alert_id uuid, round integer, step smallint, after_minutes integer, calm text, alert_status text, held_until timestamptz,
  severity double precision, off text, snoozed_until timestamptz, quiet_hours_start text, quiet_hours_end text,
  quiet_hours_tz text, quiet_windows jsonb, quiet_mode text, emergency_severity double precision, is_in_zone boolean
)
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_ids uuid[];
begin
  -- A lock of its own: what follows sees what whoever held it has committed.
  v_ids := array(
    select a.id
    from watchpost.alerts a
    join (
      select s.alert_id, min(s.due_at) as due_at
      from watchpost.alert_steps s
      where s.status = 'waiting' and s.due_at <= now()
      group by s.alert_id) due on due.alert_id = a.id
    order by due.due_at, a.id
    limit p_limit
    for no key update of a skip locked);
  return query
    select s.alert_id, s.round, s.step, s.after_minutes, private.calm_of(a), a.status, a.held_until, a.severity,
      case
        when z.deleted_at is not null then 'deleted'
        when p.plan = 'free' then 'paused_by_plan'
        when private.is_banned(p.banned_until) then 'owner_banned'
        when not z.enabled then 'disabled'
      end,
      z.snoozed_until, z.quiet_hours_start, z.quiet_hours_end, z.quiet_hours_tz, z.quiet_windows, z.quiet_mode,
      z.emergency_severity, coalesce(z.escalation @> jsonb_build_array(jsonb_build_object('after_minutes', s.after_minutes)), false)
    from watchpost.alert_steps s
    join watchpost.alerts a on a.id = s.alert_id
    join watchpost.zones z on z.id = a.zone_id
    join watchpost.accounts p on p.user_id = z.owner_id
    where s.alert_id = any(v_ids) and s.status = 'waiting' and s.due_at <= now()
    order by s.due_at, s.alert_id, s.round, s.step;
end
$$;

-- A step that waits on: its time comes later.
create function private.delay_step(p_alert_id uuid, p_round integer, p_step integer, p_until timestamptz) returns void
language sql volatile security definer set search_path = '' as $$
  update watchpost.alert_steps set due_at = p_until
  where alert_id = p_alert_id and round = p_round and step = p_step and status = 'waiting'
$$;

create function private.stop_step(p_alert_id uuid, p_round integer, p_step integer, p_reason text) returns void
language sql volatile security definer set search_path = '' as $$
  update watchpost.alert_steps set status = 'stopped', reason = p_reason, settled_at = now()
  where alert_id = p_alert_id and round = p_round and step = p_step and status = 'waiting'
$$;

-- Runs a step once: a message to each of its channels that the zone may still use, the same as the first of the alert, and
-- marked. One that was sent nowhere counts as stopped. Says how many were told.
create function private.run_step(p_alert_id uuid, p_round integer, p_step integer) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_step watchpost.alert_steps;
  v_channels jsonb;
  v_told uuid[];
begin
  select * into v_step from watchpost.alert_steps
  where alert_id = p_alert_id and round = p_round and step = p_step and status = 'waiting'
  for update;
  if not found then
    return 0;
  end if;
  select coalesce(jsonb_agg(jsonb_build_object('channel_id', g.id, 'outcome', g.outcome) order by g.nr), '[]'),
    coalesce(array_agg(g.id order by g.nr) filter (where g.outcome = 'told'), '{}')
  into v_channels, v_told
  from (
    select given.id::uuid as id, min(given.nr) as nr, min(case
      when c.id is null or not private.is_usable(c, z.owner_id) then 'lost'
      when not c.enabled then 'disabled'
      when c.status = 'unconfirmed' then 'unconfirmed'
      when not private.takes(c.messages, 'alert.raised') then 'takes_no_alert_raised'
      else 'told'
    end) as outcome
    from watchpost.alerts a
    join watchpost.zones z on z.id = a.zone_id
    cross join lateral jsonb_array_elements(z.escalation) s
    cross join lateral jsonb_array_elements_text(s -> 'channel_ids') with ordinality as given (id, nr)
    left join watchpost.channels c on c.id = given.id::uuid
    where a.id = p_alert_id and (s ->> 'after_minutes')::integer = v_step.after_minutes
    group by given.id
  ) g;
  update watchpost.alert_steps
  set status = case when v_told = '{}' then 'stopped' else 'ran' end,
      reason = case when v_told = '{}' then 'no_channel' end,
      settled_at = now(), channels = v_channels
  where alert_id = p_alert_id and round = p_round and step = p_step;
  perform private.deliver_step(p_alert_id, v_told, jsonb_build_object(
    'step', p_step, 'steps', (select count(*) from watchpost.alert_steps where alert_id = p_alert_id and round = p_round),
    'after_minutes', v_step.after_minutes, 'since', private.iso(v_step.began_at)));
  return cardinality(v_told);
end
$$;
grant execute on function private.due_steps, private.delay_step, private.stop_step, private.run_step to watchpost_jobs;

-- The steps of an alert as the wire has them. Runs as its caller.
create function private.steps_json(p_alert_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'step', s.step, 'after_minutes', s.after_minutes, 'began_at', private.iso(s.began_at), 'due_at', private.iso(s.due_at),
    'status', s.status, 'reason', s.reason, 'settled_at', private.iso(s.settled_at), 'channels', s.channels)
    order by s.round, s.step), '[]')
  from watchpost.alert_steps s
  where s.alert_id = p_alert_id
$$;
grant execute on function private.steps_json to authenticated;

reset role;
