-- A lead is found by its phone number, too.
create or replace function private.find_leads(p_query text, p_limit integer) returns table (lead_id uuid)
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  v_current constant text := private.current_project();
  v_project constant uuid := case when v_current <> '*' then v_current::uuid end;
  v_whole constant tsquery := private.word_query(p_query, false);
  v_begun constant tsquery := private.word_query(p_query, true);
  v_part constant text := private.part_pattern(p_query);
  v_folded constant text := private.fold(trim(p_query));
  -- A number as it is dialled: without the country's code or a zero in front, and however it is written.
  v_phone constant text := case when p_query ~ '^[-0-9 ()+./]+$' then
    right(regexp_replace(p_query, '[^0-9]', '', 'g'), 10) end;
  v_ids uuid[] := '{}';
begin
  if v_current is null or v_begun is null and v_part is null then
    return;
  end if;
  v_ids := array(
    select lead.id from hub.leads lead
    where private.words(lead.search_text) @@ v_whole
      and (v_project is null or lead.project_id = v_project)
    limit p_limit);
  if cardinality(v_ids) < p_limit then
    v_ids := array(
      select unnest(v_ids)
      union
      (
        select lead.id from hub.leads lead
        where (private.words(lead.search_text) @@ v_begun or lead.search_text like v_part)
          and (v_project is null or lead.project_id = v_project)
        limit p_limit
      )
      union
      (
        select note.lead_id from hub.notes note
        where private.words(private.fold(note.text)) @@ v_begun
          and (v_project is null or note.project_id = v_project)
        limit p_limit
      ));
  end if;
  if length(v_phone) >= 5 then
    v_ids := v_ids || array(
      select lead.id from hub.leads lead
      where regexp_replace(lead.phone, '[^0-9]', '', 'g') like '%' || v_phone || '%'
        and lead.id <> all(v_ids)
        and (v_project is null or lead.project_id = v_project)
      limit p_limit);
  end if;
  if cardinality(v_ids) = 0 and length(v_folded) between 4 and 60 then
    v_ids := array(
      select lead.id from hub.leads lead
      where v_folded operator(extensions.<%) lead.search_text
        and (v_project is null or lead.project_id = v_project)
      limit p_limit);
  end if;
  return query select unnest(v_ids);
end
$$;
