import { expect, test } from 'vitest'
import { tokensOf } from '../../../../hub/agents/evidence/tokens.ts'
import type { Language } from '../../../../hub/i18n/words.ts'

test.each<[Language, string, string]>([
  ['en', 'two hundred and fifty trucks', '250 trucks'],
  ['en', 'a hundred and twenty people', '120 people'],
  ['en', 'forty-five thousand', '45000'],
  ['en', '5 thousand vans', '5000 vans'],
  ['en', 'two thousand five hundred', '2500'],
  ['en', 'one truck and two vans', 'one truck and 2 vans'],
  ['en', 'two three', '2 3'],
  ['en', 'thirteen vans, a hundred and nineteen', '13 vans 119'],
  ['en', 'ten two', '10 2'],
  ['en', 'forty and five', '40 and 5'],
  ['en', 'hundred trucks', 'hundred trucks'],
  ['en', 'ten on two', '10 on 2'],
  ['en', 'one-way well-known', 'one-way well-known'],
  ['tr', 'iki yüz elli kamyon', '250 kamyon'],
  ['tr', 'on beş römork', '15 römork'],
  ['tr', 'on römork', 'on römork'],
  ['tr', 'yüz elli bin', '150000'],
  ['tr', 'bin beş yüz', '1500'],
  ['tr', '5 bin', '5000'],
  ['tr', 'yüz yüze bir kamyon', 'yüz yüze bir kamyon'],
  ['tr', 'iki üç gün', '2 3 gün'],
  ['tr', 'yirmi bir', '21'],
  ['tr', 'otuz bin iki yüz', '30200'],
  ['tr', 'iki milyon', '2 milyon'],
  ['en', '1,250 trucks', '1250 trucks'],
  ['en', '1,250.50', '1250.50'],
  ['en', '1.250', '1.250'],
  ['en', '1.250.000', '1250000'],
  ['en', '0,250', '0,250'],
  ['tr', '1.250 kamyon', '1250 kamyon'],
  ['tr', '1.250,50', '1250.50'],
  ['tr', '12.345.678,9', '12345678.9'],
  ['tr', '1,250', '1,250'],
  ['tr', '0.250', '0.250'],
  ['tr', '1,5', '1.5'],
])('%s: “%s” is read as “%s”', (language, text, tokens) => {
  expect(tokensOf(text, language).join(' ')).toBe(tokens)
})
