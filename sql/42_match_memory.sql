-- Match memory: what matching remembers between two events, of a zone or of a subject inside it.

set role watchpost_owner;

create table watchpost.match_memory (
  zone_id uuid not null references watchpost.zones on delete cascade,
  key text not null,
  memory jsonb not null,
  updated_at timestamptz not null default now(),
  seen_at timestamptz,
  primary key (zone_id, key)
) with (fillfactor = 80);
comment on table watchpost.match_memory is 'What matching remembers per zone and event, or per zone and moving subject (a stay), or of a zone as a whole.';
comment on column watchpost.match_memory.key is 'Event id, or the subject of a stay, or burst: when the zone sent its latest alerts.';
comment on column watchpost.match_memory.memory is 'State of the decision so far; only matching reads and writes it.';
comment on column watchpost.match_memory.updated_at is 'When it changed; of a stay that only goes on noted once an hour, because with an index on it each position would cost a row in every index.';
comment on column watchpost.match_memory.seen_at is 'When the subject of a stay was seen last, if later than its memory says: all that most positions change.';
create index match_memory_key on watchpost.match_memory (key);
create index match_memory_updated_at on watchpost.match_memory (updated_at);
create index match_memory_alerted_stays on watchpost.match_memory (updated_at)
  where memory ->> 'kind' = 'stay' and memory ->> 'alert' is not null;
alter table watchpost.match_memory enable row level security;
alter table watchpost.match_memory force row level security;
create policy match_memory_jobs on watchpost.match_memory for all to watchpost_jobs
  using (true) with check (true);
grant select, insert, update, delete on watchpost.match_memory to watchpost_jobs;

reset role;
