-- Channels: where alerts are sent. The API seals targets, tokens and signing secrets before it stores them.

set role watchpost_owner;

create table watchpost.channels (
  id uuid primary key default gen_random_uuid(),
  owner_id uuid not null default private.uid() references watchpost.accounts on delete cascade,
  org_id uuid references watchpost.organisations on delete set null,
  tenant_id uuid generated always as (coalesce(org_id, owner_id)) stored,
  kind text not null check (kind ~ '^[a-z]{1,32}$'),
  label text check (length(label) between 1 and 120),
  target_sealed text not null,
  target_masked text not null,
  config_sealed text,
  config_masked jsonb,
  enabled boolean not null default true,
  status text not null default 'ok' check (status in ('ok', 'failing', 'disabled', 'unconfirmed')),
  disabled_reason text,
  signing_secret_sealed text,
  failures integer not null default 0,
  paused_until timestamptz,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  former_secrets_sealed jsonb not null default '[]',
  messages text[] check (cardinality(messages) > 0),
  failing_reason text,
  failing_since timestamptz,
  language text not null default 'en' check (language in ('en', 'tr')),
  time_zone text not null default 'UTC' check (length(time_zone) between 1 and 64),
  host text,
  confirmation_id uuid,
  confirmed_at timestamptz
);
comment on table watchpost.channels is 'Where alerts are sent. Everything secret is sealed; next to it there is a masked form.';
comment on column watchpost.channels.org_id is 'Null: private.';
comment on column watchpost.channels.tenant_id is 'Tenant that can see it: the organisation, or else the owner.';
comment on column watchpost.channels.label is 'Name given by the owner; null: shown by its kind.';
comment on column watchpost.channels.target_sealed is 'URL, address or key of the receiver, encrypted with SEAL_KEYS.';
comment on column watchpost.channels.target_masked is 'The target as others see it.';
comment on column watchpost.channels.config_sealed is 'Headers or tokens, encrypted with SEAL_KEYS; null: none.';
comment on column watchpost.channels.status is 'ok, failing (it is retried) or disabled, written by the delivery job; unconfirmed until its address is confirmed.';
comment on column watchpost.channels.signing_secret_sealed is 'Key that signs webhooks, encrypted; null for other kinds.';
comment on column watchpost.channels.failures is 'Failed attempts in a row; 0 after a success.';
comment on column watchpost.channels.paused_until is 'Until then nothing is sent, after many failures.';
comment on column watchpost.channels.deleted_at is 'Can be restored for 30 days from then on.';
comment on column watchpost.channels.former_secrets_sealed is 'Keys before the last rotations: a list of sealed and until. Messages are also signed with each of them until its own 24 hours are over.';
comment on column watchpost.channels.messages is 'Types of messages that it takes; null: all except alert.revised and what people do with alerts.';
comment on column watchpost.channels.failing_reason is 'With failing_since: the last error while it is failing, and since when; otherwise null.';
comment on column watchpost.channels.confirmation_id is 'What the link in a mail names to confirm the address, another one for each address; null: a kind that needs none.';
comment on column watchpost.channels.confirmed_at is 'When a reader confirmed the address; null: nothing else is sent to it yet.';
comment on column watchpost.channels.language is 'Of its messages.';
comment on column watchpost.channels.time_zone is 'IANA name; its messages tell times in it.';
comment on column watchpost.channels.host is 'Whose limits it shares, as its kind says; null: nothing was sent there yet.';
create index channels_tenant_created on watchpost.channels (tenant_id, created_at desc, id desc);
create index channels_owner_id on watchpost.channels (owner_id);
create index channels_org_id on watchpost.channels (org_id) where org_id is not null;
create index channels_unconfirmed_owner on watchpost.channels (owner_id) where status = 'unconfirmed';
create index channels_unconfirmed_org on watchpost.channels (org_id) where status = 'unconfirmed';
alter table watchpost.channels enable row level security;
alter table watchpost.channels force row level security;
create policy channels_select on watchpost.channels for select to authenticated
  using (tenant_id = any((select private.my_tenants())::uuid[]));
create policy channels_insert on watchpost.channels for insert to authenticated
  with check (
    (select private.can_write())
    and owner_id = (select private.uid())
    and (org_id is null or org_id = any((select private.admin_orgs())::uuid[])));
create policy channels_update on watchpost.channels for update to authenticated
  using (
    (select private.can_write())
    and (owner_id = (select private.uid()) or org_id = any((select private.admin_orgs())::uuid[])))
  with check (
    (select private.can_write())
    and (org_id is null or org_id = any((select private.my_orgs())::uuid[])));
create policy channels_jobs on watchpost.channels for select to watchpost_jobs
  using (true);
create policy channels_jobs_update on watchpost.channels for update to watchpost_jobs
  using (true) with check (true);
