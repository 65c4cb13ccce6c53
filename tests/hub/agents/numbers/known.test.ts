import { expect, test } from 'vitest'
import { knownText } from '../../../../hub/agents/numbers/known.text.ts'
import {
  followUps,
  knownAnswer,
  knownQuestion,
  knownSql,
} from '../../../../hub/agents/numbers/known.ts'
import { COLUMNS, columnsIn, tablesIn } from '../../../../hub/agents/numbers/tables.ts'
import { LANGUAGES } from '../../../../hub/i18n/words.ts'

const NAMES = Object.keys(knownText.en) as (keyof typeof knownText.en)[]

test.each(LANGUAGES)('a question that is offered is known when it is asked, in %s', (language) => {
  for (const name of NAMES) {
    const { ask } = knownText[language][name]
    expect(knownQuestion(ask, language), ask).toBe(name)
    const next = followUps({ name, tables: [] }, language)
    expect(next).toHaveLength(3)
    expect(next).not.toContain(ask)
    for (const task of next) expect(knownQuestion(task, language), task).toBeDefined()
  }
})

test.each([
  ['en', 'how many leads do I have', 'leads'],
  ['en', 'Number of new leads?', 'leads'],
  ['en', 'leads by stage', 'stages'],
  ['en', 'please show me the leads per week', 'weeks'],
  ['en', 'how many e-mails were sent', 'mails'],
  ['en', 'which tasks are open', 'due'],
  ['tr', 'kaç tane adayımız var', 'leads'],
  ['tr', 'Yeni aday sayısı', 'leads'],
  ['tr', 'aşamaya göre adaylar', 'stages'],
  ['tr', 'haftalık aday', 'weeks'],
  ['tr', 'kaç yanıt geldi', 'mails'],
  ['tr', 'yanıt vermeyenler', 'silent'],
  ['tr', 'kaynağa göre adaylar', 'sources'],
  ['en', 'how many leads came each week', 'weeks'],
  ['en', 'where are our leads', 'countries'],
  ['en', 'drafts waiting', 'drafts'],
  ['en', 'how many missions failed', 'missions'],
  ['tr', 'kaç potansiyel müşterimiz var', 'leads'],
  ['tr', 'adaylar hangi ülkede', 'countries'],
  ['tr', 'bekleyen işler', 'due'],
  ['tr', 'kaç görev başarısız oldu', 'missions'],
  // Spelling that changes before an ending.
  ['en', 'how many replies did we get?', 'mails'],
  ['en', 'how many mails have we sent, and how many replied?', 'mails'],
  ['en', 'who has not replied', 'silent'],
  ['en', 'which leads did not reply', 'silent'],
  ['en', 'in which countries are our leads', 'countries'],
  ['en', 'leads per country', 'countries'],
  ['tr', 'kaç taslak bekliyor?', 'drafts'],
  ['tr', 'hangi işler bekliyor', 'due'],
  // One word more is another question.
  ['en', 'how many leads do we have in Bursa', undefined],
  ['en', 'how many leads were won', undefined],
  ['en', 'leads', undefined],
  ['en', 'which leads do we have', undefined],
  ['en', 'how many leads by stage and country', undefined],
  ['en', 'how many replicas', undefined],
  ['en', 'how many leadership', undefined],
  ['en', 'leads by backstage', undefined],
  ['en', 'who replied', undefined],
  ['tr', 'kim yanıt veriyor', undefined],
  ['tr', 'Bursa’da kaç adayımız var', undefined],
  ['tr', 'geçen ay kaç aday geldi', undefined],
  ['tr', 'aday', undefined],
] as const)('%s: %s', (language, task, name) => {
  expect(knownQuestion(task, language)).toBe(name)
})

test('an answer about some tables is followed by questions about them', () => {
  const sql = 'select l.name from leads as l join recipients as r on r.lead_id = l.id'
  expect(tablesIn(sql)).toEqual(['leads', 'recipients'])
  expect(followUps({ tables: ['tasks'] }, 'en')[0]).toBe(knownText.en.due.ask)
  expect(followUps({ tables: [] }, 'tr')).toHaveLength(3)
})

test('a text with a quotation mark is no end of a literal', () => {
  expect(knownSql('sources', 'en')).toContain("coalesce(source, 'no source')")
})

test.each([
  ['leads', 'en', [12_345, 3], 'You have 12,345 leads, 3 of them new.'],
  ['leads', 'tr', [12_345, 3], '12.345 adayınız var, 3 tanesi yeni.'],
  ['missions', 'en', [7, 2], 'In the last 30 days 2 missions failed and 7 were done.'],
] as const)('%s are told in a sentence of their own, in %s', (name, language, row, said) => {
  const { columns } = knownText[language][name]
  const table = { columns: Object.values(columns), rows: [[...row]] }
  expect(knownAnswer(name, table, language)).toBe(said)
})

test('a list is told in the words of its question', () => {
  const table = {
    columns: ['Source', 'Leads'],
    rows: [
      ['fair', 3],
      ['web', 2],
    ],
  }
  const said = knownAnswer('sources', table, 'en')
  expect(said).toContain('fair 3, web 2')
  // The rows of a whole count cannot overlap, so that there is a sum.
  expect(said).toContain('5')
  expect(knownAnswer('due', { columns: ['Task'], rows: [] }, 'en')).toContain('Which tasks are due')
  expect(knownAnswer('due', { columns: ['Task'], rows: [] }, 'en')).not.toContain('?')
})

test('what is asked for in a question is what its statement gives, in both languages', () => {
  for (const language of LANGUAGES) {
    for (const name of NAMES) {
      const sql = knownSql(name, language)
      for (const column of Object.values(knownText[language][name].columns)) {
        expect(sql, name).toContain(`"${column}"`)
      }
      expect(tablesIn(sql).length, name).toBeGreaterThan(0)
    }
  }
})

test.each([
  ['leads', ['leads', 'stages', 'weeks']],
  ['recipients', ['mails', 'silent', 'leads']],
  ['tasks', ['due', 'leads', 'stages']],
  ['drafts', ['drafts', 'mails', 'leads']],
  ['missions', ['missions', 'leads', 'stages']],
  ['events', ['leads', 'stages', 'mails']],
] as const)('after a question about %s there are three others', (table, names) => {
  const asks = (of: readonly (typeof NAMES)[number][]) => of.map((name) => knownText.en[name].ask)
  expect(followUps({ tables: [table] }, 'en')).toEqual(asks(names))
})

test('a question is not followed by itself', () => {
  const asked = followUps({ name: 'leads', tables: [] }, 'en')
  expect(asked).toEqual([knownText.en.stages.ask, knownText.en.weeks.ask, knownText.en.sources.ask])
  expect(followUps({ name: 'leads', tables: ['leads'] }, 'en')).not.toContain(
    knownText.en.leads.ask,
  )
})

test('the columns of the tables that a statement names are listed', () => {
  expect(columnsIn('select * from Notes join deal_settings on true')).toBe(
    'notes(lead_id, text, created_at); deal_settings(probabilities, won_reasons, lost_reasons)',
  )
  expect(columnsIn('select 1')).toBe('')
  expect(COLUMNS.activities).toEqual(['lead_id', 'kind', 'details', 'at'])
})
