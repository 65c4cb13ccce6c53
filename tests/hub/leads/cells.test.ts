import { expect, test } from 'vitest'
import {
  amountOf,
  cellOfNumber,
  currencyOf,
  dayOf,
  numberOf,
  typedNumber,
} from '../../../hub/leads/cells.ts'
import { CURRENCIES } from '../../../hub/leads/currencies.ts'

test.each([
  ['1234', 1234],
  ['-12', -12],
  ['0', 0],
  ['5', 5],
  ['1,5', 1.5],
  ['1.5', 1.5],
  ['12,50', 12.5],
  ['1.500', 1500],
  ['1,500', 1500],
  ['1.2345', 1.2345],
  ['1.234,50', 1234.5],
  ['1,234.50', 1234.5],
  ['1.234,500', 1234.5],
  ['1.234.567', 1_234_567],
  ['1,234,567', 1_234_567],
  ['1.234.567,8', 1_234_567.8],
  ['1 234 567', 1_234_567],
  ['1\u00a0234', 1234],
  ["1'234.5", 1234.5],
  ['1’234,5', 1234.5],
  ['12.', 12],
  ['-1.500,25', -1500.25],
  ['0.125', 0.125],
  ['-0,125', -0.125],
  ['1234,567', 1234.567],
  ['12345.678', 12_345.678],
])('%j is the number %d', (text, number) => {
  expect(numberOf(text)).toBe(number)
})

test.each([
  [1.5, 1.5],
  [1500, 1500],
  [0.125, 0.125],
  [41.125, '41.1250'],
  [-7.001, '-7.0010'],
  [1e21, '1000000000000000000000'],
  [1e-7, '0.0000001'],
])('%d is the cell %j, which is the same number again', (value, cell) => {
  expect(cellOfNumber(value)).toBe(cell)
  expect(numberOf(String(cell))).toBe(value)
})

test.each(['', ' ', '-', ',5', '.5', 'a1', '1a', '12 t', '1e3', '--1', '1-2', '+1', '½'])(
  '%j is no number',
  (text) => {
    expect(numberOf(text)).toBeUndefined()
  },
)

test.each([
  ['-2,5', -2.5],
  ['1.250', 1250],
  ['40 t', 40],
  ['many', undefined],
])('%j typed into a field for a number is %j', (text, number) => {
  expect(typedNumber(text)).toBe(number)
})

test('what is too large for a number is none', () => {
  expect(numberOf('9'.repeat(400))).toBeUndefined()
})

test.each([
  ['01.03.2026', '2026-03-01'],
  ['1.3.2026', '2026-03-01'],
  ['1/3/2026', '2026-03-01'],
  ['31-12-2026', '2026-12-31'],
  [' 1.3.2026 ', '2026-03-01'],
  ['2026-03-01', '2026-03-01'],
  [' 2026-03-01 ', '2026-03-01'],
  ['1.3.26', '1.3.26'],
  ['x1.3.2026', 'x1.3.2026'],
  ['1.3.2026x', '1.3.2026x'],
  ['111.3.2026', '111.3.2026'],
  ['1.333.2026', '1.333.2026'],
  ['1 3 2026', '1 3 2026'],
  ['March 2026 ', 'March 2026'],
])('the day %j is %j', (text, day) => {
  expect(dayOf(text)).toBe(day)
})

test.each([
  ['€', 'EUR'],
  ['$', 'USD'],
  ['£', 'GBP'],
  ['₺', 'TRY'],
  ['TL', 'TRY'],
  [' tl ', 'TRY'],
  ['EUR', 'EUR'],
  ['chf', 'chf'],
  ['', ''],
])('the currency %j is %j', (text, code) => {
  expect(currencyOf(text)).toBe(code)
})

test.each([
  ['1,250 EUR', 1250, 'EUR'],
  ['€ 1.250,50', 1250.5, 'EUR'],
  ['€5', 5, 'EUR'],
  ['5€', 5, 'EUR'],
  ['chf 12', 12, 'CHF'],
  ['12 tl', 12, 'TRY'],
  ['US$ 12', 12, 'US$'],
  ['EUR 12 net', 12, 'EUR'],
  [' 1 250 ', 1250, null],
  ["1'250.5", 1250.5, null],
])('the amount %j is %d %s', (text, amount, currency) => {
  expect(amountOf(text)).toEqual({ amount, currency })
})

test.each(['', 'EUR', '-5 EUR', '1 EUR 2', 'about', '. EUR'])('%j is no amount', (text) => {
  expect(amountOf(text)).toBeUndefined()
})

test('currencies are those of ISO 4217', () => {
  const known = new Set(Intl.supportedValuesOf('currency'))
  expect([...CURRENCIES].filter((code) => !known.has(code))).toEqual([])
  expect(CURRENCIES.size).toBeGreaterThan(140)
})
