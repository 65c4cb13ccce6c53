import { describe, expect, test } from 'vitest'
import { AGENT_NAMES } from '../../../../hub/agents/names.ts'
import { BOOK } from '../../../../scripts/proof/agents/book/book.ts'
import { checkOutcome, type Outcome } from '../../../../scripts/proof/agents/checks.ts'
import { type Task, worldOf } from '../../../../scripts/proof/agents/task.ts'

const PROMPT =
  'You write letters for a small sales team. Say only what the evidence says, and nothing more than that.'
const NOTHING: Outcome = {
  status: 'done',
  reason: null,
  waits_for: null,
  summary: '',
  documents: [],
  drafts: [],
  table: null,
  has_chart: false,
  today: '2026-11-23',
}

/** A good result of a mail, a document, a chart and a refusal; each is made worse below. */
const MAIL: Task = {
  name: 'a mail',
  task: {
    en: 'Write to Demir Lojistik about 40 trucks',
    tr: 'Demir Lojistik’e 40 kamyon için yaz',
  },
  wants: {
    drafts: ['ayse@demir.example'],
    says: [['40'], ['truck', 'kamyon']],
    never: ['discount'],
    about: ['Demir Lojistik'],
  },
}
const GOOD_MAIL: Outcome = {
  ...NOTHING,
  summary: 'Drafts: 1; sentences without evidence: 0',
  drafts: [
    {
      to: 'ayse@demir.example',
      subject: 'Routes for your trucks',
      text: 'Hello Ayşe,\n\nyou run 40 refrigerated trucks from Bursa, and our customers drive 18 % fewer kilometres.\n\nKind regards',
    },
  ],
}
const mail = (text: string): Outcome => ({
  ...GOOD_MAIL,
  drafts: [{ to: 'ayse@demir.example', subject: 'Routes for your 40 trucks', text }],
})

const SHEET: Task = {
  name: 'an invoice',
  task: { en: 'Invoice: 12 hours at 50 euros', tr: 'Fatura: 12 saat, saati 50 euro' },
  wants: {
    documents: 1,
    table: true,
    chart: true,
    patch: true,
    says: [['600']],
    about: [],
    numbers: [600],
  },
}
const GOOD_SHEET: Outcome = {
  ...NOTHING,
  documents: [
    {
      path: 'docs/invoice.md',
      text: '# Invoice\n\n1. 12 hours at 50 euros: 600\n\n*Rota, 2026-11-23*',
    },
    { path: 'code/a.patch', text: '--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b' },
  ],
  table: { columns: ['Item', 'Sum'], rows: [['Hours', '600']] },
  has_chart: true,
}
const REFUSAL: Task = {
  name: 'nobody',
  task: { en: 'Write to Marta', tr: 'Marta’ya yaz' },
  wants: { status: 'failed', says: [['Marta']] },
}
const GOOD_REFUSAL: Outcome = { ...NOTHING, status: 'failed', reason: 'No lead is called Marta.' }
const ASKING: Task = { ...REFUSAL, wants: { status: 'asks' } }

const check = (task: Task, outcome: Outcome, language: 'en' | 'tr' = 'en') =>
  checkOutcome(outcome, { task, language, prompt: PROMPT })

describe('a good result passes', () => {
  test.each<[string, Task, Outcome, 'en' | 'tr']>([
    ['mail', MAIL, GOOD_MAIL, 'en'],
    [
      'mail in Turkish, with endings',
      MAIL,
      mail(
        'Merhaba Ayşe Hanım,\n\nBursa’dan yola çıkan 40 soğutmalı kamyonunuz için bir rota planı ve daha az kilometre ile bir gün.',
      ),
      'tr',
    ],
    [
      'number written out in groups',
      { ...MAIL, wants: { says: [['1200']], numbers: [1200] } },
      mail('That makes 1,200 euros.'),
      'en',
    ],
    ['sheet', SHEET, GOOD_SHEET, 'en'],
    ['refusal', REFUSAL, GOOD_REFUSAL, 'en'],
    ['question', ASKING, { ...NOTHING, status: 'queued', waits_for: 'approval' }, 'en'],
    ['refusal where a question would do', ASKING, GOOD_REFUSAL, 'en'],
  ])('%s', (_, task, outcome, language) => {
    expect(check(task, outcome, language)).toEqual([])
  })
})

