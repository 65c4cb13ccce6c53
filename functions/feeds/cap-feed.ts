import { z } from 'zod'
import {
  type Content,
  type Feed,
  type FeedError,
  type FeedResult,
  feedError,
  isFeedError,
  type PollInput,
  type Rejected,
  reject,
} from './feed.ts'
import { addressesIn, fetchEach, fetchText, hostAndPath, parseJson, Validators } from './fetch.ts'
import { brief, type CapAlert, capElements, readCapJson, readCapXml } from './formats/cap.ts'
import { capEvent, refuseCap } from './formats/cap-event.ts'
import { type CapLink, isListed, readIndex } from './formats/cap-index.ts'
import { endsHazard, readVtec, subjectOf } from './formats/vtec.ts'
import { parseXml, type XmlElement } from './formats/xml.ts'
import { AlertMemory, followMessages, hash, type Message } from './memory/alert-memory.ts'

const INTERVAL_SECONDS = 120
const MAX_POLL_SECONDS = 15 * 60
const MAX_ADDRESSES = 20
/** Alerts that are fetched in one poll over all indexes; the others come next. */
const MAX_FETCHED = 40
/** Entries that are followed, over all indexes. */
const MAX_ENTRIES = 4000
/** A host that cannot be reached this often in one poll is left alone until the next. */
const MAX_UNREACHABLE = 3
const FETCH_TIMEOUT_MS = 10_000
/** An alert that cannot be fetched or read is tried again this often, until its entry changes. */
const MAX_TRIES = 5
const MAX_ALERT_BYTES = 2 * 1024 * 1024
/** How long an alert without `expires` stands. */
const DEFAULT_HOURS = 24

/** The entries of an index by the hash of their address: when they were changed, how often they failed. */
const Seen = z.record(z.string(), z.tuple([z.string(), z.int()]))
type Seen = z.infer<typeof Seen>
const State = z.object({
  validators: z.record(z.string(), Validators).default({}),
  seen: z.record(z.string(), Seen).default({}),
  /** The open alerts by authority. */
  memories: z.record(z.string(), AlertMemory).default({}),
})
type State = z.infer<typeof State>

/** Alerts in the Common Alerting Protocol at the addresses of the operator. */
export const cap: Feed = {
  source: 'cap',
  title: 'CAP alerts',
  attribution: 'Alerts: the issuing authorities, by the Common Alerting Protocol',
  types: [
    'weather',
    'storm',
    'flood',
    'wildfire',
    'earthquake',
    'tsunami',
    'volcano',
    'drought',
    'other',
  ],
  interval_seconds: INTERVAL_SECONDS,
  settings: {
    CAP_URLS: {
      is_required: true,
      schema: z.string().refine((text) => {
        const urls = addressesIn(text)
        return urls.length > 0 && urls.length <= MAX_ADDRESSES && urls.every(isAddress)
      }, `must hold up to ${MAX_ADDRESSES} http or https URLs without a user name`),
    },
  },
  poll,
  normalise,
}

function normalise(text: string, { now, settings }: Pick<PollInput, 'now' | 'settings'>): Content {
  const [first = 'https://recorded.invalid/'] = addressesIn(settings?.CAP_URLS)
  const authority = authorityOf(first)
  const read = readDocument(text, first)
  const rejected = [...read.rejected]
  for (const link of read.links) {
    rejected.push({ item: link.url, reason: 'link: leads to an alert that is not in this answer' })
  }
  const messages = read.alerts.flatMap((alert) => messageOf(alert, authority, rejected))
  const memory = AlertMemory.parse({})
  const followed = followMessages(memory, messages, { now, prefix: `cap:${authority}:` })
  return { events: followed.events, rejected: [...rejected, ...followed.rejected] }
}

