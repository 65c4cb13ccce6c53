import { z } from 'zod'
import { boxesOf, simplify } from '../../shared/geometry/geometry.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integer,
  LAST_UUID,
  NextCursor,
  split,
} from '../../shared/page.ts'
import { ApiError, invalid, notFound } from '../../shared/problem.ts'
import { answer, body, createRoute, json, pathId, resource } from '../../shared/route.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { Instant } from '../../shared/time.ts'
import {
  type Issue,
  Zone,
  ZoneCreate,
  ZoneFields,
  ZonePatch,
  zoneDefaults,
} from '../../shared/zone.ts'
import { can } from '../auth.ts'
import type { Env } from '../context.ts'
import { problems } from '../http.ts'
import { IdempotencyHeader, idempotent } from '../idempotency.ts'
import { read, write } from '../transaction.ts'
import { breather } from '../turns.ts'
import { requireZone, shapeIssues, zoneIssues } from './zone-check.ts'

const RESTORE_DAYS = 30
/** Of stored polygons: three or four of the largest, or a few thousand small ones. */
const MOST_PAGE_BYTES = 1_000_000

export const ZoneId = z.object({ id: pathId('The id of a zone.') })
const One = z.object({ zone: Zone })
const Created = z.object({
  zone: Zone,
  warnings: z
    .array(z.string())
    .optional()
    .meta({ description: 'Why this zone can hardly ever fire.' }),
})
const ListQuery = z.strictObject({
  limit: integer(1, 500, 100, 'How many zones a page has.'),
  cursor: CursorQuery,
  geometry: z
    .enum(['none', 'simplified', 'full'])
    .default('full')
    .meta({ description: 'Whether polygons come along, as drawn or thinned for a small map.' }),
})
const Position = z.tuple([Instant, z.uuid()])

/** The columns of a zone on the wire. */
export const zoneColumns =
  raw(`z.id, z.owner_id, z.org_id, z.label, z.lat, z.lon, z.radius_km, z.shape_type,
  z.polygon, z.match, z.min_severity, z.severity_multiplier, z.dwell_minutes, z.quiet_hours_start,
  z.quiet_hours_end, z.quiet_hours_tz, z.quiet_mode, z.emergency_severity, z.color, z.icon, z.channel_ids,
  z.sources, z.types, z.snoozed_until, z.enabled, z.version, z.created_at, z.updated_at,
  private.coverage(z.sources, z.types) as coverage`)
const mayEdit = raw(
  `(z.owner_id = private.uid() or coalesce(z.org_id = any(private.admin_orgs()), false))`,
)

/** The columns a caller may set, for an insert or update out of one JSON parameter. */
const settable = `org_id, label, lat, lon, radius_km, shape_type, polygon, match, min_severity,
  severity_multiplier, dwell_minutes, quiet_hours_start, quiet_hours_end, quiet_hours_tz, quiet_mode,
  emergency_severity, color, icon, channel_ids, sources, types, snoozed_until, enabled, boxes`

type ZoneRow = z.infer<typeof Zone>
type Found = ZoneRow & { may_edit: boolean; unusable: string[]; foreign_org: boolean }

export const zones = resource<Env>()

zones.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'listZones',
    tags: ['Zones'],
    summary: 'Own zones and those shared with an organisation of the caller, newest first',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: ListQuery },
    responses: {
      200: json(z.object({ zones: z.array(Zone), next_cursor: NextCursor }), 'A page of zones.'),
      ...problems(),
    },
  }),
  async (c) => {
    const { limit, geometry, cursor } = c.req.valid('query')
    const [before = 'infinity', beforeId = LAST_UUID] =
      (await decodeCursor({ list: 'zones' }, cursor, Position)) ?? []
    const rows = await read(
      c,
      (sql) => sql<ZoneRow & { candidates: number }>`
      select ${zoneColumns}, z.candidates
      from (
        select z.*, count(*) over () as candidates,
          sum(coalesce(pg_column_size(z.polygon), 0)) over before_it as bytes_before
        from unnest(private.my_tenants()) as mine (tenant_id)
        cross join lateral (
          select *
          from watchpost.zones
          where tenant_id = mine.tenant_id
            and deleted_at is null
            and (created_at, id) < (${before}::timestamptz, ${beforeId}::uuid)
          order by created_at desc, id desc
          limit ${limit + 1}
        ) z
        window before_it as (
          order by z.created_at desc, z.id desc rows between unbounded preceding and 1 preceding)
        order by z.created_at desc, z.id desc
        limit ${limit + 1}
      ) z
      where coalesce(z.bytes_before, 0) <= ${MOST_PAGE_BYTES}
      order by z.created_at desc, z.id desc`,
    )
    const isCut = rows.length < Math.min(rows[0]?.candidates ?? 0, limit + 1)
    const { page, last } = isCut ? { page: rows, last: rows.at(-1) } : split(rows, limit)
    const breathe = breather()
    const zones: ZoneRow[] = []
    for (const zone of page) {
      zones.push(withGeometry(zone, geometry))
      await breathe(sizeOf(zone))
    }
    return answer(
      c,
      z.object({ zones: z.array(Zone), next_cursor: NextCursor }),
      {
        zones,
        next_cursor: last
          ? await encodeCursor({ list: 'zones' }, [last.created_at, last.id])
          : null,
      },
      200,
    )
  },
)

