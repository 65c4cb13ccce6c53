import { z } from 'zod'
import type { NormalisedEvent } from '../../shared/event.ts'
import type { Feed, FeedResult, PollInput } from './feed.ts'
import { normaliseUsgs } from './usgs-feature.ts'

const WEEK_MS = 7 * 24 * 60 * 60_000
const FIRST_ROUND_MS = 5 * 60_000
const LATER_ROUND_MS = 30 * 60_000
/** A longer time between two polls counts as a pause: the replay continues where it stopped. */
const MAX_STEP_MS = 60_000

const Recorded = z.object({
  metadata: z.object({ generated: z.number() }),
  features: z.array(z.unknown()),
})

const State = z.object({
  /** The position in the replay, in ms of playing time. */
  position_ms: z.number().min(0).optional(),
  polled_at: z.iso.datetime().optional(),
})

/** A recorded week: its events, oldest first, each with its position in the week (0 ≤ at < 1). */
export type Recording = { ends_at: Date; items: { at: number; event: NormalisedEvent }[] }

/** Parses a recorded week of the USGS summary feed. Invalid items are left out. */
export function readRecording(json: unknown): Recording {
  const { metadata, features } = Recorded.parse(json)
  const starts_at = metadata.generated - WEEK_MS
  const items = features
    .map((feature) => normaliseUsgs(feature))
    .flatMap((result) => ('event' in result ? [result.event] : []))
    .map((event) => ({ at: (Date.parse(event.ts) - starts_at) / WEEK_MS, event }))
    .filter(({ at }) => at >= 0 && at < 1)
    .sort((a, b) => a.at - b.at)
  return { ends_at: new Date(metadata.generated), items }
}

/** The recorded week as history: shifted so that it ends at `startedAt`, as if it had been seen live. */
export function historyOf(
  recording: Recording,
  startedAt: Date,
): { event: NormalisedEvent; first_seen_at: string }[] {
  const week_start = startedAt.getTime() - WEEK_MS
  return recording.items.map(({ at, event }) => {
    const first_seen_at = new Date(Math.floor(week_start + at * WEEK_MS)).toISOString()
    return { event: replayed(event, { round: null, ts: first_seen_at }), first_seen_at }
  })
}

/**
 * A feed that replays the recorded week over and over: the first time in 5 minutes, then in 30. What is
 * due depends only on the state and `now`. The state counts playing time, so after a pause the replay
 * continues where it stopped, without losing or repeating an event.
 */
export function usgsReplay(recording: Recording, { startedAt }: { startedAt: Date }): Feed {
  return {
    source: 'usgs-replay',
    title: 'REPLAY of a recorded USGS week',
    attribution: 'Recorded 31 January to 7 February 2018 by the U.S. Geological Survey',
    types: ['earthquake', 'volcano', 'other'],
    interval_seconds: 1,
    poll: async (input) => playDue(recording, startedAt, input),
  }
}

function playDue(recording: Recording, startedAt: Date, input: PollInput): FeedResult {
  const state = State.catch({}).parse(input.state)
  const from = state.position_ms ?? 0
  const polled_at = state.polled_at ? Date.parse(state.polled_at) : startedAt.getTime()
  const away = Math.max(0, input.now.getTime() - polled_at)
  const step = Math.min(away, MAX_STEP_MS)
  // When position 0 would have been played without any pause.
  const origin = input.now.getTime() - step - from

  const events = due(recording, from, from + step).map(({ event, position, round }) =>
    replayed(event, { round, ts: new Date(Math.floor(origin + position)).toISOString() }),
  )
  return {
    events,
    state:
      step === 0 ? input.state : { position_ms: from + step, polled_at: input.now.toISOString() },
    not_modified: step === 0,
    rejected: [],
  }
}

function due(recording: Recording, from: number, to: number) {
  const found: { event: NormalisedEvent; position: number; round: number }[] = []
  for (let round = roundAt(from); ; round += 1) {
    const { start, length } = roundSpan(round)
    if (start >= to) return found
    for (const { at, event } of recording.items) {
      const position = start + at * length
      if (position >= from && position < to) found.push({ event, position, round })
    }
  }
}

function roundAt(position: number): number {
  if (position < FIRST_ROUND_MS) return 1
  return 2 + Math.floor((position - FIRST_ROUND_MS) / LATER_ROUND_MS)
}

function roundSpan(round: number): { start: number; length: number } {
  if (round === 1) return { start: 0, length: FIRST_ROUND_MS }
  return { start: FIRST_ROUND_MS + (round - 2) * LATER_ROUND_MS, length: LATER_ROUND_MS }
}

function replayed(
  event: NormalisedEvent,
  { round, ts }: { round: number | null; ts: string },
): NormalisedEvent {
  const id = event.id.slice('usgs:'.length)
  return {
    ...event,
    id: `usgs-replay:${id}${round === null ? '' : `-r${round}`}`,
    source: 'usgs-replay',
    title: `REPLAY ${event.title}`.slice(0, 500),
    ts,
    revised_at: null,
    aliases: [],
  }
}