grant select on watchpost.channels to authenticated, watchpost_jobs;
grant insert (
    org_id, kind, label, target_sealed, target_masked, config_sealed, config_masked, enabled,
    signing_secret_sealed, messages, language, time_zone)
  on watchpost.channels to authenticated;
grant update (
    org_id, label, target_sealed, target_masked, config_sealed, config_masked, enabled, status,
    disabled_reason, signing_secret_sealed, former_secrets_sealed, failures, paused_until, deleted_at, messages,
    failing_reason, failing_since, language, time_zone)
  on watchpost.channels to authenticated;
grant update (target_sealed, target_masked, enabled, status, disabled_reason, failures, paused_until, failing_reason, failing_since)
  on watchpost.channels to watchpost_jobs;

-- Security definer: counts all of an owner's channels, and checks sharing in addition to the policy.
create function private.channel_before() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if new.kind = 'email' then
    if tg_op = 'INSERT' then
      new.confirmation_id := coalesce(new.confirmation_id, gen_random_uuid());
    elsif new.target_sealed <> old.target_sealed then
      new.confirmation_id := gen_random_uuid();
      new.confirmed_at := null;
    end if;
  end if;
  new.status := case
    when new.status = 'disabled' then 'disabled'
    when new.confirmation_id is not null and new.confirmed_at is null then 'unconfirmed'
    when new.status = 'unconfirmed' then 'ok'
    else new.status
  end;
  if tg_op = 'UPDATE' then
    if new.org_id is distinct from old.org_id and private.uid() is not null then
      if private.uid() <> old.owner_id and private.org_exists(old.org_id) then
        raise exception 'only the owner can share or unshare a channel' using errcode = 'WP403';
      end if;
      if new.org_id is not null and not new.org_id = any(private.admin_orgs()) then
        raise exception 'only an owner or admin can put a channel into an organisation' using errcode = 'WP403';
      end if;
    end if;
    new.updated_at := now();
    if new.target_sealed <> old.target_sealed or new.config_sealed is distinct from old.config_sealed then
      new.host := null;
    end if;
    if old.deleted_at is null or new.deleted_at is not null then
      return new;
    end if;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('channels:' || new.owner_id, 0));
  perform private.require_quota(new.owner_id, 'channels', (
    select count(*) + 1 from watchpost.channels where owner_id = new.owner_id and deleted_at is null));
  if tg_op = 'INSERT' then
    perform private.require_deleted_quota(new.owner_id, 'channels', (
      select count(*) from watchpost.channels
      where owner_id = new.owner_id and deleted_at > now() - interval '30 days'));
  end if;
  return new;
end
$$;
create trigger channels_before before insert or update on watchpost.channels
  for each row execute function private.channel_before();

-- Whether an account can send its alerts to a channel: its own, or one of an organisation that it belongs to. It and
-- zone_channels and takes have no search_path of their own, so that they are inlined: each alert asks them.
create function private.is_usable(c watchpost.channels, p_user_id uuid) returns boolean
language sql stable as $$
  select c.deleted_at is null and (c.owner_id = p_user_id or exists (
    select from watchpost.members m
    where m.org_id = c.org_id and m.user_id = p_user_id))
$$;
grant execute on function private.is_usable to authenticated, watchpost_jobs;

-- Those of these channels that the caller and the zone's owner cannot both see.
create function private.unusable_channels(p_channel_ids uuid[], p_zone_owner uuid) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(given.id), '{}')
  from unnest(p_channel_ids) as given (id)
  where not exists (
    select from watchpost.channels c
    where c.id = given.id
      and c.tenant_id = any(private.my_tenants())
      and private.is_usable(c, p_zone_owner))
$$;
grant execute on function private.unusable_channels to authenticated;

-- The channels that an alert of a zone is sent to: the chosen ones that its owner can still see. If none is chosen, or
-- none of the chosen is left: every enabled one of the owner and, if the zone is shared, of the organisation.
create function private.zone_channels(p_owner_id uuid, p_org_id uuid, p_channel_ids uuid[])
returns table (channel_id uuid)
language sql stable as $$
  with chosen as materialized (
    select c.id, c.enabled
    from watchpost.channels c
    where c.id = any(p_channel_ids) and private.is_usable(c, p_owner_id)
  )
  select chosen.id from chosen where chosen.enabled
  union all
  select c.id
  from watchpost.channels c
  where (p_channel_ids is null or p_channel_ids <> '{}' and not exists (select from chosen))
    and c.enabled and c.deleted_at is null
    and (c.owner_id = p_owner_id and (c.org_id is null or c.org_id is not distinct from p_org_id)
      or c.org_id = p_org_id)
$$;
grant execute on function private.zone_channels to watchpost_jobs;

