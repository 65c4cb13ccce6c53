import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { AgentSettings } from '../../../hub/agents/settings.ts'
import { createMissions, type Missions } from '../../../hub/missions/missions.ts'
import type { Page, Reading } from '../../../hub/reader/web-reader.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { compose, makeProject, reach, type ShownMission } from '../support/mission-help.ts'
import { type StubModel, startStubModel, useStub } from '../support/stub-model.ts'

let hub: TestHub
let stub: StubModel
let missions: Missions
/** The web: what each address answers. */
let web: Record<string, Partial<Page> | { refused: { en: string; tr: string } }> = {}
let read: string[] = []
let may: AgentSettings['web'] = 'allow'
let isThere = true

beforeAll(async () => {
  stub = await startStubModel()
  hub = await startHub()
  await makeProject(hub)
  await useStub(hub, stub)
  const { config, db, log, model, actions } = hub.deps
  const allowed = async () => ({ engineer_system: false, improve: 'never' as const, web: may })
  missions = createMissions({
    config,
    db,
    log,
    model,
    actions: { ...actions, allowed },
    reader: {
      isThere: async () => isThere,
      read: async (url): Promise<Reading> => {
        read.push(url)
        const found = web[url] ?? { refused: { en: 'Nobody is there.', tr: 'Orada kimse yok.' } }
        if ('refused' in found) return found
        return { page: { url, title: 'Untitled', text: '', links: [], ...found } }
      },
    },
    sweep_ms: 50,
  })
  await missions.start()
})
afterAll(async () => {
  await missions.stop()
  await hub.close()
  await stub.close()
})
beforeEach(() => {
  web = {}
  read = []
  may = 'allow'
  isThere = true
  stub.script(() => ({ facts: [] }))
})

const research = async (task: string, input?: Record<string, unknown>): Promise<ShownMission> =>
  reach(hub, await compose(hub, 'web_research', task, input))
const textOf = (mission: ShownMission, at = 0) =>
  readFile(
    join(hub.paths.data_dir, 'projects/rota', mission.result?.documents[at]?.path ?? ''),
    'utf8',
  )
const addLead = async (data: object): Promise<string> =>
  (await (await hub.call('POST', 'lead/quick_add', { slug: 'rota', data })).json()).lead.id

const TEXT = 'Kaya Lojistik runs 40 refrigerated trucks from Bursa, with 60 drivers.'
const factsOf = (...facts: [fact: string, quote: string][]) => ({
  facts: facts.map(([fact, quote]) => ({ fact, quote })),
})

