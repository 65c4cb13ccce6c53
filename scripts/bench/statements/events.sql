\startpipeline
begin isolation level repeatable read read only;
select set_config('request.jwt.claims', private.key_claims(:key_hash, :request_id, :context), true),
  set_config('statement_timeout', '10s', true), set_config('role', 'authenticated', true);
select n.event_id, n.ts, n.zone_ids, w.since as window_start
from (select date_trunc('milliseconds', case
  when false then coalesce(null::timestamptz, '1000-01-01') - interval '1 millisecond'
  else greatest(
    coalesce(null::timestamptz, now() - make_interval(mins => 60)),
    now() - make_interval(mins => 60) - interval '1 day')
end) as since) w
cross join lateral private.events_near(
  null, w.since, coalesce(null::timestamptz, null::timestamptz - interval '1 millisecond', null::timestamptz, now()),
  null, null, null, null, 100, p_status => null, p_active_at => null) n;
\endpipeline
\startpipeline
select id, source, type, title, lat, lon, ts, severity, subject, status, url, magnitude, depth_km, ends_at,
  private.attribution(source) as attribution, null as flag, first_seen_at, updated_at, geometry
from watchpost.events
where id = any(:event_ids)
union all
select event_id, source, type, title, lat, lon, ts, severity, subject, status, url, null, null, null,
  private.attribution(source), flag, first_seen_at, first_seen_at, null
from watchpost.positions
where event_id = any(:event_ids) and ts = any(:times::timestamptz[]);
select id, shape_type, lat, lon, radius_km, polygon::text, match
from watchpost.zones
where id = any(:zone_ids::uuid[]);
commit;
\endpipeline
