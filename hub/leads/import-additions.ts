import { bilingual } from '../i18n/words.ts'
import type { ImportOptions, Mistake } from './import-row.ts'
import { importsText } from './imports.text.ts'
import { type LeadChange, MAX_TAGS, type NewLead, type OwnValues } from './lead.ts'

const { row: say } = bilingual(importsText)

export type Before = LeadChange & { tags: string[]; custom: OwnValues }

/** The fields that a row changes: only empty ones, unless existing leads are updated. */
export function additions(
  before: Before,
  { tags = [], custom = {}, ...lead }: NewLead,
  duplicates: 'merge' | 'update',
): LeadChange {
  const stage = (duplicates === 'update' && lead.stage) || before.stage
  const fields = Object.entries(lead).filter(([name, value]) => {
    const had = before[name as keyof NewLead] // safe: lead has the same keys
    if (value === null || value === undefined) return false
    const isOfMove = OUTCOME.includes(name) && stage !== before.stage
    if (value === had && !isOfMove) return false
    // An amount and its currency are one value, and a new basis is not known by an old one's note.
    if (name === 'amount' || name === 'currency') {
      const hasNew = duplicates === 'update' && (lead.amount ?? null) !== null
      return (before.amount ?? null) === null || hasNew
    }
    if (OUTCOME.includes(name) && stage !== 'won' && stage !== 'lost') return false
    if (BASIS.includes(name)) return (before.lawful_basis ?? null) === null
    return had === null || (duplicates === 'update' && name !== 'source')
  })
  const own = Object.entries(custom).filter(
    ([key, value]) =>
      value !== null &&
      value !== before.custom[key] &&
      (before.custom[key] === undefined || duplicates === 'update'),
  )
  const more = tags.filter((tag) => !before.tags.includes(tag))
  return {
    ...Object.fromEntries(fields),
    ...(more.length > 0 ? { tags: [...before.tags, ...more] } : {}),
    ...(own.length > 0 ? { custom: Object.fromEntries(own) } : {}),
  }
}

const OUTCOME = ['outcome_reason', 'outcome_note']
const BASIS = ['lawful_basis', 'basis_note', 'basis_source', 'basis_on']

/** Why a row is refused whose lead would have more tags than one may have. */
export function tooManyTags(
  { tags = [] }: Pick<LeadChange, 'tags'>,
  { mapping }: ImportOptions,
): Mistake | undefined {
  if (tags.length <= MAX_TAGS) return undefined
  const message = say.too_many_tags(tags.length, MAX_TAGS)
  return { column: mapping.tags ?? 'tags', message }
}

/** Why a row is refused whose lead would be new and open, with a reason why its deal was decided. */
export function notClosed(
  { stage = 'new', outcome_reason, outcome_note }: NewLead,
  { mapping }: ImportOptions,
): Mistake | undefined {
  if (stage === 'won' || stage === 'lost' || !(outcome_reason || outcome_note)) return undefined
  const field = outcome_reason ? 'outcome_reason' : 'outcome_note'
  return { column: mapping[field] ?? field, message: say.not_closed }
}
