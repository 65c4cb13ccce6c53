import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Database, inTransaction } from '../../../../functions/db.ts'
import { type Ahead, lookAhead, takeSome } from '../../../../functions/jobs/match-ahead.ts'
import { decideSlices, type Slice, takeStep } from '../../../../functions/jobs/match-slices.ts'
import { createZoneMirror } from '../../../../functions/jobs/zone-mirror.ts'
import type { Sql } from '../../../../shared/sql.ts'
import { createTestJobs, quake, registerSource, type TestJobs } from '../../../support/jobs.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

let service: Service
/** Each zone in a transaction of its own, after the first one two at once, and three pairs read ahead. */
const portions = { at_once: 1, later: 2, ahead: 3, abreast: 2 }
let jobs: TestJobs
let person: Person
beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service, { portions })
  person = await service.person()
  await registerSource(service, 'ais')
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

const ask = (method: string, path: string, body?: object) =>
  service.request(method, `/api/v1${path}`, { key: person.key, body })
const query = <T extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
  service.database.query<T>(text, values)
const Made = z.object({ zone: z.object({ id: z.uuid() }) })

/** The ids of new zones, sorted as they are matched. */
async function makeZones(count: number, fields: object, key = person.key): Promise<string[]> {
  const ids: string[] = []
  for (let nr = 0; nr < count; nr += 1) {
    const body = { label: `Zone ${nr}`, ...fields }
    const made = await service.request('POST', '/api/v1/zones', { key, body })
    ids.push(parsed(made, 201, Made).zone.id)
  }
  return ids.sort()
}

const alertsOf = (event_id: string) =>
  query<{ zone_id: string; count: number; updates: unknown[] }>(
    `select zone_id, count(*)::int as count, jsonb_path_query_array(jsonb_agg(updates), '$[*][*].kind') as updates
    from watchpost.alerts where event_id = $1 group by zone_id order by zone_id`,
    [event_id],
  )
const linesFrom = (from: number) => jobs.lines.slice(from).filter(({ queue }) => queue === 'match')

test('the zones of a batch are taken by their ids, each with all its events', () => {
  const event = { ...quake(), revision: 1, first_seen_at: '', known_since: '', flag: null }
  const of = (id: string, zone_ids: string[]) => ({
    ...event,
    ...{ id, magnitude: null, depth_km: null, zone_ids },
  })
  const candidates = [of('one', ['a', 'b', 'c']), of('two', ['b'])]
  const pairs: Ahead['pairs'] = [
    ['a', 1],
    ['b', 2],
    ['c', 1],
  ]
  const ahead: Ahead = { ids: ['x'], after: null, candidates, pairs, cut_at: null }
  const told = ({ candidates, ...some }: ReturnType<typeof takeSome>) => ({
    last: some.last,
    left: some.rest?.pairs.map(([id]) => id) ?? null,
    pairs: candidates.map(({ id, zone_ids }) => [id, ...zone_ids]),
  })
  expect(told(takeSome(ahead, { at_once: 2, ahead: 9 }))).toEqual({
    last: 'b',
    left: ['c'],
    pairs: [
      ['one', 'a', 'b'],
      ['two', 'b'],
    ],
  })
  const end = { ...ahead, after: 'b', pairs: pairs.slice(2) }
  expect(told(takeSome(end, { at_once: 2, ahead: 9 }))).toEqual({
    last: null,
    left: null,
    pairs: [['one', 'c']],
  })
  expect(takeSome({ ...end, cut_at: 'd' }, { at_once: 2, ahead: 9 }).last).toBe('d')
  // After the first ones, more at once.
  const begun = { ...ahead, after: '0' }
  expect(takeSome(begun, { at_once: 1, later: 3, ahead: 9 }).last).toBe('b')
  expect(takeSome(ahead, { at_once: 1, later: 3, ahead: 9 }).last).toBe('a')
  expect(takeSome(ahead, { at_once: 9, ahead: 9 })).toMatchObject({ zone_ids: undefined })
  // Of what moves, more at once from the beginning on.
  const ships = { ...ahead, candidates: candidates.map((one) => ({ ...one, subject: 'mmsi:1' })) }
  expect(takeSome(ships, { at_once: 1, moving: 3, ahead: 9 }).last).toBe('b')
  expect(takeSome(ships, { at_once: 1, ahead: 9 }).last).toBe('a')
  expect(takeSome(ahead, { at_once: 1, moving: 3, ahead: 9 }).last).toBe('a')
})