async function poll(input: PollInput): Promise<FeedResult> {
  const state = State.catch(State.parse({})).parse(input.state)
  const listed = addressesIn(input.settings?.CAP_URLS)
  const mayFollow = (url: URL) => isListed(url, listed)
  const fetched = await fetchEach(listed, { ...input, validators: state.validators, mayFollow })
  if (fetched.not_modified) {
    return { events: [], state: input.state, not_modified: true, rejected: [] }
  }
  const rejected: Rejected[] = [...fetched.failed]
  const next: State = { validators: fetched.validators, seen: {}, memories: {} }
  const messages = new Map<string, Message[]>()
  let budget = MAX_FETCHED
  let unreachable = 0
  let pause_seconds = fetched.max_age_seconds
  let unreadable: FeedError | undefined
  let is_read = false
  for (const url of listed) {
    const text = fetched.answers.find((answer) => answer.url === url)?.text
    if (text == null) next.seen[url] = state.seen[url] ?? {}
    else await readAddress(url, text)
  }
  if (unreadable && !is_read) throw unreadable
  const events = listed.map(authorityOf).flatMap((authority, index, all) => {
    if (all.indexOf(authority) !== index) return []
    const followed = followMessages(
      state.memories[authority] ?? { open: {}, closed: {} },
      messages.get(authority) ?? [],
      { now: input.now, prefix: `cap:${authority}:`, share: 1 / new Set(all).size },
    )
    next.memories[authority] = followed.memory
    rejected.push(...followed.rejected)
    return followed.events
  })
  const next_poll_seconds = Math.min(pause_seconds, MAX_POLL_SECONDS)
  return {
    events,
    state: next,
    not_modified: false,
    rejected,
    ...(next_poll_seconds > INTERVAL_SECONDS ? { next_poll_seconds } : {}),
  }

  async function readAddress(url: string, text: string): Promise<void> {
    const authority = authorityOf(url)
    const own = messages.get(authority) ?? []
    messages.set(authority, own)
    try {
      const document = readDocument(text, url, Math.floor(MAX_ENTRIES / listed.length))
      is_read = true
      rejected.push(...document.rejected)
      const alerts = [...document.alerts, ...(await readLinks(url, document.links))]
      own.push(...alerts.flatMap((alert) => messageOf(alert, authority, rejected)))
    } catch (error) {
      if (!isFeedError(error)) throw error
      unreadable = error
      // What cannot be read is asked for again in full.
      delete next.validators[url]
      next.seen[url] = state.seen[url] ?? {}
      rejected.push({ item: hostAndPath(url), reason: error.message })
    }
  }

  async function readLinks(index: string, links: CapLink[]): Promise<CapAlert[]> {
    const before = state.seen[index] ?? {}
    const seen: Seen = {}
    const tries = ({ url, updated }: CapLink) =>
      before[hash(url)]?.[0] === updated ? (before[hash(url)]?.[1] ?? 0) : 0
    const isDone = (link: CapLink) =>
      before[hash(link.url)]?.[0] === link.updated &&
      (tries(link) === 0 || tries(link) >= MAX_TRIES)
    const alerts: CapAlert[] = []
    const open = links.filter((link) => !isDone(link)).sort((a, b) => tries(a) - tries(b))
    for (const link of links.filter(isDone)) seen[hash(link.url)] = [link.updated, tries(link)]
    let asked = 0
    for (const link of open) {
      if (budget <= 0) break
      budget -= 1
      asked += 1
      try {
        alerts.push(...(await fetchAlert(link, index)))
        seen[hash(link.url)] = [link.updated, 0]
      } catch (error) {
        if (!isFeedError(error)) throw error
        seen[hash(link.url)] = [link.updated, tries(link) + 1]
        rejected.push({ item: hostAndPath(link.url), reason: error.message })
        if (error.code === 'unreachable') unreachable += 1
        if (error.code === 'rate_limited' || unreachable >= MAX_UNREACHABLE) budget = 0
        pause_seconds = Math.max(pause_seconds, error.retry_after_seconds ?? 0)
      }
    }
    const waits = open.length > asked
    if (waits) {
      const count = open.length - asked
      const reason = `link: ${count} of ${links.length} alerts are fetched in the next polls`
      rejected.push({ item: hostAndPath(index), reason })
    }
    // An unchanged index must come again in full while some of its alerts are still to be fetched.
    if (waits || Object.values(seen).some(([, failed]) => failed > 0 && failed < MAX_TRIES)) {
      delete next.validators[index]
    }
    next.seen[index] = seen
    return alerts
  }

  async function fetchAlert(link: CapLink, index: string): Promise<CapAlert[]> {
    const url = secured(link.url, index)
    if (!isListed(new URL(url), listed)) {
      const { host } = new URL(url)
      throw feedError(
        'unreadable',
        `link: leads to ${host || 'no host'}, which CAP_URLS does not list`,
      )
    }
    const answer = await fetchText(url, {
      ...input,
      mayFollow,
      max_bytes: MAX_ALERT_BYTES,
      timeout_ms: FETCH_TIMEOUT_MS,
    })
    if (answer.not_modified) throw feedError('http_status', 'answered HTTP 304')
    const document = readDocument(answer.text, url)
    rejected.push(...document.rejected)
    if (document.alerts.length === 0 && document.rejected.length === 0) {
      throw feedError('unreadable', 'link: leads to a document without an alert')
    }
    return document.alerts
  }
}

