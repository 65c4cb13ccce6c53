set role watchpost_owner;
set check_function_bodies = off;

alter table watchpost.match_memory set (fillfactor = 80);
alter table watchpost.match_memory add column seen_at timestamptz;
comment on column watchpost.match_memory.updated_at is 'When it changed; of a stay that only goes on noted once an hour, because with an index on it each position would cost a row in every index.';
comment on column watchpost.match_memory.seen_at is 'When the subject of a stay was seen last, if later than its memory says: all that most positions change.';

CREATE OR REPLACE FUNCTION private.unseen_stays(p_at timestamp with time zone, p_limit integer)
 RETURNS TABLE(zone_id uuid, key text, memory jsonb, event jsonb, event_revision integer)
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  with silent as (
    select m.zone_id, m.key, m.memory || jsonb_build_object('last_seen_at', private.iso(s.seen_at)) as memory
    from watchpost.match_memory m
    cross join lateral (select greatest(m.seen_at, (m.memory ->> 'last_seen_at')::timestamptz) as seen_at) s
    where m.updated_at < p_at - interval '24 hours'
      and m.memory ->> 'kind' = 'stay' and m.memory ->> 'alert' is not null
      and s.seen_at < p_at - interval '24 hours'
    order by m.updated_at
    limit p_limit
    for update of m skip locked
  )
  select s.zone_id, s.key, s.memory, private.stored_event(coalesce(a.current, a.event)), a.event_revision
  from silent s
  left join watchpost.alerts a
    on a.id = private.alert_of(s.zone_id, coalesce(s.memory ->> 'alert_event_id', ''), s.key)
$function$;

reset check_function_bodies;
reset role;
