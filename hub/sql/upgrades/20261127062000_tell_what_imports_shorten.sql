-- Quotations have room for a whole row, and what an import still shortens is told by row.
alter table hub.evidence drop constraint evidence_quote_check;
alter table hub.evidence add constraint evidence_quote_check check (length(quote) <= 20000);
alter table hub.import_errors add column lead_id uuid references hub.leads on delete cascade;
comment on table hub.import_errors is 'Rows of an import that were refused, or not taken as they were in the file, with the reason.';
create index import_errors_lead on hub.import_errors (lead_id);
