import { CLAUSE, isInClauseTr, type Mention } from './mentions.ts'
import { isEverybody, isPeople, isSomebody } from './people.ts'
import { GO_ON } from './relation.ts'
import { AND, AND_OR_WITH, type Token, writtenIn } from './tokens.ts'

/** Tokens from `from` up to but not including `to` that say who is meant: a name, a group, a country. */
export type Span = { from: number; to: number }

/** Words that leave out whatever they stand beside. */
const EXCEPT =
  /\b(?:except(?: for)?|excluding|apart from|but not|other than) \w+|\w+ (?:haric|disinda\w*)\b/
/** Words that leave out whom they stand before, with nothing but FILLERS between. */
const BEFORE = new Set(
  'except excluding exclude but minus save skip omit without unless outside not never instead rather leave leaving drop besides aside no stop avoid neither nor'.split(
    ' ',
  ),
)
const FILLERS = new Set(
  'to for the of out off writing mailing emailing sending contacting just those these who whose that are is in from at than mr mrs ms with write mail email send contact message a an any all leads lead people customers tagged labelled labeled'.split(
    ' ',
  ),
)
const MOST_FILLERS = 4
const AFTER_TR = /^(?:degil|yerine|atla\w*|cikar\w*|olma(?:sin|yan\w*|dan)|katma\w*|ekleme\w*)$/
const FROM_TR = /^(?:n?[dt][ae]n)$/
const NOT_TO_TR =
  /^(?:yazma|gonderme|yollama|iletme|atma|bildirme|soyleme)(?:yin|yiniz|sin|yalim|yelim|dan|den)?$/
const FILLERS_TR = new Set(
  'mail maili e posta eposta mesaj mektup bir sey bunu onu sakin asla teklif bey hanim etiketli'.split(
    ' ',
  ),
)
const SEND = new Set('write mail email send contact message invite include'.split(' '))
const SPEAKERS = new Set('we i you they he she it to who that did does'.split(' '))

/**
 * exclusionIn finds the words by which a task leaves somebody out: what stands beside the names,
 * groups and countries it speaks of, or an order not to write at all.
 */
export function exclusionIn(tokens: Token[], spans: Span[]): string | undefined {
  const words = tokens.map(({ word }) => word)
  const isInside = (at: number) => spans.some(({ from, to }) => at >= from && at < to)
  const written = (from: number, to: number) => writtenIn(tokens, from, to)
  const [general] = EXCEPT.exec(words.join(' ')) ?? []
  // Beside people in general, "except" leaves out somebody even where nobody is named.
  const isOfPeople = words.some((word) => isPeople(word) || isEverybody(word))
  if (general && (spans.length > 0 || isOfPeople)) return general
  for (const { from, to } of spans) {
    let before = from - 1
    while (before > from - 1 - MOST_FILLERS && FILLERS.has(words[before] ?? '')) before -= 1
    if (BEFORE.has(words[before] ?? '') && !isInside(before)) return written(before, to)
    let after = to
    while (after < to + 3 && FILLERS_TR.has(words[after] ?? '')) after += 1
    const next = words[after] ?? ''
    if (AFTER_TR.test(next) || NOT_TO_TR.test(next)) return written(from, after + 1)
    if (next === 'baska' && FROM_TR.test(tokens[to - 1]?.suffix ?? '')) return written(from, to + 1)
  }
  for (const [at, word] of words.entries()) {
    if (word === 'sakin' && !isInside(at)) return written(at, at + 3)
    const isNot = word === 'never' || word === 'don' || word === 'not'
    const verb = words[at + 1] === 'ever' ? at + 2 : at + 1
    const speaker = words[word === 'not' ? at - 2 : at - 1] ?? ''
    if (isNot && SEND.has(words[verb] ?? '') && !SPEAKERS.has(speaker) && !isInside(at)) {
      return written(at, verb + 2)
    }
  }
  return undefined
}

const OR = new Set(['or', 'veya', 'yahut', 'ya', 'da', 'either'])
/** Between two names these take the first one back: "to Ali, I mean Veli". */
const CORRECTION =
  /\b(?:i mean|wait|scratch that|correction|pardon|(?:or|even|maybe|perhaps) better|better (?:yet|still)|sorry|make (?:it|that)|er|actually|preferably|alternatively|otherwise|failing|(?:as well as|along with|together with|in addition to)|second thoughts?|then|xor|daha (?:dogrusu|iyisi)|yani|aslinda|olma(?:di|zsa)|yoksa|yok|hayir)\b/

/** alternativesIn finds two names of which a task leaves open which one it means, or corrects itself. */
export function alternativesIn(
  tokens: Token[],
  mentions: Mention[],
): [Mention, Mention] | undefined {
  for (const [index, one] of mentions.entries()) {
    const other = mentions[index + 1]
    if (!other) return undefined
    const between = tokens.slice(one.to, other.from).map(({ word }) => word)
    const isOr = between.some((word) => ['or', 'veya', 'yahut'].includes(word))
    const isYaDa = between.join(' ') === 'ya da'
    if (between.length <= MOST_FILLERS && CORRECTION.test(between.join(' '))) return [one, other]
    if ((isOr || isYaDa) && between.every((word) => OR.has(word) || FILLERS.has(word))) {
      return [one, other]
    }
  }
  return undefined
}

