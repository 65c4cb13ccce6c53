import type { Language } from '../../i18n/words.ts'
import { amountOf, boundIn, isCount, isPlain } from './amounts.ts'
import { impliedBy, membersOf, withoutPlace } from './implied.ts'
import { statementsOf } from './labelled.ts'
import { isOutdated } from './outdated.ts'
import { asReader, fromReader, type Names, personed, subjectOf, turned } from './persons.ts'
import {
  factForms,
  reachesOver,
  remeasured,
  rewordings,
  statementsIn,
  textsOf,
} from './rewordings.ts'
import { speaksForItself, stated } from './stated.ts'
import { isNumber, tokensOf } from './tokens.ts'

/**
 * A piece of evidence; without a lead it is about us. A fact from a column of a list is the
 * column's name, a colon and a value; what a lead said itself is in its own person.
 */
export type Evidence = {
  id: string
  lead_id: string | null
  fact: string
  column?: string | null
  said_by_lead?: boolean
  /** When it was noted; "last month" is another month later. */
  created_at?: string
}

/** What code alone knows of a sentence. */
export type Found = { verdict: 'supported' | 'contradicted' | 'unsure'; evidence_ids: string[] }
const UNSURE: Found = { verdict: 'unsure', evidence_ids: [] }

/** Sentences of evidence by their words, and by their words without numbers and negations. */
export type Index = {
  exact: Map<string, string>
  loose: Map<string, { id: string; tokens: string[] }[]>
  /** The evidence that is about us. */
  ours: Set<string>
}

const keyOf = (tokens: string[]) => tokens.join(' ')

/**
 * indexOf prepares evidence for many sentences, so that the cost is its length and not its length
 * times that of the mail. Questions, and sentences that the next one may take back, say nothing.
 */
export function indexOf(
  evidence: Evidence[],
  names: Names,
  language: Language,
  now = new Date(),
): Index {
  const index: Index = { exact: new Map(), loose: new Map(), ours: new Set() }
  const addExactly = (id: string, tokens: string[]) => {
    const key = keyOf(tokens)
    if (!index.exact.has(key)) index.exact.set(key, id)
  }
  const add = (id: string, tokens: string[]) => {
    addExactly(id, tokens)
    for (const implied of impliedBy(tokens, language)) addExactly(id, implied)
    const loose = keyOf(maskOf(tokens, language).words)
    const alike = index.loose.get(loose) ?? []
    alike.push({ id, tokens })
    index.loose.set(loose, alike)
  }
  for (const { id, lead_id, fact, column, said_by_lead, created_at } of evidence) {
    if (lead_id === null) index.ours.add(id)
    if (column && lead_id !== null) {
      const value = fact.slice(column.length + 1)
      for (const statement of statementsOf(column, value, language)) {
        for (const tokens of fromReader(personed(statement, names, 'mail', language))) {
          add(id, tokens)
        }
      }
      continue
    }
    for (const sentence of stated(fact, lead_id === null || said_by_lead === true, language)) {
      if (isOutdated(sentence, created_at, now)) continue
      if (lead_id !== null && said_by_lead) {
        const told = turned(sentence, names, language)
        if (speaksForItself(sentence, told, language)) continue
        for (const tokens of fromReader(told)) add(id, tokens)
        continue
      }
      const voice = lead_id === null ? 'us' : 'lead'
      const read = personed(sentence, names, voice, language)
      if (lead_id !== null && speaksForItself(sentence, read, language)) continue
      for (const tokens of asReader(read)) add(id, tokens)
      const placeless = withoutPlace(sentence, language)
      for (const tokens of placeless ? asReader(personed(placeless, names, voice, language)) : []) {
        for (const implied of impliedBy(tokens, language)) addExactly(id, implied)
      }
      for (const text of factsIn(sentence, names, language)) {
        for (const tokens of asReader(personed(text, names, voice, language))) {
          for (const found of factForms(tokens, language)) addExactly(id, found)
        }
      }
    }
  }
  return index
}

const exactly = (tokens: string[], indexes: Index[]): string | undefined =>
  indexes.map(({ exact }) => exact.get(keyOf(tokens))).find((id) => id !== undefined)

/** The other texts of a fact: each member of its list, and its time at the end. */
function factsIn(sentence: string, names: Names, language: Language): string[] {
  const texts = [sentence, ...textsOf(sentence, names, language)]
  return texts.flatMap((text) => [text, ...(membersOf(text, language) ?? [])])
}

/**
 * supportOf finds the evidence that says exactly what a sentence says: each of its words in their
 * order, or the same in other words by a rule of the language, or its parts of which each is said.
 * Evidence that differs in one number or in a negation contradicts it.
 */
