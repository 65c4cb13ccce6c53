-- Brands: what the mails and documents of a project carry.

create table hub.brands (
  project_id uuid primary key references hub.projects on delete cascade,
  -- Above a mail and below a document; null is the project's name.
  name text check (length(name) between 1 and 80),
  -- A data: URL of a PNG or a JPEG.
  logo text check (length(logo) <= 40000),
  color text not null default '#1f5f99' check (color ~ '^#[0-9a-f]{6}$'),
  sender_name text check (length(sender_name) between 1 and 80),
  sender_email text check (length(sender_email) between 3 and 254),
  reply_to text check (length(reply_to) between 3 and 254),
  -- The lines under a mail; null is the sender's name.
  signature text check (length(signature) between 1 and 400),
  postal_address text check (length(postal_address) between 1 and 300),
  -- Why a recipient gets the mail, and what the link to unsubscribe says; null is the hub's own text.
  reason_en text check (length(reason_en) between 1 and 300),
  reason_tr text check (length(reason_tr) between 1 and 300),
  unsubscribe_en text check (length(unsubscribe_en) between 1 and 60),
  unsubscribe_tr text check (length(unsubscribe_tr) between 1 and 60),
  updated_at timestamptz not null default now(),
  check ((sender_name is null) = (sender_email is null))
);
comment on table hub.brands is 'The sender, the address, the look and the texts of a project''s mails and documents.';
alter table hub.brands enable row level security;
alter table hub.brands force row level security;
create policy brands_select on hub.brands for select to hub_ro, hub_rw
  using (private.in_project(project_id));
create policy brands_write on hub.brands for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.brands to hub_ro;
grant select, insert, update, delete on hub.brands to hub_rw;
