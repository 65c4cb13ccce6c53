import { z } from 'zod'

/** The range of times: years that ISO 8601, JavaScript and PostgreSQL all write with four digits. */
const FIRST_YEAR = '1000'
const LAST_INSTANT = '9999-12-31T23:59:59.999999'
const MESSAGE = 'Must be a time between the years 1000 and 9999.'

/** A time in the API: ISO 8601 UTC ending in `Z`. */
export const Instant = z.iso
  .datetime({ abort: true })
  // Four-digit years can be compared as text. PostgreSQL rounds up beyond microseconds.
  .refine((time) => time >= FIRST_YEAR && time.slice(0, -1) <= LAST_INSTANT, MESSAGE)
  .meta({ pattern: 'Z$', example: '2026-03-01T12:00:00.000Z' })

/** A day in the API: ISO 8601. */
export const Day = z.iso.date({ abort: true }).refine((day) => day >= FIRST_YEAR, MESSAGE)
