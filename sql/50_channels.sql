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
  status text not null default 'ok' check (status in ('ok', 'failing', 'disabled')),
  disabled_reason text,
  signing_secret_sealed text,
  previous_secret_sealed text,
  previous_secret_until timestamptz,
  failures integer not null default 0,
  paused_until timestamptz,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz
);
comment on table watchpost.channels is 'Where alerts are sent. Everything secret is sealed; next to it there is a masked form.';
comment on column watchpost.channels.org_id is 'Null: private.';
comment on column watchpost.channels.tenant_id is 'Tenant that can see it: the organisation, or else the owner.';
comment on column watchpost.channels.label is 'Name given by the owner; null: shown by its kind.';
comment on column watchpost.channels.target_sealed is 'URL, address or key of the receiver, encrypted with SEAL_KEYS.';
comment on column watchpost.channels.target_masked is 'The target as others see it.';
comment on column watchpost.channels.config_sealed is 'Headers or tokens, encrypted with SEAL_KEYS; null: none.';
comment on column watchpost.channels.status is 'ok, failing (it is retried) or disabled; written by the delivery job.';
comment on column watchpost.channels.signing_secret_sealed is 'Key that signs webhooks, encrypted; null for other kinds.';
comment on column watchpost.channels.previous_secret_sealed is 'The key before the last rotation, encrypted; for 24 hours messages are signed with both.';
comment on column watchpost.channels.failures is 'Failed attempts in a row; 0 after a success.';
comment on column watchpost.channels.paused_until is 'Until then nothing is sent, after many failures.';
comment on column watchpost.channels.deleted_at is 'Can be restored for 30 days from then on.';
create index channels_tenant_created on watchpost.channels (tenant_id, created_at desc, id desc);
create index channels_owner_id on watchpost.channels (owner_id);
create index channels_org_id on watchpost.channels (org_id) where org_id is not null;
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
    signing_secret_sealed)
  on watchpost.channels to authenticated;
grant update (
    org_id, label, target_sealed, target_masked, config_sealed, config_masked, enabled, status,
    disabled_reason, signing_secret_sealed, previous_secret_sealed, previous_secret_until, failures,
    paused_until, deleted_at)
  on watchpost.channels to authenticated;
grant update (enabled, status, disabled_reason, failures, paused_until) on watchpost.channels to watchpost_jobs;

-- Security definer: counts all of an owner's channels, and checks sharing in addition to the policy.
create function private.channel_before() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
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

-- Those of these channels that the caller and the zone's owner cannot both see.
create function private.unusable_channels(p_channel_ids uuid[], p_zone_owner uuid) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(given.id), '{}')
  from unnest(p_channel_ids) as given (id)
  where not exists (
    select from watchpost.channels c
    where c.id = given.id
      and c.deleted_at is null
      and c.tenant_id = any(private.my_tenants())
      and (c.owner_id = p_zone_owner or exists (
        select from watchpost.members m
        where m.org_id = c.org_id and m.user_id = p_zone_owner and m.status = 'active')))
$$;
grant execute on function private.unusable_channels to authenticated;

-- The channels that an alert of a zone is sent to: the chosen ones that its owner can still see, or every enabled one
-- of the owner and, if the zone is shared, of the organisation.
create function private.zone_channels(p_owner_id uuid, p_org_id uuid, p_channel_ids uuid[])
returns table (channel_id uuid)
language sql stable set search_path = '' as $$
  select c.id
  from watchpost.channels c
  where c.enabled and c.deleted_at is null
    and case
      when p_channel_ids is null then
        c.owner_id = p_owner_id and (c.org_id is null or c.org_id is not distinct from p_org_id)
        or c.org_id = p_org_id
      else c.id = any(p_channel_ids)
        and (c.owner_id = p_owner_id or exists (
          select from watchpost.members m
          where m.org_id = c.org_id and m.user_id = p_owner_id and m.status = 'active'))
    end
$$;
grant execute on function private.zone_channels to watchpost_jobs;

reset role;
