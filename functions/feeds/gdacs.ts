import { z } from 'zod'
import type { NormalisedEvent } from '../../shared/schemas/event.ts'
import {
  type Content,
  type Feed,
  type FeedResult,
  feedError,
  isFeedError,
  normaliseEach,
  type PollInput,
  type Rejected,
} from './feed.ts'
import { fetchEach, fetchText, parseJson, pauseFor, Validators } from './fetch.ts'
import {
  type Assessed,
  type Assessment,
  nameOf,
  normaliseFeature,
  normaliseItem,
} from './formats/gdacs-item.ts'
import { childOf, childrenOf, parseXml } from './formats/xml.ts'
import { areasOf, Footprints, fetchFootprints } from './memory/gdacs-footprints.ts'
import { closeMissing, OpenEvents, retractMissing } from './memory/open-events.ts'

/** What stands now, and everything of the last day. */
const ADDRESSES = {
  standing: 'https://www.gdacs.org/xml/rss.xml',
  day: 'https://www.gdacs.org/xml/rss_24h.xml',
} as const
/** Asked after an outage as well: earthquakes of the days before are in no other feed. */
const WEEK = 'https://www.gdacs.org/xml/rss_7d.xml'
const INTERVAL_SECONDS = 6 * 60
/** The feed is rebuilt every few minutes, so earthquakes close to the edge of the day may be missing. */
const WATCHED_MS = 23 * 60 * 60_000

const State = z.object({
  validators: z.record(z.string(), Validators).default({}),
  /** The ids in the last answer of each address: they still stand while it is unchanged. */
  listed: z.record(z.string(), z.array(z.string())).default({}),
  /** What stands, without footprints. */
  open: OpenEvents.default({}),
  quakes: OpenEvents.default({}),
  /** The time of each drought and what else it said. */
  droughts: z.record(z.string(), z.object({ ts: z.string(), said: z.string() })).default({}),
  footprints: Footprints.default({}),
})
type State = z.infer<typeof State>

/** The Global Disaster Alert and Coordination System: its RSS feeds, and footprints of grave events. */
export const gdacs: Feed = {
  source: 'gdacs',
  title: 'GDACS disaster alerts',
  attribution: 'GDACS, © European Union',
  types: ['earthquake', 'storm', 'flood', 'volcano', 'drought', 'wildfire', 'tsunami', 'other'],
  ceilings: {
    ...{ earthquake: 90, flood: 90, volcano: 90, drought: 90 },
    ...{ wildfire: 90, tsunami: 90, other: 90 },
  },
  interval_seconds: INTERVAL_SECONDS,
  poll,
  normalise,
}

/** RSS, the list of events, an event, an episode, or the geometry of one. */
function normalise(text: string): Content {
  if (/^[\s\ufeff\u00ef\u00bb\u00bf]*</.test(text))
    return normaliseEach(itemsOf(text), normaliseItem)
  return normaliseEach(groupsOf(parseJson(text)), (features, position) => {
    const areas = areasOf(features)
    const others = features.filter((feature) => areasOf([feature]).length === 0)
    if (others.length === 0) throw new Error('geometry: has areas but no Point_Centroid')
    return others.map((feature) => normaliseFeature(feature, position, areas))
  })
}

function itemsOf(text: string) {
  // Its byte order mark has been seen encoded twice.
  const root = parseXml(text.replace(/^(\ufeff|\u00ef\u00bb\u00bf)+/, ''))
  const channel = childOf(root, 'channel')
  if (root.name !== 'rss' || !channel) {
    throw feedError('unreadable', 'answered with XML that is not an RSS channel')
  }
  return childrenOf(channel, 'item')
}

const Collection = z.object({ features: z.array(z.unknown()) })
const Class = z.object({ properties: z.object({ Class: z.string() }) })

/** The features of an answer by their event: the areas of a footprint belong to its centroid. */
function groupsOf(json: unknown): unknown[][] {
  const collection = Collection.safeParse(json)
  if (!collection.success && nameOf(json) === undefined) {
    throw feedError('not_json', 'answered with JSON that is not a FeatureCollection')
  }
  const groups = new Map<string, unknown[]>()
  for (const [index, feature] of (collection.data?.features ?? [json]).entries()) {
    // Lines and points along the track of a storm are no items of their own.
    const name = Class.safeParse(feature).data?.properties.Class ?? ''
    if (/^(Line_|Point_(?!Centroid))/i.test(name)) continue
    const key = nameOf(feature) ?? `#${index}`
    const group = groups.get(key)
    if (group) group.push(feature)
    else groups.set(key, [feature])
  }
  return [...groups.values()]
}

