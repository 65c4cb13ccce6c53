import { z } from 'zod'
import { Geometry } from '../../../shared/schemas/event.ts'
import { isFeedError, type PollInput, type Rejected } from '../feed.ts'
import { fetchFeed } from '../fetch.ts'
import { toFootprint } from '../formats/footprint.ts'
import type { Assessed } from '../formats/gdacs-item.ts'
import { countVertices } from '../formats/geometry.ts'

const ADDRESS = 'https://www.gdacs.org/gdacsapi/api/polygons/getgeometry'
/** GDACS asks for a low rate. */
const MAX_REQUESTS = 2
/** Of all footprints together, so that the state stays below a megabyte. */
const MAX_VERTICES = 30_000
/** From orange on. */
const MIN_SEVERITY = 60

/** The footprint of each grave event and the episode that it belongs to; null if the episode has none. */
export const Footprints = z.record(
  z.string(),
  z.object({ episode: z.string(), geometry: Geometry.nullable() }),
)
export type Footprints = z.infer<typeof Footprints>

const Collection = z.object({ features: z.array(z.unknown()) })
const Feature = z.object({ properties: z.object({ Class: z.string() }), geometry: z.unknown() })

/** The areas among the features of an answer. */
export function areasOf(features: readonly unknown[]): unknown[] {
  return features.flatMap((feature) => {
    const { data } = Feature.safeParse(feature)
    return data && /^Poly_/i.test(data.properties.Class) ? [data.geometry] : []
  })
}

/**
 * Fetches the footprints of events from orange on whose episode is new, a few each time. One that cannot be
 * had is named in `rejected`, and the event keeps the one before.
 */
export async function fetchFootprints(
  events: readonly Assessed[],
  known: Footprints,
  input: PollInput,
): Promise<{ footprints: Footprints; rejected: Rejected[] }> {
  const footprints: Footprints = { ...known }
  const rejected: Rejected[] = []
  const due = events.filter(
    ({ event, type, episode }) =>
      event.status === 'active' &&
      event.severity >= MIN_SEVERITY &&
      type !== 'EQ' &&
      footprints[event.id]?.episode !== episode,
  )
  for (const { event, type, number, episode } of due.slice(0, MAX_REQUESTS)) {
    const item = `${type}${number} footprint`
    try {
      const query = new URLSearchParams({ eventtype: type, eventid: number, episodeid: episode })
      const fetched = await fetchFeed(`${ADDRESS}?${query}`, input)
      if (fetched.not_modified) continue
      delete footprints[event.id]
      const made = toGeometry(fetched.json, verticesOf(footprints))
      if (made.reason !== null) rejected.push({ item, reason: made.reason })
      footprints[event.id] = { episode, geometry: made.geometry }
    } catch (error) {
      if (!isFeedError(error)) throw error
      rejected.push({ item, reason: error.message })
      break
    }
  }
  return { footprints, rejected }
}

function toGeometry(
  json: unknown,
  used: number,
): { geometry: Geometry | null; reason: string | null } {
  const answer = Collection.safeParse(json)
  if (!answer.success) return { geometry: null, reason: 'features: no FeatureCollection' }
  const areas = areasOf(answer.data.features)
  if (areas.length === 0) return { geometry: null, reason: null }
  const made = toFootprint(areas)
  if ('reason' in made) return { geometry: null, reason: made.reason }
  const total = used + countVertices(made.geometry)
  if (total <= MAX_VERTICES) return { ...made, reason: null }
  const reason = `geometry: with it all footprints have ${total} vertices, more than ${MAX_VERTICES}`
  return { geometry: null, reason }
}

function verticesOf(footprints: Footprints): number {
  return Object.values(footprints).reduce(
    (sum, { geometry }) => sum + (geometry === null ? 0 : countVertices(geometry)),
    0,
  )
}
