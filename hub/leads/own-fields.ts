import { z } from 'zod'
import { invalid } from '../../shared/problem.ts'
import type { Sql } from '../../shared/sql.ts'
import { Day } from '../../shared/time.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { dayOf, numberOf } from './cells.ts'
import type { Lead, OwnValues } from './lead.ts'
import { leadsText } from './leads.text.ts'

const { field: say } = bilingual(leadsText)

export const FIELD_KINDS = ['text', 'number', 'date', 'choice', 'yes_no'] as const
const Label = z
  .string()
  .overwrite((text) => text.replace(/[\s\p{Cc}]+/gu, ' ').trim())
  .min(1)
  .max(60)

/** A field of a project's own, as the API takes and returns it. */
export const OwnField = z
  .strictObject({
    key: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,39}$/)
      .meta({ description: 'Its name in values, exports and mails; never changes.' }),
    label: Label,
    kind: z.enum(FIELD_KINDS),
    choices: z
      .array(Label)
      .max(50)
      .default([])
      .meta({ description: 'For `choice`: the values to choose from.' }),
  })
  .meta({ id: 'LeadField' })
export type OwnField = z.infer<typeof OwnField>

/** The fields of a project, in the order of its forms. */
export function fieldsOf(sql: Sql, project_id: string): Promise<OwnField[]> {
  return sql<OwnField>`
    select key, label, kind, choices from hub.lead_fields
    where project_id = ${project_id}
    order by position, key`
}

/** What is wrong with a value for a field; undefined if nothing is. */
export function faultOf(
  field: Pick<OwnField, 'label' | 'kind' | 'choices'>,
  value: string | number | boolean,
): Words | undefined {
  const { label, kind, choices } = field
  const isRight = {
    text: typeof value === 'string' && value.length <= 1000,
    number: typeof value === 'number' && Number.isFinite(value),
    date: Day.safeParse(value).success,
    choice: typeof value === 'string' && choices.includes(value),
    yes_no: typeof value === 'boolean',
  }[kind]
  if (isRight) return undefined
  return kind === 'choice' ? say.choice(label, choices.join(', ')) : say[kind](label)
}

/**
 * ownValues puts changed values of a project's own fields over those of before: null and an empty
 * text clear one. Throws 422 for an unknown field or a value of the wrong kind.
 */
export async function ownValues(
  sql: Sql,
  project_id: string,
  { before, change }: { before: Lead['custom']; change: OwnValues },
): Promise<Lead['custom']> {
  if (Object.keys(change).length === 0) return before
  const fields = new Map((await fieldsOf(sql, project_id)).map((field) => [field.key, field]))
  const after: Lead['custom'] = { ...before }
  const issues: { path: string; code: string; message: Words }[] = []
  for (const [key, given] of Object.entries(change)) {
    const value = typeof given === 'string' ? given.replaceAll('\0', '').trim() : given
    if (value === null || value === '') {
      delete after[key]
      continue
    }
    const field = fields.get(key)
    const message = field ? faultOf(field, value) : say.unknown(key)
    if (message) issues.push({ path: `custom.${key}`, code: 'invalid', message })
    else after[key] = value
  }
  if (issues.length > 0) throw invalid(issues)
  return after
}

/** keepOwnFacts makes the values of leads' own fields facts of them, which agents read. */
export async function keepOwnFacts(sql: Sql, lead_ids: string[]): Promise<void> {
  await sql`select private.keep_field_facts(${lead_ids}::uuid[])`
}

const YES = ['yes', 'y', 'true', '1', 'x', 'evet', 'e', 'var']
const NO = ['no', 'n', 'false', '0', 'hayir', 'h', 'yok']

/** A cell of a file as a value for a field; a text that does not fit is returned and refused later. */
export function valueOfCell(
  { kind, choices }: Pick<OwnField, 'kind' | 'choices'>,
  cell: string,
): string | number | boolean {
  const plain = cell.toLocaleLowerCase('tr').replaceAll('ı', 'i').trim()
  if (kind === 'yes_no') return YES.includes(plain) ? true : NO.includes(plain) ? false : cell
  if (kind === 'choice') {
    return choices.find((one) => one.toLocaleLowerCase('tr').replaceAll('ı', 'i') === plain) ?? cell
  }
  if (kind === 'number') return numberOf(cell) ?? cell
  return kind === 'date' ? dayOf(cell) : cell
}
