import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readConfig } from '../../functions/config.ts'
import { createPool, type Database, UNPREPARED } from '../../functions/db.ts'
import type { Feed } from '../../functions/feeds/feed.ts'
import { registerFeeds } from '../../functions/jobs/ingest.ts'
import { checkLogin } from '../../functions/postgres/check-login.ts'
import { UNHEARD } from '../../functions/postgres/listen.ts'
import { startService } from '../../functions/service.ts'
import { findPort } from '../../scripts/postgres/port.ts'
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../support/servers/database.ts'
import { startStandInPooler } from '../support/servers/pooler.ts'
import { receiver } from '../support/servers/receiver.ts'

let database: TestDatabase
let jobs: Database
beforeAll(async () => {
  database = await createTestDatabase()
  jobs = createPool({ url: database.jobsUrl, max: 1 })
})
afterAll(async () => {
  await jobs.end()
  await database.drop()
})

function feed(source: string, title = source): Feed {
  return {
    source,
    title,
    attribution: 'Nobody',
    types: ['other'],
    interval_seconds: 60,
    poll: () => Promise.reject(new Error('is not asked here')),
  }
}

const listed = () =>
  database.query('select source, title, enabled, state from watchpost.sources order by source')

describe('registerFeeds', () => {
  test('switches on what is configured and off what no longer is, and never touches the state', async () => {
    await registerFeeds(jobs, [feed('a'), feed('b')])
    await database.query(`update watchpost.sources set state = '{"seen": 1}' where source = 'a'`)
    await database.query(
      `insert into watchpost.sources (source, title, attribution, types, interval_seconds)
      values ('custom-x', 'Somebody’s own', 'Somebody', '{other}', 60)`,
    )
    const custom = { source: 'custom-x', title: 'Somebody’s own', enabled: true, state: {} }

    await registerFeeds(jobs, [feed('b', 'A better title')])
    expect(await listed()).toEqual([
      { source: 'a', title: 'a', enabled: false, state: { seen: 1 } },
      { source: 'b', title: 'A better title', enabled: true, state: {} },
      custom,
    ])
    await registerFeeds(jobs, [feed('a'), feed('b', 'A better title')])
    expect(await listed()).toEqual([
      { source: 'a', title: 'a', enabled: true, state: { seen: 1 } },
      { source: 'b', title: 'A better title', enabled: true, state: {} },
      custom,
    ])
  })
})

test('where a feed watches and what stands in for it is stored, and stored again when it changes', async () => {
  const placed = (source: string, region?: [number, number, number, number][]) =>
    registerFeeds(jobs, [{ ...feed(source), ...(region ? { region: () => region } : {}) }])
  const stored = async () =>
    (
      await database.query(
        `select region::text, stand_ins from watchpost.sources where source = 'nhc'`,
      )
    )[0]
  const stand_ins = [{ by: 'gdacs', types: ['storm'], from_severity: 50 }]
  await placed('nhc', [
    [-180, -10, 15, 75],
    [1, 2, 3, 4],
  ])
  expect(await stored()).toEqual({ region: '{(15,75),(-180,-10);(3,4),(1,2)}', stand_ins })
  await placed('nhc', [[1, 2, 3, 5]])
  expect(await stored()).toEqual({ region: '{(3,5),(1,2)}', stand_ins })
  await database.query(`update watchpost.sources set stand_ins = '[]' where source = 'nhc'`)
  await placed('nhc')
  expect(await stored()).toEqual({ region: null, stand_ins })
  await database.query(`delete from watchpost.sources where source = 'nhc'`)
})

describe('a feed that lacks a setting', () => {
  const stateOf = () =>
    database.query(`select enabled, error from watchpost.sources where source = 'c'`)

  test('is disabled with the reason, and has none once it is set', async () => {
    await registerFeeds(jobs, [], [{ feed: feed('c'), reason: 'C_KEY not set' }])
    expect(await stateOf()).toEqual([{ enabled: false, error: 'C_KEY not set' }])
    await registerFeeds(jobs, [feed('c')])
    expect(await stateOf()).toEqual([{ enabled: true, error: null }])
    await database.query(
      `update watchpost.sources set error = 'answered HTTP 500' where source = 'c'`,
    )
    await registerFeeds(jobs, [feed('c')])
    expect(await stateOf()).toEqual([{ enabled: true, error: 'answered HTTP 500' }])
    await registerFeeds(jobs, [], [{ feed: feed('c'), reason: 'C_KEY not set' }])
    expect(await stateOf()).toEqual([{ enabled: false, error: 'C_KEY not set' }])
    await registerFeeds(jobs, [])
    expect(await stateOf()).toEqual([{ enabled: false, error: 'C_KEY not set' }])
  })
})

