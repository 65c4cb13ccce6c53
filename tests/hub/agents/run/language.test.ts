import { expect, test } from 'vitest'
import { languageOfTask, namedLanguage, typedIn } from '../../../../hub/agents/run/facts.ts'

test.each([
  ['/gelistir', 'tr', 'tr'],
  ['/gelistir', 'en', 'en'],
  ['/gelistir', undefined, 'en'],
  ['/pm', 'tr', 'tr'],
  // What stands behind the command counts more than who asks.
  ['/pm what went wrong', 'tr', 'en'],
  ['/pm neden başarısız oldu', 'en', 'tr'],
  ['/pm in Turkish', 'en', 'tr'],
  // Words of which none shows a language.
  ['leads', 'tr', 'tr'],
  ['rakip analizi', 'tr', 'tr'],
  ['rakip analizi', 'en', 'en'],
] as const)('%s, asked in %s, is answered in %s', (task, asker, language) => {
  expect(languageOfTask(task, asker)).toBe(language)
})

test.each([
  ...['Write it in Turkish', 'translate into turkish', 'change the mail to Turkish.'],
  ...['türkçe yaz', 'Turkce yaz', 'Türkçe  hazırla', 'türkce hazirla', 'turkçe olsun'],
  ...['Türkçe cevapla', 'türkçe de olabilir', 'mektubu Türkçeye çevir', 'bunun Türkçesi'],
  ...['Türkçesini yolla'],
])('“%s” names Turkish', (task) => {
  expect(namedLanguage(task)).toBe('tr')
})

test.each([
  ...['Write it in English', 'translate into english', 'change the mail to English.'],
  ...['İngilizce yaz', 'ingilizce yaz', 'Ingilizce  hazırla', 'İngilizce hazirla'],
  ...['ingilizce olsun', 'İngilizce cevapla', 'ingilizce de olabilir', 'İngilizceye çevir'],
  ...['bunun İngilizcesi', 'ingilizcesini yolla'],
])('“%s” names English', (task) => {
  expect(namedLanguage(task)).toBe('en')
})

test.each([
  ...['begin Turkish lessons', 'in Turkishness', 'Turkish rivals', 'türkçe ders', 'Türkçe içerik'],
  ...['öntürkçe yaz', 'Türkçesinden', 'sein English lessons', 'in Englishness', 'English rivals'],
  ...['ingilizce ders', 'İngilizce içerik', 'öningilizce yaz', 'ingilizcesinden', 'türkçeyaz'],
  ...['ingilizceyaz', ''],
])('“%s” names no language', (task) => {
  expect(namedLanguage(task)).toBe(undefined)
})

test.each([
  ['  /docs yaz', 'en', 'tr'],
  ['/yaz write', 'tr', 'en'],
  ['write /bir', 'en', 'en'],
  ['bir write', 'tr', 'tr'],
  ['bir write', 'en', 'en'],
  ['bir ğ write', 'en', 'tr'],
  ['write the ğ', 'tr', 'en'],
  ['bir the write ş', 'en', 'en'],
  ['Write it in Turkish: a mail for the team', 'tr', 'en'],
] as const)('“%s”, typed by somebody in %s, is in %s', (task, asker, language) => {
  expect(typedIn(task, asker)).toBe(language)
})
