import { z } from 'zod'
import type { NormalisedEvent } from '../../shared/schemas/event.ts'
import {
  type Content,
  type Feed,
  type FeedError,
  type FeedResult,
  feedError,
  type Normalised,
  normaliseEach,
  type PollInput,
  reject,
  severityOfMagnitude,
  toEvent,
} from './feed.ts'
import { fetchFeed, parseJson, pauseFor } from './fetch.ts'
import { instantOfIso } from './formats/times.ts'

const SEARCH = 'https://www.seismicportal.eu/fdsnws/event/1/query'
const STANDING_ORDER = 'wss://www.seismicportal.eu/standing_order/websocket'
const INTERVAL_SECONDS = 60
const LIMIT = 1000
const MAX_PAGES = 5
const DAY_MS = 24 * 60 * 60_000
const FIRST_LOOK_BACK_MS = DAY_MS
/** After an outage. */
const MAX_LOOK_BACK_MS = 7 * DAY_MS
/** Earthquakes are revised for days. */
const WINDOW_MS = 30 * DAY_MS
/** A revision may be published a little after the time that it states. */
const OVERLAP_MS = 5 * 60_000
/** The most that anything but an earthquake gets. */
const OTHER_CEILING = 20

const Feature = z.object({
  properties: z.object({
    unid: z.string().regex(/^\S+$/),
    source_id: z.union([z.string(), z.number()]).nullish(),
    lastupdate: z.string(),
    time: z.string(),
    flynn_region: z.string().nullish(),
    lat: z.number(),
    lon: z.number(),
    depth: z.number().nullish(),
    evtype: z.string().nullish(),
    mag: z.number().nullish(),
  }),
})
type Properties = z.infer<typeof Feature>['properties']

const Answer = z.object({ features: z.array(z.unknown()) })
const Frame = z.object({ action: z.string(), data: z.unknown() })

const State = z.object({
  updated_after: z.iso.datetime().nullable(),
  /** When it was first polled: what happened long before is no news, however late it is revised. */
  watching_since: z.iso.datetime(),
})
type State = z.infer<typeof State>

/** The earthquakes of the European-Mediterranean Seismological Centre, by its search service. */
export const emsc: Feed = {
  source: 'emsc',
  title: 'EMSC earthquakes',
  attribution: 'Earthquake data: EMSC (www.emsc-csem.org) and contributing networks',
  types: ['earthquake', 'other'],
  ceilings: { other: OTHER_CEILING },
  interval_seconds: INTERVAL_SECONDS,
  poll,
  stream: {
    connections: () => [{ name: 'the websocket of seismicportal.eu', url: STANDING_ORDER }],
    createReader:
      () =>
      (frame, { item }) =>
        normaliseEach([frame], () => normaliseEmsc(unframed(parseJson(frame)), item)),
    silence_seconds: 120,
    is_often_quiet: true,
  },
  normalise,
}

/** Turns a feature of the search or of a websocket frame into an event, or returns why it cannot be one. */
export function normaliseEmsc(feature: unknown, position = '#1'): Normalised {
  const read = Feature.safeParse(feature)
  if (!read.success) return reject(idOf(feature) ?? position, read.error)
  const { properties } = read.data
  const { unid, source_id, mag, depth } = properties
  return toEvent(
    {
      id: `emsc:${unid}`,
      source: 'emsc',
      type: isQuake(properties) ? 'earthquake' : 'other',
      title: title(properties),
      // The third coordinate is minus the depth, so the properties are read instead.
      lat: properties.lat,
      lon: properties.lon,
      ts: instantOfIso(properties.time),
      severity: severity(properties),
      url: source_id
        ? `https://www.emsc-csem.org/Earthquake_information/earthquake.php?id=${encodeURIComponent(String(source_id))}`
        : null,
      magnitude: mag ?? null,
      depth_km: depth ?? null,
      revised_at: instantOfIso(properties.lastupdate),
    },
    unid,
  )
}

