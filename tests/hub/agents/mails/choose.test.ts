import { describe, expect, test } from 'vitest'
import type { AgentContext } from '../../../../hub/agents/agent.ts'
import {
  byLanguage,
  chooseRecipients,
  type Recipient,
} from '../../../../hub/agents/mails/choose.ts'
import type { AudienceFilter } from '../../../../hub/mail/drafts/audience.ts'
import { sqlOn } from '../../../../shared/sql.ts'
import { runAlone, type Scene } from '../run-alone.ts'

const lead = (n: number, more: object = {}) => ({
  id: `22222222-0000-4000-8000-${String(n).padStart(12, '0')}`,
  name: `Lead ${n}`,
  email: `lead${n}@demir.example`,
  company: null,
  title: null,
  website: null,
  country: null,
  language: null,
  stage: 'new',
  ...more,
})
const some = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, n) => lead(n + 1, more))

/** A mission with this input, in a database with these leads. */
function mission(input: object, leads: object[] = [], more: object = {}): AgentContext {
  const sql = sqlOn({ query: async () => ({ rows: leads }) })
  return {
    language: 'en',
    project: { id: 'p' },
    mission: { input, task: 'Write a nice mail' },
    step: async (_: string, work: (on: typeof sql) => unknown) => work(sql),
    ...more,
  } as unknown as AgentContext // safe: all that it uses of its mission
}
const given = (leads: { id: string }[]) => ({ lead_ids: leads.map(({ id }) => id) })

describe('a mail', () => {
  test('to a group is one campaign, in the language of its country', async () => {
    const filter = { country: 'TR', tag: 'fair' }
    expect(await chooseRecipients(mission({ filter }))).toEqual([
      {
        audience: { kind: 'list', filter },
        lead: null,
        readers: [{ country: 'TR', language: null }],
      },
    ])
    const [anywhere] = await chooseRecipients(mission({ filter: { tag: 'fair' } }))
    expect(anywhere?.readers).toEqual([{ country: null, language: null }])
  })

  test('to five leads is a mail for each, and to six one campaign', async () => {
    const five = some(5)
    expect(await chooseRecipients(mission(given(five), five))).toEqual(
      five.map((one) => ({
        audience: { kind: 'lead', lead_id: one.id },
        lead: one,
        readers: [one],
      })),
    )
    const six = some(6)
    expect(await chooseRecipients(mission(given(six), six))).toEqual([
      { audience: { kind: 'list', filter: given(six) }, lead: null, readers: six },
    ])
  })
})

describe('a list', () => {
  const filter = { tag: 'fair' } as AudienceFilter
  const list: Recipient = { audience: { kind: 'list', filter }, lead: null, readers: [] }
  const parted = (readers: object[], recipients = [list], more: object = {}) =>
    byLanguage(mission({}, [], { readers: async () => readers, ...more }), recipients)
  const turks = (count: number) => some(count, { language: 'tr' })

  test('whose readers speak one language stays whole, with its readers', async () => {
    const readers = turks(2)
    expect(await parted(readers)).toEqual([{ ...list, readers }])
    expect(await parted([])).toEqual([list])
  })

  test('whose readers speak two is one list for each, the larger first', async () => {
    const [english, turkish] = [lead(9, { language: 'en' }), turks(2)]
    expect(await parted([english, ...turkish])).toEqual([
      {
        audience: { kind: 'list', filter: { ...filter, ...given(turkish) } },
        lead: null,
        readers: turkish,
      },
      {
        audience: { kind: 'list', filter: { ...filter, lead_ids: [english.id] } },
        lead: null,
        readers: [english],
      },
    ])
  })

  test('stays whole where the task names a language, and so do single leads', async () => {
    const mixed = [lead(9, { language: 'en' }), ...turks(1)]
    expect(await parted(mixed, [list], { named_language: 'tr' })).toEqual([list])
    const [one] = await chooseRecipients(mission(given(some(1)), some(1)))
    expect(await parted(mixed, one ? [one] : [])).toEqual([one])
    expect(await parted(mixed, [])).toEqual([])
  })

  test('can be parted where no part has more than 5,000 readers', async () => {
    const english = lead(9999, { language: 'en' })
    expect(await parted([english, ...turks(5000)])).toHaveLength(2)
    await expect(parted([english, ...turks(5001)])).rejects.toMatchObject({
      words: { en: expect.stringMatching(/5,?001.*5,?000/) },
    })
    // One list stays, however long.
    expect(await parted(turks(5001))).toHaveLength(1)
  })
})

