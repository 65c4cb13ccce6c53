import { Temporal } from 'temporal-polyfill'
import { z } from 'zod'
import { isTimeZone } from '../../../shared/time.ts'
import { fieldText } from '../../i18n/problem.text.ts'

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
const Clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, fieldText.en.clock)
const End = z.string().regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, fieldText.en.clock)

/** The office hours in which the mails of a sequence go. */
export const SendWindow = z
  .strictObject({
    days: z
      .array(z.enum(WEEKDAYS))
      .min(1)
      .max(7)
      .transform((days) => WEEKDAYS.filter((day) => days.includes(day))),
    from: Clock,
    to: End.meta({ description: 'The first minute in which nothing goes any more, or 24:00.' }),
    time_zone: z.string().max(60).refine(isTimeZone, fieldText.en.time_zone).meta({
      description: 'For recipients whose time zone is not known.',
      example: 'Europe/Istanbul',
    }),
  })
  .refine(({ from, to }) => from < to, { error: fieldText.en.window_order, path: ['to'] })
  .meta({
    description: 'In the time zone of each recipient. Public holidays are working days.',
  })
export type SendWindow = z.output<typeof SendWindow>

/** Monday to Friday, 9 to 17. */
export const officeHours = (time_zone: string): SendWindow => ({
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  from: '09:00',
  to: '17:00',
  time_zone,
})

/** A span of time in which a mail may go: `from` belongs to it, `until` does not. */
export type Opening = { from: Date; until: Date }

/** A window on one day of the week: that day is over, and the clock skips its hours a week later. */
const MAX_DAYS = 15

/**
 * The first opening that is not over at `after`, cut to begin there: the hours that are office hours in
 * all of the time zones on the same date. null if there are none, because they are too far apart.
 *
 * A time that the clock skips in spring is moved forward by the length of the gap, and one that occurs
 * twice in autumn means the first (RFC 5545 §3.3.5).
 */
export function nextOpening(
  time_zones: string[],
  window: Pick<SendWindow, 'days' | 'from' | 'to'>,
  after: Date,
): Opening | null {
  const instant = after.getTime()
  // The date in any of them: a date that is over in one has no hours in all.
  let day = dateIn(time_zones[0] ?? 'UTC', after)
  for (let tries = 0; tries < MAX_DAYS; tries += 1, day = day.add({ days: 1 })) {
    const weekday = WEEKDAYS[day.dayOfWeek - 1]
    if (!weekday || !window.days.includes(weekday)) continue
    const opening = openingOf(time_zones, window, day)
    if (!opening || opening.until <= instant) continue
    return { from: new Date(Math.max(opening.from, instant)), until: new Date(opening.until) }
  }
  return null
}

/** When a mail may go that follows `days` calendar days after another one, in all of the time zones. */
export function daysAfter(time_zones: string[], sent_at: Date, days: number): Date {
  const starts = time_zones.map(
    (timeZone) =>
      dateIn(timeZone, sent_at).add({ days }).toZonedDateTime({ timeZone }).epochMilliseconds,
  )
  return new Date(Math.max(...starts))
}

function dateIn(timeZone: string, at: Date): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(at.getTime())
    .toZonedDateTimeISO(timeZone)
    .toPlainDate()
}

function openingOf(
  time_zones: string[],
  { from, to }: Pick<SendWindow, 'from' | 'to'>,
  day: Temporal.PlainDate,
): { from: number; until: number } | null {
  const clock = (timeZone: string, date: Temporal.PlainDate, plainTime: string) =>
    date.toZonedDateTime({ timeZone, plainTime }).epochMilliseconds
  const opens = Math.max(...time_zones.map((zone) => clock(zone, day, from)))
  const closes = Math.min(
    ...time_zones.map((zone) =>
      to === '24:00' ? clock(zone, day.add({ days: 1 }), '00:00') : clock(zone, day, to),
    ),
  )
  return opens < closes ? { from: opens, until: closes } : null
}
