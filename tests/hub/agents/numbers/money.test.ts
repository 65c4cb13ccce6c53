import { expect, test } from 'vitest'
import { currencyIn } from '../../../../hub/agents/numbers/money.ts'

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
