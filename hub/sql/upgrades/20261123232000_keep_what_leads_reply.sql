-- The words of a lead itself, in its reply: its "we" is the lead, and its "you" is us.
alter table hub.evidence add column said_by_lead boolean not null default false;
