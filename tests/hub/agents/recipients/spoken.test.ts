import { expect, test } from 'vitest'
import {
  languageFor,
  languageOfAll,
  languageWords,
  spokenGroups,
  spokenIn,
  spokenWords,
  unwrittenWords,
} from '../../../../hub/agents/recipients/spoken.ts'

test.each([
  ['Türkiye', 'tr'],
  ['TURKEY', 'tr'],
  ['tr', 'tr'],
  ['TR ', 'tr'],
  ['TÜRKİYE', 'tr'],
  ['Germany', 'en'],
  ['Trinidad', 'en'],
  ['', undefined],
  [null, undefined],
])('in %s people read %s', (country, language) => {
  expect(spokenIn(country)).toBe(language)
})

const asked = (language: 'en' | 'tr', named?: 'en' | 'tr') => ({ language, named_language: named })

const of = (country: string | null, language: string | null = null) => ({ country, language })

test('the task decides where it names a language, else the lead, its country, the task’s own', () => {
  expect(languageFor(asked('en', 'en'), [of('Türkiye')])).toBe('en')
  expect(languageFor(asked('en', 'en'), [of('Türkiye', 'tr')])).toBe('en')
  expect(languageFor(asked('en'), [of('Germany', 'tr')])).toBe('tr')
  expect(languageFor(asked('tr'), [of('Türkiye', 'en')])).toBe('en')
  expect(languageFor(asked('tr'), [of('Türkiye', 'de')])).toBe('en')
  expect(languageFor(asked('en'), [of(null, 'tr')])).toBe('tr')
  expect(languageFor(asked('en'), [of('Türkiye'), of('Germany', 'tr')])).toBe('tr')
  expect(languageFor(asked('en'), [of('Türkiye')])).toBe('tr')
  expect(languageFor(asked('tr'), [of('Germany')])).toBe('en')
  expect(languageFor(asked('tr'), [of(null)])).toBe('tr')
  expect(languageFor(asked('en'), [of('Türkiye'), of('TR')])).toBe('tr')
  expect(languageFor(asked('en'), [of('Türkiye'), of('Germany')])).toBe('en')
  expect(languageFor(asked('tr'), [of('Türkiye'), of(null)])).toBe('tr')
  expect(languageFor(asked('en'), [])).toBe('en')
})

test('the readers of a whole list have one language, or how many are written to in which is said', () => {
  const turks = [of('Türkiye'), of(null, 'tr')]
  expect(languageOfAll(turks)).toBe('tr')
  expect(languageWords(turks)?.en).toBe(
    'By their language or country, all 2 recipients are written to in Turkish.',
  )
  expect(languageWords([of('TR')])?.tr).toBe('Diline ya da ülkesine göre alıcıya Türkçe yazılır.')
  const mixed = [...turks, of('Germany', 'de'), of(null)]
  expect(languageOfAll(mixed)).toBeUndefined()
  expect(languageWords(mixed)?.en).toBe(
    'By their language or country, the recipients are written to in English (1), Turkish (2), not known (1). Choose one language. The hub writes English and Turkish; leads with another language get English: German (1).',
  )
  expect(languageOfAll([of(null), of(null)])).toBeUndefined()
  expect(languageOfAll([of(null), of('TR')])).toBeUndefined()
  expect(languageOfAll([])).toBeUndefined()
  expect(languageWords([])).toBeNull()
})

test('languages that the hub does not write are said, unless the task names one', () => {
  const leads = [of(null, 'de'), of('Türkiye'), of('Türkiye', 'fr'), of(null, 'de'), of(null, 'tr')]
  expect(unwrittenWords(asked('en'), leads)).toEqual({
    en: 'The hub writes English and Turkish; leads with another language get English: German (2), French (1).',
    tr: 'Hub İngilizce ve Türkçe yazar; başka dildeki adaylar İngilizce alır: Almanca (2), Fransızca (1).',
  })
  expect(unwrittenWords(asked('en', 'tr'), leads)).toBeUndefined()
  expect(unwrittenWords(asked('en'), [of('Germany'), of(null, 'en')])).toBeUndefined()
})

const lead = (id: string, country: string | null) => ({ id, country, language: null })

test('a group is parted as each of its leads would be written to, the larger part first', () => {
  const leads = [lead('a', 'Germany'), lead('b', 'Türkiye'), lead('c', null), lead('d', 'TR')]
  const inTurkish = spokenGroups(asked('tr'), leads)
  expect(inTurkish).toEqual([
    { language: 'tr', ids: ['b', 'c', 'd'] },
    { language: 'en', ids: ['a'] },
  ])
  expect(spokenWords(inTurkish)).toEqual({
    en: '3 in Turkish, 1 in English',
    tr: 'Türkçe: 3, İngilizce: 1',
  })
  expect(spokenGroups(asked('en'), leads).map(({ ids }) => ids)).toEqual([
    ['a', 'c'],
    ['b', 'd'],
  ])
  const named = spokenGroups(asked('en', 'tr'), leads)
  expect(named.map(({ ids }) => ids.length)).toEqual([4])
  expect(spokenWords(named)).toBeUndefined()
  expect(spokenGroups(asked('en'), [])).toEqual([])
})
