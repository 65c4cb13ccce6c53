set role watchpost_owner;
set check_function_bodies = off;

alter table watchpost.zones
  add column aftershocks jsonb check (coalesce((aftershocks ->> 'magnitude_gap')::float8 between 0.5 and 5, aftershocks is null)),
  add column max_alerts_per_hour integer check (max_alerts_per_hour between 1 and 1000);
comment on column watchpost.zones.emergency_severity is 'From this severity on quiet hours and the next two are ignored; null: never.';
comment on column watchpost.zones.aftershocks is 'Excludes them, with magnitude_gap: how far below its mainshock one is; null: off.';
comment on column watchpost.zones.max_alerts_per_hour is 'Alerts beyond this are held and sent in a digest; null: no limit.';
grant insert (aftershocks, max_alerts_per_hour), update (aftershocks, max_alerts_per_hour) on watchpost.zones to authenticated;
grant select (aftershocks, max_alerts_per_hour) on watchpost.zones to service_role;
comment on table watchpost.match_memory is 'What matching remembers per zone and event, or per zone and moving subject (a stay), or of a zone as a whole.';
comment on column watchpost.match_memory.key is 'Event id, or the subject of a stay, or burst: when the zone sent its latest alerts.';
comment on column watchpost.alerts.status is 'held waits for the end of quiet hours or of a burst; suppressed is never sent; recorded has no channel.';
comment on column watchpost.alerts.checks is 'All checks of the decision with their numbers, for explain.';
comment on column watchpost.deliveries.status is 'held waits for the end of quiet hours or of a burst; expired was retried for 48 hours in vain.';

create table watchpost.mainshocks (
  event_id text not null,
  first_seen_at timestamptz not null,
  ts timestamptz not null,
  lat double precision not null,
  lon double precision not null,
  magnitude double precision not null,
  counts boolean not null,
  primary key (event_id, first_seen_at)
);
comment on table watchpost.mainshocks is 'Public earthquakes of magnitude 5.5 or more: each revision that differs in what matters here, from the one on that says so. Kept longer than revisions: the decision about an old event needs what was known of an earthquake 120 days before it.';
comment on column watchpost.mainshocks.first_seen_at is 'Tells the states of an event apart: its revisions may be counted anew once the old ones are deleted.';
comment on column watchpost.mainshocks.counts is 'Whether it was a mainshock by this revision: an earthquake, large enough and not retracted.';
alter table watchpost.mainshocks enable row level security;
alter table watchpost.mainshocks force row level security;
create policy mainshocks_jobs on watchpost.mainshocks for select to watchpost_jobs
  using (true);
grant select on watchpost.mainshocks to watchpost_jobs;

insert into watchpost.mainshocks (event_id, first_seen_at, ts, lat, lon, magnitude, counts)
select distinct on (r.event_id, r.first_seen_at) r.event_id, r.first_seen_at, r.ts, r.lat, r.lon, r.magnitude,
  r.type = 'earthquake' and r.magnitude >= 5.5 and r.status <> 'retracted'
from watchpost.event_revisions r
where r.tenant_id is null and r.magnitude is not null and exists (
  select from watchpost.event_revisions first
  where first.event_id = r.event_id and first.revision <= r.revision
    and first.type = 'earthquake' and first.magnitude >= 5.5 and first.status <> 'retracted')
order by r.event_id, r.first_seen_at, r.revision desc;
-- As old as the other defaults, so that a restored database equals an upgraded one.
insert into watchpost.retention (thing, keep, updated_at)
select 'mainshocks', '220 days', min(updated_at) from watchpost.retention;

create or replace view support.zones with (security_invoker = true) as
select z.id, z.label, a.email as owner, o.name as organisation,
  case
    when z.deleted_at is not null then 'deleted'
    when a.plan = 'free' or private.is_banned(a.banned_until) then 'paused'
    when not z.enabled then 'disabled'
    when z.snoozed_until > now() then 'snoozed'
    else 'watching'
  end as state,
  z.lat, z.lon, z.shape_type, z.radius_km, z.min_severity, z.severity_multiplier, z.dwell_minutes,
  coalesce(z.quiet_hours_start || ' to ' || z.quiet_hours_end, (
    select string_agg(concat_ws(' ', w.days, w.start, 'to', w."end"), ', ')
    from jsonb_array_elements(z.quiet_windows) with ordinality as j (value, nth)
    cross join lateral (
      select translate(j.value ->> 'days', '[]" ', '') as days, j.value ->> 'start' as start, j.value ->> 'end' as "end"
    ) w)) || ' ' || z.quiet_hours_tz || ', ' || z.quiet_mode as quiet_hours,
  z.emergency_severity, z.sources, z.types, cardinality(z.channel_ids) as channels, z.snoozed_until,
  (select max(l.raised_at) from watchpost.alerts l where l.zone_id = z.id) as last_alert_at,
  z.created_at, z.updated_at, z.deleted_at, z.owner_id, z.org_id,
  (z.aftershocks ->> 'magnitude_gap')::float8 as aftershock_gap, z.max_alerts_per_hour
