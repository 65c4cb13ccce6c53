/** The jobs as an edge platform runs them: by its schedule, or by HTTP for whoever has the secret. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createEdgeJobs, createJobsHandler } from '../../../functions/edge/edge-jobs.ts'
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.ts'
import { TEST_SEAL_KEY } from '../../support/service.ts'

const SECRET = 'x'.repeat(32)

describe('createJobsHandler', () => {
  const drain = vi.fn(async () => ({ ran: 3, left: true }))
  const log = vi.fn()
  const call = (authorization?: string) =>
    createJobsHandler(
      SECRET,
      drain,
      log,
    )(
      new Request('http://localhost/jobs', {
        method: 'POST',
        headers: authorization === undefined ? {} : { Authorization: authorization },
      }),
    )
  beforeEach(() => {
    drain.mockClear()
    log.mockClear()
  })

  test.each([undefined, '', 'Bearer', `Bearer ${SECRET}x`, `bearer ${SECRET}`, SECRET])(
    '%s is 401 and runs nothing',
    async (authorization) => {
      const answer = await call(authorization)
      const error = 'Send JOBS_SECRET as the bearer token.'
      expect([answer.status, await answer.json()]).toEqual([401, { error }])
      expect(drain).not.toHaveBeenCalled()
    },
  )

  test('with the secret it says what was done', async () => {
    const answer = await call(`Bearer ${SECRET}`)
    expect([answer.status, await answer.json()]).toEqual([200, { ran: 3, left: true }])
  })

  test('a failure is 503 for the caller, and words for the log', async () => {
    drain.mockRejectedValueOnce(new Error('no database at postgres://secret'))
    const answer = await call(`Bearer ${SECRET}`)
    const error = 'The jobs failed. See the log.'
    expect([answer.status, await answer.json()]).toEqual([503, { error }])
    expect(log.mock.calls).toEqual([[{ msg: 'drain', error: 'no database at postgres://secret' }]])
  })
})

describe('createEdgeJobs', () => {
  let database: TestDatabase
  let lines: Record<string, unknown>[]
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database?.drop())
  beforeEach(() => {
    lines = []
    vi.spyOn(console, 'log').mockImplementation((line) => {
      if (String(line).startsWith('{')) lines.push(JSON.parse(line))
    })
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  let calls: unknown[] = []
  const connections = () =>
    database.query(
      `select distinct application_name as name from pg_stat_activity
      where datname = current_database() and usename = 'watchpost_jobs'`,
    )
  const jobs = (variables: Record<string, unknown> = {}) =>
    createEdgeJobs(
      {
        ...{ SEAL_KEYS: TEST_SEAL_KEY, FEEDS: 'none' },
        ...{ JOBS_DATABASE_URL: database.jobsUrl, ...variables },
      },
      {
        send: () => async (request) => {
          calls.push([request.url, ...(await connections())])
          return { ok: false, failure: 'refused', message: 'No.', duration_ms: 1 }
        },
      },
    )

  test('runs what is due, and logs how much and for how long', async () => {
    await database.query(`select private.enqueue('purge', gen_random_uuid(), '{}')`)
    const { ran, left } = await jobs().drain()
    expect([ran > 0, left]).toEqual([true, false])
    const [line, ...others] = lines.filter(({ msg }) => msg === 'drain')
    expect(line).toEqual({ msg: 'drain', ran, left, duration_ms: expect.any(Number) })
    expect(others).toEqual([])
    expect(Number.isInteger(line?.duration_ms)).toBe(true)
    expect(Number(line?.duration_ms)).toBeLessThan(60_000)
  })

  test.each([
    ['the caller', [0], {}],
    ['the settings, whatever the caller has', [60_000], { JOBS_BUDGET_SECONDS: '0.001' }],
  ])('stops when the time of %s is used up', async (_, times, variables) => {
    await database.query(`select private.enqueue('purge', gen_random_uuid(), '{}')`)
    expect(await jobs(variables).drain(...times)).toMatchObject({ left: true })
    expect(await jobs().drain()).toMatchObject({ left: false })
  })

  test('polls the feeds that it may, and says of a stream why it does not come', async () => {
    const stream = {
      FEEDS: 'aisstream,nmea',
      NMEA_SOURCES: 'tcp://192.0.2.1:1',
      AISSTREAM_KEY: 'k',
    }
    await jobs({ ...stream, JOBS_BUDGET_SECONDS: '0.001' }).drain()
    const rows = await database.query(
      `select distinct enabled, error from watchpost.sources where source in ('aisstream', 'nmea')`,
    )
    expect(rows).toEqual([{ enabled: false, error: expect.stringContaining('It streams') }])
  })

  test('calls the heartbeat when it has run, and leaves no connection open', async () => {
    await database.query('update watchpost.heartbeat set looked_at = null')
    calls = []
    await jobs({ HEARTBEAT_URL: 'https://beat.example/1' }).drain()
    expect(calls).toEqual([['https://beat.example/1', { name: 'watchpost-jobs' }]])
    await vi.waitFor(async () => expect(await connections()).toEqual([]), 20_000)
  })

  test('is called by HTTP with the secret alone', async () => {
    const handler = jobs({ JOBS_SECRET: SECRET }).handler()
    const call = (secret: string) =>
      handler(new Request('https://jobs.example', { headers: { Authorization: secret } }))
    expect((await call('Bearer')).status).toBe(401)
    const answer = await call(`Bearer ${SECRET}`)
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { ran: expect.any(Number), left: false },
    ])
  })

  test('without a secret there is nothing to call', () => {
    expect(() => jobs().handler()).toThrow(
      'JOBS_SECRET is not set. Calls that run the jobs must show it.',
    )
  })
})
