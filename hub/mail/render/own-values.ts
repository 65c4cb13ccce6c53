import { invalid } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import { bilingual } from '../../i18n/words.ts'
import {
  type Field,
  ownShown,
  type Placeholders,
  placeholdersIn,
  type Values,
  type Written,
} from './placeholders.ts'
import { renderText } from './render.text.ts'
import { PERSONAL_FIELDS } from './slots.ts'

const say = bilingual(renderText)

/** The fields of a project's own, as placeholders name them. */
export function fieldsFor(sql: Sql, project_id: string): Promise<Field[]> {
  return sql<Field>`
    select key, label, kind from hub.lead_fields
    where project_id = ${project_id} order by position, key`
}

/** The parts that are sent: the text only where there are no slots. */
export const sentTexts = ({ subject, text, slots }: Written) =>
  Object.keys(slots).length > 0 ? { subject, slots } : { subject, text }

/** namedIn lists what the placeholders of drafts name. */
export async function namedIn(
  sql: Sql,
  project_id: string,
  drafts: Written[],
): Promise<Placeholders> {
  return placeholdersIn(drafts.map(sentTexts), await fieldsFor(sql, project_id))
}

/** requireFields refuses a text that names a field which the project does not have. */
export async function requireFields(sql: Sql, project_id: string, draft: Written): Promise<void> {
  const fields = await fieldsFor(sql, project_id)
  const { unknown, unfit } = placeholdersIn(sentTexts(draft), fields)
  const path = Object.keys(draft.slots).length > 0 ? 'slots' : 'text'
  const known = [...PERSONAL_FIELDS, ...fields.map(({ key }) => key)].map((key) => `{${key}}`)
  const issues = [
    ...unknown.map((key) => ({
      path,
      code: 'unknown_placeholder',
      message: say.unknown_field(key, known.join(', ')),
    })),
    ...unfit.map((key) => ({ path, code: 'placeholder_text', message: say.unfit(key) })),
  ]
  if (issues.length > 0) throw invalid(issues)
}

/** ownOf returns one lead's values of the fields, as its mail has them. */
export async function ownOf(
  sql: Sql,
  fields: Field[],
  given: { project_id: string; lead_id: string; language: 'en' | 'tr' },
): Promise<Record<string, string>> {
  if (fields.length === 0) return {}
  const { project_id, lead_id, language } = given
  const [lead] = await sql<{ custom: Values }>`
    select custom from hub.leads where id = ${lead_id} and project_id = ${project_id}`
  return ownShown(fields, lead?.custom ?? {}, language)
}
