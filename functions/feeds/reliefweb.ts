import { z } from 'zod'
import type { EventType } from '../../shared/schemas/event.ts'
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
  toEvent,
} from './feed.ts'
import { fetchFeed, parseJson } from './fetch.ts'
import { instantOfIso } from './formats/times.ts'

const DISASTERS = 'https://api.reliefweb.int/v2/disasters'
/** Half an hour: a thousand calls a day are allowed. */
const INTERVAL_SECONDS = 30 * 60
const LIMIT = 1000
const DAY_MS = 24 * 60 * 60_000
/** As long as events are kept. */
const FIRST_LOOK_BACK_MS = 90 * DAY_MS
const OVERLAP_MS = 60 * 60_000
const FIELDS = ['name', 'status', 'glide', 'date', 'primary_country', 'primary_type', 'url']
const SEVERITIES: Record<string, number> = { alert: 60, ongoing: 50, current: 50, past: 10 }
/** Of a word that is not known: the least of those that are not over. */
const OTHER_SEVERITY = 50

const TYPES: Record<string, EventType> = {
  EQ: 'earthquake',
  TC: 'storm',
  EC: 'storm',
  ST: 'storm',
  FL: 'flood',
  FF: 'flood',
  VO: 'volcano',
  TS: 'tsunami',
  DR: 'drought',
  WF: 'wildfire',
  FR: 'wildfire',
  CW: 'weather',
  HT: 'weather',
}

const Item = z.object({
  id: z
    .union([z.string(), z.number()])
    .transform(String)
    .pipe(z.string().regex(/^\d{1,12}$/)),
  fields: z.object({
    name: z.string().min(1),
    status: z.string().nullish(),
    url: z.string().nullish(),
    date: z.object({
      event: z.string().nullish(),
      created: z.string().nullish(),
      changed: z.string().nullish(),
    }),
    primary_country: z.object({
      name: z.string().nullish(),
      location: z.object({ lat: z.number(), lon: z.number() }),
    }),
    primary_type: z.object({ code: z.string().nullish() }).nullish(),
  }),
})

const Answer = z.object({ data: z.array(z.unknown()) })
const State = z.object({ changed_after: z.iso.datetime().nullable() })

/** The disasters of ReliefWeb (OCHA). Its places are countries, so it is polled only if it is asked for. */
export const reliefweb: Feed = {
  source: 'reliefweb',
  title: 'ReliefWeb disasters',
  attribution: 'ReliefWeb, United Nations OCHA (https://reliefweb.int)',
  types: [
    ...(['earthquake', 'storm', 'flood', 'volcano', 'tsunami'] as const),
    ...(['drought', 'wildfire', 'weather', 'other'] as const),
  ],
  ceilings: {
    ...{ earthquake: 60, storm: 60, flood: 60, volcano: 60, tsunami: 60 },
    ...{ drought: 60, wildfire: 60, weather: 60, other: 60 },
  },
  interval_seconds: INTERVAL_SECONDS,
  is_optional: true,
  settings: {
    RELIEFWEB_APPNAME: {
      schema: z.string().regex(/^[\w.-]{3,100}$/, 'must be an app name approved by ReliefWeb'),
      is_required: true,
    },
  },
  poll,
  normalise,
}

function normaliseDisaster(item: unknown, position: string): Normalised {
  const read = Item.safeParse(item)
  if (!read.success) {
    const Named = z.object({ id: z.union([z.string().min(1), z.number()]) })
    return reject(String(Named.safeParse(item).data?.id ?? position), read.error)
  }
  const { id, fields } = read.data
  const { date, primary_country, primary_type } = fields
  const status = fields.status?.toLowerCase() ?? ''
  return toEvent(
    {
      id: `reliefweb:${id}`,
      source: 'reliefweb',
      type: TYPES[primary_type?.code?.toUpperCase() ?? ''] ?? 'other',
      // Its place is the middle of a country.
      title: `${fields.name} (centre of ${primary_country.name?.trim() || 'the country'})`,
      lat: primary_country.location.lat,
      lon: primary_country.location.lon,
      ts: instantOfIso(date.event ?? date.created ?? ''),
      severity: SEVERITIES[status] ?? OTHER_SEVERITY,
      status: status === 'past' ? 'ended' : 'active',
      url: fields.url ?? `https://reliefweb.int/node/${id}`,
      revised_at: date.changed ? instantOfIso(date.changed) : null,
    },
    id,
  )
}

function normalise(text: string): Content {
  return normaliseEach(disastersOf(parseJson(text)), normaliseDisaster)
}

function disastersOf(json: unknown): unknown[] {
  const answer = Answer.safeParse(json)
  if (!answer.success) throw notDisasters()
  return answer.data.data
}

function notDisasters(): FeedError {
  return feedError('not_json', 'answered with JSON without a list of data')
}

/** What changed since the last poll, oldest first: what a full page leaves out comes with the next one. */
async function poll(input: PollInput): Promise<FeedResult> {
  const { changed_after } = State.catch({ changed_after: null }).parse(input.state)
  const now = input.now.getTime()
  const since =
    changed_after === null
      ? now - FIRST_LOOK_BACK_MS
      : Math.min(Date.parse(changed_after), now) - OVERLAP_MS
  const query = new URLSearchParams({
    appname: input.settings?.RELIEFWEB_APPNAME ?? '',
    limit: String(LIMIT),
    'filter[field]': 'date.changed',
    'filter[value][from]': `${new Date(since).toISOString().slice(0, 19)}+00:00`,
  })
  query.append('sort[]', 'date.changed:asc')
  for (const field of FIELDS) query.append('fields[include][]', field)
  const fetched = await fetchFeed(`${DISASTERS}?${query}`, input)
  if (fetched.not_modified) {
    return { events: [], rejected: [], state: input.state, not_modified: true }
  }
  const { events, rejected } = normaliseEach(disastersOf(fetched.json), normaliseDisaster)
  const times = events.flatMap(({ revised_at }) => revised_at ?? [])
  const latest = [changed_after ?? [], times].flat().sort().at(-1) ?? null
  return { events, rejected, state: { changed_after: latest }, not_modified: false }
}
