import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createPool, inTransaction, UNPREPARED } from '../../../functions/db.ts'
import { tryPreparedStatements } from '../../../functions/postgres/pooler.ts'
import { createTestJobs, quake } from '../../support/jobs.ts'
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.ts'
import { startStandInPooler } from '../../support/servers/pooler.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

let service: Service
let person: Person
const problems: string[] = []
beforeAll(async () => {
  service = await createService({
    // One connection, so that a test can lose its statements.
    connect: ({ apiUrl }) => (db = createPool({ url: apiUrl, max: 1, on_error })),
  })
  person = await service.person()
})
afterAll(() => service.close())

let db: ReturnType<typeof createPool>
const on_error = ({ message }: Error) => problems.push(message)

type Statement = { name: string; statement: string }

async function onOnly<T>(text: string): Promise<T[]> {
  const connection = await db.connect()
  const { rows } = await connection.query(text)
  connection.release()
  return rows
}

describe('the name of a prepared statement', () => {
  test('is the same in every process, whatever was prepared first', async () => {
    const seen: Map<string, string>[] = []
    for (const texts of [
      ['select $1::int', 'select $1::text'],
      ['select $1::text', 'select $1::int'],
    ]) {
      vi.resetModules()
      const another = await import('../../../functions/db.ts')
      const pool = another.createPool({ url: service.database.apiUrl, max: 1 })
      const connection = await pool.connect()
      for (const text of texts) await connection.query(text, [1])
      const { rows } = await connection.query('select name, statement from pg_prepared_statements')
      // safe: the columns of that query
      seen.push(new Map((rows as Statement[]).map(({ name, statement }) => [name, statement])))
      connection.release()
      await pool.end()
    }
    expect(seen[0]?.size).toBe(2)
    expect(Object.fromEntries(seen[0] ?? [])).toEqual(Object.fromEntries(seen[1] ?? []))
  })
})

test('a pool that has ended has no connection left that a stopping server would complain to', async () => {
  const application_name = 'ended'
  const pool = createPool({ url: service.database.apiUrl, max: 4, application_name })
  const connections = await Promise.all(Array.from({ length: 4 }, () => pool.connect()))
  const left = () =>
    service.database.query('select from pg_stat_activity where application_name = $1', [
      application_name,
    ])
  expect(await left()).toHaveLength(4)
  for (const connection of connections) connection.release()
  await pool.end()
  expect(await left()).toHaveLength(0)
})

/** A request twice, so that all its statements are prepared; then `lose`, and the request that meets it. */
describe('a request whose prepared statements were lost', () => {
  // Once they were lost at a URL, they are used there no more: each test needs its own.
  async function withOwnService(
    run: (own: { ask: Service['request']; key: string }) => Promise<void>,
  ) {
    problems.length = 0
    const own = await createService({
      limits: { pro: 20 },
      connect: ({ apiUrl }) => (db = createPool({ url: apiUrl, max: 1, on_error })),
    })
    const { key } = await own.person()
    try {
      await run({ ask: own.request, key })
    } finally {
      await own.close()
    }
  }
  const Made = z.object({ channel: z.object({ id: z.string() }) })
  const zone = (label: string) => ({ label, lat: 10, lon: 10 })
  const hook = (name: string) => ({ kind: 'webhook', target: `https://${name}.example.com/in` })

  test('is answered, and it is said once', () =>
    withOwnService(async ({ ask, key }) => {
      await ask('GET', '/api/v1/zones', { key })
      await onOnly('deallocate all')
      for (let round = 0; round < 3; round += 1) {
        expect((await ask('GET', '/api/v1/zones', { key })).status).toBe(200)
      }
      expect(problems).toEqual([UNPREPARED])
      // What the transaction prepared before it failed remains; nothing more is prepared.
      expect(await onOnly<Statement>('select name from pg_prepared_statements')).toEqual([])
    }))

  test('writes once, and counts once for the budget', () =>
    withOwnService(async ({ ask, key }) => {
      const first = await ask('POST', '/api/v1/zones', { key, body: zone('First') })
      expect(first.status).toBe(201)
      await onOnly('deallocate all')
      const met = await ask('POST', '/api/v1/zones', { key, body: zone('Second') })
      expect(met.status, met.text).toBe(201)
      const listed = await ask('GET', '/api/v1/zones', { key })
      expect(listed.body).toMatchObject({ zones: [{ label: 'Second' }, { label: 'First' }] })
      const left = (answer: typeof met) =>
        Number(answer.headers.get('ratelimit')?.match(/r=(\d+)/)?.[1])
      expect(left(first) - left(met)).toBe(1)
    }))

  test('that had only its check lost is not done again when it was committed', () =>
    withOwnService(async ({ ask, key }) => {
      const made: string[] = []
      for (const name of ['one', 'two']) {
        const answer = await ask('POST', '/api/v1/channels', { key, body: hook(name) })
        made.push(parsed(answer, 201, Made).channel.id)
      }
      expect((await ask('DELETE', `/api/v1/channels/${made[0]}`, { key })).status).toBe(204)
      const [check] = await onOnly<Statement>(
        `select name from pg_prepared_statements where statement like '%private.check_key%'`,
      )
      await onOnly(`deallocate "${check?.name}"`)
      const met = await ask('DELETE', `/api/v1/channels/${made[1]}`, { key })
      // Done a second time, it would not find the channel.
      expect(met.status, met.text).toBe(204)
      expect(met.headers.get('ratelimit')).toMatch(/r=\d+/)
      expect((await ask('GET', '/api/v1/channels', { key })).body).toMatchObject({ channels: [] })
      expect(problems).toEqual([UNPREPARED])
    }))

  test('is answered when the name is taken, too', () =>
    withOwnService(async ({ ask, key }) => {
      await ask('GET', '/api/v1/zones', { key })
      const names = await onOnly<Statement>('select name from pg_prepared_statements')
      // As a pooler shows it to the client of another process: a new session that knows them all.
      const connection = await db.connect()
      connection.release(true)
      await onOnly(names.map(({ name }) => `prepare "${name}" as select 1`).join(';'))
      expect((await ask('GET', '/api/v1/zones', { key })).status).toBe(200)
      expect(problems).toEqual([UNPREPARED])
    }))
})

