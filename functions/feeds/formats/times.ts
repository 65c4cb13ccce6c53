import { z } from 'zod'

const Iso = z.iso.datetime({ offset: true, local: true })
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
/** The zones of RFC 822, in hours. */
const ZONES: Record<string, number> = {
  ...{ GMT: 0, UT: 0, UTC: 0, Z: 0 },
  ...{ EDT: -4, EST: -5, CDT: -5, CST: -6, MDT: -6, MST: -7, PDT: -7, PST: -8 },
}
const RFC_822 =
  /^(?:[A-Z][a-z]{2}, ?)?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d)(?::(\d\d))? ([A-Z]{1,3}|[+-]\d{4})$/

/**
 * A time in ISO 8601 as an instant in UTC. Text that is no such time is returned as it is, which no
 * schema of a time accepts.
 *
 * @param local what a time without Z or offset is: in UTC, or no time.
 */
export function instantOfIso(text: string, { local }: { local?: 'utc' } = {}): string {
  const time = text.trim().replace(/^(\d{4}-\d\d-\d\d) (?=\d\d:)/, '$1T')
  if (!Iso.safeParse(time).success) return text
  const has_zone = /(Z|[+-]\d\d:?\d\d)$/.test(time)
  if (!has_zone && local !== 'utc') return text
  return instantOr(text, Date.parse(has_zone ? time : `${time}Z`))
}

/** A time in the form of RFC 822, as in RSS, as an instant in UTC; else the text as it is. */
export function instantOfRfc822(text: string): string {
  const found = RFC_822.exec(text.trim().replace(/\s+/g, ' '))
  if (!found) return text
  const [, day = '', month = '', year = '', hour = '', minute = '', second = '0', zone = ''] = found
  const offset = offsetOf(zone)
  const index = MONTHS.indexOf(month)
  if (offset === null || index < 0) return text
  const parts = [Number(year), index, Number(day), Number(hour), Number(minute), Number(second)]
  const [y = 0, m = 0, d = 0, h = 0, min = 0, s = 0] = parts
  if (h > 23 || min > 59 || s > 60) return text
  const local = new Date(Date.UTC(y, m, d, h, min, s))
  // February 30 would roll over.
  if (new Date(Date.UTC(y, m, d)).getUTCDate() !== d) return text
  return instantOr(text, local.getTime() - offset * 60_000)
}

/** Minutes east of Greenwich; null if the zone is unknown. */
function offsetOf(zone: string): number | null {
  const named = ZONES[zone]
  if (named !== undefined) return named * 60
  const found = /^([+-])(\d\d)(\d\d)$/.exec(zone)
  if (!found) return null
  const minutes = Number(found[2]) * 60 + Number(found[3])
  return found[1] === '-' ? -minutes : minutes
}

function instantOr(text: string, ms: number): string {
  const time = new Date(ms)
  return Number.isNaN(time.getTime()) ? text : time.toISOString()
}
