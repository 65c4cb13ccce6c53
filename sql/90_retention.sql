-- Retention: how long things are kept, and their deletion in small batches.

set role watchpost_owner;

create table watchpost.retention (
  thing text primary key,
  keep interval not null check (keep >= interval '1 hour'),
  updated_at timestamptz not null default now()
);
comment on table watchpost.retention is 'How long each kind of row is kept; change it here.';
comment on column watchpost.retention.thing is 'Sort of row.';
comment on column watchpost.retention.keep is 'How long, from its own time on.';
comment on column watchpost.retention.updated_at is 'When this was last changed.';
alter table watchpost.retention enable row level security;
alter table watchpost.retention force row level security;
insert into watchpost.retention (thing, keep) values
  ('events', '90 days'),
  ('event_revisions', '100 days'),
  ('delivery_attempts', '30 days'),
  ('alerts', '400 days'),
  ('audit', '400 days'),
  ('positions', '48 hours'),
  ('deleted', '30 days');

-- Security definer: deletes up to p_batch rows of each kind that is past its time; says how many went.
-- Events with an alert stay as the alert's own copy; what is deleted softly goes for good.
create function private.purge(p_batch integer default 2000) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_total integer := 0;
  v_count integer;
  v_keep jsonb := (select jsonb_object_agg(thing, keep) from watchpost.retention);
  v_partition record;
begin
  delete from watchpost.event_revisions where (event_id, revision) in (
    select event_id, revision from watchpost.event_revisions
    where first_seen_at < now() - (v_keep ->> 'event_revisions')::interval
    order by first_seen_at limit p_batch);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  delete from watchpost.events where id in (
    select e.id from watchpost.events e
    where e.ts < now() - (v_keep ->> 'events')::interval
      and e.updated_at < now() - (v_keep ->> 'events')::interval
      and (e.ends_at is null or e.ends_at < now())
    order by e.ts limit p_batch);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  delete from watchpost.batches where id in (
    select id from watchpost.batches
    where matched_at is not null and created_at < now() - interval '7 days'
    order by created_at limit p_batch);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  -- A delivery counts its attempts for the 48 hours that it may be tried.
  delete from watchpost.delivery_attempts where id in (
    select id from watchpost.delivery_attempts
    where at < now() - greatest((v_keep ->> 'delivery_attempts')::interval, interval '48 hours')
    order by at limit p_batch);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  delete from watchpost.alerts where id in (
    select id from watchpost.alerts
    where raised_at < now() - (v_keep ->> 'alerts')::interval
    order by raised_at limit p_batch);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  v_total := v_total + private.purge_tests((v_keep ->> 'alerts')::interval, p_batch);

  delete from watchpost.audit where id in (
    select id from watchpost.audit where at < now() - (v_keep ->> 'audit')::interval order by at limit p_batch);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  delete from watchpost.match_memory where (zone_id, key) in (
    select zone_id, key from watchpost.match_memory
    where updated_at < now() - (v_keep ->> 'event_revisions')::interval
    order by updated_at limit p_batch);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  -- A version that was in force when nothing was seen decided nothing: the one before it may stand in
  -- for it. Not before an hour, when every ingest that was under way has been stored.
  delete from watchpost.zone_versions where (zone_id, version) in (
    select v.zone_id, v.version from watchpost.zone_versions v
    where v.ended_at < now() - interval '1 hour'
      and not exists (
        select from watchpost.event_revisions r
        where r.first_seen_at >= date_trunc('milliseconds', v.valid_from)
          and r.first_seen_at < date_trunc('milliseconds', v.ended_at))
      and not exists (
        select from watchpost.positions p
        where p.first_seen_at >= date_trunc('milliseconds', v.valid_from)
          and p.first_seen_at < date_trunc('milliseconds', v.ended_at))
      and not exists (
        select from watchpost.alerts a where a.zone_id = v.zone_id and a.zone_version = v.version)
    limit p_batch);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  delete from watchpost.zone_shapes s
  where not exists (
    select from watchpost.zone_versions v where v.zone_id = s.zone_id and v.shape_hash = s.hash);

  delete from watchpost.zones where id in (
    select id from watchpost.zones z
    where z.deleted_at < now() - (v_keep ->> 'deleted')::interval
      and not exists (select from watchpost.alerts a where a.zone_id = z.id)
    limit p_batch);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  delete from watchpost.channels where id in (
    select id from watchpost.channels c
    where c.deleted_at < now() - (v_keep ->> 'deleted')::interval
      and not exists (select from watchpost.deliveries d where d.channel_id = c.id)
    limit p_batch);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;

  perform private.end_interrupted_tests();

  -- As long as the log tells of it.
  delete from watchpost.api_keys where revoked_at < now() - (v_keep ->> 'audit')::interval;
  delete from watchpost.idempotency_keys where created_at < now() - interval '24 hours';
  delete from watchpost.sign_in_links where expires_at < now();
  delete from watchpost.refresh_tokens where used_at < now() - interval '30 days';
  delete from watchpost.sessions where refreshed_at < now() - interval '30 days';
  delete from watchpost.rate_denials where at < now() - interval '10 minutes';
  delete from watchpost.rate_limits where tat < now() - interval '10 minutes';

  for v_partition in
    select c.relname
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'watchpost.positions'::regclass
      and c.relname ~ '^positions_\d{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 < (now() - (v_keep ->> 'positions')::interval)::date
  loop
    execute format('drop table watchpost.%I', v_partition.relname);
  end loop;
  delete from watchpost.positions_default where ts < now() - (v_keep ->> 'positions')::interval;
  return v_total;
end
$$;
grant execute on function private.purge to watchpost_jobs;

reset role;
