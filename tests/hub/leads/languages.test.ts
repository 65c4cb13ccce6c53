import { expect, test } from 'vitest'
import {
  languageName,
  languageOfCell,
  languageSaid,
  languageTag,
} from '../../../hub/leads/languages.ts'

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
  ['She wrote us a letter in French', 'fr'],
  ['His letters are in Italian', 'it'],
  ['Olga replied to us in Russian', undefined],
  ['Olga replies in Russian', 'ru'],
  ['Talk to Jan in Dutch', 'nl'],
  ['Correspondence in Greek', 'el'],
  ['She reads Arabic', 'ar'],
  ['The language is Swedish', 'sv'],
  ['Olga’ya Lehçe mail atın', 'pl'],
  ['Fransızca mektup bekliyor', 'fr'],
  ['Yazışmayı Almanca tercih eder', 'de'],
])('%s: the language is said', (sentence, code) => expect(languageSaid(sentence)).toBe(code))

test.each([
  'Hans runs a German haulier in Hamburg',
  'The Polish company has 30 lorries',
  'Hans does not speak English',
  'Olga speaks no Turkish',
  'Hans Türkçe bilmiyor',
  'Olga doesn’t speak English',
  "Olga doesn't speak English",
  'Olga doesnt speak English',
  'Hans never speaks English',
  'Write to Hans without a word in English',
  'He speaks Klingon, nor does she speak English',
  'Hans İngilizce konuşmaz',
  'İngilizce konuşan hiç yok',
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

test.each([
  ['tr', 'tr'],
  [' TR ', 'tr'],
  ['tr-TR', 'tr'],
  ['tr_TR', 'tr'],
  ['zh_Hant_TW', 'zh'],
  ['tur', 'tr'],
  ['tlh', undefined],
  ['no language', undefined],
  ['', undefined],
])('the tag "%s" is of the language %s', (text, code) => {
  expect(languageTag(text)).toBe(code)
})

test('a language has a name in English and in Turkish', () => {
  expect([languageName('de', 'en'), languageName('de', 'tr')]).toEqual(['German', 'Almanca'])
})

test.each([
  'German; English',
  'German/English',
  'German | English',
  'German & English',
  'German + English',
  'German (native)',
  'German and English',
  'Almanca ve İngilizce',
  'deutsch',
])('of several languages a cell means the first: %s', (cell) => {
  expect(languageOfCell(cell)).toBe('de')
})

test.each([
  'They speak|She speaks|We prefer|He prefers|They read|She reads|Speaking|Language|Language:|Language is|Olga  speaks  ',
  'Write to her in|Writes in|Wrote in|Mail her in|Mails in|Email her in|Emails in|E-mail in|E-mails in',
  'A letter in|Letters in|Answer in|Answers in|Reply in|Replies in|Talk in|Talks in',
  'They correspond in|Corresponds in|Correspondence in|Contact her in|Contacted in|Contacts us in',
  'Dil|Dil:|Dili|Dili:',
])('a language is said after: %s', (words) => {
  for (const said of words.split('|')) expect(languageSaid(`${said} Polish`), said).toBe('pl')
})

test.each([
  'konuşur|konuşuyor|yazışır|yazışıyor|tercih eder|tercih ediyor|bilir|biliyor|biliyormuş',
  'yazın|yazar|mail atın|e-posta atın|eposta atın|mektup bekliyor',
])('a language is said before: %s', (words) => {
  for (const said of words.split('|')) expect(languageSaid(`Olga Lehçe ${said}`), said).toBe('pl')
})

test.each([
  'She has no time and speaks Polish',
  'Not here: she speaks Polish',
  'Never mind, she speaks Polish',
  'Lehçe konuşmuyor',
  'Lehçe yazmıyor',
  'Lehçe yazmaz',
  'Lehçe yazar değil',
  'Lehçe konuşan yok',
  'Lehçe yazılı belgeler',
  'Bilingual in Polish',
])('%s: no language is said', (sentence) => {
  expect(languageSaid(sentence)).toBeUndefined()
})

test('a language belongs to what was said at most sixty letters before it', () => {
  const said = (length: number) => languageSaid(`Write ${'x'.repeat(length - 1)} in Polish`)
  expect([said(60), said(61)]).toEqual(['pl', undefined])
})
