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
