import { z } from 'zod'
import { simplifyFootprint } from '../../../shared/geometry/simplify.ts'
import type { Steps } from '../../../shared/geometry/steps.ts'
import { createRoute, resource, respond } from '../../../shared/route.ts'
import { EVENT_STATUSES, EventType, Geometry, Severity } from '../../../shared/schemas/event.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
} from '../../../shared/schemas/page.ts'
import { Instant } from '../../../shared/time.ts'
import { can } from '../../auth.ts'
import type { Env } from '../../context.ts'
import { problems } from '../../http.ts'
import { runInSlices } from '../../scheduling.ts'
import { read } from '../../transaction.ts'
import { boxesOf, filterOf, MapQuery, pixelAt, WORLD } from './map-query.ts'

/** The most footprints of a page, and how many bytes of them as they are stored, compressed. */
const MAX_FEATURES = 200
const MAX_BYTES = 500_000
/** The size of a footprint in pixels that can be told from a point. */
const MIN_PX = 4

const Query = MapQuery.extend({
  zoom: MapQuery.shape.zoom.meta({
    description:
      'The zoom of the map, as tile maps have it: footprints too small to be told from a point are left out, and the ' +
      'others have only the corners that can be seen. Default: all, as they are stored.',
  }),
  limit: integerParameter(
    1,
    MAX_FEATURES,
    MAX_FEATURES,
    'The maximum number of footprints on a page. A page of large ones has fewer.',
  ),
  cursor: CursorQuery,
})
const Footprint = z
  .object({
    type: z.literal('Feature'),
    id: z.string().meta({ description: 'Of its event.' }),
    geometry: Geometry,
    properties: z.object({
      type: EventType,
      title: z.string(),
      severity: Severity,
      status: z.enum(EVENT_STATUSES),
      ts: Instant,
    }),
  })
  .meta({ id: 'Footprint' })
const Page = z
  .object({
    type: z.literal('FeatureCollection'),
    features: z.array(Footprint),
    next_cursor: NextCursor,
  })
  .meta({ id: 'Footprints' })
const Position = z.tuple([Instant, z.string(), Instant])

type Properties = z.infer<typeof Footprint>['properties']
/** The geometry comes as text: the driver would parse all of them at once, without a pause for other requests. */
type Row = Properties & { id: string; geometry: string; found: number; until: string }

export const footprints = resource<Env>()

footprints.openapi(
  createRoute({
    method: 'get',
    path: '/footprints',
    operationId: 'listFootprints',
    tags: ['Events'],
    summary: 'The footprints of the events of a map',
    description:
      'GeoJSON: the areas and lines of the events that `GET /events/map` shows as points, newest first. Rings are ' +
      'continuous across ±180°, so that longitudes may pass it.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: Query },
    responses: {
      200: {
        description: 'A page of footprints.',
        content: { 'application/geo+json': { schema: Page } },
      },
      ...problems(),
    },
  }),
  async (c) => {
    const { cursor, limit, ...asked } = c.req.valid('query')
    const { bbox = WORLD, from, to, zoom } = asked
    const { types, min_severity } = filterOf(asked)
    const [ts = null, id = null, since = null] = (await decodeCursor(asked, cursor, Position)) ?? []
    const pixel = pixelAt(zoom)
    const rows = await read(
      c,
      (sql) => sql<Row>`
      select f.*, w.until
      from (select coalesce(${since}::timestamptz, ${to ?? null}::timestamptz, date_trunc('milliseconds', now())) as until) w
      cross join lateral private.footprints_on_map(
        ${boxesOf(bbox)}::box[],
        coalesce(${from ?? null}::timestamptz, w.until - interval '24 hours'), w.until,
        ${types}::text[], ${min_severity}::integer, ${MIN_PX * pixel}::float8,
        ${ts}::timestamptz, ${id}, ${limit}, ${MAX_BYTES}) f
      order by f.ts desc, f.id desc`,
    )
    const features = await runInSlices(featuresOf(rows, pixel))
    const last = rows.at(-1)
    const hasMore = last && (rows.length < last.found || last.found === limit)
    const next_cursor = hasMore ? await encodeCursor(asked, [last.ts, last.id, last.until]) : null
    const page = { type: 'FeatureCollection' as const, features, next_cursor }
    return respond(c, Page, page, 200, { 'Content-Type': 'application/geo+json' })
  },
)

function* featuresOf(rows: Row[], pixel: number): Steps<z.infer<typeof Footprint>[]> {
  const features: z.infer<typeof Footprint>[] = []
  for (const { id, geometry, type, title, severity, status, ts } of rows) {
    features.push({
      type: 'Feature',
      id,
      geometry: simplifyFootprint(JSON.parse(geometry), pixel / 2),
      properties: { type, title, severity, status, ts },
    })
    yield geometry.length
  }
  return features
}
