-- Blindness: sources that fail for longer than their limit, and the zones that are blind without them.

set role watchpost_owner;

create table watchpost.blindness (
  id uuid primary key default gen_random_uuid(),
  source text not null references watchpost.sources,
  status text not null check (status in ('stale', 'down')),
  reason text not null,
  began_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  told_at timestamptz,
  well_at timestamptz,
  ended_at timestamptz,
  cause jsonb
);
comment on table watchpost.blindness is 'A time in which a source was not well. One that ended before anybody was told is deleted.';
comment on column watchpost.blindness.status is 'With reason: how the source was, as those who were told heard it.';
comment on column watchpost.blindness.cause is 'What the reason says, as private.source_cause; null: of a former release.';
comment on column watchpost.blindness.seen_at is 'When the source was looked at last; time in which nobody looked does not count.';
comment on column watchpost.blindness.told_at is 'When it reached the limit of the source and the zones were told; null: not yet.';
comment on column watchpost.blindness.well_at is 'Since when the source has been well again, without a relapse; null: it is not.';
comment on column watchpost.blindness.ended_at is 'When the source had been well for long enough; null: it goes on.';
create unique index blindness_open on watchpost.blindness (source) where ended_at is null;
create index blindness_source on watchpost.blindness (source);
create index blindness_ended_at on watchpost.blindness (ended_at);
alter table watchpost.blindness enable row level security;
alter table watchpost.blindness force row level security;

create table watchpost.blind_zones (
  blindness_id uuid not null references watchpost.blindness on delete cascade,
  channel_id uuid not null references watchpost.channels on delete cascade,
  zone_id uuid not null references watchpost.zones on delete cascade,
  primary key (blindness_id, channel_id, zone_id)
);
comment on table watchpost.blind_zones is 'Which channel was told of which zones when a source had failed for too long.';
create index blind_zones_channel_id on watchpost.blind_zones (channel_id);
create index blind_zones_zone_id on watchpost.blind_zones (zone_id);
alter table watchpost.blind_zones enable row level security;
alter table watchpost.blind_zones force row level security;

-- How long a source may be stale or down before its zones are told: three polls, and at least 15 minutes.
create function private.blind_after(s watchpost.sources) returns interval
language sql immutable set search_path = '' as $$
  select greatest(3 * s.interval_seconds, 900) * interval '1 second'
$$;

-- How long a source must be well before its failure is over: two polls, and at least 5 minutes. One that fails
-- again before goes on failing.
create function private.well_after(s watchpost.sources) returns interval
language sql immutable set search_path = '' as $$
  select greatest(2 * s.interval_seconds, 300) * interval '1 second'
$$;

-- Whether a zone misses events without a source: it hears of the source, which watches a part of it, and of one of
-- its types there is no other source that is well, that the zone hears of as well, and that sees the same.
create function private.is_blind_without(z watchpost.zones, s watchpost.sources) returns boolean
language sql stable set search_path = '' as $$
  select (z.sources is null or s.source = any(z.sources))
    and (z.types is null or z.types && s.types)
    and (s.region is null or exists (
      select from unnest(z.boxes) b, unnest(s.region) r where b operator(pg_catalog.&&) r))
    and exists (
      select from unnest(s.types) as given (type)
      where (z.types is null or given.type = any(z.types))
        and coalesce((s.ceilings ->> given.type)::integer, 100) * z.severity_multiplier >= z.min_severity
        and not exists (
          select from jsonb_array_elements(s.stand_ins) l
          join watchpost.sources o on o.source = l ->> 'by'
          where private.source_status(o) = 'ok'
            and (z.sources is null or o.source = any(z.sources))
            and (z.types is null or given.type = any(o.types))
            and l -> 'types' operator(pg_catalog.?) given.type
            and z.min_severity / z.severity_multiplier >= (l ->> 'from_severity')::double precision
            and (o.region is null or not exists (
              select from unnest(z.boxes) b
              where not exists (select from unnest(o.region) r where b operator(pg_catalog.<@) r)))))
$$;

