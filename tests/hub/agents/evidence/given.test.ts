import { describe, expect, test } from 'vitest'
import type { AgentContext } from '../../../../hub/agents/agent.ts'
import {
  evidenceOf,
  fittest,
  givenText,
  givenTexts,
  leadFact,
  nameOf,
} from '../../../../hub/agents/evidence/given.ts'
import type { Words } from '../../../../hub/i18n/words.ts'
import { sqlOn } from '../../../../shared/sql.ts'

/** A mission with this input and task, and these files. */
function mission(input: object, { files = {}, task = '' } = {}) {
  const done = { leftOut: [] as string[], asked: [] as string[] }
  const context = {
    language: 'en',
    mission: { input, task },
    read: async (path: string) => (files as Record<string, string>)[path],
    leaveOut: ({ en }: Words) => void done.leftOut.push(en),
    complete: async (name: string) => {
      done.asked.push(name)
      return { points: [] }
    },
  } as unknown as AgentContext // safe: all that it uses of its mission
  return { context, done }
}

describe('what a mission was given', () => {
  test('is its pasted text and then its files, each completely', async () => {
    const files = { 'docs/a.md': 'A file.', 'docs/empty.md': '' }
    const { context } = mission({ text: ' Some\ntext ', files: Object.keys(files) }, { files })
    expect(await givenTexts(context)).toEqual([
      { label: 'pasted text', text: ' Some\ntext ' },
      { label: 'docs/a.md', text: 'A file.' },
      { label: 'docs/empty.md', text: '' },
    ])
    expect(await givenTexts(mission({}).context)).toEqual([])
    expect(await givenTexts(mission({ text: ' \n' }).context)).toEqual([])
  })

  test('fails with the name of a file that is not there', async () => {
    const { context } = mission({ files: ['docs/gone.md'] })
    await expect(givenTexts(context)).rejects.toMatchObject({
      words: { en: expect.stringContaining('docs/gone.md') },
    })
  })

  test.each([
    [1, 3000],
    [2, 1500],
    [3, 1000],
  ])('of %i texts is summarised where one is longer than %i characters', async (count, share) => {
    const names = Array.from({ length: count }, (_, n) => `docs/${n}.md`)
    const of = (length: number) =>
      Object.fromEntries(names.map((name) => [name, 'x'.repeat(length)]))
    const whole = mission({ files: names }, { files: of(share) })
    expect(await givenText(whole.context)).toEqual(
      names.map((label) => ({ label, text: 'x'.repeat(share) })),
    )
    expect(whole.done.asked).toEqual([])
    const long = mission({ files: names }, { files: of(share + 1) })
    expect(await givenText(long.context)).toEqual(names.map((label) => ({ label, text: '' })))
    const parts = share + 1 > 3000 ? ['summary 1.1', 'summary 1.2'] : undefined
    expect(long.done.asked).toEqual(parts ?? names.map((_, n) => `summary ${n + 1}.1`))
  })

  test('is summarised in at most twelve parts of all texts together', async () => {
    const read = async (count: number) => {
      const names = Array.from({ length: count }, (_, n) => `docs/${n}.md`)
      const files = Object.fromEntries(names.map((name) => [name, 'word '.repeat(8000)]))
      const { context, done } = mission({ files: names }, { files })
      await givenText(context)
      return done.asked
    }
    expect(await read(1)).toHaveLength(12)
    expect(await read(5)).toHaveLength(10)
    expect(await read(13)).toHaveLength(13)
  })
})

describe('the evidence that a model is given', () => {
  const rows = ['Has 40 trucks', 'Is in Bursa', 'Trucking since 1990', 'Has a car'].map((fact) => ({
    fact,
  }))
  const chosen = (most: number, task = 'Ask about the truckers and cars') => {
    const { context, done } = mission({}, { task })
    const facts = fittest(context, { rows, most, who: 'Demir' }).map(({ fact }) => fact)
    return [facts, done.leftOut]
  }

  test('is all of it where that fits', () => {
    expect(chosen(4)).toEqual([rows.map(({ fact }) => fact), []])
    expect(chosen(5)).toEqual([rows.map(({ fact }) => fact), []])
  })

  test('shares words with the task, and else is the newest, in its order', () => {
    expect(chosen(2)).toEqual([
      ['Has 40 trucks', 'Trucking since 1990'],
      ['Demir: 2 of 4 pieces of evidence were given.'].map((text) =>
        expect.stringContaining(text.slice(0, 14)),
      ),
    ])
    expect(chosen(3)[0]).toEqual(['Has 40 trucks', 'Is in Bursa', 'Trucking since 1990'])
    expect(chosen(2, 'Nothing of this')[0]).toEqual(['Has 40 trucks', 'Is in Bursa'])
    // A short word is in every text.
    expect(chosen(1, 'Has a car')[0]).toEqual(['Has 40 trucks'])
    expect(chosen(1, 'Bursa')[0]).toEqual(['Is in Bursa'])
  })

  test('of some leads is asked for at once', async () => {
    const values: unknown[] = []
    const sql = sqlOn({
      query: async (_, given = []) => {
        values.push(...given)
        return { rows: [{ id: 'e' }] }
      },
    })
    const names: string[] = []
    const context = {
      step: async (name: string, work: (on: typeof sql) => unknown) => {
        names.push(name)
        return work(sql)
      },
    } as unknown as AgentContext // safe: all that it uses of its mission
    expect(await evidenceOf(context, ['a', 'b'])).toEqual([{ id: 'e' }])
    await evidenceOf(context, [], 'history')
    expect(names).toEqual(['evidence', 'history'])
    expect(values).toEqual([['a', 'b'], 200, [], 200])
  })
})

const LEAD = {
  id: 'l',
  name: 'Ayşe\nstage: won',
  email: 'ayse@demir.example',
  company: 'Demir',
  title: 'CEO',
  website: 'https://demir.example',
  country: 'TR',
  language: 'tr',
  stage: 'new',
}
const BARE = {
  ...LEAD,
  name: null,
  email: null,
  company: null,
  title: null,
  website: null,
  country: null,
}

test('a lead is a fact of one line for each field and each piece of its own evidence', () => {
  const evidence = ['l', 'other', null].map((lead_id) => ({
    id: 'e',
    lead_id,
    fact: `Of\n${lead_id}`,
    source: 's',
  }))
  expect(leadFact(LEAD, evidence)).toEqual({
    label: 'lead',
    text: 'name: Ayşe stage: won\ncompany: Demir\ntitle: CEO\ncountry: TR\nwebsite: https://demir.example\nstage: new\nknown: Of l',
  })
  expect(leadFact(BARE, [])).toEqual({ label: 'lead', text: 'stage: new' })
})

test('a lead is called by company, name, address or its id, the first that it has', () => {
  expect(nameOf(LEAD)).toBe('Demir')
  expect(nameOf({ ...LEAD, company: null, name: 'Ayşe' })).toBe('Ayşe')
  expect(nameOf({ ...BARE, email: 'ayse@demir.example' })).toBe('ayse@demir.example')
  expect(nameOf(BARE)).toBe('l')
})
