/*
 * "Last month" means another month in every month. A fact with such a word says what it says only
 * while the same period is running in which it was noted.
 */

type Period = 'day' | 'week' | 'month' | 'quarter' | 'year'

const NEAR = 'this|last|next|past|previous|coming'
const TR_NEAR = 'bu|geçen|gelecek|önümüzdeki'
const word = (text: string) => new RegExp(`(?<!\\p{L})(?:${text})(?!\\p{L})`, 'iu')
/** A weekday or a part of a day, which is another one with every day. */
const EN_DAYS =
  'morning|afternoon|evening|night|monday|tuesday|wednesday|thursday|friday|saturday|sunday'
const TR_DAYS = 'sabah|akşam|gece|pazartesi|salı|çarşamba|perşembe|cuma|cumartesi|pazar'
/** "The last three years" and "son iki yılda" end where the fact was noted. */
const EN_SPANS = '(?:last|past|next|coming|previous) (?:couple of )?(?:[\\p{L}\\d-]+ )?'
const TR_SPANS = '(?:son (?:[\\p{L}\\d]+ )?|(?:geçen|gelecek|önümüzdeki) [\\p{L}\\d]+ )'

const RELATIVE: [RegExp, Period][] = [
  [word('today|yesterday|tomorrow|tonight'), 'day'],
  [word('bugün|dün|yarın'), 'day'],
  [word(`(?:${NEAR}) (?:${EN_DAYS})`), 'day'],
  [word(`(?:${TR_NEAR}) (?:${TR_DAYS})`), 'day'],
  [word('(?:hours?|days?|weeks?) ago|(?:saat|gün|hafta) önce'), 'day'],
  [word(`${EN_SPANS}(?:hours|days|weeks)`), 'day'],
  [word(`${TR_SPANS}(?:saat|gün|hafta)(?:[dt][ae]|l[ae]rd[ae])?`), 'day'],
  [word(`(?:${NEAR}) week(?:end)?`), 'week'],
  [word(`(?:${TR_NEAR}) hafta`), 'week'],
  [word(`(?:${NEAR}) month|months? ago|${EN_SPANS}months`), 'month'],
  [word(`(?:${TR_NEAR}) ay|ay önce|${TR_SPANS}ay(?:da|larda)?`), 'month'],
  [word(`(?:${NEAR}) quarter|${EN_SPANS}quarters`), 'quarter'],
  [/(?<!\p{L})(?:bu|geçen|gelecek|önümüzdeki|son) (?:[\p{L}\d]+ )?çeyrek/iu, 'quarter'],
  [word(`(?:${NEAR}) (?:year|spring|summer|autumn|fall|winter)|years? ago|${EN_SPANS}years`), 'year'],
  [word(`(?:${TR_NEAR}) (?:yıl|sene|ilkbahar|yaz|sonbahar|kış)|(?:yıl|sene) önce|${TR_SPANS}(?:yıl|sene)(?:[dt][ae]|l[ae]rd[ae])?`), 'year'],
  [word('recently|lately|soon|currently|at the moment|so far'), 'year'],
  [word('son zamanlarda|yakında|şu anda|şimdilik'), 'year'],
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
