import { z } from 'zod'
import type { EventType, NormalisedEvent } from '../../shared/schemas/event.ts'
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
  reject,
  severityOfMagnitude,
  severityOfWind,
  toEvent,
} from './feed.ts'
import { fetchFeed, parseJson, pauseFor, Validators } from './fetch.ts'
import { toFootprint } from './formats/footprint.ts'
import { representativePoint } from './formats/geometry.ts'
import { instantOfIso } from './formats/times.ts'

const EVENTS = 'https://eonet.gsfc.nasa.gov/api/v3/events'
const INTERVAL_SECONDS = 15 * 60
const DAY_MS = 24 * 60 * 60_000
const RETRY_MS = 60 * 60_000
/** What stands for years would bring thousands: as long as events are kept. */
const OPEN_DAYS = 90
const CLOSED_DAYS = 30

const TYPES: Record<string, EventType> = {
  severeStorms: 'storm',
  wildfires: 'wildfire',
  volcanoes: 'volcano',
  floods: 'flood',
  drought: 'drought',
  earthquakes: 'earthquake',
  snow: 'weather',
  dustHaze: 'weather',
  tempExtremes: 'weather',
}
/** The severity of categories that no magnitude decides. */
const SEVERITIES: Record<string, number> = {
  ...{ volcanoes: 50, floods: 50, drought: 40, seaLakeIce: 10 },
}
const OTHER_SEVERITY = 30
const PRESCRIBED_SEVERITY = 10

const Observation = z.object({
  date: z.string(),
  type: z.string(),
  coordinates: z.unknown(),
  magnitudeValue: z.number().nullish(),
  magnitudeUnit: z.string().nullish(),
})
type Observation = z.infer<typeof Observation>

const Item = z.object({
  id: z.string().regex(/^EONET_\d+$/, 'must have the form EONET_<number>'),
  title: z.string().min(1),
  link: z.string().nullish(),
  closed: z.string().nullish(),
  categories: z.array(z.object({ id: z.string() })).min(1),
  sources: z.array(z.object({ url: z.string().nullish() })).nullish(),
  geometry: z.array(Observation).min(1, 'has no observation'),
})
type Item = z.infer<typeof Item>

const Answer = z.object({ events: z.array(z.unknown()) })
const Position = z.tuple([z.number(), z.number()], z.unknown())
const State = z.object({
  validators: Validators.default({}),
  /** When closed events are asked for next, in ms since 1970. */
  closed_due: z.number().default(0),
})
type State = z.infer<typeof State>

/** The natural events of NASA's Earth Observatory Natural Event Tracker. */
export const eonet: Feed = {
  source: 'eonet',
  title: 'NASA EONET natural events',
  attribution: 'NASA Earth Observatory Natural Event Tracker (EONET)',
  types: [
    ...(['storm', 'wildfire', 'volcano', 'flood', 'drought'] as const),
    ...(['earthquake', 'weather', 'other'] as const),
  ],
  ceilings: {
    ...{ wildfire: 70, volcano: 50, flood: 50, drought: 40 },
    ...{ weather: OTHER_SEVERITY, other: OTHER_SEVERITY },
  },
  interval_seconds: INTERVAL_SECONDS,
  poll,
  normalise,
}

function normaliseItem(item: unknown, position: string): Normalised {
  const read = Item.safeParse(item)
  if (!read.success) {
    const { data } = z.object({ id: z.string().min(1) }).safeParse(item)
    return reject(data?.id ?? position, read.error)
  }
  const event = read.data
  const dated = event.geometry.map((observed) => ({ observed, ts: instantOfIso(observed.date) }))
  const wrong = dated.find(({ ts }) => Number.isNaN(Date.parse(ts)) || !ts.endsWith('Z'))
  if (wrong) return reject(event.id, `geometry.date: "${wrong.observed.date}" is not a time`)
  // The list is not always in the order of time; of two at once the later one counts.
  const last = dated.reduce((a, b) => (b.ts >= a.ts ? b : a))
  const place = placeOf(last.observed)
  if ('reason' in place) return reject(event.id, place.reason)
  const category = event.categories[0]?.id ?? ''
  return toEvent(
    {
      id: `eonet:${event.id}`,
      source: 'eonet',
      type: TYPES[category] ?? 'other',
      title: event.title,
      ...place,
      ts: last.ts,
      severity: severity(event, category, last.observed),
      subject: `eonet:${event.id}`,
      status: event.closed == null ? 'active' : 'ended',
      url: event.link ?? event.sources?.[0]?.url ?? null,
    },
    event.id,
  )
}

