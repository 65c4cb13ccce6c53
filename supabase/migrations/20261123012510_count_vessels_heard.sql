set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.sources_health()
 RETURNS TABLE(source text, title text, attribution text, types text[], enabled boolean, interval_seconds integer, status text, last_success_at timestamp with time zone, last_event_at timestamp with time zone, events_24h bigint, error text, latency_p50 double precision, latency_p95 double precision, delivery_p50 double precision, delivery_p95 double precision, items_24h bigint, rejected_24h bigint, rejected_reason text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select s.source, s.title, s.attribution, s.types, s.enabled, s.interval_seconds, private.source_status(s), s.last_success_at,
    s.last_event_at, e.count + m.count,
    case
      when not s.enabled or s.error_at > coalesce(s.last_success_at, '-infinity') then private.without_secrets(s.error)
      else private.source_trouble(s)
    end,
    e.p50, e.p95, s.delivery_p50, s.delivery_p95, coalesce(h.items, 0), coalesce(h.rejected, 0),
    private.without_secrets(h.reasons[1])
  from watchpost.sources s
  left join lateral (
    select count(*),
      percentile_cont(0.5) within group (order by extract(epoch from (e.first_seen_at - e.ts)))
        filter (where e.first_seen_at > e.ts) as p50,
      percentile_cont(0.95) within group (order by extract(epoch from (e.first_seen_at - e.ts)))
        filter (where e.first_seen_at > e.ts) as p95
    from watchpost.events e
    where e.source = s.source and e.ts > now() - interval '24 hours'
  ) e on true
  cross join lateral (
    select count(*) from watchpost.subjects k
    where k.source = s.source and k.ts > now() - interval '24 hours'
  ) m
  left join lateral (
    select sum(h.items) as items, sum(h.rejected) as rejected,
      array_agg(h.reason order by h.hour desc) filter (where h.reason is not null) as reasons
    from watchpost.source_hours h
    where h.source = s.source and h.hour > now() - interval '24 hours'
  ) h on true
  where s.source not like 'custom%'
  order by s.source
$function$;

reset check_function_bodies;
reset role;
