/*
 * "Last month" means another month in every month. A fact with such a word says what it says only
 * while the same period is running in which it was noted.
 */

type Period = 'day' | 'week' | 'month' | 'quarter' | 'year'

const NEAR = 'this|last|next|past|previous|coming'
const TR_NEAR = 'bu|geçen|geçtiğimiz|önceki|evvelki|gelecek|önümüzdeki'
const word = (text: string) => new RegExp(`(?<!\\p{L})(?:${text})(?!\\p{L})`, 'iu')
/** A Turkish case: "geçen yıla", "bu haftanın", "geçen yılki"; "bu yazılım" is no summer, and "dünya" no day. */
const CASE =
  "(?:['’ʼ`´]?(?:(?:(?<=[aeı])n)?[ıiuü]n|(?:(?<=[aeı])y)?(?:[ae]|l[ae])|(?:[dt][ae])?k[iü](?:n\\p{L}*|l[ae]r\\p{L}*)?|[dt][ae]n?))?"
const tr = (stems: string) => `(?:${stems})${CASE}`
/** A weekday or a part of a day, which is another one with every day. */
const EN_DAYS =
  'morning|afternoon|evening|night|monday|tuesday|wednesday|thursday|friday|saturday|sunday'
const TR_DAYS = 'sabah|akşam|gece|pazartesi|salı|çarşamba|perşembe|cuma|cumartesi|pazar'
const EN_MONTHS =
  'january|february|march|april|may|june|july|august|september|october|november|december'
const TR_MONTHS =
  'ocak|ocağ|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|aralık|aralığ'
/** "The last three years" and "son iki yılda" end where the fact was noted. */
const EN_SPANS = '(?:last|past|next|coming|previous) (?:couple of )?(?:[\\p{L}\\d-]+ )?'
const TR_SPANS = '(?:son (?:[\\p{L}\\d]+ )?|(?:geçen|geçtiğimiz|gelecek|önümüzdeki) [\\p{L}\\d]+ )'
const TR_MANY = '(?:l[ae]r)?'

const RELATIVE: [RegExp, Period][] = [
  [word('today|yesterday|tomorrow|tonight|the other day'), 'day'],
  [word(tr('bugün|dün|yarın')), 'day'],
  [word(`(?:${NEAR}) (?:${EN_DAYS})`), 'day'],
  [word(`(?:${TR_NEAR}) ${tr(TR_DAYS)}`), 'day'],
  [word('(?:hours?|days?|weeks?) ago|(?:saat|gün|hafta) önce'), 'day'],
  [word(`${EN_SPANS}(?:hours|days|weeks)|in recent (?:days|weeks)`), 'day'],
  [word(`${TR_SPANS}(?:saat|gün|hafta)${TR_MANY}${CASE}`), 'day'],
  [word(`(?:${NEAR}) week(?:end)?`), 'week'],
  [word(`(?:${TR_NEAR}) ${tr('hafta')}`), 'week'],
  [word(`(?:${NEAR}) month|months? ago|${EN_SPANS}months|in recent months`), 'month'],
  [word(`(?:${NEAR}) (?:${EN_MONTHS})`), 'month'],
  [word(`(?:${TR_NEAR}) ${tr(`ay|${TR_MONTHS}`)}|ay önce|${TR_SPANS}ay${TR_MANY}${CASE}`), 'month'],
  [word(`(?:${NEAR}) quarter|${EN_SPANS}quarters`), 'quarter'],
  [/(?<!\p{L})(?:bu|geçen|geçtiğimiz|önceki|gelecek|önümüzdeki|son) (?:[\p{L}\d]+ )?çeyre[kğ]/iu, 'quarter'],
  [word(`(?:${NEAR}) (?:year|decade|spring|summer|autumn|fall|winter)|${EN_SPANS}(?:years|decades)|in recent years`), 'year'],
  [word(`(?:${TR_NEAR}) ${tr('yıl|sene|ilkbahar|yaz|sonbahar|kış')}|(?:yıl|sene) önce|${TR_SPANS}(?:yıl|sene)${TR_MANY}${CASE}`), 'year'],
  [word('(?:while|long|years?|decades?) ago|recently|lately|soon|now|nowadays|these days|currently|at the moment|so far|to date|to this day|year on year|year over year|earlier in the year|just \\p{L}+ed'), 'year'],
  [word('son zamanlarda|yakında|yakın zamanda|geçenlerde|bugünlerde|bu aralar|şu anda|şu an|şu sıralar|şimdi|şimdilik|(?:süre|zaman|az) önce'), 'year'],
] // biome-ignore format: a table

const DAY_MS = 86_400_000

/** The period that a time lies in, as a text that is another one for every other period (UTC). */
function periodOf(at: Date, period: Period): string {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  switch (period) {
    case 'day':
      return at.toISOString().slice(0, 10)
    case 'week': {
      // Day 0 of the epoch was a Thursday; a week begins on Monday.
      return String(Math.floor((at.getTime() / DAY_MS + 3) / 7))
    }
    case 'month':
      return `${year}-${month}`
    case 'quarter':
      return `${year}-${Math.floor(month / 3)}`
    case 'year':
      return String(year)
  }
}

/** isOutdated returns whether a text that was noted at a time speaks of a period that is over. */
export function isOutdated(text: string, noted_at: string | undefined, now: Date): boolean {
  if (noted_at === undefined) return false
  const noted = new Date(noted_at)
  return RELATIVE.some(
    ([words, period]) => words.test(text) && periodOf(noted, period) !== periodOf(now, period),
  )
}
