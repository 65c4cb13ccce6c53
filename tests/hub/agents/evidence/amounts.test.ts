import { describe, expect, test } from 'vitest'
import {
  amountOf,
  boundIn,
  isCount,
  isPlain,
  otherDates,
  otherUnits,
} from '../../../../hub/agents/evidence/amounts.ts'

const words = (text: string) => text.split(' ')
const said = (forms: string[][]) => forms.map((form) => form.join(' '))

describe('an amount in another unit', () => {
  test.each([
    ['en', '120 seconds', '2 minutes'],
    ['en', '1 minute', '60 seconds'],
    ['en', '2 hours', '120 minutes'],
    ['en', '7200 seconds', '2 hours'],
    ['en', 'one week', '7 days'],
    ['en', '14 days', '2 weeks'],
    ['en', '24 months', '2 years'],
    ['en', '1 year', '12 month'],
    ['en', '500 grams', '0.5 kg'],
    ['en', '250 grams', '0.25 kg'],
    ['en', '5 kg', '5000 grams'],
    ['en', '1 tonne', '1000 kilograms'],
    ['en', '1 second', '1 seconds'],
    ['en', '90 days', '90 day'],
    ['en', '3 gram', '3 grams'],
    ['en', '7 days', 'one week'],
    ['en', '2 kilogram', '2 kg'],
    ['en', '2 kilometre', '2 km'],
    ['en', '3 kg', '3 kilogram'],
    ['en', '3000 kg', '3 tonne'],
    ['en', '3 km', '3 kilometre'],
    ['tr', '2 kg', '2 kilogram'],
    ['tr', '3 km', '3 kilometre'],
    ['en', '2 tonnes', '2000 kilograms'],
    ['en', '1500 metres', '1.5 kilometres'],
    ['en', '3 km', '3000 metre'],
    ['en', '2 billion', '2000 million'],
    ['tr', '120 saniye', '2 dakika'],
    ['tr', '2 saat', '120 dakika'],
    ['tr', '14 gün', '2 hafta'],
    ['tr', 'bir hafta', '7 gün'],
    ['tr', '24 ay', '2 yıl'],
    ['tr', '500 gram', '0.5 kilo'],
    ['tr', '2 ton', '2000 kg'],
    ['tr', '1500 metre', '1.5 km'],
    ['tr', '2 milyar', '2000 milyon'],
  ] as const)('in %s: %s is %s', (language, text, other) => {
    expect(said(otherUnits(words(text), language))).toContain(other)
  })

  test('stands where it stood, and one of it is a word as well', () => {
    const forms = said(otherUnits(words('we answer within 60 minutes or so'), 'en'))
    for (const form of ['within one hour or', 'within 1 hour or', 'within 3600 seconds or']) {
      expect(forms).toContain(`we answer ${form} so`)
    }
  })

  test.each([
    ['24 hours', 'day'],
    ['30 days', 'month'],
    ['2 weeks', 'month'],
  ])('%s are no exact %s', (text, unit) => {
    expect(said(otherUnits(words(text), 'en')).join()).not.toContain(unit)
  })

  test.each([
    // A third of an hour has no end.
    ['20 minutes', '0.3'],
    ['a few minutes', 'seconds'],
    ['1,250 grams', 'kg'],
    ['3 120 minutes', 'hours'],
    ['5 lorries', 'lorry'],
  ])('%s are nothing in %s', (text, other) => {
    expect(said(otherUnits(words(text), 'en')).join('; ')).not.toContain(other)
  })
})

describe('a day in another form', () => {
  test.each([
    ['en', 'on september 12 2020 we', ['on 12 september 2020 we']],
    ['en', 'on 12 september 2020 we', ['on september 12 2020 we']],
    ['en', '1 january 1999', ['january 1 1999']],
    ['en', '31 december 2099', ['december 31 2099']],
    ['tr', '5 ocak 2020 günü', ['05.01.2020 günü', '5.1.2020 günü']],
    ['tr', '30 aralık 2020', ['30.12.2020', '30.12.2020']],
    ['tr', '05.01.2020 günü', ['5 ocak 2020 günü']],
    ['tr', '31.12.1999', ['31 aralık 1999']],
  ] as const)('in %s: %s', (language, text, forms) => {
    expect(said(otherDates(words(text), language))).toEqual(forms)
  })

  test.each([
    ['en', '32 september 2020'],
    ['en', '0 september 2020'],
    ['en', 'september 32 2020'],
    ['en', '12 september 1820'],
    ['en', '12 september 20201'],
    ['en', '12 september 12020'],
    ['en', 'september 12 lorries'],
    ['en', '12 lorries 2020'],
    ['en', '12.09.2020'],
    ['tr', '12.13.2020'],
    ['tr', '12.00.2020'],
    ['tr', '00.12.2020'],
    ['tr', '32.12.2020'],
    ['tr', '12.09.1820'],
    ['tr', '12.09.20201'],
    ['tr', '112.09.2020'],
  ] as const)('in %s %s is no day', (language, text) => {
    expect(otherDates(words(text), language)).toEqual([])
  })
})

