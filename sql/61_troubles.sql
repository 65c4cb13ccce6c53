-- Troubles of channels: those that fail for long or that their receiver has disabled, and through which channel their
-- owners are told.

set role watchpost_owner;

create table watchpost.channel_troubles (
  id uuid primary key default gen_random_uuid(),
  channel_id uuid not null references watchpost.channels on delete cascade,
  status text not null check (status in ('failing', 'disabled')),
  reason text not null,
  began_at timestamptz not null,
  told_at timestamptz,
  told_through uuid references watchpost.channels on delete set null,
  well_at timestamptz,
  ended_at timestamptz
);
comment on table watchpost.channel_troubles is 'A time in which nothing reached a channel. One that ended before its owner was told is deleted.';
comment on column watchpost.channel_troubles.status is 'With reason: how the channel was, as its owner heard it.';
comment on column watchpost.channel_troubles.told_at is 'When its owner was told; null: not yet, for want of another channel.';
comment on column watchpost.channel_troubles.told_through is 'The channel that its owner was told through.';
comment on column watchpost.channel_troubles.well_at is 'Since when the channel has been well again, without a relapse; null: it is not.';
comment on column watchpost.channel_troubles.ended_at is 'When the channel had been well for long enough, or was switched off or deleted; null: it goes on.';
create unique index channel_troubles_open on watchpost.channel_troubles (channel_id) where ended_at is null;
create index channel_troubles_channel_id on watchpost.channel_troubles (channel_id);
create index channel_troubles_told_through on watchpost.channel_troubles (told_through) where told_through is not null;
create index channel_troubles_ended_at on watchpost.channel_troubles (ended_at);
alter table watchpost.channel_troubles enable row level security;
alter table watchpost.channel_troubles force row level security;

-- Whether a channel is in trouble: it has failed for 15 minutes without a success, or its receiver has disabled it.
create function private.is_in_trouble(c watchpost.channels) returns boolean
language sql stable set search_path = '' as $$
  select c.deleted_at is null and (
    c.status = 'failing' and c.failing_since <= now() - interval '15 minutes'
    or c.status = 'disabled' and c.disabled_reason <> 'It was switched off.')
$$;

-- The channel through which the owner of a channel hears of its trouble: another one of theirs that works, that nobody
-- else reads who does not see the troubled one, and if possible one at another host. Null: there is none.
create function private.teller_for(c watchpost.channels) returns uuid
language plpgsql stable set search_path = '' as $$
begin
  return (
    select r.id
    from watchpost.channels r
    join watchpost.accounts p on p.user_id = r.owner_id
    where r.owner_id = c.owner_id and r.id <> c.id and r.deleted_at is null and r.enabled and r.status = 'ok'
      and (r.org_id is null or r.org_id is not distinct from c.org_id)
      and private.takes(r.messages, 'channel.failing') and p.plan <> 'free' and not private.is_banned(p.banned_until)
    order by (r.kind, r.host) is distinct from (c.kind, c.host) desc, (
      select max(d.delivered_at) from watchpost.deliveries d
      where d.channel_id = r.id and d.status = 'succeeded' and d.created_at > now() - interval '30 days') desc nulls last,
      r.created_at, r.id
    limit 1);
end
$$;

-- One look at a channel that is in trouble, or was. Says what was told: failing, recovered or nothing.
create function private.watch_channel(c watchpost.channels) returns text
language plpgsql volatile set search_path = '' as $$
declare
  t watchpost.channel_troubles;
  v_teller uuid;
