export const LANGUAGES = ['en', 'tr'] as const
export type Language = (typeof LANGUAGES)[number]

/** A sentence or word in both languages of the hub. Kept as such, read in the reader's language. */
export type Words = Readonly<Record<Language, string>>

type Message = string | ((...values: never[]) => string)
export type Texts = { readonly [key: string]: Message | Texts }
/** The same keys with other words. */
export type Translation<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? string
    : T[K] extends (...values: infer V) => string
      ? (...values: V) => string
      : Translation<T[K]>
}
export type Both<T extends Texts> = { readonly en: T; readonly tr: Translation<T> }

/** texts pairs what is said in both languages; a key missing in one is a type error. */
export function texts<const T extends Texts>(en: T, tr: Translation<T>): Both<T> {
  return { en, tr }
}

/** What is filled in may be in both languages itself. */
type Fillable<V extends unknown[]> = { [K in keyof V]: string extends V[K] ? V[K] | Words : V[K] }

type Said<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? Words
    : T[K] extends (...values: infer V) => string
      ? (...values: Fillable<V>) => Words
      : Said<T[K]>
}

/** said turns paired texts into Words: `said(texts({ gone: (n: number) => … }, …)).gone(3)`. */
export function said<T extends Texts>({ en, tr }: Both<T>): Said<T> {
  const pairs = Object.entries(en).map(([key, english]) => {
    const turkish: unknown = Reflect.get(tr, key)
    return [key, pair(english, turkish)]
  })
  return Object.fromEntries(pairs) as Said<T> // safe: each key paired by its kind below
}

function pair(en: Message | Texts, tr: unknown): unknown {
  if (typeof en === 'string') return { en, tr }
  if (typeof en === 'function') {
    return (...values: unknown[]): Words => {
      const fill = (say: unknown, language: Language): string =>
        Reflect.apply(
          say as typeof en, // safe: Both pairs functions
          undefined,
          values.map((value) => (isWords(value) ? value[language] : value)),
        )
      return { en: fill(en, 'en'), tr: fill(tr, 'tr') }
    }
  }
  return said({ en, tr } as Both<Texts>) // safe: Both pairs groups of texts
}

/** Somebody else's words, which have no translation: a mail server's answer, an admin's reason. */
export function verbatim(text: string): Words {
  return { en: text, tr: text }
}

/** Joins sentences, in each language by itself. */
export function joined(sentences: readonly Words[], separator = ' '): Words {
  const join = (language: Language) => sentences.map((one) => one[language]).join(separator)
  return { en: join('en'), tr: join('tr') }
}

const MOST_STORED = 2000

/** Words as a column of type hub.words takes them: not too long, and nothing that jsonb refuses. */
export function stored({ en, tr }: Words): string {
  const fit = (text: string) => text.replaceAll('\0', '').slice(0, MOST_STORED).toWellFormed()
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

/** A value whose every text may still be in both languages. */
export type Sayable<T> = T extends string
  ? T | Words
  : T extends readonly unknown[] | object
    ? { [K in keyof T]: Sayable<T[K]> }
    : T

/** speak picks one language: every pair of words inside the value becomes its text. */
export function speak<T>(value: Sayable<T>, language: Language): T {
  return spoken(value, language) as T // safe: only Words change, to the text that stands for them
}

function spoken(value: unknown, language: Language): unknown {
  if (isWords(value)) return value[language]
  if (Array.isArray(value)) return value.map((one) => spoken(one, language))
  if (typeof value !== 'object' || value === null) return value
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, spoken(one, language)]))
}

const LOCALES = { en: 'en-GB', tr: 'tr-TR' } as const satisfies Record<Language, string>

/** A number with one decimal place, as the language writes it. */
export function decimal(language: Language, value: number): string {
  const places = { minimumFractionDigits: 1, maximumFractionDigits: 1 }
  return new Intl.NumberFormat(LOCALES[language], places).format(value)
}

/** The day of a moment in UTC, in the language's words; what is no moment stays as it is. */
export function day(language: Language, at: string): string {
  return date(language, at, { timeZone: 'UTC' })
}

/** A moment by this machine's clock, with its zone; what is no moment stays as it is. */
export function moment(language: Language, at: string): string {
  return date(language, at, { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' })
}

function date(language: Language, at: string, more: Intl.DateTimeFormatOptions): string {
  if (Number.isNaN(Date.parse(at))) return at
  const options = { day: 'numeric', month: 'long', year: 'numeric', ...more } as const
  return new Intl.DateTimeFormat(LOCALES[language], options).format(new Date(at))
}

/** Makes a sentence in each language by itself, for what is filled in with words again. */
export function inEach(say: (language: Language) => string): Words {
  return { en: say('en'), tr: say('tr') }
}