describe('the answer of marketing', () => {
  const SENTENCE = { text: 'Shall we talk next week?', cites: [] }
  const MAIL = { subject: 'A short question', sentences: [SENTENCE, SENTENCE] }
  const DESIGN = {
    template: 'newsletter',
    preheader: 'A question',
    headline: 'Hello',
    highlight: [],
  }
  const written = (leads: object[], input: object, more: Partial<Scene['more']> = {}) =>
    runAlone(
      {
        agent: 'marketing',
        task: { en: 'Write a nice mail', tr: 'Güzel bir e-posta yaz' },
        input,
        brief: '# Rota\n\n## What we do\n\nRota plans routes.\n',
        rows: [
          [/^select id, name, email.*from hub\.leads/, leads],
          [/^select from hub\.leads/, [{}]],
        ],
        answers: new Proxy(
          {},
          { get: (_, name) => (/^design/.test(String(name)) ? DESIGN : MAIL) },
        ),
        more: { ...more },
      },
      'en',
    )
  const summaryOf = (log: string) => /"summary": "(.*)"/.exec(log)?.[1]

  test('says who was written to in another language', async () => {
    const leads = [lead(1, { language: 'tr' }), lead(2), lead(3, { language: 'tr' })]
    const log = await written(leads, given(leads))
    expect(summaryOf(log)).toContain('In the language of the recipient: Lead 1, Lead 3')
    expect(log.match(/^speaks tr$/gm)).toHaveLength(2)
    expect(summaryOf(await written([lead(2)], given([lead(2)])))).not.toContain('In the language')
  })

  test('counts the sentences that wait for a person over all drafts', async () => {
    const leads = some(2)
    const log = await written(leads, given(leads), { held: async () => 2 })
    expect(summaryOf(log)).toMatch(/\b4\b/)
  })

  test('says so where a list was parted, or speaks another language', async () => {
    const readers = [lead(1, { language: 'tr' }), lead(2, { language: 'en' })]
    const filter = { tag: 'fair' }
    const parts = await written([], { filter }, { readers: async () => readers as never })
    expect(summaryOf(parts)).toContain('One campaign for each language of the recipients')
    const one = await written([], { filter }, { readers: async () => readers.slice(0, 1) as never })
    expect(summaryOf(one)).toContain('In the language of the recipients')
    expect(summaryOf(one)).not.toContain('One campaign')
  })

  test('says which language of a reader the hub does not write', async () => {
    const leads = [lead(1, { language: 'de' })]
    expect(await written(leads, given(leads))).toMatch(/^leaves out: .*German/m)
  })
})

describe('the mails of a sequence', () => {
  const SENTENCES = [
    { text: 'Shall we talk next week?', cites: [] },
    { text: 'May we show you our planner?', cites: [] },
  ]
  const planned = (task: string, leads: object[], input: object, held = 0) =>
    runAlone(
      {
        agent: 'marketing',
        task: { en: task, tr: task },
        input,
        brief: '# Rota\n\n## What we do\n\nRota plans routes.\n',
        rows: [
          [/^select id, name, email.*from hub\.leads/, leads],
          [/^select id from hub\.drafts where sequence_id/, [{ id: 'a' }, { id: 'b' }]],
        ],
        answers: new Proxy({}, { get: () => ({ subject: 'A question', sentences: SENTENCES }) }),
        more: { held: async () => held },
      },
      'en',
    )
  const leads = some(2)

  test('go to the leads that were chosen, four days after the first, then seven', async () => {
    const log = await planned('Plan a sequence of four mails', leads, given(leads))
    expect(log).toContain(JSON.stringify(JSON.stringify({ lead_ids: leads.map(({ id }) => id) })))
    const waits = [...log.matchAll(/^insert hub\.drafts\n(?:.*\n){6} {2}\d\n {2}(\d+)$/gm)]
    expect(waits.map(([, days]) => Number(days))).toEqual([0, 4, 7, 7])
    const last = log.split('\n').filter((line) => line.includes('It is the last one'))
    expect(last[0]).toMatch(/^asks the model for write 4: /)
    expect(last.every((line) => line.includes('write 4: '))).toBe(true)
    expect(log).not.toContain('leaves out')
  })

  test('are as many as there can be, and the readers’ language is said', async () => {
    const german = some(2, { language: 'de' })
    const log = await planned('Plan a sequence of 12 mails', german, given(german), 2)
    expect(log).toMatch(/^leaves out: .*German \(2\)/m)
    expect(log).toMatch(/^leaves out: .*\b8\b.*\b12\b/m)
    expect(log).toContain('sentences without evidence: 4.')
  })
})

