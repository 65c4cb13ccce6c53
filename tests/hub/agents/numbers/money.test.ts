import { expect, test } from 'vitest'
import { currencyIn, money, totals } from '../../../../hub/agents/numbers/money.ts'

test.each([
  ['12 hours at 50 euros, 20 % VAT', 'EUR'],
  ['saati 1.250,50 TL', 'TRY'],
  ['12 lisans, tanesi 40 euro', 'EUR'],
  ['₺ 500', 'TRY'],
  ['$40 a month', 'USD'],
  ['500 dolar', 'USD'],
  ['£12 each', 'GBP'],
  ['90 CHF', 'CHF'],
  ['50 eurodan 14 saat', 'EUR'],
  ['500 liraya', 'TRY'],
  ['we try 12 hours at 50', undefined],
  ['12 hours at 50', undefined],
  ['50 euros or 2,000 TL', undefined],
  ['the title of a European country', undefined],
  ['Neuroscience for Tlaxcala', undefined],
])('%s names %s', (text, currency) => expect(currencyIn(text)).toBe(currency))

const line = (quantity: string, unit_price: string | null) => ({
  description: 'Work',
  quantity,
  unit: 'hour',
  unit_price,
})

test.each([
  // Half a cent is rounded up, and less is nothing.
  [[line('0.5', '0.01')], null, null, [1n, 0n, 0n, 1n]],
  [[line('0.49', '0.01')], null, null, [0n, 0n, 0n, 0n]],
  [[line('1.5', '33.33')], null, null, [5000n, 0n, 0n, 5000n]],
  [[line('3', '0.1'), line('2', null), line('1', '2')], null, null, [230n, 0n, 0n, 230n]],
  [[line('2', '50')], '10', null, [10_000n, 1000n, 0n, 9000n]],
  [[line('2', '50')], null, '20', [10_000n, 0n, 2000n, 12_000n]],
  // The tax is on what is left after the discount.
  [[line('2', '50')], '10', '20', [10_000n, 1000n, 1800n, 10_800n]],
  [[line('1', '0.5')], '1', null, [50n, 1n, 0n, 49n]],
  [[], '10', '20', [0n, 0n, 0n, 0n]],
])('totals of case %#', (lines, discount, tax, [subtotal, less, more, total]) => {
  expect(totals(lines, { discount, tax })).toMatchObject({
    subtotal,
    discount: less,
    tax: more,
    total,
  })
})

test('a line without a price has no sum of its own', () => {
  const { lines } = totals([line('2', null), line('2', '1.25')], { discount: null, tax: null })
  expect(lines).toEqual([
    { ...line('2', null), cents: null },
    { ...line('2', '1.25'), cents: 250n },
  ])
})

test.each([
  [0n, '0.00 EUR', '0,00 EUR'],
  [5n, '0.05 EUR', '0,05 EUR'],
  [99_999n, '999.99 EUR', '999,99 EUR'],
  [125_050n, '1,250.50 EUR', '1.250,50 EUR'],
  [123_456_789n, '1,234,567.89 EUR', '1.234.567,89 EUR'],
])('%s cents are written as %s and %s', (cents, en, tr) => {
  expect([money(cents, 'EUR', 'en'), money(cents, 'EUR', 'tr')]).toEqual([en, tr])
})
