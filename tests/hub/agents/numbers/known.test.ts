import { expect, test } from 'vitest'
import { knownText } from '../../../../hub/agents/numbers/known.text.ts'
import { followUps, knownQuestion, knownSql } from '../../../../hub/agents/numbers/known.ts'
import { tablesIn } from '../../../../hub/agents/numbers/tables.ts'
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
  // One word more is another question.
  ['en', 'how many leads do we have in Bursa', undefined],
  ['en', 'how many leads were won', undefined],
  ['en', 'leads', undefined],
  ['en', 'which leads do we have', undefined],
  ['en', 'how many leads by stage and country', undefined],
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
