/** The clock of all replays: playing time, which stands while nothing is played, and its rounds. */
import { z } from 'zod'
import type { FeedState } from '../feed.ts'

const FIRST_ROUND_MS = 5 * 60_000
const LATER_ROUND_MS = 30 * 60_000
/** A longer time between two polls counts as a pause: the replay continues where it stopped. */
const MAX_STEP_MS = 60_000

const State = z.object({
  /** The position in the replay, in ms of playing time. */
  position_ms: z.number().min(0).optional(),
  polled_at: z.iso.datetime().optional(),
})

/** What is played by one poll: from `from` up to, but without, `to`. */
export type Step = {
  from: number
  to: number
  /** When position 0 would have been played without any pause, in ms since 1970. */
  origin: number
  state: FeedState
}

/** The step since the last poll. It depends only on the state and `now`. */
export function nextStep(
  given: FeedState,
  { now, startedAt }: { now: Date; startedAt: Date },
): Step {
  const state = State.catch({}).parse(given)
  const from = state.position_ms ?? 0
  const polled_at = state.polled_at ? Date.parse(state.polled_at) : startedAt.getTime()
  const away = Math.max(0, now.getTime() - polled_at)
  const step = Math.min(away, MAX_STEP_MS)
  return {
    from,
    to: from + step,
    origin: now.getTime() - step - from,
    state: step === 0 ? given : { position_ms: from + step, polled_at: now.toISOString() },
  }
}

/**
 * Sets the states of several replays to one clock that goes on at `now`, in the given order. One that has not
 * played yet joins where the others are; one that is behind plays what it has missed.
 */
export function resume(states: readonly FeedState[], now: Date): FeedState[] {
  const positions = states.map((state) => State.catch({}).parse(state).position_ms)
  const ahead = Math.max(0, ...positions.flatMap((position) => position ?? []))
  return positions.map((position = ahead) => ({
    position_ms: position,
    polled_at: new Date(now.getTime() - (ahead - position)).toISOString(),
  }))
}

export type Round = { number: number; start: number; length: number }

/** The rounds that are played from one position to another: the first takes 5 minutes, the others 30. */
export function* roundsIn(from: number, to: number): Generator<Round> {
  for (let number = roundAt(from); ; number += 1) {
    const round = roundOf(number)
    if (round.start >= to) return
    yield round
  }
}

export function roundAt(position: number): number {
  if (position < FIRST_ROUND_MS) return 1
  return 2 + Math.floor((position - FIRST_ROUND_MS) / LATER_ROUND_MS)
}

export function roundOf(number: number): Round {
  if (number === 1) return { number, start: 0, length: FIRST_ROUND_MS }
  return { number, start: FIRST_ROUND_MS + (number - 2) * LATER_ROUND_MS, length: LATER_ROUND_MS }
}
