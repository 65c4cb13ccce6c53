/*
 * "Last month" means another month in every month. A fact with such a word says what it says only
 * while the same period is running in which it was noted.
 */

type Period = 'day' | 'week' | 'month' | 'quarter' | 'year'

const RELATIVE: [RegExp, Period][] = [
  [/(?<!\p{L})(?:today|yesterday|tomorrow|tonight)(?!\p{L})/iu, 'day'],
  [/(?<!\p{L})(?:bugün|dün|yarın|bu sabah|bu akşam)(?!\p{L})/iu, 'day'],
  [/(?<!\p{L})\d+ (?:days?|weeks?) ago(?!\p{L})|(?<!\p{L})\d+ (?:gün|hafta) önce(?!\p{L})/iu, 'day'],
  [/(?<!\p{L})(?:this|last|next|past|previous|coming) week(?:end)?(?!\p{L})/iu, 'week'],
  [/(?<!\p{L})(?:bu|geçen|gelecek|önümüzdeki) hafta(?!\p{L})/iu, 'week'],
  [/(?<!\p{L})(?:this|last|next|past|previous|coming) month(?!\p{L})|months? ago(?!\p{L})/iu, 'month'],
  [/(?<!\p{L})(?:bu|geçen|gelecek|önümüzdeki) ay(?!\p{L})|(?<!\p{L})ay önce(?!\p{L})/iu, 'month'],
  [/(?<!\p{L})(?:this|last|next|past|previous|coming) quarter(?!\p{L})/iu, 'quarter'],
  [/(?<!\p{L})(?:bu|geçen|gelecek|önümüzdeki) çeyrek/iu, 'quarter'],
  [/(?<!\p{L})(?:this|last|next|past|previous|coming) (?:year|spring|summer|autumn|winter)(?!\p{L})|years? ago(?!\p{L})/iu, 'year'],
  [/(?<!\p{L})(?:bu|geçen|gelecek|önümüzdeki) (?:yıl|sene|ilkbahar|yaz|sonbahar|kış)(?!\p{L})|(?<!\p{L})(?:yıl|sene) önce(?!\p{L})/iu, 'year'],
  [/(?<!\p{L})(?:recently|lately|soon|currently|at the moment|so far)(?!\p{L})/iu, 'year'],
  [/(?<!\p{L})(?:son zamanlarda|yakında|şu anda|şimdilik)(?!\p{L})/iu, 'year'],
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
