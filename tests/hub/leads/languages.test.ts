import { expect, test } from 'vitest'
import { languageOfCell, languageSaid } from '../../../hub/leads/languages.ts'

test.each([
  ['Olga Novak speaks Polish', 'pl'],
  ['Please write to Hans in German.', 'de'],
  ['Jan, language: Czech', 'cs'],
  ['Our contact prefers English', 'en'],
  ['Hans Almanca konuşuyor', 'de'],
  ['Ayşe Hanım’a Türkçe yazın', 'tr'],
  ['Olga yalnızca Lehçe biliyor', 'pl'],
  ['Dili: İngilizce', 'en'],
  ['Marta answered our mail in Spanish', 'es'],
])('%s: the language is said', (sentence, code) => expect(languageSaid(sentence)).toBe(code))

test.each([
  'Hans runs a German haulier in Hamburg',
  'The Polish company has 30 lorries',
  'Hans does not speak English',
  'Olga speaks no Turkish',
  'Hans Türkçe bilmiyor',
  'Türk firması, Almanya’da çalışır',
  'They write software in Java',
  'Lehçe çeviri yazılımı satıyor',
  'We met in French wine country',
  '',
])('%s: no language is said for sure', (sentence) => {
  expect(languageSaid(sentence)).toBeUndefined()
})

test('a cell holds a name or a tag; anything else is left to be refused', () => {
  expect(['Türkçe', 'German, English', 'tr-TR', 'Klingon'].map(languageOfCell)).toEqual([
    'tr',
    'de',
    'tr',
    'Klingon',
  ])
})
