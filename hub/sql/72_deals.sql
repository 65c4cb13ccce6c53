-- Deals: what a lead is worth, when it is expected, what comes next, and why it was won or lost. A lead has one deal.

alter table hub.leads add column amount numeric(14, 2) check (amount >= 0);
alter table hub.leads add column currency text check (currency ~ '^[A-Z]{3}$');
alter table hub.leads add column close_on date;
alter table hub.leads add column next_step text check (length(next_step) <= 500);
alter table hub.leads add column outcome_reason text check (length(outcome_reason) <= 100);
alter table hub.leads add column outcome_note text check (length(outcome_note) <= 2000);
alter table hub.leads add column closed_at timestamptz;
alter table hub.leads add constraint leads_priced check (amount is null or currency is not null);
comment on column hub.leads.currency is 'Of the amount, ISO 4217; amounts in different currencies are never added.';
comment on column hub.leads.close_on is 'The day on which the deal is expected to be decided.';
comment on column hub.leads.outcome_reason is 'Why the deal was won or lost; cleared when it is reopened.';
comment on column hub.leads.closed_at is 'When it came to won or lost in the hub; null for one that was imported there.';

-- Every way into and out of won and lost, also the bulk change and a reply, keeps the outcome right.
create function private.note_outcome() returns trigger
language plpgsql set search_path = '' as $$
begin
  if new.stage = old.stage then
    return new;
  end if;
  new.closed_at := case when new.stage in ('won', 'lost') then now() end;
  if new.closed_at is null or new.outcome_reason is not distinct from old.outcome_reason then
    new.outcome_reason := null;
  end if;
  if new.closed_at is null or new.outcome_note is not distinct from old.outcome_note then
    new.outcome_note := null;
  end if;
  return new;
end
$$;
create trigger leads_outcome before update of stage on hub.leads
  for each row execute function private.note_outcome();

create table hub.deal_settings (
  project_id uuid primary key references hub.projects on delete cascade,
  -- {"<stage>": percent}; a stage without one has no weighted sum.
  probabilities jsonb not null default '{}' check (jsonb_typeof(probabilities) = 'object'),
  won_reasons text[] not null default '{}' check (cardinality(won_reasons) <= 20),
  lost_reasons text[] not null default '{}' check (cardinality(lost_reasons) <= 20),
  updated_at timestamptz not null default now()
);
comment on table hub.deal_settings is 'How a project weighs its deals, and its reasons for won and lost ones.';
alter table hub.deal_settings enable row level security;
alter table hub.deal_settings force row level security;
create policy deal_settings_select on hub.deal_settings for select to hub_ro, hub_rw, hub_data
  using (private.in_project(project_id));
create policy deal_settings_write on hub.deal_settings for all to hub_rw
  using (private.in_project(project_id))
  with check (private.in_project(project_id));
grant select on hub.deal_settings to hub_ro, hub_data;
grant select, insert, update, delete on hub.deal_settings to hub_rw;
