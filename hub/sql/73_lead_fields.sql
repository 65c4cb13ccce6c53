-- Fields of a project's own, beside those that every lead has, and the lawful basis in full.

alter table hub.leads add column custom jsonb not null default '{}'
  check (jsonb_typeof(custom) = 'object' and octet_length(custom::text) <= 300000);
comment on column hub.leads.custom is 'Values of the project''s own fields by their key; an empty one has no entry.';
alter table hub.leads add column basis_note text check (length(basis_note) <= 1000);
alter table hub.leads add column basis_source text check (length(basis_source) <= 500);
alter table hub.leads add column basis_on date;
comment on column hub.leads.basis_note is 'For a legitimate interest, which one, and why it weighs more than the person''s own.';
comment on column hub.leads.basis_source is 'Where the lawful basis is on record, e.g. the form or the contract.';
comment on column hub.leads.basis_on is 'Since when the lawful basis holds.';

create table hub.lead_fields (
  project_id uuid not null references hub.projects on delete cascade,
  key text not null check (key ~ '^[a-z][a-z0-9_]{0,39}$'),
  label text not null check (length(label) between 1 and 60),
  kind text not null check (kind in ('text', 'number', 'date', 'choice', 'yes_no')),
  choices text[] not null default '{}' check (cardinality(choices) <= 50),
  position integer not null default 0,
  created_at timestamptz not null default now(),
  primary key (project_id, key)
);
comment on table hub.lead_fields is 'The fields that a project has for its leads.';
alter table hub.lead_fields enable row level security;
alter table hub.lead_fields force row level security;
create policy lead_fields_select on hub.lead_fields for select to hub_ro, hub_rw, hub_data
  using (private.in_project(project_id));
create policy lead_fields_write on hub.lead_fields for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.lead_fields to hub_ro, hub_data;
grant select, insert, update, delete on hub.lead_fields to hub_rw;

-- Agents know the values too: each is a fact of its lead, which a change of the value replaces.
alter table hub.evidence add column field_key text check (length(field_key) <= 40);
comment on column hub.evidence.field_key is 'The project''s own field whose value this fact is.';
create unique index evidence_field on hub.evidence (lead_id, field_key) where field_key is not null;

create function private.keep_field_facts(p_lead_ids uuid[]) returns void
language sql set search_path = '' as $$
  with wanted as (
    select lead.project_id, lead.id as lead_id, field.key, left(
      field.label || ': ' || case value.given
        when 'true' then 'yes'
        when 'false' then 'no'
        else value.given
      end, 1000) as fact
    from hub.leads lead
    cross join lateral jsonb_each_text(lead.custom) as value (key, given)
    join hub.lead_fields field on field.project_id = lead.project_id and field.key = value.key
    where lead.id = any(p_lead_ids)
  ),
  gone as (
    delete from hub.evidence fact
    where fact.lead_id = any(p_lead_ids) and fact.field_key is not null and not exists (
      select from wanted where wanted.lead_id = fact.lead_id and wanted.key = fact.field_key
    )
  )
  insert into hub.evidence as known (project_id, lead_id, fact, source, field_key)
  select project_id, lead_id, fact, 'lead field', key from wanted
  on conflict (lead_id, field_key) where field_key is not null do update
  set fact = excluded.fact, created_at = now()
  where known.fact <> excluded.fact
$$;
grant execute on function private.keep_field_facts to hub_rw;

-- Mails to many name them too; what each reader's mail says is fixed by the approval.
alter table hub.recipients add column own jsonb not null default '{}' check (jsonb_typeof(own) = 'object');
comment on column hub.recipients.own is 'The own fields that the mail names, by key, as it has them.';
