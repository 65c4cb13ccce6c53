import { z } from 'zod'
import { createRoute, resource, respond } from '../../../shared/route.ts'
import { EventFields, marked, type UnmarkedEvent } from '../../../shared/schemas/change.ts'
import { Severity } from '../../../shared/schemas/event.ts'
import { Instant } from '../../../shared/time.ts'
import { can } from '../../auth.ts'
import type { Env } from '../../context.ts'
import { problems } from '../../http.ts'
import { read } from '../../transaction.ts'
import { type Bbox, boxesOf, filterOf, MapQuery, WORLD } from './map-query.ts'

/** Beyond this many events a map is answered with clusters, of which there are never more either. */
const MAX_FEATURES = 2000
/** The width of a cluster in degrees at zoom 0: a few of them side by side on a map tile. */
const CELL_AT_ZOOM_0 = 45

const Point = z.object({
  type: z.literal('Point'),
  coordinates: z.array(z.number()).length(2).meta({ description: '[lon, lat]' }),
})
const MapEvent = z
  .object({
    type: z.literal('Feature'),
    id: z.string(),
    geometry: Point,
    properties: EventFields.extend({ cluster: z.literal(false) }),
  })
  .meta({ id: 'MapEvent' })
const MapCluster = z
  .object({
    type: z.literal('Feature'),
    bbox: z.array(z.number()).length(4).meta({
      description: 'west, south, east, north of its events: zoom there to see them.',
    }),
    geometry: Point,
    properties: z.object({
      cluster: z.literal(true),
      count: z.int().min(2),
      severity: Severity.meta({ description: 'The highest of its events.' }),
      ts: Instant.meta({ description: 'Of the newest of its events.' }),
    }),
  })
  .meta({
    id: 'MapCluster',
    description: 'Events that are near each other, in the middle of them.',
  })
const EventMap = z
  .object({
    type: z.literal('FeatureCollection'),
    features: z.array(z.union([MapEvent, MapCluster])),
    total: z.int().meta({ description: 'The number of events, clustered ones included.' }),
    clustered: z.boolean().meta({ description: `Whether there are over ${MAX_FEATURES} events.` }),
  })
  .meta({ id: 'EventMap' })

type Row = {
  event: UnmarkedEvent | null
  lat: number
  lon: number
  count: number
  severity: number
  ts: string
  west: number
  south: number
  east: number
  north: number
  total: number
}

export const eventMap = resource<Env>()

eventMap.openapi(
  createRoute({
    method: 'get',
    path: '/map',
    operationId: 'getEventMap',
    tags: ['Events'],
    summary: 'The public events and the caller’s own, for a map',
    description:
      `GeoJSON, by the points of the events. Beyond ${MAX_FEATURES} events, those near each other are answered as ` +
      'one cluster. Retracted events are left out, and so are positions of vessels and aircraft; see `GET /events/tracks`.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: MapQuery },
    responses: {
      200: {
        description: 'The events, newest first.',
        content: { 'application/geo+json': { schema: EventMap } },
      },
      ...problems(),
    },
  }),
  async (c) => {
    const { bbox = WORLD, from, to, zoom, ...query } = c.req.valid('query')
    const { types, min_severity } = filterOf(query)
    const rows = await read(
      c,
      (sql) => sql<Row>`
      select case when e.id is not null then private.event_fields(e, (select private.attributions())) end as event,
        m.lat, m.lon, m.count, m.severity, m.ts, m.west, m.south, m.east, m.north, m.total
      from private.events_on_map(
        ${boxesOf(bbox)}::box[],
        coalesce(${from ?? null}::timestamptz, coalesce(${to ?? null}::timestamptz, now()) - interval '24 hours'),
        coalesce(${to ?? null}::timestamptz, now()), ${types}::text[], ${min_severity}::integer,
        ${cellOf(bbox, zoom)}, ${MAX_FEATURES}) m
      left join watchpost.events e on e.id = m.id
      order by m.ts desc, m.lon, m.lat`,
    )
    const total = rows[0]?.total ?? 0
    const map = {
      type: 'FeatureCollection' as const,
      features: rows.map(featureOf),
      total,
      clustered: total > MAX_FEATURES,
    }
    return respond(c, EventMap, map, 200, { 'Content-Type': 'application/geo+json' })
  },
)

function featureOf({ event, lat, lon, count, severity, ts, west, south, east, north }: Row) {
  const geometry = { type: 'Point' as const, coordinates: [lon, lat] }
  if (event) {
    const properties = { ...marked(event), cluster: false as const }
    return { type: 'Feature' as const, id: event.id, geometry, properties }
  }
  const properties = { cluster: true as const, count, severity, ts }
  return { type: 'Feature' as const, bbox: [west, south, east, north], geometry, properties }
}

/** The width of clusters in degrees: that of the zoom, or more where there could be too many of them. */
function cellOf([west, south, east, north]: Bbox, zoom: number | undefined): number {
  const width = west <= east ? east - west : 360 + east - west
  const height = north - south
  let cell = zoom === undefined ? 0.01 : CELL_AT_ZOOM_0 / 2 ** zoom
  // Cells that the edges cut count too; one more column where the antimeridian cuts.
  while ((width / cell + 3) * (height / cell + 2) > MAX_FEATURES) cell *= Math.SQRT2
  return cell
}
