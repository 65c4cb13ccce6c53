import { isEverybody, isPeople, isSomebody } from './people.ts'
import { AND, type Token, writtenIn } from './tokens.ts'

type Span = { from: number; to: number }

/** Verbs of an order whose object is whoever gets the mail. */
const TO_PEOPLE = new Set(
  'contact message ask tell thank remind greet invite call approach congratulate'.split(' '),
)
/** Verbs of an order whose object may be a thing: "mail the price list". */
const TO_ANY = new Set('mail email write send draft prepare reply answer forward give'.split(' '))
const isOrder = (word: string) => TO_PEOPLE.has(word) || TO_ANY.has(word)
/** What an order stands behind inside a sentence: "thank the team and write to". */
const BEFORE_ORDER = new Set('and then please also or but just'.split(' '))

export const ARTICLES = new Set(
  'the a an some any every each another that this these those our my your his her its their whichever'.split(
    ' ',
  ),
)
/** What somebody wrote or asked; who answers it writes to that person. */
const MESSAGES =
  /^(?:e|mails?|emails?|letters?|messages?|questions?|requests?|repl(?:y|ies)|enquir(?:y|ies)|inquir(?:y|ies)|complaints?|orders?|notes?|offers?|attention)$/
const MESSAGES_TR =
  /^(?:mail|eposta|posta|mektub|mesaj|soru|isteg|taleb|siparis|sikayet|yanit|cevab|not)(?:lar|ler)?s?[iu]n[ae]$/
const MESSAGE_ANSWERED_TR =
  /^(?:mail|eposta|posta|mektub|mesaj|soru|isteg|taleb|siparis|sikayet|not)(?:lar|ler)?s?[iu]n[iu]$/
/** Words that follow a name as the end of what it says, so that the name is not the subject of a clause. */
export const GO_ON = new Set(
  'about regarding on for with at of in from by and or to that whether if when what why how as who which because so asking saying again today tomorrow now please via before after next this like'.split(
    ' ',
  ),
)
/** Between a verb and whom it reaches: "follow up with", "a call with". */
const MEETS =
  /^(?:up|touch|meetings?|meet|calls?|talks?|talk|speak|appointments?|in|chat|share|line)$/
/** Prepositions that only relate one thing to another. */
const RELATING = new Set(
  'of by near beside behind under over as via through alongside against towards toward between around at'.split(
    ' ',
  ),
)
/** Words that tie a name to a noun before it, so that it is not the noun's own name. */
const LINKS = new Set([
  ...RELATING,
  ...'to for with from that who which whom like than in on'.split(' '),
])
/** Words that end in "ing" and do not say what somebody does. */
const NO_DOING =
  /^(?:greeting|meeting|mailing|briefing|offering|pricing|training|building|morning|evening|something|nothing|anything|shipping|marketing)$/
/** Who stands outside a firm: "the customers of Acme" are not at Acme, "the people of Acme" are. */
const OF_A_FIRM = /^(?:contact|customer|client|compan|firm)/
/** Titles before the name of somebody who is addressed. */
export const ADDRESSED_AS = new Set('mr mrs ms miss dr prof bay bayan sayin sn av'.split(' '))

/** Where the order that a name belongs to begins: at its verb, or at the sentence. */
function orderOf(tokens: Token[], at: number): number {
  for (let here = at - 1; here >= 0; here -= 1) {
    const token = tokens[here]
    if (!token) return 0
    if (token.isFirst) return here
    const isBehind = !token.isNext || BEFORE_ORDER.has(tokens[here - 1]?.word ?? '')
    if (isOrder(token.word) && isBehind) return here
  }
  return 0
}

/** Whether a name stands behind "the customer" as its name: "to our customer Mark Grant about". */
function isApposed(tokens: Token[], noun: number, { from, to }: Span): boolean {
  const next = tokens[to]
  return noun === from - 1 && (!next?.isNext || GO_ON.has(next.word))
}

/** isPlace says whether a name is where people in general are: "everyone at Acme". */
export function isPlace(tokens: Token[], { from, to }: Span): boolean {
  const before = tokens[from - 1]?.word ?? ''
  const who = tokens[from - 2]?.word
  const isAt = before === 'at' || before === 'in' || (before === 'of' && !OF_A_FIRM.test(who ?? ''))
  return (
    (isAt && (isPeople(who) || isEverybody(who))) ||
    /^n?[dt][ae]ki/.test(tokens[to - 1]?.suffix ?? '')
  )
}

/** What only an English task says, beside its orders: no Turkish word is written like one of these. */
const ENGLISH = new Set(
  'the to of for with from and who that whoever please how what why when where which our your their my about if they she we much many could should would'.split(
    ' ',
  ),
)

/**
 * isRelated says whether a task is for somebody else, whom it describes by a lead.
 *
 * @param said what the lead's name ends with, and the first token behind its title.
 */
export function isRelated(
  tokens: Token[],
  span: Span,
  said: { suffix: string; next: number },
): boolean {
  return isEnglish(tokens) || said.suffix === 's'
    ? isRelatedEn(tokens, span, said.suffix)
    : isRelatedTr(tokens, span, said)
}