type Place = Pick<NormalisedEvent, 'lat' | 'lon' | 'geometry'>

/** A point, or the middle of an area with its footprint. */
function placeOf({ type, coordinates }: Observation): Place | { reason: string } {
  if (type === 'Point') {
    const point = Position.safeParse(coordinates)
    if (!point.success) return { reason: 'geometry.coordinates: must be a position' }
    return { lon: point.data[0], lat: point.data[1], geometry: null }
  }
  if (type !== 'Polygon' && type !== 'MultiPolygon') {
    return { reason: `geometry.type: "${type}" is neither Point nor Polygon` }
  }
  const made = toFootprint([{ type, coordinates }])
  if ('reason' in made) return made
  const point = representativePoint(made.geometry)
  if (!point) return { reason: 'geometry.coordinates: has no area' }
  return { lon: point[0], lat: point[1], geometry: made.geometry }
}

function severity(event: Item, category: string, last: Observation): number {
  const { magnitudeValue: value, magnitudeUnit: unit } = last
  switch (category) {
    case 'severeStorms':
      return severityOfWind(unit?.toLowerCase() === 'kts' ? value : null)
    case 'earthquakes':
      return severityOfMagnitude(value)
    case 'wildfires':
      if (/^Prescribed Fire| RX\b/.test(event.title)) return PRESCRIBED_SEVERITY
      return severityOfAcres(unit?.toLowerCase() === 'acres' ? value : null)
    default:
      return SEVERITIES[category] ?? OTHER_SEVERITY
  }
}

function severityOfAcres(acres: number | null | undefined): number {
  if (acres == null || acres < 1000) return 30
  if (acres < 10_000) return 40
  return acres < 50_000 ? 60 : 70
}

function normalise(text: string): Content {
  const json = parseJson(text)
  const answer = Answer.safeParse(json)
  if (answer.success) return normaliseEach(answer.data.events, normaliseItem)
  if (!Item.safeParse(json).success) throw notEvents()
  return normaliseEach([json], normaliseItem)
}

function notEvents(): FeedError {
  return feedError('not_json', 'answered with JSON without a list of events')
}

async function poll(input: PollInput): Promise<FeedResult> {
  const now = input.now.getTime()
  const state = State.catch(State.parse({})).parse(input.state)
  const open = await fetchFeed(`${EVENTS}?status=open&days=${OPEN_DAYS}`, {
    ...input,
    validators: state.validators,
  })
  const content: Content = open.not_modified ? { events: [], rejected: [] } : read(open.json)
  const next: State = { ...state, ...(open.not_modified ? {} : { validators: open.validators }) }
  const is_closed_due = now >= state.closed_due
  if (is_closed_due) {
    next.closed_due = now + DAY_MS
    try {
      const closed = await fetchFeed(`${EVENTS}?status=closed&days=${CLOSED_DAYS}`, input)
      const { events, rejected } = closed.not_modified
        ? { events: [], rejected: [] }
        : read(closed.json)
      content.events.push(...events)
      content.rejected.push(...rejected)
    } catch (error) {
      if (!isFeedError(error)) throw error
      // What is open still counts.
      content.rejected.push({ item: 'closed events', reason: error.message })
      next.closed_due = now + Math.max(RETRY_MS, 1000 * (error.retry_after_seconds ?? 0))
    }
  }
  const not_modified = open.not_modified && !is_closed_due
  return {
    ...content,
    state: not_modified ? input.state : next,
    not_modified,
    ...pauseFor(open.max_age_seconds, INTERVAL_SECONDS),
  }
}

function read(json: unknown): Content {
  const answer = Answer.safeParse(json)
  if (!answer.success) throw notEvents()
  return normaliseEach(answer.data.events, normaliseItem)
}
