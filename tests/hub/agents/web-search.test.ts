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
