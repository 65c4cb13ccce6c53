import { z } from 'zod'
import { Geometry } from '../../shared/schemas/event.ts'
import {
  type Feed,
  type FeedResult,
  feedError,
  type Normalised,
  normaliseEach,
  type PollInput,
  type Rejected,
  reject,
} from './feed.ts'
import { fetchFeed, parseJson, pauseFor } from './fetch.ts'
import { brief, type CapAlert, firstValue, readCapJson, timeOf } from './formats/cap.ts'
import {
  capEvent,
  codesOf,
  type Place,
  placeOfPoints,
  refuseCap,
  severityOfCap,
} from './formats/cap-event.ts'
import {
  countVertices,
  MAX_VERTICES,
  readGeometry,
  representativePoint,
} from './formats/geometry.ts'
import { endsHazard, readVtec, subjectOf } from './formats/vtec.ts'
import { AlertMemory, followMessages, type Message } from './memory/alert-memory.ts'
import { fetchZones, KnownZones, locate, zonesOf } from './memory/nws-zones.ts'

const ACTIVE = 'https://api.weather.gov/alerts/active?status=actual'
const INTERVAL_SECONDS = 60
const MAX_POLL_SECONDS = 15 * 60
/** A busy day has about 1,200; a larger answer is not of the kind that this feed was built for. */
const MAX_ALERTS = 10_000

const Collection = z.object({ features: z.array(z.unknown()) })
const Feature = z.object({
  geometry: Geometry.nullish(),
  properties: z.looseObject({
    affectedZones: z.array(z.string()).nullish().catch(null),
    ends: z.string().nullish(),
    '@id': z.string().nullish().catch(null),
  }),
})
type Feature = z.infer<typeof Feature>

/** What a broken alert may still say of itself. */
const Named = z.object({
  properties: z.object({
    id: z.string(),
    references: z.array(z.object({ identifier: z.string() })).catch([]),
  }),
})

const State = z.object({
  etag: z.string().optional(),
  last_modified: z.string().optional(),
  /** Alerts still wait for their zones, so that the next answer must come in full. */
  is_waiting: z.boolean().default(false),
  zones: KnownZones.default({}),
  memory: AlertMemory.default({ open: {}, closed: {} }),
})
type State = z.infer<typeof State>

/** The active alerts of the U.S. National Weather Service. */
export const nws: Feed = {
  source: 'nws',
  title: 'NWS alerts',
  attribution: 'Weather alerts: U.S. National Weather Service',
  types: ['weather', 'storm', 'flood', 'wildfire', 'tsunami', 'volcano', 'earthquake', 'other'],
  interval_seconds: INTERVAL_SECONDS,
  // The States with their waters, Puerto Rico and Hawaii; the Aleutians; the islands around Guam; Samoa.
  region: () => [
    [-180, 5, -50, 80],
    [165, 45, 180, 65],
    [125, 0, 180, 25],
    [-180, -20, -160, 0],
  ],
  poll,
  normalise: (text, { now }) => {
    const read = readMessages(readItems(parseJson(text)), {})
    const { memory } = State.parse({})
    const followed = followMessages(memory, read.messages, { now, prefix: 'nws:' })
    return { events: followed.events, rejected: [...read.rejected, ...followed.rejected] }
  },
}

async function poll(input: PollInput): Promise<FeedResult> {
  const state = State.catch(State.parse({})).parse(input.state)
  const fetched = await fetchFeed(ACTIVE, {
    ...input,
    accept: 'application/geo+json',
    validators: state.is_waiting ? {} : state,
  })
  const pause = pauseFor(fetched.max_age_seconds, INTERVAL_SECONDS, MAX_POLL_SECONDS)
  if (fetched.not_modified) {
    return { events: [], state: input.state, not_modified: true, rejected: [], ...pause }
  }
  const items = readItems(fetched.json)
  const zones = await fetchZones(wantedZones(items, state.zones), state.zones, input)
  const read = readMessages(items, zones.known)
  const followed = followMessages(state.memory, read.messages, {
    now: input.now,
    prefix: 'nws:',
    listing: { unread: read.unread },
  })
  const next: State = {
    ...fetched.validators,
    is_waiting: !zones.is_complete,
    zones: zones.known,
    memory: followed.memory,
  }
  return {
    events: followed.events,
    state: next,
    not_modified: false,
    rejected: [...read.rejected, ...followed.rejected, ...zones.failed],
    ...pause,
  }
}

/** An alert, or why it is none. `names` are its own and those of the messages that it replaces. */
type Item = { names: string[]; rejected?: Rejected; feature?: Feature; alert?: CapAlert }

function readItems(json: unknown): Item[] {
  const collection = Collection.safeParse(json)
  if (!collection.success) {
    throw feedError('not_json', 'answered with JSON that is not a FeatureCollection')
  }
  const { features } = collection.data
  if (features.length > MAX_ALERTS) {
    throw feedError('too_large', `answered ${features.length} alerts, more than ${MAX_ALERTS}`)
  }
  return features.map((feature, index) => readItem(feature, `#${index + 1}`))
}

function readItem(json: unknown, position: string): Item {
  const names = namesIn(json)
  const item = names[0] ?? position
  const read = Feature.safeParse(json)
  if (!read.success) return { names, ...reject(item, read.error) }
  try {
    return { names, feature: read.data, alert: readCapJson(read.data.properties) }
  } catch (error) {
    return { names, ...reject(item, error instanceof Error ? error.message : String(error)) }
  }
}

