import { describe, expect, test } from 'vitest'
import { runAlone, type Scene } from './run-alone.ts'

const lead = (n: number) => ({
  id: `22222222-0000-4000-8000-00000000000${n}`,
  name: null,
  email: null,
  company: `Firm ${n}`,
  title: null,
  website: null,
  country: null,
  language: null,
  stage: 'new',
})
const fact = (n: number, text: string) => ({
  id: `55555555-0000-4000-8000-00000000000${n}`,
  lead_id: lead(n).id,
  fact: text,
  source: `list.csv:${n}`,
})
const research = (task: string, more: Partial<Scene> = {}) =>
  runAlone({ agent: 'research', task: { en: task, tr: task }, ...more }, 'en')

describe('a task', () => {
  const way = async (task: string, allowed: object = {}) => {
    const done = await research(task, {
      answers: new Proxy({}, { get: () => ({ leads: [], criteria: ['one'], places: [] }) }),
      more: {
        actions: {
          run: {},
          allowed: async () => ({ web: 'ask', search: null, ...allowed }),
        } as unknown as NonNullable<Scene['more']>['actions'], // safe: all that it uses
      },
    }).catch((error: unknown) => String(error))
    if (/asks the model for leads/.test(done)) return 'its own text'
    return done.includes('queries') ? 'a search' : 'a plan'
  }

  test.each([
    ['Demir of Bursa\nKaya of Ankara\nDeniz of İzmir', 'its own text'],
    ['Demir of Bursa\nKaya of Ankara\n', 'a plan'],
    ['find firms\n\n \n', 'a plan'],
    ['import ayse@demir.example', 'its own text'],
    ['import çağ@demir.example', 'its own text'],
    ['find firms in Bursa', 'a plan'],
  ])('%j is answered with %s', async (task, how) => {
    expect(await way(task)).toBe(how)
  })

  test.each([
    ['ask', 'a search'],
    ['allow', 'a search'],
    ['deny', 'a plan'],
  ])('is searched for where the web is set to “%s”: %s', async (web, how) => {
    expect(await way('find firms in Bursa', { web, search: 'http://127.0.0.1:1/' })).toBe(how)
  })
})

test('the leads of a table are listed once each, two hundred at most', async () => {
  const of = async (count: number) => {
    const rows = Array.from({ length: count }, (_, n) => `C${n},c${n}@example.com`)
    const done = await research('import', {
      input: { text: `Company,E-mail\n${rows.join('\n')}\nC0,c0@example.com` },
      rows: [
        [
          /^with asked/,
          (params) =>
            JSON.parse(String(params[0])).map(({ at, email }: { at: number; email: string }) => ({
              at,
              key: email,
              lead_id: `id of ${email}`,
            })),
        ],
      ],
    })
    return JSON.parse(/"leads": (\[[^\]]*\])/.exec(done)?.[1] ?? '[]') as string[]
  }
  expect(await of(2)).toEqual(['id of c0@example.com', 'id of c1@example.com'])
  expect(await of(201)).toHaveLength(200)
})

describe('a deep dive', () => {
  const dive = (
    answers: Record<string, object>,
    evidence: object[] = [],
    leads = [lead(1)],
  ): Promise<string> =>
    research('look', {
      input: { lead_ids: leads.map(({ id }) => id) },
      rows: [
        [/^select id, name, email.*from hub\.leads/, leads],
        [/from hub\.evidence/, evidence],
      ],
      answers,
    })
  const points = (...given: [text: string, ...cites: string[]][]) => ({
    points: given.map(([text, ...cites]) => ({ text, cites })),
    questions: [],
  })

  test('says what the evidence that it cites says, and the rest as an assumption', async () => {
    const evidence = [
      fact(1, 'Firm 1 has 40 trucks.'),
      fact(1, 'Firm 1 delivers frozen food.'),
      fact(2, 'Firm 2 has 7 ships.'),
    ]
    const done = await dive(
      {
        'dive 1': {
          ...points(
            ['Firm 1 has 40 trucks.', 'E1'],
            ['Firm 1 delivers frozen food.', 'E1'],
            ['They may grow.', 'none'],
          ),
          questions: ['Who plans?'],
        },
      },
      evidence,
    )
    expect(done).toContain(
      '[evidence]\n  E1: Firm 1 has 40 trucks.\n  E2: Firm 1 delivers frozen food.\n',
    )
    expect(done.replaceAll('\n  ', '\n')).toContain(
      [
        '## What the evidence says\n\n- Firm 1 has 40 trucks.',
        '## Assumptions, not to be quoted\n\n- Firm 1 delivers frozen food.\n- They may grow.',
        '## Open questions\n\n1. Who plans?',
        '## Evidence\n',
      ].join('\n\n'),
    )
    expect(done).not.toContain('7 ships')
  })

  test('has no empty headings', async () => {
    const guessed = await dive({ 'dive 1': points(['They may grow.', 'none']) })
    expect(guessed).toContain('[evidence]\n  none\n')
    expect(guessed.match(/^ {2}## .*$/gm)).toEqual(['  ## Assumptions, not to be quoted'])
    const known = await dive({ 'dive 1': points(['Firm 1 has 40 trucks.', 'E1']) }, [
      fact(1, 'Firm 1 has 40 trucks.'),
    ])
    expect(known.match(/^ {2}## .*$/gm)).toEqual(['  ## What the evidence says', '  ## Evidence'])
    // Nor the empty lists below them.
    expect(known).not.toMatch(/\n {2}\n {2}\n/)
    expect(guessed).not.toMatch(/\n {2}\n {2}\n/)
  })

  test('of several leads is a document each, with fifteen pieces of evidence at most', async () => {
    const evidence = Array.from({ length: 16 }, (_, n) => fact(1, `Fact number ${n}.`))
    const done = await dive(
      { 'dive 1': points(['So it is.']), 'dive 2': points(['So it is.']) },
      [...evidence, fact(2, 'Firm 2 sails.')],
      [lead(1), lead(2)],
    )
    expect(done).toContain('"summary": "Deep dive: Firm 1 · Deep dive: Firm 2"')
    expect(done).toContain('E15: Fact number 14.')
    expect(done).not.toContain('Fact number 15.')
    expect(done).toContain('[evidence]\n  E1: Firm 2 sails.\n')
  })
})
