import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createPool } from '../../../functions/db.ts'
import { prepareRoute } from '../../support/attacks/prepare-route.ts'
import {
  createOwnedThings,
  type OwnedThings,
  pathOf,
  ROUTES,
} from '../../support/attacks/refusals.ts'
import { createTestJobs, quake } from '../../support/jobs.ts'
import { createTestDatabase } from '../../support/servers/database.ts'
import { type Pooler, startPgbouncer } from '../../support/servers/pgbouncer.ts'
import { startStandInPooler } from '../../support/servers/pooler.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const CONNECTIONS = 6

/** The ways of reaching Postgres; `prepared` as the setting PREPARED_STATEMENTS. */
const WAYS = [
  { way: 'directly, with prepared statements', prepared: true, pooled: false },
  { way: 'directly, without prepared statements', prepared: false, pooled: false },
  { way: 'through pgbouncer, one connection for all', prepared: false, pooled: true },
  {
    way: 'through pgbouncer, with prepared statements that it loses',
    prepared: true,
    pooled: true,
  },
]

describe.each(WAYS)('$way', ({ prepared, pooled }) => {
  let service: Service
  let pooler: Pooler | undefined
  let people: [Person, Person]
  let things: OwnedThings

  beforeAll(async () => {
    service = await createService({
      connect: async ({ apiUrl, jobsUrl }) => {
        if (pooled) pooler = await startPgbouncer([apiUrl, jobsUrl])
        return createPool({ url: pooler?.urlOf(apiUrl) ?? apiUrl, prepared, max: CONNECTIONS })
      },
    })
    people = [await service.person(), await service.person()]
    things = await createOwnedThings(service, people[0])
    for (const { key, user_id } of people) {
      const body = { label: user_id, lat: 33.9, lon: -117.5, radius_km: 300 }
      parsed(await service.request('POST', '/api/v1/zones', { key, body }), 201, z.unknown())
    }
  }, 120_000)
  afterAll(async () => {
    await service?.close()
    await pooler?.stop()
  })

  const backends = `from pg_stat_activity where usename = 'watchpost_api' and datname = current_database()`

  /** Asks as one of the two; answers the status, or throws when it is told of anybody else. */
  async function ask(index: number): Promise<number> {
    const [me, other] = index % 2 === 0 ? people : ([people[1], people[0]] as const)
    const path = ['/me', '/zones', '/events', '/analytics'][(index % 8) >> 1]
    const answer = await service.request('GET', `/api/v1${path}`, { key: me.key })
    if (answer.text.includes(other.user_id)) throw new Error(`told of another: ${answer.text}`)
    const knows = path === '/me' || path === '/zones'
    if (answer.status === 200 && knows && !answer.text.includes(me.user_id)) {
      throw new Error(`not told of itself: ${answer.text}`)
    }
    return answer.status
  }

  test('two hundred interleaved requests of two accounts are each answered as who asked', async () => {
    const statuses = await Promise.all(Array.from({ length: 200 }, (_, index) => ask(index)))
    expect(new Set(statuses)).toEqual(new Set([200]))
    const [row] = await service.database.query<{ count: string }>(`select count(*) ${backends}`)
    expect(Number(row?.count)).toBe(pooled ? 1 : CONNECTIONS)
  })

  test.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s succeeds',
    async (_, route) => {
      const [person] = people
      // Reading leaves the things of the route before as they are.
      const { ids } = route.method === 'GET' ? things : await createOwnedThings(service, person)
      await prepareRoute(service, route, ids)
      const { key } = person
      const headers = { 'Idempotency-Key': route.path }
      const answer = await service.request(route.method, pathOf(route, ids), {
        key,
        headers,
        ...(route.body ? { body: route.body } : {}),
      })
      expect(answer.status, answer.text).toBeLessThan(300)
    },
  )

  test('an event goes through the jobs to a receiver', async () => {
    const { jobsUrl } = service.database
    const db = createPool({ url: pooler?.urlOf(jobsUrl) ?? jobsUrl, prepared, max: CONNECTIONS })
    const jobs = await createTestJobs(service, { db })
    const { key } = await service.person()
    for (const [path, body] of [
      ['/zones', { label: 'Here', lat: 10, lon: 10 }],
      ['/channels', { kind: 'webhook', target: 'https://hooks.example.com/in' }],
    ] as const) {
      parsed(await service.request('POST', `/api/v1${path}`, { key, body }), 201, z.unknown())
    }
    await jobs.ingest(quake({ lat: 10, lon: 10 }))
    await jobs.drain()
    await jobs.close()
    const { body } = await service.request('GET', '/api/v1/alerts', { key })
    expect(body).toMatchObject({ alerts: [{ status: 'dispatched' }] })
  })

  test('who is killed within a transaction gets 503, and nobody another identity', async () => {
    const lock = await service.transaction()
    await lock.query('lock table watchpost.zones in access exclusive mode', [])
    const asked = Array.from({ length: CONNECTIONS }, (_, index) => ask(index + 2))
    const waiting = `${backends} and wait_event_type = 'Lock'`
    await expect
      .poll(() => service.database.query(`select pid ${waiting}`), { interval: 5 })
      .not.toEqual([])
    const killed = await service.database.query(`select pg_terminate_backend(pid) ${waiting}`)
    await lock.commit()
    const statuses = await Promise.all(asked)
    expect(statuses.filter((status) => status === 503)).toHaveLength(killed.length)
    expect(statuses.filter((status) => status !== 503 && status !== 200)).toEqual([])
  })

  test('while connections are killed under load, each answer is one’s own or 503', async () => {
    const statuses: number[] = []
    for (let round = 0; round < 10; round += 1) {
      const asked = Array.from({ length: 20 }, (_, index) => ask(index))
      // In the midst of them: after the first answer, before the last.
      await Promise.race(asked)
      await service.database.query(`select pg_terminate_backend(pid) ${backends}`)
      statuses.push(...(await Promise.all(asked)))
    }
    expect(new Set(statuses.filter((status) => status !== 503))).toEqual(new Set([200]))
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0)
    await expect
      .poll(() => Promise.all(Array.from({ length: 8 }, (_, index) => ask(index))))
      .toEqual(Array(8).fill(200))
  })
})

test('the stand-in for a pooler has all its places again after its database was away', async () => {
  const gone = await createTestDatabase()
  const pooler = await startStandInPooler([gone.apiUrl], { size: 2 })
  const pool = createPool({ url: pooler.urlOf(gone.apiUrl), max: 4, prepared: false })
  const answer = async () => {
    const connection = await pool.connect()
    try {
      const { rows } = await connection.query('select 1 as one', [])
      connection.release()
      return rows
    } catch (error) {
      connection.release(true)
      throw error
    }
  }
  await gone.drop()
  for (let round = 0; round < 4; round += 1) await expect(answer()).rejects.toThrow()
  const back = await createTestDatabase(gone.name)
  try {
    expect(await answer()).toEqual([{ one: 1 }])
  } finally {
    await pool.end()
    await pooler.stop()
    await back.drop()
  }
})
