import { z } from 'zod'
import type { NormalisedEvent } from '../../shared/schemas/event.ts'
import {
  type Content,
  type Feed,
  type FeedError,
  type FeedResult,
  feedError,
  isFeedError,
  type Normalised,
  type PollInput,
  type Rejected,
  reject,
  toEvent,
} from './feed.ts'
import { fetchText, Validators } from './fetch.ts'
import {
  brief,
  type CapAlert,
  type CapInfo,
  capElements,
  firstValue,
  readCapXml,
  timeOf,
} from './formats/cap.ts'
import { infosOf, refuseCap } from './formats/cap-event.ts'
import { isListed, readIndex } from './formats/cap-index.ts'
import { parseXml } from './formats/xml.ts'

/** The National Tsunami Warning Center in Palmer and the Pacific one in Honolulu; each lists its latest bulletin. */
const INDEXES = [
  'https://www.tsunami.gov/events/xml/PAAQAtom.xml',
  'https://www.tsunami.gov/events/xml/PHEBAtom.xml',
]
const LISTED = ['https://www.tsunami.gov/', 'https://tsunami.gov/']
const INTERVAL_SECONDS = 60
const MAX_POLL_SECONDS = 10 * 60
/** An index has one entry as a rule. */
const MAX_FETCHED = 10
const MAX_KNOWN = 50
/** How long a bulletin stands that says no end. */
const DEFAULT_HOURS = 6

const State = z.object({
  validators: z.record(z.string(), Validators).default({}),
  /** When the entries of the indexes that were fetched were changed, by address. */
  seen: z.record(z.string(), z.string()).default({}),
  /** Of each event the number of its latest bulletin. */
  bulletins: z.record(z.string(), z.int()).default({}),
})
type State = z.infer<typeof State>

/** The bulletins of the U.S. tsunami warning centers. */
export const tsunami: Feed = {
  source: 'tsunami',
  title: 'Tsunami bulletins',
  attribution: 'Tsunami bulletins: NOAA / National Weather Service, U.S. Tsunami Warning System',
  types: ['tsunami'],
  interval_seconds: INTERVAL_SECONDS,
  poll,
  normalise: (text) => {
    const { alerts, rejected } = readBulletins(text)
    return newest(alerts, {}, rejected)
  },
}

