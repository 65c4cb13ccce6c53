/** What the sentences of each language consist of, and how they write numbers and times. */
import type { Check } from '../decide/checks.ts'

/** What has changed about an alert, other than which sources report it. */
export type Update = 'revised' | 'escalated' | 'ended' | 'retracted'
/** How a stay in a zone ended. */
export type StayEnd = 'left' | 'unseen'

/** How a sentence writes a time. */
export type Clock = (instant: string) => string

/** The parts of the sentences in one language. */
export type Sentences = {
  /** What a check that passed has to do with it; null when that says nothing. */
  because: (check: Check, clock: Clock) => string | null
  whyNot: (check: Check, clock: Clock) => string
  over: Record<StayEnd | 'ended' | 'retracted', string>
  /** What changed, with the current numbers. */
  changed: (update: 'revised' | 'escalated', numbers: string) => string
}

/** Rounded to 0.1 km, or to 1 m where that would hide on which side of the radius it is. */
export function kilometres(distance_km: number, radius_km: number): string {
  const short = oneDecimal(distance_km)
  return Number(short) === radius_km ? String(Number(distance_km.toFixed(3))) : short
}

/** Rounded to 0.1. */
export const oneDecimal = (value: number) => String(Math.round(value * 10) / 10)

/** A time that may be missing where the check says that there is one. */
export const at = (instant: string | null, clock: Clock) =>
  instant === null ? 'null' : clock(instant)
