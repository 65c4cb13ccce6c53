/** Days and times as people write them: how a language shows them, and what can be read of a text. */

type Part = 'day' | 'month' | 'year'

const DAY = { day: '2-digit', month: '2-digit', year: 'numeric' } as const
const FIRST_YEAR = 1900

/** The day `2026-11-27` as the locale writes it in numbers: 27.11.2026 or 11/27/2026. */
export function showDay(day: string, locale: string): string {
  if (!day) return ''
  return numeric(locale).format(Date.parse(`${day}T00:00:00Z`))
}

/**
 * The day that a text says, as `2026-11-27`; undefined where it says none. The order of the numbers is that of the
 * locale, but numbers between dots begin with the day and a year of four digits may always stand first.
 */
export function readDay(text: string, locale: string): string | undefined {
  const written = text.trim().replace(/^(\d{4}-\d{2}-\d{2})T.*$/, '$1')
  const [date, month] = withoutMonthName(written, locale)
  const numbers = date.match(/\d+/g) ?? []
  if (month) {
    if (numbers.length !== 2 || /[^\d\s.,/-]/.test(date)) return undefined
    const [first = '', second = ''] = numbers
    return first.length === 4 ? dayOf(first, month, second) : dayOf(second, month, first)
  }
  const order = orderOf(locale)
  const parts = /^\d{6}$|^\d{8}$/.test(date) ? cut(date, order) : numbers
  const [a = '', b = '', c = ''] = parts
  if (parts.length !== 3 || !/^\d+([\s./-]+\d+){0,2}$/.test(date)) return undefined
  if (a.length === 4 && numbers.length === 3) return dayOf(a, b, c)
  const by = date.includes('.') ? (['day', 'month', 'year'] as const) : order
  const at = (part: Part) => [a, b, c][by.indexOf(part)] ?? ''
  return dayOf(at('year'), at('month'), at('day'))
}

/** The time `22:30` as the locale writes it: 22:30 or 10:30 PM. */
export function showTime(time: string, locale: string): string {
  if (!time) return ''
  return new Intl.DateTimeFormat(locale, {
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
  }).format(Date.parse(`1970-01-01T${time}Z`))
}

/** The time of day that a text says, as `22:30`; undefined where it says none. 24:00 is 00:00. */
export function readTime(text: string): string | undefined {
  const match = /^(\d{1,2})(?:[:.]?(\d{2}))?(?::00)?\s*(?:([ap])\.?m\.?)?$/i.exec(text.trim())
  if (!match) return undefined
  const [, hours = '', minutes = '00', half] = match
  const minute = Number(minutes)
  const hour = half ? hourOfHalf(Number(hours), half.toLowerCase()) : Number(hours)
  if (hour === undefined || minute > 59 || hour > 24 || (hour === 24 && minute > 0))
    return undefined
  return `${two(hour % 24)}:${two(minute)}`
}

function hourOfHalf(hour: number, half: string): number | undefined {
  if (hour < 1 || hour > 12) return undefined
  return (hour % 12) + (half === 'p' ? 12 : 0)
}

const two = (value: number) => String(value).padStart(2, '0')

const numeric = (locale: string) =>
  new Intl.DateTimeFormat(locale, {
    ...DAY,
    calendar: 'gregory',
    numberingSystem: 'latn',
    timeZone: 'UTC',
  })

/** Whether the locale begins with the day, the month or the year. */
function orderOf(locale: string): Part[] {
  return numeric(locale)
    .formatToParts(0)
    .flatMap(({ type }) => (type === 'day' || type === 'month' || type === 'year' ? [type] : []))
}

/** The parts of digits that stand together: 27112026 or 271126. */
function cut(digits: string, order: Part[]): string[] {
  const parts: string[] = []
  let at = 0
  for (const part of order) {
    const length = part === 'year' ? digits.length - 4 : 2
    parts.push(digits.slice(at, at + length))
    at += length
  }
  return parts
}

/** Takes the name of a month, whole or short, out of a text: `27 Kasım 2026` is `27   2026` and month 11. */
function withoutMonthName(text: string, locale: string): [rest: string, month?: string] {
  const name = /\p{L}+/u.exec(text)?.[0]
  if (!name) return [text]
  const lower = name.toLocaleLowerCase(locale)
  const format = new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' })
  const month = Array.from({ length: 12 }, (_, at) => format.format(Date.UTC(2026, at))).findIndex(
    (long) => lower.length >= 3 && long.toLocaleLowerCase(locale).startsWith(lower),
  )
  return month < 0 ? [text] : [text.replace(name, ' ').trim(), String(month + 1)]
}

/** The day of these numbers, if there is such a day; a year of two digits is one of this century. */
function dayOf(year: string, month: string, day: string): string | undefined {
  if (!/^(\d{2}|\d{4})$/.test(year) || month.length > 2 || day.length > 2) return undefined
  const whole = year.length === 2 ? `20${year}` : year
  const at = new Date(Date.UTC(Number(whole), Number(month) - 1, Number(day)))
  if (Number(whole) < FIRST_YEAR) return undefined
  if (at.getUTCMonth() + 1 !== Number(month) || at.getUTCDate() !== Number(day)) return undefined
  return at.toISOString().slice(0, 10)
}
