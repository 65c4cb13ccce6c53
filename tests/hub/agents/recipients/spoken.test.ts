import { expect, test } from 'vitest'
import { languageFor, spokenIn } from '../../../../hub/agents/recipients/spoken.ts'

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
