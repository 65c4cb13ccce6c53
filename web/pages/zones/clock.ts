const DAY_MS = 86_400_000
const YEAR_DAYS = 366

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
