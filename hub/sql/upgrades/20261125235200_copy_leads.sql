-- A lead is copied into another project instead of moved; the copies are linked.
alter table hub.leads add column linked uuid;
create index leads_linked on hub.leads (linked) where linked is not null;
alter table hub.activities drop constraint activities_kind_check;
alter table hub.activities add constraint activities_kind_check check (kind in (
    'created', 'imported', 'merged', 'edited', 'stage', 'tagged', 'moved', 'copied', 'note', 'task', 'task_done',
    'evidence', 'draft', 'approved', 'sent', 'opened', 'clicked', 'replied', 'bounced', 'unsubscribed', 'away',
    'answered'
  ));
