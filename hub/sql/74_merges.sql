-- Merges: two leads that are the same person or company become one, and what was merged is kept on record. Copies: one
-- person in several projects.

create table hub.merges (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  lead_id uuid not null references hub.leads on delete cascade,
  -- The lead that went, and the kept one before, whole.
  gone jsonb not null,
  kept jsonb not null,
  -- How many rows of which tables came to the kept lead, and the rows that could not, because it had the same.
  moved jsonb not null,
  dropped jsonb not null default '[]',
  merged_at timestamptz not null default now(),
  -- What undoing needs, until it was undone; null for a merge of an earlier release. Which rows moved, as {"table",
  -- "column", "key"}; those that changed otherwise, as {"table", "key", "before", "after"}; and the sums of the lead's
  -- rows after it, by which anything later is noticed.
  moved_rows jsonb,
  changed jsonb,
  sums jsonb,
  undone_at timestamptz
);
comment on table hub.merges is 'Leads that were merged into another one, as they were before; deleted after 30 days.';
create index merges_at on hub.merges (merged_at);
create index merges_lead on hub.merges (lead_id);
create index merges_project on hub.merges (project_id);
alter table hub.merges enable row level security;
alter table hub.merges force row level security;
create policy merges_select on hub.merges for select to hub_ro, hub_rw
  using (private.in_project(project_id));
create policy merges_write on hub.merges for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.merges to hub_ro;
grant select, insert, update, delete on hub.merges to hub_rw;

-- The primary key of a row, as {"<column>": value}.
create function private.key_of(p_table regclass, p_row jsonb) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_object_agg(a.attname, p_row -> a.attname)
  from pg_catalog.pg_index i
  join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
  where i.indrelid = p_table and i.indisprimary
$$;
grant execute on function private.key_of to hub_rw;

-- Moves every row that refers to one lead to another, in whichever table, so that a table made later is not forgotten.
-- A row for which the other lead already has its like (the same column of a list, the same run of a sequence) cannot
-- move: it is kept in the answer and goes with its lead. `moved_rows` names each that moved: table, column, primary key.
create function private.move_to_lead(p_from uuid, p_to uuid, out moved jsonb, out dropped jsonb, out moved_rows jsonb)
language plpgsql set search_path = '' as $$
declare
  v_table regclass;
  v_column name;
  v_name text;
  v_row record;
  v_count integer;
begin
  moved := '{}';
  dropped := '[]';
  moved_rows := '[]';
  for v_table, v_column, v_name in
    select c.conrelid::regclass, a.attname, t.relname
    from pg_catalog.pg_constraint c
    join pg_catalog.pg_class t on t.oid = c.conrelid
    join pg_catalog.pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.confrelid = 'hub.leads'::regclass and cardinality(c.conkey) = 1
    order by t.relname, a.attname
  loop
    v_count := 0;
    for v_row in execute format(
      'select ctid as at, to_jsonb(t) as row from %s t where %I = $1 for update', v_table, v_column
    ) using p_from
    loop
      begin
        execute format('update %s set %I = $1 where ctid = $2', v_table, v_column)
        using p_to, v_row.at;
        v_count := v_count + 1;
        moved_rows := moved_rows || jsonb_build_object(
          'table', v_name, 'column', v_column, 'key', private.key_of(v_table, v_row.row));
      exception when unique_violation then
        dropped := dropped || jsonb_build_object('table', v_name, 'row', v_row.row);
      end;
    end loop;
    if v_count > 0 then
      moved := moved || jsonb_build_object(v_name, coalesce((moved ->> v_name)::integer, 0) + v_count);
    end if;
  end loop;
end
$$;
grant execute on function private.move_to_lead to hub_rw;

-- Every row that a merge of these leads can change, with its primary key: the leads, what refers to them in whichever
-- table, the mails to them with what belongs to those, and the states of their sequences.
create function private.rows_of_leads(p_ids uuid[]) returns table (name text, key jsonb, content jsonb)
language plpgsql stable set search_path = '' set timezone = 'UTC' as $$
declare
  v_mails uuid[] := array(select d.id from hub.drafts d where d.audience ->> 'lead_id' = any(p_ids::text[]));
  v_table regclass;
  v_name text;
  v_condition text;
