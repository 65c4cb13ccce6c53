import { fold } from '../../../shared/words/fold.ts'
import type { Language } from '../../../shared/words/texts.ts'
import { wordsOf } from '../run/words.ts'

/** The words of a language that say numbers; `big` multiply what stands before them. */
type Numerals = {
  small: Map<string, number>
  /** Stands for one before a big number: "a hundred". */
  article?: string
  /** Says "and" within a number, behind a big one. */
  and?: string
  big: { hundred: string; thousand: string }
  /** Whether a big number may begin one: "yüz elli", but not "hundred and fifty". */
  beginsBig: boolean
}

const EN: Numerals = {
  small: new Map(Object.entries({
    one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10,
    eleven: 11, twelve: 12, thirteen: 13, fourteen: 14, fifteen: 15, sixteen: 16, seventeen: 17,
    eighteen: 18, nineteen: 19, twenty: 20, thirty: 30, forty: 40, fifty: 50, sixty: 60,
    seventy: 70, eighty: 80, ninety: 90,
  })),
  article: 'a',
  and: 'and',
  big: { hundred: 'hundred', thousand: 'thousand' },
  beginsBig: false,
} // biome-ignore format: a table
const TR: Numerals = {
  small: new Map(Object.entries({
    bir: 1, iki: 2, üç: 3, dört: 4, beş: 5, altı: 6, yedi: 7, sekiz: 8, dokuz: 9, on: 10,
    yirmi: 20, otuz: 30, kırk: 40, elli: 50, altmış: 60, yetmiş: 70, seksen: 80, doksan: 90,
  })),
  big: { hundred: 'yüz', thousand: 'bin' },
  beginsBig: true,
} // biome-ignore format: a table
const NUMERALS: Record<Language, Numerals> = { en: EN, tr: TR }

/** Turkish as people type it who lack its letters. */
const TR_FOLDED: Numerals = {
  ...TR,
  small: new Map([...TR.small].map(([word, value]) => [fold(word), value])),
  big: { hundred: fold(TR.big.hundred), thousand: TR.big.thousand },
}

/** Below a hundred: "forty", "forty-five". */
function smallOf(word: string, { small }: Numerals): number | undefined {
  const [tens = '', ones, ...rest] = word.split('-')
  if (ones === undefined) return small.get(tens)
  const [first = 0, last = 0] = [small.get(tens), small.get(ones)]
  return rest.length === 0 && first >= 20 && last > 0 && last < 10 ? first + last : undefined
}

/** A number and the place behind its last word. */
type Found = { value: number; end: number }

/**
 * numeralAt reads the number that begins at a word, of as many words as say one: "forty-five", "two
 * hundred and fifty", "5 thousand", "on beş"; its end is where it begins if there is none. A single word
 * may be another one ("one", "on" and "yüz"): whoever asks decides that.
 */
export const numeralAt = (words: string[], at: number, language: Language): Found =>
  readAt(words, at, NUMERALS[language])

function readAt(words: string[], at: number, numerals: Numerals): Found {
  const { article, and, big, beginsBig } = numerals
  const isBig = (word?: string) => word === big.hundred || word === big.thousand
  let [total, current, end] = [0, 0, at]
  for (let here = at; here < words.length; here++) {
    const word = words[here] ?? ''
    const next = words[here + 1]
    const small = word === article && isBig(next) ? 1 : smallOf(word, numerals)
    const below = current % 100
    if (small !== undefined) {
      const follows = below >= (beginsBig ? 10 : 20) && below % 10 === 0 && small < 10
      if (below !== 0 && !follows) break
      current += small
    } else if (here === at && /^\d{1,3}$/.test(word) && next === big.thousand) {
      current = Number(word)
    } else if (word === big.hundred && current < 10 && (current > 0 || beginsBig)) {
      current = Math.max(1, current) * 100
    } else if (word === big.thousand && total === 0 && (current > 0 || beginsBig)) {
      total = Math.max(1, current) * 1000
      current = 0
    } else if (
      word === and &&
      here > at &&
      isBig(words[here - 1]) &&
      smallOf(next ?? '', numerals) !== undefined
    ) {
      continue
    } else break
    end = here + 1
  }
  return { value: total + current, end }
}

/** Words that say how many by themselves, but within no longer number. */
const ALONE: Record<string, number> = { a: 1, an: 1, dozen: 12, duzine: 12 }

/**
 * spelledNumbers lists the numbers that a text spells out in English or Turkish, as digits and in
 * their order: “on iki saat” and “twelve hours” give 12, “twenty-one” gives 21. “on” by itself is
 * ten for a reader of Turkish only: elsewhere it is the preposition.
 */
export function spelledNumbers(text: string, language: Language): string[] {
  // A number does not go on behind a comma.
  return text.split(/[,.;:()\n]/).flatMap((clause) => inClause(wordsOf(clause), language))
}

function inClause(words: string[], language: Language): string[] {
  const found: number[] = []
  for (let at = 0; at < words.length; ) {
    const word = words[at] ?? ''
    const [english, turkish] = [readAt(words, at, EN), readAt(words, at, TR_FOLDED)]
    const { value, end } = english.end > at ? english : turkish
    const isOther =
      Object.values(TR_FOLDED.big).includes(word) || (word === 'on' && language !== 'tr')
    if (end > at + 1 || (end > at && !isOther)) found.push(value)
    else if (Object.hasOwn(ALONE, word)) found.push(ALONE[word] ?? 0)
    at = Math.max(end, at + 1)
  }
  return found.map(String)
}
