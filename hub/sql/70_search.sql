-- Search over projects, leads, drafts and missions: words by full text, parts of words by trigrams.
--
-- The functions that look into the indexes are security definer and ask for the project themselves: under
-- row-level security neither `@@` nor `like` is leakproof, so no index would be used for them.

-- The words of a folded text, without the characters between them: an address is several words.
create function private.words(p_folded text) returns tsvector
language sql immutable parallel safe set search_path = '' as $$
  select to_tsvector('pg_catalog.simple', regexp_replace(p_folded, '[^[:alnum:]]+', ' ', 'g'))
$$;

-- A query for all words of a text, the last ones as prefixes; null if there are none.
create function private.word_query(p_text text, p_is_prefix boolean) returns tsquery
language sql immutable parallel safe set search_path = '' as $$
  select to_tsquery('pg_catalog.simple', string_agg(
    case when p_is_prefix then word || ':*' else word end, ' & '))
  from regexp_split_to_table(private.fold(p_text), '[^[:alnum:]]+') as word
  where word <> ''
$$;

-- A pattern for texts that contain this one; null below three characters, which trigrams cannot find.
create function private.part_pattern(p_text text) returns text
language sql immutable parallel safe set search_path = '' as $$
  select case
    when length(private.fold(trim(p_text))) >= 3
    then '%' || regexp_replace(private.fold(trim(p_text)), '([\\%_])', '\\\1', 'g') || '%'
  end
$$;

create function private.lead_text(
  p_name text, p_email text, p_company text, p_title text, p_website text, p_country text, p_tags text[]
)
returns text
language sql immutable parallel safe set search_path = '' as $$
  select private.fold(
    coalesce(p_name, '') || ' ' || coalesce(p_company, '') || ' ' || coalesce(p_email, '') || ' '
    || coalesce(p_title, '') || ' ' || coalesce(p_website, '') || ' ' || coalesce(p_country, '') || ' '
    || array_to_string(p_tags, ' '))
$$;

alter table hub.leads add column search_text text
  generated always as (
    private.lead_text(name, email, company, title, website, country, tags)
  ) stored;
comment on column hub.leads.search_text is 'The lead''s words, folded, which search uses.';
create index leads_words on hub.leads using gin (private.words(search_text));
create index leads_parts on hub.leads using gin (search_text extensions.gin_trgm_ops);

create index notes_words on hub.notes using gin (private.words(private.fold(text)));

create function private.project_text(p_project hub.projects) returns text
language sql immutable parallel safe set search_path = '' as $$
  select private.fold(
    p_project.name || ' ' || p_project.slug || ' ' || coalesce(p_project.industry, '') || ' '
    || coalesce(p_project.website, '') || ' ' || coalesce(p_project.icp, ''))
$$;

create function private.draft_text(p_subject text, p_text text) returns text
language sql immutable parallel safe set search_path = '' as $$
  select private.fold(p_subject || ' ' || left(p_text, 20000))
$$;
create index drafts_words on hub.drafts using gin (private.words(private.draft_text(subject, text)));
create index drafts_parts on hub.drafts
  using gin (private.draft_text(subject, text) extensions.gin_trgm_ops);

-- A mission is found by its task, its summary and the titles of its documents.
create function private.mission_text(p_task text, p_result jsonb) returns text
language sql immutable parallel safe set search_path = '' as $$
  select private.fold(
    left(p_task, 10000) || ' ' || coalesce(left(p_result ->> 'summary', 10000), '') || ' '
    || coalesce(left(jsonb_path_query_array(p_result, '$.documents[*].title')::text, 5000), ''))
$$;
create index missions_words on hub.missions using gin (private.words(private.mission_text(task, result)));
create index missions_parts on hub.missions
  using gin (private.mission_text(task, result) extensions.gin_trgm_ops);

-- Leads in this transaction's project that a query finds, at most p_limit in each way. Similarity comes last and only
-- if nothing else was found: it is expensive and meant for typing mistakes.
create function private.find_leads(p_query text, p_limit integer) returns table (lead_id uuid)
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

create function private.find_drafts(p_query text, p_limit integer) returns table (draft_id uuid)
language sql stable security definer set search_path = '' as $$
  select draft.id
  from hub.drafts draft
  where (
      private.words(private.draft_text(draft.subject, draft.text)) @@ private.word_query(p_query, true)
      or private.draft_text(draft.subject, draft.text) like private.part_pattern(p_query))
    and private.in_project(draft.project_id)
  limit p_limit
$$;

create function private.find_missions(p_query text, p_limit integer) returns table (mission_id uuid)
language sql stable security definer set search_path = '' as $$
  select mission.id
  from hub.missions mission
  where (
      private.words(private.mission_text(mission.task, mission.result)) @@ private.word_query(p_query, true)
      or private.mission_text(mission.task, mission.result) like private.part_pattern(p_query))
    and private.in_project(mission.project_id)
  limit p_limit
$$;

-- How well a folded text fits a query, 0 to 1.
create function private.fit(p_query text, p_title text, p_folded text) returns real
language sql immutable parallel safe set search_path = '' as $$
  select least(1, (
    0.3 * extensions.word_similarity(private.fold(trim(p_query)), private.fold(p_title))
    + 0.3 * extensions.similarity(private.fold(trim(p_query)), private.fold(p_title))
    + 0.2 * extensions.word_similarity(private.fold(trim(p_query)), left(p_folded, 2000))
    + case when private.words(p_folded) @@ private.word_query(p_query, false) then 0.2 else 0 end
  ))::real
$$;

grant execute on function
  private.words, private.word_query, private.part_pattern, private.lead_text, private.project_text,
  private.draft_text, private.mission_text, private.find_leads, private.find_drafts,
  private.find_missions, private.fit
to hub_ro, hub_rw;
