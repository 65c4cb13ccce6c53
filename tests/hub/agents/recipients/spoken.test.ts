import { expect, test } from 'vitest'
import {
  languageFor,
  spokenGroups,
  spokenIn,
  spokenWords,
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

test('the task decides where it names a language, else the country, else the language it is in', () => {
  expect(languageFor(asked('en', 'en'), ['Türkiye'])).toBe('en')
  expect(languageFor(asked('en'), ['Türkiye'])).toBe('tr')
  expect(languageFor(asked('tr'), ['Germany'])).toBe('en')
  expect(languageFor(asked('tr'), [null])).toBe('tr')
  expect(languageFor(asked('en'), ['Türkiye', 'TR'])).toBe('tr')
  expect(languageFor(asked('en'), ['Türkiye', 'Germany'])).toBe('en')
  expect(languageFor(asked('tr'), ['Türkiye', null])).toBe('tr')
  expect(languageFor(asked('en'), [])).toBe('en')
})

const lead = (id: string, country: string | null) => ({ id, country })

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
