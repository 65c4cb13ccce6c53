import type { Language } from '../../i18n/words.ts'
import { sentencesOf } from './sentences.ts'

/*
 * What of a fact may be said again. A sentence that asks, that is cut, that somebody else said, or
 * that the next one takes back says nothing; nor does one about a lead in which nobody knows who is
 * meant.
 */

/** A sentence that begins like this may take back the one before it, or say when it holds. */
const TAKES_BACK: Record<Language, RegExp> = {
  en: /^(?:this|that|it|these|those|but|however|yet|although|except|only|no|not|never|wrong|false|untrue|until|unless|provided|formerly|previously|unfortunately|sadly|regrettably|alas|sorry|correction|just kidding|joking|maybe|perhaps|possibly|allegedly|supposedly|if|once|when|as soon as|assuming|subject to|or|nor|neither|none|nothing|otherwise|rather|instead|ended|stopped|discontinued|cancelled|canceled|expired)\b|^(?:from|since|before|as of|starting) [^.]{1,30}[.!]?$/iu,
  tr: /^(?:bu|bunun|o|şu|bunlar|ama|ancak|fakat|artık|yalnız|yalnızca|sadece|oysa|ne var ki|değil|yanlış|hayır|maalesef|ne yazık ki|eskiden|önceden|eğer|şayet|tabii?|ya da|veya|yoksa|belki|galiba|sanırım|aslında|düzeltme|pardon|özür|şaka|[iİ]ptal|sona|bitti|henüz|meğer|gerçi)(?=[\s,.:!]|$)|^[^.]{1,30} (?:kadar|hariç|itibaren|sonra|önce)[.!]?$/iu,
}
/** A quotation of three words or more; "“Rota” plans" is a name. */
const OPENING = /^["“„«»]\s*(?:[^\s"“”«»]+\s+){2}[^\s"“”«»]/u
/** "[ ] Get certified" is to be done. */
const OPEN_BOX = /\[\s*\]/u

/** What was left out may turn what is left: "owns […] 40 vans". */
const CUT = /…|\.\s?\.\s?\./u

/**
 * stated lists the sentences of a fact that may be said again. With `hasOwnVoice` its "we" is known:
 * it is about us, or the lead said it.
 */
export function stated(fact: string, hasOwnVoice: boolean, language: Language): string[] {
  const said = sentencesOf(fact, language)
  // What stands below a heading means what the heading says: "Wrong claims:".
  const heading = said.findIndex((sentence) => sentence.endsWith(':'))
  let isQuoted = false
  return said.filter((sentence, at) => {
    const wasQuoted = isQuoted
    isQuoted = endsQuoted(sentence, isQuoted)
    const isSaidByOthers = wasQuoted || isQuoted || OPENING.test(sentence)
    if (heading >= 0 && at >= heading) return false
    // What is between quotation marks was said by somebody else, with another "we".
    if (hasOwnVoice && isSaidByOthers) return false
    if (/[?？]/u.test(sentence) || CUT.test(sentence) || OPEN_BOX.test(sentence)) return false
    return !TAKES_BACK[language].test(said[at + 1] ?? '')
  })
}

/** Whether a quotation that began before the end of a sentence goes on in the next one. */
function endsQuoted(sentence: string, isQuoted: boolean): boolean {
  let open = isQuoted
  for (const mark of sentence.match(/["“”„«»]/gu) ?? []) {
    open = mark === '„' || (mark !== '”' && !open)
  }
  return open
}

const FIRST: Record<Language, RegExp> = {
  en: /(?<![\p{L}\p{N}])(?:i|me|my|mine|myself)(?![\p{L}\p{N}])/iu,
  tr: /(?<!\p{L})(?:ben|benim|bana|beni|bende|benden|bence)(?!\p{L})|[aeıioöuü]m (?:var|yok)(?!\p{L})|(?:[ıiuü]yor|m[ıiuü]ş|[aeıiuü]r)[ıiuü]m(?!\p{L})|[ae]c[ae][ğg][ıi]m(?!\p{L})|[dt][ıiuü]m[.!]?$|m[ae]m[.!]?$/iu,
}
/** A subject of its own, which is the same wherever the sentence stands: "the depot", a whole name. */
const OWN_SUBJECT =
  /^(?:the|a|an|no|some|all|most|many|each|every|both|\d\S*)\s+(?!company|firm|business)/iu
const NAME = /^\p{Lu}[\p{L}\p{M}-]*(?: & | )\p{Lu}\p{L}/u
const TURKISH_VERB =
  /(?:yor|lar|ler|[dt][ıiuü]|m[ıiuü]ş|c[ae]k|[aeıiuü]r|m[ae]z|m[ae]kt[ae](?:d[ıi]r)?|var|yok)$/u

/**
 * speaksForItself returns whether a sentence about a lead, read as `tokens`, means another one in a
 * mail: its "I" would be us, and who is meant by "It has 12 branches" is what stood before it.
 */
export function speaksForItself(sentence: string, tokens: string[], language: Language): boolean {
  if (FIRST[language].test(sentence)) return true
  if (tokens.some((token) => token.startsWith('‹'))) return false
  if (NAME.test(sentence)) return false
  if (language === 'en') return !OWN_SUBJECT.test(sentence)
  return TURKISH_VERB.test(tokens.at(-1) ?? '')
}