zones.openapi(
  createRoute({
    method: 'post',
    path: '/',
    operationId: 'createZone',
    tags: ['Zones'],
    summary: 'Draw a zone',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { headers: IdempotencyHeader, body: body(ZoneCreate) },
    responses: { 201: json(Created, 'The zone as it is stored.'), ...problems(409, 413, 415, 422) },
  }),
  async (c) => {
    const fields = zoneDefaults(c.req.valid('json'))
    await requireZone(c, fields)
    const { thing: zone, status } = await idempotent(c, {
      create: async (sql) => {
        // Both travel together; an error of the insert waits until the references had their say.
        const [references, inserted] = await Promise.allSettled([
          sql<References>`
            select private.unusable_channels(${fields.channel_ids ?? []}::uuid[], private.uid()) as unusable,
              ${fields.org_id}::uuid is not null and not ${fields.org_id}::uuid = any(private.my_orgs()) as foreign_org`,
          sql<ZoneRow>`
            insert into watchpost.zones as z (${raw(settable)})
            select ${raw(settable)}
            from jsonb_populate_record(null::watchpost.zones, ${toRow(fields)}::jsonb)
            returning ${zoneColumns}`,
        ])
        if (references.status === 'rejected') throw references.reason
        requireReferences(references.value[0], fields)
        if (inserted.status === 'rejected') throw inserted.reason
        return one(inserted.value)
      },
      replay: async (sql, id) => (await selectZone(sql, id))[0],
    })
    return answer(c, Created, { zone, ...warn(zone) }, status, {
      Location: `${new URL(c.req.url).pathname}/${zone.id}`,
    })
  },
)

zones.openapi(
  createRoute({
    method: 'get',
    path: '/{id}',
    operationId: 'getZone',
    tags: ['Zones'],
    summary: 'One zone',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: ZoneId },
    responses: { 200: json(One, 'The zone.'), ...problems(404) },
  }),
  async (c) => {
    const [zone] = await read(c, (sql) => selectZone(sql, c.req.valid('param').id))
    if (!zone) throw notFound('zone')
    return answer(c, One, { zone }, 200)
  },
)

