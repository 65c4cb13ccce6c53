import { describe, expect, test } from 'vitest'
import type { AgentContext } from '../../../../hub/agents/agent.ts'
import type { Judge } from '../../../../hub/agents/evidence/judge.ts'
import { design, type Mail, textOf } from '../../../../hub/agents/mails/designer.ts'
import { redesign } from '../../../../hub/agents/mails/redesign.ts'
import { sqlOn } from '../../../../shared/sql.ts'

const MAIL: Mail = {
  subject: 'Your routes',
  greeting: 'Dear Ayşe',
  sentences: ['We plan routes.', 'You own trucks.', 'Shall we talk? ', 'Write to us.'],
  closing: 'Regards',
}
const FORM = { template: 'newsletter', preheader: 'In short', headline: 'News', highlight: [] }
type Call = { task: string; facts: { label: string; text: string }[] }

/** A mission whose model answers with this form. */
function mission(form: object = {}, website: string | null = 'https://rota.example') {
  const calls: Call[] = []
  const context = {
    language: 'en',
    project: { website },
    complete: async (
      _: string,
      { schema, ...call }: Call & { schema: { parse: (v: unknown) => unknown } },
    ) => {
      calls.push(call)
      return schema.parse({ ...FORM, ...form })
    },
  } as unknown as AgentContext // safe: all that it uses of its mission
  return { context, calls }
}
const judge = ((text: string) => ({
  verdict: /^Safe/.test(text) ? 'harmless' : /^True/.test(text) ? 'supported' : 'unsupported',
})) as unknown as Judge // safe: only the verdict is read
const campaign = async (form: object = {}, mail: Partial<Mail> = {}, website?: string | null) => {
  const { context } = mission(form, website)
  return design(context, 'design', { ...MAIL, ...mail }, { judge, audience: 'list' })
}
const letter = async (mail: Partial<Mail> = {}, now?: 'letter' | 'offer') => {
  const { context, calls } = mission()
  const done = await design(
    context,
    'design',
    { ...MAIL, ...mail },
    { judge, audience: 'lead', ...(now ? { now } : {}) },
  )
  expect(calls).toEqual([])
  return done
}

describe('a mail to one person', () => {
  test('is a letter, whose first sentence is what an inbox shows', async () => {
    expect(await letter()).toEqual({
      template: 'letter',
      slots: {
        subject: 'Your routes',
        preheader: 'We plan routes.',
        greeting: 'Dear Ayşe',
        paragraphs: ['We plan routes. You own trucks.', 'Shall we talk?  Write to us.'],
        closing: 'Regards',
      },
    })
    expect((await letter({}, 'offer')).template).toBe('letter')
  })

  test('that is a letter with a question becomes a reminder, with the last question at its end', async () => {
    const sentences = ['Do you plan?', 'We plan routes.', 'Shall we talk?', 'Write to us.']
    expect(await letter({ sentences }, 'letter')).toMatchObject({
      template: 'follow_up',
      slots: {
        paragraphs: ['Do you plan? We plan routes.', 'Write to us.'],
        question: 'Shall we talk?',
      },
    })
    expect((await letter({ sentences: ['We plan routes.'] }, 'letter')).template).toBe('letter')
    expect((await letter({ sentences: ['We plan.', 'And you? '] }, 'letter')).template).toBe(
      'follow_up',
    )
  })

  test('stays a letter where its question is too long for a reminder', async () => {
    const sentences = ['We plan routes.', `${'Shall we talk '.repeat(20)}?`]
    expect(await letter({ sentences }, 'letter')).toMatchObject({
      template: 'letter',
      slots: { preheader: MAIL.subject },
    })
  })

  test.each([
    [140, true],
    [141, false],
  ])('shows a first sentence of %i characters in an inbox: %s', async (length, isShown) => {
    const sentences = ['x'.repeat(length)]
    const { slots } = await letter({ sentences })
    expect(slots.preheader).toBe(isShown ? sentences[0] : MAIL.subject)
  })
})

