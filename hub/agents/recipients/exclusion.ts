import type { Mention } from './mentions.ts'
import { isEverybody, isPeople } from './people.ts'
import { AND, type Token, writtenIn } from './tokens.ts'

/** Tokens from `from` up to but not including `to` that say who is meant: a name, a group, a country. */
export type Span = { from: number; to: number }

/** Words that leave out whatever they stand beside. */
const EXCEPT =
  /\b(?:except(?: for)?|excluding|apart from|but not|other than) \w+|\w+ (?:haric|disinda\w*)\b/
/** Words that leave out whom they stand before, with nothing but FILLERS between. */
const BEFORE = new Set(
  'except excluding exclude but minus save skip omit without unless outside not never instead rather leave leaving drop besides aside no stop avoid'.split(
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
  /\b(?:i mean|wait|scratch that|correction|pardon|(?:or|even|maybe|perhaps) better|daha (?:dogrusu|iyisi)|yok|hayir)\b/

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

const INTRODUCE = /^(?:introduc(?:e|ing)|recommend(?:ing)?|refer(?:ring)?)$/

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
  }
  return undefined
}
