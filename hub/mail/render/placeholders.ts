import type { OwnField } from '../../leads/own-fields.ts'
import { renderText } from './render.text.ts'
import { line, PERSONAL_FIELDS, type Personal } from './slots.ts'

/**
 * What stands after | where the field is empty. It may hold nothing that HTML or a template of Go would
 * read as its own.
 */
const INSTEAD = '[^{}|<>"&]{1,80}'

/** A placeholder as a rendered mail has it: `{key}` or `{key|text}`, with the space before it. */
export const TOKEN = new RegExp(`( ?)\\{([a-z][a-z0-9_]*)(?:\\|(${INSTEAD}))?\\}`, 'g')
/** A placeholder as people and models write it, also `{{ key }}` and `{{ .key }}`. */
const WRITTEN = /( ?)\{+\s*\.?([a-z][a-z0-9_]*)\s*(?:\|([^{}]*))?\}+/g
/** Only the footer has the link to unsubscribe; texts lose it when they are rendered. */
const LINK = 'unsubscribe_url'

export type Field = Pick<OwnField, 'key' | 'label' | 'kind'>
export type Values = Record<string, string | number | boolean>
/** The texts of a mail that placeholders can stand in. */
export type Written = { subject: string; text: string; slots: Record<string, unknown> }

export type Placeholders = {
  /** The project's own fields in it; `is_needed`: at one place nothing stands there instead. */
  used: (Field & { is_needed: boolean })[]
  /** Names of no field. */
  unknown: string[]
  /** Fields with a text instead that cannot be one. */
  unfit: string[]
}

/** placeholdersIn lists what the texts of a mail name. */
export function placeholdersIn(texts: unknown, fields: Field[]): Placeholders {
  const used = new Map<string, Placeholders['used'][number]>()
  const unknown = new Set<string>()
  const unfit = new Set<string>()
  mapTexts(texts, (text) => {
    for (const [, , key = '', instead] of text.matchAll(WRITTEN)) {
      const own = fields.find((one) => one.key === key)
      if (!own && !isPersonal(key) && key !== LINK) unknown.add(key)
      else if (instead !== undefined && !isFit(instead)) unfit.add(key)
      if (!own) continue
      const is_needed = instead === undefined || (used.get(key)?.is_needed ?? false)
      used.set(key, { ...own, is_needed })
    }
    return text
  })
  return { used: [...used.values()], unknown: [...unknown], unfit: [...unfit] }
}

/** tidied writes each known placeholder as a rendered mail has it. */
export function tidied<T>(texts: T, fields: Field[]): T {
  return mapTexts(texts, (text) =>
    text.replace(WRITTEN, (written, space: string, key: string, instead?: string) => {
      const isKnown = isPersonal(key) || fields.some((one) => one.key === key)
      if (!isKnown || (instead !== undefined && !isFit(instead))) return written
      return `${space}{${key}${instead === undefined ? '' : `|${line(instead)}`}}`
    }),
  )
}

/**
 * filled puts values into a text. An empty one is what stands there instead, or goes with the space
 * before it. What is none of the values stays as it is written.
 */
export function filled(text: string, values: Personal): string {
  return text.replace(WRITTEN, (written, space: string, key: string, instead?: string) => {
    const value = givenFor(values, key)
    if (value === undefined) return written
    const shown = value || line(instead ?? '')
    return shown ? space + shown : ''
  })
}

/**
 * The value of a placeholder as mails have it, and never a placeholder itself; undefined if the values
 * have no such field.
 */
export function givenFor(values: Personal, key: string): string | undefined {
  if (isPersonal(key)) return bare(values[key])
  return values.own && Object.hasOwn(values.own, key) ? bare(values.own[key]) : undefined
}

const bare = (value: string | null | undefined) => line(value ?? '').replace(TOKEN, '$1$2')

/** ownShown writes a lead's values of own fields as its mail has them; an empty one is ''. */
export function ownShown(
  fields: Pick<Field, 'key' | 'kind'>[],
  values: Values,
  language: 'en' | 'tr',
): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field.key, shown(values, field, language)]))
}

function shown(
  values: Values,
  { key, kind }: Pick<Field, 'key' | 'kind'>,
  language: 'en' | 'tr',
): string {
  const value = values[key]
  if (value === undefined) return ''
  if (kind === 'number' && typeof value === 'number') {
    return new Intl.NumberFormat(language, { maximumFractionDigits: 10 }).format(value)
  }
  if (kind === 'date' && typeof value === 'string') {
    return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(
      new Date(value),
    )
  }
  if (typeof value === 'boolean') return renderText[language][value ? 'yes' : 'no']
  // A value is no placeholder itself.
  return String(value).replace(/[{}]/g, '')
}

const isPersonal = (key: string): key is (typeof PERSONAL_FIELDS)[number] =>
  (PERSONAL_FIELDS as readonly string[]).includes(key)
const isFit = (instead: string) => new RegExp(`^${INSTEAD}$`).test(line(instead))

function mapTexts<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T // safe: T is string here
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change)) as T // safe: same shape
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, one]) => [key, mapTexts(one, change)])
  return Object.fromEntries(entries) as T // safe: same keys, same kinds
}
