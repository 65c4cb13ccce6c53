import { z } from 'zod'
import type { EventType, NormalisedEvent } from '../../shared/event.ts'
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
  severityOfMagnitude,
  toEvent,
  toInstant,
} from './feed.ts'
import { type Fetched, fetchFeed, parseJson } from './fetch.ts'
import { Memory, type Snapshot, updateMemory, type Window } from './usgs-memory.ts'

const SUMMARY = 'https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary'
const INTERVAL_SECONDS = 60
/** all_day catches what the polls of all_hour missed, and late revisions. */
const DAY_INTERVAL_SECONDS = 15 * 60
const DAY_RETRY_SECONDS = 5 * 60
/** The most that anything but an earthquake gets: a quarry blast has a magnitude too. */
const OTHER_CEILING = 20
const MAX_POLL_SECONDS = 60 * 60

const Feature = z.object({
  id: z.string().regex(/^\S+$/),
  properties: z.object({
    mag: z.number().nullish(),
    place: z.string().nullish(),
    time: z.number(),
    updated: z.number().nullish(),
    url: z.string().nullish(),
    title: z.string().nullish(),
    status: z.string().nullish(),
    type: z.string().nullish(),
    alert: z.string().nullish(),
    ids: z.string().nullish(),
  }),
  // The third coordinate is the depth in km; it may be negative or null.
  geometry: z.object({ coordinates: z.tuple([z.number(), z.number()], z.unknown()) }),
})
type Properties = z.infer<typeof Feature>['properties']

const Summary = z.object({
  metadata: z.object({ generated: z.number(), count: z.number().optional() }).optional(),
  features: z.array(z.unknown()),
})

const Validators = z.object({ etag: z.string().optional(), last_modified: z.string().optional() })

const State = z.object({
  hour: Validators.default({}),
  day: Validators.default({}),
  /** When all_day is polled next, in ms since 1970. */
  day_due: z.number().default(0),
  memory: Memory.default({}),
})
type State = z.infer<typeof State>

/** The live summary feeds of the U.S. Geological Survey. */
export const usgs: Feed = {
  source: 'usgs',
  title: 'USGS earthquakes',
  attribution: 'Earthquake data: U.S. Geological Survey',
  types: ['earthquake', 'volcano', 'other'],
  ceilings: { volcano: OTHER_CEILING, other: OTHER_CEILING },
  interval_seconds: INTERVAL_SECONDS,
  poll,
  normalise,
}

/**
 * Turns a GeoJSON feature into an event, or returns why it cannot be one. A rejected feature is named by
 * its id, or else by its position.
 */
export function normaliseUsgs(feature: unknown, position = '#1'): Normalised {
  const read = Feature.safeParse(feature)
  if (!read.success) return reject(idOf(feature) ?? position, read.error)
  const { id, properties, geometry } = read.data
  const [lon, lat] = geometry.coordinates
  return toEvent(
    {
      id: `usgs:${id}`,
      source: 'usgs',
      type: eventType(properties.type),
      title: title(properties, lat, lon),
      lat,
      lon,
      ts: toInstant(properties.time),
      severity: severity(properties),
      status: properties.status?.toLowerCase() === 'deleted' ? 'retracted' : 'active',
      url: properties.url ?? null,
      magnitude: properties.mag ?? null,
      depth_km: depth(geometry.coordinates[2]),
      revised_at: properties.updated == null ? null : toInstant(properties.updated),
      aliases: (properties.ids ?? '')
        .split(',')
        .filter((alias) => /^\S+$/.test(alias))
        .map((alias) => `usgs:${alias}`),
    },
    id,
  )
}

/** A summary, the answer of a search, or a single event with its details. */
function normalise(text: string): Content {
  const json = parseJson(text)
  const summary = Summary.safeParse(json)
  if (summary.success) return normaliseEach(summary.data.features, normaliseUsgs)
  if (!Feature.safeParse(json).success) throw notGeoJson()
  return normaliseEach([json], normaliseUsgs)
}

function notGeoJson(): FeedError {
  return feedError('not_json', 'answered with JSON that is not a FeatureCollection')
}

function idOf(feature: unknown): string | undefined {
  return z.object({ id: z.string() }).safeParse(feature).data?.id
}

/**
 * (mag − 1.5) × 17, rounded, within 0–100. PAGER's impact alerts raise it: yellow to at least 60, orange
 * to 80, red to 100. Everything but earthquakes (quarry blasts, explosions …) is at most 20.
 */
