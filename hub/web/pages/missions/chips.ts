import type { Details } from './queries.ts'

type Chip = 'shorter' | 'english' | 'turkish' | 'others'

/**
 * What is often asked next of a result: what was written can be shorter or in another language, and
 * mails can be written to others as well.
 */
export function chipsFor(result: Details['result']): Chip[] {
  const { documents = [], drafts = [] } = result ?? {}
  if (documents.length === 0 && drafts.length === 0) return []
  return ['shorter', 'english', 'turkish', ...(drafts.length > 0 ? (['others'] as const) : [])]
}
