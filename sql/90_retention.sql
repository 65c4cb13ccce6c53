-- Retention: how long things are kept, and their deletion in small batches.

set role watchpost_owner;

create table watchpost.retention (
  thing text primary key,
  keep interval not null check (keep >= interval '1 hour'),
  updated_at timestamptz not null default now()
);
comment on table watchpost.retention is 'How long each kind of row is kept; change it here.';
alter table watchpost.retention enable row level security;
alter table watchpost.retention force row level security;
insert into watchpost.retention (thing, keep) values
  ('events', '90 days'),
  ('event_revisions', '100 days'),
  ('delivery_attempts', '30 days'),
  ('alerts', '400 days'),
  ('audit', '400 days'),
  ('positions', '48 hours'),
  ('deleted', '30 days'),
  ('changes', '30 days'),
  ('mainshocks', '220 days'),
  ('drills', '30 days');

-- Rows older than this have been kept long enough.
create function private.kept_since(p_thing text) returns timestamptz
language sql stable set search_path = '' as $$
  select now() - keep from watchpost.retention where thing = p_thing
$$;

-- Not before the 48 hours in which a delivery may be tried: it counts its attempts.
create function private.attempts_kept_since() returns timestamptz
language sql stable set search_path = '' as $$
  select least(private.kept_since('delivery_attempts'), now() - interval '48 hours')
$$;

-- Security definer: alerts of which something is to be purged now that their last record does not hold.
create function private.expiring_alerts(p_limit integer) returns setof uuid
language sql stable security definer set search_path = '' as $$
  select id from (
    (select w.id
    from watchpost.delivery_attempts t
    cross join lateral private.wants_attempt(t) as w (id)
    where t.at < private.attempts_kept_since()
    order by t.at
    limit p_limit)
    union
    (select w.id
    from watchpost.event_revisions r
    cross join lateral private.wants_revision(r.event_id, r.first_seen_at) as w (id)
    where r.first_seen_at < private.kept_since('event_revisions')
    order by r.first_seen_at
    limit p_limit)) expiring (id)
  limit p_limit
$$;
grant execute on function private.expiring_alerts to watchpost_jobs;

