-- Columns of an imported list that no field of a lead takes are facts about the lead.
alter table hub.evidence add column import_column text check (length(import_column) between 1 and 300);
comment on column hub.evidence.import_column is 'The column of a list that says this about the lead; one fact for each.';
create unique index evidence_column on hub.evidence (lead_id, import_column) where import_column is not null;
alter table hub.imports add column cut integer not null default 0;