type Document = { alerts: CapAlert[]; links: CapLink[]; rejected: Rejected[] }

/** An alert, a document with several, or an index. Throws a FeedError for anything else. */
function readDocument(text: string, url: string, max_entries = MAX_ENTRIES): Document {
  const document: Document = { alerts: [], links: [], rejected: [] }
  if (/^\s*[[{]/.test(text)) {
    const json = parseJson(text)
    for (const [index, item] of [json].flat().entries())
      read(`#${index + 1}`, () => readCapJson(item))
    return document
  }
  const root = parseXml(text)
  const elements = capElements(root)
  for (const [index, element] of elements.entries()) {
    read(nameOf(element) ?? `#${index + 1}`, () => readCapXml(element))
  }
  if (elements.length > 0) return document
  const links = readIndex(root, url)
  if (!links) {
    const what = `<${brief(root.name)}>`
    throw feedError(
      'unreadable',
      `answered with ${what}, which is neither a CAP alert nor an index`,
    )
  }
  const unique = new Map<string, CapLink>()
  for (const [index, link] of links.entries()) {
    if (index >= max_entries) {
      const reason = `entry: ${links.length - index} entries beyond the first ${max_entries} are left out`
      document.rejected.push({ item: hostAndPath(url), reason })
      break
    }
    if (link) unique.set(link.url, link)
    else document.rejected.push({ item: `#${index + 1}`, reason: 'link: is missing' })
  }
  document.links = [...unique.values()]
  return document

  function read(item: string, alert: () => CapAlert): void {
    try {
      document.alerts.push(alert())
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      document.rejected.push(reject(item, reason).rejected)
    }
  }
}

function nameOf(alert: XmlElement): string | undefined {
  return alert.children.find(({ name }) => /(^|:)identifier$/.test(name))?.text || undefined
}

function messageOf(alert: CapAlert, authority: string, rejected: Rejected[]): Message[] {
  const refusal = refuseCap(alert)
  if (refusal) {
    rejected.push(reject(alert.identifier, refusal).rejected)
    return []
  }
  const vtec = readVtec(alert.infos.flatMap(({ parameters }) => parameters))
  const subject = subjectOf(vtec)
  const is_new = vtec.every(({ action }) => action === 'NEW')
  const message = {
    name: alert.identifier,
    references: alert.references,
    sent_at: alert.sent,
    subject: is_new ? null : subject,
  }
  if (alert.msg_type.toLowerCase() === 'cancel' || endsHazard(vtec)) {
    return [{ ...message, event: null }]
  }
  const results = capEvent(alert, {
    source: 'cap',
    id: `cap:${authority}:${alert.identifier}`,
    subject,
    default_hours: DEFAULT_HOURS,
  })
  return results.flatMap((result) => {
    if ('event' in result) return [{ ...message, event: result.event }]
    rejected.push(result.rejected)
    return []
  })
}

function isAddress(url: string): boolean {
  return URL.canParse(url) && isListed(new URL(url), [url])
}

/** The host of an address: what comes from one authority cannot change or end the alerts of another. */
function authorityOf(url: string): string {
  return new URL(url).host
}

/** An index over https often links with http to its own host. */
function secured(link: string, index: string): string {
  const url = new URL(link)
  if (new URL(index).protocol === 'https:' && url.host === new URL(index).host)
    url.protocol = 'https:'
  return url.href
}
