set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.run_step(p_alert_id uuid, p_round integer, p_step integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION private.steps_reach(p_owner_id uuid, p_escalation jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce(jsonb_agg(jsonb_build_object(
    'after_minutes', s.value -> 'after_minutes',
    'channels', (select count(*) from jsonb_array_elements(s.value -> 'channel_ids')),
    'lost', (
      select count(*) from jsonb_array_elements_text(s.value -> 'channel_ids') as given (id)
      where not exists (
        select from watchpost.channels c where c.id = given.id::uuid and private.is_usable(c, p_owner_id))),
    'is_reached', exists (
      select from jsonb_array_elements_text(s.value -> 'channel_ids') as given (id)
      join watchpost.channels c on c.id = given.id::uuid
      where private.is_usable(c, p_owner_id) and c.enabled and c.status <> 'unconfirmed'
        and private.takes(c.messages, 'alert.raised'))) order by s.nr), '[]')
  from jsonb_array_elements(p_escalation) with ordinality as s (value, nr)
$function$;

reset check_function_bodies;
reset role;
