import type { Language } from '../../i18n/words.ts'
import { decimal } from '../run/facts.ts'

/*
 * A customer's own list says "Trucks: 42" about a lead. A mail says it in a sentence, so the fact
 * is also read as the sentences that say exactly that and no more.
 */

const MAX_LABEL = 80
const NUMBER = /^\d+(?:[.,]\d+)*$/
const COUNTED: Record<Language, RegExp> = {
  en: /^(?:(?:number|no\.?|count) of (.+)|(.+) count)$/iu,
  tr: /^(.+) (?:say[ıi]s[ıi]|adedi)$/iu,
}

/** statementsOf says a labelled fact to its reader: "Your trucks are 42", "You have 42 trucks". */
export function statementsOf(label: string, value: string, language: Language): string[] {
  const name = label.trim()
  const said = value.trim()
  // A value that was cut may go on otherwise, and "42?" is not known.
  if (name.length > MAX_LABEL || /[.!?:;]/u.test(name) || /…|\.{3}|[?？]/u.test(said)) return []
  const counted = COUNTED[language].exec(name)?.slice(1).find(Boolean)
  const count = NUMBER.test(said) && Number.isFinite(decimal(said)) ? said : undefined
  if (language === 'en') {
    return [
      `Your ${lower(name)} is ${said}`,
      `Your ${lower(name)} are ${said}`,
      ...(count ? [counted ?? name].map((thing) => `You have ${count} ${lower(thing)}`) : []),
    ]
  }
  return [
    ...possessed(name).map((yours) => `${yours} ${said}`),
    ...(count ? possessed(counted ?? name).map((yours) => `${count} ${yours} var`) : []),
  ]
}

/** A label's capital is no name's, unless the whole word has capitals: "Trucks", but "ERP". */
const lower = (text: string) =>
  text.replace(/^\p{Lu}(?=\p{Ll}|\s|$)/u, (letter) => letter.toLowerCase())

const VOWELS = 'aeıioöuü'
const ENDING: Record<string, string> = {
  a: 'ı', ı: 'ı', e: 'i', i: 'i', o: 'u', u: 'u', ö: 'ü', ü: 'ü',
} // biome-ignore format: a table
const SOFT: Record<string, string> = { ç: 'c', k: 'ğ', p: 'b', t: 'd' }

/** A Turkish noun as its reader's: "kamyon" is "kamyonunuz", "kamyon sayısı" is "kamyon sayınız". */
function possessed(label: string): string[] {
  const text = label.toLocaleLowerCase('tr')
  const stem = text.replace(/(?<=[aeıioöuü])s[ıiuü]$/u, '')
  const vowel = ENDING[[...stem].findLast((letter) => VOWELS.includes(letter)) ?? '']
  const last = stem.at(-1) ?? ''
  if (!vowel || !/\p{Ll}/u.test(last)) return []
  if (VOWELS.includes(last)) return [`${stem}n${vowel}z`]
  const whole = `${stem}${vowel}n${vowel}z`
  const soft = SOFT[last]
  return soft ? [whole, `${stem.slice(0, -1)}${soft}${vowel}n${vowel}z`] : [whole]
}
