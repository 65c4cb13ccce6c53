import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { everywhere } from '../../../hub/db/db.ts'
import { verbatim } from '../../../hub/i18n/words.ts'
import {
  awaited,
  claimMission,
  dueMissions,
  type End,
  recoverMissions,
  releaseForLicense,
  releaseForModel,
  routeByModel,
  settleMission,
  waitForLicense,
} from '../../../hub/missions/queue.ts'
import type { Sql } from '../../../shared/sql.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
let project_id = ''
beforeAll(async () => {
  hub = await startLicensedHub(['demir', 'veri'])
  project_id = hub.ids.demir ?? ''
})
afterAll(() => hub.close())
beforeEach(() => hub.query('delete from hub.missions'))

const work = <T>(what: (sql: Sql) => Promise<T>) => everywhere(hub.deps.db, what)
const REASON = verbatim('Because.')

async function add(given: Record<string, unknown> = {}): Promise<string> {
  const row = { project_id, department: 'docs', task: 'A guide', ...given }
  const [made] = await hub.query<{ id: string }>(
    `insert into hub.missions (${Object.keys(row).join(', ')})
     values (${Object.keys(row).map((_, at) => `$${at + 1}`)}) returning id`,
    Object.values(row),
  )
  return made?.id ?? ''
}
const rowOf = async (id: string) => {
  const [row] = await hub.query(
    `select status, waits_for, reason ->> 'en' as reason, run, interruptions, tokens, progress::float8,
       result, department, finished_at is not null as is_over, started_at is not null as has_begun
     from hub.missions where id = $1`,
    [id],
  )
  return row
}
const eventsOf = async (id: string) =>
  (
    await hub.query<{ data: object }>(
      `select data from hub.mission_events where mission_id = $1 and kind = 'state' order by id`,
      [id],
    )
  ).map(({ data }) => data)

/** A mission that works, and its run. */
async function working(given: Record<string, unknown> = {}) {
  const run = randomUUID()
  return { id: await add({ status: 'processing', run, ...given }), run }
}
const settle = (of: { id: string; run: string }, end: End, tokens = 0) =>
  settleMission(hub.deps.db, { project_id, ...of, tokens }, end)

describe('a mission that is claimed', () => {
  const project = () => ({ id: project_id }) as Parameters<typeof claimMission>[1]

  test('works for one run alone, and says so', async () => {
    const [id, run] = [await add({ reason: JSON.stringify(REASON) }), randomUUID()]
    const claim = (of: string) => work((sql) => claimMission(sql, project(), { id, run: of }))
    expect(await claim(run)).toMatchObject({ id, department: 'docs', task: 'A guide' })
    expect(await claim(randomUUID())).toBeUndefined()
    expect(await rowOf(id)).toMatchObject({
      status: 'processing',
      run,
      reason: null,
      has_begun: true,
    })
    expect(await eventsOf(id)).toEqual([{ status: 'processing', department: 'docs' }])
  })

  test.each([
    { waits_for: 'model' },
    { waits_for: 'approval' },
    { status: 'done' },
    { status: 'cancelled' },
  ])('is not one with %j', async (given) => {
    const id = await add(given)
    const claimed = await work((sql) => claimMission(sql, project(), { id, run: randomUUID() }))
    expect(claimed).toBeUndefined()
    expect(await eventsOf(id)).toEqual([])
  })

  test('is of its project', async () => {
    const id = await add({ project_id: hub.ids.veri })
    const claimed = await work((sql) => claimMission(sql, project(), { id, run: randomUUID() }))
    expect(claimed).toBeUndefined()
  })
})

