-- The inbox: mail that came in and has to do with mail of ours, and what people answered to it.

create table hub.inbox_mails (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  lead_id uuid references hub.leads on delete cascade,
  -- The mail of ours that it is about, and the address that one went to.
  draft_id uuid references hub.drafts on delete set null,
  our_email text not null check (length(our_email) <= 320),
  kind text not null check (kind in ('reply', 'out_of_office', 'bounce', 'unrelated')),
  -- How it was found: it names our Message-ID, has our subject, or only comes from the address; or a person said so.
  matched_by text not null check (matched_by in ('message_id', 'subject', 'address', 'person')),
  from_email text check (length(from_email) <= 320),
  from_name text check (length(from_name) <= 200),
  subject text not null default '' check (length(subject) <= 300),
  -- What was written, without quotes; and everything, with them.
  text text check (length(text) <= 20000),
  whole text check (length(whole) <= 20000),
  is_cut boolean not null default false,
  -- [{"name", "type", "bytes"}]: named, never opened.
  attachments jsonb not null default '[]',
  message_id text check (length(message_id) <= 998),
  thread_ids text[] not null default '{}',
  -- Of a bounce; its status (RFC 3463) is its text.
  bounce text check (bounce in ('hard', 'soft', 'complaint')),
  -- What it says of no more mail and who read that; what is decided stands in recipients.opt_out.
  opt_out text check (opt_out in ('asked', 'open')),
  opt_out_by text check (opt_out_by in ('rules', 'model')),
  -- What a model said, once it was asked.
  model_said text check (model_said in ('asks', 'does_not_ask', 'unsure')),
  model_quote text check (length(model_quote) <= 300),
  judged_at timestamptz,
  -- Until when nothing else is sent to the lead.
  away_until date,
  -- When a person said whose it is, because it came from an address that we did not write to.
  whose_at timestamptz,
  seen_at timestamptz,
  handled_at timestamptz,
  received_at timestamptz not null default now()
);
comment on table hub.inbox_mails is 'Mail that came in about mail of ours: replies, absences, bounces, and what is none of them.';
create index inbox_mails_newest on hub.inbox_mails (project_id, received_at desc, id desc);
create index inbox_mails_lead on hub.inbox_mails (lead_id, received_at desc);
create index inbox_mails_draft on hub.inbox_mails (draft_id);
create unique index inbox_mails_once on hub.inbox_mails (project_id, our_email, message_id)
  where message_id is not null;
create index inbox_mails_away on hub.inbox_mails (lead_id, away_until) where away_until is not null;
create index inbox_mails_unjudged on hub.inbox_mails (received_at) where judged_at is null and text is not null;
alter table hub.inbox_mails enable row level security;
alter table hub.inbox_mails force row level security;
create policy inbox_mails_select on hub.inbox_mails for select to hub_ro, hub_rw
  using (private.in_project(project_id));
create policy inbox_mails_write on hub.inbox_mails for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.inbox_mails to hub_ro;
grant select, insert, update, delete on hub.inbox_mails to hub_rw;

create table hub.answers (
  -- Chosen by the caller: the same answer is sent once.
  id uuid primary key,
  project_id uuid not null references hub.projects on delete cascade,
  lead_id uuid references hub.leads on delete cascade,
  inbox_mail_id uuid not null references hub.inbox_mails on delete cascade,
  email text not null check (length(email) <= 320),
  subject text not null check (length(subject) between 1 and 300),
  -- What the person wrote; the signature and the quote are added when it is sent.
  text text not null check (length(text) between 1 and 20000),
  message_id text not null unique,
  state text not null default 'waiting' check (state in ('waiting', 'sending', 'sent', 'unclear', 'failed')),
  reason hub.words,
  written_by text not null check (written_by in ('session', 'token')),
  claimed_at timestamptz,
  sent_at timestamptz,
  created_at timestamptz not null default now()
);
comment on table hub.answers is 'Answers that people wrote to mails of the inbox.';
comment on column hub.answers.claimed_at is 'When `sending` was committed, before DATA: from then on it is never sent again.';
create index answers_mail on hub.answers (inbox_mail_id);
create index answers_lead on hub.answers (lead_id, created_at desc);
create index answers_project on hub.answers (project_id);
create index answers_open on hub.answers (claimed_at) where state = 'sending';
alter table hub.answers enable row level security;
alter table hub.answers force row level security;
create policy answers_select on hub.answers for select to hub_ro, hub_rw
  using (private.in_project(project_id));
create policy answers_write on hub.answers for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.answers to hub_ro;
grant select, insert, update, delete on hub.answers to hub_rw;

-- Whether a mail must not go out now: its reader replied since it was written, may want no more mail, or is away.
create function private.mail_is_held(
  p_project_id uuid, p_lead_id uuid, p_email text, p_written_at timestamptz
)
returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from hub.recipients as r
    where r.lead_id = p_lead_id and greatest(r.replied_at, r.last_replied_at) > p_written_at
  ) or exists (
    select from hub.recipients as r
    where (r.lead_id = p_lead_id or r.email = p_email) and r.project_id = p_project_id
      and r.opt_out = 'open'
  ) or exists (
    select from hub.inbox_mails as m
    where m.lead_id = p_lead_id and m.away_until > (now() at time zone 'utc')::date
  )
$$;
grant execute on function private.mail_is_held to hub_ro, hub_rw;
