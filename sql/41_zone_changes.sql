-- Zone changes: a log by which a process that holds the boxes of all zones in memory keeps them as they are here.

set role watchpost_owner;

create table watchpost.zone_changes (
  changed_in xid8 not null default pg_current_xact_id(),
  zone_id uuid not null,
  at timestamptz not null default now(),
  primary key (changed_in, zone_id)
);
comment on table watchpost.zone_changes is 'Zones whose boxes were written anew, as they are with each version, or removed. Kept a day, see retention.';
comment on column watchpost.zone_changes.changed_in is 'The transaction that did: what a snapshot does not see of it is new to whoever knows that snapshot.';
comment on column watchpost.zone_changes.zone_id is 'The zone may be gone; the nil UUID: all were removed at once.';
create index zone_changes_at on watchpost.zone_changes (at);
alter table watchpost.zone_changes enable row level security;
alter table watchpost.zone_changes force row level security;
create policy zone_changes_jobs on watchpost.zone_changes for select to watchpost_jobs
  using (true);
grant select on watchpost.zone_changes to watchpost_jobs;

-- Security definer: it notes a change, whoever makes it.
create function private.note_boxes() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
begin
  if tg_op = 'TRUNCATE' then
    insert into watchpost.zone_changes (zone_id) values ('00000000-0000-0000-0000-000000000000') on conflict do nothing;
    return null;
  end if;
  insert into watchpost.zone_changes (zone_id)
  select distinct b.zone_id from changed b
  on conflict do nothing;
  return null;
end
$$;
create trigger zone_boxes_written after insert on watchpost.zone_boxes
  referencing new table as changed for each statement execute function private.note_boxes();
create trigger zone_boxes_removed after delete on watchpost.zone_boxes
  referencing old table as changed for each statement execute function private.note_boxes();
create trigger zone_boxes_truncated after truncate on watchpost.zone_boxes
  for each statement execute function private.note_boxes();

-- What narrows the search for zones, as JSON by id: their version with its time, filters, and boxes as west, south,
-- east and north; no boxes where there are none any more. It and the next two read all in one snapshot.
create function private.narrowing(p_zone_ids uuid[]) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', g.id, 'version', z.version, 'valid_from', private.iso(v.valid_from),
    'min_severity', b.min_severity, 'sources', b.sources, 'types', b.types, 'boxes', b.boxes)), '[]')
  from unnest(p_zone_ids) as g (id)
  -- Offset 0: looked up one by one, however few rows there seem to be.
  left join lateral (select * from watchpost.zones where id = g.id offset 0) z on true
  left join lateral (
    select valid_from from watchpost.zone_versions where zone_id = z.id and version = z.version offset 0) v on true
  cross join lateral (
    select min(min_severity) as min_severity, (array_agg(to_jsonb(sources)))[1] as sources,
      (array_agg(to_jsonb(types)))[1] as types,
      coalesce(jsonb_agg(jsonb_build_array((box[1])[0], (box[1])[1], (box[0])[0], (box[0])[1])), '[]') as boxes
    from watchpost.zone_boxes where zone_id = g.id) b
$$;

-- The zones whose boxes changed since a snapshot, and the snapshot up to which they are told. `at` is when, to know
-- whether the log still reaches back.
create function private.zones_since(p_since pg_snapshot, out snapshot pg_snapshot, out at timestamptz, out zones jsonb)
language sql stable set search_path = '' as $$
  select pg_current_snapshot(), now(), private.narrowing(array(
    select distinct c.zone_id from watchpost.zone_changes c
    where c.changed_in >= pg_snapshot_xmin(p_since) and not pg_visible_in_snapshot(c.changed_in, p_since)))
$$;

-- The next zones with boxes in the order of their ids.
create function private.zones_after(p_after uuid, p_count integer) returns jsonb
language sql stable set search_path = '' as $$
  select private.narrowing(array(
    select b.zone_id from watchpost.zone_boxes b
    where b.part = 1 and (p_after is null or b.zone_id > p_after)
    order by b.zone_id
    limit p_count))
$$;
grant execute on function private.narrowing, private.zones_since, private.zones_after to watchpost_jobs;

-- Whoever has not asked for half a day reads all zones anew.
create function private.purge_zone_changes(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_count integer;
begin
  delete from watchpost.zone_changes where (changed_in, zone_id) in (
    select changed_in, zone_id from watchpost.zone_changes
    where at < now() - interval '1 day'
    order by at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

reset role;