describe('a mail to a list', () => {
  test('is shown to the model by its sentences, with the forms that it can have', async () => {
    const { context, calls } = mission()
    await design(context, 'design', MAIL, { judge, audience: 'list' })
    expect(calls[0]?.facts).toEqual([
      { label: 'subject', text: 'Your routes' },
      {
        label: 'letter',
        text: 'S1: We plan routes.\nS2: You own trucks.\nS3: Shall we talk?\nS4: Write to us.',
      },
    ])
    expect(calls[0]?.task).toContain('newsletter (A newsletter with sections), offer (')
  })

  test('is no offer where the project has no website', async () => {
    await expect(campaign({ template: 'offer' }, {}, null)).rejects.toThrow()
    expect((await campaign({}, {}, null)).slots).not.toHaveProperty('button')
  })

  test('is a newsletter, whose first sentence is its introduction', async () => {
    const sentences = ['One.', 'Two.', 'Three.', 'Four.', 'Five.', 'Six.', 'Seven.', 'Eight.']
    expect(await campaign({}, { sentences })).toEqual({
      template: 'newsletter',
      slots: {
        subject: 'Your routes',
        preheader: 'Your routes',
        title: 'Your routes',
        intro: 'One.',
        sections: [
          { heading: 'Your routes', paragraphs: ['Two. Three. Four.', 'Five. Six. Seven.', 'Eight.'] },
        ],
        button: { label: 'Open the website', url: 'https://rota.example' },
      },
    })
    const { slots } = await campaign({}, { sentences: ['One.'] })
    expect(slots.sections).toEqual([{ heading: 'Your routes', paragraphs: ['One.'] }])
  }) // biome-ignore format: one line each

  test('is an offer with the highlighted sentences as its points', async () => {
    const { slots } = await campaign({ template: 'offer', highlight: ['S2', 'S4'] })
    expect(slots).toMatchObject({
      offer: { title: 'Your routes', points: ['You own trucks.', 'Write to us.'] },
      paragraphs: ['We plan routes. Shall we talk? '],
    })
    const all = await campaign(
      { template: 'offer', highlight: ['S1', 'S2'] },
      { sentences: ['One.', 'Two.'] },
    )
    expect(all).toMatchObject({ template: 'offer', slots: { paragraphs: ['One. Two.'] } })
  })

  test.each([
    ['Safe words', 'Safe words'],
    ['True words', 'True words'],
    ['You  own trucks.', 'You own trucks.'],
    ['We are the best', MAIL.subject],
  ])('has “%s” above it as “%s”', async (said, shown) => {
    const { slots } = await campaign({ preheader: said, headline: said })
    expect(slots).toMatchObject({ preheader: shown, title: shown })
  })

  test('that does not fit its form becomes a letter', async () => {
    const { template, slots } = await campaign({}, { sentences: ['x'.repeat(601), 'Two.'] })
    expect(template).toBe('letter')
    expect(slots).toMatchObject({ preheader: MAIL.subject, greeting: 'Dear Ayşe' })
  })
})

test('a mail as text has its greeting, two sentences a paragraph and its closing', () => {
  expect(textOf({ ...MAIL, sentences: ['A.', 'B.', 'C.'] })).toBe(
    'Dear Ayşe,\n\nA. B.\n\nC.\n\nRegards,',
  )
  const many = Array.from({ length: 13 }, (_, n) => `${n}.`)
  expect(textOf({ ...MAIL, sentences: many }).split('\n\n')).toHaveLength(7)
})

describe('another form of a draft', () => {
  /** The slots that a personal draft gets. */
  async function formed(draft: object) {
    const row = {
      subject: 'Hello',
      text: '',
      slots: null,
      state: 'draft',
      audience: { kind: 'lead', lead_id: 'l' },
      language: 'en',
      template: 'follow_up',
      ...draft,
    }
    let slots: unknown
    const sql = sqlOn({
      query: async (text) => ({ rows: /select subject, text, slots/.test(text) ? [row] : [] }),
    })
    await redesign(
      {
        ...mission().context,
        expect: () => {},
        step: async (_: string, work: (on: typeof sql) => unknown) => work(sql),
        render: async (_: unknown, given: { slots: unknown }) => {
          slots = given.slots
        },
      } as unknown as AgentContext, // safe: all that it uses of its mission
      'd',
    )
    return slots
  }

  test('has the sentences of its text, without greeting and closing', async () => {
    const text = ' Dear Ayşe, and Can, \n\n\n\n We plan.  You own?\n \n\nWrite!\n\nWarm regards, Rota,\n'
    expect(await formed({ text })).toEqual({
      subject: 'Hello',
      preheader: 'We plan.',
      greeting: 'Dear Ayşe, and Can',
      paragraphs: ['We plan. You own?', 'Write!'],
      closing: 'Warm regards, Rota',
    })
  }) // biome-ignore format: one line each

  test('keeps both blocks of a text of two', async () => {
    expect(await formed({ text: 'We plan.\n\nYou own.' })).toMatchObject({
      paragraphs: ['We plan. You own.'],
    })
    expect(await formed({ text: 'Dear you,\n\nWe plan.\n\nBye,' })).toMatchObject({
      greeting: 'Dear you',
      paragraphs: ['We plan.'],
      closing: 'Bye',
    })
  })

  test('has the slots as they were edited, and its question at the end', async () => {
    const slots = {
      subject: 'Edited',
      greeting: 'Hi,',
      closing: 'Bye,',
      question: 'Well?',
      paragraphs: ['One.  Two.', ' ', 'Three.'],
    }
    expect(await formed({ text: 'Dear you,\n\nOld.\n\nRegards,', slots })).toMatchObject({
      subject: 'Edited',
      greeting: 'Hi,',
      paragraphs: ['One. Two.', 'Three. Well?'],
      closing: 'Bye,',
    })
    const odd = { subject: 5, greeting: null, closing: ['x'], question: 7 }
    expect(await formed({ text: 'Dear you,\n\nOld.\n\nRegards,', slots: odd })).toMatchObject({
      subject: 'Hello',
      greeting: 'Dear you',
      paragraphs: ['Old.'],
      closing: 'Regards',
    })
  })

  test('has at most twelve sentences', async () => {
    const inner = Array.from({ length: 14 }, (_, n) => `Number ${n}.`).join(' ')
    const { paragraphs } = (await formed({ text: `Dear you,\n\n${inner}\n\nBye,` })) as {
      paragraphs: string[]
    }
    expect(paragraphs.join(' ')).toMatch(/^Number 0\. .* Number 11\.$/)
  })
})
