import { MAIL_ADDRESS } from './mail-address.ts'
import { spelledOut } from './slips.ts'
import { asWritten, wordsOf } from './words.ts'

/** A word of a task as phrases see it, and as it is written. */
export type Token = {
  word: string
  written: string
  /** Whether a sentence begins with it. */
  isFirst: boolean
}

/** Endings that are domains, not files: "import.js" is code. */
const DOMAINS =
  'com|net|org|info|biz|eu|io|co|de|tr|uk|at|ch|fr|nl|be|it|es|pl|no|se|dk|fi|gr|bg|ro|us|ca|az|ae|ai|app|dev|shop|example|istanbul'
const ADDRESS = String.raw`https?:\/\/\S+|www\.\S+|(?<![\p{L}\d-])[\p{L}\d-]+(?:\.[\p{L}\d-]+){0,10}\.(?:${DOMAINS})(?![\p{L}\d])(?:\/\S*)?`
const FILE = String.raw`(?<![\w.-])[\w.-]*(?:\/[\w.-]+)+|(?<![\w-])[\w-]+\.(?:js|jsx|ts|tsx|py|sql|php|sh|css|html|csv|xlsx?|txt|pdf|md)(?![\p{L}\d])|code\/`
// None begins within a word: looking from each of its characters to its end would take quadratic time.
const PLACES = new RegExp(`((?<![\\p{L}\\p{N}._%+-])${MAIL_ADDRESS})|(${ADDRESS})|(${FILE})`, 'giu')

/** A name with a dative ending ("Hans Müller'e"), which in Turkish is whom something goes to. */
const TO = /^\p{Lu}\p{Ll}+['’ʼ`´](?:y?[ea]|n[ea])$/u

/**
 * tokensOf lists the words of a task. An address is one word whatever stands in it: `@mail`,
 * `@site`, and for files `@hub`, `@code`, `@list`, `@file`; `@to` is a name that something is sent
 * to. The name of a file says nothing of the task: docs/contract.md may only be summarised.
 */
export function tokensOf(task: string): Token[] {
  const tokens: Omit<Token, 'isFirst'>[] = []
  const starts = new Set<number>()
  const add = (text: string) => {
    for (const sentence of text.split(/(?<=[.!?:;]["'”’)]?\s|\n)/)) {
      tokens.push(...plain(sentence))
      if (/(?:[.!?:;]["'”’)]?\s|\n)$/.test(sentence)) starts.add(tokens.length)
    }
  }
  let from = 0
  for (const match of task.matchAll(PLACES)) {
    const [whole, mail, site, file] = match
    const word = mail ? '@mail' : site ? '@site' : kindOf(file ?? '')
    if (!word) continue
    add(task.slice(from, match.index))
    tokens.push({ word, written: whole })
    from = match.index + whole.length
    // A case ending behind an address is no word.
    from += /^['’ʼ`´]\p{L}+/u.exec(task.slice(from))?.[0].length ?? 0
  }
  add(task.slice(from))
  return tokens.map((token, at) => ({ ...token, isFirst: at === 0 || starts.has(at) }))
}

function kindOf(file: string): string | undefined {
  if (file.startsWith('hub/')) return '@hub'
  if (/^code\/|\.(?:jsx?|tsx?|py|sql|php|sh|css|html)$/i.test(file)) return '@code'
  if (/^leads\/|\.(?:csv|xlsx?)$/i.test(file)) return '@list'
  return /^(?:docs|drafts)\//i.test(file) ? '@file' : undefined
}

function plain(text: string): Omit<Token, 'isFirst'>[] {
  return text.split(/(\s+)/).flatMap((part) => {
    if (TO.test(part) && !/^hub\P{L}/iu.test(part)) return [{ word: '@to', written: part }]
    const written = asWritten(part)
    return wordsOf(part).map((word, index) => ({
      word: spelledOut(word),
      written: written[index] ?? word,
    }))
  })
}

const ABOUT = new Set(['about', 'regarding', 'concerning', 'for', 'that', 'which', 'who'])
const HAKKINDA = new Set(['hakkinda', 'icin', 'uzerine', 'konusunda', 'dair'])

/**
 * subjectOf says which words are what a task is about rather than what it asks for: in English
 * what follows "about" or "for", in Turkish what stands before "hakkında" or "için".
 */
export function subjectOf(words: string[]): (place: number) => boolean {
  const about = words.findIndex((word, index) => index > 0 && ABOUT.has(word))
  const hakkinda = words.findLastIndex(
    (word, index) =>
      index < words.length - 1 &&
      (HAKKINDA.has(word) || (words[index + 1] === 'bir' && /.[ae]n$/.test(word))),
  )
  return (place) => (about > 0 && place > about) || place < hakkinda
}
