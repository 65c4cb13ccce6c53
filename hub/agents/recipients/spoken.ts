import { bilingual, joined, LANGUAGES, type Language, type Words } from '../../i18n/words.ts'
import type { AgentContext } from '../agent.ts'
import { resolveText } from './resolve.text.ts'

const say = bilingual(resolveText)

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

/** The readers of a list by the language that each would get a letter in; the larger group first. */
export type SpokenGroup = { language: Language; ids: string[] }

/** spokenGroups parts leads by the language in which one of them alone would be written to. */
export function spokenGroups(
  context: Pick<AgentContext, 'language' | 'named_language'>,
  leads: { id: string; country: string | null }[],
): SpokenGroup[] {
  const groups = LANGUAGES.map((language) => ({
    language,
    ids: leads
      .filter(({ country }) => languageFor(context, [country]) === language)
      .map(({ id }) => id),
  }))
  return groups
    .filter(({ ids }) => ids.length > 0)
    .toSorted((one, other) => other.ids.length - one.ids.length)
}

/** spokenWords says a mixed group ("12 in Turkish, 3 in English"); undefined where there is one language. */
export function spokenWords(groups: SpokenGroup[]): Words | undefined {
  if (groups.length < 2) return undefined
  return joined(
    groups.map(({ language, ids }) => say.in_language[language](ids.length)),
    ', ',
  )
}
