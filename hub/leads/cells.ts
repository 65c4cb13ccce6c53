/** A number as people write it: `1,234.50`, `1.234,50`, `1234`; undefined for anything else. */
export function numberOf(text: string): number | undefined {
  const bare = text.replace(/[\s\u00a0'’]/g, '')
  if (!/^-?\d[\d.,]*$/.test(bare)) return undefined
  const last = Math.max(bare.lastIndexOf(','), bare.lastIndexOf('.'))
  const mark = bare[last] ?? ''
  const digits = bare.length - last - 1
  const marks = bare.split(mark).length - 1
  // One mark with three digits after it separates thousands, if so few stand before it: 1.500 is 1500.
  const isDecimal =
    last > 0 && marks === 1 && (digits !== 3 || !THOUSANDS.test(bare.slice(0, last)))
  const whole = isDecimal
    ? `${bare.slice(0, last).replace(/[.,]/g, '')}.${bare.slice(last + 1)}`
    : bare.replace(/[.,]/g, '')
  const value = Number(whole)
  return Number.isFinite(value) ? value : undefined
}

const THOUSANDS = /^-?[1-9]\d{0,2}$/

/** A number as a cell that numberOf reads as the same one: 1.5 is `1.5`, but 41.125 is `41.1250`. */
export function cellOfNumber(value: number): number | string {
  if (numberOf(String(value)) === value) return value
  const text = value.toLocaleString('en', { useGrouping: false, maximumFractionDigits: 20 })
  return numberOf(text) === value ? text : `${text}0`
}

/** A day written as 2026-03-01, 01.03.2026 or 1/3/2026 (the day first) as ISO 8601; else unchanged. */
export function dayOf(text: string): string {
  const [, day, month, year] = /^(\d{1,2})[./-](\d{1,2})[./-](\d{4})$/.exec(text.trim()) ?? []
  if (!day || !month || !year) return text.trim()
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
}

const SIGNS: Record<string, string> = { '€': 'EUR', $: 'USD', '£': 'GBP', '₺': 'TRY', TL: 'TRY' }

/** The code of a currency written as its sign; any other text unchanged. */
export const currencyOf = (text: string) => SIGNS[text.trim().toLocaleUpperCase('en')] ?? text

/** An amount as people write it with its currency, in either order: `1,250 EUR`, `€ 1.250,50`. */
export function amountOf(text: string): { amount: number; currency: string | null } | undefined {
  const [, before = '', digits = '', after = ''] =
    /^([^\d.,-]*)([\d.,\s’']+)([^\d]*)$/.exec(text.trim()) ?? []
  const amount = numberOf(digits)
  if (amount === undefined) return undefined
  const code = currencyOf((before || after).trim()).toUpperCase()
  return { amount, currency: code === '' ? null : code }
}

/** A number as people type it into a field, also a negative one or one with its unit: `-2,5`, `40 t`. */
export const typedNumber = (text: string) => numberOf(text) ?? amountOf(text)?.amount
