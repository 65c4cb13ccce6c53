-- Push: events that an account sends itself, as source custom:<name>, for itself or for an organisation.

set role watchpost_owner;

-- What the id of an event of one's own begins with: the ids of two tenants never meet.
create function private.own_event_id(p_source text, p_tenant_id uuid, p_id text) returns text
language sql immutable set search_path = '' as $$
  select p_source || ':' || left(replace(p_tenant_id::text, '-', ''), 12) || '.' || p_id
$$;

-- Security definer: callers cannot write events in any other way. Stores events of the caller, or of an organisation
-- that the caller belongs to, and returns for each id what became of it. p_events has the form that ingest_events
-- takes, with ids and aliases that are unique for the caller or organisation. Raises WPDAY with the seconds to wait when
-- the caller has sent p_limits of its plan within a day, and WPORG for an organisation of others.
create function private.push_events(p_source text, p_org_id uuid, p_events jsonb, p_limits jsonb)
returns table (id text, event_id text, outcome text)
language plpgsql volatile security definer set search_path = '' as $$
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
$$;
grant execute on function private.push_events to authenticated;

reset role;