/** The answer of a search, a single feature, or frames of the websocket, one a line. */
function normalise(text: string): Content {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length > 1 && lines.every((line) => /^\s*\{"action"/.test(line))) {
    return normaliseEach(lines, (line, position) =>
      normaliseEmsc(unframed(parseJson(line)), position),
    )
  }
  const json = unframed(parseJson(text))
  const answer = Answer.safeParse(json)
  if (answer.success) return normaliseEach(answer.data.features, normaliseEmsc)
  if (!Feature.safeParse(json).success) throw notGeoJson()
  return normaliseEach([json], normaliseEmsc)
}

function unframed(json: unknown): unknown {
  const frame = Frame.safeParse(json)
  return frame.success ? frame.data.data : json
}

function notGeoJson(): FeedError {
  return feedError('not_json', 'answered with JSON that is not a FeatureCollection')
}

function idOf(feature: unknown): string | undefined {
  return z.object({ id: z.string().min(1) }).safeParse(feature).data?.id
}

/**
 * The kind is two letters: known or suspected, then what it is. Earthquakes, induced ones and nuclear tests
 * count by their magnitude; blasts, rock bursts and landslides are at most 20.
 */
function severity({ mag, evtype }: Properties): number {
  const by_magnitude = severityOfMagnitude(mag)
  const counts = evtype == null || /^.[ein]/.test(evtype)
  return counts ? by_magnitude : Math.min(by_magnitude, OTHER_CEILING)
}

function isQuake({ evtype }: Properties): boolean {
  return evtype == null || /^.[ei]/.test(evtype)
}

function title({ mag, flynn_region, lat, lon }: Properties): string {
  const where = flynn_region?.trim() || `${lat.toFixed(2)}, ${lon.toFixed(2)}`
  return `${mag == null ? 'Magnitude unknown' : `M ${mag.toFixed(1)}`} - ${where}`
}

async function poll(input: PollInput): Promise<FeedResult> {
  const state = State.catch({
    updated_after: null,
    watching_since: input.now.toISOString(),
  }).parse(input.state)
  const query = new URLSearchParams({
    format: 'json',
    orderby: 'time',
    start: new Date(windowStart(state, input.now)).toISOString(),
    updatedafter: new Date(lookBack(state, input.now)).toISOString(),
    limit: String(LIMIT),
  })
  const content: Content = { events: [], rejected: [] }
  let wait_seconds = 0
  for (let page = 0; page < MAX_PAGES; page++) {
    query.set('offset', String(1 + page * LIMIT))
    const fetched = await fetchFeed(`${SEARCH}?${query}`, { ...input, may_be_empty: true })
    wait_seconds = fetched.max_age_seconds
    const features = fetched.not_modified ? [] : featuresOf(fetched.json)
    const { events, rejected } = normaliseEach(features, normaliseEmsc)
    content.events.push(...events)
    content.rejected.push(...rejected)
    if (features.length < LIMIT) break
    if (page + 1 === MAX_PAGES) {
      const reason = `features: more than ${MAX_PAGES * LIMIT} changed; the oldest were not fetched`
      content.rejected.push({ item: 'search', reason })
    }
  }
  return {
    ...content,
    state: { ...state, updated_after: latest(content.events, state) },
    not_modified: false,
    ...pauseFor(wait_seconds, INTERVAL_SECONDS),
  }
}

function windowStart({ watching_since }: State, now: Date): number {
  return Math.max(now.getTime() - WINDOW_MS, Date.parse(watching_since) - FIRST_LOOK_BACK_MS)
}

function lookBack({ updated_after }: State, now: Date): number {
  if (updated_after === null) return now.getTime() - FIRST_LOOK_BACK_MS
  // A time in the future would hide everything until then.
  const known = Math.min(Date.parse(updated_after), now.getTime())
  return Math.max(known - OVERLAP_MS, now.getTime() - MAX_LOOK_BACK_MS)
}

function featuresOf(json: unknown): unknown[] {
  // Nothing changed: 204 No Content.
  if (json === null) return []
  const answer = Answer.safeParse(json)
  if (!answer.success) throw notGeoJson()
  return answer.data.features
}

function latest(events: readonly NormalisedEvent[], { updated_after }: State): string | null {
  const times = events.flatMap(({ revised_at }) => revised_at ?? [])
  return [updated_after ?? [], times].flat().sort().at(-1) ?? null
}