const TEXT = 'You run 40 refrigerated trucks.'
describe('a bad result fails, and for that reason alone', () => {
  test.each<[string, Task, Outcome, RegExp]>([
    [
      'a given figure is missing',
      MAIL,
      {
        ...GOOD_MAIL,
        drafts: [{ to: 'ayse@demir.example', subject: 'Trucks', text: 'You run trucks.' }],
      },
      /^does not say 40$/,
    ],
    [
      'a figure inside another is no figure',
      { ...MAIL, wants: { says: [['40']], numbers: 'free' } },
      { ...NOTHING, summary: 'You run 140 trucks and 40.5 more.' },
      /^does not say 40$/,
    ],
    [
      'a word inside another is no word',
      { ...MAIL, wants: { says: [['Ali']] } },
      { ...NOTHING, summary: 'A matter of quality.' },
      /^does not say Ali$/,
    ],
    [
      'something is said that must not be',
      MAIL,
      mail(`${TEXT} We have a discount.`),
      /^says discount$/,
    ],
    ['a figure was invented', MAIL, mail(`${TEXT} You save 27 percent.`), /^invents 27$/],
    ['a year was invented', MAIL, mail(`${TEXT} We have been here since 1998.`), /^invents 1998$/],
    [
      'another customer is named',
      MAIL,
      mail(`${TEXT} So does Müller Spedition.`),
      /^names Müller Spedition/,
    ],
    [
      'another contact is named',
      MAIL,
      mail(`${TEXT} Greetings from Zeynep Aksu.`),
      /^names Zeynep Aksu/,
    ],
    [
      'a placeholder is left',
      MAIL,
      mail(`${TEXT} Regards, [Your Name]`),
      /^has a placeholder: \[Your Name\]$/,
    ],
    ['a variable is left', MAIL, mail(`${TEXT} Dear {{first_name}}`), /^has a placeholder/],
    [
      'it is in the other language',
      MAIL,
      mail(`${TEXT}\n\nBu mektup sizin için yazıldı ve bir yanıt bekliyor, çok teşekkür ederiz.`),
      /^is in another language: Bu mektup/,
    ],
    [
      'it repeats its prompt',
      MAIL,
      mail(`${TEXT} Say only what the evidence says, and nothing more than that.`),
      /^repeats its prompt/,
    ],
    [
      'it speaks of itself',
      MAIL,
      mail(`${TEXT} As an AI I cannot know more.`),
      /^speaks of itself/,
    ],
    [
      'it says the same again and again',
      MAIL,
      mail(
        `${TEXT} We plan all of your routes. We plan all of your routes. We plan all of your routes.`,
      ),
      /^says the same 3 times/,
    ],
    [
      'it is for somebody else',
      MAIL,
      {
        ...GOOD_MAIL,
        drafts: [{ ...(GOOD_MAIL.drafts[0] ?? never()), to: 'hans@mueller.example' }],
      },
      /^has drafts for hans@mueller.example, not for ayse@demir.example$/,
    ],
    [
      'it is for one more',
      MAIL,
      { ...GOOD_MAIL, drafts: [...GOOD_MAIL.drafts, { to: 'list', subject: 'x', text: 'x' }] },
      /^has drafts for/,
    ],
    [
      'it failed',
      MAIL,
      { ...NOTHING, status: 'failed', reason: 'no' },
      /^failed instead of done: no$/,
    ],
    ['it is empty', { ...MAIL, wants: {} }, NOTHING, /^is empty$/],
    [
      'the document is missing',
      SHEET,
      { ...GOOD_SHEET, documents: [], summary: '600' },
      /^has no (document|patch)$/,
    ],
    [
      'the table is empty',
      SHEET,
      { ...GOOD_SHEET, table: { columns: ['Sum'], rows: [] } },
      /^has no table$/,
    ],
    ['the chart is missing', SHEET, { ...GOOD_SHEET, has_chart: false }, /^has no chart$/],
    [
      'the patch is no patch',
      SHEET,
      {
        ...GOOD_SHEET,
        documents: [
          GOOD_SHEET.documents[0] ?? never(),
          { path: 'code/a.patch', text: 'change it' },
        ],
      },
      /^has no patch$/,
    ],
    [
      'it did what it should refuse',
      REFUSAL,
      { ...NOTHING, summary: 'Dear Marta' },
      /^done instead of failed/,
    ],
    [
      'it refused without saying why',
      REFUSAL,
      { ...GOOD_REFUSAL, reason: 'It failed.' },
      /^does not say Marta$/,
    ],
    [
      'it waits for something else',
      ASKING,
      { ...NOTHING, status: 'queued', waits_for: 'model' },
      /^queued instead of asks/,
    ],
  ])('%s', (_, task, outcome, reason) => {
    const wrong = check(task, outcome)
    expect(wrong.length).toBeGreaterThan(0)
    for (const one of wrong) expect(one).toMatch(reason)
  })
})

function never(): never {
  throw new Error('the good result has none')
}

describe('the book', () => {
  test('has five different tasks for every agent, each in both languages', () => {
    expect(Object.keys(BOOK).sort()).toEqual([...AGENT_NAMES].sort())
    for (const [agent, tasks] of Object.entries(BOOK)) {
      expect(new Set(tasks.map(({ name }) => name)).size, agent).toBe(5)
      for (const { task, name } of tasks) expect(task.en, name).not.toBe(task.tr)
    }
  })

  test('names only leads and files that its projects have', () => {
    for (const task of Object.values(BOOK).flat()) {
      const { leads, files } = worldOf(task)
      const there = [...leads.map(({ company }) => company), ...leads.map(({ email }) => email)]
      const named = [...(task.wants.about ?? []), ...(task.wants.drafts ?? [])]
      expect([...there, 'list'], task.name).toEqual(expect.arrayContaining(named))
      const wanted = (task.input?.files ?? []).filter((path) => !path.includes('none'))
      expect(Object.keys(files), task.name).toEqual(expect.arrayContaining(wanted))
    }
  })

  test('is passed by no empty result and no confession', () => {
    for (const task of Object.values(BOOK).flat()) {
      for (const summary of ['', 'As an AI language model, I cannot do that.']) {
        const prompt = PROMPT
        expect(
          checkOutcome({ ...NOTHING, summary }, { task, language: 'en', prompt }),
          task.name,
        ).not.toEqual([])
      }
    }
  })
})
