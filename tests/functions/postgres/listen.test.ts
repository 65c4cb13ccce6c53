import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { listen, UNHEARD } from '../../../functions/postgres/listen.ts'
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.ts'
import { startStandInPooler } from '../../support/servers/pooler.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const LISTENERS = `application_name = 'watchpost-listen' and datname = current_database()`

describe('listen', () => {
  test('wakes the queue that got a job, comes back when cut off, and ends when told', async () => {
    const wake = vi.fn()
    const log = vi.fn()
    const listener = listen({ url: database.jobsUrl, wake, log })
    try {
      // Once at the start, for what was said before.
      await vi.waitFor(() => expect(wake).toHaveBeenCalledWith(), 10_000)
      await database.query(`select private.enqueue('match', gen_random_uuid(), '{}')`)
      await vi.waitFor(() => expect(wake).toHaveBeenLastCalledWith('match'), 10_000)

      wake.mockClear()
      await database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where ${LISTENERS}`,
      )
      await vi.waitFor(() => expect(wake).toHaveBeenCalledWith(), { timeout: 5_000 })
      expect(log).toHaveBeenCalledWith(expect.objectContaining({ msg: 'listening stopped' }))
      await database.query(`select pg_notify('watchpost_jobs', 'deliver')`)
      await vi.waitFor(() => expect(wake).toHaveBeenLastCalledWith('deliver'), 10_000)
    } finally {
      await listener.stop()
    }
    await vi.waitFor(async () => {
      expect(await database.query(`select from pg_stat_activity where ${LISTENERS}`)).toEqual([])
    }, 10_000)
  })

  test('a database that is away is asked again, less and less often', async () => {
    const log = vi.fn()
    const listener = listen({ url: 'postgres://nobody@127.0.0.1:1/none', wake: vi.fn(), log })
    await vi.waitFor(() => expect(log).toHaveBeenCalledTimes(2), { timeout: 5_000 })
    await listener.stop()
    expect(log.mock.calls[0]?.[0]).toMatchObject({ error: expect.stringContaining('ECONNREFUSED') })
  })

  test('behind a transaction pooler it says once that nothing is heard, and does not pretend to listen', async () => {
    const wake = vi.fn()
    const log = vi.fn()
    const pooler = await startStandInPooler([database.jobsUrl], { size: 2 })
    const url = pooler.urlOf(database.jobsUrl)
    const listener = listen({ url, wake, log, heard_within_ms: 300 })
    try {
      await vi.waitFor(() => expect(log).toHaveBeenCalled(), 10_000)
      expect(log.mock.calls).toEqual([[{ msg: 'listening', error: UNHEARD }]])
      expect([listener.isHearing(), wake.mock.calls]).toEqual([false, []])
    } finally {
      await listener.stop()
      await pooler.stop()
    }
  })

  test('tells whether it hears', async () => {
    const listener = listen({ url: database.jobsUrl, wake: vi.fn(), log: vi.fn() })
    expect(listener.isHearing()).toBe(false)
    await vi.waitFor(() => expect(listener.isHearing()).toBe(true), 10_000)
    await listener.stop()
    expect(listener.isHearing()).toBe(false)
  })
})
