-- An entry made by hand or by an import has a way back; a person's own request has none.
alter table hub.suppression drop constraint suppression_check;
alter table hub.suppression add constraint suppression_check
  check (released_at is null or reason in ('bounced', 'manual', 'imported'));
alter table hub.suppression add column note text check (length(note) <= 300);
comment on column hub.suppression.note is 'Why an address was put on the list by hand or by an import; never names it.';
alter table hub.suppression add column erased_by text check (length(erased_by) <= 100);
comment on column hub.suppression.erased_by is 'Who erased the person: the name of a member, or admin or api.';
grant update (note, erased_by) on hub.suppression to hub_rw;

-- The hashes are the truth. Beside them stands the address itself, for 30 days and only where a person of the team put it
-- there by hand or by an import: in that time a mistake is noticed.
create table hub.suppression_addresses (
  email_hash text primary key references hub.suppression on delete cascade,
  email text not null check (length(email) <= 320),
  shown_until timestamptz not null default now() + interval '30 days'
);
comment on table hub.suppression_addresses is 'Addresses of entries made by hand or by an import, deleted after 30 days.';
create index suppression_addresses_until on hub.suppression_addresses (shown_until);
alter table hub.suppression_addresses enable row level security;
alter table hub.suppression_addresses force row level security;
create policy suppression_addresses_select on hub.suppression_addresses for select to hub_ro, hub_rw
  using ((select private.current_project()) is not null);
create policy suppression_addresses_write on hub.suppression_addresses for all to hub_rw
  using ((select private.current_project()) is not null)
  with check ((select private.current_project()) is not null);
grant select on hub.suppression_addresses to hub_ro;
grant select, insert, update, delete on hub.suppression_addresses to hub_rw;