test('after its first zones a burst is cut into slices, several of them a step; what moves is not', () => {
  const zones = ['a', 'b', 'c', 'd', 'e']
  const event = { ...quake(), revision: 1, first_seen_at: '', known_since: '', flag: null }
  const candidates = [{ ...event, magnitude: null, depth_km: null, zone_ids: zones }]
  const pairs = zones.map((id): [string, number] => [id, 1])
  const ahead: Ahead = { ids: ['x'], after: '0', candidates, pairs, cut_at: null }
  const told = ({ slices, last, rest }: ReturnType<typeof takeStep>) => ({
    slices: slices.map(({ zone_ids }) => zone_ids?.join('')),
    last,
    left: rest?.pairs.map(([id]) => id).join('') ?? null,
  })
  const three = { at_once: 1, later: 2, ahead: 9, abreast: 2 }
  expect(told(takeStep(ahead, three, false))).toEqual({
    ...{ slices: ['a', 'b', 'c', 'd'], last: 'd', left: 'e' },
  })
  expect(told(takeStep({ ...ahead, cut_at: 'f' }, { ...three, later: 9 }, false))).toEqual({
    ...{ slices: ['a', 'b', 'c', 'd', 'e'], last: 'f', left: null },
  })
  const one = { slices: ['ab'], last: 'b', left: 'cde' }
  expect(told(takeStep(ahead, three, true))).toEqual(one)
  expect(told(takeStep(ahead, { ...three, abreast: 1 }, false))).toEqual(one)
  expect(told(takeStep({ ...ahead, after: null }, three, false))).toMatchObject({ last: 'a' })
})

test('a slice that fails ends the others after the one that each is at, and is what failed', async () => {
  const slices = ['a', 'b', 'c', 'd'].map((id): Slice => ({ candidates: [], zone_ids: [id] }))
  const [own, beside] = [{} as Sql, {} as Sql] // safe: nothing is asked of them
  const done: string[] = []
  const work = Promise.withResolvers<void>()
  const all = decideSlices(
    { sql: own, step: (work) => work(beside), slices, abreast: 2 },
    async (sql, { zone_ids }) => {
      if (sql === beside) throw new Error(`${zone_ids} failed`)
      await work.promise
      done.push(`${zone_ids}`)
    },
  )
  setImmediate(work.resolve)
  await expect(all).rejects.toThrow('b failed')
  expect(done).toEqual(['a'])
})

/** A database of which one statement fails, once. */
function failing({ connect, end }: Database, statement: string): Database {
  let isToFail = true
  return {
    end,
    connect: async () => {
      const connection = await connect()
      return {
        ...connection,
        query: async (text, values) => {
          if (!isToFail || !text.includes(statement)) return connection.query(text, values)
          isToFail = false
          throw new Error('It failed.')
        },
      }
    },
  }
}

