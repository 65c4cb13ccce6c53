import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { inTransaction } from '../../../../functions/db.ts'
import { ingestEvents } from '../../../../functions/jobs/ingest.ts'
import type { NormalisedEvent } from '../../../../shared/schemas/event.ts'
import { createTestJobs, quake, type TestJobs } from '../../../support/jobs.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

let service: Service
let jobs: TestJobs
let person: Person
beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service)
  person = await service.person()
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})
let mmsi = 230_000_000
beforeEach(() => {
  mmsi += 1
})

const START = Math.floor(Date.now() / 60_000) * 60_000 - 6 * 3_600_000
const METRE = 1 / 111_195
type Given = { second: number; metres?: number; severity?: number } & Partial<NormalisedEvent>

/** A position so many seconds after the start, and metres north of 60° N. */
function position({ second, metres = 0, severity = 0, ...over }: Given): NormalisedEvent {
  return quake({
    id: `test:${mmsi}:${second}`,
    type: 'vessel',
    title: 'AURORA',
    subject: `mmsi:${mmsi}`,
    lat: 60 + metres * METRE,
    lon: 25,
    severity,
    ts: new Date(START + second * 1000).toISOString(),
    ...over,
  })
}

const ingest = (...given: Given[]) =>
  inTransaction(jobs.db, (sql) => ingestEvents(sql, 'test', given.map(position)))

/** Stores each position by itself and matches it; returns the seconds of those that are kept. */
async function follow(...given: Given[]): Promise<number[]> {
  for (const each of given) {
    await ingest(each)
    await jobs.drain()
  }
  return kept()
}

async function kept(): Promise<number[]> {
  const rows = await service.database.query<{ second: number }>(
    `select extract(epoch from ts - to_timestamp($1))::integer as second
    from watchpost.positions where subject = $2 order by ts`,
    [START / 1000, `mmsi:${mmsi}`],
  )
  return rows.map(({ second }) => second)
}

async function flags() {
  const rows = await service.database.query<{ flag: string | null }>(
    'select flag from watchpost.positions where subject = $1 order by ts',
    [`mmsi:${mmsi}`],
  )
  return rows.map(({ flag }) => flag)
}

async function createZone(fields: object = {}): Promise<string> {
  const body = { label: 'Strait', lat: 60, lon: 25, radius_km: 1, types: ['vessel'], ...fields }
  const made = await service.request('POST', '/api/v1/zones', { key: person.key, body })
  return parsed(made, 201, z.object({ zone: z.looseObject({ id: z.string() }) })).zone.id
}

async function explain(zone: string, second: number) {
  const path = `/api/v1/zones/${zone}/explain?event_id=test:${mmsi}:${second}`
  const answer = await service.request('GET', path, { key: person.key })
  return parsed(answer, 200, z.looseObject({ raised: z.boolean(), live: z.boolean() }))
}

test('one position is kept in 30 s or 100 m', async () => {
  expect(
    await follow(
      { second: 0 },
      { second: 10, metres: 40 },
      { second: 20, metres: 99 },
      { second: 29, metres: 99 },
      { second: 30, metres: 99 },
      { second: 31, metres: 197 },
      { second: 32, metres: 200 },
      { second: 61, metres: 200 },
      { second: 62, metres: 200 },
    ),
  ).toEqual([0, 30, 32, 62])
})

test('the same is kept when positions come in one batch, in whatever order', async () => {
  await ingest({ second: 30 }, { second: 0 }, { second: 45 }, { second: 10 }, { second: 60 })
  await jobs.drain()
  expect(await kept()).toEqual([0, 30, 60])
})

test('what a batch keeps of many ships is what the same positions keep one by one', async () => {
  const ships = [1, 2, 3].map((number) => mmsi + number * 1_000_000)
  const all = Array.from({ length: 90 }, (_, index) => {
    const second = (index * 37) % 400
    const subject = `mmsi:${ships[index % 3]}`
    // Some are far off, some repeat what was said, some change their severity.
    const metres = index % 11 === 0 ? 90_000 : ((index * 53) % 7) * 30
    return { second, metres, subject, severity: index % 13 === 0 ? 50 : 0 }
  }).sort((a, b) => a.second - b.second)
  const kept = async (name: string, batches: Given[][]) => {
    for (const batch of batches) {
      const named = batch.map((given) => ({
        ...given,
        id: `test:${given.subject}:${given.second}:${name}`,
        subject: `${given.subject}${name}`,
      }))
      await ingest(...named)
    }
    return service.database.query(
      `select subject, ts, flag, severity, true as is_sample from watchpost.positions where event_id like $1
      union all
      select subject, ts, null, severity, false from watchpost.passing_positions where event_id like $1
      order by 1, 2`,
      [`test:%:${name}`],
    )
  }
  const one = await kept('1', [all])
  const many = await kept(
    '2',
    all.map((given) => [given]),
  )
  const halves = await kept('3', [all.slice(0, 45), all.slice(45)])
  const plain = (rows: typeof one) =>
    rows.map((row) => ({ ...row, subject: String(row.subject).slice(0, -1) }))
  expect(plain(one)).toHaveLength(90)
  expect(plain(many)).toEqual(plain(one))
  expect(plain(halves)).toEqual(plain(one))
})