export function supportOf(
  sentence: string,
  indexes: Index[],
  names: Names,
  language: Language,
): Found {
  const [statement, ...others] = statementsIn(sentence, language)
  if (statement === undefined) return UNSURE
  const found = wholly(statement, indexes, names, language)
  if (found) return found
  for (const other of others) {
    const said = wholly(other, indexes, names, language)
    if (said?.verdict === 'supported') return said
  }
  return (
    members(statement, indexes, names, language) ??
    halves(statement, indexes, names, language) ??
    UNSURE
  )
}

/** What the evidence says of a statement as a whole. */
function wholly(
  statement: string,
  indexes: Index[],
  names: Names,
  language: Language,
): Found | undefined {
  const tokens = personed(statement, names, 'mail', language)
  const against = contradiction(tokens, indexes, language)
  if (against) return { verdict: 'contradicted', evidence_ids: [against] }
  const exact = exactly(tokens, indexes)
  if (exact) return { verdict: 'supported', evidence_ids: [exact] }
  const texts = textsOf(statement, names, language)
  const all = [tokens, ...texts.map((text) => personed(text, names, 'mail', language))]
  const forms = all.flatMap((read) => rewordings(read, language))
  const denied = forms.map((form) => contradiction(form, indexes, language)).find(Boolean)
  if (denied) return { verdict: 'contradicted', evidence_ids: [denied] }
  const found = remeasured(forms, language)
    .map((form) => exactly(form, indexes) ?? above(form, indexes, language))
    .find((id) => id !== undefined)
  return found === undefined ? undefined : { verdict: 'supported', evidence_ids: [found] }
}

/** Evidence that says a larger number than a sentence with "more than" asks for, and no other. */
function above(tokens: string[], indexes: Index[], language: Language): string | undefined {
  const bound = boundIn(tokens, language)
  if (!bound) return undefined
  const mine = maskOf(bound.tokens, language)
  const alike = indexes.flatMap(({ loose }) => loose.get(keyOf(mine.words)) ?? [])
  const isAbove = alike.every((row) => {
    const other = maskOf(row.tokens, language)
    const value = amountOf(row.tokens[bound.at])
    const rest = other.numbers.slice(1).every((number, at) => number === mine.numbers[at + 1])
    return (
      isCount(value) &&
      value > bound.least &&
      !isNumber(row.tokens[bound.at + 2] ?? '') &&
      rest &&
      !other.isTurned &&
      isPlain(row.tokens, language)
    )
  })
  return isAbove && !mine.isTurned ? alike[0]?.id : undefined
}

/** A list of which each member is said by itself. */
function members(
  statement: string,
  indexes: Index[],
  names: Names,
  language: Language,
): Found | undefined {
  const found = membersOf(statement, language)?.map((text) =>
    wholly(text, indexes, names, language),
  )
  if (!found?.every((member) => member?.verdict === 'supported')) return undefined
  const evidence_ids = [...new Set(found.flatMap((member) => member?.evidence_ids ?? []))]
  return { verdict: 'supported', evidence_ids }
}

const JOINED: Record<Language, RegExp> = { en: /,?\s+and\s+|;\s+/giu, tr: /,?\s+ve\s+|;\s+/giu }
/** Where one statement may end and the next begin; what stands between is judged by itself. */
const JOINTS: Record<Language, RegExp> = {
  en: /,?\s+and\s+|[;,]\s+/giu,
  tr: /,?\s+ve\s+|[;,]\s+/giu,
}
const MAX_JOINED = 6
/** Words whose meaning reaches beyond an "and". */
const REACHING = new Set(
  'not never no nobody without only may might could can will would should must if unless when while until because although though either both neither nor or than eğer ise hem ne ya değil yalnız sadece'.split(
    ' ',
  ),
)

/** The atomic facts of a sentence: what stands between its conjunctions. */
export function parts(sentence: string, language: Language): string[] {
  const found = sentence.split(JOINED[language]).filter((part) => part.trim() !== '')
  return found.length > MAX_JOINED ? [sentence] : found
}

function halves(
  statement: string,
  indexes: Index[],
  names: Names,
  language: Language,
): Found | undefined {
  const joints = [...statement.matchAll(JOINTS[language])]
  // What stands at the beginning reaches over all that follows.
  if (joints.length > MAX_JOINED || reachesOver(statement, language)) return undefined
  for (const joint of joints) {
    const before = statement.slice(0, joint.index)
    const first = personed(before, names, 'mail', language)
    const rest = statement.slice(joint.index + joint[0].length)
    if (first.some((token) => REACHING.has(token))) continue
    const supported = wholly(before, indexes, names, language)
    if (supported?.verdict !== 'supported') continue
    const subject = subjectOf(first)
    const alone = supportOf(rest, indexes, names, language)
    if (alone.verdict === 'contradicted') return alone
    const shared = subject && language === 'en' ? withSubject(subject, rest, names) : undefined
    const isAlone =
      alone.verdict === 'supported' &&
      !(takesSubject(before, rest, names, language) && isOfOther(first, alone, indexes, language))
    const found = isAlone || !shared ? alone : supportOf(shared, indexes, names, language)
    if (!isAlone && !shared && alone.verdict === 'supported') continue
    if (found.verdict === 'unsure') continue
    if (found.verdict === 'contradicted') return found
    return {
      verdict: 'supported',
      evidence_ids: [...new Set([...supported.evidence_ids, ...found.evidence_ids])],
    }
  }
  return undefined
}