test('what was stored beside a step that failed is not stored again', async () => {
  const place = { lat: -21, lon: 21 }
  const zones = await makeZones(7, { ...place, max_alerts_per_hour: 20 })
  await jobs.drain()
  const event = quake(place)
  await jobs.ingest(event)
  // The first zone is passed; then the next four are decided, two of them beside the step that fails.
  const broken = await createTestJobs(service, {
    db: failing(jobs.db, 'private.pass_batches'),
    portions: { ...portions, at_once: 1, ahead: 9 },
  })
  await query(`update watchpost.batches set matched_to = $1 where matched_at is null`, [zones[0]])
  await expect(broken.drain()).rejects.toThrow('It failed.')
  const stored = await alertsOf(event.id)
  expect(stored.length).toBeGreaterThan(0)
  expect(stored.length).toBeLessThan(4)
  await query(`update pgboss.job set start_after = now() where name = 'match' and state = 'retry'`)
  await jobs.drain()
  const once = zones.slice(1).map((zone_id) => ({ zone_id, count: 1, updates: [] }))
  expect(await alertsOf(event.id)).toEqual(once)
  const sent = await query<{ count: number }>(
    `select jsonb_array_length(memory -> 'sent') as count from watchpost.match_memory
    where key = 'burst' and zone_id = any($1)`,
    [zones],
  )
  expect(sent.map(({ count }) => count)).toEqual(once.map(() => 1))
})

test('an event inside many zones raises one alert in each, some zones at a time, and so does its news', async () => {
  const place = { lat: 21, lon: 21 }
  const zones = await makeZones(7, place)
  await jobs.drain()
  const events = [quake({ ...place, severity: 50 }), quake({ ...place, severity: 50 })]
  const from = jobs.lines.length
  await jobs.ingest(...events)
  await jobs.drain()
  const once = zones.map((zone_id) => ({ zone_id, count: 1, updates: [] }))
  for (const { id } of events) expect(await alertsOf(id)).toEqual(once)
  expect(linesFrom(from)).toMatchObject([{ batches: 1, revisions: 2, pairs: 14, alerts: 14 }])
  await jobs.ingest(...events.map((event) => ({ ...event, severity: 90 })))
  await jobs.drain()
  const escalated = once.map((alert) => ({ ...alert, updates: ['escalated'] }))
  for (const { id } of events) expect(await alertsOf(id)).toEqual(escalated)
  expect(await query('select from watchpost.batches where matched_at is null')).toEqual([])
})

/** Leaves a batch as a process does that dies between two zones: done up to a zone, and nobody at work. */
async function stopAfter(zone_id: string): Promise<void> {
  await query(`update watchpost.batches set matched_to = $1 where matched_at is null`, [zone_id])
}

test('whoever goes on with a batch begins after the last zone that is done', async () => {
  const place = { lat: 31, lon: 31 }
  const zones = await makeZones(4, place)
  await jobs.drain()
  const [event, next] = [quake(place), quake(place)]
  await jobs.ingest(event)
  await stopAfter(zones[1] ?? '')
  await jobs.ingest(next)
  const [row] = await query<{ count: number }>(
    `select cardinality(private.next_batches('test')) as count`,
  )
  expect(row?.count).toBe(1)
  await jobs.drain()
  expect((await alertsOf(event.id)).map(({ zone_id }) => zone_id)).toEqual(zones.slice(2))
  expect((await alertsOf(next.id)).map(({ zone_id }) => zone_id)).toEqual(zones)
})

test('explain says of a zone that was passed what was decided, and of one that was not what would be', async () => {
  const place = { lat: 41, lon: 41 }
  const zones = await makeZones(2, place)
  await jobs.drain()
  const event = quake({ ...place, severity: 10 })
  await jobs.ingest(event)
  await stopAfter(zones[0] ?? '')
  const Explained = z.object({ live: z.boolean() })
  const isLive = async (id: string | undefined) =>
    parsed(await ask('GET', `/zones/${id}/explain?event_id=${event.id}`), 200, Explained).live
  expect([await isLive(zones[0]), await isLive(zones[1])]).toEqual([false, true])
  await jobs.drain()
  expect(await isLive(zones[1])).toBe(false)
})

