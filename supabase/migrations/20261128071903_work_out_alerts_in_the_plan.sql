set role watchpost_owner;
set check_function_bodies = off;

drop function private.alert_json(watchpost.alerts,uuid);

CREATE OR REPLACE FUNCTION private.alert_news(p_from pg_snapshot, p_until pg_snapshot, p_after xid8, p_after_id text, p_limit integer)
 RETURNS TABLE(changed_in xid8, id text, thing jsonb)
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
  select c.changed_in, c.id::text, j.alert
  from (
    select * from own union all select * from noted order by changed_in, id limit p_limit
  ) c
  left join watchpost.alerts a on a.id = c.id::uuid
  left join lateral private.alert_in_json(a, null) j on a.id is not null
  order by c.changed_in, c.id;
end
$function$;

CREATE OR REPLACE FUNCTION private.digest_json(d watchpost.deliveries, p_has_facts boolean)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
      'summary', private.digest_summary(d.id),
      'alerts', jsonb_agg(told.alert order by held.severity desc, held.raised_at, held.id))
    || case when p_has_facts then jsonb_build_object('facts', jsonb_object_agg(held.id, private.facts_json(held))) else '{}' end
  from private.alerts_carried(d) held
  cross join lateral private.alert_in_json(held, d.channel_id) told
$function$;

reset check_function_bodies;
reset role;
