\startpipeline
begin;
select set_config('request.jwt.claims', private.key_claims(:key_hash, :request_id, :context), true),
  set_config('statement_timeout', '10s', true), set_config('role', 'authenticated', true);
select private.unusable_channels('{}'::uuid[], private.uid()) as unusable,
  private.unusable_channels('{}'::uuid[], private.uid()) as unusable_in_steps,
  null::uuid is not null and not null::uuid = any(private.my_orgs()) as foreign_org;
insert into watchpost.zones as z (org_id, label, lat, lon, radius_km, shape_type, polygon, match, min_severity,
  severity_multiplier, dwell_minutes, quiet_hours_start, quiet_hours_end, quiet_hours_tz, quiet_windows, quiet_mode,
  emergency_severity, aftershocks, max_alerts_per_hour, escalation, color, icon, channel_ids, sources, types,
  snoozed_until, enabled, boxes)
select org_id, label, lat, lon, radius_km, shape_type, polygon, match, min_severity,
  severity_multiplier, dwell_minutes, quiet_hours_start, quiet_hours_end, quiet_hours_tz, quiet_windows, quiet_mode,
  emergency_severity, aftershocks, max_alerts_per_hour, escalation, color, icon, channel_ids, sources, types,
  snoozed_until, enabled, boxes
from jsonb_populate_record(null::watchpost.zones, :zone::jsonb)
returning z.id, z.owner_id, z.org_id, z.label, z.lat, z.lon, z.radius_km, z.shape_type,
  z.polygon, z.match, z.min_severity, z.severity_multiplier, z.dwell_minutes, z.quiet_hours_start,
  z.quiet_hours_end, z.quiet_hours_tz, z.quiet_windows, z.quiet_mode, z.emergency_severity,
  z.aftershocks, z.max_alerts_per_hour, z.escalation, z.color, z.icon, z.channel_ids,
  z.sources, z.types, z.snoozed_until, z.enabled, z.version, z.created_at, z.updated_at,
  private.coverage(z.sources, z.types) as coverage,
  private.zone_reach(z.owner_id, z.org_id, z.channel_ids, z.escalation) as reach,
  private.zone_obstacles(z.owner_id, z.org_id, z.sources, z.types) as obstacles;
\endpipeline
commit;
