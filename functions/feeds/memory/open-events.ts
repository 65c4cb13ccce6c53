import { z } from 'zod'
import { NormalisedEvent } from '../../../shared/schemas/event.ts'

/**
 * The open events of a feed whose answers list what stands now, or the events that a window feed should
 * still list: each as it was last seen, and how many complete answers in a row lacked it. Stored with
 * the state of the feed.
 */
export const OpenEvents = z.record(
  z.string(),
  z.object({ event: NormalisedEvent, missing: z.int().min(0) }),
)
export type OpenEvents = z.infer<typeof OpenEvents>

/** Two, because an upstream sometimes leaves an item out of one answer. */
const MAX_MISSING = 2

/**
 * Compares the open events with an answer that lists all that stands. Returns the new open events, and
 * as `ended` those that were missing from two such answers in a row. Events of the answer that are
 * `ended` or `retracted` are no longer open. When most are missing at once, none is ended.
 *
 * @param unread ids of items that were rejected: they have not vanished.
 */
export function closeMissing(
  open: OpenEvents,
  present: readonly NormalisedEvent[],
  { unread = [] }: { unread?: readonly string[] } = {},
): { open: OpenEvents; ended: NormalisedEvent[] } {
  const { kept, gone } = compare(open, present, unread)
  return { open: kept, ended: gone.map((event) => withStatus(event, 'ended')) }
}

/**
 * Compares the events of a window with an answer that lists all of it. Returns the events of the window
 * from then on, and as `retracted` those that were missing from two such answers in a row. What happened
 * before `since` has only left the window. When most are missing at once, none is retracted.
 *
 * @param unread ids of items that were rejected: they have not vanished.
 */
export function retractMissing(
  known: OpenEvents,
  present: readonly NormalisedEvent[],
  { since, unread = [] }: { since: string; unread?: readonly string[] },
): { known: OpenEvents; retracted: NormalisedEvent[] } {
  const isWatched = ({ ts }: NormalisedEvent) => Date.parse(ts) > Date.parse(since)
  const watched = Object.fromEntries(
    Object.entries(known).filter(([, { event }]) => isWatched(event)),
  )
  const { kept, gone } = compare(watched, present.filter(isWatched), unread)
  return { known: kept, retracted: gone.map((event) => withStatus(event, 'retracted')) }
}

/** The time of the revision stays: an event that comes back as it was must not lose against its end. */
const withStatus = (event: NormalisedEvent, status: 'ended' | 'retracted'): NormalisedEvent => ({
  ...event,
  status,
})

function compare(
  open: OpenEvents,
  present: readonly NormalisedEvent[],
  unread: readonly string[],
): { kept: OpenEvents; gone: NormalisedEvent[] } {
  const kept: OpenEvents = {}
  const gone: NormalisedEvent[] = []
  const unreadable = new Set(unread)
  const listed = new Set(present.map(({ id }) => id))
  const missing = Object.keys(open).filter((id) => !listed.has(id) && !unreadable.has(id))
  // An upstream that loses most of its events at once is broken.
  const is_credible = missing.length <= Math.max(3, Object.keys(open).length / 2)
  for (const [id, entry] of Object.entries(open)) {
    if (listed.has(id)) continue
    if (unreadable.has(id)) kept[id] = { ...entry, missing: 0 }
    else if (!is_credible) kept[id] = entry
    else if (entry.missing + 1 < MAX_MISSING) kept[id] = { ...entry, missing: entry.missing + 1 }
    else gone.push(entry.event)
  }
  for (const event of present) {
    if (event.status === 'active') kept[event.id] = { event, missing: 0 }
  }
  return { kept, gone }
}
