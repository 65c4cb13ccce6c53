import { z } from 'zod'
import { VERSION } from '../../shared/version.ts'
import {
  type Content,
  type Feed,
  type FeedError,
  type FeedResult,
  feedError,
  isFeedError,
  type Normalised,
  normaliseEach,
  type PollInput,
  type Rejected,
  reject,
} from './feed.ts'
import { fetchFeed, parseJson, pauseFor } from './fetch.ts'
import { toMmsi, toVesselEvent } from './formats/ais.ts'

const ADDRESS = 'https://meri.digitraffic.fi/api/ais/v1'
const INTERVAL_SECONDS = 60
const NAMES_EVERY_MS = 60 * 60_000
const NAMES_RETRY_MS = 10 * 60_000
/** Vessels stay in the list for years after they were heard last. */
const MAX_AGE_MS = 30 * 60_000
/** Positions that were received out of order. */
const OVERLAP_MS = 2 * 60_000
const MAX_NAMES = 25_000

const Feature = z.object({
  mmsi: z.number(),
  geometry: z.object({ coordinates: z.tuple([z.number(), z.number()], z.unknown()) }),
  properties: z.object({
    navStat: z.number().nullish(),
    /** When it was received; `timestamp` is only the second of the position. */
    timestampExternal: z.number(),
  }),
})
const Locations = z.object({ features: z.array(z.unknown()) })
const Vessels = z.array(z.unknown())
const Vessel = z.object({ mmsi: z.number(), name: z.string().nullish() })

const State = z.object({
  /** When the newest position was received, in ms since 1970. */
  newest: z.number().nullable().default(null),
  names: z.record(z.string(), z.string().max(60)).default({}),
  names_due: z.number().default(0),
})
type State = z.infer<typeof State>

/** The vessels that the coast stations of Finland hear. */
export const digitraffic: Feed = {
  source: 'digitraffic',
  title: 'Digitraffic vessels',
  attribution: 'Source: Fintraffic / digitraffic.fi, license CC 4.0 BY',
  types: ['vessel', 'aircraft'],
  // What the coast stations of Finland hear: the Baltic Sea.
  region: () => [[5, 50, 40, 72]],
  interval_seconds: INTERVAL_SECONDS,
  poll,
  normalise: (text, { now }) => readLocations(parseJson(text), { now, names: {} }),
}

async function poll(input: PollInput): Promise<FeedResult> {
  const now = input.now.getTime()
  const state = State.catch(State.parse({})).parse(input.state)
  const options = { ...input, headers: { 'digitraffic-user': user(input.contact) } }
  const oldest = now - MAX_AGE_MS
  const from = Math.max(oldest, Math.min(state.newest ?? oldest, now) - OVERLAP_MS)
  const fetched = await fetchFeed(`${ADDRESS}/locations?from=${from}`, options)
  const json = fetched.not_modified ? { features: [] } : fetched.json
  const rejected: Rejected[] = []
  const next: State = { ...state }
  if (now >= state.names_due) {
    try {
      next.names = namesIn(
        await fetchFeed(`${ADDRESS}/vessels?from=${now - 24 * 60 * 60_000}`, options),
        state,
      )
      next.names_due = now + NAMES_EVERY_MS
    } catch (error) {
      if (!isFeedError(error)) throw error
      next.names_due = now + NAMES_RETRY_MS
      rejected.push({ item: 'vessels', reason: error.message })
    }
  }
  const content = readLocations(json, { now: input.now, names: next.names })
  const times = content.events.map(({ ts }) => Date.parse(ts))
  next.newest = times.reduce((newest, time) => Math.max(newest, time), state.newest ?? oldest)
  return {
    events: content.events,
    rejected: [...rejected, ...content.rejected],
    state: next,
    not_modified: fetched.not_modified,
    ...pauseFor(fetched.max_age_seconds, INTERVAL_SECONDS),
  }
}

/** Digitraffic asks who calls. */
function user(contact: string | undefined): string {
  return `${contact ?? 'self-hosted'}/Watchpost ${VERSION}`
}

function readLocations(
  json: unknown,
  { now, names }: { now: Date; names: Record<string, string> },
): Content {
  const answer = Locations.safeParse(json)
  if (!answer.success) throw notLocations()
  return normaliseEach(answer.data.features, (feature, position) =>
    normaliseFeature(feature, position, { now, names }),
  )
}

function notLocations(): FeedError {
  return feedError('not_json', 'answered with JSON that is not a FeatureCollection')
}

function normaliseFeature(
  feature: unknown,
  position: string,
  { now, names }: { now: Date; names: Record<string, string> },
): Normalised {
  const read = Feature.safeParse(feature)
  if (!read.success) return reject(position, read.error)
  const { mmsi, geometry, properties } = read.data
  const [lon, lat] = geometry.coordinates
  const { timestampExternal: at, navStat } = properties
  const text = toMmsi(mmsi) ?? String(mmsi)
  if (at < now.getTime() - MAX_AGE_MS) {
    return reject(text, 'timestampExternal: the vessel was last heard more than 30 minutes ago')
  }
  return toVesselEvent({
    source: 'digitraffic',
    mmsi: text,
    name: names[text] ?? null,
    // 91 and 181 stand for "not available".
    lat: Math.abs(lat) > 90 ? null : lat,
    lon: Math.abs(lon) > 180 ? null : lon,
    at,
    status: navStat ?? null,
  })
}

type Fetched = Awaited<ReturnType<typeof fetchFeed>>

/** The names by MMSI; those that are known stay while the answer has none. */
function namesIn(fetched: Fetched, { names }: State): Record<string, string> {
  if (fetched.not_modified) return names
  const vessels = Vessels.safeParse(fetched.json)
  if (!vessels.success)
    throw feedError('not_json', 'vessels: answered with JSON that is not a list')
  const found = vessels.data.slice(0, MAX_NAMES).flatMap((json) => {
    const vessel = Vessel.safeParse(json)
    const mmsi = vessel.success ? toMmsi(vessel.data.mmsi) : null
    const name = vessel.data?.name?.trim().slice(0, 60)
    return mmsi && name ? [[mmsi, name] as const] : []
  })
  return Object.fromEntries(found)
}