test('a zone that a batch has passed over, because it was not committed yet, hears of its events all the same', async () => {
  const place = { lat: 51, lon: 51 }
  const [zone_id] = await makeZones(1, place)
  const event = quake(place)
  await jobs.ingest(event)
  await stopAfter('ffffffff-ffff-ffff-ffff-ffffffffffff')
  await query(`delete from pgboss.job where name = 'match'`)
  await jobs.drain()
  expect(await alertsOf(event.id)).toEqual([{ zone_id, count: 1, updates: [] }])
  await inTransaction(
    jobs.db,
    (sql) => sql`select private.enqueue('match', gen_random_uuid(), '{"source": "test"}'::jsonb)`,
  )
  await jobs.drain()
  expect(await alertsOf(event.id)).toEqual([{ zone_id, count: 1, updates: [] }])
})

test('a position that changed a stay in one of many zones is kept', async () => {
  const ship = { type: 'vessel' as const, severity: 0, subject: 'mmsi:271000777', source: 'ais' }
  const watch = { types: ['vessel'], min_severity: 0, lat: 0 }
  // One degree of longitude is 111.19 km: the edge of the small zone is at 1 km.
  const [small = ''] = await makeZones(1, { ...watch, lon: 61, radius_km: 1 })
  // The last zone tells of nothing new, so that what the one before told has to be kept until then.
  for (let last = ''; last < small; ) {
    const [large = ''] = await makeZones(1, { ...watch, lon: 61, radius_km: 50 })
    last = large
  }
  await jobs.drain()
  const start = Date.now() - 60_000
  const at = (nr: number, metres: number) =>
    quake({
      ...ship,
      id: `ais:271000777:${nr}`,
      ts: new Date(start + nr * 5000).toISOString(),
      lat: 0,
      lon: 61 + metres / 111_195,
    })
  // Nobody would miss the second and the fourth: neither 30 s nor 100 m lie between them and the one before.
  for (const position of [at(0, 1020), at(1, 1010), at(2, 980), at(3, 970)]) {
    await jobs.ingest(position)
    await jobs.drain()
  }
  const kept = await query<{ event_id: string }>(
    `select event_id from watchpost.positions where subject = $1 order by ts`,
    [ship.subject],
  )
  expect(kept.map(({ event_id }) => event_id)).toEqual(['ais:271000777:0', 'ais:271000777:2'])
})

test('an event of an account is heard in its zone, however many zones of others come before it', async () => {
  const place = { lat: -31, lon: 31 }
  const others = await makeZones(6, place, (await service.person()).key)
  let [own = ''] = await makeZones(1, place)
  while (own < (others[3] ?? '')) [own = ''] = await makeZones(1, place)
  await jobs.drain()
  const event = {
    ...{ ...place, id: 'one', type: 'earthquake', title: 'Mine' },
    ...{ ts: new Date().toISOString(), severity: 60 },
  }
  const pushed = await ask('POST', '/events', { source: 'custom:mine', events: [event] })
  expect(pushed.status).toBeLessThan(300)
  await jobs.drain()
  const alerts = await query<{ zone_id: string }>(
    `select zone_id from watchpost.alerts where source = 'custom:mine'`,
  )
  expect(alerts.map(({ zone_id }) => zone_id)).toContain(own)
  expect(alerts.filter(({ zone_id }) => others.includes(zone_id))).toEqual([])
})

test('an event of an account is not heard by others whose zones are in memory', async () => {
  const place = { lat: -51, lon: 51 }
  const [other] = await makeZones(1, place, (await service.person()).key)
  const [own] = await makeZones(1, place)
  // All at once, so that the zones in memory are looked through.
  const wide = await createTestJobs(service)
  await wide.drain()
  const event = {
    ...{ ...place, id: 'two', type: 'earthquake', title: 'Mine' },
    ...{ ts: new Date().toISOString(), severity: 60 },
  }
  const pushed = await ask('POST', '/events', { source: 'custom:own', events: [event] })
  expect(pushed.status).toBeLessThan(300)
  await wide.drain()
  await wide.close()
  const alerts = await query<{ zone_id: string }>(
    `select zone_id from watchpost.alerts where source = 'custom:own'`,
  )
  expect(alerts.map(({ zone_id }) => zone_id)).toEqual([own])
  expect(alerts.map(({ zone_id }) => zone_id)).not.toContain(other)
})

