import { z } from 'zod'
import { EventType, Geometry, type NormalisedEvent } from '../../../shared/schemas/event.ts'
import { type Rejected, reject } from '../feed.ts'
import { countVertices } from '../formats/geometry.ts'

/**
 * An open warning: title, lat, lon, ts, severity, type, subject, url, ends_at, revised_at, geometry; the names
 * of its latest messages, as hashes; in how many complete answers in a row it was missing; when it was opened. A
 * tuple, because hundreds of them are stored with every poll.
 */
const Entry = z.tuple([
  z.string(),
  z.number(),
  z.number(),
  z.string(),
  z.number(),
  EventType,
  z.string().nullable(),
  z.string().nullable(),
  z.string().nullable(),
  z.string().nullable(),
  Geometry.nullable(),
  z.array(z.string()),
  z.int().min(0),
  z.string(),
])
type Entry = z.infer<typeof Entry>
const [SUBJECT, ENDS_AT, REVISED_AT, GEOMETRY, NAMES, MISSING, OPENED_AT] = [
  6, 8, 9, 10, 11, 12, 13,
] as const

/** The open warnings of a feed by the id of their events, and the names of those that are over. */
export const AlertMemory = z.object({
  open: z.record(z.string(), Entry).default({}),
  /** When a message ended them, so that an old copy does not open them again; or else `VANISHED`. */
  closed: z.record(z.string(), z.string()).default({}),
})
export type AlertMemory = z.infer<typeof AlertMemory>

const MAX_OPEN = 1500
const MAX_CLOSED = 1000
const MAX_NAMES = 6
const MAX_VERTICES_KEPT = 20_000
const MAX_MISSING = 2
/** An event without an end is forgotten after this time without a message. */
const MAX_AGE_MS = 7 * 24 * 60 * 60_000
/** Stands before the time at which a warning was missing for good. It may come back. */
const VANISHED = '?'

/** What a message says of the warnings that it names. */
export type Message = {
  /** The name under which later messages refer to it. */
  name: string
  references: string[]
  sent_at: string
  /** The event that it describes, under an id of its own; null when it only ends others. */
  event: NormalisedEvent | null
  /** The hazard, by which a message without references continues or ends the only open warning of it. */
  subject?: string | null
}

type Followed = { memory: AlertMemory; events: NormalisedEvent[]; rejected: Rejected[] }

/**
 * Follows chains of messages: one that refers to open warnings continues the oldest of them under its id and
 * ends the others. Returns the new memory and the events of the messages.
 *
 * @param listing everything that stands now is among the messages, or names an item that was rejected
 * (`unread`): warnings that were missing from two such listings in a row have ended.
 * @param share the part of what a feed may remember that is for this memory.
 */
