import { fold } from '../../shared/words/fold.ts'
import { wordsOf } from '../agents/run/words.ts'

const LENGTH = 160
const BEFORE = 40

/** snippetOf returns the part of a text around the words of a query, or else its beginning. */
export function snippetOf(text: string, query: string): string {
  const plain = text.replace(/\s+/g, ' ').trim()
  const { folded, origins } = foldWithOrigins(plain)
  const wanted = [fold(query).replace(/\s+/g, ' ').trim(), ...wordsOf(query)].filter(Boolean)
  const at = wanted.map((word) => folded.indexOf(word)).find((index) => index >= 0) ?? 0
  const hit = origins[at] ?? 0
  if (plain.length <= LENGTH) return plain
  const space = plain.indexOf(' ', hit - BEFORE)
  // A hit late in a word without an end, such as an address, begins the snippet itself.
  const start = hit <= BEFORE ? 0 : space < 0 ? hit : Math.min(space + 1, hit)
  const end = Math.min(plain.length, start + LENGTH)
  return `${start > 0 ? '…' : ''}${plain.slice(start, end).trim()}${end < plain.length ? '…' : ''}`
}

/** A folded text and, for each of its characters, the position in the original text. */
function foldWithOrigins(text: string): { folded: string; origins: number[] } {
  let folded = ''
  const origins: number[] = []
  let at = 0
  for (const letter of text) {
    const plain = fold(letter)
    for (let i = 0; i < plain.length; i += 1) origins.push(at)
    folded += plain
    at += letter.length
  }
  return { folded, origins }
}