test('facts whose words stand on the page become evidence with its address, others do not', async () => {
  const lead_id = await addLead({ company: 'Kaya Lojistik', website: 'https://kaya.example' })
  web['https://kaya.example'] = { url: 'https://www.kaya.example/', title: 'Kaya', text: TEXT }
  stub.script(() =>
    factsOf(
      ['It has a fleet of 40 trucks', 'runs 40  Refrigerated trucks'],
      ['It has 900 trucks', 'runs 900 refrigerated trucks'],
    ),
  )
  const mission = await research('Read their site', { lead_ids: [lead_id] })
  expect(mission).toMatchObject({
    status: 'done',
    result: { summary: 'Facts found: 1; pages read: 1', leads: [lead_id] },
  })
  const found = await hub.query(
    'select fact, quote, source, mission_id from hub.evidence where lead_id = $1',
    [lead_id],
  )
  expect(found).toEqual([
    {
      fact: 'It has a fleet of 40 trucks',
      quote: 'runs 40 Refrigerated trucks',
      source: 'https://www.kaya.example/',
      mission_id: mission.id,
    },
  ])
  expect(mission.result?.documents[0]?.title).toBe('Profile: Kaya Lojistik')
  const text = await textOf(mission)
  expect(text).toContain('| Fact | As it stands there | Page |')
  expect(text).toMatch(/\| It has a fleet of 40 trucks \| .*Refrigerated trucks \| https/)
  expect(text).toMatch(/## Pages\n\nhttps:\/\/www\.kaya\.example\/: Kaya\n/)
  expect(text).not.toContain('900')
  const [asked] = stub.asked
  expect(asked?.task).toContain(TEXT)
})

test('the site’s own pages about the company are read after the first, three at most', async () => {
  const link = (url: string, text = '') => ({ url, text })
  web['https://links.example/'] = {
    text: TEXT,
    links: [
      link('https://links.example/blog'),
      link('https://links.example/#about'),
      link('https://elsewhere.example/about'),
      link('not an address', 'About us'),
      link('https://links.example/who#team', 'The team'),
      link('https://links.example/who', 'Contact'),
      link('https://links.example/hakkimizda'),
      link('https://links.example/x', 'İletişim'),
      link('https://links.example/products'),
    ],
  }
  for (const path of ['who', 'hakkimizda', 'x']) {
    const links = [link('https://links.example/about-deep')]
    web[`https://links.example/${path}`] = { title: path, text: TEXT, links }
  }
  await research('Read https://links.example/')
  expect(read).toEqual([
    'https://links.example/',
    'https://links.example/who',
    'https://links.example/hakkimizda',
    'https://links.example/x',
  ])
  expect(stub.asked.map(({ name }) => name)).toEqual([
    'facts_1_1',
    'facts_1_2',
    'facts_1_3',
    'facts_1_4',
  ])
})

test('addresses come from the leads, the input and the task: each site once, three at most', async () => {
  const lead_ids = [await addLead({ company: 'Lead', website: 'https://lead.example/a' })]
  const urls = ['https://input.example/b', 'http://lead.example/again']
  const task = 'Read www.task.example, (HTTPS://INPUT.example/other) and https://fourth.example!'
  const mission = await research(task, { lead_ids, urls })
  expect(read).toEqual([
    'https://lead.example/a',
    'https://input.example/b',
    'https://www.task.example',
  ])
  expect(mission.result?.documents.map(({ title }) => title)).toEqual([
    'Profile: Lead',
    'Profile: input.example',
    'Profile: task.example',
  ])
  expect(mission.result?.leads).toEqual(lead_ids)
  read = []
  await research('See https://dots.example/path...!? and https://second.example.')
  expect(read).toEqual(['https://dots.example/path', 'https://second.example'])
})

test('a site that answers nothing leaves its reason in the document, and no model is asked', async () => {
  web['https://short.example'] = { title: 'Short', text: 'x'.repeat(39) }
  const mission = await research('Read https://away.example and https://short.example')
  expect(mission).toMatchObject({
    status: 'done',
    result: { summary: 'Facts found: 0; pages read: 2', leads: [] },
  })
  expect(stub.asked).toEqual([])
  const text = await textOf(mission)
  expect(text).toContain('Nothing was found that could be quoted.')
  expect(text).toContain('https://away.example: Nobody is there.')
  expect(await textOf(mission, 1)).toContain('https://short.example: Short')

  const inTurkish = await research('Şu siteyi oku ve bir profil çıkar: https://away.example')
  expect(inTurkish.result?.summary).toBe('1 sayfadan 0 bilgi')
  expect(await textOf(inTurkish)).toContain('https://away.example: Orada kimse yok.')

  web['https://enough.example'] = { text: 'x'.repeat(40) }
  await research('Read https://enough.example')
  expect(stub.asked).toHaveLength(1)
})

test('without a site, a permission or a browser it ends with the way out', async () => {
  expect(await research('Find out more')).toMatchObject({
    status: 'failed',
    reason: expect.stringMatching(/address|website/i),
  })
  may = 'deny'
  expect(await research('Read https://kaya.example')).toMatchObject({
    status: 'failed',
    reason: expect.stringMatching(/Settings/),
  })
  expect(read).toEqual([])
})

test('without a browser it reads all the same, and says what may be missing', async () => {
  isThere = false
  web['https://kaya.example'] = { text: TEXT }
  const mission = await research('Read https://kaya.example')
  expect(mission).toMatchObject({
    status: 'done',
    left_out: [expect.stringContaining('without a browser')],
  })
})

test('a page is evidence about the leads of its domain, and about nobody else', async () => {
  stub.script(() => factsOf(['It has 40 trucks', 'runs 40 refrigerated trucks']))
  const about = async (mission: ShownMission) =>
    hub.query<{ lead_id: string | null }>(
      'select lead_id from hub.evidence where mission_id = $1 order by lead_id',
      [mission.id],
    )
  const site = 'https://shop.bound.example/'
  web[site] = { text: TEXT }
  // A fact about nobody would be one about ourselves, which every mail may state.
  const nobody = await research(`Read ${site}`)
  expect(await about(nobody)).toEqual([])
  expect(nobody.result?.leads).toEqual([])
  expect(await textOf(nobody)).toContain('no lead has this domain')

  const ids = [
    await addLead({ name: 'A', email: 'a@bound.example' }),
    await addLead({ name: 'B', website: 'https://www.bound.example' }),
  ].sort()
  await addLead({ name: 'C', email: 'c@notbound.example' })
  const found = await research(`Read ${site}`)
  expect(await about(found)).toEqual(ids.map((lead_id) => ({ lead_id })))
  expect([...(found.result?.leads ?? [])].sort()).toEqual(ids)

  // A lead whose site sends its readers elsewhere.
  const moved = await addLead({ company: 'Moved', website: 'https://moved.example' })
  web['https://moved.example'] = { url: site, text: TEXT }
  expect(await about(await research('Read their site', { lead_ids: [moved] }))).toEqual([])

  // The site of a lead without one is that of its e-mail, unless that is a mail provider's.
  read = []
  const mailed = await addLead({ name: 'D', email: 'd@mailed.example' })
  await research('Look at their site', { lead_ids: [mailed] })
  expect(read).toEqual(['https://mailed.example'])
  const free = await addLead({ name: 'E', email: 'e.of.kaya@gmail.com' })
  expect((await research('Look at their site', { lead_ids: [free] })).status).toBe('failed')
})
