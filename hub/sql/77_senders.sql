-- Senders: each has a ramp of its own, whichever projects it writes for.

alter table hub.recipients add column sender text check (length(sender) <= 254);
comment on column hub.recipients.sender is 'The address, in lower case, that its mail was claimed for: its ramp counts it.';
