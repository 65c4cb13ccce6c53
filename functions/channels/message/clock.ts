import type { Style } from '../channel.ts'
import { WORDS } from './words.ts'

const made = new Map<string, Intl.DateTimeFormat>()

/** How a channel writes times: `1 Mar 2026, 15:00 GMT+3`. */
export function clockOf({ language, time_zone }: Style): (instant: string) => string {
  return (instant) => {
    const at = new Date(instant)
    return Number.isNaN(at.getTime()) ? instant : formatOf(language, time_zone).format(at)
  }
}

function formatOf(language: Style['language'], time_zone: string): Intl.DateTimeFormat {
  const name = `${language} ${time_zone}`
  const format = made.get(name) ?? createFormat(language, time_zone)
  made.set(name, format)
  return format
}

function createFormat(language: Style['language'], timeZone: string): Intl.DateTimeFormat {
  const { locale } = WORDS[language]
  const form = {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  } as const
  try {
    return new Intl.DateTimeFormat(locale, { ...form, timeZone })
  } catch {
    // Another runtime accepted a zone that this one does not know.
    return new Intl.DateTimeFormat(locale, { ...form, timeZone: 'UTC' })
  }
}
