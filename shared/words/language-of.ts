import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import { LANGUAGES, type Language } from './texts.ts'

/**
 * The language the caller reads best, by lookup (RFC 4647 section 3.4): `tr-TR` is answered in
 * `tr`. English where it has none of ours.
 */
export function languageOf(c: Context): Language {
  const language = accepts(c, {
    header: 'Accept-Language',
    supports: [...LANGUAGES],
    default: 'en',
    match: (ranges) =>
      ranges
        .filter(({ q }) => q > 0)
        .sort((a, b) => b.q - a.q)
        .map(({ type }) => type.toLowerCase().split('-')[0] ?? '')
        .find((primary) => LANGUAGES.some((one) => one === primary)) ?? 'en',
  })
  return LANGUAGES.find((one) => one === language) ?? 'en'
}
