import { z } from 'zod'
import { EventType, type NormalisedEvent } from '../../shared/event.ts'

const WINDOW_MS = { hour: 60 * 60_000, day: 24 * 60 * 60_000 } as const
/** A summary is rebuilt every minute and cached for one: that near its edge an event may be gone. */
const EDGE_MS = 3 * 60_000
/** More than twice the fullest day of the Ridgecrest sequence of 2019. */
const MAX_REMEMBERED = 5_000

export type Window = keyof typeof WINDOW_MS

/** One whole reading of a summary feed. */
export type Snapshot = {
  window: Window
  events: NormalisedEvent[]
  /** Ids of items that are there but could not be read: they have not vanished. */
  unread: string[]
  /** When the upstream built it, ms since 1970. */
  generated: number
  /** False for a copy that was cut: nothing can be concluded from what it lacks. */
  complete: boolean
}

/**
 * What is kept of a recent event to take it back when it vanishes: title, lat, lon, ts, severity,
 * type, updated, other ids; then how often each window lacked it in a row; then, when it was taken
 * back, the time. A tuple, because some hundreds of them are stored with every poll.
 */
const Remembered = z.tuple([
  z.string(),
  z.number(),
  z.number(),
  z.number(),
  z.number(),
  EventType,
  z.number().nullable(),
  z.array(z.string()),
  z.number(),
  z.number(),
  z.number().nullable(),
])
type Remembered = z.infer<typeof Remembered>

/** By id without the source. */
export const Memory = z.record(z.string(), Remembered)
export type Memory = z.infer<typeof Memory>

const MISSES = { hour: 8, day: 9 } as const
const TAKEN_BACK_AT = 10

/**
 * observe brings the memory up to date with a snapshot and returns the events to hand over: those in
 * it, and those that vanished from two complete snapshots in a row while they were young enough to
 * be there, as retracted.
 */
export function observe(memory: Memory, snapshot: Snapshot): NormalisedEvent[] {
  const present = new Set(snapshot.unread.map(bare))
  const events: NormalisedEvent[] = []
  for (const event of snapshot.events) {
    const ids = [event.id, ...event.aliases].map(bare)
    for (const id of ids) present.add(id)
    const kept = remember(memory, event, ids, snapshot)
    if (kept) events.push(kept)
  }
  events.push(...vanished(memory, present, snapshot))
  forget(memory, snapshot.generated)
  return events
}

function remember(
  memory: Memory,
  event: NormalisedEvent,
  ids: string[],
  { window, generated }: Snapshot,
): NormalisedEvent | null {
  // The preferred id may have changed since: whatever was known under another one is this event.
  const known = ids.map((id) => memory[id]).find((entry) => entry !== undefined)
  const taken_back_at = known?.[TAKEN_BACK_AT] ?? null
  // The other window's copy may be older than the one that took the event back.
  if (taken_back_at !== null && generated <= taken_back_at) return null

  for (const id of ids) delete memory[id]
  if (event.status === 'retracted') return event
  const entry = pack(event, known)
  entry[MISSES[window]] = 0
  memory[bare(event.id)] = entry
  if (taken_back_at === null) return event
  // Back again, perhaps with its old update time, which would lose against the retraction's.
  const back_at = new Date(generated).toISOString()
  const is_newer = event.revised_at !== null && event.revised_at > back_at
  return is_newer ? event : { ...event, revised_at: back_at }
}

function vanished(memory: Memory, present: Set<string>, snapshot: Snapshot): NormalisedEvent[] {
  const { window, generated, complete } = snapshot
  if (!complete) return []
  const since = generated - WINDOW_MS[window] + EDGE_MS
  const watched = Object.entries(memory).filter(
    ([, entry]) => entry[3] > since && entry[TAKEN_BACK_AT] === null,
  )
  const missing = watched.filter(
    ([id, entry]) => !present.has(id) && !entry[7].some((alias) => present.has(alias)),
  )
  // An upstream that loses most of its catalogue at once is broken, whatever its count says.
  if (missing.length > Math.max(3, watched.length / 2)) return []

  const retracted: NormalisedEvent[] = []
  for (const [id, entry] of missing) {
    const next: Remembered = [...entry]
    next[MISSES[window]] += 1
    memory[id] = next
    if (next[MISSES[window]] < 2) continue
    next[TAKEN_BACK_AT] = generated
    retracted.push({ ...unpack(id, next), status: 'retracted', revised_at: instant(generated) })
  }
  return retracted
}

function forget(memory: Memory, generated: number): void {
  const oldest_first = Object.entries(memory).sort(([, a], [, b]) => a[3] - b[3])
  const surplus = oldest_first.length - MAX_REMEMBERED
  oldest_first.forEach(([id, entry], index) => {
    if (index < surplus || entry[3] < generated - WINDOW_MS.day) delete memory[id]
  })
}

function pack(event: NormalisedEvent, known: Remembered | undefined): Remembered {
  const id = bare(event.id)
  return [
    event.title,
    event.lat,
    event.lon,
    Date.parse(event.ts),
    event.severity,
    event.type,
    event.revised_at === null ? null : Date.parse(event.revised_at),
    event.aliases.map(bare).filter((alias) => alias !== id),
    known?.[MISSES.hour] ?? 0,
    known?.[MISSES.day] ?? 0,
    null,
  ]
}

function unpack(id: string, entry: Remembered): NormalisedEvent {
  const [title, lat, lon, ts, severity, type, updated, aliases] = entry
  return {
    id: `usgs:${id}`,
    source: 'usgs',
    type,
    title,
    lat,
    lon,
    ts: instant(ts),
    severity,
    subject: null,
    status: 'active',
    url: `https://earthquake.usgs.gov/earthquakes/eventpage/${id}`,
    geometry: null,
    ends_at: null,
    revised_at: updated === null ? null : instant(updated),
    aliases: [id, ...aliases].map((alias) => `usgs:${alias}`),
  }
}

function bare(id: string): string {
  return id.slice('usgs:'.length)
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}
