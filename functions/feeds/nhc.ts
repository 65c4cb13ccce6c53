import { z } from 'zod'
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
  severityOfWind,
  toEvent,
} from './feed.ts'
import { fetchFeed, parseJson, pauseFor, Validators } from './fetch.ts'
import { instantOfIso, instantOfRfc822 } from './formats/times.ts'
import { childOf, childrenOf, parseXml, textOf, type XmlElement } from './formats/xml.ts'
import { closeMissing, OpenEvents } from './memory/open-events.ts'

const STORMS = 'https://www.nhc.noaa.gov/CurrentStorms.json'
const INTERVAL_SECONDS = 10 * 60
const KNOTS_PER_MPH = 0.868976

/** The ATCF id, such as `al012020`. The bin (`AT1`) is reused and names no storm. */
const AtcfId = z
  .string()
  .regex(/^[a-z]{2}\d{6}$/i, 'must be an ATCF id such as al012020')
  .transform((id) => id.toLowerCase())
/** Numbers are written as text. */
const Numeric = z
  .union([z.number(), z.string().regex(/^\s*\d+(\.\d+)?\s*$/, 'must be a number')])
  .transform(Number)
  .nullish()

const Storm = z.object({
  id: AtcfId,
  name: z.string().nullish(),
  classification: z.string().nullish(),
  intensity: Numeric,
  latitudeNumeric: z.number(),
  longitudeNumeric: z.number(),
  lastUpdate: z.string(),
  publicAdvisory: z.object({ url: z.string().nullish() }).nullish(),
})

/** The words for the classes; what is none of them stands as it is. */
const CLASSES: Record<string, string> = {
  TD: 'Tropical Depression',
  TS: 'Tropical Storm',
  HU: 'Hurricane',
  MH: 'Major Hurricane',
  STD: 'Subtropical Depression',
  STS: 'Subtropical Storm',
  SD: 'Subtropical Depression',
  SS: 'Subtropical Storm',
  PTC: 'Potential Tropical Cyclone',
  PT: 'Post-Tropical Cyclone',
  PC: 'Post-Tropical Cyclone',
  EX: 'Post-Tropical Cyclone',
  TY: 'Typhoon',
}

const Answer = z.object({ activeStorms: z.array(z.unknown()) })
const State = z.object({ validators: Validators.default({}), open: OpenEvents.default({}) })

/** The tropical cyclones of the National Hurricane Center: Atlantic, eastern and central Pacific. */
export const nhc: Feed = {
  source: 'nhc',
  title: 'NHC tropical cyclones',
  attribution: 'NOAA / National Hurricane Center',
  types: ['storm'],
  // The Atlantic, and the Pacific up to 180°.
  region: () => [[-180, -10, 15, 75]],
  interval_seconds: INTERVAL_SECONDS,
  poll,
  normalise,
}

export function normaliseStorm(item: unknown, position: string): Normalised {
  const read = Storm.safeParse(item)
  if (!read.success) {
    const { data } = z.object({ id: z.string().min(1) }).safeParse(item)
    return reject(data?.id.toLowerCase() ?? position, read.error)
  }
  const storm = read.data
  return toStorm({
    ...storm,
    kind: CLASSES[storm.classification?.trim().toUpperCase() ?? ''] ?? storm.classification,
    knots: storm.intensity,
    lat: storm.latitudeNumeric,
    lon: storm.longitudeNumeric,
    ts: instantOfIso(storm.lastUpdate),
    url: storm.publicAdvisory?.url,
  })
}

/** An item of the RSS feed; null for those that are texts about a storm or about none. */
function normaliseItem(item: XmlElement, position: string): Normalised | null {
  const cyclone = childOf(item, 'nhc:Cyclone')
  if (!cyclone) return null
  const text = (name: string) => textOf(cyclone, `nhc:${name}`)
  const id = AtcfId.safeParse(text('atcf'))
  if (!id.success) return reject(position, `nhc:atcf: ${id.error.issues[0]?.message}`)
  const center = /^(-?\d+(?:\.\d+)?),\s*(-?\d+(?:\.\d+)?)$/.exec(text('center') ?? '')
  if (!center) return reject(id.data, 'nhc:center: must be a latitude and a longitude')
  const wind = text('wind')
  const mph = /^(\d+(?:\.\d+)?) ?mph$/i.exec(wind ?? '')
  if (wind !== undefined && !mph) return reject(id.data, 'nhc:wind: must be in mph')
  return toStorm({
    id: id.data,
    name: text('name'),
    kind: text('type'),
    // Winds are rounded to 5 mph and 5 knots.
    knots: mph ? Math.round((Number(mph[1]) * KNOTS_PER_MPH) / 5) * 5 : null,
    lat: Number(center[1]),
    lon: Number(center[2]),
    // The time in the block is a local one without a year.
    ts: instantOfRfc822(textOf(item, 'pubDate') ?? ''),
    url: textOf(item, 'link'),
  })
}

type Given = {
  id: string
  name?: string | null | undefined
  kind: string | null | undefined
  knots: number | null | undefined
  lat: number
  lon: number
  ts: string
  url: string | null | undefined
}

function toStorm({ id, name, kind, knots, lat, lon, ts, url }: Given): Normalised {
  return toEvent(
    {
      id: `nhc:${id}`,
      source: 'nhc',
      type: 'storm',
      title: `${kind?.trim() || 'Tropical Cyclone'} ${name?.trim() || id.toUpperCase()}`,
      lat,
      lon,
      ts,
      severity: severityOfWind(knots),
      subject: `nhc:${id}`,
      url: url ?? null,
      revised_at: ts,
    },
    id,
  )
}

/** CurrentStorms.json or an RSS feed of a basin. */
function normalise(text: string): Content {
  if (!/^\s*</.test(text)) return normaliseEach(stormsOf(parseJson(text)), normaliseStorm)
  const root = parseXml(text)
  const channel = childOf(root, 'channel')
  if (root.name !== 'rss' || !channel) {
    throw feedError('unreadable', 'answered with XML that is not an RSS channel')
  }
  return normaliseEach(childrenOf(channel, 'item'), normaliseItem)
}

function stormsOf(json: unknown): unknown[] {
  const answer = Answer.safeParse(json)
  if (!answer.success) throw notStorms()
  return answer.data.activeStorms
}

function notStorms(): FeedError {
  return feedError('not_json', 'answered with JSON without a list of activeStorms')
}

async function poll(input: PollInput): Promise<FeedResult> {
  const state = State.catch(State.parse({})).parse(input.state)
  const fetched = await fetchFeed(STORMS, { ...input, validators: state.validators })
  const wait = pauseFor(fetched.max_age_seconds, INTERVAL_SECONDS)
  if (fetched.not_modified) {
    return { events: [], rejected: [], state: input.state, not_modified: true, ...wait }
  }
  const { events, rejected } = normaliseEach(stormsOf(fetched.json), normaliseStorm)
  const unread = rejected.map(({ item }) => `nhc:${item}`)
  const { open, ended } = closeMissing(state.open, events, { unread })
  return {
    events: [...events, ...ended],
    rejected,
    state: { validators: fetched.validators, open },
    not_modified: false,
    ...wait,
  }
}