-- Of the chosen channels of a zone those that it has lost: deleted, or its owner no longer sees them.
create function private.lost_channels(p_owner_id uuid, p_channel_ids uuid[]) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(given.id order by given.nr), '{}')
  from unnest(p_channel_ids) with ordinality as given (id, nr)
  where not exists (
    select from watchpost.channels c where c.id = given.id and private.is_usable(c, p_owner_id))
$$;

-- Whether a channel takes messages of a type.
create function private.takes(p_messages text[], p_type text) returns boolean
language sql immutable as $$
  select case
    when p_messages is null
      then p_type <> all('{alert.revised,alert.acknowledged,alert.resolved,alert.reopened}'::text[])
    else p_type = any(p_messages)
  end
$$;
grant execute on function private.takes to watchpost_jobs;

-- Of each step of a zone: how many channels it has, how many of them the zone has lost, and whether one takes its message.
create function private.steps_reach(p_owner_id uuid, p_escalation jsonb) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'after_minutes', s.value -> 'after_minutes',
    'channels', (select count(*) from jsonb_array_elements(s.value -> 'channel_ids')),
    'lost', (
      select count(*) from jsonb_array_elements_text(s.value -> 'channel_ids') as given (id)
      where not exists (
        select from watchpost.channels c where c.id = given.id::uuid and private.is_usable(c, p_owner_id))),
    'is_reached', exists (
      select from jsonb_array_elements_text(s.value -> 'channel_ids') as given (id)
      join watchpost.channels c on c.id = given.id::uuid
      where private.is_usable(c, p_owner_id) and c.enabled and c.status <> 'unconfirmed'
        and private.takes(c.messages, 'alert.raised'))) order by s.nr), '[]')
  from jsonb_array_elements(p_escalation) with ordinality as s (value, nr)
$$;

-- Security definer: which of its channels a zone has lost, and whether its alerts and steps reach anybody. Null if the
-- caller cannot see such a zone.
create function private.zone_reach(p_owner_id uuid, p_org_id uuid, p_channel_ids uuid[], p_escalation jsonb) returns jsonb
language sql stable security definer set search_path = '' as $$
  select jsonb_build_object('lost', private.lost_channels(p_owner_id, p_channel_ids),
    'steps', private.steps_reach(p_owner_id, p_escalation), 'unconfirmed', (
      -- Hardly anybody has one, and then the channels of the zone need not be looked up.
      select case when exists (
        select from watchpost.channels c
        where c.status = 'unconfirmed' and (c.owner_id = p_owner_id or c.org_id = p_org_id)) then (
          select count(*)
          from private.zone_channels(p_owner_id, p_org_id, p_channel_ids) goes
          join watchpost.channels c on c.id = goes.channel_id
          where c.status = 'unconfirmed') else 0 end),
    'is_reached', case
    when p_channel_ids = '{}' then false
    -- As private.zone_channels chooses, but only until one is found.
    when exists (
      select from watchpost.channels c where c.id = any(p_channel_ids) and private.is_usable(c, p_owner_id))
      then exists (
        select from watchpost.channels c
        where c.id = any(p_channel_ids) and c.enabled and c.status <> 'unconfirmed' and private.is_usable(c, p_owner_id))
    else exists (
        select from watchpost.channels c
        where c.owner_id = p_owner_id and c.enabled and c.status <> 'unconfirmed' and c.deleted_at is null
          and (c.org_id is null or c.org_id is not distinct from p_org_id))
      or exists (
        select from watchpost.channels c
        where c.org_id = p_org_id and c.enabled and c.status <> 'unconfirmed' and c.deleted_at is null)
  end)
  where p_owner_id = private.uid() or p_org_id = any(private.my_orgs()) or private.is_operator()
$$;
grant execute on function private.zone_reach to authenticated;

-- Of the former secrets those that still sign, the newest first.
create function private.living_secrets(p_former jsonb) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(s order by (s ->> 'until')::timestamptz desc), '[]')
  from jsonb_array_elements(p_former) s
  where (s ->> 'until')::timestamptz > now()
$$;
grant execute on function private.living_secrets to authenticated;

-- Security definer: channels that are gone for good leave the zones that chose them. A zone that loses the
-- last one goes on as it did: with every channel.
create function private.forget_channels(p_ids uuid[]) returns void
language sql volatile security definer set search_path = '' as $$
  update watchpost.zones z
  set channel_ids = nullif(array(
    select kept.id from unnest(z.channel_ids) with ordinality as kept (id, nr)
    where kept.id <> all(p_ids)
    order by kept.nr), '{}')
  where z.channel_ids && p_ids;
  update watchpost.zones z
  set escalation = private.steps_without(z.escalation, p_ids)
  where z.escalation is not null and private.step_channels(z.escalation) && p_ids
$$;

create function private.channels_gone() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  perform private.forget_channels(array(select id from gone));
  return null;
end
$$;
create trigger channels_gone after delete on watchpost.channels
  referencing old table as gone
  for each statement execute function private.channels_gone();

reset role;
