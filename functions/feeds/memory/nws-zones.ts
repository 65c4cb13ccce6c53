import { z } from 'zod'
import { Geometry } from '../../../shared/schemas/event.ts'
import { isFeedError, type PollInput, type Rejected } from '../feed.ts'
import { fetchFeed } from '../fetch.ts'
import { type LonLat, readGeometry, representativePoint } from '../formats/geometry.ts'

const ZONES = 'https://api.weather.gov/zones'
/** Requests for zones in one poll; a cold start needs about 800. */
const MAX_REQUESTS = 20
/** As many as are in use on a bad day, several times over. All that exist are about 9,000. */
const MAX_KNOWN = 4000
const RETRY_MS = 6 * 60 * 60_000

/**
 * Where zones lie, by kind and code, e.g. `forecast/CAZ567`: longitude and latitude, or for one that could not
 * be located the time in ms from which it is asked for again.
 */
export const KnownZones = z.record(z.string(), z.tuple([z.number(), z.number()]).or(z.number()))
export type KnownZones = z.infer<typeof KnownZones>

const Feature = z.object({
  geometry: z.union([Geometry, z.object({ geometries: z.array(Geometry) })]).nullish(),
})

/** The zones of an alert, from the addresses in `affectedZones` or else its UGC codes. */
export function zonesOf(affected: readonly string[], ugc: readonly string[]): string[] {
  const named = affected.flatMap((url) => {
    return /\/zones\/([a-z]{4,9}\/[A-Z]{2}[CZ]\d{3})$/.exec(url)?.[1] ?? []
  })
  if (named.length > 0) return [...new Set(named)]
  const coded = ugc
    .filter((code) => /^[A-Z]{2}[CZ]\d{3}$/.test(code))
    .map((code) => `${code[2] === 'C' ? 'county' : 'forecast'}/${code}`)
  return [...new Set(coded)]
}

/** Where those of the zones lie that are known. */
export function locate(zones: readonly string[], known: KnownZones): LonLat[] {
  return zones.flatMap((zone) => {
    const place = known[zone]
    return Array.isArray(place) ? [place] : []
  })
}

/**
 * Asks for up to 20 of the wanted zones that are not known, in their order, one after the other. Returns the
 * zones now known, what failed, and whether some are still to be asked for.
 */
export async function fetchZones(
  wanted: readonly string[],
  known: KnownZones,
  input: PollInput,
): Promise<{ known: KnownZones; failed: Rejected[]; is_complete: boolean }> {
  const now = input.now.getTime()
  const next = { ...known }
  const failed: Rejected[] = []
  const missing = [...new Set(wanted)].filter((zone) => {
    const place = known[zone]
    return place === undefined || (typeof place === 'number' && place <= now)
  })
  for (const zone of missing.slice(0, MAX_REQUESTS)) {
    const item = `zones/${zone}`
    try {
      const fetched = await fetchFeed(`${ZONES}/${zone}`, {
        ...input,
        accept: 'application/geo+json',
      })
      const place = fetched.not_modified ? null : centroidOf(fetched.json)
      next[zone] = place ?? now + RETRY_MS
      if (!place) failed.push({ item, reason: 'geometry: is missing or no place' })
    } catch (error) {
      if (!isFeedError(error)) throw error
      failed.push({ item, reason: error.message })
      if (error.code === 'rate_limited' || error.code === 'unreachable') break
      next[zone] = now + RETRY_MS
    }
  }
  return {
    known: within(next, new Set(wanted)),
    failed,
    is_complete: missing.every((zone) => next[zone] !== undefined),
  }
}

function centroidOf(json: unknown): LonLat | null {
  const read = Feature.safeParse(json)
  const geometry = read.data?.geometry
  if (!geometry) return null
  try {
    const parts = 'geometries' in geometry ? geometry.geometries : [geometry]
    const [part] = parts.map(readGeometry)
    const point = part && representativePoint(part)
    return point ? [round(point[0]), round(point[1])] : null
  } catch {
    return null
  }
}

/** Zones that nothing names now are forgotten first. */
function within(known: KnownZones, wanted: ReadonlySet<string>): KnownZones {
  const entries = Object.entries(known)
  if (entries.length <= MAX_KNOWN) return known
  const in_use = entries.filter(([zone]) => wanted.has(zone))
  const others = entries.filter(([zone]) => !wanted.has(zone))
  return Object.fromEntries([...in_use, ...others].slice(0, MAX_KNOWN))
}

const round = (degrees: number) => Math.round(degrees * 1e3) / 1e3
