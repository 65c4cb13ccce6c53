-- Numbers say whether what an agent wrote was approved as written or after edits.
alter table hub.sequences add column edited_at timestamptz;
