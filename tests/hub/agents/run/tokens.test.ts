import { expect, it } from 'vitest'
import { subjectOf, tokensOf } from '../../../../hub/agents/run/tokens.ts'

const words = (task: string) => tokensOf(task).map(({ word }) => word)

it('an address is one word, whatever stands in it', () => {
  expect(words('deep dive anna@invoice.de, please')).toEqual(['deep', 'dive', '@mail', 'please'])
  expect(words('read https://www.kvkk.gov.tr/nda now')).toEqual(['read', '@site', 'now'])
  expect(words("solar-ist.com'a bak")).toEqual(['@site', 'bak'])
  expect(words('fix code/invoice.ts and hub/mail/send.ts')).toEqual(['fix', '@code', 'and', '@hub'])
  expect(words('leads/fuar.csv oku')).toEqual(['@list', 'oku'])
})

it('keeps what was written beside each word', () => {
  expect(tokensOf("Hans Müller'e cevap")).toEqual([
    { word: 'hans', written: 'Hans', isFirst: true },
    { word: '@to', written: "Müller'e", isFirst: false },
    { word: 'cevap', written: 'cevap', isFirst: false },
  ])
  expect(words("Hub'a NDA'ya")).toEqual(['hub', 'nda'])
})

it('knows where a sentence begins', () => {
  const first = (task: string) =>
    tokensOf(task).flatMap(({ word, isFirst }) => (isFirst ? [word] : []))
  expect(first('Hi Anna. Write to a@b.example! Please (today).\nthen: read it')).toEqual([
    'hi',
    'write',
    'please',
    'then',
    'read',
  ])
  expect(first('1.500 euro, e.g. for Kaya A.Ş.')).toEqual(['1', 'for'])
})

it('the subject of a task follows "about" and precedes "hakkında"', () => {
  const subject = (task: string) => {
    const said = words(task)
    return said.filter((_, place) => subjectOf(said)(place))
  }
  expect(subject('a mail about our budget')).toEqual(['our', 'budget'])
  expect(subject('bütçe hakkında mail')).toEqual(['butce'])
  expect(subject('bülten gönderen bir betik')).toEqual(['bulten'])
  expect(subject('fatura')).toEqual([])
})

it.each([
  ['He said "Stop!" Then go', '^he said stop ^then go'],
  ['He said “Stop.” Then go', '^he said stop ^then go'],
  ['So.x Then', '^so x then'],
  ['a:b c', '^a b c'],
  ['one; two', '^one ^two'],
  ['line\nnext', '^line ^next'],
  ['info@demir.de. Then go', '^@mail ^then go'],
  // Files are known by their endings or the folder that they are in.
  ['read my.py', '^read @code'],
  ['read xcode/a.md', '^read xcode a md'],
  ['x.jsx y.js z.tsx q.ts', '^@code @code @code @code'],
  ['leads/a.txt now', '^@list now'],
  ['my/leads/a.txt now', '^my leads a txt now'],
  ['x.xls y.xlsx z.csv', '^@list @list @list'],
  ['docs/a.md x', '^@file x'],
  ['DRAFTS/a.md x', '^@file x'],
  ['my/docs/a.md x', '^my docs a md x'],
  ['notes.txt x', '^notes txt x'],
  // The ending of an address is no word, and another word is one.
  ["info@demir.de'ye yaz", '^@mail yaz'],
  ['info@demir.de ye yaz', '^@mail ye yaz'],
  ['demir.com ’a bak', '^@site a bak'],
  ["Ahub'a yaz", '^@to yaz'],
  ["Kaya'na yaz", '^@to yaz'],
  ["kaya'ya yaz", '^kaya yaz'],
  ["KAYA'YA yaz", '^kaya yaz'],
  ['a  \t b', '^a b'],
])('“%s” is read as “%s”', (task, read) => {
  const shown = tokensOf(task).map(({ word, isFirst }) => `${isFirst ? '^' : ''}${word}`)
  expect(shown.join(' ')).toBe(read)
})

it.each([
  ['Hubert’e yaz', ['@to', 'yaz']],
  ["Hub'a ekle", ['hub', 'ekle']],
  ['Hub’a ekle', ['hub', 'ekle']],
])('“%s” goes to a person, if not to the hub: %j', (task, read) => {
  expect(words(task)).toEqual(read)
})

it.each([
  ['about our budget', ''],
  ['a budget about', ''],
  ['mail for Hans', 'hans'],
  ['x which is late', 'is late'],
  ['people who buy', 'buy'],
  ['a list that shows', 'shows'],
  ['a note regarding prices', 'prices'],
  ['a note concerning prices', 'prices'],
  ['konu üzerine yaz', 'konu'],
  ['fiyat konusunda yaz', 'fiyat'],
  ['buna dair yaz', 'buna'],
  ['fatura için yaz', 'fatura'],
  ['fatura için', ''],
  ['acil fatura gelen', ''],
  ['acil fatura bir', ''],
  ['acil gelen fatura', ''],
  ['acil güvenli bir betik', ''],
])('the subject of “%s” is “%s”', (task, subject) => {
  const said = words(task)
  expect(said.filter((_, place) => subjectOf(said)(place)).join(' ')).toBe(subject)
})