begin
  for v_table, v_name, v_condition in
    select part.relation, t.relname, string_agg(part.condition, ' or ' order by part.condition)
    from (
      select c.conrelid::regclass as relation, format(
        't.%I = any(%s)', a.attname, case when c.confrelid = 'hub.leads'::regclass then '$1' else '$2' end
      ) as condition
      from pg_catalog.pg_constraint c
      join pg_catalog.pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
      where c.contype = 'f' and c.confrelid in ('hub.leads'::regclass, 'hub.drafts'::regclass)
        and cardinality(c.conkey) = 1
      union all values ('hub.leads'::regclass, 't.id = any($1)'), ('hub.drafts'::regclass, 't.id = any($2)')
    ) part
    join pg_catalog.pg_class t on t.oid = part.relation
    where part.relation <> 'hub.merges'::regclass
    group by part.relation, t.relname
  loop
    return query execute format(
      'select %L::text, private.key_of(%L::regclass, to_jsonb(t)), to_jsonb(t) from %s t where %s',
      v_name, v_table, v_table, v_condition
    ) using p_ids, v_mails;
  end loop;
  return query
    select 'sequences'::text, jsonb_build_object('id', s.id), jsonb_build_object('id', s.id, 'state', s.state)
    from hub.sequences s
    where s.id in (select r.sequence_id from hub.sequence_recipients r where r.lead_id = any(p_ids));
end
$$;
grant execute on function private.rows_of_leads to hub_rw;

-- What a lead and all of its rows look like, for each table: another sum says that something happened since. That
-- somebody looked at a mail changes nothing, nor does a column that an upgrade adds and nobody has filled, nor that
-- another merge was undone.
create function private.lead_sums(p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_object_agg(name, sum), '{}')
  from (
    select name, md5(string_agg(md5(jsonb_strip_nulls(content - 'seen_at')::text), ',' order by key::text collate "C")) as sum
    from private.rows_of_leads(array[p_id])
    where name <> 'activities' or content ->> 'kind' <> 'unmerged'
    group by name
  ) sums
$$;
grant execute on function private.lead_sums to hub_rw;

-- Makes a row what it was: deletes, inserts or updates it. A column that a trigger sets along with another is set once
-- more by itself.
create function private.put_row(p_table text, p_key jsonb, p_content jsonb) returns void
language plpgsql set search_path = '' set timezone = 'UTC' as $$
declare
  v_table regclass := format('hub.%I', p_table)::regclass;
  v_is_row text := format(
    '(%1$s) = (select %1$s from jsonb_populate_record(null::%2$s, $1))',
    (select string_agg(format('%I', k.column_name), ', ') from jsonb_object_keys(p_key) k (column_name)), v_table);
  v_now jsonb;
  v_columns text;
begin
  if p_content is null then
    execute format('delete from %s where %s', v_table, v_is_row) using p_key;
    return;
  end if;
  for i in 1..2 loop
    execute format('select to_jsonb(t) from %s t where %s for update', v_table, v_is_row) into v_now using p_key;
    select string_agg(format('%I', a.attname), ', ' order by a.attnum) into v_columns
    from pg_catalog.pg_attribute a
    where a.attrelid = v_table and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      and p_content ? a.attname
      and (v_now is null or v_now -> a.attname is distinct from p_content -> a.attname);
    exit when v_columns is null;
    execute format(
      case when v_now is null
        then 'insert into %1$s (%2$s) select %2$s from jsonb_populate_record(null::%1$s, $2)'
        else 'update %1$s set (%2$s) = (select %2$s from jsonb_populate_record(null::%1$s, $2)) where %3$s'
      end, v_table, v_columns, v_is_row
    ) using p_key, p_content;
  end loop;
end
$$;
grant execute on function private.put_row to hub_rw;

-- What is the same for all copies of a lead, which are in several projects, each with its own stage: the id of the
-- first.
alter table hub.leads add column linked uuid;
create index leads_linked on hub.leads (linked) where linked is not null;
