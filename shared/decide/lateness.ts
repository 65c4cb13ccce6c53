/** How long an event is news: what was first seen later than that raises no alert unless it still lasts. */
import { type EventType, isMoving, type NormalisedEvent } from '../schemas/event.ts'

/**
 * For how many hours after its time (`ts`) an event of a type is news. A shock is over at once, a drought lasts for
 * months, and sources differ in how soon they tell: a satellite passes after hours, volcanoes are reported weekly.
 */
const NEWS_FOR_HOURS: Record<Exclude<EventType, 'vessel' | 'aircraft'>, number> = {
  earthquake: 6,
  tsunami: 24,
  weather: 48,
  conflict: 48,
  storm: 72,
  wildfire: 7 * 24,
  flood: 7 * 24,
  other: 7 * 24,
  volcano: 14 * 24,
  drought: 60 * 24,
}
/** What is severe is news for three days, whatever its type. */
const SEVERE = 60
const SEVERE_FOR_HOURS = 72

const HOUR_MS = 60 * 60 * 1000

/** The facts of an event that tell whether it came late. */
export type Datable = Pick<NormalisedEvent, 'type' | 'severity' | 'subject' | 'ts'> & {
  /** When the event was first seen here: its first revision, not this one. */
  known_since: string
}

export interface Lateness {
  late: boolean
  /** How long after its time it was first seen, to the nearest 0.001; 0 when it was announced before. */
  delay_hours: number
  /** For how long it is news; null for a position, which is judged by its order. */
  news_for_hours: number | null
}

/** Whether an event was first seen when it was no longer news. */
export function latenessOf({ type, severity, subject, ts, known_since }: Datable): Lateness {
  const delay = Math.max(0, Date.parse(known_since) - Date.parse(ts)) / HOUR_MS
  const delay_hours = Math.round(delay * 1000) / 1000
  if (isMoving(subject)) return { late: false, delay_hours, news_for_hours: null }
  const of = type === 'vessel' || type === 'aircraft' ? NEWS_FOR_HOURS.other : NEWS_FOR_HOURS[type]
  const news_for_hours = severity >= SEVERE ? Math.max(of, SEVERE_FOR_HOURS) : of
  return { late: delay > news_for_hours, delay_hours, news_for_hours }
}
