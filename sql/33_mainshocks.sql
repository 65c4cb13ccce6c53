-- Mainshocks: what was known, and when, of the earthquakes whose aftershocks a zone may exclude.

set role watchpost_owner;

create table watchpost.mainshocks (
  event_id text not null,
  first_seen_at timestamptz not null,
  ts timestamptz not null,
  lat double precision not null,
  lon double precision not null,
  magnitude double precision not null,
  counts boolean not null,
  primary key (event_id, first_seen_at)
);
comment on table watchpost.mainshocks is 'Public earthquakes of magnitude 5.5 or more: each revision that differs in what matters here, from the one on that says so. Kept longer than revisions: the decision about an old event needs what was known of an earthquake 120 days before it.';
comment on column watchpost.mainshocks.first_seen_at is 'Tells the states of an event apart: its revisions may be counted anew once the old ones are deleted.';
comment on column watchpost.mainshocks.counts is 'Whether it was a mainshock by this revision: an earthquake, large enough and not retracted.';
create index mainshocks_ts on watchpost.mainshocks (ts);
alter table watchpost.mainshocks enable row level security;
alter table watchpost.mainshocks force row level security;
create policy mainshocks_jobs on watchpost.mainshocks for select to watchpost_jobs
  using (true);
grant select on watchpost.mainshocks to watchpost_jobs;

-- Security definer: whoever stores a revision stores this with it.
create function private.note_mainshock() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  v_counts boolean := new.type = 'earthquake' and new.magnitude >= 5.5 and new.status <> 'retracted';
  v_last watchpost.mainshocks;
begin
  select * into v_last from watchpost.mainshocks m where m.event_id = new.event_id order by m.first_seen_at desc limit 1;
  if (v_counts or v_last is not null)
    and (v_last.ts, v_last.lat, v_last.lon, v_last.magnitude, v_last.counts)
      is distinct from (new.ts, new.lat, new.lon, new.magnitude, v_counts) then
    insert into watchpost.mainshocks (event_id, first_seen_at, ts, lat, lon, magnitude, counts)
    values (new.event_id, new.first_seen_at, new.ts, new.lat, new.lon, new.magnitude, v_counts)
    on conflict (event_id, first_seen_at) do update
    set ts = excluded.ts, lat = excluded.lat, lon = excluded.lon, magnitude = excluded.magnitude, counts = excluded.counts;
  end if;
  return null;
end
$$;
create trigger event_revisions_mainshock after insert on watchpost.event_revisions
  for each row when (new.tenant_id is null and new.magnitude is not null)
  execute function private.note_mainshock();

-- Security definer, because callers read no table of them: mainshocks are public events, and nothing else is told.
-- Every state of those that happened in a time, oldest first.
create function private.mainshocks_between(p_from timestamptz, p_to timestamptz)
returns table (
  event_id text, first_seen_at timestamptz, ts timestamptz, lat double precision, lon double precision,
  magnitude double precision, counts boolean
)
language sql stable security definer set search_path = '' as $$
  select m.event_id, m.first_seen_at, m.ts, m.lat, m.lon, m.magnitude, m.counts
  from watchpost.mainshocks m
  where m.event_id in (
    select near.event_id from watchpost.mainshocks near where near.ts >= p_from and near.ts < p_to)
  order by m.first_seen_at, m.event_id
$$;
grant execute on function private.mainshocks_between to authenticated, watchpost_jobs;

reset role;
