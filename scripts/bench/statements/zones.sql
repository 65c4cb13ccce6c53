\startpipeline
begin read only;
select set_config('request.jwt.claims', private.key_claims(:key_hash, :request_id, :context), true),
  set_config('statement_timeout', '10s', true), set_config('role', 'authenticated', true);
select z.id, z.owner_id, z.org_id, z.label, z.lat, z.lon, z.radius_km, z.shape_type,
  z.polygon, z.match, z.min_severity, z.severity_multiplier, z.dwell_minutes, z.quiet_hours_start,
  z.quiet_hours_end, z.quiet_hours_tz, z.quiet_windows, z.quiet_mode, z.emergency_severity,
  z.aftershocks, z.max_alerts_per_hour, z.escalation, z.color, z.icon, z.channel_ids,
  z.sources, z.types, z.snoozed_until, z.enabled, z.version, z.created_at, z.updated_at,
  private.coverage(z.sources, z.types) as coverage, z.candidates
from (
  select z.*, count(*) over () as candidates,
    sum(coalesce(pg_column_size(z.polygon), 0)) over before_it as bytes_before
  from unnest(private.my_tenants()) as mine (tenant_id)
  cross join lateral (
    select *
    from watchpost.zones
    where tenant_id = mine.tenant_id
      and deleted_at is null
      and (created_at, id) < ('infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
    order by created_at desc, id desc
    limit :rows
  ) z
  window before_it as (
    order by z.created_at desc, z.id desc rows between unbounded preceding and 1 preceding)
  order by z.created_at desc, z.id desc
  limit :rows
) z
where coalesce(z.bytes_before, 0) <= 1000000
order by z.created_at desc, z.id desc;
commit;
\endpipeline