/**
 * Whether a second half has no subject of its own, so that it speaks of the first half's: "Demir
 * employs 120 people and cuts costs" says that Demir does.
 */
function takesSubject(before: string, rest: string, names: Names, language: Language): boolean {
  const tokens = personed(rest, names, 'mail', language)
  if (tokens.some((token) => token.startsWith('‹'))) return false
  if (language === 'en')
    return !/^(?:\p{Lu}|(?:the|a|an|no|some|all|most|many|each|\d)(?!\p{Ll}))/u.test(rest)
  // Where the first verb names its person, a verb without one has another subject.
  return tokensOf(before, language).at(-1) === personed(before, names, 'mail', language).at(-1)
}

/** Whether a half's evidence is about another than the subject of the first half. */
function isOfOther(first: string[], found: Found, indexes: Index[], language: Language): boolean {
  const subject = subjectOf(first)
  // Of a thing or of a third company we know nothing but what names it. A Turkish half may have a
  // subject that nobody can tell from its object.
  if (!subject) return language === 'en'
  const isOurs = (id: string) => indexes.some(({ ours }) => ours.has(id))
  return found.evidence_ids.some((id) => isOurs(id) !== (subject === '‹us›'))
}

/** The second half with the subject of the first, in words that are read the same way. */
function withSubject(subject: string, rest: string, names: Names): string | undefined {
  if (/^(?:we|you|i|it|they|he|she|our|your|the|a|an)\b/iu.test(rest)) return undefined
  const who = {
    '‹us›': 'we',
    '‹you›': 'you',
    '‹person›': names.person,
    '‹company›': names.company,
  }[subject]
  return who ? `${who} ${rest}` : undefined
}

const NEGATIONS: Record<Language, Set<string>> = {
  en: new Set(['not', 'never', 'no', "n't"]),
  tr: new Set(['değil', 'değildir', 'asla', 'hiç', 'hiçbir']),
}

/** The words of a sentence without what only changes its numbers or turns it round. */
function maskOf(tokens: string[], language: Language) {
  const negations = tokens.filter((token) => NEGATIONS[language].has(token))
  let kept = tokens.filter((token) => !NEGATIONS[language].has(token))
  let isTurned = negations.length > 0
  if (language === 'en') {
    const isHelped = isTurned && ['do', 'does', 'did'].includes(kept[1] ?? '')
    if (isHelped) kept = [kept[0] ?? '', ...kept.slice(2)]
    else if (isTurned) kept = kept.filter((token) => token !== 'do' && token !== 'does')
    kept = kept.map((token) => (token === 'is' ? 'be' : token))
    kept = kept.map((token, at) => (at > 0 && at < 6 ? bareOf(token) : token))
  } else {
    const last = kept.length - 1
    const verb = kept[last] ?? ''
    const turned = verb === 'yok' || NEGATIVE.test(verb)
    isTurned ||= turned
    if (last >= 0) kept[last] = positive(verb)
  }
  return {
    words: kept.map((token) => (isNumber(token) ? '#' : token)),
    numbers: kept.filter(isNumber),
    isTurned,
  }
}

/** Only for finding what differs, never for what is the same. */
const bareOf = (token: string) => token.replace(/(?<=[^su])s$/u, '')

const NEGATIVE = /m[ıiuü]yor$|m[ae]z$|m[ae]d[ıi]$/u
function positive(verb: string): string {
  if (verb === 'yok' || verb === 'var') return 'var'
  return verb
    .replace(/d[ıiuü]r$/u, '')
    .replace(/(?:[ıiuüae]?m[ıiuü]yor|[ıiuü]yor)$/u, '-yor')
    .replace(/(?:m[ae]z|[ıiuüae]?r)$/u, '-r')
    .replace(/(?:m[ae])?[dt][ıiuü]$/u, '-d')
}

/** The evidence that says the same with another number, or the opposite. */
function contradiction(tokens: string[], indexes: Index[], language: Language): string | undefined {
  const mine = maskOf(tokens, language)
  const alike = indexes.flatMap(({ loose }) => loose.get(keyOf(mine.words)) ?? [])
  for (const { id, tokens: theirs } of alike) {
    const other = maskOf(theirs, language)
    const differing = mine.numbers.filter((number, at) => number !== other.numbers[at]).length
    if (mine.isTurned !== other.isTurned && differing === 0) return id
    if (mine.isTurned === other.isTurned && differing === 1) return id
  }
  return undefined
}
