import type { Language } from '../../i18n/words.ts'
import { isPlain } from './amounts.ts'
import { isNumber, tokensOf } from './tokens.ts'

/*
 * What a fact says beside its own words: one place of several, and "trucks" where it says "40
 * trucks". Only where nothing else in the fact could turn or narrow it.
 */

const EN_NAME = '\\p{Lu}[\\p{L}-]+(?: \\p{Lu}[\\p{L}-]+)?'
const EN_LIST = new RegExp(
  `^(.+ (?:to|in|for|into|across|supports?|speaks?|understands?) )((?:${EN_NAME}, )*${EN_NAME}),? and (${EN_NAME})[.!]?$`,
  'u',
)
const TR_NAME = "\\p{Lu}[\\p{L}]+'(?:y?[ae]|[dt][ae]n?)"
const TR_LIST = new RegExp(
  `^(.*?)(?<!\\S)((?:${TR_NAME}, )*${TR_NAME}),? ve (${TR_NAME})( [^,]+?)[.!]?$`,
  'u',
)

/** What makes a list more than its members, or less: counts, negations, superlatives, pairs. */
const NO_LIST: Record<Language, RegExp> = {
  en: /\d|(?<!\p{L})(?:not|never|no|nobody|only|alone|exclusively|both|either|neither|between|together|combined|all|every|each|most|some|first|last|few|more|less|than|if|unless|without|except|and|or|may|might|per|one|leading|leader|sole|mostly|mainly|chiefly|primarily|largely|partly|half|thirds?|quarters?|dozens?|hundreds|thousands|majority|minority|rest|total|average|several|pair|couple|outside|beyond|besides|apart|best|worst|top|\p{L}{2,}n't|\p{L}{3,}est)(?!\p{L})/iu,
  tr: /\d|(?<!\p{L})(?:değil|yok|yalnız|yalnızca|sadece|hem|ya|veya|en|ilk|tek|lider\p{L}*|arasında|birlikte|tüm|bütün|her|hiç|bazı|daha|eğer|kadar|hariç|ve|on|bir|yüz|bin|yüzde|birkaç|birçok|düzine|toplam\p{L}*|ortalama|çoğu\p{L}*|çoğunlu\p{L}*|yarı\p{L}*|kısm\p{L}*|üçte|dörtte|ağırlıklı|dışında|haricinde|ne|kimse|pek)(?!\p{L})|m[ıiuü]yor|m[ae]z(?!\p{L})|m[ae]d[ıi]/iu,
}

/** "Ten trucks to Italy and Spain" are not ten to Italy, whether in digits or in words. */
const isMoreOrLess = (part: string, language: Language) =>
  NO_LIST[language].test(part) || tokensOf(part, language).some(isNumber)

/**
 * membersOf reads "You deliver to Italy, Slovenia and Croatia" as one sentence for each of them;
 * undefined where it is no such list, or where the list could mean more than its members.
 */
export function membersOf(sentence: string, language: Language): string[] | undefined {
  const text = sentence.replace(/[’ʼ`´‘]/g, "'")
  const list = (language === 'en' ? EN_LIST : TR_LIST).exec(text)
  if (!list) return undefined
  const [, head = '', names = '', last = '', tail = ''] = list
  if ([head, tail].some((part) => isMoreOrLess(part, language))) return undefined
  const members = [...names.split(', '), last]
  const isKnown = (name: string) => KNOWN[language]().has(name.replace(/'.*$/, ''))
  return members.every(isKnown) ? members.map((name) => head + name + tail) : undefined
}

/**
 * The countries and languages as a language calls them. Other names that are joined may be one:
 * who works for "Marks and Spencer" does not work for Marks.
 */
const KNOWN: Record<Language, () => Set<string>> = {
  en: once(() => countriesAndLanguages('en')),
  tr: once(() => countriesAndLanguages('tr')),
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

function countriesAndLanguages(language: Language): Set<string> {
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const codes = letters.flatMap((first) => letters.map((second) => first + second))
  const regions = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' })
  const languages = new Intl.DisplayNames(language, { type: 'language', fallback: 'none' })
  const found = codes.flatMap((code) => [regions.of(code.toUpperCase()), languages.of(code)])
  return new Set(found.filter((name) => name !== undefined))
}

/** "From June" is no place, and who has something from then on may not have it now. */
const NO_PLACE =
  'January|February|March|April|May|June|July|August|September|October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Spring|Summer|Autumn|Winter'
const PLACE = new RegExp(
  ` (?:in|from) (?!(?:${NO_PLACE})(?![\\p{L}-]))\\p{Lu}[\\p{L}-]+[.!]?$`,
  'u',
)

/** "Runs 40 trucks from Bursa" without its place; only together with its number it can be left out. */
export function withoutPlace(sentence: string, language: Language): string | undefined {
  const bare = sentence.replace(PLACE, '')
  return language === 'en' && bare !== sentence ? bare : undefined
}

/** Who has, runs, makes or uses some of a thing has, runs, makes or uses it. */
const HAVING = new Set('have own run operate use sell make produce employ'.split(' '))
const MEASURES =
  /^(?:%|eur|usd|gbp|try|million|billion|thousand|hundred|percent|seconds?|minutes?|hours?|days?|weeks?|months?|years?|of|to|and|or|times?|more|[a-z]{1,2})$/u
const OF = ':of'

/** impliedBy lists what a fact says without its number: "has 40 trucks in Bursa" says "has trucks". */
export function impliedBy(tokens: string[], language: Language): string[][] {
  const [subject = '', verb = ''] = tokens
  if (!isPlain(tokens, language) || tokens.some((token) => token === 'and' || token === 've')) {
    return []
  }
  if (language === 'en') {
    const counted = tokens[3] ?? ''
    const isSome = HAVING.has(verb) && isSeveral(tokens[2]) && /^\p{L}/u.test(counted)
    if (!/^‹\p{L}+›$/u.test(subject) || !isSome || MEASURES.test(counted)) return []
    return [tokens.toSpliced(2, 1)]
  }
  const thing = tokens.at(-2) ?? ''
  if (!subject.endsWith(OF) || !isSeveral(verb) || tokens.at(-1) !== 'var') return []
  return plurals(thing).map((plural) => [subject, ...tokens.slice(2, -2), plural, 'var'])
}

const isSeveral = (token = '') => isNumber(token) && Number(token) >= 2 && !token.includes('.')

/** "Kamyonu" is "kamyonları" where there are several. */
function plurals(owned: string): string[] {
  const bare = owned
    .replace(/(?<=[aeıioöuü])s[ıiuü]$/u, '')
    .replace(/(?<=[^aeıioöuüs])[ıiuü]$/u, '')
  if (bare === owned) return []
  const hard: Record<string, string> = { c: 'ç', ğ: 'k', b: 'p', d: 't' }
  const last = bare.at(-1) ?? ''
  const forms = hard[last] ? [bare, bare.slice(0, -1) + hard[last]] : [bare]
  return forms.flatMap((form) => [`${form}ları`, `${form}leri`])
}
