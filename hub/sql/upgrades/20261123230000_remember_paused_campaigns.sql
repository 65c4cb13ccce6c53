-- The hub paused it; it starts no campaign again that others paused.
alter table hub.campaigns add column held boolean not null default false;
