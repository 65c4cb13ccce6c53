-- Copies: the leads of one person in several projects, each with its own stage.

-- The same for all copies: the id of the first.
alter table hub.leads add column linked uuid;
create index leads_linked on hub.leads (linked) where linked is not null;