describe('the end of a run', () => {
  const result = { summary: 'Done.', documents: [] } as never // safe: its content is not looked at
  const QUEUED = { run: null, is_over: false, result: null, reason: 'Because.', progress: 0.5 }

  test.each<[string, End, object, object]>([
    [
      'done',
      { status: 'done', result },
      { status: 'done', run: null, result, progress: 1, is_over: true, reason: null },
      { status: 'done' },
    ],
    [
      'failed',
      { status: 'failed', reason: REASON },
      {
        status: 'failed',
        run: null,
        result: null,
        progress: 0.5,
        is_over: true,
        reason: 'Because.',
      },
      { status: 'failed' },
    ],
    [
      'queued again',
      { status: 'queued', reason: REASON },
      { ...QUEUED, status: 'queued', waits_for: null, interruptions: 0 },
      { status: 'queued', waits_for: null },
    ],
    [
      'queued for the model',
      { status: 'queued', reason: REASON, waits_for: 'model' },
      { ...QUEUED, status: 'queued', waits_for: 'model', interruptions: 0 },
      { status: 'queued', waits_for: 'model' },
    ],
    [
      'interrupted',
      { status: 'interrupted', reason: REASON },
      { ...QUEUED, status: 'queued', waits_for: 'model', interruptions: 1 },
      { status: 'queued', waits_for: 'model' },
    ],
  ])('as %s is stored and told once', async (_, end, row, event) => {
    const of = await working({ progress: 0.5, tokens: 50 })
    await settle(of, end, 70)
    await settle(of, end, 90)
    expect(await rowOf(of.id)).toMatchObject({ ...row, tokens: 70 })
    expect(await eventsOf(of.id)).toEqual([event])
  })

  test('loses no tokens that were counted before', async () => {
    for (const end of [
      { status: 'failed', reason: REASON },
      { status: 'queued', reason: REASON },
    ] as const) {
      const of = await working({ tokens: 50 })
      await settle(of, end, 20)
      expect((await rowOf(of.id))?.tokens).toBe(50)
    }
  })

  test.each<End>([
    { status: 'taken' },
    { status: 'done', result },
    { status: 'interrupted', reason: REASON },
  ])('of another run, or of one that was taken, changes nothing', async (end) => {
    const { id, run } = await working({ progress: 0.5 })
    const before = await rowOf(id)
    await settle({ id, run: end.status === 'taken' ? run : randomUUID() }, end)
    expect(await rowOf(id)).toEqual(before)
    expect(await eventsOf(id)).toEqual([])
  })

  test('with a text that was cut within an emoji is stored like any other', async () => {
    const cut = 'Fleet \u{1F69A}'.slice(0, -1)
    const [done, failed] = [await working(), await working()]
    await settle(done, { status: 'done', result: { summary: cut, documents: [] } })
    await settle(failed, { status: 'failed', reason: verbatim(cut) })
    expect(await rowOf(done.id)).toMatchObject({
      status: 'done',
      result: { summary: 'Fleet \uFFFD' },
    })
    expect(await rowOf(failed.id)).toMatchObject({ status: 'failed', reason: 'Fleet \uFFFD' })
  })

  test('after three interruptions is the last', async () => {
    const [third, last] = [await working({ interruptions: 2 }), await working({ interruptions: 3 })]
    for (const one of [third, last]) await settle(one, { status: 'interrupted', reason: REASON })
    expect(await rowOf(third.id)).toMatchObject({ status: 'queued', interruptions: 3 })
    expect(await rowOf(last.id)).toMatchObject({
      status: 'failed',
      interruptions: 4,
      waits_for: null,
      is_over: true,
    })
    expect(await eventsOf(last.id)).toMatchObject([{ status: 'failed' }])
  })

  test('after three interruptions may still wait, and is no failure', async () => {
    for (const waits_for of ['approval', 'model', null] as const) {
      const of = await working({ interruptions: 3 })
      await hub.query(
        `insert into hub.approvals (project_id, mission_id, kind, title, action, action_hash)
         values ($1, $2, 'external', '{"en": "x", "tr": "x"}', '{}', 'x')`,
        [project_id, of.id],
      )
      await settle(of, { status: 'queued', reason: REASON, ...(waits_for ? { waits_for } : {}) })
      const row = { status: 'queued', interruptions: 3, waits_for, is_over: false }
      expect(await rowOf(of.id)).toMatchObject(row)
    }
  })

  test('waits for an approval only while one is open', async () => {
    const waiting = async (status: string) => {
      const of = await working()
      await hub.query(
        `insert into hub.approvals (project_id, mission_id, kind, title, action, action_hash, status)
         values ($1, $2, 'external', '{"en": "x", "tr": "x"}', '{}', 'x', $3)`,
        [project_id, of.id, status],
      )
      await settle(of, { status: 'queued', reason: REASON, waits_for: 'approval' })
      return (await rowOf(of.id))?.waits_for
    }
    expect([await waiting('waiting'), await waiting('approved')]).toEqual(['approval', null])
  })
})

