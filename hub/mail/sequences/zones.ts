import { isTimeZone } from '../../../shared/time.ts'
import { nextOpening, type SendWindow } from './window.ts'

// Countries, their names and their time zones come from ICU (CLDR and the tz database), as Node has it.

/** Where the time zone of a recipient comes from. */
export type ZoneSource = 'lead' | 'country' | 'project'
export type Zones = { time_zones: string[]; source: ZoneSource }

/** Names that people write and CLDR does not have; a place without zones of its own keeps those of a neighbour. */
const ALSO: Record<string, string> = {
  abd: 'US',
  america: 'US',
  amerika: 'US',
  'amerika birlesik devletleri': 'US',
  bae: 'AE',
  britain: 'GB',
  britanya: 'GB',
  burma: 'MM',
  czechia: 'CZ',
  'czech republic': 'CZ',
  england: 'GB',
  'great britain': 'GB',
  holland: 'NL',
  hollanda: 'NL',
  'hong kong': 'HK',
  ingiltere: 'GB',
  'ivory coast': 'CI',
  kktc: 'CY',
  korea: 'KR',
  kosova: 'RS',
  kosovo: 'RS',
  ksa: 'SA',
  'kuzey kibris': 'CY',
  macau: 'MO',
  macedonia: 'MK',
  makedonya: 'MK',
  'northern cyprus': 'CY',
  'northern ireland': 'GB',
  prc: 'CN',
  'republic of ireland': 'IE',
  'republic of turkiye': 'TR',
  russia: 'RU',
  'russian federation': 'RU',
  rusya: 'RU',
  'rusya federasyonu': 'RU',
  scotland: 'GB',
  'south korea': 'KR',
  turkey: 'TR',
  turkiye: 'TR',
  uae: 'AE',
  uk: 'GB',
  usa: 'US',
  'united states of america': 'US',
  wales: 'GB',
}
const LANGUAGES = ['en', 'tr', 'de', 'fr', 'es', 'it']

/** Without case, accents and the dots of Turkish letters. */
const fold = (text: string) =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ı', 'i')
    .toLowerCase()
    .replace(/[^\p{L}]+/gu, ' ')
    .trim()

let codes: Map<string, string> | undefined

/** The code of each country (ISO 3166-1) by its folded names. */
function countryCodes(): Map<string, string> {
  if (codes) return codes
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const all = letters.flatMap((one) => letters.map((two) => one + two))
  const names = LANGUAGES.map(
    (language) => new Intl.DisplayNames(language, { type: 'region', fallback: 'none' }),
  )
  codes = new Map([
    ...all.map((code) => [code.toLowerCase(), code] as const),
    ...names.flatMap((of) =>
      all.flatMap((code) => {
        const name = of.of(code)
        return name ? [[fold(name), code] as const] : []
      }),
    ),
    ...Object.entries(ALSO),
  ])
  return codes
}

/** The code of a country, also with its article or as letters with dots: The Netherlands, U.S.A. */
function codeOf(country: string): string | undefined {
  const name = fold(country).replace(/^the /, '')
  const letters = /^\p{L}(?: \p{L})+$/u.test(name) ? name.replaceAll(' ', '') : name
  return countryCodes().get(letters)
}

function zonesOfCode(code: string): string[] {
  // safe: Node has it since version 20; the types of TypeScript do not
  const locale = new Intl.Locale(`und-${code}`) as Intl.Locale & { getTimeZones?: () => string[] }
  return locale.getTimeZones?.() ?? []
}

const MONTHS = [0, 3, 6, 9]
const kept = new Map<string, string[]>()

/**
 * The time zones of a country, those that always show the same time only once; empty for a text that
 * names no country.
 */
export function zonesOfCountry(country: string | null): string[] {
  const code = country ? codeOf(country) : undefined
  if (!code) return []
  const known = kept.get(code)
  if (known) return known
  const year = new Date().getUTCFullYear()
  const byOffsets = new Map<string, string>()
  for (const zone of zonesOfCode(code)) {
    const offsets = MONTHS.map((month) => offsetOf(zone, new Date(Date.UTC(year, month, 15))))
    const key = offsets.join()
    if (!byOffsets.has(key)) byOffsets.set(key, zone)
  }
  const zones = [...byOffsets.values()]
  kept.set(code, zones)
  return zones
}

function offsetOf(timeZone: string, at: Date): string {
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  return parts.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/**
 * zonesFor chooses the time zones whose office hours a recipient's mails keep: its own one; else all of
 * its country, so that it is office hours wherever it is; else that of the window, also where a
 * country has no hour that is office hours in all of it.
 */
export function zonesFor(
  lead: { time_zone: string | null; country: string | null },
  window: SendWindow,
  now: Date,
): Zones {
  const own = lead.time_zone?.trim()
  if (own && isTimeZone(own)) return { time_zones: [own], source: 'lead' }
  const zones = zonesOfCountry(lead.country)
  if (zones.length > 0 && nextOpening(zones, window, now)) {
    return { time_zones: zones, source: 'country' }
  }
  return { time_zones: [window.time_zone], source: 'project' }
}
