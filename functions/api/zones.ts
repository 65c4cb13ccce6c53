import { z } from 'zod'
import { simplify } from '../../shared/geometry/simplify.ts'
import { ApiError, invalid, notFound } from '../../shared/problem.ts'
import {
  createRoute,
  jsonBody,
  jsonResponse,
  noBody,
  pathId,
  resource,
  respond,
  respondRows,
} from '../../shared/route.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  LAST_UUID,
  NextCursor,
  splitPage,
} from '../../shared/schemas/page.ts'
import {
  ExternalId,
  ZONE_READ_ONLY,
  Zone,
  ZoneCreate,
  ZonePatch,
  zoneDefaults,
} from '../../shared/schemas/zone.ts'
import { raw } from '../../shared/sql.ts'
import { Instant } from '../../shared/time.ts'
import { can } from '../auth.ts'
import type { Env } from '../context.ts'
import { problems } from '../http.ts'
import { IdempotencyHeader, idempotent } from '../idempotency.ts'
import { createPacer } from '../scheduling.ts'
import { read, write } from '../transaction.ts'
import { changedReadOnly, IfMatchHeader, requireVersion, wantedVersion } from './whole-thing.ts'
import { forbidden, requireZone, shapeIssues, zoneIssues } from './zones/zone-check.ts'
import { type References, requireReferences, stepChannels } from './zones/zone-references.ts'
import {
  coverageFrom,
  mayEdit,
  merge,
  one,
  type ReachedZone,
  reachOf,
  type SourceState,
  selectReachedZone,
  settable,
  toRow,
  type UncoveredRow,
  uncoveredColumns,
  type ZoneRow,
  zoneColumns,
} from './zones/zone-rows.ts'
import { Warnings, warn } from './zones/zone-warnings.ts'

const RESTORE_DAYS = 30
/** The limit for the polygons on one page: three or four of the largest, or a few thousand small ones. */
const MAX_PAGE_BYTES = 1_000_000

export const ZoneId = z.object({ id: pathId('The id of a zone.') })
const One = z.object({ zone: Zone, warnings: Warnings })
const ZonePage = z.object({ zones: z.array(Zone), next_cursor: NextCursor })
const ListQuery = z.strictObject({
  limit: integerParameter(1, 500, 100, 'The maximum number of zones on a page.'),
  cursor: CursorQuery,
  external_id: ExternalId.optional().meta({
    description:
      'Only the zones with this `external_id`: at most one for you and each organisation.',
  }),
  geometry: z.enum(['none', 'simplified', 'full']).default('full').meta({
    description:
      'Whether to include polygons: not at all, simplified for a small map, or as drawn.',
  }),
})
const Position = z.tuple([Instant, z.uuid()])

type Found = ZoneRow & References & { may_edit: boolean }

export const zones = resource<Env>()

zones.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'listZones',
    tags: ['Zones'],
    summary: 'List the zones that the caller owns or shares through an organisation, newest first',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: ListQuery },
    responses: {
      200: jsonResponse(ZonePage, 'A page of zones.'),
      ...problems(),
    },
  }),
  async (c) => {
    const { limit, geometry, cursor, external_id } = c.req.valid('query')
    const list = { list: 'zones', external_id }
    const [before = 'infinity', beforeId = LAST_UUID] =
      (await decodeCursor(list, cursor, Position)) ?? []
    const [rows, states] = await read(c, (sql) =>
      Promise.all([
        sql<UncoveredRow & { candidates: number }>`
      select ${uncoveredColumns}, z.candidates
      from (
        select z.*, count(*) over () as candidates,
          sum(coalesce(pg_column_size(z.polygon), 0)) over before_it as bytes_before
        from unnest(private.my_tenants()) as mine (tenant_id)
        cross join lateral (
          select *
          from watchpost.zones
          where tenant_id = mine.tenant_id
            and deleted_at is null
            and ${raw(external_id === undefined ? '' : 'external_id =')} ${external_id ?? true}
            and (created_at, id) < (${before}::timestamptz, ${beforeId}::uuid)
          order by created_at desc, id desc
          limit ${limit + 1}
        ) z
        window before_it as (
          order by z.created_at desc, z.id desc rows between unbounded preceding and 1 preceding)
        order by z.created_at desc, z.id desc
        limit ${limit + 1}
      ) z
      where coalesce(z.bytes_before, 0) <= ${MAX_PAGE_BYTES}
      order by z.created_at desc, z.id desc`,
        sql<SourceState>`select * from private.source_states()`,
      ]),
    )
    const isCut = rows.length < Math.min(rows[0]?.candidates ?? 0, limit + 1)
    const { page, last } = isCut ? { page: rows, last: rows.at(-1) } : splitPage(rows, limit)
    const coverageOf = coverageFrom(states)
    const pace = createPacer()
    const zones: ZoneRow[] = []
    for (const { candidates: _, ...zone } of page) {
      zones.push(withGeometry({ ...zone, coverage: coverageOf(zone) }, geometry))
      await pace(sizeOf(zone))
    }
    const next_cursor = last ? await encodeCursor(list, [last.created_at, last.id]) : null
    return respondRows(c, { zones, next_cursor }, ZonePage)
  },
)

