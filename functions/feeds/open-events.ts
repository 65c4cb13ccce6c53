import { z } from 'zod'
import { NormalisedEvent } from '../../shared/event.ts'

/**
 * The open events of a feed whose answers list what stands now: each as it was last seen, and how many
 * complete answers in a row lacked it. Stored with the state of the feed.
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
 * `ended` or `retracted` are no longer open.
 *
 * @param unread ids of items that were rejected: they have not vanished.
 */
export function closeMissing(
  open: OpenEvents,
  present: readonly NormalisedEvent[],
  { now, unread = [] }: { now: Date; unread?: readonly string[] },
): { open: OpenEvents; ended: NormalisedEvent[] } {
  const next: OpenEvents = {}
  const ended: NormalisedEvent[] = []
  const unreadable = new Set(unread)
  const listed = new Set(present.map(({ id }) => id))
  for (const [id, { event, missing }] of Object.entries(open)) {
    if (listed.has(id)) continue
    if (unreadable.has(id)) {
      next[id] = { event, missing: 0 }
    } else if (missing + 1 < MAX_MISSING) {
      next[id] = { event, missing: missing + 1 }
    } else {
      ended.push({ ...event, status: 'ended', revised_at: latest(event.revised_at, now) })
    }
  }
  for (const event of present) {
    if (event.status === 'active') next[event.id] = { event, missing: 0 }
  }
  return { open: next, ended }
}

/** An end must not lose against the state before it; without a time any change is a revision. */
function latest(revised_at: string | null, now: Date): string | null {
  if (revised_at === null) return null
  return revised_at > now.toISOString() ? revised_at : now.toISOString()
}
