set role watchpost_owner;
set check_function_bodies = off;

alter table watchpost.zones
  add column external_id text check (length(external_id) between 1 and 200);
comment on column watchpost.zones.external_id is 'Its name in a list of the owner''s, by which the list finds it again; unique among the zones of its tenant that are not deleted.';
grant insert (external_id), update (external_id) on watchpost.zones to authenticated;
grant select (external_id) on watchpost.zones to service_role;

CREATE OR REPLACE FUNCTION private.deleted_refusal(p_user_id uuid, p_thing text, p_deleted bigint)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select case when p_deleted >= 4 * l.most then format(
    'Deleted %s can be restored for 30 days, and this account has %s of them, which is the limit. Restore some instead of creating new ones, or wait.',
    p_thing, 4 * l.most) end
  from watchpost.accounts a
  cross join lateral (select private.plan_limit(a.plan, p_thing) as most) l
  where a.user_id = p_user_id
$function$;

CREATE OR REPLACE FUNCTION private.has_history_room(p_zone_id uuid, p_polygon jsonb)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select (select count(*) from watchpost.zone_versions where zone_id = p_zone_id) < 500
    and coalesce((select sum(bytes) from watchpost.zone_shapes where zone_id = p_zone_id), 0) + case
      when p_polygon is null or exists (
        select from watchpost.zone_shapes
        where zone_id = p_zone_id and hash = sha256(convert_to(p_polygon::text, 'UTF8'))) then 0
      else octet_length(p_polygon::text)
    end <= 4 * 1024 * 1024
$function$;

grant execute on function private.has_history_room(uuid,jsonb) to authenticated;

CREATE OR REPLACE FUNCTION private.lock_zones(p_owner_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  perform pg_advisory_xact_lock(hashtextextended('zones:' || p_owner_id, 0));
end
$function$;

grant execute on function private.lock_zones(uuid) to authenticated;

CREATE OR REPLACE FUNCTION private.no_history_room()
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select 'This zone has been changed too often: a zone keeps at most 500 versions and 4 MiB of shapes. Versions in which no event was seen are deleted within hours, the others after 100 days; until then, create a new zone.'
$function$;

grant execute on function private.no_history_room() to authenticated;

CREATE OR REPLACE FUNCTION private.quota_room(p_user_id uuid, p_thing text, p_count bigint, OUT room bigint, OUT refusal text)
 RETURNS record
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select l.most - p_count, format('the %s plan allows %s %s', a.plan, l.most, p_thing)
  from watchpost.accounts a
  cross join lateral (select private.plan_limit(a.plan, p_thing) as most) l
  where a.user_id = p_user_id
$function$;

CREATE OR REPLACE FUNCTION private.require_deleted_quota(p_user_id uuid, p_thing text, p_deleted bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_refusal text := private.deleted_refusal(p_user_id, p_thing, p_deleted);
begin
  if v_refusal is not null then
    raise exception '%', v_refusal using errcode = 'WP409';
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION private.require_quota(p_user_id uuid, p_thing text, p_count bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_quota record;
begin
  select * into v_quota from private.quota_room(p_user_id, p_thing, p_count);
  if v_quota.room < 0 then
    raise exception '%', v_quota.refusal using errcode = 'WPLIM', detail = p_thing;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION private.room_for_zones(OUT room integer, OUT code text, OUT refusal text)
 RETURNS record
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select case when d.refusal is null then greatest(q.room, 0) else 0 end,
    case when d.refusal is null then 'WPLIM' else 'WP409' end,
    coalesce(d.refusal, q.refusal)
  from (select count(*) filter (where deleted_at is null) as kept,
      count(*) filter (where deleted_at > now() - interval '30 days') as deleted
    from watchpost.zones where owner_id = private.uid()) n
  cross join lateral private.quota_room(private.uid(), 'zones', n.kept) q
  cross join lateral (select private.deleted_refusal(private.uid(), 'zones', n.deleted) as refusal) d
$function$;

grant execute on function private.room_for_zones() to authenticated;

CREATE OR REPLACE FUNCTION private.store_version(z watchpost.zones, p_changes jsonb, p_must_fit boolean)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_text text := z.polygon::text;
  v_hash bytea := sha256(convert_to(v_text, 'UTF8'));
begin
  if p_must_fit and not private.has_history_room(z.id, z.polygon) then
    raise exception '%', private.no_history_room() using errcode = 'WP409';
  end if;
  if v_hash is not null then
    insert into watchpost.zone_shapes (zone_id, hash, polygon, bytes)
    values (z.id, v_hash, z.polygon, octet_length(v_text))
    on conflict do nothing;
  end if;
  update watchpost.zone_versions set ended_at = now() where zone_id = z.id and ended_at is null;
  insert into watchpost.zone_versions (zone_id, version, definition, shape_hash, actor_id, changes)
  values (z.id, z.version, private.zone_definition(z) - 'polygon', v_hash, private.uid(), p_changes);
end
$function$;

CREATE OR REPLACE FUNCTION private.zone_before()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if tg_op = 'INSERT' then
    perform private.lock_zones(new.owner_id);
    return new;
  end if;
  if new.org_id is distinct from old.org_id and private.uid() is not null and private.uid() <> old.owner_id
    and private.org_exists(old.org_id) then
    raise exception 'only the owner can share or unshare a zone' using errcode = 'WP403';
  end if;
  -- An organisation that is deleted gives its zones back, where another may already have the name.
  if old.org_id is not null and new.org_id is null and new.external_id is not null and not private.org_exists(old.org_id)
    and exists (
      select from watchpost.zones z
      where z.tenant_id = new.owner_id and z.external_id = new.external_id and z.deleted_at is null) then
    new.external_id := null;
  end if;
  if old.deleted_at is not null and new.deleted_at is null then
    perform private.lock_zones(new.owner_id);
    perform private.require_quota(new.owner_id, 'zones', (
      select count(*) + 1 from watchpost.zones where owner_id = new.owner_id and deleted_at is null));
  end if;
  new.updated_at := now();
  if private.zone_definition(new) is distinct from private.zone_definition(old) then
    new.version := old.version + 1;
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION private.zones_counted()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_owner uuid;
begin
  -- One by one, so that the index finds their zones however many there are of others.
  for v_owner in select distinct m.owner_id from made m loop
    perform private.require_quota(v_owner, 'zones', n.kept), private.require_deleted_quota(v_owner, 'zones', n.deleted)
    from (
      select count(*) filter (where deleted_at is null) as kept,
        count(*) filter (where deleted_at > now() - interval '30 days') as deleted
      from watchpost.zones where owner_id = v_owner) n;
  end loop;
  return null;
end
$function$;

CREATE UNIQUE INDEX zones_external_id ON watchpost.zones USING btree (tenant_id, external_id) WHERE ((external_id IS NOT NULL) AND (deleted_at IS NULL));

CREATE TRIGGER zones_counted AFTER INSERT ON watchpost.zones REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION private.zones_counted();

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
  (select max(l.raised_at) from watchpost.alerts l where l.zone_id = z.id and l.drill_id is null) as last_alert_at,
  z.created_at, z.updated_at, z.deleted_at, z.owner_id, z.org_id,
  (z.aftershocks ->> 'magnitude_gap')::float8 as aftershock_gap, z.max_alerts_per_hour, z.external_id
from watchpost.zones z
join watchpost.accounts a on a.user_id = z.owner_id
left join watchpost.organisations o on o.id = z.org_id;
comment on column support.zones.external_id is 'Null: it stands in no list.';

reset check_function_bodies;
reset role;
