import { z } from 'zod'
import { EventType, type NormalisedEvent } from '../../../shared/schemas/event.ts'

const WINDOW_MS = { hour: 60 * 60_000, day: 24 * 60 * 60_000 } as const
/** A summary is rebuilt every minute and cached for another, so events this close to its edge may be missing. */
const EDGE_MS = 3 * 60_000
/** More than twice the busiest day of the Ridgecrest sequence in 2019. */
const MAX_REMEMBERED = 5_000

export type Window = keyof typeof WINDOW_MS

/** The content of a summary feed. */
export type Snapshot = {
  window: Window
  events: NormalisedEvent[]
  /** Ids of items that could not be parsed. They have not vanished. */
  unread: string[]
  /** When the upstream generated it, in ms since 1970. */
  generated: number
  /** False for a truncated copy: nothing can be concluded from what is missing. */
  complete: boolean
}

/**
 * What is kept of a recent event, to retract it when it vanishes: title, lat, lon, ts, severity, type,
 * updated, other ids; how often in a row each window lacked it; and when it was retracted, or null.
 * A tuple, because hundreds of them are stored with every poll.
 */
const MemoryEntry = z.tuple([
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
type MemoryEntry = z.infer<typeof MemoryEntry>

/** The remembered events by id, without the source prefix. */
export const Memory = z.record(z.string(), MemoryEntry)
export type Memory = z.infer<typeof Memory>

const MISSES = { hour: 8, day: 9 } as const
const RETRACTED_AT = 10

/**
 * Updates the memory with a snapshot. Returns the events of the snapshot and, as retracted, those that
 * were missing from two complete snapshots in a row although they are recent enough to be in them.
 */
export function updateMemory(memory: Memory, snapshot: Snapshot): NormalisedEvent[] {
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
  // The preferred id may have changed, so all ids are looked up.
  const known = ids.map((id) => memory[id]).find((entry) => entry !== undefined)
  const retracted_at = known?.[RETRACTED_AT] ?? null
  // This copy may be older than the one in which the event was missing.
  if (retracted_at !== null && generated <= retracted_at) return null

  for (const id of ids) delete memory[id]
  if (event.status === 'retracted') return event
  const entry = pack(event, known)
  entry[MISSES[window]] = 0
  memory[bare(event.id)] = entry
  if (retracted_at === null) return event
  // The event is back. Its old update time would lose against that of the retraction.
  const back_at = new Date(generated).toISOString()
  const is_newer = event.revised_at !== null && event.revised_at > back_at
  return is_newer ? event : { ...event, revised_at: back_at }
}

function vanished(memory: Memory, present: Set<string>, snapshot: Snapshot): NormalisedEvent[] {
  const { window, generated, complete } = snapshot
  if (!complete) return []
  const since = generated - WINDOW_MS[window] + EDGE_MS
  const watched = Object.entries(memory).filter(
    ([, entry]) => entry[3] > since && entry[RETRACTED_AT] === null,
  )
  const missing = watched.filter(
    ([id, entry]) => !present.has(id) && !entry[7].some((alias) => present.has(alias)),
  )
  // An upstream that loses most of its events at once is broken, whatever its count says.
  if (missing.length > Math.max(3, watched.length / 2)) return []

  const retracted: NormalisedEvent[] = []
  for (const [id, entry] of missing) {
    const next: MemoryEntry = [...entry]
    next[MISSES[window]] += 1
    memory[id] = next
    if (next[MISSES[window]] < 2) continue
    next[RETRACTED_AT] = generated
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

function pack(event: NormalisedEvent, known: MemoryEntry | undefined): MemoryEntry {
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

function unpack(id: string, entry: MemoryEntry): NormalisedEvent {
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