test('with the zones in memory the same are found as in the database', async () => {
  const zones = await makeZones(2, { lat: -41, lon: -29, radius_km: 200 })
  const [severe] = await makeZones(1, { lat: -41, lon: -29, radius_km: 200, min_severity: 90 })
  const [deaf] = await makeZones(1, { lat: -41, lon: -29, radius_km: 200, types: ['storm'] })
  const [far, across] = [
    ...(await makeZones(1, { lat: -60, lon: 29, radius_km: 200 })),
    ...(await makeZones(1, { lat: 0, lon: 179.9, radius_km: 200 })),
  ]
  // What is remembered, and what was changed since an event was seen, is found wherever it is.
  await query(
    `insert into watchpost.match_memory (zone_id, key, memory) values ($1, 'test:kept', '{}'), ($1, 'mmsi:7', '{}')`,
    [far],
  )
  const here = { lat: -41, lon: -29 }
  const ship = { ...quake(), type: 'vessel' as const, subject: 'mmsi:7', severity: 0 }
  const place = { ...here, severity: 60 }
  await jobs.ingest(
    { ...quake(), ...place, id: 'test:plain' },
    { ...quake(), ...place, id: 'test:kept' },
    { ...quake(), ...place, id: 'test:weak', severity: 3 },
    { ...quake(), ...place, id: 'test:antimeridian', lat: 0, lon: -179.5 },
    { ...ship, ...here, id: 'test:ship' },
  )
  await query(`update watchpost.zones set label = 'Changed' where id = $1`, [across])
  const batches = await query<{ id: string }>(
    'select id from watchpost.batches where matched_at is null',
  )
  const ids = batches.map(({ id }) => id)
  const mirror = createZoneMirror(jobs.db)
  const portions = { at_once: 1000, ahead: 1000 }
  const found = (index: 'index' | 'none', ahead = portions.ahead, after: string | null = null) =>
    inTransaction(jobs.db, async (sql) => {
      const held = index === 'index' ? await mirror.follow(sql) : undefined
      const looked = await lookAhead(sql, { ids, after }, { ...portions, ahead }, held)
      const sorted = (
        looked.candidates as ((typeof looked.candidates)[number] & { cut_at?: unknown })[]
      ).map(({ zone_ids, cut_at: _, ...event }) => ({
        ...{ event, zone_ids: [...zone_ids].sort() },
      })) as { event: { id: string }; zone_ids: string[] }[]
      return { ...looked, candidates: sorted }
    })
  const [here_, there] = [await found('index'), await found('none')]
  expect(here_).toEqual(there)
  const of = (id: string) => here_.candidates.find(({ event }) => event.id === id)?.zone_ids
  expect(of('test:plain')).toEqual([...zones, across].sort())
  expect(of('test:kept')).toEqual([...zones, across, far].sort())
  expect(of('test:weak')).toEqual([across])
  expect(of('test:ship')).toEqual([...zones, severe, across, far].sort())
  expect(of('test:ship')).not.toContain(deaf)
  // Of many more pairs than are wanted the database names the first; after them, the others are found in both.
  const { cut_at } = await found('index', 1)
  expect(cut_at).not.toBeNull()
  for (const after of [cut_at, across ?? '', far ?? '']) {
    const [some, same] = [await found('index', 2, after), await found('none', 99, after)]
    expect(some).toEqual(same)
    expect(some.pairs.every(([id]) => id > (after ?? ''))).toBe(true)
  }
  // What is taken at once has no order of its zones.
  const count = here_.candidates.reduce((sum, { zone_ids }) => sum + zone_ids.length, 0)
  const inOrder = async (at_once: number) =>
    inTransaction(jobs.db, async (sql) => {
      const index = await mirror.follow(sql)
      return (await lookAhead(sql, { ids, after: null }, { at_once, ahead: 99 }, index)).pairs
        .length
    })
  expect([await inOrder(count), await inOrder(count - 1)]).toEqual([0, zones.length + 3])
  await jobs.drain()
})
