import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSecrets } from '../../scripts/postgres/logins.ts'
import { runningPostgres } from '../../scripts/postgres/postgres.ts'
import { watchFeeds } from '../../scripts/start/feeds-check.ts'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'
import { startStandInPooler } from '../support/servers/pooler.ts'
import { createProcesses, type Processes } from '../support/servers/processes.ts'

const START = 'scripts/start.ts'
const KEY = /wp_live_[0-9A-Za-z]{49}/

describe('with a database of somebody’s own', () => {
  let processes: Processes
  let database: TestDatabase
  beforeAll(async () => {
    processes = await createProcesses()
    database = await createTestDatabase()
    // Not to be asked while the test runs.
    await database.query(
      `insert into watchpost.sources (source, title, attribution, types, interval_seconds, next_poll_at)
      values ('usgs', 'USGS', 'USGS', '{earthquake}', 60, 'infinity')`,
    )
  })
  afterAll(async () => {
    await database?.drop()
    await processes?.close()
  })

  test('npm start serves it, and npm run jobs needs no more than its address', async () => {
    const dataDir = join(processes.dataDir, 'own')
    const logins = {
      API_DATABASE_URL: database.apiUrl,
      JOBS_DATABASE_URL: database.jobsUrl,
      FEEDS: 'usgs',
    }
    const started = processes.run(
      START,
      ['--port', '0', '--data-dir', dataDir, '--database-url', database.adminUrl],
      logins,
    )
    const [, url = ''] = await started.says(/"msg":"listening on ([^"]+)"/)
    const key = started.stdout().match(KEY)?.[0] ?? ''
    const me = await fetch(`${url}/api/v1/me`, { headers: { Authorization: `Bearer ${key}` } })
    expect(me.status).toBe(200)
    await me.arrayBuffer()
    expect(runningPostgres(dataDir)).toBeUndefined()

    const SEAL_KEYS = Buffer.alloc(32, 3).toString('base64')
    const env = { SEAL_KEYS, DATABASE_URL: database.adminUrl, FEEDS: 'usgs' }
    const jobs = processes.run('functions/node.ts', ['jobs'], env)
    await jobs.says(/"msg":"running the jobs","feeds":\["usgs"\]/)
    for (const run of [started, jobs]) {
      run.signal('SIGTERM')
      expect(await run.ended, run.stderr()).toBe(0)
    }
  })

  test('npm start makes no account where people have an issuer of their own', async () => {
    const theirs = await createTestDatabase()
    try {
      // All that tells Supabase Auth's schema from our stand-in for it.
      await theirs.query('comment on schema auth is null')
      const dataDir = join(processes.dataDir, 'theirs')
      const logins = {
        API_DATABASE_URL: theirs.apiUrl,
        JOBS_DATABASE_URL: theirs.jobsUrl,
        FEEDS: 'none',
      }
      const args = ['--port', '0', '--data-dir', dataDir, '--database-url', theirs.adminUrl]
      const started = processes.run(START, args, logins)
      await started.says(/"msg":"listening on/)
      started.signal('SIGTERM')
      expect(await started.ended, started.stderr()).toBe(0)
      expect(started.stdout()).toMatch(/none was created: people sign up with the issuer/)
      expect(started.stdout()).toMatch(/AUTH_ISSUER is not set.*\n.*AUTH_ISSUER=https/)
      expect(started.stdout()).toMatch(/account plan --email you@example\.com --plan pro/)
      expect(started.stdout()).not.toMatch(KEY)
      expect(started.stdout()).not.toContain('local@watchpost.localhost')
      for (const table of ['auth.users', 'watchpost.accounts', 'watchpost.api_keys']) {
        expect(await theirs.query(`select * from ${table}`)).toEqual([])
      }
    } finally {
      await theirs.drop()
    }
  })

  test('the API refuses a login that row-level security does not hold back', async () => {
    const run = processes.run('functions/node.ts', [], {
      PORT: '0',
      SEAL_KEYS: Buffer.alloc(32, 3).toString('base64'),
      API_DATABASE_URL: database.adminUrl,
      JOBS_DATABASE_URL: database.jobsUrl,
    })
    expect(await run.ended).toBe(1)
    expect(run.stderr()).toMatch(/API_DATABASE_URL logs in as postgres, .* Log in as watchpost_api/)
  })

  test('lost secrets are not replaced where something was sealed with them', async () => {
    const data_dir = join(processes.dataDir, 'lost')
    await database.query(
      `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked)
      select user_id, 'webhook', 'sealed', 'https://…' from watchpost.accounts limit 1`,
    )
    await expect(
      createSecrets(database.adminUrl, { data_dir, seal_keys: undefined }),
    ).rejects.toThrow(/lost\/secrets\.json does not exist\. Restore that file, or set SEAL_KEYS/)
    await createSecrets(database.adminUrl, { data_dir, seal_keys: 'given' })
    await writeFile(join(data_dir, 'secrets.json'), '{')
    const run = processes.run(START, ['--port', '0', '--data-dir', data_dir])
    expect(await run.ended).toBe(1)
    expect(run.stderr()).toMatch(/secrets\.json is damaged/)
  })

  test('when every live feed fails, watchFeeds says why; one that is heard is enough', async () => {
    const closing: (() => Promise<void>)[] = []
    const login = { jobs_database_url: database.jobsUrl, prepared_statements: false }
    const failing = watchFeeds(login, closing)
    await vi.waitFor(async () => {
      await database.query(
        `update watchpost.sources set error = 'cannot be reached', error_at = clock_timestamp()`,
      )
      expect(await Promise.race([failing, 'still waiting'])).toBe('usgs: cannot be reached')
    }, 10_000)
    const hearing = watchFeeds(login, closing)
    await vi.waitFor(async () => {
      await database.query('update watchpost.sources set last_success_at = clock_timestamp()')
      expect(await Promise.race([hearing, 'still waiting'])).toBeUndefined()
    }, 10_000)
    const stopped = watchFeeds(login, closing)
    for (const close of closing) await close()
    expect(await stopped).toBeUndefined()
  })

  test('of many feeds that fail, watchFeeds names the first three', async () => {
    await database.query(
      `insert into watchpost.sources (source, title, attribution, types, interval_seconds, next_poll_at, error, error_at)
      select 'feed-' || n, '', '', '{}', 60, 'infinity', 'cannot be reached', 'infinity' from generate_series(1, 9) n`,
    )
    await database.query(
      `update watchpost.sources set error_at = 'infinity', last_success_at = null`,
    )
    const login = { jobs_database_url: database.jobsUrl, prepared_statements: false }
    expect(await watchFeeds(login, [])).toBe(
      'feed-1: cannot be reached; feed-2: cannot be reached; feed-3: cannot be reached; and 7 more',
    )
    await database.query(`delete from watchpost.sources where source like 'feed-%'`)
  })

  test('watchFeeds prepares nothing when prepared statements are off', async () => {
    const pooler = await startStandInPooler([database.jobsUrl])
    const closing: (() => Promise<void>)[] = []
    const url = pooler.urlOf(database.jobsUrl)
    // Through the pooler another client has the same connection and sees what was prepared on it.
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const watching = watchFeeds({ jobs_database_url: url, prepared_statements: false }, closing)
    await database.query(`update watchpost.sources set last_success_at = 'infinity'`)
    expect(await watching).toBeUndefined()
    const { rows } = await client.query('select name from pg_prepared_statements')
    expect(rows).toEqual([])
    for (const close of closing) await close()
    await client.end()
    await pooler.stop()
  })
})
