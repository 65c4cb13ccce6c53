-- Search over projects, leads, drafts and missions: words by full text, parts of words by trigrams.
--
-- The functions that look into the indexes are security definer and test the scope themselves: under
-- row-level security neither `@@` nor `like` is leakproof, so no index would be used for them.

-- The words of a folded text, without what stands between them: an address is several words.
create function private.words(folded text) returns tsvector
language sql immutable parallel safe set search_path = ''
return to_tsvector('pg_catalog.simple', regexp_replace(folded, '[^[:alnum:]]+', ' ', 'g'));

-- A query for all words of a text, the last ones as they are being typed; null for none.
create function private.word_query(text text, is_prefix boolean) returns tsquery
language sql immutable parallel safe set search_path = ''
return (
  select to_tsquery('pg_catalog.simple', string_agg(
    case when is_prefix then word || ':*' else word end, ' & '))
  from regexp_split_to_table(private.fold(text), '[^[:alnum:]]+') as word
  where word <> ''
);

-- A pattern for what contains a text; null below three characters, which trigrams cannot find.
create function private.part_pattern(text text) returns text
language sql immutable parallel safe set search_path = ''
return case
  when length(private.fold(trim(text))) >= 3
  then '%' || regexp_replace(private.fold(trim(text)), '([\\%_])', '\\\1', 'g') || '%'
end;

create function private.lead_text(
  name text, email text, company text, title text, website text, country text, tags text[]
) returns text
language sql immutable parallel safe set search_path = ''
return private.fold(
  coalesce(name, '') || ' ' || coalesce(company, '') || ' ' || coalesce(email, '') || ' '
  || coalesce(title, '') || ' ' || coalesce(website, '') || ' ' || coalesce(country, '') || ' '
  || array_to_string(tags, ' ')
);

alter table hub.leads add column search_text text
  generated always as (
    private.lead_text(name, email, company, title, website, country, tags)
  ) stored;
comment on column hub.leads.search_text is 'The lead''s words, folded: what search looks into.';
create index leads_words on hub.leads using gin (private.words(search_text));
create index leads_parts on hub.leads using gin (search_text extensions.gin_trgm_ops);

create index notes_words on hub.notes using gin (private.words(private.fold(text)));

create function private.project_text(project hub.projects) returns text
language sql immutable parallel safe set search_path = ''
return private.fold(
  project.name || ' ' || project.slug || ' ' || coalesce(project.industry, '') || ' '
  || coalesce(project.website, '') || ' ' || coalesce(project.icp, '')
);

create function private.draft_text(subject text, text text) returns text
language sql immutable parallel safe set search_path = ''
return private.fold(subject || ' ' || left(text, 20000));
create index drafts_words on hub.drafts using gin (private.words(private.draft_text(subject, text)));
create index drafts_parts on hub.drafts
  using gin (private.draft_text(subject, text) extensions.gin_trgm_ops);

-- A mission is found by its task, its summary and the titles of its documents.
create function private.mission_text(task text, result jsonb) returns text
language sql immutable parallel safe set search_path = ''
return private.fold(
  left(task, 10000) || ' ' || coalesce(left(result ->> 'summary', 10000), '') || ' '
  || coalesce(left(jsonb_path_query_array(result, '$.documents[*].title')::text, 5000), '')
);
create index missions_words on hub.missions using gin (private.words(private.mission_text(task, result)));
create index missions_parts on hub.missions
  using gin (private.mission_text(task, result) extensions.gin_trgm_ops);

-- Leads that a query finds in this transaction's scope, at most so many in each way. Likeness
-- comes last and only where nothing else helped: it is dear, and meant for typing mistakes.
create function private.find_leads(query text, most int) returns table (lead_id uuid)
language plpgsql stable security definer
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
declare
  scope constant text := private.scope();
  project uuid;
  whole constant tsquery := private.word_query(query, false);
  begun constant tsquery := private.word_query(query, true);
  part constant text := private.part_pattern(query);
  folded constant text := private.fold(trim(query));
  found_ids uuid[] := '{}';
begin
  if scope is null or begun is null and part is null then
    return;
  end if;
  project := case when scope <> '*' then scope::uuid end;
  found_ids := array(
    select lead.id from hub.leads as lead
    where private.words(lead.search_text) @@ whole
      and (project is null or lead.project_id = project)
    limit most
  );
  if cardinality(found_ids) < most then
    found_ids := array(
      select unnest(found_ids)
      union
      (
        select lead.id from hub.leads as lead
        where (private.words(lead.search_text) @@ begun or lead.search_text like part)
          and (project is null or lead.project_id = project)
        limit most
      )
      union
      (
        select note.lead_id from hub.notes as note
        where private.words(private.fold(note.text)) @@ begun
          and (project is null or note.project_id = project)
        limit most
      )
    );
  end if;
  if cardinality(found_ids) = 0 and length(folded) between 4 and 60 then
    found_ids := array(
      select lead.id from hub.leads as lead
      where folded operator(extensions.<%) lead.search_text
        and (project is null or lead.project_id = project)
      limit most
    );
  end if;
  return query select unnest(found_ids);
end
$$;

create function private.find_drafts(query text, most int) returns table (draft_id uuid)
language sql stable security definer set search_path = ''
begin atomic
  select draft.id
  from hub.drafts as draft
  where (
      private.words(private.draft_text(draft.subject, draft.text)) @@ private.word_query(query, true)
      or private.draft_text(draft.subject, draft.text) like private.part_pattern(query)
    )
    and private.in_scope(draft.project_id)
  limit most;
end;

create function private.find_missions(query text, most int) returns table (mission_id uuid)
language sql stable security definer set search_path = ''
begin atomic
  select mission.id
  from hub.missions as mission
  where (
      private.words(private.mission_text(mission.task, mission.result)) @@ private.word_query(query, true)
      or private.mission_text(mission.task, mission.result) like private.part_pattern(query)
    )
    and private.in_scope(mission.project_id)
  limit most;
end;

-- How well a folded text fits a query, 0 to 1.
create function private.fit(query text, title text, folded text) returns real
language sql immutable parallel safe set search_path = ''
return least(1, (
  0.3 * extensions.word_similarity(private.fold(trim(query)), private.fold(title))
  + 0.3 * extensions.similarity(private.fold(trim(query)), private.fold(title))
  + 0.2 * extensions.word_similarity(private.fold(trim(query)), left(folded, 2000))
  + case when private.words(folded) @@ private.word_query(query, false) then 0.2 else 0 end
))::real;

grant execute on function
  private.words, private.word_query, private.part_pattern, private.lead_text, private.project_text,
  private.draft_text, private.mission_text, private.find_leads, private.find_drafts,
  private.find_missions, private.fit
to hub_ro, hub_rw;
