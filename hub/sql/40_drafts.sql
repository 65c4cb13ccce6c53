-- Drafts: mail on its way from a text to what was sent; each step is a conditional update.

create table hub.drafts (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  -- {"kind": "lead", "lead_id": …} or {"kind": "list", "filter": …}.
  audience jsonb not null,
  template text not null default 'letter' check (length(template) <= 60),
  language text not null default 'en' check (language in ('en', 'tr')),
  subject text not null default '' check (length(subject) <= 300),
  text text not null default '' check (length(text) <= 100000),
  -- The values for the template; if empty, the text is used.
  slots jsonb not null default '{}',
  -- The rendered mail: both parts, and for a campaign also listmonk's template.
  html text check (octet_length(html) <= 102400),
  rendered_subject text,
  rendered_text text,
  campaign jsonb,
  state text not null default 'draft' check (state in (
    'draft', 'rendered', 'approved', 'pushed', 'sending', 'sent', 'unclear', 'rejected', 'failed'
  )),
  state_reason hub.words,
  agent text,
  mission_id uuid references hub.missions on delete set null,
  -- Of the rendered bytes, sender, recipients and list, as they were approved.
  approved_hash text,
  approved_at timestamptz,
  -- What was approved, to show what has changed since; remains when the approval is void.
  approved jsonb,
  -- How it is sent, fixed by the approval.
  via text check (via in ('smtp', 'tx', 'campaign')),
  -- One push at a time; after this time a killed one no longer counts.
  pushing_until timestamptz,
  paused_at timestamptz,
  -- Not before this time, because the mail server was unavailable.
  retry_at timestamptz,
  retries integer not null default 0,
  sent_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- What its agent wrote, and when a person first changed it: what people correct says what agents should learn.
  first_text text check (length(first_text) <= 100000),
  edited_at timestamptz,
  -- Who approved it and who started the sending, as {"kind", "id", "name"}.
  approved_by jsonb,
  sent_by jsonb,
  -- Its brand has changed, so it is rendered again before anybody can approve it.
  is_stale boolean not null default false
);
comment on table hub.drafts is 'Drafts in their states: draft, rendered, approved, pushed, sent.';
create index drafts_newest on hub.drafts (project_id, created_at desc, id desc);
create index drafts_state on hub.drafts (state, updated_at);
create index drafts_mission on hub.drafts (mission_id);
create index drafts_stale on hub.drafts (updated_at) where is_stale;
alter table hub.drafts enable row level security;
alter table hub.drafts force row level security;
create policy drafts_select on hub.drafts for select to hub_ro, hub_rw, hub_data
  using (private.in_project(project_id));
create policy drafts_write on hub.drafts for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.drafts to hub_ro, hub_data;
grant select, insert, update, delete on hub.drafts to hub_rw;

create function private.name_approver() returns trigger
language plpgsql set search_path = '' as $$
begin
  if new.approved_at is distinct from old.approved_at then
    new.approved_by := case when new.approved_at is not null then private.current_actor() end;
    new.sent_by := null;
  end if;
  if new.state = 'sending' and old.state <> 'sending' then
    new.sent_by := coalesce(private.current_actor(), new.sent_by);
  end if;
  return new;
end
$$;
create trigger drafts_approver before update of approved_at, state on hub.drafts
  for each row execute function private.name_approver();

-- The recipients of an approved draft, as they were approved, with the outcome of each mail.
create table hub.recipients (
  draft_id uuid not null references hub.drafts on delete cascade,
  project_id uuid not null references hub.projects on delete cascade,
  lead_id uuid references hub.leads on delete set null,
  email text not null check (length(email) <= 320),
  name text,
  company text,
  state text not null default 'waiting'
    check (state in ('waiting', 'pushed', 'sending', 'sent', 'unclear', 'skipped', 'failed')),
  reason hub.words,
  -- The draft's campaign in listmonk that contains it.
  portion integer,
  -- How often sending was started, to tell the answers apart.
  attempts integer not null default 0,
  -- Not before this time, because the mail server asked to wait with this address.
  retry_at timestamptz,
  message_id text,
  token_hash text,
  claimed_at timestamptz,
  sent_at timestamptz,
  opened_at timestamptz,
  clicked_at timestamptz,
  bounced_at timestamptz,
  bounce text check (bounce in ('hard', 'soft')),
  complained_at timestamptz,
  replied_at timestamptz,
  unsubscribed_at timestamptz,
  last_replied_at timestamptz,
  -- Whether a reply asks in words for no more mail; `open` until a person decides.
  opt_out text check (opt_out in ('asked', 'open', 'denied')),
  primary key (draft_id, email)
);
comment on table hub.recipients is 'The recipients of an approved draft, with the outcome of each mail.';
comment on column hub.recipients.claimed_at is 'When `sending` was committed, before DATA; the daily limit counts these.';
comment on column hub.recipients.token_hash is 'The hash of the token in this mail''s unsubscribe link.';
create index recipients_lead on hub.recipients (lead_id);
create index recipients_project on hub.recipients (project_id, sent_at desc);
create index recipients_message on hub.recipients (message_id);
create index recipients_email on hub.recipients (email);
create index recipients_claimed on hub.recipients (claimed_at) where claimed_at is not null;
create index recipients_opt_out on hub.recipients (project_id) where opt_out = 'open';
create unique index recipients_token on hub.recipients (token_hash);
alter table hub.recipients enable row level security;
alter table hub.recipients force row level security;
create policy recipients_select on hub.recipients for select to hub_ro, hub_rw, hub_data
  using (private.in_project(project_id));
