import { z } from 'zod'
import type { EventType } from '../../shared/schemas/event.ts'
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
} from './feed.ts'
import { addressesIn, fetchText, parseJson } from './fetch.ts'
import { brief, type CapInfo, firstValue, readCapJson } from './formats/cap.ts'
import {
  capEvent,
  codesOf,
  infosOf,
  placeOf,
  placeOfPoints,
  refuseCap,
} from './formats/cap-event.ts'
import { AlertMemory, followMessages, type Message } from './memory/alert-memory.ts'
import { fetchAreas, KnownAreas, locateAreas } from './memory/meteoalarm-areas.ts'

const FEEDS = 'https://feeds.meteoalarm.org/api/v1/warnings/feeds-'
const INTERVAL_SECONDS = 60
/** Each country is asked for this often, the countries one after the other. */
const COUNTRY_INTERVAL_MS = 5 * 60_000
const COUNTRY_RETRY_MS = 15 * 60_000
const FETCH_TIMEOUT_MS = 20_000
const MAX_WARNINGS = 20_000
const MAX_LISTS = 5
const WebAddress = z.url({ protocol: /^https?$/ })
/** Countries as the service spells them. */
const COUNTRIES = (
  'austria belgium bosnia-herzegovina bulgaria croatia cyprus czechia denmark estonia finland france germany ' +
  'greece hungary iceland ireland israel italy latvia lithuania luxembourg malta moldova montenegro netherlands ' +
  'norway poland portugal republic-of-north-macedonia romania serbia slovakia slovenia spain sweden switzerland ' +
  'ukraine united-kingdom'
).split(' ')

const Country = z.object({
  etag: z.string().optional(),
  last_modified: z.string().optional(),
  due: z.number().default(0),
  is_failing: z.boolean().default(false),
  memory: AlertMemory.default({ open: {}, closed: {} }),
})
const State = z.object({
  countries: z.record(z.string(), Country).default({}),
  areas: KnownAreas.default(KnownAreas.parse({})),
})
type State = z.infer<typeof State>

const Answer = z.object({
  warnings: z.array(z.object({ alert: z.unknown().optional() }).catch({})),
})

/** The weather warnings of the European national services, by Meteoalarm. */
export const meteoalarm: Feed = {
  source: 'meteoalarm',
  title: 'Meteoalarm',
  attribution: 'Weather warnings: EUMETNET - MeteoAlarm and the national services; may be delayed',
  types: ['weather', 'storm', 'flood'],
  // Europe, from the Azores and the Canaries to Svalbard and Israel.
  region: () => [[-35, 25, 50, 82]],
  ceilings: { weather: 90, storm: 90, flood: 90 },
  interval_seconds: INTERVAL_SECONDS,
  settings: {
    METEOALARM_COUNTRIES: {
      is_required: false,
      schema: z.string().refine((text) => {
        const names = namesIn(text)
        return names.length > 0 && names.every((name) => /^[a-z]+(-[a-z]+)*$/.test(name))
      }, 'must name countries as in the addresses of Meteoalarm, such as netherlands,united-kingdom'),
    },
    METEOALARM_AREAS: {
      is_required: false,
      schema: z.string().refine((text) => {
        const addresses = addressesIn(text)
        return (
          addresses.length <= MAX_LISTS &&
          addresses.every((url) => WebAddress.safeParse(url).success)
        )
      }, `must hold up to ${MAX_LISTS} http or https URLs, separated by commas`),
    },
  },
  poll,
  normalise: (text, { now }) => {
    const read = readAnswer(text, KnownAreas.parse({}))
    const followed = followMessages(AlertMemory.parse({}), read.messages, {
      now,
      prefix: 'meteoalarm:',
    })
    return { events: followed.events, rejected: [...read.content.rejected, ...followed.rejected] }
  },
}

async function poll(input: PollInput): Promise<FeedResult> {
  const given = State.catch(State.parse({})).parse(input.state)
  const now = input.now.getTime()
  const setting = input.settings?.METEOALARM_COUNTRIES
  const names = setting === undefined ? COUNTRIES : namesIn(setting)
  // What is no longer asked for is forgotten: its warnings end at their own time.
  const kept = Object.entries(given.countries).filter(([name]) => names.includes(name))
  const countries: State['countries'] = Object.fromEntries(kept)
  const addresses = addressesIn(input.settings?.METEOALARM_AREAS)
  const { areas, failed } = await fetchAreas(addresses, given.areas, input)
  if (areas !== given.areas) {
    // What had no place may have one now, so it must come again in full.
    for (const [name, { etag: _, last_modified: __, ...country }] of Object.entries(countries)) {
      countries[name] = country
    }
  }
  const share = Math.max(
    1,
    Math.ceil((names.length * INTERVAL_SECONDS * 1000) / COUNTRY_INTERVAL_MS),
  )
  const due = names
    .filter((name) => (countries[name]?.due ?? 0) <= now)
    .sort((a, b) => (countries[a]?.due ?? 0) - (countries[b]?.due ?? 0))
    .slice(0, share)
  const result: FeedResult = {
    events: [],
    rejected: failed,
    state: { countries, areas },
    not_modified: true,
  }
  let last: FeedError | undefined
  for (const name of due) {
    const country = countries[name] ?? Country.parse({})
    try {
      const polled = await pollCountry(name, country)
      countries[name] = { ...polled, due: now + COUNTRY_INTERVAL_MS, is_failing: false }
    } catch (error) {
      if (!isFeedError(error)) throw error
      last = error
      const wait = Math.max(COUNTRY_RETRY_MS, 1000 * (error.retry_after_seconds ?? 0))
      countries[name] = { ...country, due: now + wait, is_failing: true }
      result.rejected.push({ item: name, reason: error.message })
      if (error.code === 'rate_limited') {
        result.next_poll_seconds = error.retry_after_seconds ?? COUNTRY_RETRY_MS / 1000
        break
      }
    }
  }
  // Of several countries some may fail; when none answers any more, the feed is down.
  if (last && Object.values(countries).every(({ is_failing }) => is_failing)) throw last
  return result

  async function pollCountry(name: string, country: z.infer<typeof Country>) {
    const fetched = await fetchText(`${FEEDS}${name}`, {
      ...input,
      accept: 'application/json',
      validators: country,
      timeout_ms: FETCH_TIMEOUT_MS,
    })
    if (fetched.not_modified) return country
    const read = readAnswer(fetched.text, areas)
    const followed = followMessages(country.memory, read.messages, {
      now: input.now,
      prefix: 'meteoalarm:',
      listing: { unread: read.unread },
      share: 1 / names.length,
    })
    result.not_modified = false
    result.events.push(...followed.events)
    result.rejected.push(...read.content.rejected, ...followed.rejected)
    return {
      ...country,
      etag: undefined,
      last_modified: undefined,
      ...fetched.validators,
      memory: followed.memory,
    }
  }
}

