import type { Language } from '../../../shared/words/texts.ts'
import { wordsOf } from './words.ts'

const TURKISH_ONES: Record<string, number> = {
  bir: 1, iki: 2, uc: 3, dort: 4, bes: 5, alti: 6, yedi: 7, sekiz: 8, dokuz: 9,
} // biome-ignore format: a table
const ONES: Record<string, number> = {
  a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9,
  ...TURKISH_ONES,
} // biome-ignore format: a table
const WHOLE: Record<string, number> = {
  ten: 10, eleven: 11, twelve: 12, thirteen: 13, fourteen: 14, fifteen: 15, sixteen: 16,
  seventeen: 17, eighteen: 18, nineteen: 19, dozen: 12, duzine: 12,
} // biome-ignore format: a table
const TENS: Record<string, number> = {
  twenty: 20, thirty: 30, forty: 40, fifty: 50, sixty: 60, seventy: 70, eighty: 80, ninety: 90,
  on: 10, yirmi: 20, otuz: 30, kirk: 40, elli: 50, altmis: 60, yetmis: 70, seksen: 80, doksan: 90,
} // biome-ignore format: a table

/**
 * spelledNumbers lists the numbers up to 99 that a text spells out in English or Turkish, as digits
 * and in their order: “on iki saat” and “twelve hours” give 12, “twenty-one” gives 21. “on” by
 * itself is ten for a reader of Turkish only: elsewhere it is the preposition.
 */
export function spelledNumbers(text: string, language: Language): string[] {
  return text.split(/[,.;:()\n]/).flatMap((clause) => inClause(clause, language))
}

/** A number does not go on behind a comma. */
function inClause(text: string, language: Language): string[] {
  const found: number[] = []
  let tens: number | undefined
  const words = wordsOf(text).flatMap((word) => word.split('-'))
  for (const [at, word] of words.entries()) {
    const one = ONES[word]
    if (tens !== undefined) {
      found.push(tens + (one ?? 0))
      tens = undefined
      if (one !== undefined) continue
    }
    const isTen = word !== 'on' || language === 'tr' || (words[at + 1] ?? '') in TURKISH_ONES
    tens = isTen ? TENS[word] : undefined
    const number = one ?? WHOLE[word]
    if (number !== undefined) found.push(number)
  }
  if (tens !== undefined) found.push(tens)
  return found.map(String)
}