from watchpost.zones z
join watchpost.accounts a on a.user_id = z.owner_id
left join watchpost.organisations o on o.id = z.org_id;
comment on column support.zones.aftershock_gap is 'Null: aftershocks are not excluded.';

drop function private.release_held(uuid,boolean);

CREATE OR REPLACE FUNCTION private.alerts_json(d watchpost.deliveries)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'timestamp', case when d.type = 'alert.digest' then private.iso(d.created_at) else coalesce(a.current, a.event) ->> 'ts' end,
    'alert', private.alert_json(a, d.channel_id),
    'zone', jsonb_build_object('id', a.zone_id, 'label', a.zone_name))
    || case when d.type = 'alert.digest' then jsonb_build_object('summary', private.digest_summary(d.id), 'alerts', (
      select jsonb_agg(private.alert_json(held, d.channel_id) order by held.severity desc, held.raised_at, held.id)
      from watchpost.alerts held
      where held.id in (
        select carried.alert_id from watchpost.deliveries carried where carried.digest_id = d.id
        union select d.alert_id)
    )) else '{}' end
  from watchpost.alerts a
  where a.id = d.alert_id
$function$;

CREATE OR REPLACE FUNCTION private.digest_summary(p_digest_id uuid)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select case when count(*) > 0 then count(*) || ' more in this zone' end
  from watchpost.deliveries d
  join watchpost.alerts a on a.id = d.alert_id
  where d.digest_id = p_digest_id and d.type = 'alert.raised' and private.is_bundled(a)
$function$;

grant execute on function private.digest_summary(uuid) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.end_hold(p_zone_id uuid)
 RETURNS void
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  update watchpost.deliveries d
  set next_attempt_at = greatest(now(), case when a.status = 'held' then a.held_until end), updated_at = now()
  from watchpost.alerts a
  where a.id = d.alert_id and a.zone_id = p_zone_id and d.status = 'held'
    and d.next_attempt_at > greatest(now(), case when a.status = 'held' then a.held_until end)
$function$;

CREATE OR REPLACE FUNCTION private.is_bundled(a watchpost.alerts)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select a.checks @> '[{"name": "quiet_hours", "passed": true}, {"name": "burst", "passed": false}]'
$function$;

