import { z } from 'zod'
import { decisionCost } from '../../shared/decide/decide.ts'
import {
  containsPoint,
  type PreparedZone,
  prepareZone,
  touchesGeometry,
} from '../../shared/geometry/geometry.ts'
import type { ZonePolygon } from '../../shared/geometry/polygon.ts'
import type { Steps } from '../../shared/geometry/steps.ts'
import { ApiError, notFound } from '../../shared/problem.ts'
import { createRoute, resource, respond } from '../../shared/route.ts'
import { EventFields, marked } from '../../shared/schemas/change.ts'
import { EVENT_STATUSES, EventType, Geometry } from '../../shared/schemas/event.ts'
import {
  booleanParameter,
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
} from '../../shared/schemas/page.ts'
import type { ZoneFields } from '../../shared/schemas/zone.ts'
import { Instant, QueryInstant } from '../../shared/time.ts'
import { can } from '../auth.ts'
import type { Ctx, Env } from '../context.ts'
import { problems } from '../http.ts'
import { runInSlices } from '../scheduling.ts'
import { readInSteps } from '../transaction.ts'

/** The work allowed for one page, in the units of shared/geometry/steps.ts: about half a second. */
const MAX_UNITS = 10_000_000

export const Event = EventFields.extend({
  // Lazy, because the OpenAPI generator forgets the null of a named union otherwise.
  geometry: z
    .lazy(() => Geometry)
    .nullable()
    .optional(),
  zone_ids: z.array(z.uuid()).meta({ description: 'The caller’s zones that contain it.' }),
}).meta({ id: 'Event' })

const ListQuery = z
  .strictObject({
    limit: integerParameter(
      1,
      500,
      100,
      'The maximum number of events on a page. A page may have fewer even when there is a next one.',
    ),
    minutes: z.coerce.number().int().min(1).max(1440).optional().meta({
      type: 'integer',
      minimum: 1,
      maximum: 1440,
      default: 60,
      description:
        'Only events of this many past minutes, by `ts`. Not with `from`, `to` or `active_at`.',
    }),
    from: QueryInstant.optional().meta({
      description:
        'Only events from this time on, by `ts`; as far back as events are kept (90 days, unless the service says otherwise).',
    }),
    to: QueryInstant.optional().meta({ description: 'Only events before this time, by `ts`.' }),
    active_at: QueryInstant.optional().meta({
      description:
        'Only events that were going on at this time: begun, with an `ends_at` after it, and neither ended nor retracted ' +
        'by then. Whenever they began, unless `from` or `to` says so.',
    }),
    status: z
      .enum(EVENT_STATUSES)
      .optional()
      .meta({ description: 'Only events with this status, as of now.' }),
    source: z.string().max(64).optional().meta({ description: 'Only events of this source.' }),
    type: EventType.optional().meta({ description: 'Only events of this type.' }),
    min_severity: z.coerce.number().min(0).max(100).optional().meta({
      type: 'number',
      minimum: 0,
      maximum: 100,
      description: 'Only events of at least this severity.',
    }),
    zone_id: z.uuid().optional().meta({ description: 'Only events inside this zone.' }),
    geometry: booleanParameter('Whether to include the original footprint of each event.'),
    cursor: CursorQuery,
  })
  .refine(
    ({ minutes, from, to, active_at }) => minutes === undefined || !(from ?? to ?? active_at),
    {
      path: ['minutes'],
      message: 'Send minutes, or from, to and active_at, but not both.',
    },
  )
const Page = z.object({ events: z.array(Event), next_cursor: NextCursor })
const FeatureCollection = z
  .object({
    type: z.literal('FeatureCollection'),
    features: z.array(
      z.object({
        type: z.literal('Feature'),
        id: z.string(),
        geometry: Geometry,
        properties: Event.omit({ geometry: true }),
      }),
    ),
    next_cursor: NextCursor,
  })
  .meta({ id: 'EventFeatureCollection' })
