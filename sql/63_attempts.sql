-- Attempts: every try to send a delivery and what came of it.

set role watchpost_owner;

create table watchpost.delivery_attempts (
  id uuid primary key default gen_random_uuid(),
  delivery_id uuid not null references watchpost.deliveries on delete cascade,
  attempt integer not null,
  at timestamptz not null default now(),
  outcome text not null check (outcome in ('ok', 'retry', 'fail_permanent', 'disable_channel')),
  status_code smallint,
  duration_ms integer not null,
  error text,
  response_excerpt text,
  request_id text check (length(request_id) <= 200),
  unique (delivery_id, attempt)
);
comment on table watchpost.delivery_attempts is 'Append-only: every attempt of a delivery and what the receiver answered. Kept 30 days, see retention.';
comment on column watchpost.delivery_attempts.attempt is 'Counts from 1.';
comment on column watchpost.delivery_attempts.status_code is 'HTTP status of the receiver; null: it did not answer.';
comment on column watchpost.delivery_attempts.error is 'In words of ours.';
comment on column watchpost.delivery_attempts.response_excerpt is 'Shown only to those who may manage the channel.';
comment on column watchpost.delivery_attempts.request_id is 'What the receiver calls the request, for whoever asks its support; null: it did not say.';
create index delivery_attempts_at on watchpost.delivery_attempts (at);
alter table watchpost.delivery_attempts enable row level security;
alter table watchpost.delivery_attempts force row level security;
create policy delivery_attempts_select on watchpost.delivery_attempts for select to authenticated
  using (exists (select from watchpost.deliveries d where d.id = delivery_id));
create policy delivery_attempts_jobs on watchpost.delivery_attempts for all to watchpost_jobs
  using (true) with check (true);
grant select on watchpost.delivery_attempts to authenticated;
grant select, insert on watchpost.delivery_attempts to watchpost_jobs;

-- How long it took from when an event was first seen until a channel had accepted its alert: of alerts that nothing
-- held back, over the last 24 hours. With fewer than five the source has none.
create function private.measure_delivery() returns void
language sql volatile set search_path = '' as $$
  update watchpost.sources s
  set delivery_p50 = m.p50, delivery_p95 = m.p95
  from watchpost.sources o
  left join (
    select a.source,
      percentile_cont(0.5) within group (order by extract(epoch from (d.delivered_at - a.raised_at))) as p50,
      percentile_cont(0.95) within group (order by extract(epoch from (d.delivered_at - a.raised_at))) as p95
    from watchpost.alerts a
    join watchpost.deliveries d on d.alert_id = a.id
    where a.raised_at > now() - interval '24 hours' and a.held_until is null and a.drill_id is null
      and d.type = 'alert.raised' and d.status = 'succeeded' and d.redelivery_of is null
    group by a.source
    having count(*) >= 5
  ) m on m.source = o.source
  where s.source = o.source and (s.delivery_p50, s.delivery_p95) is distinct from (m.p50, m.p95)
$$;

reset role;
