import type { Language } from '../../i18n/words.ts'
import type { AgentContext } from '../agent.ts'

/** What Türkiye is called in lists of customers, and its codes in ISO 3166. */
const TURKIYE = new Set([
  'tr',
  'tur',
  'turkiye',
  'turkey',
  'turkei',
  'turquie',
  'turquia',
  'turchia',
])

/** spokenIn returns the language of mails into a country; undefined where none is known. */
export function spokenIn(country: string | null): Language | undefined {
  const name = (country ?? '')
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z]/g, '')
  if (name === '') return undefined
  return TURKIYE.has(name) ? 'tr' : 'en'
}

/**
 * languageFor returns the language of what is written to some leads: the one that the task names,
 * or else that of their countries where it is the same for all, or else the task's own.
 */
export function languageFor(
  context: Pick<AgentContext, 'language' | 'named_language'>,
  countries: (string | null)[],
): Language {
  if (context.named_language) return context.named_language
  const [first, ...others] = countries.map(spokenIn)
  return first !== undefined && others.every((one) => one === first) ? first : context.language
}
