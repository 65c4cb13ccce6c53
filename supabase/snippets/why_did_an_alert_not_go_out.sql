-- Why was an alert not sent? Enter the zone and the event. Read from the top: the first line with "no" is the reason.
-- For the exact decision: GET /api/v1/zones/<zone>/explain?event_id=<event>.
with asked (zone_id, event_id) as (values (
  '00000000-0000-0000-0000-000000000000'::uuid, 'usgs:us7000abcd'
)),
z as (
  select z.*, a.plan from watchpost.zones z join asked on asked.zone_id = z.id
  join watchpost.accounts a on a.user_id = z.owner_id
),
e as (
  select e.* from watchpost.events e join asked on e.id = coalesce(
    (select alias.event_id from watchpost.event_aliases alias where alias.alias = asked.event_id), asked.event_id)
),
r as (
  select r.*, b.matched_at from e
  join watchpost.event_revisions r on r.event_id = e.id
  left join watchpost.batches b on b.id = r.batch_id
),
l as (select l.* from watchpost.alerts l join z on z.id = l.zone_id join e on e.id = l.event_id),
facts (nr, question, ok, found) as (
  select 1, 'Is there such a zone, and does it watch?', state = 'watching', 'it is ' || state
  from support.zones join asked on asked.zone_id = id
  union all
  select 2, 'Did we get the event?', true,
    format('revision %s of %s, "%s", first seen %s', e.revision, e.id, e.title, e.first_seen_at)
  from e
  union all
  select 3, 'Is its feed well?', s.state = 'ok', concat_ws(', ', s.source || ' is ' || s.state, s.error)
  from support.feeds s join e on e.source = s.source
  union all
  select 4, 'Was the zone there, as it is now, when the event was first seen?', v.valid_from <= e.first_seen_at,
    format('version %s holds since %s', v.version, v.valid_from)
  from z join watchpost.zone_versions v on v.zone_id = z.id and v.version = z.version cross join e
  union all
  select 5, 'Do its filters want it?',
    coalesce(e.source = any(z.sources), true) and coalesce(e.type = any(z.types), true),
    format('event: %s, %s; zone: %s, %s', e.source, e.type, coalesce(z.sources::text, 'all sources'),
      coalesce(z.types::text, 'all types'))
  from z cross join e
  union all
  select 6, 'Is it near?', exists (
      select from watchpost.zone_boxes b where b.zone_id = z.id and b.box operator(pg_catalog.&&) e.extent),
    'by bounding box; the shape itself may still miss it'
  from z cross join e
  union all
  select 7, 'Is it severe enough?', least(e.severity * z.severity_multiplier, 100) >= z.min_severity,
    format('%s × %s against %s', e.severity, z.severity_multiplier, z.min_severity)
  from z cross join e
  union all
  select 8, 'Was every revision matched?', bool_and(r.matched_at is not null or r.batch_id is null),
    format('%s of %s', count(*) filter (where r.matched_at is not null or r.batch_id is null), count(*))
  from r having count(*) > 0
  union all
  select 9, 'Was an alert raised?', count(*) > 0, coalesce(max(format('%s: %s', l.status, l.reason)), 'none')
  from asked left join l on true having count(l.id) >= 0
  union all
  select 10, 'Has it a channel that can take it?', count(*) > 0,
    coalesce(string_agg(concat_ws(' ', c.kind, c.label, c.state), ', '), 'none')
  from z
  cross join lateral private.zone_channels(z.owner_id, z.org_id, z.channel_ids) as to_channel
  join support.channels c on c.id = to_channel.channel_id
  union all
  select 11, 'Did its messages arrive?', d.status = 'succeeded',
    concat_ws(' ', c.kind, c.label, d.type, d.status || ',', d.attempts || ' attempts', d.last_error)
  from l join watchpost.deliveries d on d.alert_id = l.id join support.channels c on c.id = d.channel_id
)
select q.question, case when f.nr is null then 'no' when f.ok then 'yes' else 'no' end as answer,
  coalesce(f.found, 'nothing found') as found
from (values
  (1, 'Is there such a zone, and does it watch?'), (2, 'Did we get the event?'), (3, 'Is its feed well?'),
  (4, 'Was the zone there, as it is now, when the event was first seen?'), (5, 'Do its filters want it?'),
  (6, 'Is it near?'), (7, 'Is it severe enough?'), (8, 'Was every revision matched?'),
  (9, 'Was an alert raised?'), (10, 'Has it a channel that can take it?'), (11, 'Did its messages arrive?')
) as q (nr, question)
left join facts f on f.nr = q.nr
order by q.nr, f.found;
