-- A second reply stops what was approved since the first, and a reply may ask for no more mail.
alter table hub.recipients add column last_replied_at timestamptz;
alter table hub.recipients add column opt_out text check (opt_out in ('asked', 'open', 'denied'));
create index recipients_opt_out on hub.recipients (project_id) where opt_out = 'open';