test('what worked when the hub ended is queued again, and given up after three times', async () => {
  const [first, third, last] = [
    await working(),
    await working({ interruptions: 2 }),
    await working({ interruptions: 3 }),
  ]
  const others = [await add(), await add({ status: 'done' })]
  expect(await recoverMissions(hub.deps.db)).toBe(3)
  const again = { status: 'queued', run: null, is_over: false }
  expect(await rowOf(first.id)).toMatchObject({ ...again, interruptions: 1 })
  expect(await rowOf(third.id)).toMatchObject({
    ...again,
    interruptions: 3,
    reason: expect.stringMatching(/^The hub stopped during this mission/),
  })
  expect(await rowOf(last.id)).toMatchObject({
    status: 'failed',
    run: null,
    is_over: true,
    reason: expect.stringMatching(/given up/),
  })
  expect([...(await eventsOf(first.id)), ...(await eventsOf(last.id))]).toEqual([
    { status: 'queued' },
    { status: 'failed' },
  ])
  for (const id of others) expect(await eventsOf(id)).toEqual([])
  expect(await recoverMissions(hub.deps.db)).toBe(0)
})

test('those that are due have no wait, the oldest first and scheduled ones last', async () => {
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  const scheduled = await add({ created_at: at(9), routed_by: 'schedule' })
  const [second, first] = [await add({ created_at: at(1) }), await add({ created_at: at(5) })]
  await add({ created_at: at(8), waits_for: 'model' })
  await add({ created_at: at(8), status: 'failed' })
  const due = (limit: number, except: string[] = []) =>
    work((sql) => dueMissions(sql, { limit, except }))
  expect(await due(9)).toEqual([first, second, scheduled])
  expect(await due(2)).toEqual([first, second])
  expect(await due(9, [first])).toEqual([second, scheduled])
})

test('what is waited for is released by itself, and a license releases as many projects as it allows', async () => {
  const [model, license] = [await add({ waits_for: 'model' }), await add()]
  const other = await add({ project_id: hub.ids.veri })
  await add({ waits_for: 'approval' })
  await add({ status: 'cancelled', waits_for: 'license' }).catch(() => {})
  expect(await work(awaited)).toEqual(new Set(['model']))
  for (const [id, of] of [
    [license, project_id],
    [other, hub.ids.veri ?? ''],
  ] as const) {
    const wait = () =>
      work((sql) => waitForLicense(sql, { project_id: of, mission_id: id }, REASON))
    await wait()
    expect(await eventsOf(id)).toEqual([{ status: 'queued' }])
    await wait()
    expect(await rowOf(id)).toMatchObject({ waits_for: 'license', reason: 'Because.' })
    expect(await eventsOf(id)).toEqual([{ status: 'queued' }])
  }
  expect(await work(awaited)).toEqual(new Set(['model', 'license']))
  const waits = async () =>
    Promise.all([model, license, other].map(async (id) => (await rowOf(id))?.waits_for))
  await work((sql) => releaseForLicense(sql, 1))
  expect(await waits()).toEqual(['model', null, 'license'])
  await work(releaseForModel)
  expect(await waits()).toEqual([null, null, 'license'])
  await work((sql) => releaseForLicense(sql, null))
  expect(await waits()).toEqual([null, null, null])
  expect(await rowOf(other)).toMatchObject({ reason: null })
})

test('the agent that a model chose is stored for its own run alone', async () => {
  const { id, run } = await working({ department: 'auto' })
  const choose = (of: string) => work((sql) => routeByModel(sql, { id, run: of, agent: 'sales' }))
  await choose(randomUUID())
  expect((await rowOf(id))?.department).toBe('auto')
  await choose(run)
  const [row] = await hub.query(
    `select department, routed_by, routed_because ->> 'en' as because from hub.missions where id = $1`,
    [id],
  )
  expect(row).toMatchObject({
    department: 'sales',
    routed_by: 'model',
    because: expect.stringMatching(/model chose/),
  })
})