// The cursor contains the start of the window, so that later pages use the same one. It is limited to one
// day, so that a forged cursor cannot ask for all events.
const Position = z.tuple([Instant, z.string(), Instant])

type Candidate = { event_id: string; ts: string; zone_ids: string[] }
type EventRow = Omit<z.infer<typeof Event>, 'zone_ids' | 'late'>
/** The polygon comes as text: the driver would parse all of them at once, without a pause for other requests. */
type ShapeRow = Pick<ZoneFields, 'shape_type' | 'lat' | 'lon' | 'radius_km' | 'match'> & {
  id: string
  polygon: string | null
}

export const events = resource<Env>()

events.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'listEvents',
    tags: ['Events'],
    summary: 'List recent events inside the caller’s zones, newest first',
    description:
      'Considers geography only: the thresholds, filters, quiet hours, snooze and `enabled` of the zones do not apply. ' +
      'Without `from`, `to` or `active_at` only the last 60 minutes. ' +
      'With `Accept: application/geo+json` the answer is a GeoJSON FeatureCollection.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: ListQuery },
    responses: {
      200: {
        description: 'A page of events.',
        content: {
          'application/json': { schema: Page },
          'application/geo+json': { schema: FeatureCollection },
        },
      },
      ...problems(404, 406),
    },
  }),
  async (c) => {
    const { limit, cursor, geometry, ...filter } = c.req.valid('query')
    const { minutes = 60, from, to, active_at } = filter
    const hasWindow = (from ?? to ?? active_at) !== undefined
    const position = await decodeCursor(filter, cursor, Position)
    const found = await readInSteps(c, async (sql, last) => {
      const [candidates, zoneRows] = await Promise.all([
        sql<Candidate & { window_start: string }>`
          select n.event_id, n.ts, n.zone_ids, w.since as window_start
          from (select date_trunc('milliseconds', case
            when ${hasWindow}::boolean then coalesce(${from ?? null}::timestamptz, '1000-01-01') - interval '1 millisecond'
            else greatest(
              coalesce(${position?.[2] ?? null}::timestamptz, now() - make_interval(mins => ${minutes})),
              now() - make_interval(mins => ${minutes}) - interval '1 day')
          end) as since) w
          cross join lateral private.events_near(
            ${filter.zone_id ?? null}, w.since,
            coalesce(
              ${position?.[0] ?? null}::timestamptz, ${to ?? null}::timestamptz - interval '1 millisecond',
              ${active_at ?? null}::timestamptz, now()),
            ${position?.[1] ?? null}, ${filter.source ?? null}, ${filter.type ?? null},
            ${filter.min_severity === undefined ? null : Math.ceil(filter.min_severity)}, ${limit},
            p_status => ${filter.status ?? null}, p_active_at => ${active_at ?? null}) n`,
        filter.zone_id === undefined
          ? undefined
          : sql`select id from watchpost.zones where id = ${filter.zone_id} and deleted_at is null`,
      ])
      if (zoneRows?.length === 0) throw notFound('zone')
      const ids = candidates.map((candidate) => candidate.event_id)
      const zoneIds = [...new Set(candidates.flatMap((candidate) => candidate.zone_ids))]
      const found = Promise.all([
        sql<EventRow>`
          select id, source, type, title, lat, lon, ts, severity, subject, status, url, magnitude, depth_km, ends_at,
            private.attribution_among((select private.attributions()), source) as attribution, null as flag,
            first_seen_at, updated_at, geometry
          from watchpost.events
          where id = any(${ids})
          union all
          select event_id, source, type, title, lat, lon, ts, severity, subject, status, url, null, null, null,
            private.attribution_among((select private.attributions()), source), flag, first_seen_at, first_seen_at, null
          from watchpost.positions
          where event_id = any(${ids}) and ts = any(${candidates.map((candidate) => candidate.ts)}::timestamptz[])`,
        sql<ShapeRow>`
          select id, shape_type, lat, lon, radius_km, polygon::text, match
          from watchpost.zones
          where id = any(${zoneIds}::uuid[])`,
      ])
      const [rows, shapes] = await last(found)
      return { candidates, rows, shapes }
    })
    const { inside, seen } = await runInSlices(exactly(found))
    const last = seen.at(-1)
    const isCut = seen.length < found.candidates.length
    const mayHaveMore = isCut || found.candidates.length >= limit || last?.zone_ids.length === 0
    const next_cursor =
      last && mayHaveMore
        ? await encodeCursor(filter, [last.ts, last.event_id, last.window_start])
        : null
    return respondWithPage(c, inside, { geometry: geometry ?? false, next_cursor })
  },
)