type Read = {
  messages: Message[]
  rejected: Rejected[]
  /** The names of messages that were rejected, and of those that they replace. */
  unread: string[]
}

function readMessages(items: readonly Item[], zones: KnownZones): Read {
  const messages: Message[] = []
  const unread: string[] = []
  const { rejected } = normaliseEach(items, ({ names, rejected, feature, alert }) => {
    const before = messages.length
    const results = feature && alert ? attempt(feature, alert) : []
    if (messages.length === before) unread.push(...names)
    return rejected ? [{ rejected }] : results

    function attempt(feature: Feature, alert: CapAlert): Normalised[] {
      try {
        return readAlert(feature, alert, { zones, messages })
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        return [reject(alert.identifier, reason)]
      }
    }
  })
  return { messages, rejected, unread }
}

/** Its message is added to `messages`; only what is rejected is returned. */
function readAlert(
  feature: Feature,
  alert: CapAlert,
  { zones, messages }: { zones: KnownZones; messages: Message[] },
): Normalised[] {
  const refusal = refuseCap(alert)
  if (refusal) return [reject(alert.identifier, refusal)]
  const [info] = alert.infos
  const vtec = readVtec(info?.parameters ?? [])
  if (vtec.some(({ product }) => product === 'T')) {
    return [reject(alert.identifier, 'VTEC: is that of a test')]
  }
  const subject = subjectOf(vtec)
  const message = {
    name: alert.identifier,
    references: [...alert.references, ...expiredReferences(alert)],
    sent_at: alert.sent,
    subject,
  }
  if (alert.msg_type.toLowerCase() === 'cancel' || endsHazard(vtec)) {
    messages.push({ ...message, event: null })
    return []
  }
  const results = capEvent(alert, {
    source: 'nws',
    id: `nws:${alert.identifier}`,
    subject,
    url: feature.properties['@id'] ?? null,
    place: placeOf(feature, alert, zones),
    ...endOf(feature),
  })
  return results.flatMap((result) => {
    if ('rejected' in result) return [result]
    // Only what says that it begins has no earlier message; others without references follow their VTEC.
    const is_new = vtec.every(({ action }) => action === 'NEW')
    messages.push({ ...message, subject: is_new ? null : subject, event: result.event })
    return []
  })
}

/** `ends` is when the hazard ends; `expires`, when the message lapses, is used where it is null. */
function endOf({ properties }: Feature): { ends_at?: string } {
  const ends_at = timeOf('ends', properties.ends ?? '')
  return ends_at === null ? {} : { ends_at }
}

/** `sender,identifier,sent` of older messages, in `parameters.expiredReferences`. */
function expiredReferences({ infos: [info] }: CapAlert): string[] {
  const text = firstValue(info?.parameters ?? [], 'expiredReferences') ?? ''
  return text.split(/\s+/).flatMap((reference) => reference.split(',').at(-2) || [])
}

function placeOf({ geometry, properties }: Feature, alert: CapAlert, zones: KnownZones): Place {
  if (geometry) {
    const shape = readGeometry(geometry)
    const count = countVertices(shape)
    const point = representativePoint(shape)
    if (count <= MAX_VERTICES) return { point, geometry: shape, problems: [] }
    const problem = `geometry: has ${count} positions, more than ${MAX_VERTICES}; only the point is kept`
    return { point, geometry: null, problems: [problem] }
  }
  const wanted = zonesOf(properties.affectedZones ?? [], ugcOf(alert))
  const points = locate(wanted, zones)
  if (points.length === 0) {
    const codes = wanted.length > 0 ? brief(wanted.join(', ')) : codesOf(areasOf(alert))
    throw new Error(`no-geometry: no polygon, and no zone of it is located yet; ${codes}`)
  }
  const open = wanted.length - points.length
  const problem = `affectedZones: ${open} of ${wanted.length} zones are not located yet`
  return placeOfPoints(points, open > 0 ? [problem] : [])
}

const areasOf = ({ infos }: CapAlert) => infos.flatMap(({ areas }) => areas)

function ugcOf(alert: CapAlert): string[] {
  return areasOf(alert)
    .flatMap(({ geocodes }) => geocodes)
    .flatMap(([name, value]) => (name === 'UGC' ? value : []))
}

/** Zones to ask for: first those of the most severe alerts of which no zone is known. */
function wantedZones(items: readonly Item[], known: KnownZones): string[] {
  const alerts = items.flatMap(({ feature, alert }) => {
    if (!feature || !alert || feature.geometry) return []
    const zones = zonesOf(feature.properties.affectedZones ?? [], ugcOf(alert))
    const [info] = alert.infos
    const severity = info ? severityOfCap(info) : 0
    return [{ zones, severity, is_dark: locate(zones, known).length === 0 }]
  })
  alerts.sort((a, b) => Number(b.is_dark) - Number(a.is_dark) || b.severity - a.severity)
  // One zone of each alert first, so that as many as possible are seen at once.
  const first = alerts.filter(({ is_dark }) => is_dark).flatMap(({ zones: [zone] }) => zone ?? [])
  return [...new Set([...first, ...alerts.flatMap(({ zones }) => zones)])]
}

/** The name of a message and of those that it replaces, however broken the rest of it is. */
function namesIn(feature: unknown): string[] {
  const { data } = Named.safeParse(feature)
  if (!data) return []
  const { id, references } = data.properties
  return [id, ...references.map(({ identifier }) => identifier)].filter((name) => name !== '')
}
