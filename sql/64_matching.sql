-- Matching: which batches are matched together, and which zones their revisions may concern.

set role watchpost_owner;

-- The oldest unmatched batches of a source that are matched together: few, and none tells of an event or subject that
-- another of them tells of too, because what is remembered of the first decides about the second. Those that were begun
-- come first.
create function private.next_batches(p_source text) returns uuid[]
language plpgsql stable set search_path = '' as $$
declare
  v_ids uuid[] := array(
    select id from watchpost.batches
    where source = p_source and matched_at is null and matched_to is not null
    order by seq);
begin
  if v_ids <> '{}' then
    return v_ids;
  end if;
  v_ids := array(
    select b.id
    from (
      select w.id, w.seq, sum(w.size) over (order by w.seq) as total
      from (
        select * from watchpost.batches where source = p_source and matched_at is null order by seq limit 50) w) b
    where b.total <= 500
    order by b.seq);
  if cardinality(v_ids) = 0 then
    return array(select id from watchpost.batches where source = p_source and matched_at is null order by seq limit 1);
  end if;
  if cardinality(v_ids) = 1 then
    return v_ids;
  end if;
  return v_ids[:(
    with told as (
      select distinct array_position(v_ids, r.batch_id) as nr, r.event_id as key
      from watchpost.event_revisions r where r.batch_id = any(v_ids)
      union
      select array_position(v_ids, p.batch_id), p.subject
      from watchpost.positions p where p.batch_id = any(v_ids)
      union
      select array_position(v_ids, p.batch_id), p.subject
      from watchpost.passing_positions p where p.batch_id = any(v_ids)
    )
    select coalesce(min(t.nr) - 1, cardinality(v_ids))
    from (select nr, min(nr) over (partition by key) as first from told) t
    where t.nr > t.first)];
end
$$;

-- The revisions and positions of batches, with the key by which matching remembers them.
create function private.batch_revisions(p_batch_ids uuid[])
returns table (
  event_id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb, magnitude double precision, depth_km double precision,
  ends_at timestamptz, flag text, known_since timestamptz, extent box, tenant_id uuid, key text
)
language sql stable set search_path = '' as $$
  select e.event_id, e.revision, e.first_seen_at, e.source, e.type, e.title, e.lat, e.lon, e.ts, e.severity,
    e.subject, e.status, e.url, e.geometry, e.magnitude, e.depth_km, e.ends_at, null::text,
    case when e.revision = 1 then e.first_seen_at else private.known_since(e) end, e.extent, e.tenant_id, e.event_id
  from watchpost.event_revisions e where e.batch_id = any(p_batch_ids)
  union all
  select p.event_id, 1, p.first_seen_at, p.source, p.type, p.title, p.lat, p.lon, p.ts, p.severity,
    p.subject, p.status, p.url, null::jsonb, null::float8, null::float8, null::timestamptz, p.flag,
    p.first_seen_at, p.extent, p.tenant_id, p.subject
  from watchpost.positions p where p.batch_id = any(p_batch_ids)
  union all
  select p.event_id, 1, p.first_seen_at, p.source, p.type, p.title, p.lat, p.lon, p.ts, p.severity,
    p.subject, p.status, p.url, null, null, null, null, null, p.first_seen_at, p.extent, p.tenant_id, p.subject
  from watchpost.passing_positions p where p.batch_id = any(p_batch_ids)
$$;

-- The zones that the revisions of batches may concern wherever they are: those that remember an event, by its key, and
-- without a key those that changed since one was first seen.
create function private.batch_zones(p_batch_ids uuid[]) returns table (key text, zone_id uuid)
language sql stable set search_path = '' as $$
  with r as materialized (select b.key, b.first_seen_at from private.batch_revisions(p_batch_ids) b)
  select r.key, m.zone_id
  from (select distinct r.key from r) r
  -- Offset 0: looked up one by one, however much is remembered.
  cross join lateral (select m.zone_id from watchpost.match_memory m where m.key = r.key offset 0) m
  union all
  select null, z.id from watchpost.zones z where z.updated_at > (select min(r.first_seen_at) from r)
$$;

