import { invalid } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import { bilingual } from '../../i18n/words.ts'
import { renderText } from './render.text.ts'

const say = bilingual(renderText)

type Field = { key: string; kind: string }
type Values = Record<string, string | number | boolean>

/**
 * fillOwnFields puts the values of a project's own fields into the texts of a mail to one lead, where
 * they are written `{key}`. An empty one goes with the space before it. Braces in a value are left out, so
 * that it is not a placeholder itself.
 */
export function fillOwnFields<T>(
  texts: T,
  { fields, values, language }: { fields: Field[]; values: Values; language: 'en' | 'tr' },
): T {
  return mapTexts(texts, (text) =>
    text.replace(/( ?)\{+\s*([a-z][a-z0-9_]*)\s*\}+/g, (token, space: string, key: string) => {
      const field = fields.find((one) => one.key === key)
      if (!field) return token
      const value = shown(values[key], field, language)
      return value === '' ? '' : space + value
    }),
  )
}

/** The keys of own fields that stand in texts as placeholders. */
export function ownFieldsIn(texts: unknown, fields: Field[]): string[] {
  const found = new Set<string>()
  mapTexts(texts, (text) => {
    for (const [, key = ''] of text.matchAll(/\{+\s*([a-z][a-z0-9_]*)\s*\}+/g)) {
      if (fields.some((one) => one.key === key)) found.add(key)
    }
    return text
  })
  return [...found]
}

function shown(value: Values[string] | undefined, { kind }: Field, language: 'en' | 'tr'): string {
  if (value === undefined) return ''
  if (kind === 'number' && typeof value === 'number') {
    return new Intl.NumberFormat(language, { maximumFractionDigits: 10 }).format(value)
  }
  if (kind === 'date' && typeof value === 'string') {
    return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(
      new Date(value),
    )
  }
  if (typeof value === 'boolean') return say[value ? 'yes' : 'no'][language]
  return String(value).replace(/[{}]/g, '')
}

function mapTexts<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T // safe: T is string here
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change)) as T // safe: same shape
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, one]) => [key, mapTexts(one, change)])
  return Object.fromEntries(entries) as T // safe: same keys, same kinds
}

/**
 * withOwnFields fills a mail to one lead. In a mail to many, an own field is refused: what each reader
 * gets is fixed by the approval, which knows names and companies only.
 */
export async function withOwnFields<T>(
  sql: Sql,
  texts: T,
  given: { project_id: string; lead_id: string | null; language: 'en' | 'tr' },
): Promise<T> {
  const { project_id, lead_id, language } = given
  const fields = await sql<Field>`
    select key, kind from hub.lead_fields where project_id = ${project_id}`
  const used = ownFieldsIn(texts, fields)
  if (used.length === 0) return texts
  if (lead_id === null) {
    const issue = { path: 'text', code: 'personal_field', message: say.own_field(used[0] ?? '') }
    throw invalid([issue])
  }
  const [lead] = await sql<{ custom: Values }>`
    select custom from hub.leads where id = ${lead_id} and project_id = ${project_id}`
  return fillOwnFields(texts, { fields, values: lead?.custom ?? {}, language })
}
