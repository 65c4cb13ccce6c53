import { z } from 'zod'
import type { Steps } from '../../../shared/geometry/steps.ts'
import { createRoute, jsonResponse, resource, respond } from '../../../shared/route.ts'
import { EVENT_STATUSES, EventType, Severity } from '../../../shared/schemas/event.ts'
import { markGaps, TrackStep, thinSteps } from '../../../shared/schemas/track.ts'
import { Instant } from '../../../shared/time.ts'
import { can } from '../../auth.ts'
import type { Env } from '../../context.ts'
import { problems } from '../../http.ts'
import { runInSlices } from '../../scheduling.ts'
import { read } from '../../transaction.ts'
import { boxesOf, filterOf, MapQuery, pixelAt, WORLD } from './map-query.ts'

const MAX_TRACKS = 500
/** How many positions are read, the newest first. */
const MAX_POSITIONS = 20_000
/** The most steps that a track has on the wire. */
const MAX_STEPS = 500
const MAX_STEPS_OF_ONE = 5000

const Query = MapQuery.extend({
  zoom: MapQuery.shape.zoom.meta({
    description:
      'The zoom of the map, as tile maps have it: steps that it would draw in one place are one. Default: all.',
  }),
  event_id: z.string().max(255).optional().meta({
    description:
      'Only the track of this event or position, wherever it led; `bbox`, `types` and `min_severity` do not apply.',
  }),
})
const Track = z
  .object({
    event_id: z.string().meta({ description: 'Its event, or its latest position.' }),
    source: z.string(),
    type: EventType,
    title: z.string(),
    severity: Severity,
    subject: z.string().nullable(),
    status: z.enum(EVENT_STATUSES),
    ts: Instant,
    steps: z.array(TrackStep).min(1).meta({ description: 'Oldest first.' }),
  })
  .meta({ id: 'Track' })
const Tracks = z.object({ tracks: z.array(Track) }).meta({ id: 'Tracks' })
/** As the database writes it, for it is written a thousand times. */
type Written = [lon: number, lat: number, ts: string, severity: number, flag: TrackStep['flag']]
type Row = Omit<z.infer<typeof Track>, 'event_id' | 'steps'> & { id: string; steps: string }

export const tracks = resource<Env>()

tracks.openapi(
  createRoute({
    method: 'get',
    path: '/tracks',
    operationId: 'listTracks',
    tags: ['Events'],
    summary: 'What moves on a map, with the way it took',
    description:
      'Storms and whatever else an event follows from place to place, by its revisions; vessels and aircraft by their ' +
      `positions, which are kept for two days. The ${MAX_TRACKS} that moved last, of vessels and aircraft where they ` +
      `were in \`bbox\`, from the newest ${MAX_POSITIONS.toLocaleString('en')} positions; the newest ${MAX_STEPS} steps ` +
      `of each, ${MAX_STEPS_OF_ONE.toLocaleString('en')} with \`event_id\`. A track of a vessel may have one step.`,
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: Query },
    responses: {
      200: jsonResponse(Tracks, 'The tracks; those that moved last come first.'),
      ...problems(),
    },
  }),
  async (c) => {
    const { bbox = WORLD, from, to, zoom, event_id, ...query } = c.req.valid('query')
    const { types, min_severity } = filterOf(query)
    const rows = await read(c, (sql) =>
      event_id === undefined
        ? sql<Row>`
          select t.*
          from (select coalesce(${to ?? null}::timestamptz, now()) as until) w
          cross join lateral private.tracks_on_map(
            ${boxesOf(bbox)}::box[],
            coalesce(${from ?? null}::timestamptz, w.until - interval '24 hours'), w.until,
            ${types}::text[], ${min_severity}::integer, ${MAX_POSITIONS}, ${MAX_TRACKS}) t
          order by t.ts desc, t.id`
        : sql<Row>`
          select t.*
          from (select coalesce(${to ?? null}::timestamptz, now()) as until) w
          cross join lateral private.track_of(
            ${event_id}, coalesce(${from ?? null}::timestamptz, w.until - interval '24 hours'), w.until,
            ${MAX_POSITIONS}) t`,
    )
    const most = event_id === undefined ? MAX_STEPS : MAX_STEPS_OF_ONE
    const tracks = await runInSlices(tracksOf(rows, { pixel: pixelAt(zoom), most }))
    return respond(c, Tracks, { tracks }, 200)
  },
)

function* tracksOf(
  rows: Row[],
  { pixel, most }: { pixel: number; most: number },
): Steps<z.infer<typeof Track>[]> {
  const tracks: z.infer<typeof Track>[] = []
  for (const { id, steps: text, ...row } of rows) {
    const written: Written[] = JSON.parse(text)
    const steps = written.map(([lon, lat, ts, severity, flag]) => ({
      lat,
      lon,
      ts,
      severity,
      flag,
    }))
    const thin = yield* thinSteps(markGaps(row.type, steps), pixel)
    tracks.push({ event_id: id, ...row, steps: thin.slice(-most) })
    yield 20 * steps.length
  }
  return tracks
}
