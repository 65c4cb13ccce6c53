import type { Zone } from '../api/queries.ts'

/** What a version of a zone changed, each field as [before, after]. */
type Version = { version: number; changes: Record<string, readonly unknown[] | 'changed'> }

export const DAY_MS = 86_400_000
const YEAR_DAYS = 366
export const DAY_MINUTES = 24 * 60

/** How many minutes a time zone is ahead of UTC at a moment; null for a zone that does not exist. */
export function offsetOf(tz: string, at: number): number | null {
  try {
    const format = new Intl.DateTimeFormat('en', { timeZone: tz, timeZoneName: 'longOffset' })
    const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value
    const [, sign, hours = '0', minutes = '0'] = name?.match(/GMT([+-])(\d\d):(\d\d)/) ?? []
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  } catch {
    return null
  }
}

/** Minutes since midnight in a time zone at a moment; null for a zone that does not exist. */
export function minutesIn(tz: string, at: number): number | null {
  const offset = offsetOf(tz, at)
  if (offset === null) return null
  return (((Math.floor(at / 60_000) + offset) % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES
}

/** When the clocks of a time zone change next, to the minute, and by how much; null within a year. */
export function nextShift(tz: string, from: number): { at: number; minutes: number } | null {
  const before = offsetOf(tz, from)
  if (before === null) return null
  for (let day = 1; day <= YEAR_DAYS; day += 1) {
    const after = offsetOf(tz, from + day * DAY_MS)
    if (after === null || after === before) continue
    let [early, late] = [from + (day - 1) * DAY_MS, from + day * DAY_MS]
    while (late - early > 60_000) {
      const middle = (early + late) / 2
      if (offsetOf(tz, middle) === before) early = middle
      else late = middle
    }
    return { at: Math.ceil(early / 60_000) * 60_000, minutes: after - before }
  }
  return null
}

/** The time zone of the quiet hours of a zone in one of its versions, as its history tells, the newest first. */
export function timeZoneAt(
  version: number,
  zone: Pick<Zone, 'quiet_hours_tz'>,
  history: readonly Version[],
): string {
  const change = history.findLast((one) => one.version > version && 'quiet_hours_tz' in one.changes)
  const [before] = change?.changes.quiet_hours_tz ?? []
  return typeof before === 'string' ? before : zone.quiet_hours_tz
}