-- The zones that are blind without a source, with the channels that their alerts go to and that want to hear of it.
create function private.note_blind_zones(p_id uuid) returns void
language sql volatile set search_path = '' as $$
  with blind as materialized (
    select z.id, z.owner_id, z.org_id, z.channel_ids
    from watchpost.blindness b
    join watchpost.sources s on s.source = b.source
    cross join watchpost.zones z
    join watchpost.accounts p on p.user_id = z.owner_id
    where b.id = p_id and z.enabled and z.deleted_at is null
      and (z.snoozed_until is null or z.snoozed_until <= now())
      and p.plan <> 'free' and not private.is_banned(p.banned_until)
      and private.is_blind_without(z, s)
  )
  insert into watchpost.blind_zones (blindness_id, channel_id, zone_id)
  select p_id, c.id, z.id
  from blind z
  cross join lateral private.zone_channels(z.owner_id, z.org_id, z.channel_ids) goes
  join watchpost.channels c on c.id = goes.channel_id
  where private.takes(c.messages, 'zone.blind')
$$;

-- One look at a source that is not well, or was not at the last look. Says what was told: blind, sighted or nothing.
create function private.watch_source(s watchpost.sources) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_status text := private.source_status(s);
  v_is_well boolean := v_status = 'ok';
  b watchpost.blindness;
begin
  -- Whoever looked away for 5 minutes does not know what was meanwhile.
  update watchpost.blindness o
  set seen_at = now(),
      well_at = case when v_is_well then coalesce(o.well_at, now()) end,
      began_at = case when o.told_at is null and o.seen_at < now() - interval '5 minutes' then now() else o.began_at end
  where o.source = s.source and o.ended_at is null and v_status <> 'disabled'
  returning * into b;
  if v_status = 'disabled' then
    delete from watchpost.blindness where source = s.source and told_at is null;
  elsif v_is_well and b.well_at <= now() - private.well_after(s) then
    if b.told_at is null then
      delete from watchpost.blindness where id = b.id;
      return null;
    end if;
    update watchpost.blindness set ended_at = now() where id = b.id;
    perform private.deliver_blindness(b.id, 'zone.sighted');
    return 'sighted';
  elsif not v_is_well and b.id is null then
    insert into watchpost.blindness (source, status, reason, cause)
    values (s.source, v_status, private.source_trouble(s), private.source_cause(s));
  elsif not v_is_well and b.told_at is null and b.began_at <= now() - private.blind_after(s) then
    update watchpost.blindness
    set told_at = now(), status = v_status, reason = private.source_trouble(s), cause = private.source_cause(s)
    where id = b.id;
    perform private.note_blind_zones(b.id);
    perform private.deliver_blindness(b.id, 'zone.blind');
    return 'blind';
  end if;
  return null;
end
$$;

-- Security definer: the jobs write none of this themselves. Looks at every source and answers what was told of which:
-- a list of source and told. Of two processes one looks.
create function private.watch_sources() returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  s watchpost.sources;
  v_told text;
  v_all jsonb := '[]';
begin
  if not pg_try_advisory_xact_lock(hashtextextended('watch_sources', 0)) then
    return v_all;
  end if;
  for s in
    select x.* from watchpost.sources x
    where x.source not like 'custom%' and (private.source_status(x) in ('stale', 'down') or exists (
      select from watchpost.blindness b where b.source = x.source and b.ended_at is null))
    order by x.source
  loop
    v_told := private.watch_source(s);
    if v_told is not null then
      v_all := v_all || jsonb_build_object('source', s.source, 'told', v_told);
    end if;
  end loop;
  return v_all;
end
$$;
grant execute on function private.watch_sources to watchpost_jobs;

-- Security definer: whether the caller sees all zones that a message about a source is about.
create function private.sees_blind_zones(p_blindness_id uuid, p_channel_id uuid) returns boolean
language sql stable security definer set search_path = '' as $$
  select not exists (
    select from watchpost.blind_zones n
    join watchpost.zones z on z.id = n.zone_id
    where n.blindness_id = p_blindness_id and n.channel_id = p_channel_id
      and z.tenant_id <> all(private.my_tenants()))
$$;
grant execute on function private.sees_blind_zones to authenticated;

-- What ended before p_before, with its messages; says how many.
create function private.purge_blindness(p_before timestamptz, p_batch integer) returns integer
language sql volatile set search_path = '' as $$
  with gone as (
    delete from watchpost.blindness where id in (
      select id from watchpost.blindness where ended_at < p_before limit p_batch)
    returning 1)
  select count(*)::integer from gone
$$;

reset role;