/** Between two whom a task is for, beside an "and": the order once more, a title, "also". */
const AGAIN =
  /^(?:to|for|also|cc|copy|both|with|a|mr|mrs|ms|miss|dr|prof|herr|frau|bey|beye|hanim|hanima|sayin|write|mail|email|e|send|contact|message|ask|tell|remind|thank|invite|call|hem|ayrica|da|de|icin|yaz|gonder|our|my|the|\w+[iu]m[iu]z)$/

/**
 * partedIn finds two whom a task addresses and which no "and" or comma joins: "Ask Tom to write to
 * Petra", "Petra’ya giden teklifi Tom’a gönder". One of them may only be spoken of.
 */
export function partedIn(tokens: Token[], meant: Mention[]): [Mention, Mention] | undefined {
  for (const [index, one] of meant.entries()) {
    const other = meant[index + 1]
    if (!other) return undefined
    const between = tokens.slice(one.until, other.from)
    const next = tokens[other.from]
    const isJoined =
      between.length === 0
        ? next?.isNext === false && !next.isFirst
        : between.some(({ word }) => AND_OR_WITH.has(word) || word === 'hem') &&
          between.every(({ word }) => AND_OR_WITH.has(word) || AGAIN.test(word) || isSomebody(word))
    if (isJoined ? isInClauseTr(tokens, other) : !isAsWellTr(tokens, other)) return [one, other]
  }
  return undefined
}

/** "Tom’a yaz, Petra’ya da yaz" */
const isAsWellTr = (tokens: Token[], { to }: Mention) =>
  /^d[ae]$/.test(tokens[to]?.word ?? '') && /^(?:yaz|gonder)$/.test(tokens[to + 1]?.word ?? '')

/**
 * leftBeside finds a lead that an "and", a comma or a new sentence joins to those a task is for, and that
 * is not among them, although nothing says that it is only spoken of: "Tell Tom the price and Petra the date".
 */
export function leftBeside(
  tokens: Token[],
  meant: Mention[],
  mentions: Mention[],
): Mention | undefined {
  return mentions.find((one) => {
    const isOpen = one.isExact && (one.role === 'unknown' || one.role === 'related')
    if (meant.includes(one) || !isOpen) return false
    if ((tokens[one.to - 1]?.suffix ?? '') !== '') return isAddedTr(tokens, one)
    if (AND.has(tokens[one.to]?.word ?? '') && meant.some(({ from }) => from === one.to + 1)) {
      return true
    }
    const nearest = meant.findLast(({ to }) => to <= one.from)
    return nearest !== undefined && isListedBehind(tokens, nearest, one)
  })
}

/** "Petra’yı da ekle", "Petra’yı unutma" */
const isAddedTr = (tokens: Token[], { until }: Mention) =>
  tokens.slice(until, until + 2).some(({ word }) => /^(?:ekle|kat|dahil|unutma)/.test(word))

/** Somewhere between two names, these begin a clause about the second: "that we met Petra", "what Petra got". */
const CLAUSES =
  /^(?:that|which|who|whom|whose|what|when|where|why|how|because|since|while|as|if|whether|although|though|so|like|than|we|i|he|she|they|it|you|says?|said|saying|ki|gibi|ama|cunku)$/
/** Right before a name, these only relate to it: "and about Petra". */
const RELATES = /^(?:about|regarding|concerning|from|by|at|with|between|against|of|the)$/
/** Behind a name, these are what it does: "Petra visited us", "Petra sends it". */
const DOES = /^(?:are|were|\w+ed|\w+[^aiosu]s|got|met|told|knew|sent|left|saw|went|came|bought)$/

function isListedBehind(tokens: Token[], nearest: Mention, one: Mention): boolean {
  const between = tokens.slice(nearest.until, one.from)
  const isJoined =
    between.some(({ word, isNext }) => AND.has(word) || !isNext) || !tokens[one.from]?.isNext
  if (!isJoined || between.some(({ word }) => CLAUSES.test(word))) return false
  if (RELATES.test(between.at(-1)?.word ?? '')) return false
  const next = tokens[one.to]
  return !next?.isNext || GO_ON.has(next.word) || !(CLAUSE.test(next.word) || DOES.test(next.word))
}

const INTRODUCE = /^(?:introduc(?:e|ing)|recommend(?:ing)?|refer(?:ring)?)$/
const INTRODUCE_TR = /^(?:tanit|tanist|oner|tavsiye|yonlendir|bagla)/
const ACCUSATIVE_TR = /^[yn]?[iu]$/

/** introducedIn finds two names of which one is to be introduced to the other: either may get the mail, or both. */
export function introducedIn(tokens: Token[], mentions: Mention[]): [Mention, Mention] | undefined {
  for (const [index, one] of mentions.entries()) {
    const other = mentions[index + 1]
    if (!other) return undefined
    const verb = tokens.findLast(
      ({ word }, at) =>
        at < one.from &&
        !FILLERS.has(word) &&
        !AND.has(word) &&
        !mentions.some(({ from, to }) => at >= from && at < to),
    )?.word
    const between = tokens.slice(one.to, other.from).map(({ word }) => word)
    const isTo = between.includes('to') && between.every((word) => FILLERS.has(word))
    if (isTo && INTRODUCE.test(verb ?? '')) return [one, other]
    const endings = [one, other].map(({ to, ending }) => tokens[to - 1]?.suffix || ending)
    const after = tokens.slice(other.to, other.to + 3)
    const isIntroduced = after.some(({ word }) => INTRODUCE_TR.test(word))
    if (isIntroduced && endings.some((ending) => ACCUSATIVE_TR.test(ending))) return [one, other]
  }
  return undefined
}
