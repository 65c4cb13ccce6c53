import { expect, test } from 'vitest'
import { runAlone, type Scene } from './run-alone.ts'
import { LEADS } from './scenes/leads.ts'

/** The websites that leads get which a search has found, by their companies. */
async function websitesOf(found: Record<string, string>): Promise<Record<string, unknown>> {
  const scene = LEADS['research/search'] as Scene // safe: it is there
  const results = Object.entries(found).map(([company, url]) => ({
    url,
    title: company,
    content: '',
  }))
  const companies = results.map(({ title }, at) => ({ result: `R${at + 1}`, company: title }))
  const rows = results.map(({ title }, at) => ({ at, key: title, lead_id: null }))
  const log = await runAlone(
    {
      ...scene,
      answers: { 'search plan': { queries: ['haulage'] }, companies: { companies } },
      rows: [[/^with asked/, rows]],
      more: {
        ...scene.more,
        actions: {
          run: {},
          allowed: async () => ({
            web: 'allow',
            engineer_system: false,
            search: 'http://127.0.0.1:1',
          }),
          health: async () => ({}),
          search: async () => ({ results }),
        },
      },
    },
    'en',
  )
  const [, params = ''] = /^insert hub\.leads\n((?: {2}.*\n)+)/m.exec(log) ?? []
  const list = params.split('\n').find((line) => line.startsWith('  "['))
  const leads: { company: string; website: unknown }[] = JSON.parse(JSON.parse(list ?? '"[]"'))
  return Object.fromEntries(leads.map((lead) => [lead.company, lead.website]))
}

test('a lead has a website where its domain begins with its name, whatever stands between the letters', async () => {
  expect(
    await websitesOf({
      'Demir Lojistik': 'https://www.demirlojistik.example/hakkimizda',
      'Özkaya Taşıma': 'https://oz-kaya.example/',
      'DHK Nakliyat': 'https://dhk.example/de',
      'AB Cargo': 'https://ab-cargo.example/',
      'Kaya Nakliyat': 'https://rehber.example/bursa/kaya',
    }),
  ).toEqual({
    'Demir Lojistik': 'https://www.demirlojistik.example',
    'Özkaya Taşıma': 'https://oz-kaya.example',
    'DHK Nakliyat': 'https://dhk.example',
    // Two letters may stand anywhere.
    'AB Cargo': null,
    'Kaya Nakliyat': null,
  })
})

type Result = { url: string; title: string; content: string }
type Answer = { results: Result[] } | { refused: { en: string; tr: string } }
const result = (n: number, more: Partial<Result> = {}): Result => ({
  url: `https://firm${n}.example/`,
  title: `Firm ${n}`,
  content: `Firm ${n} plans routes. Others do not. Firm ${n} is …`,
  ...more,
})

/** What is asked, stored and said of a search with these answers, one for each query. */
async function searched(
  answers: Answer[],
  given: { companies?: object[]; web?: string; known?: Record<number, string>; queries?: string[] },
) {
  const left = [...answers]
  const rows = (params: unknown[]) => {
    const asked: { at: number; company: string }[] = JSON.parse(String(params[0]))
    return asked.map(({ at, company }) => ({
      at,
      key: company,
      lead_id: given.known?.[at] ?? null,
    }))
  }
  const log = await runAlone(
    {
      agent: 'research',
      task: { en: 'find haulage firms', tr: 'nakliye firmaları bul' },
      answers: {
        'search plan': { queries: given.queries ?? answers.map((_, n) => `query ${n}`) },
        companies: { companies: given.companies ?? [] },
      },
      rows: [
        [/^with asked/, rows],
        [/^insert into hub\.leads/, (params) => JSON.parse(String(params.at(-1)))],
      ],
      more: {
        actions: {
          run: {},
          allowed: async () => ({
            web: given.web ?? 'allow',
            engineer_system: false,
            search: 'http://127.0.0.1:8888/x',
          }),
          health: async () => ({}),
          search: async () => left.shift() ?? { results: [] },
        } as unknown as NonNullable<Scene['more']>['actions'], // safe: all that agents use of it
      },
    },
    'en',
  )
  const [, facts = ''] = /^insert hub\.evidence\n(?:.*\n){2} {2}(".*")$/m.exec(log) ?? []
  return {
    log,
    summary: /"summary": "(.*)"/.exec(log)?.[1],
    facts: facts === '' ? [] : (JSON.parse(JSON.parse(facts)) as object[]),
  }
}
const about = (...numbers: number[]) =>
  numbers.map((n) => ({ result: `R${n}`, company: `Firm ${n}` }))

test('what a search found is counted, and listed with its leads', async () => {
  const done = await searched([{ results: [result(1), result(2)] }, { results: [result(2)] }], {
    companies: [...about(1, 2), { result: 'R2', company: 'Nobody Ltd' }],
    known: { 1: '44444444-2222-4333-8444-555555555555' },
  })
  expect(done.summary).toBe('2 search results: 1 new leads, 1 known already')
  expect(done.log).toContain('R1: Firm 1 — Firm 1 plans routes. Others do not. Firm 1 is …\n')
  expect(done.log).toMatch(/\| Firm 1 \| Firm 1 \| .*firm1/)
  expect(done.log).not.toContain('No result names')
  expect(done.log).not.toContain('Not searched')
  expect(done.log).not.toContain('asks a person')
  const [, leads = '[]'] = /"leads": (\[[^\]]*\])/.exec(done.log) ?? []
  expect(JSON.parse(leads)).toHaveLength(2)
  expect(JSON.parse(leads)).toContain('44444444-2222-4333-8444-555555555555')
})

test('the evidence of a lead is each whole sentence that names it, or else the title', async () => {
  const { facts } = await searched(
    [{ results: [result(1), result(2, { content: 'Of … Firm 2 grows. Firm 2 is...' }), result(3, { content: '' })] }],
    { companies: about(1, 2, 3) },
  ) // biome-ignore format: one line
  expect(facts).toMatchObject([
    { fact: 'Firm 1 plans routes.', source: 'https://firm1.example/' },
    { fact: 'Of … Firm 2 grows.' },
    { fact: 'Firm 3', quote: 'Firm 3' },
  ])
})

test('a query that failed is told with its reason', async () => {
  const refused = { en: 'Too slow.', tr: 'Çok yavaş.' }
  const done = await searched([{ refused }, { refused }, { results: [] }], {})
  expect(done.summary).toBe(
    '0 search results: 0 new leads, 0 known already. query 0: Too slow. query 1: Too slow.',
  )
  expect(done.log).toContain('## Not searched')
  expect(done.log).toContain('No result names a company')
  expect(done.log).not.toContain('## Results')
  expect(done.log).not.toContain('asks the model for companies')
})

test.each([
  [20, false],
  [21, true],
])('of %i results the model is shown twenty', async (count, isLeftOut) => {
  const results = Array.from({ length: count }, (_, n) => result(n + 1))
  const { log, summary } = await searched([{ results }], { companies: about(20) })
  expect(summary).toContain(`${count} search results: 1 new`)
  expect(log).toContain('R20: ')
  expect(log).not.toContain('R21: ')
  expect(log.includes('leaves out: ')).toBe(isLeftOut)
})

test('a person is asked before words go out, where the settings say so, and each query once', async () => {
  const queries = ['haulage', 'haulage', '   ']
  const { log } = await searched([{ results: [] }], { web: 'ask', queries })
  expect(log).toContain('asks a person at searching the web')
  expect(log).toContain('"text":"haulage"')
  expect(log).toContain('127.0.0.1:8888')
})