begin
  if private.is_in_trouble(c) then
    insert into watchpost.channel_troubles as o (channel_id, status, reason, began_at)
    values (c.id, c.status, coalesce(c.failing_reason, c.disabled_reason, 'It fails.'), coalesce(c.failing_since, now()))
    on conflict (channel_id) where ended_at is null do update
    set well_at = null,
        status = case when o.told_at is null then excluded.status else o.status end,
        reason = case when o.told_at is null then excluded.reason else o.reason end
    returning * into t;
    v_teller := case when t.told_at is null then private.teller_for(c) end;
    if v_teller is null then
      return null;
    end if;
    update watchpost.channel_troubles set told_at = now(), told_through = v_teller where id = t.id;
    perform private.deliver_trouble(t.id, v_teller, 'channel.failing');
    return 'failing';
  end if;
  select * into t from watchpost.channel_troubles o where o.channel_id = c.id and o.ended_at is null for update;
  if t.told_at is null then
    delete from watchpost.channel_troubles where id = t.id;
  elsif c.deleted_at is not null or not c.enabled then
    update watchpost.channel_troubles set ended_at = now() where id = t.id;
  elsif c.status <> 'ok' then
    update watchpost.channel_troubles set well_at = null where id = t.id;
  elsif t.well_at is null then
    update watchpost.channel_troubles set well_at = now() where id = t.id;
  elsif t.well_at <= now() - interval '5 minutes' and exists (
    select from watchpost.deliveries d
    where d.channel_id = c.id and d.status = 'succeeded' and d.delivered_at > t.began_at) then
    update watchpost.channel_troubles set ended_at = now() where id = t.id;
    if t.told_through is not null then
      perform private.deliver_trouble(t.id, t.told_through, 'channel.recovered');
    end if;
    return 'recovered';
  -- Its owner has mended it, and nothing was sent since: not worth a message.
  elsif t.well_at <= now() - interval '1 day' then
    update watchpost.channel_troubles set ended_at = now() where id = t.id;
  end if;
  return null;
end
$$;

-- Security definer: the jobs write none of this themselves. Looks at every channel in trouble and answers what was told
-- of which: a list of channel_id and told. Of two processes one looks.
create function private.watch_channels() returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  c watchpost.channels;
  v_told text;
  v_all jsonb := '[]';
begin
  if not pg_try_advisory_xact_lock(hashtextextended('watch_channels', 0)) then
    return v_all;
  end if;
  for c in
    select x.* from watchpost.channels x
    where x.id in (select t.channel_id from watchpost.channel_troubles t where t.ended_at is null)
      -- What was disabled long ago is no news.
      or x.status <> 'ok' and private.is_in_trouble(x) and (x.status = 'failing' or x.updated_at > now() - interval '1 day')
    order by x.id
  loop
    v_told := private.watch_channel(c);
    if v_told is not null then
      v_all := v_all || jsonb_build_object('channel_id', c.id, 'told', v_told);
    end if;
  end loop;
  return v_all;
end
$$;
grant execute on function private.watch_channels to watchpost_jobs;

-- What a message about a channel says.
create function private.trouble_json(p_trouble_id uuid, p_type text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'timestamp', private.iso(case p_type when 'channel.failing' then t.told_at else t.ended_at end),
    'alert', null,
    'zone', null,
    'channel', jsonb_build_object(
      'id', c.id, 'kind', c.kind, 'label', c.label,
      'status', case p_type when 'channel.failing' then t.status else 'ok' end,
      'since', private.iso(t.began_at), 'reason', t.reason)
      || case when p_type = 'channel.failing' then '{}' else jsonb_build_object(
        'until', private.iso(t.well_at),
        'failing_seconds', round(extract(epoch from t.well_at - t.began_at))) end)
  from watchpost.channel_troubles t
  join watchpost.channels c on c.id = t.channel_id
  where t.id = p_trouble_id
$$;

-- What ended before p_before, with its messages; says how many.
create function private.purge_troubles(p_before timestamptz, p_batch integer) returns integer
language sql volatile set search_path = '' as $$
  with gone as (
    delete from watchpost.channel_troubles where id in (
      select id from watchpost.channel_troubles where ended_at < p_before limit p_batch)
    returning 1)
  select count(*)::integer from gone
$$;

reset role;