-- The functions that follow delete up to p_batch rows each and return how many. What an alert is about is deleted when
-- its record holds it.
create function private.purge_revisions(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('event_revisions');
  v_count integer;
begin
  delete from watchpost.event_revisions where (event_id, revision) in (
    select r.event_id, r.revision from watchpost.event_revisions r
    where r.first_seen_at < v_before and not exists (select private.wants_revision(r.event_id, r.first_seen_at))
    order by r.first_seen_at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

create function private.purge_mainshocks(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('mainshocks');
  v_count integer;
begin
  delete from watchpost.mainshocks where (event_id, first_seen_at) in (
    select event_id, first_seen_at from watchpost.mainshocks
    where ts < v_before
    order by ts
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- An alert has its own copy of its event. What a source still reports would only come back as if it were new.
create function private.purge_events(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('events');
  v_count integer;
begin
  delete from watchpost.events where id in (
    select id from watchpost.events
    where ts < v_before and updated_at < v_before and (reported_at is null or reported_at < v_before)
      and (ends_at is null or ends_at < now())
    order by ts
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

create function private.purge_batches(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_count integer;
begin
  delete from watchpost.batches where id in (
    select id from watchpost.batches
    where matched_at is not null and created_at < now() - interval '7 days'
    order by created_at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

create function private.purge_attempts(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.attempts_kept_since();
  v_count integer;
begin
  delete from watchpost.delivery_attempts where id in (
    select t.id from watchpost.delivery_attempts t
    where t.at < v_before and not exists (select private.wants_attempt(t))
    order by t.at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- Their deliveries are deleted with them.
create function private.purge_alerts(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('alerts');
  v_count integer;
begin
  delete from watchpost.alerts where id in (
    select id from watchpost.alerts
    where raised_at < v_before
    order by raised_at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

create function private.purge_audit(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('audit');
  v_count integer;
begin
  delete from watchpost.audit where id in (
    select id from watchpost.audit
    where at < v_before
    order by at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- Match memory is deleted when the revisions it refers to are.
create function private.purge_memory(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('event_revisions');
  v_count integer;
begin
  delete from watchpost.match_memory where (zone_id, key) in (
    select zone_id, key from watchpost.match_memory
    where updated_at < v_before
    order by updated_at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- A version during which nothing was seen decided nothing, so the previous version can replace it. Not within an
-- hour, because an ingest may still be running. The last p_keep versions are kept anyway, as long as the zone has at
-- most 1 MiB of shapes. A shape is deleted with the last version that uses it.
create function private.purge_versions(p_batch integer, p_keep integer default 50) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_count integer;
begin
  delete from watchpost.zone_versions where (zone_id, version) in (
    select v.zone_id, v.version from watchpost.zone_versions v
    join watchpost.zones z on z.id = v.zone_id
    where v.ended_at < now() - interval '1 hour'
      and (v.ended_at < private.kept_since('event_revisions')
        or v.version <= z.version - p_keep
        or (select sum(s.bytes) from watchpost.zone_shapes s where s.zone_id = v.zone_id) > 1024 * 1024)
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
  delete from watchpost.zone_shapes s
  where not exists (
    select from watchpost.zone_versions v where v.zone_id = s.zone_id and v.shape_hash = s.hash);
  return v_count;
end
$$;

-- A state is deleted when the next one has been valid for as long as decisions can be explained.
create function private.purge_account_states(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('event_revisions');
  v_count integer;
begin
  delete from watchpost.account_states where (user_id, valid_from) in (
    select s.user_id, s.valid_from from watchpost.account_states s
    where s.valid_from < v_before and exists (
      select from watchpost.account_states later
      where later.user_id = s.user_id and later.valid_from > s.valid_from and later.valid_from < v_before)
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- Zones and channels that were deleted long ago and that nothing kept refers to.
-- A channel that can no longer be restored is removed from its zones, even while its deliveries keep it.
create function private.purge_deleted(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('deleted');
  v_zones integer;
  v_channels integer;
begin
  delete from watchpost.zones where id in (
    select z.id from watchpost.zones z
    where z.deleted_at < v_before
      and not exists (select from watchpost.alerts a where a.zone_id = z.id)
    limit p_batch);
  get diagnostics v_zones = row_count;
  perform private.forget_channels(array(select id from watchpost.channels where deleted_at < v_before));
  delete from watchpost.channels where id in (
    select c.id from watchpost.channels c
    where c.deleted_at < v_before
      and not exists (select from watchpost.deliveries d where d.channel_id = c.id)
    limit p_batch);
  get diagnostics v_channels = row_count;
  return v_zones + v_channels;
end
$$;

-- Expired keys, links, sessions and limits. A revoked key is kept as long as the audit log may refer to it.
create function private.purge_credentials() returns void
language sql volatile set search_path = '' as $$
  delete from watchpost.api_keys where revoked_at < private.kept_since('audit');
  delete from watchpost.idempotency_keys where created_at < now() - interval '24 hours';
  delete from watchpost.sign_in_links where expires_at < now();
  delete from watchpost.operator_sessions where expires_at < now();
  delete from watchpost.refresh_tokens where used_at < now() - interval '30 days';
  delete from watchpost.sessions where refreshed_at < now() - interval '30 days';
  delete from watchpost.rate_denials where at < now() - interval '10 minutes';
  delete from watchpost.rate_limits where tat < now() - interval '10 minutes';
$$;

-- Positions are deleted a day at a time, with their partition.
create function private.purge_positions() returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('positions');
  v_partition text;
begin
  for v_partition in
    select c.relname
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'watchpost.positions'::regclass
      and c.relname ~ '^positions_\d{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 < v_before::date
  loop
    execute format('drop table watchpost.%I', v_partition);
  end loop;
  delete from watchpost.positions_default where ts < v_before;
  delete from watchpost.passing_positions where ts < v_before;
  delete from watchpost.subjects where ts < v_before;
end
$$;

-- Security definer: the jobs cannot delete anything themselves. Deletes expired rows, up to p_batch of each kind, and
-- returns how many: while that is not 0, more may be left.
create function private.purge(p_batch integer default 2000) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_count integer := 0;
begin
  v_count := v_count + private.purge_revisions(p_batch);
  v_count := v_count + private.purge_mainshocks(p_batch);
  v_count := v_count + private.purge_events(p_batch);
  v_count := v_count + private.purge_batches(p_batch);
  v_count := v_count + private.purge_attempts(p_batch);
  v_count := v_count + private.purge_alerts(p_batch);
  v_count := v_count + private.purge_drills(p_batch);
  v_count := v_count + private.purge_tests(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_blindness(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_troubles(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_audit(p_batch);
  v_count := v_count + private.purge_memory(p_batch);
  v_count := v_count + private.purge_versions(p_batch);
  v_count := v_count + private.purge_account_states(p_batch);
  v_count := v_count + private.purge_deleted(p_batch);
  v_count := v_count + private.purge_changes(p_batch);
  v_count := v_count + private.purge_zone_changes(p_batch);
  perform private.keep_change_history();
  perform private.end_interrupted_tests();
  perform private.purge_credentials();
  perform private.purge_hosts();
  perform private.purge_positions();
  delete from watchpost.operator_acts where at < private.kept_since('audit');
  delete from watchpost.source_hours where hour < now() - interval '7 days';
  perform private.measure_silence();
  perform private.measure_accepted();
  perform private.measure_delivery();
  return v_count;
end
$$;
grant execute on function private.purge to watchpost_jobs;

reset role;
