import { useSyncExternalStore } from 'react'
import { onClock, timeNow } from './clock.ts'
import { useWords } from './words.tsx'

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

let now = timeNow()
const subscribe = (changed: () => void) => {
  const look = () => {
    now = timeNow()
    changed()
  }
  const timer = setInterval(look, 30_000)
  const forget = onClock(look)
  return () => {
    clearInterval(timer)
    forget()
  }
}

/** "5 min ago" or "last week", in the largest unit that fits. */
export function relative(at: string, locale: string, from = timeNow()): string {
  const seconds = (Date.parse(at) - from) / 1000
  const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', Infinity]
  // Short for "5 min ago", but not "last wk".
  const style = size < 86_400 ? 'short' : 'long'
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style })
  return format.format(Math.trunc(seconds / size), unit)
}

/** The full time, with its time zone: that of the reader, or the given one. */
export function absolute(at: string, locale: string, timeZone?: string): string {
  const { time, zone } = formatsOf(locale, timeZone)
  const named = zone.formatToParts(Date.parse(at)).find(({ type }) => type === 'timeZoneName')
  return `${time.format(Date.parse(at))} ${named?.value ?? ''}`.trim()
}

const formats = new Map<string, { time: Intl.DateTimeFormat; zone: Intl.DateTimeFormat }>()

/** Made once: making one for each row of a list takes longer than the row. */
function formatsOf(locale: string, timeZone: string | undefined) {
  const key = `${locale} ${timeZone ?? ''}`
  const known = formats.get(key)
  if (known) return known
  const made = {
    time: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone }),
    zone: new Intl.DateTimeFormat(locale, { timeZoneName: 'short', timeZone }),
  }
  formats.set(key, made)
  return made
}

/** A relative time; hovering shows the exact one. */
export function Time({ at, className }: { at: string; className?: string }) {
  const { locale } = useWords()
  useSyncExternalStore(subscribe, () => now)
  return (
    <time dateTime={at} title={absolute(at, locale)} className={className}>
      {relative(at, locale)}
    </time>
  )
}

/** A day without a time: a due date, the label of a chart. One of another year than this says which. */
export function day(on: string, locale: string, from = timeNow()): string {
  const isOfThisYear = Number(on.slice(0, 4)) === new Date(from).getFullYear()
  return new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    ...(isOfThisYear ? {} : { year: 'numeric' }),
    timeZone: 'UTC',
  }).format(Date.parse(`${on.slice(0, 10)}T00:00:00Z`))
}
