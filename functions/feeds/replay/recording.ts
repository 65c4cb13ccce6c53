import { z } from 'zod'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import { roundsIn } from './clock.ts'
import type { About, Replay, Seen } from './replay.ts'

const WEEK_MS = 7 * 24 * 60 * 60_000
const MINUTE_MS = 60_000

/** A state of an event, and when it was seen. */
type State = { seen_at: number; event: NormalisedEvent }

/**
 * What a source reported in a span of time: the states of its events in the order in which they were seen, each
 * with its position in the span (0 ≤ at < 1). Whatever its length, the span is replayed in one round.
 */
export type Recording = {
  starts_at: number
  ends_at: number
  items: { at: number; event: NormalisedEvent }[]
}

/** Makes a recording of states; what lies outside the span is left out. Events that last end in it. */
export function toRecording(
  { starts_at, ends_at }: Pick<Recording, 'starts_at' | 'ends_at'>,
  states: readonly State[],
): Recording {
  const items = [...states, ...endsOf(states)]
    .map(({ seen_at, event }) => ({ at: (seen_at - starts_at) / (ends_at - starts_at), event }))
    .filter(({ at }) => at >= 0 && at < 1)
    .sort((a, b) => a.at - b.at)
  return { starts_at, ends_at, items }
}

/** The ends of the events whose last state says until when they last. */
function endsOf(states: readonly State[]): State[] {
  const last = new Map<string, State>()
  for (const state of states.toSorted((a, b) => a.seen_at - b.seen_at)) {
    last.set(state.event.id, state)
  }
  return [...last.values()].flatMap(({ seen_at, event }) => {
    const ends_at = event.ends_at === null ? Number.NaN : Date.parse(event.ends_at)
    if (event.status !== 'active' || !(ends_at >= seen_at)) return []
    return [{ seen_at: ends_at, event: { ...event, status: 'ended' as const } }]
  })
}

const Header = z.object({ starts_at: z.iso.datetime(), ends_at: z.iso.datetime() })

/** A file of a recording: a header with the span and the origin of the facts, then one JSON value a line. */
export function readLines<T>(text: string, line: z.ZodType<T>) {
  const [first, ...rest] = text.trim().split('\n')
  const header = Header.parse(JSON.parse(first ?? ''))
  const [starts_at, ends_at] = [Date.parse(header.starts_at), Date.parse(header.ends_at)]
  return {
    span: { starts_at, ends_at },
    lines: rest.map((json) => line.parse(JSON.parse(json))),
    /** The time of a number of minutes since the span began. */
    timeOf: (minutes: number) => starts_at + minutes * MINUTE_MS,
  }
}

/**
 * Replays a recording over and over, with the source's own events as those of `about.source`: their ids end in
 * the round, and their titles say that they are replayed.
 */
export function replayRecording(recording: Recording, about: About): Replay {
  const { starts_at, ends_at, items } = recording
  return {
    ...about,
    history: (startedAt) => {
      const week_start = startedAt.getTime() - WEEK_MS
      return items.map(({ at, event }): Seen => {
        const seen = { start: week_start, length: WEEK_MS }
        return {
          event: replayed(event, { ...seen, number: null }),
          first_seen_at: new Date(Math.floor(week_start + at * WEEK_MS)).toISOString(),
        }
      })
    },
    due: (from, to, origin) =>
      [...roundsIn(from, to)].flatMap(({ number, start, length }) =>
        items
          .filter(({ at }) => start + at * length >= from && start + at * length < to)
          .map(({ event }) => replayed(event, { number, start: origin + start, length })),
      ),
  }

  function replayed(
    event: NormalisedEvent,
    { number, start, length }: { number: number | null; start: number; length: number },
  ): NormalisedEvent {
    const own = `${event.source}:`
    const renamed = (name: string) =>
      name.startsWith(own) ? `${about.source}:${name.slice(own.length)}` : name
    const time = (text: string) => {
      const share = (Date.parse(text) - starts_at) / (ends_at - starts_at)
      return new Date(Math.floor(start + share * length)).toISOString()
    }
    return {
      ...event,
      id: `${renamed(event.id)}${number === null ? '' : `-r${number}`}`,
      source: about.source,
      title: `REPLAY ${event.title}`.slice(0, 500),
      ts: time(event.ts),
      subject: event.subject === null ? null : renamed(event.subject),
      ends_at: event.ends_at === null ? null : time(event.ends_at),
      revised_at: null,
      aliases: [],
    }
  }
}
