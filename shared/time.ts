import { z } from 'zod'

/** The years a time may lie in: those that ISO 8601, JavaScript and PostgreSQL all write with four digits and read back the same. */
const FIRST_YEAR = '1000'
const LAST_INSTANT = '9999-12-31T23:59:59.999999'
const MESSAGE = 'Give a time between the years 1000 and 9999.'

/** A time on the wire: ISO 8601 UTC ending in `Z`. */
export const Instant = z.iso
  .datetime({ abort: true })
  // Of four digits each, years compare as text; past the sixth digit of a second PostgreSQL rounds up.
  .refine((time) => time >= FIRST_YEAR && time.slice(0, -1) <= LAST_INSTANT, MESSAGE)
  .meta({ pattern: 'Z$', example: '2026-03-01T12:00:00.000Z' })

/** A day on the wire: ISO 8601. */
export const Day = z.iso.date({ abort: true }).refine((day) => day >= FIRST_YEAR, MESSAGE)
