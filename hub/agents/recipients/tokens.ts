import { fold } from '../../../shared/words/fold.ts'
import { MAIL_ADDRESS } from '../run/mail-address.ts'
import { spelledOut } from '../run/slips.ts'

/** A word of a task, with what tells a name from a common word. */
export type Token = {
  /** Folded, without what follows an apostrophe. */
  word: string
  /** What follows an apostrophe, folded: "e" of "Ali’ye", "s" of "Ali’s". */
  suffix: string
  /** As it is written. */
  text: string
  /** Whether a capital letter or an apostrophe says that it is a name; a capital that begins a sentence says nothing. */
  isName: boolean
  isFirst: boolean
  /** Whether only spaces part it from the word before. */
  isNext: boolean
  /** Whether a hyphen alone joins it to the word before: "Meyer" of "Lang-Meyer". */
  isJoined: boolean
}

const TOKEN = /([\p{L}\p{N}]+)(?:['’`´](\p{L}+))?/gu
/** Between two of whom a task speaks together. */
export const AND = new Set(['and', 'plus', 've'])
/** "ile" joins two names, but after one it also says with whom or by what: "Ali ile görüş". */
export const AND_OR_WITH = new Set([...AND, 'ile'])
/** An e-mail address in a task. */
export const ADDRESS = new RegExp(MAIL_ADDRESS, 'gu')
/**
 * Words that nobody capitalises inside a sentence, unless the whole task is written in title case. No
 * single letter: "A.Ş." is a legal form.
 */
const SMALL = new Set(
  'an the to of for about and or with in on at by from ve ile icin hakkinda bir gibi de da'.split(
    ' ',
  ),
)

/** tokensOf splits a task into its words, and the e-mail addresses it contains. */
export function tokensOf(task: string): { tokens: Token[]; addresses: string[] } {
  // Unicode calls ʼ a letter.
  const whole = task.normalize('NFC').replaceAll('ʼ', '’')
  const addresses = [...new Set([...whole.matchAll(ADDRESS)].map(([found]) => found.toLowerCase()))]
  // Parts of an address are no words: ali@example.com does not name everybody called Ali.
  const text = whole.replace(ADDRESS, (found) => ' '.repeat(found.length))
  const found = [...text.matchAll(TOKEN)].map(([written, word = '', suffix = ''], index) => ({
    word: spelledOut(fold(word)),
    suffix: fold(suffix),
    text: written,
    isCapital: /^\p{Lu}/u.test(word),
    isFirst: index === 0,
    at: 0,
    isNext: false,
    isJoined: false,
  }))
  let from = 0
  for (const token of found) {
    token.at = text.indexOf(token.text, from)
    const between = text.slice(from, token.at)
    token.isNext = from > 0 && /^\s+$/u.test(between)
    token.isJoined = /^[-‐‑]$/.test(between)
    from = token.at + token.text.length
    token.isFirst ||= /[.!?:;\n•]["'“”‘’(\s-]*$/u.test(text.slice(0, token.at))
    // "Hans’ boss", which is no end of a quotation: “‘Hans’ waits”.
    const isOwner = /s$/i.test(token.text) && /^['’]\s+\p{L}/u.test(text.slice(from))
    const isQuoted = /['‘"“]$/.test(text.slice(0, token.at))
    if (token.isCapital && !token.isFirst && isOwner && !isQuoted) token.suffix = 's'
  }
  const inside = found.filter(({ isFirst }) => !isFirst)
  const isTitleCase =
    inside.some(({ word, isCapital }) => isCapital && SMALL.has(word)) ||
    (inside.length > 3 && inside.every(({ isCapital }) => isCapital))
  const tokens = found.map(
    ({ word, suffix, text, isCapital, isFirst, isNext, isJoined }): Token => ({
      word,
      suffix,
      text,
      isFirst,
      isNext,
      isJoined,
      isName: suffix !== '' || (isCapital && !isFirst && !isTitleCase),
    }),
  )
  return { tokens, addresses }
}

/** The words from `from` up to but not including `to`, as they were written. */
export const writtenIn = (tokens: Token[], from: number, to: number) =>
  tokens
    .slice(Math.max(0, from), to)
    .map(({ text }) => text)
    .join(' ')