zones.openapi(
  createRoute({
    method: 'patch',
    path: '/{id}',
    operationId: 'updateZone',
    tags: ['Zones'],
    summary: 'Change a zone',
    description:
      'An absent field is unchanged, null clears. Rules across fields are tested on the merged zone. ' +
      'For the owner or an admin of its organisation; only the owner shares or unshares it.',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: ZoneId, body: body(ZonePatch) },
    responses: { 200: json(One, 'The zone as it is now.'), ...problems(404, 409, 413, 415, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const patch = c.req.valid('json')
    // What is stored was looked at when it came, and nothing but SQL is awaited in a transaction.
    const inShape = await shapeIssues(patch.polygon)
    const zone = await write(c, async (sql, last) => {
      const [found] = await sql<Found>`
        select ${zoneColumns}, ${mayEdit} as may_edit,
          private.unusable_channels(${patch.channel_ids ?? []}::uuid[], z.owner_id) as unusable,
          ${patch.org_id ?? null}::uuid is not null
            and not ${patch.org_id ?? null}::uuid = any(private.my_orgs()) as foreign_org
        from watchpost.zones z
        where z.id = ${id} and z.deleted_at is null`
      if (!found) throw notFound('zone')
      const fields = merge(found, patch)
      const issues = zoneIssues(fields, inShape)
      if (issues.length > 0) throw invalid(issues)
      requireReferences(found, patch)
      if (!found.may_edit) throw forbidden()
      const updated = sql<ZoneRow>`
        update watchpost.zones z
        set (${raw(settable)}) = (
          select ${raw(settable)}
          from jsonb_populate_record(null::watchpost.zones, ${toRow(fields)}::jsonb))
        where z.id = ${id} and z.version = ${found.version}
        returning ${zoneColumns}`
      const rows = await last(updated)
      if (rows.length === 0) {
        throw new ApiError(
          'conflict',
          'Somebody changed this zone meanwhile. Read it again and retry.',
        )
      }
      return one(rows)
    })
    return answer(c, One, { zone }, 200)
  },
)

zones.openapi(
  createRoute({
    method: 'delete',
    path: '/{id}',
    operationId: 'deleteZone',
    tags: ['Zones'],
    summary: 'Delete a zone',
    description: 'Hides it at once and cancels what is pending; it can be restored for 30 days.',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: ZoneId },
    responses: { 204: { description: 'It is gone.' }, ...problems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    await write(c, async (sql) => {
      const [visible, deleted] = await Promise.all([
        sql`select from watchpost.zones where id = ${id} and deleted_at is null`,
        sql`
          update watchpost.zones set deleted_at = now()
          where id = ${id} and deleted_at is null
          returning id`,
      ])
      if (visible.length === 0) throw notFound('zone')
      if (deleted.length === 0) throw forbidden()
    })
    return c.body(null, 204)
  },
)

zones.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/restore',
    operationId: 'restoreZone',
    tags: ['Zones'],
    summary: 'Bring back a zone deleted in the last 30 days',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: ZoneId },
    responses: { 200: json(One, 'The zone.'), ...problems(404, 409) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const zone = await write(c, async (sql) => {
      const [visible, restored] = await Promise.all([
        sql`
          select from watchpost.zones
          where id = ${id} and deleted_at > now() - make_interval(days => ${RESTORE_DAYS})`,
        sql<ZoneRow>`
          update watchpost.zones z set deleted_at = null
          where z.id = ${id} and z.deleted_at > now() - make_interval(days => ${RESTORE_DAYS})
          returning ${zoneColumns}`,
      ])
      if (visible.length === 0) throw notFound('deleted zone')
      if (restored.length === 0) throw forbidden()
      return one(restored)
    })
    return answer(c, One, { zone }, 200)
  },
)

/** One zone the caller sees, not deleted. */
export function selectZone(sql: Sql, id: string) {
  return sql<ZoneRow>`
    select ${zoneColumns} from watchpost.zones z where z.id = ${id} and z.deleted_at is null`
}

function one(rows: ZoneRow[]): ZoneRow {
  const [row] = rows
  if (!row) throw new Error('a statement that returns one row returned none')
  return row
}

/** A merged zone: what a patch leaves out stays, null clears; a cleared threshold of a zone is refused by its schema. */
function merge(zone: ZoneRow, patch: z.infer<typeof ZonePatch>): ZoneFields {
  const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
  return ZoneFields.parse({ ...ZoneFields.parse(zone), ...given })
}

/** The zone as one JSON row; its boxes are computed here, so that shape and boxes never part. */
function toRow(fields: ZoneFields): string {
  const boxes = boxesOf(fields).map(
    ({ west, south, east, north }) => `(${east},${north}),(${west},${south})`,
  )
  return JSON.stringify({ ...fields, boxes })
}

type References = { unusable: string[]; foreign_org: boolean }

function requireReferences(
  found: References | undefined,
  fields: { channel_ids?: string[] | null | undefined },
): void {
  const issues: Issue[] = []
  for (const id of found?.unusable ?? []) {
    issues.push({
      path: `channel_ids.${fields.channel_ids?.indexOf(id) ?? 0}`,
      code: 'unknown_channel',
      message: `There is no channel ${id} that you and the zone's owner both see.`,
    })
  }
  if (found?.foreign_org) {
    issues.push({
      path: 'org_id',
      code: 'unknown_organisation',
      message: 'You do not belong to this organisation. See "orgs" of GET /me for yours.',
    })
  }
  if (issues.length > 0) throw invalid(issues)
}

function forbidden(): ApiError {
  return new ApiError(
    'forbidden',
    'Only the owner of the zone or an admin of its organisation may do this.',
  )
}

function withGeometry(zone: ZoneRow, geometry: 'none' | 'simplified' | 'full'): ZoneRow {
  if (!zone.polygon || geometry === 'full') return zone
  return { ...zone, polygon: geometry === 'none' ? null : simplify(zone.polygon) }
}

/** What thinning a zone's polygon takes, in the units of work.ts. */
function sizeOf({ polygon }: ZoneRow): number {
  return polygon ? 20 * polygon.coordinates.flat(2).length : 1
}

/** Why a new zone can hardly ever fire. */
function warn(zone: ZoneRow): { warnings?: string[] } {
  const warnings: string[] = []
  const strongest = Math.min(100 * zone.severity_multiplier, 100)
  if (strongest < zone.min_severity) {
    warnings.push(
      `min_severity ${zone.min_severity} is never reached: severity is at most 100, times ${zone.severity_multiplier} that is ${strongest}.`,
    )
  }
  if (zone.coverage.length === 0) {
    warnings.push('No source of this service matches its sources and types.')
  }
  if (!zone.enabled) warnings.push('The zone is switched off.')
  if (zone.channel_ids?.length === 0) {
    warnings.push('channel_ids is empty: alerts are recorded and go nowhere.')
  }
  return warnings.length > 0 ? { warnings } : {}
}