grant execute on function private.is_bundled(watchpost.alerts) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.mainshocks_between(p_from timestamp with time zone, p_to timestamp with time zone)
 RETURNS TABLE(event_id text, first_seen_at timestamp with time zone, ts timestamp with time zone, lat double precision, lon double precision, magnitude double precision, counts boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select m.event_id, m.first_seen_at, m.ts, m.lat, m.lon, m.magnitude, m.counts
  from watchpost.mainshocks m
  where m.event_id in (
    select near.event_id from watchpost.mainshocks near where near.ts >= p_from and near.ts < p_to)
  order by m.first_seen_at, m.event_id
$function$;

grant execute on function private.mainshocks_between(timestamp with time zone,timestamp with time zone) to authenticated, watchpost_jobs;

CREATE OR REPLACE FUNCTION private.note_mainshock()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_counts boolean := new.type = 'earthquake' and new.magnitude >= 5.5 and new.status <> 'retracted';
  v_last watchpost.mainshocks;
begin
  select * into v_last from watchpost.mainshocks m where m.event_id = new.event_id order by m.first_seen_at desc limit 1;
  if (v_counts or v_last is not null)
    and (v_last.ts, v_last.lat, v_last.lon, v_last.magnitude, v_last.counts)
      is distinct from (new.ts, new.lat, new.lon, new.magnitude, v_counts) then
    insert into watchpost.mainshocks (event_id, first_seen_at, ts, lat, lon, magnitude, counts)
    values (new.event_id, new.first_seen_at, new.ts, new.lat, new.lon, new.magnitude, v_counts)
    on conflict (event_id, first_seen_at) do update
    set ts = excluded.ts, lat = excluded.lat, lon = excluded.lon, magnitude = excluded.magnitude, counts = excluded.counts;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION private.purge(p_batch integer DEFAULT 2000)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_count integer := 0;
begin
  v_count := v_count + private.purge_revisions(p_batch);
  v_count := v_count + private.purge_mainshocks(p_batch);
  v_count := v_count + private.purge_events(p_batch);
  v_count := v_count + private.purge_batches(p_batch);
  v_count := v_count + private.purge_attempts(p_batch);
  v_count := v_count + private.purge_alerts(p_batch);
  v_count := v_count + private.purge_tests(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_blindness(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_audit(p_batch);
  v_count := v_count + private.purge_memory(p_batch);
  v_count := v_count + private.purge_versions(p_batch);
  v_count := v_count + private.purge_account_states(p_batch);
  v_count := v_count + private.purge_deleted(p_batch);
  v_count := v_count + private.purge_changes(p_batch);
  perform private.keep_change_history();
  perform private.end_interrupted_tests();
  perform private.purge_credentials();
  perform private.purge_positions();
  delete from watchpost.source_hours where hour < now() - interval '7 days';
  perform private.measure_silence();
  perform private.measure_accepted();
  perform private.measure_delivery();
  return v_count;
end
$function$;

CREATE OR REPLACE FUNCTION private.purge_mainshocks(p_batch integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION private.release_held(p_zone_id uuid, p_early boolean DEFAULT false, p_burst_until timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_zone watchpost.zones;
  v_alerts uuid[];
  v_held uuid[];
begin
  select * into v_zone from watchpost.zones where id = p_zone_id for share;
  if not found or v_zone.deleted_at is not null then
    return 0;
  end if;
  if p_early then
    update watchpost.alerts a
    set held_until = greatest(now(), case when private.is_bundled(a) then p_burst_until end), updated_at = now()
    where a.zone_id = p_zone_id and a.status = 'held'
      and a.held_until > greatest(now(), case when private.is_bundled(a) then p_burst_until end);
    perform private.end_hold(p_zone_id);
    perform private.enqueue(
      'release', gen_random_uuid(), jsonb_build_object('zone_id', p_zone_id), p_burst_until)
    where p_burst_until > now();
  end if;
  select array_agg(a.id) into v_alerts
  from (
    select id from watchpost.alerts
    where zone_id = p_zone_id and status = 'held' and held_until <= now()
    for update
  ) a;
  perform private.reroute_alerts(v_alerts);
  select array_agg(d.id), v_alerts || array_agg(d.alert_id) into v_held, v_alerts
  from watchpost.deliveries d
  join watchpost.alerts a on a.id = d.alert_id
  where a.zone_id = p_zone_id and d.status = 'held' and coalesce(d.next_attempt_at, a.held_until) <= now();
  if v_alerts is null then
    return 0;
  end if;
  if not v_zone.enabled or v_zone.snoozed_until > now() then
    perform private.cancel_deliveries(v_held, 'The zone was switched off or snoozed.');
    update watchpost.alerts set status = 'suppressed', updated_at = now()
    where id = any(v_alerts) and status = 'held';
    return 0;
  end if;
  perform private.release_deliveries(v_held);
  update watchpost.alerts a
  set status = case
        when exists (select from watchpost.deliveries d where d.alert_id = a.id and d.status <> 'cancelled')
          then 'pending' else 'recorded' end,
      updated_at = now()
  where a.id = any(v_alerts) and a.status = 'held';
  return (select count(distinct id) from unnest(v_alerts) as released (id));
end
$function$;

grant execute on function private.release_held(uuid,boolean,timestamp with time zone) to watchpost_jobs;

CREATE INDEX mainshocks_ts ON watchpost.mainshocks USING btree (ts);

CREATE TRIGGER event_revisions_mainshock AFTER INSERT ON watchpost.event_revisions FOR EACH ROW WHEN (((new.tenant_id IS NULL) AND (new.magnitude IS NOT NULL))) EXECUTE FUNCTION private.note_mainshock();

reset check_function_bodies;
reset role;
