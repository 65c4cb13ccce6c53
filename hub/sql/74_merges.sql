-- Merges: two leads that are the same person or company become one, and what was merged is kept on record. Copies: one
-- person in several projects.

create table hub.merges (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  lead_id uuid not null references hub.leads on delete cascade,
  -- The fields of the lead that went, and those of the kept one before.
  gone jsonb not null,
  kept jsonb not null,
  -- How many rows of which tables came to the kept lead, and the rows that could not, because it had the same.
  moved jsonb not null,
  dropped jsonb not null default '[]',
  merged_at timestamptz not null default now()
);
comment on table hub.merges is 'Leads that were merged into another one, as they were before.';
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

-- Moves every row that refers to one lead to another, in whichever table, so that a table made later is not forgotten.
-- A row for which the other lead already has its like (the same column of a list, the same run of a sequence) cannot
-- move: it is kept in the answer and goes with its lead.
create function private.move_to_lead(p_from uuid, p_to uuid, out moved jsonb, out dropped jsonb)
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

-- What is the same for all copies of a lead, which are in several projects, each with its own stage: the id of the
-- first.
alter table hub.leads add column linked uuid;
create index leads_linked on hub.leads (linked) where linked is not null;
