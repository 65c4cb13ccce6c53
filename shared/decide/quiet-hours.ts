/** Quiet hours: the windows in which a zone's alerts wait or are dropped, in the zone's own time zone. */
import { Temporal } from 'temporal-polyfill'
import { z } from 'zod'
import { isTimeZone } from '../time.ts'

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
const TIME = '([01]\\d|2[0-3]):[0-5]\\d'

const given = (input: unknown) => JSON.stringify(String(input).slice(0, 20))
export const ClockTime = z.string().regex(new RegExp(`^${TIME}$`), {
  error: ({ input }) => `${given(input)}: use HH:MM, as in 07:00.`,
})
const EndTime = z.string().regex(new RegExp(`^(${TIME}|24:00)$`), {
  error: ({ input }) => `${given(input)}: use HH:MM, as in 07:00, or 24:00.`,
})

const QuietWindow = z
  .strictObject({
    days: z
      .array(z.enum(WEEKDAYS))
      .min(1)
      .max(7)
      .meta({
        description: 'The days on which the window begins.',
        example: ['mon', 'tue', 'wed', 'thu', 'fri'],
      }),
    start: ClockTime.meta({ description: 'HH:MM.', example: '22:00' }),
    end: EndTime.meta({
      description:
        'HH:MM: the first minute that is not quiet any more, or 24:00. Before `start`: on the next day.',
      example: '07:00',
    }),
  })
  .meta({ id: 'QuietWindow' })
type QuietWindow = z.infer<typeof QuietWindow>

export const QuietWindows = z.array(QuietWindow).min(1).max(8)

export interface QuietHours {
  quiet_hours_start: string | null
  quiet_hours_end: string | null
  /** Absent in versions of zones that are older than this field. */
  quiet_windows?: QuietWindow[] | null | undefined
  quiet_hours_tz: string
}

interface Period {
  start: Date
  end: Date
}

/** Windows that follow each other are one period; more than these never do, see quietIssues. */
const MAX_JOINED = 60

/**
 * The quiet period [start, end) that contains `at`, or null. Windows that overlap or follow each other without a gap are
 * one period. Without times, or with start = end, quiet hours are off.
 *
 * Both ends are wall-clock times, as in RFC 5545 §3.3.5: a time that the clock skips in spring is moved forward by the
 * length of the gap (02:30 becomes 03:30), and a time that occurs twice in autumn means the first. A window that lies
 * completely in the gap does not take place that day.
 *
 * Throws a RangeError for a time zone that the runtime does not know.
 */
export function quietWindowAt(hours: QuietHours, at: Date): Period | null {
  const windows = windowsOf(hours)
  if (windows.length === 0) return null
  const instant = at.getTime()
  const find = (when: number, holds: (opens: number, closes: number) => boolean) =>
    openings(windows, hours.quiet_hours_tz, when).find(([opens, closes]) => holds(opens, closes))
  const found = find(instant, (opens, closes) => opens <= instant && instant < closes)
  if (!found) return null
  let [start, end] = found
  for (let joined = 0; joined < MAX_JOINED; joined++) {
    const next = find(end, (opens, closes) => opens <= end && end < closes)
    if (!next) break
    end = next[1]
  }
  for (let joined = 0; joined < MAX_JOINED; joined++) {
    const previous = find(start, (opens, closes) => opens < start && start <= closes)
    if (!previous) break
    start = previous[0]
  }
  return { start: new Date(start), end: new Date(end) }
}

function windowsOf(hours: QuietHours): QuietWindow[] {
  const { quiet_hours_start: start, quiet_hours_end: end, quiet_windows } = hours
  if (quiet_windows) return quiet_windows
  return start === null || end === null || start === end
    ? []
    : [{ days: [...WEEKDAYS], start, end }]
}

/** The windows of the day of `when` and of those beside it, each as [opens, closes). */
function openings(windows: QuietWindow[], timeZone: string, when: number): [number, number][] {
  const today = Temporal.Instant.fromEpochMilliseconds(when)
    .toZonedDateTimeISO(timeZone)
    .toPlainDate()
  const clock = (day: Temporal.PlainDate, plainTime: string) =>
    day.toZonedDateTime({ timeZone, plainTime }).epochMilliseconds
  // Yesterday's window may still be open, and when the clock is set back over midnight, tomorrow's may be open already.
  return [0, -1, 1].flatMap((days) => {
    const day = today.add({ days })
    const name = WEEKDAYS[day.dayOfWeek - 1]
    return windows.flatMap((window): [number, number][] => {
      if (!name || !window.days.includes(name)) return []
      const { start, end } = window
      const isNextDay = end <= start || end === '24:00'
      const closes = clock(isNextDay ? day.add({ days: 1 }) : day, end === '24:00' ? '00:00' : end)
      return [[clock(day, start), closes]]
    })
  })
}

/** What is wrong with the quiet hours of a complete zone. */
export function quietIssues(hours: QuietHours): { path: string; code: string; message: string }[] {
  const { quiet_hours_start: start, quiet_hours_end: end, quiet_hours_tz: tz } = hours
  const windows = hours.quiet_windows ?? null
  const issues = []
  if ((start === null) !== (end === null)) {
    issues.push({
      path: start === null ? 'quiet_hours_start' : 'quiet_hours_end',
      code: 'required',
      message: `Quiet hours need a start and an end: send quiet_hours_${start === null ? 'start' : 'end'} too, or null for both.`,
    })
  }
  if (!isTimeZone(tz)) {
    issues.push({
      path: 'quiet_hours_tz',
      code: 'unknown_time_zone',
      message: `"${tz}" is not a known time zone. Send an IANA name such as "Europe/Berlin" or "UTC".`,
    })
  }
  if (!windows) return issues
  if (start !== null || end !== null) {
    issues.push({
      path: 'quiet_windows',
      code: 'exclusive',
      message:
        'quiet_windows replaces quiet_hours_start and quiet_hours_end: send null for both, or null for quiet_windows.',
    })
  }
  for (const [index, window] of windows.entries()) {
    if (window.start !== window.end) continue
    issues.push({
      path: `quiet_windows.${index}.end`,
      code: 'empty_window',
      message: `The window begins and ends at ${window.start}. For a whole day send start "00:00" and end "24:00".`,
    })
  }
  if (issues.length === 0 && isAlwaysQuiet(windows)) {
    issues.push({
      path: 'quiet_windows',
      code: 'always_quiet',
      message:
        'The windows leave no minute of the week, so nothing would ever be sent. Leave a gap, or disable the zone.',
    })
  }
  return issues
}

const MINUTES_A_DAY = 24 * 60

function isAlwaysQuiet(windows: QuietWindow[]): boolean {
  const week = 7 * MINUTES_A_DAY
  const quiet = new Uint8Array(week)
  for (const { days, start, end } of windows) {
    const from = minuteOf(start)
    const length = (minuteOf(end) - from + MINUTES_A_DAY) % MINUTES_A_DAY || MINUTES_A_DAY
    for (const day of days) {
      for (let minute = 0; minute < length; minute++) {
        quiet[(WEEKDAYS.indexOf(day) * MINUTES_A_DAY + from + minute) % week] = 1
      }
    }
  }
  return quiet.every((minute) => minute === 1)
}

function minuteOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}
