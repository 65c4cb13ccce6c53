-- Webhooks: what happens in the hub is told to addresses that an admin named. A delivery is stored in the transaction
-- of what happened, so that nothing is lost or invented.

create table hub.webhooks (
  id uuid primary key default gen_random_uuid(),
  -- Null: the events of all projects.
  project_id uuid references hub.projects on delete cascade,
  label text not null check (length(label) between 1 and 120),
  url text not null check (length(url) between 1 and 2000),
  events text[] not null check (
    cardinality(events) > 0 and events <@ array[
      'mission.done', 'mission.failed', 'draft.to_approve', 'draft.sent', 'mail.replied', 'mail.bounced',
      'mail.opted_out'
    ]
  ),
  -- Whether its address may be in a private network, which an admin allowed.
  allow_private boolean not null default false,
  enabled boolean not null default true,
  -- The receiver answered 410 Gone, or all attempts failed for days.
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  -- The signing secrets, sealed with a key that no backup contains.
  secret text not null check (length(secret) <= 500),
  former_secret text check (length(former_secret) <= 500),
  former_until timestamptz,
  created_at timestamptz not null default now(),
  created_by jsonb default private.current_actor()
);
comment on table hub.webhooks is 'Addresses that are told what happens, with their sealed signing secrets.';
create index webhooks_project on hub.webhooks (project_id);
alter table hub.webhooks enable row level security;
alter table hub.webhooks force row level security;
create policy webhooks_select on hub.webhooks for select to hub_ro, hub_rw
  using ((select private.current_project()) is not null and (project_id is null or private.in_project(project_id)));
create policy webhooks_insert on hub.webhooks for insert to hub_rw
  with check ((select private.is_admin()));
create policy webhooks_update on hub.webhooks for update to hub_rw
  using ((select private.is_admin()))
  with check ((select private.is_admin()));
create policy webhooks_delete on hub.webhooks for delete to hub_rw
  using ((select private.is_admin()));
grant select on hub.webhooks to hub_ro;
grant select, insert, update, delete on hub.webhooks to hub_rw;

create table hub.webhook_deliveries (
  id uuid primary key default gen_random_uuid(),
  webhook_id uuid not null references hub.webhooks on delete cascade,
  project_id uuid references hub.projects on delete cascade,
  event text not null check (length(event) between 1 and 40),
  -- Ids and states only: no names, addresses or texts of people.
  data jsonb not null,
  state text not null default 'queued' check (state in ('queued', 'sending', 'succeeded', 'failed')),
  attempts integer not null default 0,
  -- While it is sent: until when nobody else takes it.
  next_at timestamptz not null default now(),
  first_attempt_at timestamptz,
  delivered_at timestamptz,
  redelivery_of uuid references hub.webhook_deliveries on delete set null,
  created_at timestamptz not null default now()
);
comment on table hub.webhook_deliveries is 'What is told to a webhook: stored in the transaction of what happened.';
create index webhook_deliveries_newest on hub.webhook_deliveries (webhook_id, created_at desc, id desc);
create index webhook_deliveries_due on hub.webhook_deliveries (next_at) where state in ('queued', 'sending');
create index webhook_deliveries_project on hub.webhook_deliveries (project_id);
create index webhook_deliveries_redelivery on hub.webhook_deliveries (redelivery_of);
alter table hub.webhook_deliveries enable row level security;
alter table hub.webhook_deliveries force row level security;
create policy webhook_deliveries_select on hub.webhook_deliveries for select to hub_ro, hub_rw
  using ((select private.current_project()) is not null and (project_id is null or private.in_project(project_id)));
create policy webhook_deliveries_write on hub.webhook_deliveries for all to hub_rw
  using ((select private.current_project()) is not null and (project_id is null or private.in_project(project_id)))
  with check (
    (select private.current_project()) is not null and (project_id is null or private.in_project(project_id))
  );
grant select on hub.webhook_deliveries to hub_ro;
grant select, insert, update, delete on hub.webhook_deliveries to hub_rw;

create table hub.webhook_attempts (
  delivery_id uuid not null references hub.webhook_deliveries on delete cascade,
  position integer not null,
  at timestamptz not null default now(),
  -- The HTTP status; null if no answer came.
  status integer,
  failure text check (failure in ('refused', 'unreachable', 'timeout', 'secret')),
  -- The beginning of the answer.
  answer text check (length(answer) <= 1000),
  duration_ms integer not null,
  primary key (delivery_id, position)
);
comment on table hub.webhook_attempts is 'The attempts of a delivery with the answers.';
alter table hub.webhook_attempts enable row level security;
alter table hub.webhook_attempts force row level security;
create policy webhook_attempts_select on hub.webhook_attempts for select to hub_ro, hub_rw
  using ((select private.current_project()) is not null);
create policy webhook_attempts_write on hub.webhook_attempts for all to hub_rw
  using ((select private.current_project()) is not null)
  with check ((select private.current_project()) is not null);
grant select on hub.webhook_attempts to hub_ro;
grant select, insert, update, delete on hub.webhook_attempts to hub_rw;

-- Stores a delivery for each webhook that wants this event of this project.
create function private.tell_webhooks(p_project_id uuid, p_event text, p_data jsonb) returns void
language sql set search_path = '' as $$
  insert into hub.webhook_deliveries (webhook_id, project_id, event, data)
  select w.id, p_project_id, p_event,
    jsonb_build_object('project', (select slug from hub.projects where id = p_project_id)) || p_data
  from hub.webhooks w
  where w.enabled and p_event = any(w.events) and (w.project_id is null or w.project_id = p_project_id)
$$;
grant execute on function private.tell_webhooks to hub_rw;

create function private.tell_mission() returns trigger
language plpgsql set search_path = '' as $$
begin
  if new.status in ('done', 'failed') and new.status <> old.status then
    perform private.tell_webhooks(new.project_id, 'mission.' || new.status,
      jsonb_build_object('mission_id', new.id, 'department', new.department, 'status', new.status));
  end if;
  return null;
end
$$;
create trigger missions_told after update of status on hub.missions
  for each row execute function private.tell_mission();

create function private.tell_draft() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_before text := case when tg_op = 'UPDATE' then old.state end;
begin
  if new.state in ('rendered', 'sent') and new.state is distinct from v_before then
    perform private.tell_webhooks(new.project_id,
      case new.state when 'sent' then 'draft.sent' else 'draft.to_approve' end,
      jsonb_build_object('draft_id', new.id, 'state', new.state));
  end if;
  return null;
end
$$;
create trigger drafts_told after insert or update of state on hub.drafts
  for each row execute function private.tell_draft();

create function private.tell_recipient() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_data jsonb := jsonb_build_object('draft_id', new.draft_id, 'lead_id', new.lead_id);
begin
  if greatest(new.replied_at, new.last_replied_at)
    > coalesce(greatest(old.replied_at, old.last_replied_at), '-infinity')
  then
    perform private.tell_webhooks(new.project_id, 'mail.replied', v_data);
  end if;
  if new.bounced_at is not null and old.bounced_at is null then
    perform private.tell_webhooks(new.project_id, 'mail.bounced', v_data || jsonb_build_object('bounce', new.bounce));
  end if;
  if new.unsubscribed_at is not null and old.unsubscribed_at is null then
    perform private.tell_webhooks(new.project_id, 'mail.opted_out', v_data);
  end if;
  return null;
end
$$;
create trigger recipients_told
  after update of replied_at, last_replied_at, bounced_at, unsubscribed_at on hub.recipients
  for each row execute function private.tell_recipient();
