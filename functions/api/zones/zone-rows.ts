import type { z } from 'zod'
import { boxesOf } from '../../../shared/geometry/geometry.ts'
import { type Zone, ZoneFields, type ZonePatch } from '../../../shared/schemas/zone.ts'
import { raw, type Sql } from '../../../shared/sql.ts'

const columns = `z.id, z.owner_id, z.org_id, z.label, z.lat, z.lon, z.radius_km, z.shape_type,
  z.polygon, z.match, z.min_severity, z.severity_multiplier, z.dwell_minutes, z.quiet_hours_start,
  z.quiet_hours_end, z.quiet_hours_tz, z.quiet_windows, z.quiet_mode, z.emergency_severity,
  z.aftershocks, z.max_alerts_per_hour, z.escalation, z.color, z.icon, z.channel_ids,
  z.sources, z.types, z.snoozed_until, z.enabled, z.external_id, z.version, z.created_at, z.updated_at`

/** SQL: the columns of zone `z`. */
export const zoneColumns = raw(`${columns}, private.coverage(z.sources, z.types) as coverage`)
/** SQL: the same for lists, which work out the coverage of all their zones with `coverageFrom`. */
export const uncoveredColumns = raw(columns)
/** SQL: the same for requests that read many polygons: only that of a zone that `fits`. */
export const fittingColumns = raw(
  columns.replace('z.polygon', 'case when z.fits then z.polygon end as polygon'),
)
/** SQL: whether the caller owns zone `z` or administers its organisation. */
export const mayEdit = raw(
  `(z.owner_id = private.uid() or coalesce(z.org_id = any((select private.admin_orgs())::uuid[]), false))`,
)

/** SQL: the reach and the obstacles of zone `z`. */
export const reachOf =
  raw(`private.zone_reach(z.owner_id, z.org_id, z.channel_ids, z.escalation) as reach,
  private.zone_obstacles(z.owner_id, z.org_id, z.sources, z.types) as obstacles`)

/** SQL: the columns that a caller may set, for an insert or update from one JSON parameter. */
export const settable = `org_id, label, lat, lon, radius_km, shape_type, polygon, match, min_severity,
  severity_multiplier, dwell_minutes, quiet_hours_start, quiet_hours_end, quiet_hours_tz, quiet_windows, quiet_mode,
  emergency_severity, aftershocks, max_alerts_per_hour, escalation, color, icon, channel_ids, sources, types, snoozed_until,
  enabled, external_id, boxes`

/** SQL: the same for an update from the rows `n`. */
export const settableFrom = settable
  .split(',')
  .map((column) => `${column} = n.${column.trim()}`)
  .join(',')

export type ZoneRow = z.infer<typeof Zone>
export type UncoveredRow = Omit<ZoneRow, 'coverage'>
/** What private.source_states answers for each feed. */
export type SourceState = ZoneRow['coverage'][number] & { types: string[] }

/** What private.coverage answers, from what private.source_states answered: zones with the same filters share a list. */
export function coverageFrom(states: SourceState[]) {
  const known = new Map<string, ZoneRow['coverage']>()
  return ({ sources, types }: Pick<UncoveredRow, 'sources' | 'types'>): ZoneRow['coverage'] => {
    const filters = JSON.stringify([sources, types])
    const coverage =
      known.get(filters) ??
      states
        .filter((state) => sources?.includes(state.source) ?? true)
        .filter((state) => types?.some((type) => state.types.includes(type)) ?? true)
        .map(({ source, status }) => ({ source, status }))
    known.set(filters, coverage)
    return coverage
  }
}

/** What private.zone_reach answers: the channels a zone has lost, how many wait for a confirmation, and whether its alerts and steps reach any. */
export type Reach = {
  lost: string[]
  unconfirmed: number
  is_reached: boolean
  steps: StepReach[]
}
export type StepReach = {
  after_minutes: number
  channels: number
  lost: number
  is_reached: boolean
}
/** What private.zone_obstacles answers: what prevents a zone from raising alerts, besides its own fields. */
export type Obstacles = {
  paused: 'paused_by_plan' | 'owner_banned' | null
  /** The sources of the zone that this service does not poll. */
  silent: { source: string; status: 'unknown' | 'disabled' }[]
  /** The highest severity of each type of the zone in its sources; null when no source has this type. */
  highest: { type: string; severity: number | null }[]
}
export type ReachedZone = ZoneRow & { reach: Reach | null; obstacles: Obstacles | null }

/** A zone that the caller can see and that is not deleted. */
export function selectZone(sql: Sql, id: string) {
  return sql<ZoneRow>`
    select ${zoneColumns} from watchpost.zones z where z.id = ${id} and z.deleted_at is null`
}

/** The same with its reach and obstacles. */
export function selectReachedZone(sql: Sql, id: string) {
  return sql<ReachedZone>`
    select ${zoneColumns}, ${reachOf} from watchpost.zones z where z.id = ${id} and z.deleted_at is null`
}

/** The row of a statement that returns exactly one. */
export function one<T>(rows: T[]): T {
  const [row] = rows
  if (!row) throw new Error('a statement that returns one row returned none')
  return row
}

/**
 * The zone with a patch applied: a polygon makes it a polygon, and `circle` drops the polygon it has. Throws a
 * ZodError when null is set on a field that requires a value.
 */
export function merge(zone: UncoveredRow, patch: ZonePatch): ZoneFields {
  const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
  const fields = ZoneFields.parse({ ...ZoneFields.parse(zone), ...given })
  if (patch.polygon && patch.shape_type === undefined) return { ...fields, shape_type: 'polygon' }
  if (patch.polygon === undefined && fields.shape_type === 'circle') {
    return { ...fields, polygon: null }
  }
  return fields
}

/** The zone as a JSON row, with its bounding boxes computed from its shape, and perhaps which row it is. */
export function toRow(fields: ZoneFields, which: { id?: string; version?: number } = {}): string {
  const boxes = boxesOf(fields).map(
    ({ west, south, east, north }) => `(${east},${north}),(${west},${south})`,
  )
  return JSON.stringify({ ...fields, ...which, boxes })
}
