-- What an agent wrote before a person changed it, and when that was.
alter table hub.drafts
  add column first_text text check (length(first_text) <= 100000),
  add column edited_at timestamptz;