type Read = { messages: Message[]; content: Content; unread: string[] }

function readAnswer(text: string, known: KnownAreas): Read {
  const answer = Answer.safeParse(parseJson(text))
  if (!answer.success) throw feedError('not_json', 'answered with JSON that has no warnings')
  const { warnings } = answer.data
  if (warnings.length > MAX_WARNINGS) {
    throw feedError('too_large', `answered ${warnings.length} warnings, more than ${MAX_WARNINGS}`)
  }
  const messages: Message[] = []
  const unread: string[] = []
  const content = normaliseEach(warnings, ({ alert }, position) => {
    const before = messages.length
    const results = readWarning(alert, position, { messages, known })
    if (messages.length === before) unread.push(...namesOf(alert))
    return results
  })
  return { messages, content, unread }
}

/** Its message is added to `messages`; only what is rejected is returned. */
function readWarning(
  json: unknown,
  position: string,
  { messages, known }: { messages: Message[]; known: KnownAreas },
): Normalised[] {
  const [name = position] = namesOf(json)
  try {
    const alert = readCapJson(json)
    const refusal = refuseCap(alert)
    if (refusal) return [reject(alert.identifier, refusal)]
    const message = {
      name: alert.identifier,
      references: alert.references,
      sent_at: alert.sent,
      event: null,
    }
    if (alert.msg_type.toLowerCase() === 'cancel') {
      messages.push(message)
      return []
    }
    const infos = infosOf(alert)
    const level = levelOf(infos)
    if (typeof level === 'string') return [reject(alert.identifier, level)]
    const areas = infos.flatMap((info) => info.areas)
    const drawn = placeOf(areas)
    const place = drawn.point ? drawn : placeOfPoints(locateAreas(areas, known), drawn.problems)
    if (!place.point && place.problems.length === 0) {
      const way_out = 'no polygon, and METEOALARM_AREAS does not locate its codes'
      return [reject(alert.identifier, `no-geometry: ${way_out}: ${codesOf(areas)}`)]
    }
    const results = capEvent(alert, {
      source: 'meteoalarm',
      id: `meteoalarm:${alert.identifier}`,
      severity: level,
      type: typeOf(infos),
      place,
    })
    return results.flatMap((result) => {
      if ('rejected' in result) return [result]
      messages.push({ ...message, event: result.event })
      return []
    })
  } catch (error) {
    return [reject(name, error instanceof Error ? error.message : String(error))]
  }
}

/** The severity of a warning by its highest `awareness_level`, or why it is none. */
function levelOf(infos: readonly CapInfo[]): number | string {
  const given = infos.map(({ parameters }) => firstValue(parameters, 'awareness_level') ?? '')
  const levels = given.map((level) => Number(/^\s*([1-4])\s*(;|$)/.exec(level)?.[1] ?? Number.NaN))
  const known = levels.filter((level) => !Number.isNaN(level))
  if (known.length === 0) return `awareness_level: "${brief(given[0] ?? '')}" is not a level`
  const highest = Math.max(...known)
  if (highest === 1) return 'awareness_level: green is not a warning'
  return { 2: 40, 3: 70, 4: 90 }[highest] ?? 40
}

/** By `awareness_type`: 3 thunderstorms, 12 flooding, 13 rain and flood; all else is weather. */
function typeOf(infos: readonly CapInfo[]): EventType {
  const [info] = infos
  const type = /^\s*(\d+)/.exec(firstValue(info?.parameters ?? [], 'awareness_type') ?? '')?.[1]
  if (type === '3') return 'storm'
  return type === '12' || type === '13' ? 'flood' : 'weather'
}

/** What a broken warning may still say of itself. */
const Named = z.object({ identifier: z.string().min(1) })

function namesOf(json: unknown): string[] {
  const { data } = Named.safeParse(json)
  return data ? [data.identifier] : []
}

function namesIn(setting: string): string[] {
  const given = setting.toLowerCase().split(/[\s,]+/)
  return [...new Set(given.filter((name) => name !== ''))]
}
