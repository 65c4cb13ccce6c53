import { z } from 'zod'
import {
  type Content,
  type Feed,
  type FeedResult,
  feedError,
  isFeedError,
  type Normalised,
  normaliseEach,
  type PollInput,
  type Rejected,
  reject,
  toEvent,
} from './feed.ts'
import { fetchFeed, parseJson, pauseFor } from './fetch.ts'
import { instantOfIso } from './formats/times.ts'
import { closeMissing, OpenEvents } from './memory/open-events.ts'

const HANS = 'https://volcanoes.usgs.gov/hans-public/api/volcano'
const INTERVAL_SECONDS = 10 * 60
/** The list of volcanoes hardly ever changes. */
const PLACES_MS = 7 * 24 * 60 * 60_000
const PLACES_RETRY_MS = 60 * 60_000
const MAX_PLACES = 2000

const COLOURS: Record<string, number> = { green: 10, yellow: 30, orange: 60, red: 90 }
const LEVELS: Record<string, number> = { normal: 10, advisory: 30, watch: 60, warning: 90 }
const FLOOR = 10

const Id = z
  .union([z.string(), z.number()])
  .transform(String)
  .pipe(z.string().regex(/^\d{3,8}$/))
const Text = z.string().nullish().catch(null)
const Coordinate = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/)
    .transform(Number),
])
const Volcano = z.object({
  vnum: Id,
  volcano_name: Text,
  alert_level: Text,
  color_code: Text,
  sent_utc: z.string(),
  notice_url: Text,
  latitude: Coordinate.nullish(),
  longitude: Coordinate.nullish(),
})
const Place = z.object({ vnum: Id, latitude: Coordinate, longitude: Coordinate })

/** Longitude and latitude by the number of the volcano. */
const Places = z.record(z.string(), z.tuple([z.number(), z.number()]))
type Places = z.infer<typeof Places>

const State = z.object({
  etag: z.string().optional(),
  last_modified: z.string().optional(),
  places: Places.default({}),
  /** When the list of volcanoes was asked for, in ms since 1970. */
  places_asked: z.number().default(0),
  open: OpenEvents.default({}),
})
type State = z.infer<typeof State>

/** The volcanoes of the United States whose alert level is elevated, by the notices of the USGS observatories. */
export const usgsVolcano: Feed = {
  source: 'usgs-volcano',
  title: 'USGS volcano notices',
  attribution: 'Volcano notices: U.S. Geological Survey, Volcano Hazards Program',
  types: ['volcano'],
  // The volcanoes of the States; the western Aleutians; the Marianas; Samoa.
  region: () => [
    [-180, 10, -60, 75],
    [165, 45, 180, 65],
    [135, 5, 155, 30],
    [-180, -20, -160, 0],
  ],
  ceilings: { volcano: 90 },
  interval_seconds: INTERVAL_SECONDS,
  poll,
  normalise: (text) => readList(parseJson(text), {}),
}

async function poll(input: PollInput): Promise<FeedResult> {
  const state = State.catch(State.parse({})).parse(input.state)
  const fetched = await fetchFeed(`${HANS}/getElevatedVolcanoes`, { ...input, validators: state })
  const pause = pauseFor(fetched.max_age_seconds, INTERVAL_SECONDS)
  if (fetched.not_modified) {
    return { events: [], state: input.state, not_modified: true, rejected: [], ...pause }
  }
  const places = await placesFor(fetched.json, state, input)
  const { events, rejected } = readList(fetched.json, places.places)
  const unread = rejected.map(({ item }) => `usgs-volcano:${item}`)
  const closed = closeMissing(state.open, events, { unread })
  // What could not be placed must come again in full.
  const is_dark = rejected.some(({ reason }) => reason.startsWith('no-geometry'))
  const next: State = {
    ...(is_dark ? {} : fetched.validators),
    places: places.places,
    places_asked: places.places_asked,
    open: closed.open,
  }
  return {
    events: [...events, ...closed.ended],
    state: next,
    not_modified: false,
    rejected: [...rejected, ...places.failed],
    ...pause,
  }
}

type Known = Pick<State, 'places' | 'places_asked'> & { failed: Rejected[] }

/** The notices have no coordinates: those of all volcanoes are asked for once a week, or when one is unknown. */
async function placesFor(json: unknown, state: State, input: PollInput): Promise<Known> {
  const { places, places_asked } = state
  const now = input.now.getTime()
  const listed = z.array(z.object({ vnum: Id }).nullable().catch(null)).safeParse(json).data ?? []
  const is_known = listed.every((volcano) => !volcano || places[volcano.vnum] !== undefined)
  const due = places_asked + (is_known ? PLACES_MS : PLACES_RETRY_MS)
  if (listed.length === 0 || now < due) return { places, places_asked, failed: [] }
  try {
    const fetched = await fetchFeed(`${HANS}/getUSVolcanoes`, input)
    const list = z
      .array(z.unknown())
      .max(MAX_PLACES)
      .safeParse(fetched.not_modified ? null : fetched.json)
    if (!list.success)
      throw feedError('not_json', 'answered with JSON that is not a list of volcanoes')
    const next = { ...places }
    for (const item of list.data) {
      const read = Place.safeParse(item)
      if (read.success) next[read.data.vnum] = [read.data.longitude, read.data.latitude]
    }
    return { places: next, places_asked: now, failed: [] }
  } catch (error) {
    if (!isFeedError(error)) throw error
    const failed = [{ item: 'getUSVolcanoes', reason: error.message }]
    return { places, places_asked: now, failed }
  }
}

function readList(json: unknown, places: Places): Content {
  const list = z.array(z.unknown()).safeParse(json)
  if (!list.success)
    throw feedError('not_json', 'answered with JSON that is not a list of volcanoes')
  return normaliseEach(list.data, (item, position) => readVolcano(item, position, places))
}

function readVolcano(json: unknown, position: string, places: Places): Normalised {
  const item = z.object({ vnum: Id }).safeParse(json).data?.vnum ?? position
  const read = Volcano.safeParse(json)
  if (!read.success) return reject(item, read.error)
  const volcano = read.data
  const { latitude: lat = null, longitude: lon = null } = volcano
  const place = lat !== null && lon !== null ? ([lon, lat] as const) : places[volcano.vnum]
  if (!place)
    return reject(item, 'no-geometry: latitude and longitude of the volcano are not known')
  const sent = instantOfIso(volcano.sent_utc, { local: 'utc' })
  const name = volcano.volcano_name?.trim() || `Volcano ${volcano.vnum}`
  const levels = [volcano.alert_level, volcano.color_code].flatMap(
    (level) => level?.trim().toUpperCase() || [],
  )
  return toEvent(
    {
      id: `usgs-volcano:${volcano.vnum}`,
      source: 'usgs-volcano',
      type: 'volcano',
      title: levels.length > 0 ? `${name} - ${levels.join(' / ')}` : name,
      lon: place[0],
      lat: place[1],
      ts: sent,
      severity: severityOf(volcano),
      subject: `volcano:${volcano.vnum}`,
      url: volcano.notice_url ?? null,
      revised_at: sent,
    },
    item,
  )
}

/** By the aviation colour; by the alert level where no colour is assigned. */
function severityOf({ color_code, alert_level }: z.infer<typeof Volcano>): number {
  const of = (table: Record<string, number>, word: string | null | undefined) =>
    table[word?.trim().toLowerCase() ?? '']
  return of(COLOURS, color_code) ?? of(LEVELS, alert_level) ?? FLOOR
}