/**
 * Of the candidates, which the database found by bounding boxes, those that are inside a zone, with the
 * ids of their zones. Stops after MAX_UNITS of work: `seen` lists the candidates that were tested, and
 * the rest is left to the next page.
 */
function* exactly<C extends Candidate>(found: {
  candidates: C[]
  rows: EventRow[]
  shapes: ShapeRow[]
}): Steps<{ inside: (EventRow & { zone_ids: string[] })[]; seen: C[] }> {
  const rows = new Map(found.rows.map((row) => [row.id, row]))
  const shapes = new Map<string, { match: ShapeRow['match']; zone: PreparedZone }>()
  for (const shape of found.shapes) {
    const polygon: ZonePolygon | null = shape.polygon === null ? null : JSON.parse(shape.polygon)
    const zone = prepareZone({ ...shape, polygon })
    shapes.set(shape.id, { match: shape.match, zone })
    yield 10 + 20 * zone.vertices
  }
  const inside: (EventRow & { zone_ids: string[] })[] = []
  const seen: C[] = []
  let units = 0
  for (const candidate of found.candidates) {
    if (units > MAX_UNITS) break
    seen.push(candidate)
    const event = rows.get(candidate.event_id)
    if (!event) continue
    const zone_ids: string[] = []
    for (const id of candidate.zone_ids) {
      const found = shapes.get(id)
      if (!found) continue
      const cost = decisionCost(found.zone, event)
      units += cost
      yield cost
      if (isInside(found.zone, found.match, event)) zone_ids.push(id)
    }
    if (zone_ids.length > 0) inside.push({ ...event, zone_ids })
  }
  return { inside, seen }
}

function isInside(zone: PreparedZone, match: ZoneFields['match'], event: EventRow): boolean {
  if (containsPoint(zone, event.lat, event.lon).inside) return true
  return match === 'footprint' && event.geometry != null && touchesGeometry(zone, event.geometry)
}

function respondWithPage(
  c: Ctx,
  inside: (EventRow & { zone_ids: string[] })[],
  { geometry, next_cursor }: { geometry: boolean; next_cursor: string | null },
) {
  const events = inside.map(marked)
  if (wantsGeoJson(c)) {
    const features = events.map(({ geometry: footprint, ...properties }) => ({
      type: 'Feature' as const,
      id: properties.id,
      geometry:
        geometry && footprint
          ? footprint
          : { type: 'Point' as const, coordinates: [properties.lon, properties.lat] },
      properties,
    }))
    const collection = { type: 'FeatureCollection' as const, features, next_cursor }
    return respond(c, FeatureCollection, collection, 200, {
      'Content-Type': 'application/geo+json',
    })
  }
  const list = geometry ? events : events.map(({ geometry: _, ...event }) => event)
  return respond(c, Page, { events: list, next_cursor }, 200)
}

/** Whether the Accept header prefers GeoJSON. Throws 406 when it accepts neither JSON nor GeoJSON. */
function wantsGeoJson(c: Ctx): boolean {
  const accept = c.req.header('accept') ?? '*/*'
  if (/application\/geo\+json/i.test(accept)) return true
  if (/application\/(json|\*)|\*\/\*/i.test(accept)) return false
  throw new ApiError('not_acceptable', 'This comes as application/json or application/geo+json.')
}
