-- A person who was erased stays on the list as a hash, by which a restored backup is cleaned again.
alter table hub.suppression drop constraint suppression_reason_check;
alter table hub.suppression add constraint suppression_reason_check
  check (reason in ('unsubscribed', 'bounced', 'complained', 'manual', 'imported', 'erased'));
alter table hub.suppression add column erased_at timestamptz;
-- Whether the address and the names were replaced in texts too, and the salted hashes of those names.
alter table hub.suppression add column erased_texts boolean not null default false;
alter table hub.suppression add column erased_names text[] not null default '{}';
grant update (erased_at, erased_texts, erased_names) on hub.suppression to hub_rw;
