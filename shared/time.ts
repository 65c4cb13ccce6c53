import { z } from 'zod'

/** The range of times: years that ISO 8601, JavaScript and PostgreSQL all write with four digits. */
const FIRST_YEAR = '1000'
const LAST_INSTANT = '9999-12-31T23:59:59.999999'
const MESSAGE = 'Must be a time between the years 1000 and 9999.'

// A year of five digits or before Christ begins with a sign.
const isInRange = (utc: string) =>
  /^\d/.test(utc) && utc >= FIRST_YEAR && utc.slice(0, -1) <= LAST_INSTANT

/** A time in the API: ISO 8601 UTC ending in `Z`. */
export const Instant = z.iso
  .datetime({ abort: true })
  // Four-digit years can be compared as text. PostgreSQL rounds up beyond microseconds.
  .refine((time) => isInRange(time), MESSAGE)
  .meta({ pattern: 'Z$', example: '2026-03-01T12:00:00.000Z' })

/** A time as a caller may send it: ISO 8601 with any offset; it becomes UTC. */
export const GivenInstant = z.iso
  .datetime({
    offset: true,
    abort: true,
    error:
      'Must be a time in ISO 8601 with Z or an offset, as in 2026-03-01T12:00:00Z or 2026-03-01T14:00:00+02:00.',
  })
  .transform((time) => (time.endsWith('Z') ? time : new Date(time).toISOString()))
  .refine((time) => isInRange(time), MESSAGE)
  .meta({ type: 'string', format: 'date-time', example: '2026-03-01T12:00:00.000Z' })

/** {@link GivenInstant} or null. Says so itself: the OpenAPI generator forgets the null of a transformed type. */
export const NullableInstant = GivenInstant.nullable().meta({
  type: ['string', 'null'],
  format: 'date-time',
  example: '2026-03-01T12:00:00.000Z',
})

/** {@link GivenInstant} in a query string, where a plus sign that is not encoded arrives as a space. */
export const QueryInstant = z
  .string()
  .transform((time) => time.replace(/ (?=\d\d:?\d\d$)/, '+'))
  .pipe(GivenInstant)
  .meta({ type: 'string', format: 'date-time', example: '2026-03-01T12:00:00.000Z' })

/** A day in the API: ISO 8601. */
export const Day = z.iso.date({ abort: true }).refine((day) => day >= FIRST_YEAR, MESSAGE)

/** Whether this is an IANA time zone that the runtime knows. Offsets such as +02:00 are not allowed. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