zones.openapi(
  createRoute({
    method: 'post',
    path: '/',
    operationId: 'createZone',
    tags: ['Zones'],
    summary: 'Create a zone',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { headers: IdempotencyHeader, body: jsonBody(ZoneCreate) },
    responses: {
      201: jsonResponse(One, 'The zone as it is stored.'),
      ...problems(409, 413, 415, 422),
    },
  }),
  async (c) => {
    const fields = zoneDefaults(c.req.valid('json'))
    await requireZone(c, fields)
    const { thing: zone, status } = await idempotent(c, {
      create: async (sql) => {
        // Sent together. Invalid references are reported before an error of the insert.
        const [references, inserted] = await Promise.allSettled([
          sql<References>`
            select private.unusable_channels(${fields.channel_ids ?? []}::uuid[], private.uid()) as unusable,
              private.unusable_channels(${stepChannels(fields)}::uuid[], private.uid()) as unusable_in_steps,
              ${fields.org_id}::uuid is not null and not ${fields.org_id}::uuid = any(private.my_orgs()) as foreign_org`,
          sql<ReachedZone>`
            insert into watchpost.zones as z (${raw(settable)})
            select ${raw(settable)}
            from jsonb_populate_record(null::watchpost.zones, ${toRow(fields)}::jsonb)
            returning ${zoneColumns}, ${reachOf}`,
        ])
        if (references.status === 'rejected') throw references.reason
        requireReferences(references.value[0], fields)
        if (inserted.status === 'rejected') throw inserted.reason
        return one(inserted.value)
      },
      replay: async (sql, id) => (await selectReachedZone(sql, id))[0],
    })
    return respond(c, One, { zone, ...warn(zone) }, status, {
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
    summary: 'Get a zone',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: ZoneId },
    responses: { 200: jsonResponse(One, 'The zone.'), ...problems(404) },
  }),
  async (c) => {
    const [zone] = await read(c, (sql) => selectReachedZone(sql, c.req.valid('param').id))
    if (!zone) throw notFound('zone')
    return respond(c, One, { zone, ...warn(zone) }, 200)
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
      'An absent field is unchanged; null clears a field. Rules across fields are tested on the merged zone. ' +
      'A polygon makes the zone a polygon, and `shape_type: circle` removes the polygon it has. ' +
      'For the owner or an admin of its organisation; only the owner can share or unshare it.',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: ZoneId, headers: IfMatchHeader, body: jsonBody(ZonePatch) },
    responses: {
      200: jsonResponse(One, 'The zone as it is now.'),
      ...problems(404, 409, 412, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const patch = c.req.valid('json')
    const wanted = wantedVersion(c.req.valid('header'))
    // Checked before the transaction, in which only SQL may be awaited. A stored polygon is known to be valid.
    const inShape = await shapeIssues(patch.polygon)
    const zone = await write(c, async (sql, last) => {
      const [found] = await sql<Found>`
        select ${zoneColumns}, ${mayEdit} as may_edit,
          private.unusable_channels(array(
            select unnest(${patch.channel_ids ?? []}::uuid[]) except select unnest(z.channel_ids)), z.owner_id) as unusable,
          private.unusable_channels(array(
            select unnest(${stepChannels(patch)}::uuid[])
            except select unnest(private.step_channels(z.escalation))), z.owner_id) as unusable_in_steps,
          ${patch.org_id ?? null}::uuid is not null
            and not ${patch.org_id ?? null}::uuid = any(private.my_orgs()) as foreign_org
        from watchpost.zones z
        where z.id = ${id} and z.deleted_at is null`
      if (!found) throw notFound('zone')
      requireVersion(wanted, found.version)
      const fields = merge(found, patch)
      const issues = [
        ...changedReadOnly(patch, found, ZONE_READ_ONLY),
        ...zoneIssues(fields, inShape),
      ]
      if (issues.length > 0) throw invalid(issues)
      requireReferences(found, patch)
      if (!found.may_edit) throw forbidden()
      const updated = sql<ReachedZone>`
        update watchpost.zones z
        set (${raw(settable)}) = (
          select ${raw(settable)}
          from jsonb_populate_record(null::watchpost.zones, ${toRow(fields)}::jsonb))
        where z.id = ${id} and z.version = ${found.version}
        returning ${zoneColumns}, ${reachOf}`
      const rows = await last(updated)
      if (rows.length === 0) throw changedMeanwhile()
      return one(rows)
    })
    return respond(c, One, { zone, ...warn(zone) }, 200)
  },
)

zones.openapi(
  createRoute({
    method: 'delete',
    path: '/{id}',
    operationId: 'deleteZone',
    tags: ['Zones'],
    summary: 'Delete a zone',
    description:
      'Hides the zone at once and cancels pending deliveries. It can be restored for 30 days.',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: ZoneId, headers: IfMatchHeader },
    responses: { 204: { description: 'Deleted.' }, ...problems(404, 412) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const wanted = wantedVersion(c.req.valid('header'))
    await write(c, async (sql) => {
      const [[found], deleted] = await Promise.all([
        sql<{ version: number; may_edit: boolean }>`
          select z.version, ${mayEdit} as may_edit
          from watchpost.zones z
          where z.id = ${id} and z.deleted_at is null`,
        sql`
          update watchpost.zones set deleted_at = now()
          where id = ${id} and deleted_at is null and version = coalesce(${wanted ?? null}::integer, version)
          returning id`,
      ])
      if (!found) throw notFound('zone')
      if (!found.may_edit) throw forbidden()
      requireVersion(wanted, found.version)
      if (deleted.length === 0) throw changedMeanwhile()
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
    summary: 'Restore a zone deleted in the last 30 days',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: ZoneId, body: noBody },
    responses: { 200: jsonResponse(One, 'The zone.'), ...problems(404, 409, 413, 415, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const zone = await write(c, async (sql) => {
      const [visible, restored] = await Promise.all([
        sql`
          select from watchpost.zones
          where id = ${id} and deleted_at > now() - make_interval(days => ${RESTORE_DAYS})`,
        sql<ReachedZone>`
          update watchpost.zones z set deleted_at = null
          where z.id = ${id} and z.deleted_at > now() - make_interval(days => ${RESTORE_DAYS})
          returning ${zoneColumns}, ${reachOf}`,
      ])
      if (visible.length === 0) throw notFound('deleted zone')
      if (restored.length === 0) throw forbidden()
      return one(restored)
    })
    return respond(c, One, { zone, ...warn(zone) }, 200)
  },
)

function changedMeanwhile(): ApiError {
  return new ApiError('conflict', 'The zone was changed in the meantime. Read it again and retry.')
}

function withGeometry(zone: ZoneRow, geometry: 'none' | 'simplified' | 'full'): ZoneRow {
  if (!zone.polygon || geometry === 'full') return zone
  return { ...zone, polygon: geometry === 'none' ? null : simplify(zone.polygon) }
}

/** The cost of simplifying a zone's polygon, in the units of shared/geometry/steps.ts. */
function sizeOf({ polygon }: UncoveredRow): number {
  return polygon ? 20 * polygon.coordinates.flat(2).length : 1
}