export function followMessages(
  memory: AlertMemory,
  messages: readonly Message[],
  {
    now,
    prefix,
    listing,
    share = 1,
  }: { now: Date; prefix: string; listing?: { unread: readonly string[] }; share?: number },
): Followed {
  const open = new Map(Object.entries(memory.open))
  const closed = new Map(Object.entries(memory.closed))
  const names = new Map<string, string>()
  for (const [id, entry] of open) for (const name of entry[NAMES]) names.set(name, id)
  const events = new Map<string, NormalisedEvent>()
  const rejected: Rejected[] = []
  const seen = new Set<string>()
  for (const name of listing?.unread ?? []) markSeen(names.get(hash(name)))
  const in_order = messages.toSorted((a, b) => compare(a.sent_at, b.sent_at))
  for (const message of in_order) handle(message)
  if (listing) closeMissing()
  return { memory: trimmed(), events: [...events.values()], rejected }

  function handle(message: Message): void {
    const { sent_at, event } = message
    const name = hash(message.name)
    const over = closed.get(name)
    if (event && over && !over.startsWith(VANISHED)) return
    const own = names.get(name)
    if (own !== undefined && event && (open.get(own)?.[REVISED_AT] ?? '') > sent_at) {
      markSeen(own)
      return
    }
    const ids = idsFor(message, own)
    const [first, ...rest] = ids
    if (event === null || event.status !== 'active') {
      if (first === undefined && event === null && !over) {
        const reason = 'ends a warning that is not known, or that has ended already'
        rejected.push(reject(message.name, reason).rejected)
      }
      for (const id of ids) end(id, sent_at, id === first ? event : null)
      if (first === undefined && event) events.set(event.id, event)
      closed.set(name, now.toISOString())
      return
    }
    const id = first ?? event.id
    for (const other of rest) end(other, sent_at, null)
    // The database knows warnings that this memory does not, e.g. after it was lost.
    const unknown = first === undefined ? message.references.filter((each) => !isOver(each)) : []
    const aliases = [...new Set([event.id, id, ...unknown.map((each) => `${prefix}${each}`)])]
    // What comes back must not lose against its end.
    const revised_at = over ? later(event.revised_at, now.toISOString()) : event.revised_at
    const next = { ...event, id, aliases: aliases.slice(0, 20), revised_at }
    events.set(id, next)
    closed.delete(name)
    const known = open.get(id)
    const chain = [...new Set([...(known?.[NAMES] ?? []), name])].slice(-MAX_NAMES)
    open.set(id, pack(next, chain, known?.[OPENED_AT] ?? sent_at))
    for (const each of chain) names.set(each, id)
    markSeen(id)
  }

  function isOver(name: string): boolean {
    return /^\d/.test(closed.get(hash(name)) ?? '')
  }

  /** The open warnings that a message means, the oldest first. */
  function idsFor({ name, references, subject }: Message, own: string | undefined): string[] {
    const referred = [name, ...references].flatMap((each) => names.get(hash(each)) ?? [])
    const ids = [...new Set(referred)].filter((id) => open.has(id))
    ids.sort((a, b) => compare(open.get(a)?.[OPENED_AT] ?? '', open.get(b)?.[OPENED_AT] ?? ''))
    if (own !== undefined) return [own, ...ids.filter((id) => id !== own)]
    if (ids.length > 0 || references.length > 0 || !subject) return ids
    const same = [...open].filter(([id, entry]) => entry[SUBJECT] === subject && !seen.has(id))
    return same.length === 1 ? same.map(([id]) => id) : []
  }

  function end(id: string, at: string, last: NormalisedEvent | null, mark = ''): void {
    const entry = open.get(id)
    if (!entry) return
    open.delete(id)
    for (const name of entry[NAMES]) closed.set(name, `${mark}${now.toISOString()}`)
    // Opened by a message of the same answer: nobody has heard of it.
    if (memory.open[id] === undefined) {
      events.delete(id)
      return
    }
    const revised_at = later(entry[REVISED_AT], at)
    events.set(id, { ...(last ?? unpack(id, entry)), id, status: 'ended', revised_at })
  }

  function markSeen(id: string | undefined): void {
    const entry = id === undefined ? undefined : open.get(id)
    if (id === undefined || !entry) return
    seen.add(id)
    if (entry[MISSING] > 0) open.set(id, withMissing(entry, 0))
  }

  function closeMissing(): void {
    const time = now.toISOString()
    const standing = [...open].filter(([, entry]) => (entry[ENDS_AT] ?? '9') > time)
    const missing = standing.filter(([id]) => !seen.has(id))
    // An upstream that loses most of its warnings at once is broken.
    if (missing.length > Math.max(3, standing.length / 2)) return
    for (const [id, entry] of missing) {
      if (entry[MISSING] + 1 < MAX_MISSING) open.set(id, withMissing(entry, entry[MISSING] + 1))
      else end(id, time, null, VANISHED)
    }
  }

  /** Without what is over, which the database ends by its time, and within the limits of a state. */
  function trimmed(): AlertMemory {
    const time = now.toISOString()
    const oldest = new Date(now.getTime() - MAX_AGE_MS).toISOString()
    const kept = [...open]
      .filter(([, entry]) =>
        entry[ENDS_AT] === null ? (entry[REVISED_AT] ?? time) > oldest : entry[ENDS_AT] > time,
      )
      .sort(([, a], [, b]) => compare(b[REVISED_AT] ?? '', a[REVISED_AT] ?? ''))
      .slice(0, MAX_OPEN * share)
    return {
      open: Object.fromEntries(withinVertices(kept, MAX_VERTICES_KEPT * share)),
      closed: Object.fromEntries(
        [...closed]
          .filter(([, at]) => timeOf(at) > oldest)
          .sort(([, a], [, b]) => compare(timeOf(b), timeOf(a)))
          .slice(0, MAX_CLOSED * share),
      ),
    }
  }
}

/** The largest footprints are not remembered when all together are too large: their end has a point only. */
function withinVertices(entries: [string, Entry][], limit: number): [string, Entry][] {
  const size = ([, entry]: [string, Entry]) =>
    entry[GEOMETRY] ? countVertices(entry[GEOMETRY]) : 0
  const sizes = new Map(entries.map((entry) => [entry[0], size(entry)]))
  let left = limit
  const dropped = new Set<string>()
  for (const [id, count] of [...sizes].sort(([, a], [, b]) => a - b)) {
    left -= count
    if (left < 0) dropped.add(id)
  }
  return entries.map(([id, entry]) => {
    if (!dropped.has(id)) return [id, entry]
    const next: Entry = [...entry]
    next[GEOMETRY] = null
    return [id, next]
  })
}

function pack(event: NormalisedEvent, names: string[], opened_at: string): Entry {
  return [
    event.title,
    event.lat,
    event.lon,
    event.ts,
    event.severity,
    event.type,
    event.subject,
    event.url,
    event.ends_at,
    event.revised_at,
    event.geometry,
    names,
    0,
    opened_at,
  ]
}

function unpack(id: string, entry: Entry): NormalisedEvent {
  const [title, lat, lon, ts, severity, type, subject, url, ends_at, revised_at, geometry] = entry
  return {
    id,
    source: id.slice(0, id.indexOf(':')),
    type,
    title,
    lat,
    lon,
    ts,
    severity,
    subject,
    status: 'active',
    url,
    geometry,
    ends_at,
    revised_at,
    aliases: [id],
  }
}

function withMissing(entry: Entry, missing: number): Entry {
  const next: Entry = [...entry]
  next[MISSING] = missing
  return next
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function timeOf(closed: string): string {
  return closed.replace(VANISHED, '')
}

/** A name or address in up to 11 characters: those of the NWS have 75, and hundreds are stored. */
export function hash(name: string): string {
  // cyrb53, public domain: 53 bits, so that a million names hardly ever collide.
  let [high, low] = [0xdeadbeef, 0x41c6ce57]
  for (let i = 0; i < name.length; i += 1) {
    const code = name.charCodeAt(i)
    high = Math.imul(high ^ code, 2654435761)
    low = Math.imul(low ^ code, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36)
}

/** An end must not lose against the state before it. */
function later(a: string | null, b: string): string {
  return a !== null && a > b ? a : b
}