create policy recipients_write on hub.recipients for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.recipients to hub_ro, hub_data;
grant select, insert, update, delete on hub.recipients to hub_rw;

-- Campaigns in listmonk: one for each part of a draft's recipients that the limit of one day allows.
create table hub.campaigns (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references hub.projects on delete cascade,
  draft_id uuid not null references hub.drafts on delete cascade,
  portion integer not null,
  list_id integer,
  campaign_id integer,
  -- `made`: a draft in listmonk; `void`: to be deleted there.
  state text not null default 'made' check (state in ('made', 'started', 'finished', 'void')),
  opened integer not null default 0,
  clicked integer not null default 0,
  started_at timestamptz,
  finished_at timestamptz,
  created_at timestamptz not null default now(),
  -- The hub paused it; it starts no campaign again that others paused.
  held boolean not null default false
);
comment on table hub.campaigns is 'The campaigns in listmonk that send an approved draft.';
create unique index campaigns_portion on hub.campaigns (draft_id, portion) where state <> 'void';
create index campaigns_draft on hub.campaigns (draft_id);
create index campaigns_project on hub.campaigns (project_id);
alter table hub.campaigns enable row level security;
alter table hub.campaigns force row level security;
create policy campaigns_select on hub.campaigns for select to hub_ro, hub_rw, hub_data
  using (private.in_project(project_id));
create policy campaigns_write on hub.campaigns for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.campaigns to hub_ro, hub_data;
grant select, insert, update, delete on hub.campaigns to hub_rw;

-- People who must never get mail again, from any project; only salted hashes. No row is ever deleted.
create table hub.suppression (
  email_hash text primary key,
  reason text not null check (reason in ('unsubscribed', 'bounced', 'complained', 'manual', 'imported', 'erased')),
  project_id uuid references hub.projects on delete set null,
  created_at timestamptz not null default now(),
  -- Set when somebody released what a person of the team or a server put here; a request of the owner of the address is
  -- never released.
  released_at timestamptz
    constraint suppression_check check (released_at is null or reason in ('bounced', 'manual', 'imported')),
  -- A person who was erased stays on the list as a hash, by which a restored backup is cleaned again.
  erased_at timestamptz,
  -- Whether the address and the names were replaced in texts too, and the salted hashes of those names.
  erased_texts boolean not null default false,
  erased_names text[] not null default '{}'
);
comment on table hub.suppression is 'People who must never get mail again, as salted hashes; shared by all projects.';
create index suppression_project on hub.suppression (project_id);
alter table hub.suppression enable row level security;
alter table hub.suppression force row level security;
create policy suppression_select on hub.suppression for select to hub_ro, hub_rw
  using ((select private.current_project()) is not null);
create policy suppression_insert on hub.suppression for insert to hub_rw
  with check ((select private.current_project()) is not null);
create policy suppression_update on hub.suppression for update to hub_rw
  using ((select private.current_project()) is not null)
  with check ((select private.current_project()) is not null);
grant select on hub.suppression to hub_ro;
grant select, insert, update (reason, released_at, erased_at, erased_texts, erased_names)
  on hub.suppression to hub_rw;

-- The outcomes of a project's mail; listmonk reports opens and clicks only as numbers of a campaign.
create function private.mail_totals(p_project_id uuid)
returns table (
  sent integer, opened integer, clicked integer, bounced integer, replied integer, unsubscribed integer
)
language sql stable set search_path = '' as $$
  select
    count(*) filter (where r.state = 'sent')::integer,
    count(r.opened_at)::integer + (
      select coalesce(sum(c.opened), 0)::integer from hub.campaigns c where c.project_id = p_project_id),
    count(r.clicked_at)::integer + (
      select coalesce(sum(c.clicked), 0)::integer from hub.campaigns c where c.project_id = p_project_id),
    count(r.bounced_at)::integer,
    count(r.replied_at)::integer,
    count(r.unsubscribed_at)::integer
  from hub.recipients r
  where r.project_id = p_project_id
$$;
grant execute on function private.mail_totals to hub_ro, hub_rw, hub_data;
