set role watchpost_owner;

alter table watchpost.events add column reported_at timestamptz;
comment on column watchpost.events.reported_at is 'When its source last repeated it unchanged, to within a day; null: not since updated_at.';
set check_function_bodies = off;

drop trigger events_changed on watchpost.events;

CREATE OR REPLACE FUNCTION private.purge_events(p_batch integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION private.store_events(p_batch_id uuid, p_source text, p_owner_id uuid, p_org_id uuid, p_events private.incoming_event[], OUT inserted text[], OUT revised text[])
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  with given as materialized (
    select * from unnest(p_events) where not is_moving
  ),
  born as (
    insert into watchpost.events (
      id, source, type, title, lat, lon, ts, severity, subject, status, url, geometry, ends_at, revised_at,
      extent, first_seen_at, updated_at, owner_id, org_id, magnitude, depth_km, revision)
    select
      event_id, p_source, type, title, lat, lon, ts, severity, subject, status, url, geometry, ends_at, revised_at,
      extent, seen_at, seen_at, p_owner_id, p_org_id, magnitude, depth_km,
      -- If an event that was deleted for its age is reported again, its revisions continue.
      1 + coalesce((
        select max(r.revision) from watchpost.event_revisions r where r.event_id = given.event_id), 0)
    from given
    on conflict (id) do nothing
    returning *
  ),
  changed as (
    update watchpost.events e
    set type = g.type, title = g.title, lat = g.lat, lon = g.lon, ts = g.ts, severity = g.severity,
        subject = g.subject, status = g.status, url = g.url, geometry = g.geometry, ends_at = g.ends_at,
        revised_at = g.revised_at, extent = g.extent, magnitude = coalesce(g.magnitude, e.magnitude),
        depth_km = coalesce(g.depth_km, e.depth_km),
        revision = e.revision + 1, updated_at = g.seen_at
    from given g
    where e.id = g.event_id
      and e.source = p_source
      and e.tenant_id is not distinct from coalesce(p_org_id, p_owner_id)
      and (g.revised_at is null or e.revised_at is null or g.revised_at >= e.revised_at)
      and (g.type, g.title, g.lat, g.lon, g.ts, g.severity, g.status, g.url, g.geometry, g.ends_at,
          coalesce(g.magnitude, e.magnitude), coalesce(g.depth_km, e.depth_km))
        is distinct from
        (e.type, e.title, e.lat, e.lon, e.ts, e.severity, e.status, e.url, e.geometry, e.ends_at, e.magnitude, e.depth_km)
    returning e.*
  ),
  revisions as (
    insert into watchpost.event_revisions (
      event_id, revision, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject,
      status, url, geometry, ends_at, extent, tenant_id, magnitude, depth_km)
    select
      id, revision, p_batch_id, updated_at, source, type, title, lat, lon, ts, severity, subject,
      status, url, geometry, ends_at, extent, tenant_id, magnitude, depth_km
    from (select * from born union all select * from changed) r
  )
  select coalesce((select array_agg(b.id) from born b), '{}'), coalesce((select array_agg(c.id) from changed c), '{}')
  into inserted, revised;
  -- What is still reported is kept. Noted once a day, because most answers repeat what is known.
  update watchpost.events e
  set reported_at = g.seen_at
  from unnest(p_events) g
  where e.id = g.event_id and not g.is_moving
    and e.source = p_source
    and e.tenant_id is not distinct from coalesce(p_org_id, p_owner_id)
    and coalesce(e.reported_at, e.updated_at) < g.seen_at - interval '1 day';
end
$function$;

CREATE TRIGGER events_changed BEFORE UPDATE ON watchpost.events FOR EACH ROW WHEN ((NOT (old.reported_at IS DISTINCT FROM new.reported_at))) EXECUTE FUNCTION private.note_change();

reset check_function_bodies;
reset role;