test('a change of severity is kept, up and down', async () => {
  const seconds = await follow(
    { second: 0 },
    { second: 5, severity: 70 },
    { second: 6, severity: 70 },
    { second: 7 },
    { second: 8 },
  )
  expect(seconds).toEqual([0, 5, 7])
})

test('every position is matched, and those that begin, complete or end a stay are kept', async () => {
  const zone = await createZone({ dwell_minutes: 1 })
  const outside = 1_000 + 50
  const seconds = await follow(
    { second: 0, metres: outside },
    { second: 1, metres: 990 },
    { second: 2, metres: 985 },
    { second: 31, metres: 985 },
    { second: 60, metres: 985 },
    { second: 61, metres: 985 },
    { second: 62, metres: 985 },
    { second: 63, metres: outside },
    { second: 64, metres: 985 },
    { second: 65, metres: 985 },
    { second: 66, metres: outside },
    { second: 67, metres: outside },
    { second: 68, metres: outside },
  )
  // 1 begins, 61 completes, 63 and 66 leave, 64 returns, 67 ends; 0 and 31 are samples.
  expect(seconds).toEqual([0, 1, 31, 61, 63, 64, 66, 67])
  expect(await explain(zone, 61)).toMatchObject({ raised: true, live: false })
  expect(await explain(zone, 31)).toMatchObject({ raised: false, live: false })
  const alerts = await service.database.query<{ event_id: string }>(
    'select event_id from watchpost.alerts where zone_id = $1',
    [zone],
  )
  expect(alerts).toEqual([{ event_id: `test:${mmsi}:61` }])
})

test('a position before the latest of its subject is dropped and counted, the same one is unchanged', async () => {
  expect(await ingest({ second: 60 })).toMatchObject({ inserted: 1, dropped: 0 })
  expect(await ingest({ second: 30 }, { second: 90 })).toMatchObject({ inserted: 1, dropped: 1 })
  expect(await ingest({ second: 90 })).toMatchObject({ inserted: 0, dropped: 0, unchanged: 1 })
  // Two of the same second, such as a position and a safety text.
  const text = { second: 90, id: `test:${mmsi}:90:text` }
  expect(await ingest(text)).toMatchObject({ inserted: 1, dropped: 0 })
  // The latest is the text now, but the position is known all the same.
  expect(await ingest({ second: 90 })).toMatchObject({ inserted: 0, dropped: 0, unchanged: 1 })
  const [waiting] = await service.database.query<{ count: number }>(
    'select count(*)::integer as count from watchpost.passing_positions where subject = $1',
    [`mmsi:${mmsi}`],
  )
  expect(waiting).toEqual({ count: 1 })
  await jobs.drain()
  expect(await kept()).toEqual([60, 90])
})

test('a clock that is ahead does not make what follows late', async () => {
  const now = (Date.now() - START) / 1000
  expect(await ingest({ second: Math.floor(now) + 660 })).toMatchObject({ inserted: 0, dropped: 1 })
  expect(await ingest({ second: Math.floor(now) + 540 })).toMatchObject({ inserted: 1, dropped: 0 })
})

test.each([
  ['a vessel at 90 knots', {}, 100, 4_630, null],
  ['a vessel at 110 knots', {}, 100, 5_660, 'jump'],
  ['a kilometre within a second', {}, 1, 990, null],
  ['more than a kilometre within a second', {}, 1, 1_010, 'jump'],
  ['an aircraft at 900 knots', { type: 'aircraft' }, 100, 46_300, null],
  ['an aircraft at 1,100 knots', { type: 'aircraft' }, 100, 56_600, 'jump'],
  ['a vessel after an hour', {}, 3_600, 0, null],
  ['a vessel after more', {}, 3_601, 0, 'gap'],
  ['an aircraft after ten minutes', { type: 'aircraft' }, 600, 0, null],
  ['an aircraft after more', { type: 'aircraft' }, 601, 0, 'gap'],
] as const)('%s is flagged as it is', async (_, over, second, metres, flag) => {
  expect(await ingest({ second: 0, ...over })).toMatchObject({ flagged: 0 })
  const answer = await ingest({ second, metres, ...over })
  expect(answer).toMatchObject({ inserted: 1, flagged: flag ? 1 : 0 })
  expect(await flags()).toEqual([null, flag])
})

test('a tenant’s sightings of a subject are its own', async () => {
  const own = (second: number, owner: string | null) =>
    service.database.query<{ dropped: number }>(
      `select dropped from private.ingest_events('test', $1, true, $2)`,
      [
        JSON.stringify([
          { ...position({ second }), id: `test:${mmsi}:${second}:${owner}`, box: [25, 60, 25, 60] },
        ]),
        owner,
      ],
    )
  expect(await own(60, null)).toEqual([{ dropped: 0 }])
  expect(await own(30, person.user_id)).toEqual([{ dropped: 0 }])
  expect(await own(20, person.user_id)).toEqual([{ dropped: 1 }])
})

test('a subject that was not seen for two days is forgotten', async () => {
  await ingest({ second: -49 * 3600 })
  const count = () =>
    service.database.query('select from watchpost.subjects where subject = $1', [`mmsi:${mmsi}`])
  expect(await count()).toHaveLength(1)
  await service.database.query('select private.purge()')
  expect(await count()).toHaveLength(0)
})