test('a login of the API that row-level security does not bind is refused by its name', async () => {
  const role = (kind: string) => `login_${kind}_${process.pid}`
  const kinds = [
    ['plain', 'nologin'],
    ['above', 'superuser'],
    ['beside', 'bypassrls'],
    ['owner', 'in role watchpost_owner'],
  ] as const
  const check = async (kind: string) => {
    const url = new URL(database.adminUrl)
    url.searchParams.set('options', `-c role=${role(kind)}`)
    const api = createPool({ url: url.href, max: 1 })
    try {
      return await checkLogin(api).catch(String)
    } finally {
      await api.end()
    }
  }
  for (const [kind, is] of kinds) await database.query(`create role ${role(kind)} ${is}`)
  try {
    expect(await check('plain')).toBe(undefined)
    for (const kind of ['above', 'beside', 'owner']) {
      expect(await check(kind)).toBe(
        `Error: API_DATABASE_URL logs in as ${role(kind)}, which bypasses row-level security. Log in as watchpost_api.`,
      )
    }
  } finally {
    for (const [kind] of kinds) await database.query(`drop role ${role(kind)}`)
  }
})

describe('startService', () => {
  test('an address longer than Node takes by itself is refused by the API in its own words', async () => {
    const port = await findPort({ host: '127.0.0.1', port: 0 })
    const config = readConfig(
      {
        PORT: String(port),
        SEAL_KEYS: Buffer.alloc(32).toString('base64'),
        API_DATABASE_URL: database.apiUrl,
        JOBS_DATABASE_URL: database.jobsUrl,
        FEEDS: 'none',
      },
      'serve',
    )
    const service = await startService(config, vi.fn())
    try {
      const address = `http://127.0.0.1:${port}/api/v1/zones?cursor=${'x'.repeat(40_000)}`
      const answer = await fetch(address, { headers: { Authorization: 'Bearer none' } })
      expect([answer.status, await answer.json()]).toMatchObject([401, { code: 'unauthenticated' }])
      const settings = await (await fetch(`http://127.0.0.1:${port}/console.json`)).json()
      const own = { auth_url: './auth/v1', auth_key: null, by: 'link', tiles: null }
      expect(settings).toEqual(own)
      // The page behind a sign-in link, which only the local issuer has.
      const page = await fetch(`http://127.0.0.1:${port}/sign-in`)
      const html = await page.text()
      expect([page.status, html]).toEqual([200, expect.stringContaining('id="sign-in"')])
      for (const [, file] of html.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)) {
        const part = await fetch(`http://127.0.0.1:${port}/${file}`)
        expect([file, part.status]).toEqual([file, 200])
      }
    } finally {
      await service.stop()
    }
  })

  test('where somebody else signs people in, the console is told so, and the log when that cannot work', async () => {
    const issuer = await receiver((response) => response.end('{"keys":[]}'))
    const auth_url = `http://127.0.0.1:${issuer.port}/auth`
    const port = await findPort({ host: '127.0.0.1', port: 0 })
    const config = readConfig(
      {
        ...{ PORT: String(port), FEEDS: 'none', SEAL_KEYS: Buffer.alloc(32).toString('base64') },
        ...{ API_DATABASE_URL: database.apiUrl, JOBS_DATABASE_URL: database.jobsUrl },
        ...{ AUTH_ISSUER: auth_url, AUTH_PUBLISHABLE_KEY: 'sb_publishable_1' },
      },
      'serve',
    )
    const log = vi.fn()
    const service = await startService(config, log)
    try {
      const own = `http://127.0.0.1:${port}`
      const settings = await (await fetch(`${own}/console.json`)).json()
      const auth_key = 'sb_publishable_1'
      expect(settings).toEqual({ auth_url, auth_key, by: 'mail', tiles: null })
      // Its own way to sign in is not there.
      expect((await fetch(`${own}/sign-in`)).status).toBe(404)
      await vi.waitFor(
        () =>
          expect(log).toHaveBeenCalledWith({
            msg: 'sign-in',
            error: expect.stringContaining('AUTH_ISSUER publishes no ES256 or RS256 key'),
          }),
        20_000,
      )
      expect(issuer.received.map(({ path }) => path)).toEqual(['/auth/.well-known/jwks.json'])
    } finally {
      await service.stop()
      issuer.close()
    }
  })

  test('what cannot be closed is in the log, and the rest is closed all the same', async () => {
    const given = {
      SEAL_KEYS: Buffer.alloc(32).toString('base64'),
      JOBS_DATABASE_URL: database.jobsUrl,
      FEEDS: 'none',
    }
    const log = vi.fn()
    const service = await startService(readConfig(given, 'jobs'), log)
    const { end } = pg.Pool.prototype
    const ending = vi.spyOn(pg.Pool.prototype, 'end').mockImplementationOnce(async function (
      this: pg.Pool,
    ) {
      await Reflect.apply(end, this, [])
      throw new Error('the line is dead')
    })
    try {
      await service.stop()
    } finally {
      ending.mockRestore()
    }
    expect(log).toHaveBeenCalledWith({ msg: 'stopping', error: 'Error: the line is dead' })
  })

  test('a database without Watchpost is refused with the way out, and nothing stays open', async () => {
    const empty = await createEmptyDatabase()
    try {
      const config = readConfig(
        {
          SEAL_KEYS: Buffer.alloc(32).toString('base64'),
          JOBS_DATABASE_URL: empty.adminUrl,
        },
        'jobs',
      )
      await expect(startService(config, vi.fn())).rejects.toThrow(
        /does not contain the Watchpost schema yet.*npm start/,
      )
      await vi.waitFor(async () => {
        expect(
          await empty.query(
            `select from pg_stat_activity where datname = $1 and application_name like 'watchpost%'`,
            [empty.name],
          ),
        ).toEqual([])
      }, 10_000)
    } finally {
      await empty.drop()
    }
  })

  test('behind a transaction pooler the jobs poll and nothing is prepared; the log and the health say so', async () => {
    const port = await findPort({ host: '127.0.0.1', port: 0 })
    const { apiUrl, jobsUrl } = database
    const pooler = await startStandInPooler([apiUrl, jobsUrl], { size: 2 })
    const environment = {
      PORT: String(port),
      SEAL_KEYS: Buffer.alloc(32).toString('base64'),
      API_DATABASE_URL: pooler.urlOf(apiUrl),
      JOBS_DATABASE_URL: pooler.urlOf(jobsUrl),
      FEEDS: 'none',
    }
    const health = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/sources/health`)
      return (await answer.json()) as unknown
    }
    const said = (log: ReturnType<typeof vi.fn>, error: string) =>
      log.mock.calls.filter(([line]) => line.error === error).length
    try {
      const log = vi.fn()
      const pooled = await startService(readConfig(environment, 'serve'), log)
      // Once for each of the two logins, before the first request.
      expect(said(log, UNPREPARED)).toBe(2)
      await vi.waitFor(() => expect(said(log, UNHEARD)).toBe(1), 20_000)
      expect(await health()).toMatchObject({ jobs_start: 'polling' })
      await pooled.stop()

      const quiet = vi.fn()
      const given = { ...environment, PREPARED_STATEMENTS: 'off', LISTEN_DATABASE_URL: jobsUrl }
      const told = await startService(readConfig(given, 'serve'), quiet)
      await vi.waitFor(
        async () => expect(await health()).toMatchObject({ jobs_start: 'at_once' }),
        {
          timeout: 10_000,
        },
      )
      expect([said(quiet, UNPREPARED), said(quiet, UNHEARD)]).toEqual([0, 0])
      await told.stop()
    } finally {
      await pooler.stop()
    }
  })
})