async function poll(input: PollInput): Promise<FeedResult> {
  const state = State.catch(State.parse({})).parse(input.state)
  const urls = Object.values(ADDRESSES)
  const fetched = await fetchEach(urls, { ...input, validators: state.validators })
  const read = readAll(fetched.answers)
  const missed = await readMissed(input)
  for (const [id, item] of missed.assessed) {
    if (!read.assessed.has(id)) read.assessed.set(id, item)
  }
  const rejected = [...fetched.failed, ...read.rejected, ...missed.rejected]
  if (read.unreadable === fetched.answers.length) {
    throw feedError('unreadable', rejected.at(-1)?.reason ?? 'answered nothing')
  }
  const listed = { ...state.listed, ...read.listed }
  const next: State = {
    ...state,
    validators: { ...state.validators, ...fetched.validators },
    listed,
  }
  for (const url of read.failed) delete next.validators[url]

  const steady = keepTimes([...read.assessed.values()], state.droughts)
  const traced = await fetchFootprints(steady, state.footprints, input)
  rejected.push(...traced.rejected)
  const events = steady.map(({ event }) => trace(event, traced.footprints))

  const unread = Object.values(listed).flat()
  const standing = steady.map(({ event }) => event).filter(({ type }) => type !== 'earthquake')
  const closed = closeMissing(state.open, standing, { unread })
  const is_complete = fetched.failed.length === 0 && read.failed.length === 0
  if (is_complete && !fetched.not_modified) {
    next.open = closed.open
    events.push(...closed.ended.map((event) => trace(event, state.footprints)))
  } else {
    const seen = standing.filter(({ status }) => status === 'active')
    next.open = {
      ...state.open,
      ...Object.fromEntries(seen.map((event) => [event.id, { event, missing: 0 }])),
    }
  }
  if (read.day) {
    const since = new Date(input.now.getTime() - WATCHED_MS).toISOString()
    const quakes = read.day.filter(({ type }) => type === 'earthquake')
    const { known, retracted } = retractMissing(state.quakes, quakes, { since, unread })
    next.quakes = known
    events.push(...retracted)
  }
  const kept = new Set([...unread, ...Object.keys(next.open)])
  next.droughts = only(kept, { ...state.droughts, ...saidOf(steady) })
  next.footprints = only(kept, traced.footprints)
  const is_quiet = fetched.not_modified && rejected.length === 0
  return {
    events,
    rejected,
    state: is_quiet ? input.state : next,
    not_modified: fetched.not_modified,
    ...pauseFor(fetched.max_age_seconds, INTERVAL_SECONDS),
  }
}

type Read = {
  assessed: Map<string, Assessed>
  /** The events of the last day; null if that answer was unchanged or failed. */
  day: NormalisedEvent[] | null
  listed: Record<string, string[]>
  rejected: Rejected[]
  failed: string[]
  unreadable: number
}

/** Reads the answers of the addresses. One that cannot be read does not affect the other. */
function readAll(answers: readonly { url: string; text: string | null }[]): Read {
  const read: Read = {
    ...{ assessed: new Map(), day: null, listed: {}, rejected: [], failed: [], unreadable: 0 },
  }
  for (const { url, text } of answers) {
    if (text === null) continue
    try {
      const items: Assessment[] = []
      const content = normaliseEach(itemsOf(text), (element, position) => {
        const item = normaliseItem(element, position)
        items.push(item)
        return item
      })
      for (const item of items) if ('event' in item) read.assessed.set(item.event.id, item)
      read.rejected.push(...content.rejected)
      read.listed[url] = [
        ...content.events.map(({ id }) => id),
        ...content.rejected.map(({ item }) => `gdacs:${item}`),
      ]
      if (url === ADDRESSES.day) read.day = content.events
    } catch (error) {
      if (!isFeedError(error)) throw error
      read.rejected.push({ item: new URL(url).pathname, reason: error.message })
      read.failed.push(url)
      read.unreadable += 1
    }
  }
  return read
}

/** What happened during an outage of more than a day; nothing when there was none. What it lacks has not ended. */
async function readMissed(input: PollInput): Promise<Pick<Read, 'assessed' | 'rejected'>> {
  const { now, last_success_at = null } = input
  if (!last_success_at || now.getTime() - last_success_at.getTime() < WATCHED_MS) {
    return { assessed: new Map(), rejected: [] }
  }
  try {
    const fetched = await fetchText(WEEK, input)
    return readAll([{ url: WEEK, text: fetched.not_modified ? null : fetched.text }])
  } catch (error) {
    if (!isFeedError(error)) throw error
    return {
      assessed: new Map(),
      rejected: [{ item: new URL(WEEK).pathname, reason: error.message }],
    }
  }
}

/** A drought that says the same keeps its time: that of an RSS item moves with each day. */
function keepTimes(items: readonly Assessed[], droughts: State['droughts']): Assessed[] {
  return items.map((item) => {
    const known = droughts[item.event.id]
    if (known?.said !== said(item.event)) return item
    return { ...item, event: { ...item.event, ts: known.ts } }
  })
}

function saidOf(items: readonly Assessed[]): State['droughts'] {
  const droughts = items.filter(({ type }) => type === 'DR')
  return Object.fromEntries(
    droughts.map(({ event }) => [event.id, { ts: event.ts, said: said(event) }]),
  )
}

function said({ title, lat, lon, severity, status }: NormalisedEvent): string {
  return JSON.stringify([title, lat, lon, severity, status])
}

function trace(event: NormalisedEvent, footprints: Footprints): NormalisedEvent {
  return { ...event, geometry: footprints[event.id]?.geometry ?? null }
}

function only<T>(ids: ReadonlySet<string>, record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([id]) => ids.has(id)))
}
