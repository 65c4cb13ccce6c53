-- Mails to many name the project's own fields; what each reader's mail says is fixed by the approval.
alter table hub.recipients add column own jsonb not null default '{}' check (jsonb_typeof(own) = 'object');
comment on column hub.recipients.own is 'The own fields that the mail names, by key, as it has them.';
