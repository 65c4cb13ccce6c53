import { decimal } from '../run/facts.ts'

/** Money is counted in whole cents and quantities in ten-thousandths, so that sums are exact. */
const CENT = 100n
const FINE = 10_000n

/** The currencies that costs are computed in. */
export const CURRENCIES = ['TRY', 'EUR', 'USD', 'GBP', 'CHF'] as const

export type Line = {
  description: string
  quantity: string
  unit: string
  /** As it is written in the text; null if no price was given. */
  unit_price: string | null
}

type Totals = {
  lines: (Line & { cents: bigint | null })[]
  subtotal: bigint
  discount: bigint
  tax: bigint
  total: bigint
}

function fine(text: string): bigint {
  return BigInt(Math.round(decimal(text) * Number(FINE)))
}

/** Rounds half away from zero, as invoices do. */
function divide(value: bigint, by: bigint): bigint {
  return (value * 2n + by) / (by * 2n)
}

/** totals does the arithmetic of an invoice or cost table; a model never does. */
export function totals(
  lines: Line[],
  percent: { discount: string | null; tax: string | null },
): Totals {
  const counted = lines.map((line) => ({
    ...line,
    cents:
      line.unit_price === null
        ? null
        : divide(fine(line.quantity) * fine(line.unit_price) * CENT, FINE * FINE),
  }))
  const subtotal = counted.reduce((sum, { cents }) => sum + (cents ?? 0n), 0n)
  const part = (of: bigint, text: string | null) =>
    text === null ? 0n : divide(of * fine(text), 100n * FINE)
  const discount = part(subtotal, percent.discount)
  const tax = part(subtotal - discount, percent.tax)
  return { lines: counted, subtotal, discount, tax, total: subtotal - discount + tax }
}

/** money writes cents in the form of the language: 1,250.50 or 1.250,50. */
export function money(cents: bigint, currency: string, language: 'en' | 'tr'): string {
  const [thousands, mark] = language === 'tr' ? ['.', ','] : [',', '.']
  const whole = String(cents / CENT).replace(/\B(?=(\d{3})+$)/g, thousands)
  return `${whole}${mark}${String(cents % CENT).padStart(2, '0')} ${currency}`
}

/** How each currency is written, with Turkish endings; codes in capitals, because "try" is a word. */
const WRITTEN = {
  TRY: /₺|(?<!\p{L})(?:TRY|T[Ll](?:ye|den|lik|nin)?|tl|[Ll]ira\p{L}{0,6})(?!\p{L})/u,
  EUR: /€|(?<!\p{L})(?:EURO?S?|[Ee]ur|[Ee]uro(?!p)\p{L}{0,5}|[Aa]vro\p{L}{0,5})(?!\p{L})/u,
  USD: /(?<![A-Z])\$|(?<!\p{L})(?:USD|[Uu]sd|[Dd]olar\p{L}{0,5}|[Dd]ollars?)(?!\p{L})/u,
  GBP: /£|(?<!\p{L})(?:GBP|[Gg]bp|[Pp]ounds?|[Ss]terlin\p{L}{0,5})(?!\p{L})/u,
  CHF: /(?<!\p{L})(?:CHF|[Cc]hf|[Ss]wiss francs?|[İi]sviçre frang\p{L}{1,5})(?!\p{L})/u,
} as const

/** currencyIn returns the currency that a text names; undefined where it names none or several. */
export function currencyIn(text: string): keyof typeof WRITTEN | undefined {
  const named = CURRENCIES.filter((code) => WRITTEN[code].test(text))
  return named.length === 1 ? named[0] : undefined
}
