-- Each sender of mails has a ramp of its own. Mails of before count for the sender that their approval fixed, else for
-- the one that their project has now.
alter table hub.recipients add column sender text check (length(sender) <= 254);
comment on column hub.recipients.sender is 'The address, in lower case, that its mail was claimed for: its ramp counts it.';
update hub.recipients as mail
set sender = lower(coalesce(draft.approved #>> '{from,email}', brand.sender_email))
from hub.drafts as draft
left join hub.brands as brand on brand.project_id = draft.project_id
where draft.id = mail.draft_id and mail.claimed_at is not null
  and length(coalesce(draft.approved #>> '{from,email}', brand.sender_email)) <= 254;
