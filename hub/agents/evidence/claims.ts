import { bilingual, type Words } from '../../i18n/words.ts'
import { languageOf, mentions, numbersIn } from '../run/facts.ts'
import { wordsOf } from '../run/fold.ts'
import { claimText } from './claims.text.ts'

const say = bilingual(claimText)

/** A sentence that states a fact, with its evidence; without any, it must not be sent. */
export type Claim = { sentence: string; evidence_ids: string[]; reason?: Words }

export type Cited = { id: string; fact: string }

/** Greetings, questions and offers state nothing that could be false. */
const HARMLESS = [
  /\b(i|we)('d| would| hope| am writing| are writing| look forward|'m writing)\b/i,
  /\b(let me know|let us know|could we|may i|may we|would you|thank|please|happy to|glad to|looking forward|best regards|kind regards|feel free|reply|dear|hello|hi)\b/i,
  /(isteri[mz]|memnun|teşekkür|lütfen|dileri[mz]|yazıyoru[mz]|bekliyoru[mz]|umarı[mz]|konuşabilir|görüşebilir|sevini|selam|saygı|merhaba|sayın|iyi günler|iyi çalışmalar)/i,
]

/** isClaim returns whether a sentence states a fact; in doubt, true. */
export function isClaim(sentence: string, names: string[]): boolean {
  const text = sentence.trim()
  if (text === '' || /[?？]\s*$/.test(text)) return false
  const isPolite = HARMLESS.some((pattern) => pattern.test(text))
  if (!isPolite) return true
  // A polite sentence with a number or a name still states it.
  return (
    numbersIn(text).length > 0 || names.some((name) => mentions(text, name) && text.length > 120)
  )
}

/**
 * judge checks a sentence against the evidence it cites: every number must occur there, and also a
 * meaningful word other than the company's own name. Returns the ids of the evidence that supports
 * it.
 */
export function judge(sentence: string, cited: Cited[], names: string[]): Claim | undefined {
  if (!isClaim(sentence, names)) return undefined
  const refuse = (reason: Words): Claim => ({ sentence, evidence_ids: [], reason })
  if (cited.length === 0) return refuse(say.none)
  const known = new Set(cited.flatMap(({ fact }) => numbersIn(fact)))
  const strange = numbersIn(sentence).filter((number) => !known.has(number))
  if (strange.length > 0) return refuse(say.strange(strange.join(', ')))
  const own = new Set(names.flatMap(wordsOf))
  const carrying = cited.filter(({ fact }) => shares(sentence, fact, own))
  if (carrying.length === 0) return refuse(say.unrelated)
  return { sentence, evidence_ids: carrying.map(({ id }) => id) }
}

const STEM = 5

function stems(text: string, without: Set<string>): Set<string> {
  const words = wordsOf(text).filter((word) => word.length >= 4 && !without.has(word))
  return new Set(words.filter((word) => !EMPTY.has(word)).map((word) => word.slice(0, STEM)))
}

const EMPTY = new Set(
  'with that this from have your their they them will would could about which when what were been also more most very into than then there here only some such just over other these those icin olan olarak daha gibi kadar sonra once bizim sizin size bize hem veya cunku ancak fakat tarafindan uzere'.split(
    ' ',
  ),
)

function shares(sentence: string, fact: string, own: Set<string>): boolean {
  const wanted = stems(sentence, own)
  const known = stems(fact, own)
  for (const stem of wanted) if (known.has(stem)) return true
  // A translated fact shares no words, so a number or a name must support it.
  if (languageOf(sentence) === languageOf(fact) && wanted.size > 0 && known.size > 0) return false
  const numbers = new Set(numbersIn(fact))
  return numbersIn(sentence).some((number) => numbers.has(number))
}