/** isEnglish says whether a task is in English, as far as the words around a name show it. */
export const isEnglish = (tokens: Token[]) =>
  tokens.some(({ word }) => ENGLISH.has(word) || (word !== 'mail' && isOrder(word)))

/**
 * isRelatedEn says whether an English task is for somebody else, whom it describes by a lead: "the
 * firm that competes with Mark Grant", "Mark Grant's landlord". What the order reaches decides: where
 * somebody without a name stands there, a name behind is only part of the description.
 */
function isRelatedEn(tokens: Token[], span: Span, suffix: string): boolean {
  const { from, to } = span
  const word = (at: number) => tokens[at]?.word ?? ''
  if (suffix === 's' || (tokens[to]?.isNext && word(to) === 's')) {
    const owned = [word(to), word(to + 1), word(to + 2)]
    return !owned.some((one) => MESSAGES.test(one))
  }
  if (isPlace(tokens, span)) return false
  let near = from - 1
  while (ADDRESSED_AS.has(word(near)) || word(near) === 'the') near -= 1
  if (isAnswered(tokens, span)) return false
  for (let at = orderOf(tokens, from); at < from; at += 1) {
    if (isOthers(tokens, at, span)) return true
  }
  if (word(near) === 'with') return !MEETS.test(word(near - 1))
  return RELATING.has(word(near))
}

/** isAnswered says whether what a lead wrote is answered: "reply to the last mail from Mark Grant". */
export function isAnswered(tokens: Token[], { from }: Span): boolean {
  const before = tokens.slice(orderOf(tokens, from), from).map(({ word }) => word)
  return (
    before.some((word) => /^(?:reply|answer|respond|response)$/.test(word)) &&
    /^(?:of|from|by)$/.test(before.at(-1) ?? '') &&
    MESSAGES.test(before.at(-2) ?? '')
  )
}

/** Whether somebody without a name stands at `at`, where whom the order reaches would. */
function isOthers(tokens: Token[], at: number, span: Span): boolean {
  const word = tokens[at]?.word ?? ''
  const before = tokens[at - 1]?.word ?? ''
  if (isSomebody(word) && tokens[at]?.isName === false) {
    // "a customer letter", "for our firm": nobody who gets the mail.
    const isOurs = /^(?:our|my)$/.test(before) && /^(?:compan|firm|team|staff)/.test(word)
    return !isOurs && !MESSAGES.test(tokens[at + 1]?.word ?? '') && !isApposed(tokens, at, span)
  }
  if (!ARTICLES.has(word) || at >= span.from - 1) return false
  const noun = tokens.slice(at + 1, span.from).map((token) => token.word)
  const isNoun = !noun.some((one) => LINKS.has(one))
  const isName = noun.length < 3 && isNoun
  if (isName && isSomebody(noun.at(-1)) && isApposed(tokens, span.from - 1, span)) return false
  const isMet = before === 'with' && MEETS.test(tokens[at - 2]?.word ?? '')
  if (before === 'to' || isMet || TO_PEOPLE.has(before)) {
    return !noun.some((one) => MESSAGES.test(one))
  }
  // "mail the buyer June May mentioned": a clause about a noun, of which the name is the subject.
  const next = tokens[span.to]
  const isClause = next?.isNext === true && !next.isName && !GO_ON.has(next.word)
  if (isNoun && isClause) return true
  // "email the distributor working for Mark Grant"
  return noun.some((one, index) => index > 0 && /.{2}ing$/.test(one) && !NO_DOING.test(one))
}

const PARTICIPLE_TR =
  /^(?:\w{2,}(?:y[ae]n|[^aeiouy][ae]n)|olan|\w{2,}[dt][iu]g(?:i|u|im|um|imiz|umuz|in|un|iniz|lari|leri)|\w{2,}y?[ae]c[ae]g[iu]\w*)$/
const DATIVE_TR = /^\w{2,}(?:y[ae]|n[ae]|[^aeiouy\W][ae]|lar[ae]|ler[ae])$/
/** Words that end like a dative and are none. */
const NO_DATIVE =
  /^(?:kisa|daha|sonra|once|hatta|bile|ona|onlara|kendisine|kendilerine|bize|bana|size|sana|buraya|\w+c[ae]|davetiye|fatura|defa|kere|gore|dosta|sade|ince|yine|gene|iste|nasil|tane)$/
/** What follows a dative that is only spoken of: "fiyata dair". */
const AFTER_DATIVE = /^(?:dair|iliskin|gore|ragmen|kadar|karsi|yonelik|davet\w*|katil\w*)$/
const isDativeTr = (word: string, next = '') =>
  DATIVE_TR.test(word) && !NO_DATIVE.test(word) && !AFTER_DATIVE.test(next)
/** Adjectives that say what somebody is to another one. */
const NEAR_TR = /^(?:rakip|benzer|yakin|komsu|bagli|ait|denk|muadil|alternatif|esdeger)$/
const GENITIVE_TR = /^n?[iu]n$/
const ACCUSATIVE_TR = /^y?[iu]$|^n[iu]$/
const WITH_TR = /^y?l[ae]$/
const IN_TR = /^n?[dt][ae](?:ki\w*)?$/

