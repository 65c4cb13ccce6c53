import { type Both, LANGUAGES, type Language, type Texts } from '../../shared/words/texts.ts'

export {
  type Both,
  LANGUAGES,
  type Language,
  type Texts,
  type Translation,
  texts,
} from '../../shared/words/texts.ts'

/** One text in both languages of the hub. Stored in both; each reader gets their own. */
export type Words = Readonly<Record<Language, string>>

/** A value filled into a text may itself be in both languages. */
type Fillable<V extends unknown[]> = { [K in keyof V]: string extends V[K] ? V[K] | Words : V[K] }

type Bilingual<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? Words
    : T[K] extends (...values: infer V) => string
      ? (...values: Fillable<V>) => Words
      : Bilingual<T[K]>
}

/**
 * bilingual turns texts into values of both languages:
 * `bilingual(texts({ deleted: (n: number) => … }, …)).deleted(3)` is a pair of sentences.
 */
export function bilingual<T extends Texts>({ en, tr }: Both<T>): Bilingual<T> {
  const pairs = Object.entries(en).map(([key, english]) => {
    const turkish: unknown = Reflect.get(tr, key)
    return [key, pair(english, turkish)]
  })
  return Object.fromEntries(pairs) as Bilingual<T> // safe: each key paired by its kind below
}

function pair(en: Texts[string], tr: unknown): unknown {
  if (typeof en === 'string') return { en, tr }
  if (typeof en === 'function') {
    return (...values: unknown[]): Words => {
      const fill = (write: unknown, language: Language): string =>
        Reflect.apply(
          write as typeof en, // safe: Both pairs functions
          undefined,
          values.map((value) => (isWords(value) ? value[language] : value)),
        )
      return { en: fill(en, 'en'), tr: fill(tr, 'tr') }
    }
  }
  return bilingual({ en, tr } as Both<Texts>) // safe: Both pairs groups of texts
}

/** Wraps text that has no translation: a mail server's answer, an admin's reason. */
export function verbatim(text: string): Words {
  return { en: text, tr: text }
}

/** Joins sentences within each language. */
export function joined(sentences: readonly Words[], separator = ' '): Words {
  const join = (language: Language) => sentences.map((one) => one[language]).join(separator)
  return { en: join('en'), tr: join('tr') }
}

const MAX_STORED = 2000

/** The JSON for a column of type hub.words: cut to its limit, without what jsonb refuses (NUL, lone surrogates). */
export function stored({ en, tr }: Words): string {
  const fit = (text: string) => text.replaceAll('\0', '').slice(0, MAX_STORED).toWellFormed()
  return JSON.stringify({ en: fit(en), tr: fit(tr) })
}

export function isWords(value: unknown): value is Words {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length === LANGUAGES.length &&
    LANGUAGES.every((language) => typeof Reflect.get(value, language) === 'string')
  )
}

/** T, where every string may still be a pair of languages. */
export type Localizable<T> = T extends string
  ? T | Words
  : T extends readonly unknown[] | object
    ? { [K in keyof T]: Localizable<T[K]> }
    : T

/** localize picks one language: every pair inside the value becomes its text in that language. */
export function localize<T>(value: Localizable<T>, language: Language): T {
  return localized(value, language) as T // safe: only Words change, to the text that stands for them
}

function localized(value: unknown, language: Language): unknown {
  if (isWords(value)) return value[language]
  if (Array.isArray(value)) return value.map((one) => localized(one, language))
  if (typeof value !== 'object' || value === null) return value
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, localized(one, language)]),
  )
}

const LOCALES = { en: 'en-GB', tr: 'tr-TR' } as const satisfies Record<Language, string>

/** A number with one decimal place: 3.5 in English, 3,5 in Turkish. */
export function decimal(language: Language, value: number): string {
  const places = { minimumFractionDigits: 1, maximumFractionDigits: 1 }
  return new Intl.NumberFormat(LOCALES[language], places).format(value)
}

/** The UTC day of an ISO 8601 time, written out; anything else is returned as it is. */
export function day(language: Language, at: string): string {
  return date(language, at, { timeZone: 'UTC' })
}

/** An ISO 8601 time by this machine's clock, with its time zone; anything else is returned as it is. */
export function moment(language: Language, at: string): string {
  return date(language, at, { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' })
}

function date(language: Language, at: string, more: Intl.DateTimeFormatOptions): string {
  if (Number.isNaN(Date.parse(at))) return at
  const options = { day: 'numeric', month: 'long', year: 'numeric', ...more } as const
  return new Intl.DateTimeFormat(LOCALES[language], options).format(new Date(at))
}

/** perLanguage builds a text once for each language. */
export function perLanguage(write: (language: Language) => string): Words {
  return { en: write('en'), tr: write('tr') }
}
