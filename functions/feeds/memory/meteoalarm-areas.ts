import { z } from 'zod'
import { Geometry } from '../../../shared/schemas/event.ts'
import { isFeedError, type PollInput, type Rejected } from '../feed.ts'
import { fetchFeed } from '../fetch.ts'
import type { CapArea } from '../formats/cap.ts'
import { type LonLat, readGeometry, representativePoint } from '../formats/geometry.ts'
import { hash } from './alert-memory.ts'

/** The list of all areas of Meteoalarm has 33 MB. */
const MAX_BYTES = 64 * 2 ** 20
const TIMEOUT_MS = 120_000
const REFRESH_MS = 7 * 24 * 60 * 60_000
const RETRY_MS = 6 * 60 * 60_000
/** Twice as many as Europe has warning areas and regions of NUTS 2 and 3. */
const MAX_AREAS = 10_000
/** Areas are located in groups, with a pause after each for other work of the process. */
const GROUP = 50

/** Where areas lie, by scheme and code, e.g. `EMMA_ID:NL018` or `NUTS:NL111`, and when their lists are due again. */
export const KnownAreas = z.object({
  places: z.record(z.string(), z.tuple([z.number(), z.number()])).default({}),
  /** A hash of the addresses that these places are from, which may hold keys. */
  lists: z.string().default(''),
  /** In ms since 1970. */
  due: z.number().default(0),
})
export type KnownAreas = z.infer<typeof KnownAreas>

const List = z.object({ features: z.array(z.unknown()).max(MAX_AREAS) })
const Code = z.string().regex(/^[A-Z]{2}[A-Z0-9]{1,8}$/)
const Feature = z.object({
  properties: z.object({ code: Code }).or(z.object({ NUTS_ID: Code })),
  geometry: z.unknown(),
})

/** Where the areas of a warning lie, as far as they are known; of each the first code that is. */
export function locateAreas(areas: readonly CapArea[], { places }: KnownAreas): LonLat[] {
  const found = areas.flatMap(({ geocodes }) => {
    const keys = geocodes.flatMap(([scheme, code]) => {
      if (scheme === 'EMMA_ID') return `EMMA_ID:${code}`
      return /^NUTS[23]$/.test(scheme) ? `NUTS:${code}` : []
    })
    // EMMA_ID first: the codes of NUTS change with its editions.
    return keys
      .sort()
      .flatMap((key) => (places[key] ? [places[key]] : []))
      .slice(0, 1)
  })
  return [...new Map(found.map((place) => [place.join(), place])).values()]
}

/**
 * The places of the areas in the lists at these addresses, asked for once a week. When a list fails, what it said before
 * is kept, and it is asked for again after six hours.
 */
export async function fetchAreas(
  addresses: readonly string[],
  known: KnownAreas,
  input: PollInput,
): Promise<{ areas: KnownAreas; failed: Rejected[] }> {
  const now = input.now.getTime()
  const lists = hash(addresses.join(','))
  if (lists === known.lists && now < known.due) return { areas: known, failed: [] }
  const places = lists === known.lists ? { ...known.places } : {}
  const failed: Rejected[] = []
  for (const address of addresses) {
    const item = `METEOALARM_AREAS ${new URL(address).host}`
    try {
      const options = { accept: 'application/geo+json, application/json', max_bytes: MAX_BYTES }
      const fetched = await fetchFeed(address, { ...input, ...options, timeout_ms: TIMEOUT_MS })
      const list = List.safeParse(fetched.not_modified ? null : fetched.json)
      const count = list.success ? await readAreas(list.data.features, places) : 0
      if (count === 0) {
        const reason = `features: no area with a place and a code or NUTS_ID, or more than ${MAX_AREAS}`
        failed.push({ item, reason })
      }
    } catch (error) {
      if (!isFeedError(error)) throw error
      failed.push({ item, reason: error.message })
    }
  }
  const due = now + (failed.length > 0 ? RETRY_MS : REFRESH_MS)
  return { areas: { places, lists, due }, failed }
}

/** Adds the areas of a list to the places; returns how many. */
async function readAreas(
  features: readonly unknown[],
  places: KnownAreas['places'],
): Promise<number> {
  let count = 0
  for (const [index, feature] of features.entries()) {
    if (index % GROUP === GROUP - 1) await new Promise((resolve) => setTimeout(resolve))
    const read = Feature.safeParse(feature)
    const place = read.success ? placeOf(read.data.geometry) : null
    if (!read.success || !place) continue
    const { properties } = read.data
    places['code' in properties ? `EMMA_ID:${properties.code}` : `NUTS:${properties.NUTS_ID}`] =
      place
    count += 1
  }
  return count
}

function placeOf(json: unknown): LonLat | null {
  const geometry = Geometry.safeParse(json)
  if (!geometry.success) return null
  try {
    const point = representativePoint(readGeometry(geometry.data))
    return point && [round(point[0]), round(point[1])]
  } catch {
    return null
  }
}

const round = (degrees: number) => Math.round(degrees * 1e3) / 1e3