/**
 * isRelatedTr is isRelatedEn for a Turkish task, whose receiver is the last word with a dative: a name
 * in front of it with another case, or with a participle between, only says who that is.
 */
function isRelatedTr(
  tokens: Token[],
  span: Span,
  given: { suffix: string; next: number },
): boolean {
  const { suffix, next } = given
  const end = tokens.findIndex((token, at) => at >= span.to && token.isFirst)
  const after = tokens.slice(next, end < 0 ? undefined : end)
  if (GENITIVE_TR.test(suffix)) {
    const isAnswer = after.some(({ word }) => /^(?:cevapla|yanitla)/.test(word))
    const isMessage = ({ word }: Token) =>
      MESSAGES_TR.test(word) || (isAnswer && MESSAGE_ANSWERED_TR.test(word))
    return !after.slice(0, 3).some(isMessage)
  }
  const isOther = ({ word, suffix: ending, isName }: Token, at: number) =>
    !isName && ending === '' && isDativeTr(word, after[at + 1]?.word)
  const link = after.findIndex(({ word, isName }) => {
    return !isName && (PARTICIPLE_TR.test(word) || NEAR_TR.test(word) || /[dt][ae]ki$/.test(word))
  })
  const receiver = after.findIndex((token, at) => {
    return isOther(token, at) || (at > 0 && token.word === 'icin')
  })
  const isLinked =
    link >= 0 && link <= 3 && after.some((token, at) => at > link && isOther(token, at))
  if (/^(?:n?[ea]|y[ea])$/.test(suffix) || ACCUSATIVE_TR.test(suffix)) return isLinked
  if (WITH_TR.test(suffix) || /^(?:ile|icin)$/.test(after[0]?.word ?? '')) return isLinked
  if (IN_TR.test(suffix)) return receiver >= 0
  // "Ayşe Demir ve Hans Müller için": both are whom it is for.
  if (AND.has(after[0]?.word ?? '') && after[1]?.isName && after[receiver]?.word === 'icin')
    return false
  return suffix === '' && span.to === next && receiver >= 0 && after[0]?.isNext === true
}

const WITH_RECEIVER_TR =
  /^(?:rakib|patron|mudur|ortag|komsu|arkadas|tedarikci|meslektas|yardimci|halef)\w*[ae]$/
/** A mail to somebody reaches these too. */
export const OWN_PEOPLE = /^(?:team|staff|ekib\w*|takim\w*)$/
const POSSESSIVE = new Set('his her their its'.split(' '))
/** "kocasına", "eşine": somebody of theirs who gets it too. */
const THEIRS_TR = /^\w+(?:s[iu]|[^aeiou\W][iu])n[ae]$/

/** What stands between a name and somebody else whom a task is for, or may be for. */
const JOINING = new Set([...AND, 'or', 'veya', 'yahut'])

/**
 * besideOthers finds somebody without a name for whom a task is as well: "Mark Grant and his rival".
 *
 * @returns these words, or undefined where the task is for the named ones alone.
 */
export function besideOthers(tokens: Token[], chosen: Span[], all: Span[]): string | undefined {
  for (const { to } of chosen) {
    const isYaDa = tokens[to]?.word === 'ya' && tokens[to + 1]?.word === 'da'
    if (!isYaDa && !JOINING.has(tokens[to]?.word ?? '')) continue
    const isMore = isYaDa || ['cc', 'copy', 'also'].includes(tokens[to + 1]?.word ?? '')
    const first = isMore ? to + 2 : to + 1
    const [own, noun] = [tokens[first], tokens[first + 1]]
    // "Mark Grant and the carpenter": whoever an article stands before has no name.
    const isNoun = noun?.isNext && !noun.isName && !OWN_PEOPLE.test(noun.word)
    if (own?.word === 'the' && isNoun) return writtenIn(tokens, to + 1, first + 2)
    const isTheirs = POSSESSIVE.has(own?.word ?? '') && noun !== undefined
    if (isTheirs && !OWN_PEOPLE.test(noun.word) && !MESSAGES.test(noun.word)) {
      return writtenIn(tokens, to + 1, first + 2)
    }
    const isTheirsTr =
      own?.isName === false &&
      !all.some(({ from }) => from === first) &&
      (THEIRS_TR.test(own.word) || isDativeTr(own.word, tokens[first + 1]?.word))
    if (isTheirsTr && !isEnglish(tokens) && !OWN_PEOPLE.test(own.word)) {
      return writtenIn(tokens, to + 1, first + 1)
    }
    for (let at = to + 1; at <= to + 3; at += 1) {
      const token = tokens[at]
      if (!token?.isNext || token.isName || isOrder(token.word) || LINKS.has(token.word)) break
      const isNamed = all.some(({ from }) => from === at + 1)
      const isOther = isSomebody(token.word) && !OWN_PEOPLE.test(token.word)
      if (!isNamed && (isOther || WITH_RECEIVER_TR.test(token.word))) {
        return writtenIn(tokens, to + 1, at + 1)
      }
    }
  }
  return undefined
}
