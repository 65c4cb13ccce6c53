import { z } from 'zod'
import type { Named } from '../audit/audit.ts'
import { bilingual, verbatim, type Words } from '../i18n/words.ts'
import { byText } from './by.text.ts'

const say = bilingual(byText)

/** Who did something, as people read it. */
export const By = z.string().nullable().meta({
  description: 'Who did it; null where nobody did, or it was not recorded yet.',
})

/** The words for who did something, as SQL has them in private.words_of_actor. */
export function byOf(actor: Named | null): Words | null {
  if (!actor) return null
  return actor.name === null ? say[actor.kind] : verbatim(actor.name)
}
