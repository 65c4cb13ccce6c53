import type { Language } from '../../i18n/words.ts'
import { numeralAt } from '../numbers/spelled.ts'
import { squashed } from './sentences.ts'

/*
 * The words of a sentence in the form in which two sentences are compared. Everything that could
 * change what is said stays: order, articles, tense, negation, hedges, numbers and their units.
 */

const TOKEN =
  /(?<![\p{L}\p{N}])[-−]?\d+(?:[.,]\d+)*|\p{L}[\p{L}\p{M}\p{N}]*(?:[-'][\p{L}\p{M}\p{N}]+)*|[^\s.,;:!?"“”„«»()[\]…']/gu

const CONTRACTED: Record<string, string> = {
  "can't": 'can not', cannot: 'can not', "won't": 'will not', "shan't": 'shall not',
} // biome-ignore format: a table
const SHORT: [RegExp, string][] = [
  [/^(.+)n't$/, '$1 not'],
  [/^(.+)'re$/, '$1 are'],
  [/^(.+)'ve$/, '$1 have'],
  [/^(.+)'ll$/, '$1 will'],
  [/^(.+)'m$/, '$1 am'],
]

const UNITS: Record<string, string> = {
  '€': 'eur', euro: 'eur', euros: 'eur', eur: 'eur', avro: 'eur',
  $: 'usd', usd: 'usd', '£': 'gbp', gbp: 'gbp',
  '₺': 'try', tl: 'try', lira: 'try', try: 'try', percent: '%',
} // biome-ignore format: a table
/** Signs that may stand before their number. */
const BEFORE = new Set(['%', 'eur', 'usd', 'gbp', 'try'])

/** Words that multiply the number before them; a currency may stand on either side of both. */
const SCALES = new Set(['million', 'billion', 'milyon', 'milyar'])

const known = new Map<string, readonly string[]>()
const MAX_KNOWN = 20_000

/** tokensOf lists the words and numbers of a text; the same text is split only once. */
export function tokensOf(text: string, language: Language): readonly string[] {
  const key = `${language} ${text}`
  const had = known.get(key)
  if (had) return had
  const tokens = split(text, language)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(key, tokens)
  return tokens
}

function split(text: string, language: Language): string[] {
  const even = squashed(text)
    .replace(/[’ʼ`´‘]/g, "'")
    .replace(/\bper cent\b/gi, 'percent')
    // ".5" is no 5, and "No, they pay" is not "No … pay".
    .replace(/(?<![\p{L}\p{N}.,])[.,](?=\d)/gu, '0.')
    .replace(/^(no|not|yes|hayır|evet)(?=[,:;.!])/iu, '$1answer')
    // The country is not "us".
    .replace(/\bUS\b/g, 'U_S')
    .replace(/\bU_S\b/g, 'unitedstates')
  const words = even.toLocaleLowerCase(language).match(TOKEN) ?? []
  const tokens = words.flatMap((word) => (language === 'en' ? english(word) : turkish(word)))
  const numbered = spelledOut(tokens, language).map((token) => numberOf(token, language))
  return inOrder(numbered, language)
}

/** Words that are numbers only beside others, as each of them may be another one. */
const NOT_ALONE: Record<Language, Set<string>> = {
  en: new Set(['one']),
  tr: new Set(['bir', 'on', 'yüz', 'bin']),
}

/** Numbers in words as digits: "forty", "forty-five", "two hundred", "a thousand", "kırk beş". */
function spelledOut(tokens: string[], language: Language): string[] {
  const found: string[] = []
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at] ?? ''
    const { value, end } = numeralAt(tokens, at, language)
    const isNumeral = end > at + 1 || (end > at && !NOT_ALONE[language].has(token))
    found.push(isNumeral ? String(value) : token)
    at = Math.max(end, at + 1)
  }
  return found
}

function english(word: string): string[] {
  const whole = CONTRACTED[word]
  if (whole) return whole.split(' ')
  for (const [pattern, form] of SHORT) {
    if (pattern.test(word)) return word.replace(pattern, form).split(' ')
  }
  return word.endsWith("'s") ? [word.slice(0, -2), "'s"] : [word]
}

/** A name's ending, which is written behind an apostrophe, is a token of its own. */
function turkish(word: string): string[] {
  const at = word.indexOf("'")
  return at < 0 ? [word] : [word.slice(0, at), `'${word.slice(at + 1).replaceAll("'", '')}`]
}

export const isNumber = (token: string): boolean => /^-?\d/.test(token)

/** What stands between the thousands; the other sign stands before the decimals. */
const GROUPS: Record<Language, [RegExp, string]> = {
  en: [/^-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d{1,2})?$/, ','],
  tr: [/^-?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d{1,2})?$/, '.'],
}

/**
 * Numbers are compared by value as the language writes them: "1,250" is 1250 in English and "1.250"
 * in Turkish. In the other language's way, three digits may be thousands or decimals, and
 * "1.11.2021" is no number: those must be written alike.
 */
function numberOf(token: string, language: Language): string {
  const number = token.replace(/^−/, '-')
  if (!isNumber(number)) return token
  const [grouped, sign] = GROUPS[language]
  const whole = grouped.test(number) ? number.replaceAll(sign, '') : number
  if (/^-?[1-9]\d{0,2}(?:\.\d{3}){2,}$/.test(whole)) return whole.replaceAll('.', '')
  if (/^-?[1-9]\d{0,2}(?:,\d{3}){2,}$/.test(whole)) return whole.replaceAll(',', '')
  if (/^-?\d+,(?:\d{1,2}|\d{4,})$/.test(whole)) return whole.replace(',', '.')
  return whole
}

/** Percent and currency stand behind their number, under one name. */
function inOrder(tokens: string[], language: Language): string[] {
  const found: string[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] ?? ''
    const next = tokens[at + 1] ?? ''
    const sign = token === 'yüzde' && language === 'tr' ? '%' : (UNITS[token] ?? token)
    const before = tokens[at - 1] ?? ''
    const isCurrencyWord = sign !== '%' && /^\p{L}/u.test(token)
    const isTaken = isNumber(before) || (isCurrencyWord && SCALES.has(before))
    const isBefore = BEFORE.has(sign) && isNumber(next) && !isTaken
    const scale = tokens[at + 2] ?? ''
    if (isBefore && (sign !== token || token === '%')) {
      found.push(next, ...(SCALES.has(scale) ? [scale, sign] : [sign]))
      at += SCALES.has(scale) ? 2 : 1
    } else {
      const isBehind = isNumber(found.at(-1) ?? '') || SCALES.has(found.at(-1) ?? '')
      found.push(isBehind || sign === '%' ? sign : token)
    }
  }
  return found
}
