import {
  bilingual,
  joined,
  LANGUAGES,
  type Language,
  perLanguage,
  type Words,
} from '../../i18n/words.ts'
import { languageName } from '../../leads/languages.ts'
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

/** What says the language of a lead: its own, or else its country's. */
export type Reader = { country: string | null; language: string | null }

/** spokenBy returns the language of mails to a lead: Turkish, or English for each other one. */
export function spokenBy({ country, language }: Reader): Language | undefined {
  if (language) return language === 'tr' ? 'tr' : 'en'
  return spokenIn(country)
}

/**
 * languageFor returns the language of what is written to some leads: the one that the task names,
 * or else that of the leads where it is the same for all, or else the task's own.
 */
export function languageFor(
  context: Pick<AgentContext, 'language' | 'named_language'>,
  readers: Reader[],
): Language {
  return context.named_language ?? languageOfAll(readers) ?? context.language
}

/** languageOfAll returns the language of mails to all of some leads; undefined where it is not one, or not known. */
export function languageOfAll(readers: Reader[]): Language | undefined {
  const [first, ...others] = readers.map(spokenBy)
  return others.every((one) => one === first) ? first : undefined
}

/** languageWords says in which language some leads are written to, or how many in which; null for nobody. */
export function languageWords(readers: Reader[]): Words | null {
  if (readers.length === 0) return null
  const all = languageOfAll(readers)
  const unwritten = unwrittenWords({ named_language: undefined }, readers)
  const counts = [...LANGUAGES, undefined].map((language): [Words, number] => [
    language ? say.languages[language] : say.not_known,
    readers.filter((reader) => spokenBy(reader) === language).length,
  ])
  const parts = counts.flatMap(([name, count]) => (count > 0 ? [say.counted(name, count)] : []))
  const told = all
    ? say.all_in(say.languages[all], readers.length)
    : say.some_in(joined(parts, ', '))
  return unwritten ? joined([told, unwritten]) : told
}

/** The readers of a list by the language that each would get a mail in; the larger group first. */
export type SpokenGroup = { language: Language; ids: string[] }

/** spokenGroups parts leads by the language in which one of them alone would be written to. */
export function spokenGroups(
  context: Pick<AgentContext, 'language' | 'named_language'>,
  leads: (Reader & { id: string })[],
): SpokenGroup[] {
  const groups = LANGUAGES.map((language) => ({
    language,
    ids: leads.filter((lead) => languageFor(context, [lead]) === language).map(({ id }) => id),
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

/** unwrittenWords says which languages of some leads the hub does not write ("German (2)"); undefined for none. */
export function unwrittenWords(
  context: Pick<AgentContext, 'named_language'>,
  readers: Reader[],
): Words | undefined {
  const counts = new Map<string, number>()
  for (const { language } of context.named_language ? [] : readers) {
    if (!language || LANGUAGES.some((one) => one === language)) continue
    counts.set(language, (counts.get(language) ?? 0) + 1)
  }
  if (counts.size === 0) return undefined
  const inWords = ([code, count]: [string, number]) =>
    perLanguage((language) => `${languageName(code, language)} (${count})`)
  return say.unwritten(joined([...counts].map(inWords), ', '))
}
