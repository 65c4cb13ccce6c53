-- Feed links: secret addresses at which anybody who has one reads the alerts of a zone, without a key.

set role watchpost_owner;

create table watchpost.feed_links (
  id uuid primary key default gen_random_uuid(),
  zone_id uuid not null references watchpost.zones on delete cascade,
  owner_id uuid not null default private.uid() references watchpost.accounts on delete cascade,
  label text check (length(label) between 1 and 120),
  token_hash bytea not null unique check (length(token_hash) = 32),
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  rotated_at timestamptz
);
comment on table watchpost.feed_links is 'Links to the feed of a zone. Only the SHA-256 of the token in a link is stored; a link is shown once.';
comment on column watchpost.feed_links.owner_id is 'Who made its token last; the link works only while that account may change the zone.';
comment on column watchpost.feed_links.label is 'What it is for; null: not given.';
comment on column watchpost.feed_links.token_hash is 'SHA-256 of its token, by which requests look it up.';
comment on column watchpost.feed_links.rotated_at is 'When the token was replaced last; null: it is the first one.';
create index feed_links_zone_created on watchpost.feed_links (zone_id, created_at desc, id desc);
create index feed_links_owner_id on watchpost.feed_links (owner_id);
alter table watchpost.feed_links enable row level security;
alter table watchpost.feed_links force row level security;
create policy feed_links_select on watchpost.feed_links for select to authenticated
  using (exists (
    select from watchpost.zones z
    where z.id = zone_id and (z.owner_id = (select private.uid()) or z.org_id = any((select private.admin_orgs())::uuid[]))));
create policy feed_links_insert on watchpost.feed_links for insert to authenticated
  with check (
    (select private.can_write())
    and owner_id = (select private.uid())
    and exists (
      select from watchpost.zones z
      where z.id = zone_id and z.deleted_at is null
        and (z.owner_id = (select private.uid()) or z.org_id = any((select private.admin_orgs())::uuid[]))));
create policy feed_links_update on watchpost.feed_links for update to authenticated
  using (
    (select private.can_write())
    and exists (
      select from watchpost.zones z
      where z.id = zone_id and z.deleted_at is null
        and (z.owner_id = (select private.uid()) or z.org_id = any((select private.admin_orgs())::uuid[]))))
  with check ((select private.can_write()) and owner_id = (select private.uid()));
create policy feed_links_delete on watchpost.feed_links for delete to authenticated
  using (
    (select private.can_write())
    and exists (
      select from watchpost.zones z
      where z.id = zone_id
        and (z.owner_id = (select private.uid()) or z.org_id = any((select private.admin_orgs())::uuid[]))));
grant select (id, zone_id, owner_id, label, created_at, rotated_at) on watchpost.feed_links to authenticated;
grant insert (zone_id, label, token_hash), update (token_hash), delete on watchpost.feed_links to authenticated;

-- Whoever makes a new token answers for the link. Raises errcode WP409 for too many links of a zone. Security
-- definer: it counts the links of every maker.
create function private.feed_link_before() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if tg_op = 'UPDATE' then
    if new.token_hash <> old.token_hash and private.uid() is not null then
      new.owner_id := private.uid();
      new.rotated_at := date_trunc('milliseconds', now());
    end if;
    return new;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('feed_links:' || new.zone_id, 0));
  if (select count(*) from watchpost.feed_links where zone_id = new.zone_id) >= 20 then
    raise exception 'This zone has 20 feed links, which is the limit. Revoke one that is no longer used: DELETE /zones/:id/feed-links/:linkId.'
      using errcode = 'WP409';
  end if;
  return new;
end
$$;
create trigger feed_links_before before insert or update on watchpost.feed_links
  for each row execute function private.feed_link_before();

-- The zone of a feed link that works: no row for a token that is unknown or was replaced, or whose zone is deleted or
-- paused, or whose maker may no longer change the zone or use the API.
create function private.zone_of_feed_link(p_token_hash bytea) returns setof watchpost.zones
language plpgsql stable rows 1 set search_path = '' as $$
begin
  return query
    select z.*
    from watchpost.feed_links l
    join watchpost.zones z on z.id = l.zone_id
    cross join lateral private.active_account(z.owner_id) p
    cross join lateral private.active_account(l.owner_id) m
    where l.token_hash = p_token_hash
      and z.deleted_at is null
      and p.plan <> 'free'
      and m.plan <> 'free'
      and (l.owner_id = z.owner_id or exists (
        select from watchpost.members a
        where a.org_id = z.org_id and a.user_id = l.owner_id and a.role in ('owner', 'admin')));
end
$$;

-- An alert as a feed shows it: what happened and why it was raised, without channels, people and notes. The event is
-- the one that was told, so that a feed changes when its alert does.
create function private.feed_alert_json(a watchpost.alerts, p_attributions jsonb) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', a.id,
    'event', private.stored_event(a.event),
    'current', private.stored_event(coalesce(a.current, a.event)),
    'severity', a.severity,
    'reason', a.reason,
    'raised_at', private.iso(a.raised_at),
    'resolved', a.resolved,
    'updates', (
      select coalesce(jsonb_agg('{"changes": {}}'::jsonb || u.value order by u.nr), '[]')
      from jsonb_array_elements(a.updates) with ordinality as u (value, nr)),
    'attributions', (
      select jsonb_agg(distinct private.attribution_among(p_attributions, s.source))
      from (
        select a.source
        union all select m.source from watchpost.alert_events m where m.alert_id = a.id) s))
$$;

-- Security definer: the login role reads the feed of one link and no table. Answers the zone and its newest alerts,
-- but those that were suppressed and drills; one more than p_limit says that there are more. No row for a link that does not work.
create function private.feed_of(p_token_hash bytea, p_days integer, p_limit integer)
returns table (zone_id uuid, label text, created_at timestamptz, modified_at timestamptz, alerts jsonb)
language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    select z.id, z.label, z.created_at, greatest(z.updated_at, found.modified_at), coalesce(found.alerts, '[]')
    from private.zone_of_feed_link(p_token_hash) z
    cross join lateral (
      select max(a.updated_at) as modified_at,
        jsonb_agg(private.feed_alert_json(a, (select private.attributions())) order by a.raised_at desc, a.id desc) as alerts
      from (
        select * from watchpost.alerts
        where alerts.zone_id = z.id
          and status <> 'suppressed' and drill_id is null
          and raised_at > now() - make_interval(days => p_days)
        order by raised_at desc, alerts.id desc
        limit p_limit + 1) a) found;
end
$$;
revoke all on function private.feed_of from public;
grant execute on function private.feed_of to watchpost_api;

reset role;
