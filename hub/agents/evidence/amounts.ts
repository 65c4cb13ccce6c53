import type { Language } from '../../i18n/words.ts'
import { isNumber } from './tokens.ts'

/*
 * The same length of time in another unit, and the same day in another order. Only units that are
 * exact multiples: a day is not always 24 hours of work, and a month has no fixed number of days.
 */

type Unit = { names: string[]; of: number; in: string }
const UNITS: Record<Language, Unit[]> = {
  en: [
    { names: ['second', 'seconds'], of: 1, in: 'second' },
    { names: ['minute', 'minutes'], of: 60, in: 'second' },
    { names: ['hour', 'hours'], of: 3600, in: 'second' },
    { names: ['day', 'days'], of: 1, in: 'day' },
    { names: ['week', 'weeks'], of: 7, in: 'day' },
    { names: ['month', 'months'], of: 1, in: 'month' },
    { names: ['year', 'years'], of: 12, in: 'month' },
    { names: ['gram', 'grams'], of: 1, in: 'gram' },
    { names: ['kilogram', 'kilograms', 'kg'], of: 1000, in: 'gram' },
    { names: ['tonne', 'tonnes'], of: 1_000_000, in: 'gram' },
    { names: ['metre', 'metres'], of: 1, in: 'metre' },
    { names: ['kilometre', 'kilometres', 'km'], of: 1000, in: 'metre' },
    { names: ['million'], of: 1, in: 'million' },
    { names: ['billion'], of: 1000, in: 'million' },
  ],
  tr: [
    { names: ['saniye'], of: 1, in: 'saniye' },
    { names: ['dakika'], of: 60, in: 'saniye' },
    { names: ['saat'], of: 3600, in: 'saniye' },
    { names: ['gün'], of: 1, in: 'gün' },
    { names: ['hafta'], of: 7, in: 'gün' },
    { names: ['ay'], of: 1, in: 'ay' },
    { names: ['yıl'], of: 12, in: 'ay' },
    { names: ['gram'], of: 1, in: 'gram' },
    { names: ['kilogram', 'kilo', 'kg'], of: 1000, in: 'gram' },
    { names: ['ton'], of: 1_000_000, in: 'gram' },
    { names: ['metre'], of: 1, in: 'metre' },
    { names: ['kilometre', 'km'], of: 1000, in: 'metre' },
    { names: ['milyon'], of: 1, in: 'milyon' },
    { names: ['milyar'], of: 1000, in: 'milyon' },
  ],
}
const ONE: Record<Language, string> = { en: 'one', tr: 'bir' }

/** amountOf reads a number that can be read in one way only; "1,250" is none. */
export function amountOf(token: string | undefined): number | undefined {
  return token !== undefined && /^\d+(?:\.\d{1,2})?$/.test(token) ? Number(token) : undefined
}

/** "within 120 minutes" is "within 2 hours" and "within one hour" is "within 60 minutes". */
export function otherUnits(tokens: string[], language: Language): string[][] {
  return tokens.flatMap((token, at) => {
    const word = tokens[at + 1] ?? ''
    const unit = UNITS[language].find(({ names }) => names.includes(word))
    const count = token === ONE[language] ? 1 : amountOf(token)
    if (!unit || count === undefined || isNumber(tokens[at - 1] ?? '')) return []
    return UNITS[language]
      .filter((other) => other.in === unit.in)
      .flatMap((other) => {
        const converted = (count * unit.of) / other.of
        if (!/^\d+(?:\.\d{1,2})?$/.test(String(converted))) return []
        const counts = converted === 1 ? ['1', ONE[language]] : [String(converted)]
        return counts.flatMap((number) =>
          other.names.map((name) => tokens.toSpliced(at, 2, number, name)),
        )
      })
  })
}