-- The zones that each revision of these batches may
-- concern: by box, least severity and filters, by memory of an earlier revision or position, or
-- changed since it was first seen. A superset: the decision itself is made in one place, not here. Only zones after
-- p_after are named, and no more of them than make p_most pairs: those with the lowest ids, each with all its revisions.
-- cut_at: the last of these, if there are others after it. It may be none of zone_ids, which leave out those in which an
-- event of an account or organisation is not to be heard.
create function private.batch_candidates(p_batch_ids uuid[], p_after uuid default null, p_most integer default null)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb, magnitude double precision, depth_km double precision,
  ends_at timestamptz, flag text, known_since timestamptz, zone_ids uuid[], cut_at uuid
)
language plpgsql stable set search_path = '' as $$
begin
  return query
  with r as materialized (select * from private.batch_revisions(p_batch_ids)),
  changed as materialized (
    select z.id from watchpost.zones z
    where z.updated_at > (select min(r.first_seen_at) from r)
  ),
  pairs as (
    select r.event_id, r.ts, b.zone_id
    from r
    join watchpost.zone_boxes b on b.box operator(pg_catalog.&&) r.extent
    where r.subject is null
      and b.min_severity <= r.severity::real
      and (b.sources is null or r.source = any(b.sources))
      and (b.types is null or r.type = any(b.types))
    union
    -- Of what moves every position counts, whatever its severity: stays begin and end with them.
    select r.event_id, r.ts, b.zone_id
    from r
    join watchpost.zone_boxes b on b.box operator(pg_catalog.&&) r.extent
    where r.subject is not null
      and (b.sources is null or r.source = any(b.sources))
      and (b.types is null or r.type = any(b.types))
    union
    select r.event_id, r.ts, m.zone_id
    from r
    join watchpost.match_memory m on m.key = r.key
    union
    select r.event_id, r.ts, c.id
    from r cross join changed c
  ),
  cut as materialized (
    select p.zone_id
    from pairs p
    where p_most is not null and (p_after is null or p.zone_id > p_after)
    order by p.zone_id
    offset p_most - 1 limit 1
  ),
  gathered as (
    select p.event_id, p.ts, array_agg(p.zone_id) as zone_ids
    from pairs p
    where (p_after is null or p.zone_id > p_after)
      and p.zone_id <= coalesce((select c.zone_id from cut c), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    group by p.event_id, p.ts
  )
  select r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts, r.severity,
    r.subject, r.status, r.url, r.geometry, r.magnitude, r.depth_km, r.ends_at, r.flag, r.known_since,
    case when r.tenant_id is null then g.zone_ids else private.zones_in_tenant(g.zone_ids, r.tenant_id, r.first_seen_at) end,
    (select c.zone_id from cut c)
  from r
  join gathered g on g.event_id = r.event_id and g.ts = r.ts
  order by r.first_seen_at, r.ts, r.event_id, r.revision;
end
$$;

-- What a new or changed zone, or one that is awake again, may concern: events that still stand, and revisions
-- first seen since the change, which matching may have missed while it was not committed; but for those that are older
-- than what an alert of the zone spoke of last, which would be told as news.
create function private.zone_candidates(p_zone_id uuid)
returns table (
  id text, revision integer, first_seen_at timestamptz, source text, type text, title text,
  lat double precision, lon double precision, ts timestamptz, severity smallint, subject text,
  status text, url text, geometry jsonb, magnitude double precision, depth_km double precision,
  ends_at timestamptz, flag text, known_since timestamptz, zone_ids uuid[], standing boolean
)
language plpgsql stable set search_path = '' as $$
begin
  return query
  with zone as (
    select z.id, date_trunc('milliseconds', greatest(v.valid_from, (
      select max(s.valid_from) from watchpost.account_states s where s.user_id = z.owner_id))) as changed_at
    from watchpost.zones z
    join watchpost.zone_versions v on v.zone_id = z.id and v.version = z.version
    where z.id = p_zone_id and z.deleted_at is null
  )
  select distinct on (e.first_seen_at, e.ts, e.id)
    e.id, e.revision, e.first_seen_at, e.source, e.type, e.title, e.lat, e.lon, e.ts, e.severity, e.subject,
    e.status, e.url, e.geometry, e.magnitude, e.depth_km, e.ends_at, null::text, e.first_seen_at,
    array[zone.id], true
  from zone
  join watchpost.zone_boxes b on b.zone_id = zone.id
  join watchpost.events e on e.extent operator(pg_catalog.&&) b.box
  where e.status = 'active' and e.ends_at > now()
    and (e.tenant_id is null or private.zones_in_tenant(array[zone.id], e.tenant_id, now()) <> '{}')
  union all
  select distinct on (r.first_seen_at, r.ts, r.event_id, r.revision)
    r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts, r.severity, r.subject,
    r.status, r.url, r.geometry, r.magnitude, r.depth_km, r.ends_at, null, case when r.revision = 1 then r.first_seen_at else private.known_since(r) end,
    array[zone.id], false
  from zone
  join watchpost.zone_boxes b on b.zone_id = zone.id
  join watchpost.event_revisions r on r.extent operator(pg_catalog.&&) b.box and r.first_seen_at >= zone.changed_at
  -- Of a batch that is being matched the zone may have been passed over.
  join watchpost.batches done on done.id = r.batch_id and coalesce(done.matched_at::text, done.matched_to::text) is not null
  where (r.tenant_id is null or private.zones_in_tenant(array[zone.id], r.tenant_id, r.first_seen_at) <> '{}')
    and not exists (
      select from watchpost.alerts a
      where a.zone_id = zone.id and a.event_id = r.event_id and a.event_revision > r.revision)
    and not exists (
      select from watchpost.alert_events m
      where m.zone_id = zone.id and m.event_id = r.event_id and m.event_revision > r.revision)
  order by 3, 9, 1, 2;
end
$$;

-- Batches that were matched with all zones up to p_to: whoever goes on begins after it.
create function private.pass_batches(p_ids uuid[], p_to uuid, p_decisive text[]) returns void
language sql volatile set search_path = '' as $$
  update watchpost.batches set matched_to = p_to, decisive = decisive || p_decisive where id = any(p_ids)
$$;

-- Batches that were matched: of their positions those remain that are samples or decisive, and their jobs that have
-- not begun have nothing left to do. Says how many positions went.
create function private.end_batches(p_ids uuid[], p_decisive text[]) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_decisive text[];
begin
  -- What was decisive in the zones before is the same in each of them.
  select p_decisive || b.decisive into v_decisive from watchpost.batches b where b.id = p_ids[1];
  update watchpost.batches set matched_at = now(), decisive = '{}' where id = any(p_ids);
  delete from pgboss.job where name = 'match' and id = any(p_ids) and state < 'active';
  return private.thin_positions(p_ids, v_decisive);
end
$$;

grant execute on function private.next_batches, private.batch_revisions, private.batch_zones, private.batch_candidates, private.pass_batches, private.end_batches,
  private.zone_candidates to watchpost_jobs;

reset role;
