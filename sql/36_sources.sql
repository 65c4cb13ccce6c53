-- Sources: how healthy each one is, and what callers may know about it.

set role watchpost_owner;

create table watchpost.source_hours (
  source text not null references watchpost.sources,
  hour timestamptz not null,
  items integer not null,
  rejected integer not null check (rejected between 0 and items),
  reason text,
  primary key (source, hour)
);
comment on table watchpost.source_hours is 'What the answers of a source had in an hour, and what of it could not be used. Kept for 7 days.';
comment on column watchpost.source_hours.reason is 'Why the last item was rejected; null: none was.';
create index source_hours_hour on watchpost.source_hours (hour);
alter table watchpost.source_hours enable row level security;
alter table watchpost.source_hours force row level security;

-- Security definer: the jobs write none of this themselves. Counts the items of an answer, and how many answers
-- in a row had less than half of what is usually accepted; before that is known, nothing at all.
create function private.count_items(p_source text, p_items integer, p_rejected integer, p_reason text) returns void
language sql volatile security definer set search_path = '' as $$
  insert into watchpost.source_hours as h (source, hour, items, rejected, reason)
  values (p_source, date_trunc('hour', now(), 'UTC'), p_items, p_rejected, left(p_reason, 500))
  on conflict (source, hour) do update
  set items = h.items + excluded.items, rejected = h.rejected + excluded.rejected,
      reason = coalesce(excluded.reason, h.reason);
  update watchpost.sources s
  set garbled_polls = case when is_garbled then s.garbled_polls + 1 else 0 end,
      garbled_items = case when is_garbled then s.garbled_items + p_rejected else 0 end
  from (
    select o.source,
      p_items = p_rejected or p_items - p_rejected < p_items * coalesce(o.usual_accepted, 0) / 2 as is_garbled
    from watchpost.sources o where o.source = p_source
  ) judged
  where s.source = judged.source and (is_garbled or s.garbled_polls > 0)
$$;
grant execute on function private.count_items to watchpost_jobs;

-- Which share of its items a source usually has accepted, of 7 days; while it is garbled the previous value is kept.
create function private.measure_accepted() returns void
language sql volatile set search_path = '' as $$
  update watchpost.sources s
  set usual_accepted = h.accepted
  from (
    select source, 1 - sum(rejected)::double precision / sum(items) as accepted
    from watchpost.source_hours
    where hour > now() - interval '7 days'
    group by source
    having count(*) >= 12
  ) h
  where s.source = h.source and s.garbled_polls = 0 and s.usual_accepted is distinct from h.accepted
$$;

-- Measures the longest time between two of the last 2,000 events of each source, of 30 days at most. With fewer
-- than 20 events the previous value is kept, so that a source that delivers nothing any more remains stale.
create function private.measure_silence() returns void
language sql volatile set search_path = '' as $$
  update watchpost.sources s
  set longest_silence_seconds = g.longest
  from watchpost.sources o
  cross join lateral (
    select extract(epoch from max(e.gap)) as longest, count(*) as count
    from (
      select latest.ts - lag(latest.ts) over (order by latest.ts) as gap
      from (
        select ts from watchpost.events
        where source = o.source and ts > now() - interval '30 days' and ts <= now()
        order by ts desc
        limit 2000
      ) latest
    ) e
  ) g
  where s.source = o.source and g.count >= 20 and s.longest_silence_seconds is distinct from g.longest
$$;

-- These three become part of what asks them: every request for zones does so for every source.

-- After how long without an event a source is stale: twice its longest silence, and at least an hour.
create function private.silent_after(s watchpost.sources) returns interval
language sql immutable as $$
  select case when s.longest_silence_seconds is not null
    then greatest(2 * s.longest_silence_seconds, 3600) * interval '1 second' end
$$;

-- Whether most of what a source answers cannot be used: three answers in a row, with ten such items or more.
create function private.is_garbled(s watchpost.sources) returns boolean
language sql immutable as $$
  select s.garbled_polls >= 3 and s.garbled_items >= 10
$$;

-- The health of a source: disabled if FEEDS does not name it or an operator has paused it; down if it answers with
-- errors; stale if it has not answered for long, or if it answers but its last event is much older than usual, or most of
-- what it answers cannot be used.
create function private.source_status(s watchpost.sources) returns text
language sql stable as $$
  select case
    when not s.enabled or s.paused_at is not null then 'disabled'
    when s.last_success_at > pg_catalog.now() - greatest(3 * s.interval_seconds, 180) * interval '1 second' then
      case when s.last_event_at < pg_catalog.now() - private.silent_after(s) or private.is_garbled(s) then 'stale' else 'ok' end
    when s.last_success_at is null and s.error_at is null
      and s.created_at > pg_catalog.now() - interval '3 minutes' then 'stale'
    when s.error_at > coalesce(s.last_success_at, '-infinity') or s.last_success_at is null then 'down'
    else 'stale'
  end
$$;

grant execute on function private.source_status, private.silent_after, private.is_garbled to watchpost_jobs;

