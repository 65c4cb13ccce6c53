import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareReplay } from '../../scripts/start/replay.ts'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.drop())

const PAST = {
  'firms-replay': '300 events',
  'nhc-replay': '4 events',
  'nws-replay': '103 events',
  'usgs-replay': '1707 events',
  'vessels-replay': '1728 positions',
}
const stored = (...sources: (keyof typeof PAST)[]) =>
  sources.map((source) => `Stored the past as ${source}: ${PAST[source]}`)

async function prepare() {
  const said: string[] = []
  const feeds = await prepareReplay(database.jobsUrl, (line) => said.push(line))
  return { said, feeds }
}

/** Where each source goes on, and since when it is replayed. */
async function clock() {
  const rows = await database.query<{
    source: string
    state: { position_ms: number; polled_at: string }
    created_at: Date
  }>('select source, state, created_at from watchpost.sources order by source')
  return rows.map(({ source, state, created_at }) => ({
    ...{ source, created_at, position_ms: state.position_ms },
    origin: Date.parse(state.polled_at) - state.position_ms,
  }))
}

test('a first start stores the past of each source and begins at one moment', async () => {
  const { said, feeds } = await prepare()
  expect(said).toEqual(
    stored('usgs-replay', 'nhc-replay', 'firms-replay', 'nws-replay', 'vessels-replay'),
  )
  expect(feeds.map(({ source }) => source).sort()).toEqual(Object.keys(PAST))
  const began = await clock()
  expect(began.map(({ source, position_ms }) => [source, position_ms])).toEqual(
    Object.keys(PAST).map((source) => [source, 0]),
  )
  expect(new Set(began.map(({ origin }) => origin)).size).toBe(1)
})

test('its past ends where it began, and has the revisions that would have been seen', async () => {
  const [row] = await database.query(
    `select
      bool_and(e.first_seen_at < s.created_at) as is_past,
      count(*) filter (where e.status = 'active' and e.ends_at < s.created_at)::int as overdue,
      count(*) filter (where e.source = 'nhc-replay' and e.status = 'ended')::int as storms_ended,
      (select array_agg(distinct severity order by severity) from watchpost.event_revisions
        where event_id = 'nhc-replay:al092008') as ike
    from watchpost.events e join watchpost.sources s using (source)`,
  )
  expect(row).toEqual({
    ...{ is_past: true, overdue: 0, storms_ended: 4 },
    ike: [30, 50, 60, 70, 80, 90],
  })
})

test('a folder that has only the earthquakes keeps its place, and the others join there', async () => {
  const old = { position_ms: 700_000, polled_at: '2026-01-01T00:00:00.000Z' }
  await database.query(`delete from watchpost.events where source <> 'usgs-replay'`)
  await database.query(`delete from watchpost.positions`)
  await database.query(`delete from watchpost.subjects`)
  await database.query(`delete from watchpost.batches where source <> 'usgs-replay'`)
  await database.query(`delete from watchpost.sources where source <> 'usgs-replay'`)
  await database.query(`update watchpost.sources set state = $1`, [old])
  const before = await clock()
  const { said } = await prepare()
  expect(said).toEqual(stored('nhc-replay', 'firms-replay', 'nws-replay', 'vessels-replay'))
  const after = await clock()
  expect(after.map(({ position_ms }) => position_ms)).toEqual(Array(5).fill(700_000))
  expect(after.find(({ source }) => source === 'usgs-replay')?.created_at).toEqual(
    before[0]?.created_at,
  )
  const [row] = await database.query(
    `select count(*)::int as count from watchpost.events where source = 'usgs-replay'`,
  )
  expect(row).toEqual({ count: 1707 })
})

test('a later start stores nothing again, and a source that is behind catches up', async () => {
  await database.query(
    `update watchpost.sources set state = '{"position_ms": 695000, "polled_at": "2026-01-01T00:00:00.000Z"}'
    where source = 'nhc-replay'`,
  )
  const { said, feeds } = await prepare()
  expect(said).toEqual([])
  const now = await clock()
  expect(now.map(({ source, position_ms }) => [source, position_ms])).toEqual(
    Object.keys(PAST).map((source) => [source, source === 'nhc-replay' ? 695_000 : 700_000]),
  )
  expect(new Set(now.map(({ origin }) => origin)).size).toBe(1)
  const nhc = feeds.find(({ source }) => source === 'nhc-replay')
  const [state] = await database.query<{ state: object; now: Date }>(
    `select state, now() from watchpost.sources where source = 'nhc-replay'`,
  )
  const polled = await nhc?.poll({
    ...{ state: { ...state?.state }, now: state?.now ?? new Date() },
    fetch: () => Promise.reject(new Error('a replay needs no network')),
  })
  expect(polled?.state.position_ms).toBeGreaterThanOrEqual(700_000)
})
