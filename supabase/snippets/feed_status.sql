-- Feed status: the health of each feed, when it last answered, and whether its events are matched.
select f.source, f.state, now() - f.last_success_at as answered_ago, now() - f.last_event_at as newest_event_ago,
  f.events_24h, b.unmatched as batches_unmatched, b.oldest as oldest_unmatched,
  f.next_poll_at - now() as next_poll_in, case when f.error_at > coalesce(f.last_success_at, '-infinity') then f.error end as error
from support.feeds f
left join lateral (
  select count(*) as unmatched, now() - min(b.created_at) as oldest
  from watchpost.batches b where b.source = f.source and b.matched_at is null
) b on true
where f.enabled
order by f.state = 'ok', f.source;