const MONTHS: Record<Language, string[]> = {
  en: 'january february march april may june july august september october november december'.split(
    ' ',
  ),
  tr: 'ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık'.split(' '),
}
const isDay = (token = '') => /^(?:[1-9]|[12]\d|3[01])$/.test(token)
const isYear = (token = '') => /^(?:19|20)\d\d$/.test(token)

/** "September 12, 2020", "2020-09-12" and, in Turkish, "12.09.2020" are "12 September 2020". */
export function otherDates(tokens: string[], language: Language): string[][] {
  return tokens.flatMap((token, at) => {
    const [second = '', third = ''] = tokens.slice(at + 1)
    const months = MONTHS[language]
    if (months.includes(token) && isDay(second) && isYear(third)) {
      return [tokens.toSpliced(at, 3, second, token, third)]
    }
    if (isDay(token) && months.includes(second) && isYear(third)) {
      const [day, month] = [token.padStart(2, '0'), String(months.indexOf(second) + 1)]
      const forms =
        language === 'en'
          ? [[second, token, third]]
          : [[`${day}.${month.padStart(2, '0')}.${third}`], [`${token}.${month}.${third}`]]
      return forms.map((form) => tokens.toSpliced(at, 3, ...form))
    }
    const dotted = language === 'tr' && /^(\d{1,2})\.(\d{1,2})\.((?:19|20)\d\d)$/.exec(token)
    const month = dotted ? months[Number(dotted[2]) - 1] : undefined
    if (!dotted || month === undefined || !isDay(String(Number(dotted[1])))) return []
    return [tokens.toSpliced(at, 1, String(Number(dotted[1])), month, dotted[3] ?? '')]
  })
}

/** A number that may be a year is no count: "2019 models" are not more than 2,000. */
export const isCount = (value: number | undefined): value is number =>
  value !== undefined && !(Number.isInteger(value) && value >= 1900 && value <= 2100)

/** A sentence that names a bound, and the same sentence with the bound as a plain number. */
export type Bound = { tokens: string[]; at: number; least: number }

const ABOVE = [['more', 'than'], ['over'], ['at', 'least']]

/**
 * boundIn finds "more than 100" directly behind the verb (in Turkish in front of what is counted),
 * where a larger number of the same says so. "At least 100" needs more than 100: of a fact that says
 * 100 nobody knows whether it is the least.
 */
export function boundIn(tokens: string[], language: Language): Bound | undefined {
  if (language === 'en') {
    const words = ABOVE.find((form) => form.every((word, of) => tokens[2 + of] === word))
    const least = words && amountOf(tokens[2 + words.length])
    if (!words || least === undefined) return undefined
    return { tokens: tokens.toSpliced(2, words.length), at: 2, least }
  }
  if (tokens[1] === 'en' && tokens[2] === 'az') {
    const least = amountOf(tokens[3])
    return least === undefined ? undefined : { tokens: tokens.toSpliced(1, 2), at: 1, least }
  }
  const least = amountOf(tokens[1])
  if (least === undefined || !/^[dt][ae]n$/.test(tokens[2] ?? '') || tokens[3] !== 'fazla') {
    return undefined
  }
  return { tokens: tokens.toSpliced(2, 2), at: 1, least }
}

/** Words next to which a larger number does not mean "more than" a smaller one. */
const NOT_PLAIN: Record<Language, RegExp> = {
  en: /^(?:not|never|no|without|nobody|none|up|about|around|almost|nearly|roughly|approximately|only|all|every|each|both|most|least|less|fewer|more|than|except|under|below|within|max|maximum|if|unless|may|might|could|would)$/u,
  tr: /^(?:değil|değildir|kadar|yaklaşık|neredeyse|en|az|çok|fazla|eksik|daha|her|tüm|bütün|yalnız|yalnızca|sadece|eğer|içinde|hariç|azami|maksimum)$|m[ıiuü]yor$|m[ae]z$|m[ae]d[ıi]$/u,
}
export const isPlain = (tokens: string[], language: Language): boolean =>
  !tokens.some((token) => NOT_PLAIN[language].test(token))
