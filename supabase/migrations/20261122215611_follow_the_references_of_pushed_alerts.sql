set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.event_known_as(p_id text)
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select coalesce((
    select e.id
    from watchpost.event_aliases a
    join watchpost.events e on e.id = a.event_id
    where a.alias = p_id and (e.tenant_id is null or e.tenant_id = any(private.my_tenants()))), (
    select e.id
    from regexp_match(p_id, '^(custom:[a-z][a-z0-9-]*):(.+)$') as own (parts)
    cross join unnest(private.my_tenants()) with ordinality as mine (tenant_id, ordinal)
    cross join lateral (select private.own_event_id(own.parts[1], mine.tenant_id, own.parts[2])) as given (id)
    left join watchpost.event_aliases a on a.alias = given.id
    join watchpost.events e on e.id = coalesce(a.event_id, given.id) and e.tenant_id = mine.tenant_id
    order by mine.ordinal
    limit 1), p_id)
$function$;

CREATE OR REPLACE FUNCTION private.push_events(p_source text, p_org_id uuid, p_events jsonb, p_limits jsonb)
 RETURNS TABLE(id text, event_id text, outcome text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_caller uuid := private.uid();
  v_tenant uuid := coalesce(p_org_id, v_caller);
  v_count integer := jsonb_array_length(p_events);
  v_plan text;
  v_budget record;
  v_stored record;
begin
  if v_caller is null then
    raise exception 'unauthenticated' using errcode = 'WP401';
  end if;
  if p_org_id is not null and not p_org_id = any(private.my_orgs()) then
    raise exception 'not a member' using errcode = 'WPORG';
  end if;
  if p_source !~ '^custom:[a-z][a-z0-9-]*$' then
    raise exception '% is no source of your own', p_source using errcode = 'WP400';
  end if;
  select a.plan into v_plan from watchpost.accounts a where a.user_id = v_caller;
  if v_count > 0 then
    select * into v_budget
    from private.consume('events:' || v_caller, (p_limits ->> v_plan)::integer, interval '1 day', v_count);
    if not v_budget.allowed then
      raise exception '%', v_budget.retry_after using errcode = 'WPDAY', detail = p_limits ->> v_plan;
    end if;
  end if;
  -- Switched off, because nothing polls it.
  insert into watchpost.sources (source, title, attribution, types, enabled, interval_seconds)
  values ('custom', 'Events of accounts and organisations', 'custom', '{}', false, 60)
  on conflict do nothing;
  select * into v_stored
  from private.ingest_events(p_source, (
      select coalesce(jsonb_agg(
        j.value || jsonb_build_object(
          'id', private.own_event_id(p_source, v_tenant, j.value ->> 'id'),
          'aliases', array(
            select private.own_event_id(p_source, v_tenant, a.alias)
            from jsonb_array_elements_text(j.value -> 'aliases') as a (alias)))
        order by j.ordinal), '[]')
      from jsonb_array_elements(p_events) with ordinality as j (value, ordinal)),
    true, v_caller, p_org_id);
  return query
    select distinct on (j.value ->> 'id') j.value ->> 'id', stored.event_id, case
      when stored.event_id = any(v_stored.inserted_ids) then 'created'
      when stored.event_id = any(v_stored.revised_ids) then 'revised'
      else 'unchanged'
    end
    from jsonb_array_elements(p_events) as j (value)
    cross join lateral (select private.own_event_id(p_source, v_tenant, j.value ->> 'id')) as given (event_id)
    cross join lateral (select coalesce(
      (select a.event_id from watchpost.event_aliases a where a.alias = given.event_id), given.event_id)) as stored (event_id);
end
$function$;

reset check_function_bodies;
reset role;