async function poll(input: PollInput): Promise<FeedResult> {
  const state = State.catch(State.parse({})).parse(input.state)
  const mayFollow = (url: URL) => isListed(url, LISTED)
  const next: State = { validators: {}, seen: {}, bulletins: state.bulletins }
  const rejected: Rejected[] = []
  const alerts: CapAlert[] = []
  let answered = 0
  let is_modified = false
  let pause_seconds = 0
  let last: FeedError | undefined
  for (const index of INDEXES) {
    try {
      await readOne(index)
      answered += 1
    } catch (error) {
      if (!isFeedError(error)) throw error
      // An index of which nothing was ever issued does not exist.
      if (error.status === 404) {
        answered += 1
        continue
      }
      last = error
      next.validators[index] = {}
      keepSeen()
      rejected.push({ item: nameOf(index), reason: error.message })
      if (error.code === 'rate_limited') break
    }
  }
  if (last && (answered === 0 || last.code === 'rate_limited')) throw last
  const content = newest(alerts, next.bulletins, rejected)
  next.seen = lastChanged(next.seen)
  const next_poll_seconds = Math.min(pause_seconds, MAX_POLL_SECONDS)
  return {
    ...content,
    state: is_modified || last ? next : input.state,
    not_modified: !is_modified && !last,
    ...(next_poll_seconds > INTERVAL_SECONDS ? { next_poll_seconds } : {}),
  }

  async function readOne(index: string): Promise<void> {
    const fetched = await fetchText(index, {
      ...input,
      accept: 'application/atom+xml, application/xml',
      validators: state.validators[index],
      mayFollow,
    })
    pause_seconds = Math.max(pause_seconds, fetched.max_age_seconds)
    if (fetched.not_modified) {
      next.validators[index] = state.validators[index] ?? {}
      keepSeen()
      return
    }
    const links = readIndex(parseXml(fetched.text), index)
    if (!links) throw feedError('unreadable', 'answered with XML that is not an Atom feed')
    is_modified = true
    next.validators[index] = fetched.validators
    for (const [position, link] of links.entries()) {
      const item = `${nameOf(index)} #${position + 1}`
      if (position >= MAX_FETCHED) {
        const reason = `entry: ${links.length - position} entries beyond the first ${MAX_FETCHED} are left out`
        rejected.push({ item, reason })
        break
      }
      if (!link) rejected.push({ item, reason: 'link: is missing' })
      else if (state.seen[link.url] === link.updated) next.seen[link.url] = link.updated
      else await readBulletin(index, link)
    }
  }

  async function readBulletin(
    index: string,
    link: { url: string; updated: string },
  ): Promise<void> {
    // The indexes name http addresses of the same service.
    const url = link.url.replace(/^http:\/\/(www\.)?tsunami\.gov\//, 'https://www.tsunami.gov/')
    try {
      if (!isListed(new URL(url), LISTED)) {
        throw feedError(
          'unreadable',
          `link: leads to ${new URL(url).host || 'no host'}, not to tsunami.gov`,
        )
      }
      const fetched = await fetchText(url, {
        ...input,
        accept: 'application/cap+xml, application/xml',
        mayFollow,
      })
      if (fetched.not_modified) throw feedError('http_status', 'answered HTTP 304')
      const read = readBulletins(fetched.text)
      alerts.push(...read.alerts)
      rejected.push(...read.rejected)
      next.seen[link.url] = link.updated
    } catch (error) {
      if (!isFeedError(error)) throw error
      // The index must come again in full, so that its bulletin is asked for again.
      next.validators[index] = {}
      rejected.push({ item: nameOf(url), reason: error.message })
    }
  }

  /** What an index lists that says nothing new is still known. */
  function keepSeen(): void {
    next.seen = { ...state.seen, ...next.seen }
  }
}

/** Which index listed an entry is not stored, so entries of the past go out as newer ones come. */
function lastChanged(seen: State['seen']): State['seen'] {
  const newestFirst = Object.entries(seen).sort(([, one], [, other]) => (one < other ? 1 : -1))
  return Object.fromEntries(newestFirst.slice(0, MAX_KNOWN))
}

/** A CAP document, or an index with what it lacks. */
function readBulletins(text: string): { alerts: CapAlert[]; rejected: Rejected[] } {
  const root = parseXml(text)
  const elements = capElements(root)
  const alerts: CapAlert[] = []
  const rejected: Rejected[] = []
  for (const [index, element] of elements.entries()) {
    try {
      alerts.push(readCapXml(element))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      rejected.push(reject(`#${index + 1}`, reason).rejected)
    }
  }
  if (elements.length > 0) return { alerts, rejected }
  const links = readIndex(root, INDEXES[0] ?? '')
  if (!links)
    throw feedError('unreadable', 'answered with XML that is neither a bulletin nor an index')
  for (const [index, link] of links.entries()) {
    const reason = 'link: leads to a bulletin that is not in this answer'
    rejected.push({ item: link?.url ?? `#${index + 1}`, reason })
  }
  return { alerts, rejected }
}

/** The events of bulletins that are newer than those known, whose numbers are updated. */
function newest(
  alerts: readonly CapAlert[],
  bulletins: Record<string, number>,
  rejected: Rejected[],
): Content {
  const events = new Map<string, NormalisedEvent>()
  for (const alert of alerts) {
    const result = attempt(alert)
    if ('rejected' in result) {
      rejected.push(result.rejected)
      continue
    }
    const { event } = result
    const number = numberOf(alert)
    if (number < (bulletins[event.id] ?? 0)) continue
    delete bulletins[event.id]
    bulletins[event.id] = number
    events.set(event.id, event)
  }
  for (const id of Object.keys(bulletins).slice(0, -MAX_KNOWN)) delete bulletins[id]
  return { events: [...events.values()], rejected }
}

function attempt(alert: CapAlert): Normalised {
  try {
    return bulletinOf(alert)
  } catch (error) {
    return reject(alert.identifier, error instanceof Error ? error.message : String(error))
  }
}

function bulletinOf(alert: CapAlert): Normalised {
  const item = alert.identifier
  const refusal = refuseCap(alert)
  if (refusal) return reject(item, refusal)
  const [info] = infosOf(alert)
  if (!info) return reject(item, 'info: is missing')
  if (/\bTEST\b/.test(`${info.headline} ${info.event}`)) {
    return reject(item, 'headline: says that it is a test')
  }
  const centre = /^([A-Z]{4})-\d+-/.exec(item)?.[1]
  const incident = alert.incidents || /^[A-Z]{4}-\d+-(\S+)$/.exec(item)?.[1]
  if (!centre || !incident) {
    return reject(item, `identifier: "${brief(item)}" is not <centre>-<bulletin>-<event>`)
  }
  const origin = timeOf('EventOriginTime', firstValue(info.parameters, 'EventOriginTime'))
  if (origin === null) return reject(item, 'EventOriginTime: is missing')
  const [lat, lon] = placeOf(info)
  const category = categoryOf(alert, info)
  const magnitude = Number.parseFloat(
    firstValue(info.parameters, 'EventPreliminaryMagnitude') ?? '',
  )
  const depth = /^(\d+(?:\.\d+)?)\s*k/i.exec(firstValue(info.parameters, 'EventDepth') ?? '')?.[1]
  return toEvent(
    {
      id: `tsunami:${centre}-${incident}`,
      source: 'tsunami',
      type: 'tsunami',
      title: info.headline || `${info.event || 'Tsunami bulletin'} - ${whereOf(info)}`,
      lat,
      lon,
      ts: origin,
      severity: SEVERITIES[category],
      status: category === 'cancellation' ? 'ended' : 'active',
      url: info.web.replace(/^http:\/\/(?=(www\.)?tsunami\.gov\/)/, 'https://'),
      ends_at: info.expires ?? hoursAfter(alert.sent, DEFAULT_HOURS),
      // The number of the bulletin decides in `newest`; a correction may have the same.
      revised_at: alert.sent,
      magnitude: Number.isFinite(magnitude) ? magnitude : null,
      depth_km: depth === undefined ? null : Number(depth),
    },
    item,
  )
}

const SEVERITIES = {
  warning: 100,
  threat: 100,
  advisory: 70,
  watch: 60,
  information: 20,
  cancellation: 0,
}

/** By the name of the event; what is none of them informs. */
function categoryOf(
  { msg_type }: CapAlert,
  { event, responses }: CapInfo,
): keyof typeof SEVERITIES {
  if (
    msg_type.toLowerCase() === 'cancel' ||
    /cancel/i.test(event) ||
    responses.includes('AllClear')
  ) {
    return 'cancellation'
  }
  const words = ['warning', 'threat', 'advisory', 'watch'] as const
  return words.find((word) => new RegExp(`\\b${word}\\b`, 'i').test(event)) ?? 'information'
}

/** `EventLatLon` is `lat,lon` and more; some bulletins have a circle about the epicentre instead. */
function placeOf({ parameters, areas }: CapInfo): [lat: number, lon: number] {
  const circles = areas.flatMap(({ circles }) => circles)
  const text = firstValue(parameters, 'EventLatLon') ?? circles[0]
  const read = /^(-?\d+(?:\.\d+)?),\s*(-?\d+(?:\.\d+)?)(\s|$)/.exec(text?.trim() ?? '')
  if (!read)
    throw new Error(`EventLatLon: "${brief(text ?? '')}" is not a latitude and a longitude`)
  return [Number(read[1]), Number(read[2])]
}

function whereOf({ parameters, areas }: CapInfo): string {
  return firstValue(parameters, 'EventLocationName') || areas[0]?.description || 'place unknown'
}

function numberOf({ identifier }: CapAlert): number {
  return Number(/^[A-Z]{4}-(\d{1,6})-/.exec(identifier)?.[1] ?? 0)
}

function nameOf(url: string): string {
  return new URL(url).pathname.split('/').at(-1) ?? url
}

function hoursAfter(time: string, hours: number): string {
  return new Date(Date.parse(time) + hours * 3_600_000).toISOString()
}
