import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import type { Feed } from '../feed.ts'
import { nextStep } from './clock.ts'

/** How a replay presents itself as a source. */
export type About = Pick<Feed, 'source' | 'title' | 'attribution' | 'types' | 'interval_seconds'> &
  Partial<Pick<Feed, 'ceilings'>>

export type Seen = { event: NormalisedEvent; first_seen_at: string }

/** What can be played by the clock. */
export type Replay = About & {
  /** What happened before the start, as if it had been seen live, oldest first. */
  history(startedAt: Date): Seen[]
  /** What happens from one position up to another; `origin` is the time of position 0. */
  due(from: number, to: number, origin: number): NormalisedEvent[]
}

/**
 * The feed of a replay. Its state counts playing time, so after a pause it continues where it stopped, without
 * losing or repeating an event.
 */
export function feedOf({ history, due, ...about }: Replay, startedAt: Date): Feed {
  return {
    ...about,
    poll: async ({ state: given, now }) => {
      const { from, to, origin, state } = nextStep(given, { now, startedAt })
      return {
        events: due(from, to, origin),
        state,
        not_modified: from === to,
        rejected: [],
      }
    },
  }
}

/** Splits a history so that no part has two states of an event: each is then a revision of its own. */
export function revisionsOf(history: readonly Seen[]): Seen[][] {
  const parts: Seen[][] = []
  const counts = new Map<string, number>()
  for (const seen of history) {
    const count = counts.get(seen.event.id) ?? 0
    counts.set(seen.event.id, count + 1)
    const part = parts[count]
    if (part) part.push(seen)
    else parts.push([seen])
  }
  return parts
}
