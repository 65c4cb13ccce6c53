import { MAIL_ADDRESS } from '../run/mail-address.ts'
import type { Span } from './exclusion.ts'
import { groupsOf } from './groups.ts'
import type { Mention } from './mentions.ts'
import { ADDRESSED_AS, OWN_PEOPLE } from './relation.ts'
import { ADDRESS, AND_OR_WITH, type Token, tokensOf, writtenIn } from './tokens.ts'

/** Words with a capital that are no names. */
export const NO_PERSON = new Set(
  'linkedin english turkish german french spanish monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december christmas ingilizce turkce almanca pazartesi sali carsamba persembe cuma cumartesi pazar ocak subat mart nisan mayis haziran temmuz agustos eylul ekim kasim aralik'.split(
    ' ',
  ),
)

/** What follows an apostrophe. */
const SUFFIX = /['’ʼ`´]\p{L}+$/u
/** Before a name this says that it is to get something. */
const isOrder = (word: string) =>
  /^(?:to|mail|email|write|tell|ask|invite|thank|call|contact|message|dear)$/.test(word)

/** What stands behind a name in Turkish, and has its ending: "Ahmet Bey’e", "Fatma hanıma". */
const isTitle = (token: Token | undefined) => /^(?:bey|hanim)/.test(token?.word ?? '')
const isBareTitle = (token: Token | undefined) => /^(?:bey|hanim)$/.test(token?.word ?? '')

/** A name that the task addresses and no lead has: "to Hans", "Ahmet’e", "Ahmet Bey’e". */
export function strangerIn(tokens: Token[], mentions: Mention[]): string | undefined {
  for (const [at, token] of tokens.entries()) {
    if (!token.isName || NO_PERSON.has(token.word)) continue
    const isDative = /^(?:n?[ea]|y[ea])$/.test(token.suffix)
    const before = tokens[at - 1]?.word ?? ''
    const next = tokens[at + 1]
    if (isDative || isTitle(next) || isOrder(before) || ADDRESSED_AS.has(before)) {
      // A name that begins the task is seen by its title alone.
      let from = isTitle(token) && at > 0 ? at - 1 : at
      while (tokens[from]?.isNext && isStrange(tokens, from - 1, mentions)) from -= 1
      return namedIn(tokens, { from, to: isBareTitle(next) ? at + 2 : at + 1 })
    }
  }
  return undefined
}

/** What stands between "and" and a name: "and also to Mr Grant". */
const BETWEEN = new Set(['also', 'cc', 'copy', 'to', 'ayrica', ...ADDRESSED_AS])
/** What follows the last name of a list. */
const AFTER_LIST =
  /^(?:about|and|at|before|by|for|from|how|in|on|please|regarding|that|to|today|tomorrow|what|when|whether|why|with)$/
/** A list's last name in Turkish has the ending of all of them. */
const SHARED_ENDING = /^(?:[yn]?[aeiu]|[yn]?l[ae])$/

/**
 * strangerBeside finds somebody whom a task lists with leads and whom no lead is called: "Write to Ali, Mert and Hans". A
 * comma without an "and" behind it lists nobody: what follows may be a firm, or the mail.
 *
 * @param chosen the leads whom the task is for.
 * @param mentions all leads that the task names.
 */
export function strangerBeside(
  tokens: Token[],
  chosen: Span[],
  mentions: Span[],
): string | undefined {
  for (const { from, to } of chosen) {
    const stranger = strangerBehind(tokens, to, mentions) ?? strangerBefore(tokens, from, mentions)
    if (stranger) return namedIn(tokens, stranger)
  }
  return undefined
}

const namedIn = (tokens: Token[], { from, to }: Span) =>
  writtenIn(tokens, from, to).replace(SUFFIX, '')

/** An address with an "and" behind it. */
const ADDRESS_AND = new RegExp(`(?:${MAIL_ADDRESS})(?:['’]\\p{L}+)?,?\\s+(?:and|plus|ve)\\s+`, 'iu')
/** An address with an "and" before it. */
const AND_ADDRESS = new RegExp(`,?\\s+(?:and|plus|ve|ile)\\s+(?:to\\s+)?(?:${MAIL_ADDRESS})`, 'iu')
/** Stands for an address, of which the words are none of the task. */
const PLACE = 'xaddressx'

/**
 * besideAddress finds a name or a group that a task lists with an e-mail address: "Write to ali@kaya.example and Hans". A
 * name before a comma or a bracket is whose address it is.
 */
export function besideAddress(task: string): string | undefined {
  const { tokens } = tokensOf(task.replace(ADDRESS, PLACE))
  const places = tokens.flatMap(({ word }, from) =>
    word === PLACE ? [{ from, to: from + 1 }] : [],
  )
  for (const { from, to } of places) {
    const isAfterAnd = AND_OR_WITH.has(tokens[from - 1]?.word ?? '')
    const beside =
      strangerBehind(tokens, to, places) ??
      (isAfterAnd ? strangerBefore(tokens, from, places) : undefined)
    if (beside) return namedIn(tokens, beside)
  }
  return groupBesideAddress(task)
}

/** A group before or behind an address: the one that the task is for without the address. */
function groupBesideAddress(task: string): string | undefined {
  const front = AND_ADDRESS.exec(task)
  if (front) {
    const { tokens } = tokensOf(task.slice(0, front.index))
    const group = groupsOf(tokens).find(({ to }) => to === tokens.length)
    if (group) return group.words
  }
  const found = ADDRESS_AND.exec(task)
  if (!found) return undefined
  const before = task.slice(0, found.index)
  const rest = task.slice(found.index + found[0].length)
  return groupBehind(before, rest) ?? groupBehind(before, rest.replace(ALL, ''))
}

const ALL = /^(?:(?:to|all|the|every|our|other|tüm|bütün|diğer)\s+)+/iu
const isAll = (word = '') => /^(?:to|all|the|every|our|other|tum|butun|diger)$/.test(word)

function groupBehind(before: string, rest: string): string | undefined {
  const { tokens } = tokensOf(before + rest)
  const at = tokensOf(before).tokens.length
  const group = groupsOf(tokens).find(({ from }) => {
    const first = tokens.findLastIndex(({ word }, here) => here < from && !isAll(word)) + 1
    return from >= at && first <= at
  })
  return group?.words
}

/** Somebody listed behind a name, which ends before `end`. */
function strangerBehind(tokens: Token[], end: number, mentions: Span[]): Span | undefined {
  let found: Span | undefined
  for (let at = end; ; ) {
    const isAnd = AND_OR_WITH.has(tokens[at]?.word ?? '')
    if (!isAnd && !isBehindComma(tokens[at])) return undefined
    let from = isAnd ? at + 1 : at
    while (BETWEEN.has(tokens[from]?.word ?? '')) from += 1
    const known = mentions.find((mention) => mention.from === from)
    let to = known?.to ?? from
    while (!known && isStrange(tokens, to, mentions) && (to === from || tokens[to]?.isNext)) to += 1
    if (to === from) return undefined
    if (!known) found ??= { from, to }
    if (isAnd) return known || endsList(tokens, to) ? found : undefined
    at = to
  }
}

/** Somebody listed before a name, which begins at `start`: "Mert ve Hans’a", "to Mert, Hans and Ali". */
function strangerBefore(tokens: Token[], start: number, mentions: Span[]): Span | undefined {
  let first = start
  while (BETWEEN.has(tokens[first - 1]?.word ?? '')) first -= 1
  const isAnd = AND_OR_WITH.has(tokens[first - 1]?.word ?? '')
  const to = isAnd ? first - 1 : first
  let from = to
  while (isStrange(tokens, from - 1, mentions) && (from === to || tokens[from]?.isNext)) from -= 1
  // A capital that begins the task says nothing, but for an "and" behind it.
  const opening = tokens[from - 1]
  const isCapital = opening?.isFirst && /^\p{Lu}/u.test(opening.text)
  if (from === to && isAnd && isCapital && !isMention(from - 1, mentions)) from -= 1
  if (from === to) return undefined
  const isListed = isBehindComma(tokens[first]) && isOrder(tokens[from - 1]?.word ?? '')
  return isAnd || isListed ? { from, to } : undefined
}

const isBehindComma = (token: Token | undefined) =>
  token !== undefined && !token.isNext && !token.isFirst

function endsList(tokens: Token[], at: number): boolean {
  const [last, next] = [tokens[at - 1], tokens[at]]
  if (!next?.isNext || AFTER_LIST.test(next.word)) return true
  return SHARED_ENDING.test(last?.suffix ?? '')
}

const isMention = (at: number, mentions: Span[]) =>
  mentions.some(({ from, to }) => at >= from && at < to)

/** Whether this is written as a name and no lead is called so. */
function isStrange(tokens: Token[], at: number, mentions: Span[]): boolean {
  const token = tokens[at]
  if (!token?.isName || isMention(at, mentions)) return false
  return !NO_PERSON.has(token.word) && !OWN_PEOPLE.test(token.word)
}
