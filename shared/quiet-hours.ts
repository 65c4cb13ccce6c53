/** Quiet hours: the daily window in which a zone's alerts wait or are dropped, in the zone's own time zone. */
import { Temporal } from 'temporal-polyfill'
import type { ZoneFields } from './zone.ts'

type QuietHours = Pick<ZoneFields, 'quiet_hours_start' | 'quiet_hours_end' | 'quiet_hours_tz'>

interface QuietWindow {
  start: Date
  end: Date
}

/**
 * The quiet window [start, end) that contains `at`, or null. Without times, or with start = end, quiet hours are off.
 *
 * Both ends are wall-clock times, as in RFC 5545 §3.3.5: a time that the clock skips in spring is moved forward by the
 * length of the gap (02:30 becomes 03:30), and a time that occurs twice in autumn means the first. A window that lies
 * completely in the gap does not take place that day.
 *
 * Throws a RangeError for a time zone that the runtime does not know.
 */
export function quietWindowAt(hours: QuietHours, at: Date): QuietWindow | null {
  const { quiet_hours_start: start, quiet_hours_end: end, quiet_hours_tz: timeZone } = hours
  if (start === null || end === null || start === end) return null
  const instant = at.getTime()
  const today = Temporal.Instant.fromEpochMilliseconds(instant)
    .toZonedDateTimeISO(timeZone)
    .toPlainDate()
  const clock = (day: Temporal.PlainDate, plainTime: string) =>
    day.toZonedDateTime({ timeZone, plainTime }).epochMilliseconds
  // Yesterday's window may still be open, and when the clock is set back over midnight, tomorrow's may be open already.
  for (const days of [0, -1, 1]) {
    const day = today.add({ days })
    const opens = clock(day, start)
    if (opens > instant) continue
    const closes = clock(end > start ? day : day.add({ days: 1 }), end)
    if (instant < closes) return { start: new Date(opens), end: new Date(closes) }
  }
  return null
}