describe('a transaction of a job whose prepared statements were lost', () => {
  test('is done once', async () => {
    const pool = createPool({ url: service.database.jobsUrl, max: 1 })
    let runs = 0
    const add = () =>
      inTransaction(pool, async (sql) => {
        runs += 1
        await sql`insert into watchpost.sources (source, title, attribution, types, interval_seconds)
          values (${`s${runs}`}, 'Title', 'Nobody', '{other}', 60)`
      })
    await add()
    const connection = await pool.connect()
    await connection.query('deallocate all')
    connection.release()
    await add()
    await pool.end()
    expect(runs).toBe(3)
    expect(
      await service.database.query(
        `select source from watchpost.sources where source like 's_' order by 1`,
      ),
    ).toEqual([{ source: 's1' }, { source: 's3' }])
  })
})

describe('behind a transaction pooler', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())

  test.each([
    { size: 1, first: 'newest', what: 'the name is taken' },
    { size: 2, first: 'oldest', what: 'the name is unknown' },
  ] as const)('the trial notices when $what', async ({ size, first }) => {
    const pooler = await startStandInPooler([database.jobsUrl], { size, first })
    const said: string[] = []
    const pool = createPool({
      url: pooler.urlOf(database.jobsUrl),
      on_error: ({ message }) => said.push(message),
    })
    // So that there are two connections to choose from.
    const both = await Promise.all([pool.connect(), pool.connect()])
    await Promise.all(both.map((connection) => connection.query('select pg_sleep(0.1)')))
    for (const connection of both) connection.release()
    await tryPreparedStatements(pool)
    expect(said).toEqual([UNPREPARED])
    await pool.end()
    await pooler.stop()
  })

  test('the trial finds nothing without a pooler', async () => {
    const said: string[] = []
    const pool = createPool({
      url: database.jobsUrl,
      on_error: ({ message }) => said.push(message),
    })
    await tryPreparedStatements(pool)
    await tryPreparedStatements(pool)
    expect(said).toEqual([])
    await pool.end()
  })

  test('an event goes through the jobs to a receiver, once', async () => {
    const { jobsUrl } = service.database
    const pooler = await startStandInPooler([jobsUrl], { size: 3, first: 'oldest' })
    const pool = createPool({ url: pooler.urlOf(jobsUrl), prepared: true, max: 6 })
    const jobs = await createTestJobs(service, { db: pool })
    for (const [path, body] of [
      ['/zones', { label: 'Here', lat: 10, lon: 10 }],
      ['/channels', { kind: 'webhook', target: 'https://hooks.example.com/in' }],
    ] as const) {
      const { key } = person
      parsed(await service.request('POST', `/api/v1${path}`, { key, body }), 201, z.unknown())
    }
    service.receiver.requests.length = 0
    await jobs.ingest(quake({ lat: 10, lon: 10 }))
    await jobs.drain()
    expect(service.receiver.requests).toHaveLength(1)
    await jobs.close()
    await pooler.stop()
  })
})