describe('a letter', () => {
  const facts = [
    { id: 'e1', lead_id: lead(1).id, fact: 'Demir has 40 trucks.', source: 'fair.csv:2' },
    { id: 'e2', lead_id: lead(2).id, fact: 'Kaya has 90 ships.', source: 'fair.csv:3' },
  ]
  const demir = lead(1, { company: 'Demir' })
  const QUESTION = 'Shall we talk next week?'
  const version = (...texts: string[]) => ({
    subject: 'A question',
    sentences: texts.map((text) => ({ text, cites: [] })),
  })
  const kaya = lead(2, { company: 'Kaya' })
  const letter = (first: object, second?: object, leads = [demir]) =>
    runAlone(
      {
        agent: 'marketing',
        task: { en: 'Write a nice mail', tr: 'Güzel bir e-posta yaz' },
        input: given(leads),
        brief: '# Rota\n\n## What we do\n\nRota plans routes.\n',
        rows: [
          [/^select id, name, email.*from hub\.leads/, leads],
          [/^select from hub\.leads/, [{}]],
          [
            /from hub\.evidence/,
            (params) => facts.filter(({ lead_id }) => params.flat().includes(lead_id)),
          ],
        ],
        answers: { 'write 1': first, 'rewrite 1': second, 'write 2': first, 'rewrite 2': first },
      },
      'en',
    )

  test('that says what the evidence about its reader says is not written again', async () => {
    const log = await letter(version('Demir has 40 trucks.', QUESTION))
    expect(log).not.toContain('rewrite 1')
    expect(log).toContain('[evidence]\n  E1: Demir has 40 trucks.\n')
    expect(log).not.toContain('90 ships')
    const asking = version(QUESTION, 'May we call?')
    const both = await letter(asking, asking, [demir, kaya])
    const [, one = '', other = ''] = both.split(/asks the model for write \d/)
    expect([one.includes('40 trucks'), one.includes('90 ships')]).toEqual([true, false])
    expect([other.includes('40 trucks'), other.includes('90 ships')]).toEqual([false, true])
  })

  test.each<[string, first: object, second: object, kept: RegExp]>([
    [
      'with less that lacks support',
      version('Demir has 90 ships.', 'You are the best.', QUESTION),
      version('Demir has 91 ships.', QUESTION),
      /Demir has 91 ships/,
    ],
    [
      'with as much',
      version('Demir has 90 ships.', QUESTION),
      version('Demir has 91 ships.', QUESTION),
      /Demir has 91 ships/,
    ],
    [
      'unless it has more',
      version('Demir has 90 ships.', QUESTION),
      version('Demir has 91 ships.', 'You are the best.', QUESTION),
      /Demir has 90 ships/,
    ],
  ])('is written once more, and that version counts %s', async (_, first, second, kept) => {
    const log = await letter(first, second)
    expect(log).toContain('[sentences without support]\n  "Demir has 90 ships." (')
    const [, stored = ''] = /^insert hub\.drafts\n(.*?)\n[a-z]/ms.exec(log) ?? []
    expect(stored).toMatch(kept)
  })
})