-- A text of somebody else's without what may be secret in it: of an address only the host, and at most 200 characters.
create function private.without_secrets(p_text text) returns text
language sql immutable set search_path = '' as $$
  select case when length(bare) > 200 then left(bare, 199) || '…' else bare end
  from regexp_replace(p_text, '\y([a-z][a-z0-9+.-]*://)([^\s/?#]*@)?([^\s/?#]*)\S*', '\1\3/…', 'gi') as bare
$$;

-- What is wrong with a source that is stale or down: a code, and what was `said` by it or by a program, without secrets.
create function private.source_cause(s watchpost.sources) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when private.source_status(s) not in ('stale', 'down') then null
    when s.error_at > coalesce(s.last_success_at, '-infinity') then jsonb_build_object(
      'code', coalesce(s.error_code, 'error'), 'said', private.without_secrets(s.error))
    when s.last_success_at is null then jsonb_build_object('code', 'unanswered')
    when s.last_success_at <= now() - greatest(3 * s.interval_seconds, 180) * interval '1 second'
      then jsonb_build_object('code', 'nothing_since', 'at', private.iso(s.last_success_at))
    when s.last_event_at < now() - private.silent_after(s) then jsonb_build_object(
      'code', 'no_event_since', 'at', private.iso(s.last_event_at), 'seconds', s.longest_silence_seconds)
    else jsonb_build_object('code', 'unusable', 'said', (
      select private.without_secrets(h.reason) from watchpost.source_hours h
      where h.source = s.source and h.reason is not null
      order by h.hour desc limit 1))
  end
$$;

-- The same in an English sentence.
create function private.source_trouble(s watchpost.sources) returns text
language sql stable set search_path = '' as $$
  select case cause ->> 'code'
    when 'unanswered' then 'It has not answered yet.'
    when 'nothing_since' then format('Nothing has come from it since %s.', cause ->> 'at')
    when 'no_event_since' then format(
      'It answers, but has sent no event since %s; before that it was never silent for more than %s.',
      cause ->> 'at', case
        when (cause ->> 'seconds')::float8 <= 7200 then ceil((cause ->> 'seconds')::float8 / 60) || ' minutes'
        else ceil((cause ->> 'seconds')::float8 / 3600) || ' hours'
      end)
    when 'unusable' then format(
      'It answers, but most of what it answers cannot be used: %s', coalesce(cause ->> 'said', 'no reason is known'))
    else coalesce(cause ->> 'said', case when cause is not null then 'It answers with errors.' end)
  end
  from private.source_cause(s) as cause
$$;

-- Security definer: the sources a zone receives events from with their health, for its owner.
create function private.coverage(p_sources text[], p_types text[]) returns jsonb
language sql stable security definer set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('source', s.source, 'status', private.source_status(s)) order by s.source), '[]')
  from watchpost.sources s
  where s.source not like 'custom%'
    and (p_sources is null or s.source = any(p_sources))
    and (p_types is null or s.types && p_types)
$$;
grant execute on function private.coverage to authenticated;

-- Security definer: of all feeds what coverage needs, for lists, which work out the coverage of each zone themselves.
create function private.source_states() returns table (source text, types text[], status text)
language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    select s.source, s.types, private.source_status(s) from watchpost.sources s
    where s.source not like 'custom%'
    order by s.source;
end
$$;
grant execute on function private.source_states to authenticated;

-- Security definer: what prevents a zone from raising alerts and is not visible to its readers: the state of its owner's
-- account, which of its sources are unknown or disabled, and the highest severity that its types can have there. Null
-- if the caller cannot see such a zone.
create function private.zone_obstacles(p_owner_id uuid, p_org_id uuid, p_sources text[], p_types text[]) returns jsonb
language sql stable security definer set search_path = '' as $$
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
$$;
grant execute on function private.zone_obstacles to authenticated;

-- Security definer: the attributions of all sources by their names, for everybody who reads events. One look for many.
create function private.attributions() returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  return (select jsonb_object_agg(s.source, s.attribution) from watchpost.sources s);
end
$$;

-- The attribution of a source among those of private.attributions.
create function private.attribution_among(p_attributions jsonb, p_source text) returns text
language sql immutable as $$
  select coalesce(p_attributions ->> p_source, p_source)
$$;
grant execute on function private.attributions, private.attribution_among to authenticated, watchpost_jobs;

-- Security definer: the health of sources is public, their state is not.
create function private.sources_health()
returns table (
  source text, title text, attribution text, types text[], enabled boolean, interval_seconds integer,
  status text, last_success_at timestamptz, last_event_at timestamptz, events_24h bigint, error text,
  latency_p50 double precision, latency_p95 double precision,
  delivery_p50 double precision, delivery_p95 double precision,
  items_24h bigint, rejected_24h bigint, rejected_reason text
)
language sql stable security definer set search_path = '' as $$
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
$$;
grant execute on function private.sources_health to watchpost_api, authenticated;

reset role;
