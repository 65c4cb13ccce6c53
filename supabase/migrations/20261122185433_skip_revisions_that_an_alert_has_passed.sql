set role watchpost_owner;

CREATE OR REPLACE FUNCTION private.zone_candidates(p_zone_id uuid)
 RETURNS TABLE(id text, revision integer, first_seen_at timestamp with time zone, source text, type text, title text, lat double precision, lon double precision, ts timestamp with time zone, severity smallint, subject text, status text, url text, geometry jsonb, zone_ids uuid[], standing boolean)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return query
  with zone as (
    select z.id, date_trunc('milliseconds', greatest(v.valid_from, (
      select max(s.valid_from) from watchpost.account_states s where s.user_id = z.owner_id))) as changed_at
    from watchpost.zones z
    join watchpost.zone_versions v on v.zone_id = z.id and v.version = z.version
    where z.id = p_zone_id and z.deleted_at is null
  )
  select distinct on (e.first_seen_at, e.ts, e.id)
    e.id, e.revision, e.first_seen_at, e.source, e.type, e.title, e.lat, e.lon, e.ts, e.severity, e.subject,
    e.status, e.url, e.geometry, array[zone.id], true
  from zone
  join watchpost.zone_boxes b on b.zone_id = zone.id
  join watchpost.events e on e.extent operator(pg_catalog.&&) b.box
  where e.status = 'active' and e.ends_at > now()
    and (e.tenant_id is null or private.zones_in_tenant(array[zone.id], e.tenant_id, now()) <> '{}')
  union all
  select distinct on (r.first_seen_at, r.ts, r.event_id, r.revision)
    r.event_id, r.revision, r.first_seen_at, r.source, r.type, r.title, r.lat, r.lon, r.ts, r.severity, r.subject,
    r.status, r.url, r.geometry, array[zone.id], false
  from zone
  join watchpost.zone_boxes b on b.zone_id = zone.id
  join watchpost.event_revisions r on r.extent operator(pg_catalog.&&) b.box and r.first_seen_at >= zone.changed_at
  join watchpost.batches done on done.id = r.batch_id and done.matched_at is not null
  where (r.tenant_id is null or private.zones_in_tenant(array[zone.id], r.tenant_id, r.first_seen_at) <> '{}')
    and not exists (
      select from watchpost.alerts a
      where a.zone_id = zone.id and a.event_id = r.event_id and a.event_revision > r.revision)
  order by 3, 9, 1, 2;
end
$function$;

reset role;
