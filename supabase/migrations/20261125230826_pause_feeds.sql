set role watchpost_owner;
set check_function_bodies = off;

alter table watchpost.sources
  add column paused_at timestamptz,
  add column paused_reason text check (length(paused_reason) between 1 and 200),
  add constraint sources_paused check ((paused_at is null) = (paused_reason is null));
comment on column watchpost.sources.paused_at is 'Since when an operator has it paused: it is not polled, and its stream is left; null: it is not.';
comment on column watchpost.sources.paused_reason is 'Why, as everybody reads it with its health.';

CREATE OR REPLACE FUNCTION private.enqueue_due()
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_source text;
  v_count integer := 0;
begin
  for v_source in
    update watchpost.sources
    set next_poll_at = now() + interval_seconds * interval '1 second'
    where enabled and paused_at is null and next_poll_at <= now()
    returning source
  loop
    perform private.enqueue('ingest', gen_random_uuid(), jsonb_build_object('source', v_source), p_singleton => v_source);
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$function$;

CREATE OR REPLACE FUNCTION private.source_status(s watchpost.sources)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return case
    when not s.enabled or s.paused_at is not null then 'disabled'
    when s.last_success_at > now() - greatest(3 * s.interval_seconds, 180) * interval '1 second' then
      case when s.last_event_at < now() - private.silent_after(s) or private.is_garbled(s) then 'stale' else 'ok' end
    when s.last_success_at is null and s.error_at is null
      and s.created_at > now() - interval '3 minutes' then 'stale'
    when s.error_at > coalesce(s.last_success_at, '-infinity') or s.last_success_at is null then 'down'
    else 'stale'
  end;
end
$function$;

CREATE OR REPLACE FUNCTION private.sources_health()
 RETURNS TABLE(source text, title text, attribution text, types text[], enabled boolean, interval_seconds integer, status text, last_success_at timestamp with time zone, last_event_at timestamp with time zone, events_24h bigint, error text, latency_p50 double precision, latency_p95 double precision, delivery_p50 double precision, delivery_p95 double precision, items_24h bigint, rejected_24h bigint, rejected_reason text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select s.source, s.title, s.attribution, s.types, s.enabled, s.interval_seconds, private.source_status(s), s.last_success_at,
    s.last_event_at, e.count + m.count,
    case
      when s.paused_at is not null then 'Paused by an operator: ' || s.paused_reason
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

CREATE OR REPLACE FUNCTION private.unwell_reasons()
 RETURNS text[]
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce(array_agg(r.reason order by r.nr, r.reason), '{}')
  from (
    select 1 as nr, format(
      case j.name when 'deliver' then 'The oldest due delivery has waited for %2$s minutes.'
        else 'A job of the queue %1$s has waited for %2$s minutes.' end,
      j.name, floor(extract(epoch from pgboss.job_now() - min(j.start_after)) / 60)) as reason
    from pgboss.job j
    where j.name <> 'dead' and j.state < 'active' and j.start_after < pgboss.job_now() - interval '10 minutes'
    group by j.name
    union all
    select 2, format('A step of an escalation has been due for %s minutes.',
      floor(extract(epoch from now() - min(s.due_at)) / 60))
    from watchpost.alert_steps s
    where s.status = 'waiting' and s.due_at < now() - interval '10 minutes'
    having count(*) > 0
    union all
    select 3, format('None of the %s feeds that are switched on is well.', count(*))
    from watchpost.sources s
    where s.enabled and s.paused_at is null
    having count(*) > 0 and bool_and(private.source_status(s) <> 'ok')
  ) r
$function$;

CREATE OR REPLACE FUNCTION private.zone_obstacles(p_owner_id uuid, p_org_id uuid, p_sources text[], p_types text[])
 RETURNS jsonb
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'paused', (
      select case when a.plan = 'free' then 'paused_by_plan' when private.is_banned(a.banned_until) then 'owner_banned' end
      from watchpost.accounts a
      where a.user_id = p_owner_id),
    'silent', coalesce((
      select jsonb_agg(jsonb_build_object(
        'source', given.source, 'status', case when s.source is null then 'unknown' else 'disabled' end)
        order by given.source)
      from unnest(p_sources) as given (source)
      left join watchpost.sources s on s.source = given.source
      where (s.enabled and s.paused_at is null) is not true and given.source not like 'custom%'), '[]'),
    'highest', coalesce((
      select jsonb_agg(jsonb_build_object('type', given.type, 'severity', (
        select max(coalesce((s.ceilings ->> given.type)::integer, 100))
        from watchpost.sources s
        where s.enabled and given.type = any(s.types) and (p_sources is null or s.source = any(p_sources)))))
      from unnest(p_types) as given (type)), '[]'))
  where p_owner_id = private.uid() or p_org_id = any(private.my_orgs())
$function$;

reset check_function_bodies;

create or replace view support.feeds with (security_invoker = true) as
select s.source, s.title, private.source_status(s) as state, s.last_success_at, s.last_event_at,
  (select count(*) from watchpost.events e
   where e.source = s.source and e.ts > now() - interval '24 hours') as events_24h,
  s.error, s.error_at, s.enabled, s.interval_seconds, s.next_poll_at, s.types,
  s.paused_at, s.paused_reason
from watchpost.sources s;
comment on column support.feeds.enabled is 'Whether FEEDS names it; it is polled unless it is paused.';

reset role;
