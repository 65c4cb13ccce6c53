/** Days that a lead is left alone whose notice of absence names no day, unless Settings > Mail says otherwise. */
export const AWAY_DAYS = 7
/** A day further away is a typing error or about something else. */
const MAX_DAYS = 200

const ABSENCE =
  /out of (?:the |my )?office|away from (?:the |my )?(?:office|desk|e-?mail)|\b(?:on|annual|parental|maternity|paternity|sick) (?:leave|vacation|holidays?)\b|\bon (?:a )?business trip\b|\bi am (?:currently )?(?:away|travell?ing|unavailable)\b|\blimited access to (?:my )?e-?mail|ofis(?:imde|te)? (?:değilim|dişinda)|ofis dişi|iş ?yeri dişinda|izindeyim|izinli(?:yim)?\b|yillik iz(?:in|ni)|doğum izni|tatilde(?:yim)?\b|seyahatte(?:yim)?\b|abwesen|nicht im (?:büro|haus)|im urlaub/iu

/** saysAway tells whether an automatic answer is about an absence, and not, say, a receipt. */
export function saysAway(subject: string, text: string | null): boolean {
  return ABSENCE.test(lower(`${subject}\n${text ?? ''}`))
}

/** Lower case in which I, İ and ı are one letter, as the patterns below have it. */
const lower = (text: string) =>
  text.normalize('NFC').replaceAll('İ', 'i').toLocaleLowerCase('en').replaceAll('ı', 'i')

const MONTHS: readonly string[][] = [
  ['jan', 'ocak', 'oca', 'jän'],
  ['feb', 'şubat', 'şub'],
  ['mar', 'mart', 'mär'],
  ['apr', 'nisan', 'nis'],
  ['may', 'mayis', 'mai'],
  ['jun', 'haziran', 'haz'],
  ['jul', 'temmuz', 'tem'],
  ['aug', 'ağustos', 'ağu'],
  ['sep', 'eylül', 'eyl'],
  ['oct', 'ekim', 'eki', 'okt'],
  ['nov', 'kasim', 'kas'],
  ['dec', 'aralik', 'ara', 'dez'],
]
const NAME =
  '(?:jan(?:uary|uar)?|jänner|feb(?:ruary|ruar)?|mar(?:ch|t)?|märz|apr(?:il)?|may(?:is)?|mai|jun[ei]?|jul[yi]?|aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?|ocak|oca|şub(?:at)?|nis(?:an)?|haz(?:iran)?|tem(?:muz)?|ağu(?:stos)?|eyl(?:ül)?|ekim|eki|kas(?:im)?|aralik|ara)'
const YEAR = '(?:,? (20\\d\\d))?'
/** A day as it is written: ISO, with the name of its month, or in numbers. */
const DAYS = [
  { form: /\b(20\d\d)-(\d\d)-(\d\d)\b/gu, order: 'ymd' },
  {
    form: new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th|\\.)?(?: of)? (${NAME})\\b\\.?${YEAR}`, 'gu'),
    order: 'dny',
  },
  { form: new RegExp(`\\b(${NAME})\\.? (\\d{1,2})(?:st|nd|rd|th)?\\b${YEAR}`, 'gu'), order: 'ndy' },
  { form: /\b(\d{1,2})[./](\d{1,2})[./](20\d\d|\d\d)\b/gu, order: 'numbers' },
] as const

/** What stands before or after the day of a return. */
const BEFORE =
  /(?:until|till|through|thru|return(?:ing|s)?|back|again|resume|available|bis|zurück|ab)[^.!?\n]{0,40}$/u
const AFTER = /^[^.!?\n]{0,33}(?:kadar|dön|tekrar|itibar|zurück|wieder)/u

/**
 * returnDay reads the day until which a notice of absence asks to wait, as `2026-12-07`: the latest day
 * that stands with words such as "until", "back on" or "tarihinde döneceğim", else null. Days in the past
 * and those over 200 days away are none.
 */
export function returnDay(subject: string, text: string | null, today: Date): string | null {
  const said = lower(`${subject}\n${text ?? ''}`).slice(0, 4000)
  const found: string[] = []
  for (const { form, order } of DAYS) {
    for (const match of said.matchAll(form)) {
      const before = said.slice(Math.max(0, match.index - 60), match.index)
      const after = said.slice(match.index + match[0].length)
      if (!BEFORE.test(before) && !AFTER.test(after)) continue
      const [, a = '', b = '', c = ''] = match
      const day = {
        ymd: () => dayOf(Number(a), Number(b), Number(c)),
        dny: () => inYear(monthOf(b), Number(a), c, today),
        ndy: () => inYear(monthOf(a), Number(b), c, today),
        numbers: () => inNumbers(Number(a), Number(b), Number(c), today),
      }[order]()
      if (day && isNear(day, today)) found.push(day)
    }
  }
  return found.sort().at(-1) ?? null
}

function monthOf(name: string): number {
  // A short name may be the beginning of another month's: "mar" and "mart", but also "ara" and "aralik".
  return MONTHS.findIndex((names) => names.some((one) => name.startsWith(one))) + 1
}

/** Without a year it is the next such day. */
function inYear(month: number, day: number, year: string, today: Date): string | null {
  if (year !== '') return dayOf(Number(year), month, day)
  const now = today.getUTCFullYear()
  const here = dayOf(now, month, day)
  return here && here >= iso(today) ? here : dayOf(now + 1, month, day)
}

/** 07/12 is the 7th of December or the 12th of July; of two days that are near, the later one. */
function inNumbers(a: number, b: number, year: number, today: Date): string | null {
  const whole = year < 100 ? 2000 + year : year
  const both = [dayOf(whole, b, a), dayOf(whole, a, b)].filter((day) => day && isNear(day, today))
  return both.sort().at(-1) ?? null
}

function dayOf(year: number, month: number, day: number): string | null {
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? iso(date) : null
}

function isNear(day: string, today: Date): boolean {
  return day > iso(today) && day <= iso(new Date(today.getTime() + MAX_DAYS * 86_400_000))
}

const iso = (date: Date) => date.toISOString().slice(0, 10)

/** awayUntil is the day from which a lead may be written to again. */
export function awayUntil(
  { subject, text, days = AWAY_DAYS }: { subject: string; text: string | null; days?: number },
  today: Date,
): string {
  const named = returnDay(subject, text, today)
  return named ?? iso(new Date(today.getTime() + days * 86_400_000))
}
