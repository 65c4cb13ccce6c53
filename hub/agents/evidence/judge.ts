import type { Language } from '../../i18n/words.ts'
import { isHarmless, namesToGreet } from './harmless.ts'
import type { Names } from './persons.ts'
import { type Evidence, type Index, indexOf, supportOf } from './support.ts'

export type { Evidence } from './support.ts'

/** The version of these rules; verdicts of another one are asked again. */
export const JUDGE_VERSION = 5

/** Whom a sentence is for, and who writes it. */
export type Scene = {
  language: Language
  /** The reader; null where a sentence is the same for many. */
  reader: { id: string; name: string | null; company: string | null } | null
  /** Our project's name. */
  us: string
  /** Who signs, besides the project; they may be named in a greeting or a closing. */
  signers?: (string | null)[]
}

export type Verdict = 'harmless' | 'supported' | 'contradicted' | 'unsure'
export type Judged = { verdict: Verdict; evidence_ids: string[] }

/** Evidence may support a sentence if it is about its reader or about us. */
export function allowedFor(evidence: Evidence[], reader: Scene['reader']): Evidence[] {
  return evidence.filter(({ lead_id }) => lead_id === null || lead_id === reader?.id)
}

/** The judge of one reader's mail: it has read the evidence, and decides sentence by sentence. */
export type Judge = (sentence: string) => Judged

/** What is known about us, prepared once for the many readers of a campaign. */
export function aboutUs(scene: Pick<Scene, 'language' | 'us'>, evidence: Evidence[]): Index {
  const names = { us: [scene.us], person: null, company: null }
  return indexOf(allowedFor(evidence, null), names, scene.language)
}

/**
 * judgeOf prepares a judge that decides with code alone, which is certain or says "unsure". `ours`
 * is evidence that was prepared before.
 */
export function judgeOf(scene: Scene, evidence: Evidence[], ours?: Index): Judge {
  const { language, reader, us, signers = [] } = scene
  const names: Names = {
    us: [us],
    person: reader?.name ?? null,
    company: reader?.company ?? null,
  }
  const toGreet = namesToGreet([us, reader?.name, reader?.company, ...signers])
  let indexes: Index[] | undefined
  return (sentence) => {
    if (isHarmless(sentence, toGreet, language)) return { verdict: 'harmless', evidence_ids: [] }
    indexes ??= [
      indexOf(allowedFor(evidence, reader), names, language),
      ...(ours === undefined ? [] : [ours]),
    ]
    const statement = withoutCourtesy(sentence, toGreet, language)
    return supportOf(statement, indexes, names, language)
  }
}

/**
 * A sentence without a greeting at its beginning ("Hello Ayşe, you run 40 trucks.") and a harmless
 * question at its end ("…, shall we talk next week?"); what is left is judged.
 */
function withoutCourtesy(sentence: string, toGreet: string[], language: Language): string {
  const commas = [...sentence.matchAll(/,\s+|\s+[–—-]\s+/gu)]
  const [first] = commas
  const last = commas.at(-1)
  if (first && isHarmless(sentence.slice(0, first.index), toGreet, language)) {
    const head = sentence.slice(0, first.index)
    const rest = sentence.slice(first.index + first[0].length)
    // "Demir Lojistik – cuts costs" says so of Demir Lojistik, and greets nobody.
    const isSubject = isName(head, toGreet, language) && !hasSubject(rest, language)
    return isSubject ? `${head} ${rest}` : withoutCourtesy(rest, toGreet, language)
  }
  const tail = last && sentence.slice(last.index + last[0].length)
  if (last && tail?.endsWith('?') && isHarmless(tail, toGreet, language)) {
    return sentence.slice(0, last.index)
  }
  return sentence
}

/** A name is all that may follow "Hello" and is harmless alone. */
const isName = (head: string, toGreet: string[], language: Language) =>
  isHarmless(`${HELLO[language]} ${head}`, toGreet, language)
const HELLO: Record<Language, string> = { en: 'Hello', tr: 'Merhaba' }

const HAS_SUBJECT: Record<Language, RegExp> = {
  en: /^(?:\p{Lu}|(?:we|you|i|it|this|that|these|those|our|your|my|the|a|an|no|some|all|most|many|each|\d)(?!\p{Ll}))/u,
  tr: /(?:[mnryğ][ıiuü]z|[dt][ıiuü]k)(?: (?:var|yok))?[.!?]*$|^(?:\p{Lu}|biz|siz|bu|şu)/u,
}
const hasSubject = (rest: string, language: Language) => HAS_SUBJECT[language].test(rest)
