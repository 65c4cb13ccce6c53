set role watchpost_owner;
set check_function_bodies = off;

drop function private.alert_news(pg_snapshot,pg_snapshot,xid8,text,integer);

drop function private.event_news(pg_snapshot,pg_snapshot,xid8,text,integer);

CREATE OR REPLACE FUNCTION private.alert_news(p_from pg_snapshot, p_until pg_snapshot, p_after xid8, p_after_id text, p_limit integer)
 RETURNS TABLE(changed_in xid8, id text)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  v_from pg_snapshot := coalesce(p_from, '1:1:');
  v_until pg_snapshot := coalesce(p_until, private.change_horizon());
  v_after xid8 := greatest(p_after, '0'::xid8);
  v_after_id text := coalesce(p_after_id, '');
  v_tenants uuid[] := private.my_tenants();
begin
  return query
  with own as (
    select o.changed_in, o.id::text collate "C" as id
    from unnest(v_tenants) as mine (tenant_id)
    cross join lateral (
      select x.changed_in, x.id
      from watchpost.alerts x
      where x.tenant_id = mine.tenant_id
        and (x.changed_in, x.id) > (v_after, coalesce(nullif(v_after_id, '')::uuid, '00000000-0000-0000-0000-000000000000'))
        and x.changed_in >= pg_snapshot_xmin(v_from)
        and x.changed_in < pg_snapshot_xmax(v_until)
        and not pg_visible_in_snapshot(x.changed_in, v_from)
        and pg_visible_in_snapshot(x.changed_in, v_until)
      order by x.changed_in, x.id
      limit p_limit
    ) o
  ),
  noted as (
    select v.changed_in, v.id
    from private.visibility_between('alert', v_tenants, v_from, v_until, v_after, v_after_id) v
    where p_from is not null and not exists (
      select from watchpost.alerts a
      where a.id = v.id::uuid and not pg_visible_in_snapshot(a.changed_in, v_from))
    order by v.changed_in, v.id
    limit p_limit
  )
  select c.changed_in, c.id from (select * from own union all select * from noted) c order by 1, 2 limit p_limit;
end
$function$;

grant execute on function private.alert_news(pg_snapshot,pg_snapshot,xid8,text,integer) to authenticated;

CREATE OR REPLACE FUNCTION private.event_fields(e watchpost.events)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object(
    'id', e.id, 'source', e.source, 'type', e.type, 'title', e.title, 'lat', e.lat, 'lon', e.lon,
    'ts', private.iso(e.ts), 'severity', e.severity, 'subject', e.subject, 'status', e.status, 'url', e.url,
    'magnitude', e.magnitude, 'depth_km', e.depth_km,
    'ends_at', private.iso(e.ends_at), 'attribution', private.attribution(e.source), 'flag', null,
    'first_seen_at', private.iso(e.first_seen_at), 'updated_at', private.iso(e.updated_at))
$function$;

CREATE OR REPLACE FUNCTION private.event_news(p_from pg_snapshot, p_until pg_snapshot, p_after xid8, p_after_id text, p_limit integer)
 RETURNS TABLE(changed_in xid8, id text)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  v_from pg_snapshot := coalesce(p_from, '1:1:');
  v_until pg_snapshot := coalesce(p_until, private.change_horizon());
  v_after xid8 := greatest(p_after, '0'::xid8);
  v_after_id text := coalesce(p_after_id, '');
  v_tenants uuid[] := private.my_tenants();
begin
  return query
  with own as (
    select o.changed_in, o.id collate "C" as id
    from unnest(v_tenants) as mine (tenant_id)
    cross join lateral (
      select x.changed_in, x.id
      from watchpost.events x
      where x.tenant_id = mine.tenant_id
        and (x.changed_in, x.id collate "C") > (v_after, v_after_id)
        and x.changed_in >= pg_snapshot_xmin(v_from)
        and x.changed_in < pg_snapshot_xmax(v_until)
        and not pg_visible_in_snapshot(x.changed_in, v_from)
        and pg_visible_in_snapshot(x.changed_in, v_until)
      order by x.changed_in, x.id collate "C"
      limit p_limit
    ) o
    union all
    select o.changed_in, o.id collate "C"
    from (
      select x.changed_in, x.id
      from watchpost.events x
      where x.tenant_id is null
        and (x.changed_in, x.id collate "C") > (v_after, v_after_id)
        and x.changed_in >= pg_snapshot_xmin(v_from)
        and x.changed_in < pg_snapshot_xmax(v_until)
        and not pg_visible_in_snapshot(x.changed_in, v_from)
        and pg_visible_in_snapshot(x.changed_in, v_until)
      order by x.tenant_id, x.changed_in, x.id collate "C"
      limit p_limit
    ) o
  ),
  noted as (
    select v.changed_in, v.id
    from private.visibility_between('event', v_tenants, v_from, v_until, v_after, v_after_id) v
    where p_from is not null and not exists (
      select from watchpost.events e
      where e.id = v.id collate "default" and not pg_visible_in_snapshot(e.changed_in, v_from))
    order by v.changed_in, v.id
    limit p_limit
  )
  select c.changed_in, c.id::text from (select * from own union all select * from noted) c order by 1, 2 limit p_limit;
end
$function$;

grant execute on function private.event_news(pg_snapshot,pg_snapshot,xid8,text,integer) to authenticated;

reset check_function_bodies;
reset role;
