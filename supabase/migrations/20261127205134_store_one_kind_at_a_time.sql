set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.ingest_events(p_source text, p_events jsonb, p_match boolean DEFAULT true, p_owner_id uuid DEFAULT NULL::uuid, p_org_id uuid DEFAULT NULL::uuid)
 RETURNS TABLE(inserted integer, revised integer, unchanged integer, batch_id uuid, inserted_ids text[], revised_ids text[], dropped integer, flagged integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_batch uuid := gen_random_uuid();
  v_given integer := jsonb_array_length(p_events);
  v_events private.incoming_event[];
  v_positions text[] := '{}';
  v_stored text[] := '{}';
  v_is_own boolean;
  v_latest timestamptz;
  v_moves boolean;
  v_stands boolean;
  v_tenant uuid := coalesce(p_org_id, p_owner_id);
  -- Events of accounts and organisations share one queue.
  v_queue text := case when starts_with(p_source, 'custom:') then 'custom' else p_source end;
begin
  -- A source can only name its own events: nobody takes over another's by an id or alias of it.
  select bool_and(starts_with(j.value ->> 'id', p_source || ':')), max((j.value ->> 'ts')::timestamptz)
  into v_is_own, v_latest
  from jsonb_array_elements(p_events) as j (value);
  if not v_is_own then
    raise exception 'every id of source % begins with %:', p_source, p_source using errcode = 'WP400';
  end if;
  -- One ingest of a source at a time, because aliases and revisions depend on what is stored.
  perform pg_advisory_xact_lock(hashtextextended('ingest:' || p_source || coalesce(':' || v_tenant, ''), 0));

  insert into watchpost.batches (id, source, size, matched_at)
  values (v_batch, v_queue, v_given, case when p_match then null else now() end);
  v_events := array(select e from private.read_events(p_source, p_events) e);
  -- Most batches have only the one or the other.
  select coalesce(bool_or(e.is_moving), false), coalesce(bool_or(not e.is_moving), false) into v_moves, v_stands
  from unnest(v_events) e;
  revised_ids := '{}';
  dropped := 0;
  flagged := 0;
  if v_moves then
    select p.stored, p.dropped, p.flagged into v_positions, dropped, flagged
    from private.store_positions(v_batch, p_source, v_tenant, v_events) p;
  end if;
  if v_stands then
    select e.inserted, e.revised into v_stored, revised_ids
    from private.store_events(v_batch, p_source, p_owner_id, p_org_id, v_events) e;
    perform private.store_aliases(p_source, v_events);
  end if;
  inserted_ids := v_positions || v_stored;
  inserted := cardinality(inserted_ids);
  revised := cardinality(revised_ids);
  unchanged := v_given - inserted - revised - dropped;

  update watchpost.sources
  set last_event_at = greatest(last_event_at, v_latest)
  where source = p_source and v_given > 0;

  if inserted + revised = 0 then
    delete from watchpost.batches where id = v_batch;
    return next;
    return;
  end if;
  if not p_match then
    -- Nothing will say which of its positions matter.
    perform private.thin_positions(array[v_batch], v_positions);
  end if;
  batch_id := v_batch;
  update watchpost.batches set size = inserted + revised where id = v_batch;
  if p_match then
    perform private.enqueue('match', v_batch, jsonb_build_object('source', v_queue));
  end if;
  return next;
end
$function$;

reset check_function_bodies;
reset role;