function severity({ mag, alert, type }: Properties): number {
  const by_magnitude = severityOfMagnitude(mag)
  const by_impact = { yellow: 60, orange: 80, red: 100 }[alert?.toLowerCase() ?? ''] ?? 0
  const cap = eventType(type) === 'earthquake' ? 100 : OTHER_CEILING
  return Math.min(Math.max(by_magnitude, by_impact, 0), cap)
}

function depth(third: unknown): number | null {
  return typeof third === 'number' && Number.isFinite(third) ? third : null
}

function eventType(type: string | null | undefined): EventType {
  // Very old answers carry no type; they hold earthquakes only.
  if (type == null || type === 'earthquake') return 'earthquake'
  return type.replace('_', ' ') === 'volcanic eruption' ? 'volcano' : 'other'
}

function title({ title, mag, place }: Properties, lat: number, lon: number): string {
  if (title && place) return title.trim().slice(0, 500)
  const where = place?.trim() || `${lat.toFixed(2)}, ${lon.toFixed(2)}`
  return `${mag == null ? 'Magnitude unknown' : `M ${mag.toFixed(1)}`} - ${where}`.slice(0, 500)
}

async function poll(input: PollInput): Promise<FeedResult> {
  const now = input.now.getTime()
  const state = State.catch(State.parse({})).parse(input.state)
  const day_is_due = now >= state.day_due

  const hour = await attempt('hour', state, input)
  const is_welcome = !('error' in hour && hour.error.code === 'rate_limited')
  const day = day_is_due && is_welcome ? await attempt('day', state, input) : null
  // If only one of the two fails, the events of the other are still used.
  if ('error' in hour && (day === null || 'error' in day)) throw hour.error

  const memory = { ...state.memory }
  const events = new Map<string, NormalisedEvent>()
  const rejected: Rejected[] = []
  const next: State = { ...state, memory }
  let not_modified = true
  let wait_seconds = 0

  if (day) next.day_due = now + 1000 * dayWait(day)
  for (const [window, answer] of [['day', day] as const, ['hour', hour] as const]) {
    if (answer === null) continue
    if ('error' in answer) {
      rejected.push({ item: `all_${window}`, reason: answer.error.message })
      continue
    }
    if (window === 'hour') wait_seconds = answer.fetched.max_age_seconds
    if (answer.fetched.not_modified) continue
    not_modified = false
    next[window] = answer.fetched.validators
    const snapshot = readSummary(window, answer.fetched.json, rejected)
    for (const event of updateMemory(memory, snapshot)) events.set(event.id, newer(events, event))
  }

  const unchanged = not_modified && day === null
  return {
    events: [...events.values()],
    state: unchanged ? input.state : next,
    not_modified,
    rejected,
    ...(wait_seconds > INTERVAL_SECONDS
      ? { next_poll_seconds: Math.min(wait_seconds, MAX_POLL_SECONDS) }
      : {}),
  }
}

type Answer = { fetched: Fetched } | { error: FeedError }

async function attempt(window: Window, state: State, input: PollInput): Promise<Answer> {
  const url = `${SUMMARY}/all_${window}.geojson`
  try {
    const fetched = await fetchFeed(url, { ...input, validators: state[window] })
    if (!fetched.not_modified && !Summary.safeParse(fetched.json).success) {
      throw notGeoJson()
    }
    return { fetched }
  } catch (error) {
    if (!isFeedError(error)) throw error
    return { error }
  }
}

function dayWait(day: Answer): number {
  if ('fetched' in day) return DAY_INTERVAL_SECONDS
  return Math.max(day.error.retry_after_seconds ?? 0, DAY_RETRY_SECONDS)
}

function readSummary(window: Window, json: unknown, rejected: Rejected[]): Snapshot {
  const { metadata, features } = Summary.parse(json)
  const content = normaliseEach(features, normaliseUsgs)
  rejected.push(...content.rejected)
  return {
    window,
    events: content.events,
    unread: content.rejected.map(({ item }) => `usgs:${item}`),
    generated: metadata?.generated ?? 0,
    complete: metadata !== undefined && (metadata.count ?? features.length) === features.length,
  }
}

function newer(events: Map<string, NormalisedEvent>, event: NormalisedEvent): NormalisedEvent {
  const other = events.get(event.id)
  return other?.revised_at && event.revised_at && other.revised_at > event.revised_at
    ? other
    : event
}