test.each([
  ['12', 12],
  ['12.5', 12.5],
  ['12.55', 12.55],
  ['12.555', undefined],
  ['1,250', undefined],
  ['x12', undefined],
  ['12x', undefined],
  [undefined, undefined],
])('%s is read in one way only, or not at all', (token, amount) => {
  expect(amountOf(token)).toBe(amount)
})

test.each([
  [1899, true],
  [1900, false],
  [2019, false],
  [2100, false],
  [2101, true],
  [1999.5, true],
  [0, true],
  [undefined, false],
])('whether %s is a count and no year: %s', (value, is) => {
  expect(isCount(value)).toBe(is)
})

describe('a bound', () => {
  test.each([
    ['en', 'they have more than 100 lorries', 'they have 100 lorries', 2],
    ['en', 'they have over 100 lorries', 'they have 100 lorries', 2],
    ['en', 'they have at least 100 lorries', 'they have 100 lorries', 2],
    ['tr', 'firmanın en az 100 kamyonu var', 'firmanın 100 kamyonu var', 1],
    ['tr', 'firmanın 100 den fazla kamyonu var', 'firmanın 100 kamyonu var', 1],
    ['tr', 'firmanın 9 dan fazla kamyonu var', 'firmanın 9 kamyonu var', 1],
    ['tr', 'firmanın 40 tan fazla kamyonu var', 'firmanın 40 kamyonu var', 1],
  ] as const)('in %s: %s', (language, text, plain, at) => {
    const least = Number(/\d+/.exec(text)?.[0])
    expect(boundIn(words(text), language)).toEqual({ tokens: words(plain), at, least })
  })

  test.each([
    ['en', 'they have less than 100 lorries'],
    ['en', 'they have more lorries than 100'],
    ['en', 'they have more than many lorries'],
    ['en', 'all they have is over 100'],
    ['en', 'they have at 100 lorries'],
    ['tr', 'firmanın en çok 100 kamyonu var'],
    ['tr', 'firmanın çok az 100 kamyonu var'],
    ['tr', 'firmanın en az birkaç kamyonu var'],
    ['tr', 'firmanın 100 den az kamyonu var'],
    ['tr', 'firmanın 100 kamyon fazla taşır'],
    ['tr', 'firmanın 100 kadan fazla kamyonu var'],
    ['tr', 'firmanın 100 denli fazla kamyonu var'],
    ['tr', 'firmanın birkaç tan fazla kamyonu var'],
  ] as const)('in %s there is none in: %s', (language, text) => {
    expect(boundIn(words(text), language)).toBeUndefined()
  })
})

test.each([
  ['en', 'they run 100 lorries', true],
  ['en', 'they carry 100 tonnes maximum', false],
  ['en', 'they carry 100 tonnes max', false],
  ['en', 'they run 100 maxi lorries upwards notably', true],
  ['en', 'they never run 100 lorries', false],
  ['en', 'they run almost 100 lorries', false],
  ['en', 'if they run 100 lorries', false],
  ['tr', 'firma 100 kamyon işletiyor', true],
  ['tr', 'firma 100 kamyon işletmiyor', false],
  ['tr', 'firma 100 kamyon işletmez', false],
  ['tr', 'firma 100 kamyon işletmedi', false],
  ['tr', 'firma azami 100 ton taşıyor', false],
  ['tr', 'firma maksimum 100 ton taşıyor', false],
  ['tr', 'firma enli azat 100 kamyon herkese satmıyordu', true],
  ['tr', 'firma yaklaşık 100 kamyon işletiyor', false],
] as const)(
  'in %s a larger number may stand for a smaller one in "%s": %s',
  (language, text, is) => {
    expect(isPlain(words(text), language)).toBe(is)
  },
)
