import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { runningPostgres } from '../../scripts/postgres/postgres.ts'
import { generateSecret } from '../../shared/signing.ts'
import { createProcesses, type Processes, type Started } from '../support/servers/processes.ts'

const START = 'scripts/start.ts'
const ADMIN = 'scripts/admin.ts'
const KEY = /wp_live_[0-9A-Za-z]{49}/g
/** How many events each source has in one round. */
const RECORDED = {
  'firms-replay': 300,
  'nhc-replay': 4,
  'nws-replay': 103,
  'usgs-replay': 1707,
}
const SOURCES = [...Object.keys(RECORDED), 'vessels-replay']

let processes: Processes
beforeAll(async () => {
  processes = await createProcesses()
})
afterAll(() => processes.close())

async function startReplay(): Promise<{ started: Started; url: string }> {
  const args = ['--replay', '--port', '0', '--data-dir', processes.dataDir]
  const started = processes.run(START, args)
  const [, url = ''] = await started.says(/"msg":"listening on (http:\/\/127\.0\.0\.1:\d+)"/)
  return { started, url }
}

async function stop(started: Started) {
  started.signal('SIGTERM')
  expect(await started.ended).toBe(0)
  expect(started.stderr()).toBe('')
  expect(started.stdout()).toMatch(/Stopped\n$/)
  expect(runningPostgres(processes.dataDir)).toBeUndefined()
}

async function ask<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> {
  const client = new pg.Client({
    connectionString: runningPostgres(processes.dataDir)?.adminUrl ?? '',
  })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

const Playing = z.object({ position_ms: z.number() })

/** How far each source has played. */
async function positions(): Promise<number[]> {
  const rows = await ask(`select state from watchpost.sources order by source`)
  return rows.map(({ state }) => Playing.parse(state).position_ms)
}

/** How many events each source has: those of its history, and those that were played. */
async function counts(): Promise<{ stored: Record<string, number>; played: number }> {
  const rows = await ask<{ source: string; stored: number; played: number }>(
    `select source, count(*) filter (where id !~ '-r[0-9]+$')::int as stored,
      count(*) filter (where id ~ '-r[0-9]+$')::int as played
    from watchpost.events
    group by source order by source`,
  )
  return {
    stored: Object.fromEntries(rows.map(({ source, stored }) => [source, stored])),
    played: rows.reduce((sum, { played }) => sum + played, 0),
  }
}

/** An admin command beside whatever runs, or without. */
async function admin(...args: string[]): Promise<Record<string, unknown>> {
  const run = processes.run(ADMIN, [...args, '--json', '--data-dir', processes.dataDir])
  expect(await run.ended, run.stderr()).toBe(0)
  return z.record(z.string(), z.unknown()).parse(JSON.parse(run.stdout()))
}

function api(url: string, key: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${url}/api/v1${path}`, {
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
}

describe('npm run demo', () => {
  let first: { started: Started; url: string; key: string }
  let stoppedAt: number[]

  test('a first start makes everything and shows the one key', async () => {
    const { started, url } = await startReplay()
    const keys = new Set(started.stdout().match(KEY))
    expect(keys.size).toBe(1)
    first = { started, url, key: [...keys][0] ?? '' }

    const me = await api(url, first.key, '/me')
    expect(me.status).toBe(200)
    expect(await me.json()).toMatchObject({
      email: 'local@watchpost.localhost',
      plan: 'enterprise',
      scopes: ['read', 'write'],
    })
    // The page of operators is on this machine alone, with no link in what goes into a log.
    const [, operator = ''] =
      started.stdout().match(/The operator page {11}(http:\/\/127\.0\.0\.1:\d+)$/m) ?? []
    expect(new URL(operator).port).not.toBe(new URL(url).port)
    expect((await fetch(`${operator}/api/session`)).status).toBe(401)
    expect((await fetch(`${url}/api/session`)).status).toBe(404)
    const secrets = await stat(join(processes.dataDir, 'secrets.json'))
    expect(secrets.mode & 0o777).toBe(0o600)
  })

  test('everywhere it says that it is a replay', async () => {
    expect(first.started.stdout()).toMatch(/REPLAY/)
    await vi.waitFor(async () => {
      const health = await (await fetch(`${first.url}/api/sources/health`)).json()
      expect(health).toMatchObject({
        status: 'ok',
        sources: SOURCES.map((source) => ({ source, title: expect.stringMatching(/^REPLAY /) })),
      })
    }, 10_000)
    const page = await (await fetch(`${first.url}/status`)).text()
    expect(page).toContain('REPLAY with invented vessels')
    const [row] = await ask(
      `select bool_and(title like 'REPLAY %') as titles,
        (select bool_and(title like 'INVENTED %') from watchpost.positions) as vessels
      from watchpost.events`,
    )
    expect(row).toEqual({ titles: true, vessels: true })
    expect((await counts()).stored).toEqual(RECORDED)
  })

  test('the past has revisions, and only what still stands has raised an alert', async () => {
    const [row] = await ask(
      `select
        (select count(*)::int from watchpost.event_revisions
          where event_id = 'nhc-replay:al092008' and status = 'active') as ike,
        (select count(*)::int from watchpost.events
          where id !~ '-r[0-9]+$' and source in ('nhc-replay', 'nws-replay') and status = 'active'
            and coalesce(ends_at, '-infinity') < now()) as standing,
        (select count(*)::int from watchpost.positions where ts < now() - interval '23 hours') > 0 as vessels,
        (select count(*)::int from watchpost.alerts a join watchpost.events e on e.id = a.event_id
          where e.id !~ '-r[0-9]+$' and coalesce(e.ends_at, '-infinity') < a.raised_at) as alerts`,
    )
    expect(row).toEqual({ ike: 28, standing: 0, vessels: true, alerts: 0 })
  })

  test('a link signs in once, and its token reaches the account', async () => {
    const { token_hash } = await admin('account', 'link', '--email', 'local@watchpost.localhost')
    const redeem = () =>
      fetch(`${first.url}/auth/v1/verify`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ token_hash, type: 'magiclink' }),
      })
    const session = z.object({ access_token: z.string() }).parse(await (await redeem()).json())
    const answer = await api(first.url, session.access_token, '/account')
    expect(await answer.json()).toMatchObject({ account: { plan: 'enterprise' } })
    expect((await redeem()).status).toBe(403)
  })

  test('the documentation works offline', async () => {
    const page = await (await fetch(`${first.url}/docs`)).text()
    const files = [...page.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(([, path]) => path)
    expect(files).toHaveLength(3)
    for (const path of files) {
      const answer = await fetch(new URL(path ?? '', `${first.url}/docs`))
      expect([path, answer.status]).toEqual([path, 200])
      expect(answer.headers.get('content-type')).toMatch(/^text\/(css|javascript)/)
      await answer.arrayBuffer()
    }
    const outside = await fetch(`${first.url}/docs/..%2Fpackage.json`)
    expect(outside.ok).toBe(false)
    await outside.arrayBuffer()
  })

  test('an alert reaches a receiver on this machine, and its signature holds', async () => {
    const secret = generateSecret()
    const receiver = processes.run('scripts/receiver.ts', ['--secret', secret, '--port', '0'])
    const [target] = await receiver.says(/http:\/\/127\.0\.0\.1:\d+\//)
    const channel = { kind: 'webhook', target, signing_secret: secret }
    expect((await api(first.url, first.key, '/channels', channel)).status).toBe(201)
    const zone = { label: 'Half the world', lat: 50, lon: -130, radius_km: 5000, min_severity: 0 }
    expect((await api(first.url, first.key, '/zones', zone)).status).toBe(201)
    await receiver.says(/alert\.raised in Half the world: REPLAY .*, signature valid/)
    receiver.signal('SIGTERM')
    await receiver.ended
  })

  test('the operators’ command works beside it', async () => {
    const { key_id, api_key } = await admin(
      'key',
      'mint',
      '--email',
      'local@watchpost.localhost',
      '--scopes',
      'read',
    )
    const key = String(api_key)
    expect((await api(first.url, key, '/me')).status).toBe(200)
    expect((await api(first.url, key, '/zones', {})).status).toBe(403)
    await admin('key', 'revoke', '--key', String(key_id))
    expect((await api(first.url, key, '/me')).status).toBe(401)

    const made = await admin('account', 'create', '--email', 'Ann@example.com', '--plan', 'pro')
    expect(Object.keys(made).sort()).toEqual(['api_key', 'email', 'key_id', 'plan', 'user_id'])
    expect((await api(first.url, String(made.api_key), '/me')).status).toBe(200)
    await admin('account', 'plan', '--email', 'ann@example.com', '--plan', 'free')
    expect((await api(first.url, String(made.api_key), '/me')).status).toBe(402)
  })

  test('every ready zone raises an alert of its kind', async () => {
    const Zones = z.object({ zones: z.array(z.object({ id: z.string(), label: z.string() })) })
    const Alerts = z.object({
      alerts: z.array(z.object({ event: z.object({ type: z.string() }) })),
    })
    const { zones } = Zones.parse(await (await api(first.url, first.key, '/zones')).json())
    const ready = zones.filter(({ label }) => first.started.stdout().includes(`    ${label}\n`))
    const kinds = async () => {
      const answers = ready.map(async ({ id }) => {
        const answer = await api(first.url, first.key, `/alerts?zone_id=${id}&limit=1`)
        return Alerts.parse(await answer.json()).alerts.map(({ event }) => event.type)
      })
      return (await Promise.all(answers)).flat().sort()
    }
    await vi.waitFor(
      async () =>
        expect(await kinds()).toEqual([
          ...['earthquake', 'storm', 'vessel', 'vessel', 'weather', 'wildfire'],
        ]),
      { timeout: 100_000, interval: 1000 },
    )
  }, 110_000)

  test('SIGTERM ends it and its PostgreSQL', async () => {
    stoppedAt = await positions()
    await stop(first.started)
    await expect(fetch(first.url)).rejects.toThrow()
  })

  test('without it the operators’ command starts PostgreSQL for the moment', async () => {
    const { sources } = await admin('feeds', 'status')
    expect(sources).toMatchObject(SOURCES.map((source) => ({ source })))
    expect(runningPostgres(processes.dataDir)).toBeUndefined()
  })

  test('a second start shows no key, and plays on where it stopped', async () => {
    const { started, url } = await startReplay()
    expect(started.stdout()).not.toMatch(KEY)
    expect(started.stdout()).toContain('npm run admin -- key mint')
    expect(started.stdout()).toContain('npm run admin -- account link')
    expect((await api(url, first.key, '/me')).status).toBe(200)

    expect(started.stdout()).not.toContain('Stored the past')
    await vi.waitFor(async () => {
      for (const [index, position] of (await positions()).entries()) {
        expect(position).toBeGreaterThan(stoppedAt[index] ?? Number.NaN)
      }
    }, 10_000)
    const { stored, played } = await counts()
    expect(stored).toEqual(RECORDED)
    expect(played).toBeLessThan(2114)
    const furthest = Math.max(...stoppedAt)
    for (const position of await positions()) expect(position).toBeLessThan(furthest + 60_000)
    await stop(started)
  })

  test('a signal in the middle of the start ends it as well', async () => {
    const args = ['--replay', '--port', '0', '--data-dir', processes.dataDir]
    const started = processes.run(START, args)
    await started.says(/PostgreSQL 18\S* is running/)
    await stop(started)
  })
})

describe('a start that cannot be', () => {
  async function refused(args: string[], env?: Record<string, string>) {
    const run = processes.run(START, ['--data-dir', join(processes.dataDir, 'none'), ...args], env)
    const code = await run.ended
    expect(run.stdout()).toBe('')
    return { code, said: run.stderr() }
  }

  test('a port in use names the flag', async () => {
    const blocker = createServer().listen(0, '127.0.0.1')
    await once(blocker, 'listening')
    const { port } = z.object({ port: z.number() }).parse(blocker.address())
    try {
      const { code, said } = await refused(['--port', String(port)])
      expect(code).toBe(1)
      expect(said).toBe(
        `Port ${port} on 127.0.0.1 is in use. Choose another: --port ${port + 1}, or --port 0 for any free one.\n`,
      )
    } finally {
      blocker.close()
    }
  })

  test.each([
    ['an unknown flag', ['--prot', '1'], /^Unknown option '--prot'\. See npm start -- --help\n$/],
    ['a stray word', ['demo'], /^Unexpected argument 'demo'/],
    ['a port that is none', ['--port', 'x'], /^--port must be a port between 0 and 65535/],
    [
      'a replay into a database of somebody’s own',
      ['--replay', '--database-url', 'postgres://localhost/x'],
      /^--replay cannot be combined with --database-url/,
    ],
  ])('%s is wrong usage', async (_, args, message) => {
    const { code, said } = await refused(args)
    expect(said).toMatch(message)
    expect(code).toBe(2)
  })

  test.each([
    [
      'an unknown feed',
      ['--port', '0', '--feeds', 'usgs,nope'],
      {},
      /^FEEDS must name known feeds/,
    ],
    [
      'a bad variable',
      ['--port', '0'],
      { RATE_LIMIT_PRO: 'lots' },
      /^RATE_LIMIT_PRO must be a whole/,
    ],
    [
      'a host that is not here',
      ['--host', '192.0.2.1'],
      {},
      /^192\.0\.2\.1 is not an address of this/,
    ],
  ])('%s is said before anything is started', async (_, args, env, message) => {
    const { code, said } = await refused(args, env)
    expect(said).toMatch(message)
    expect(code).toBe(1)
    expect(runningPostgres(join(processes.dataDir, 'none'))).toBeUndefined()
  })

  test('--help says every flag', async () => {
    const run = processes.run(START, ['--help'])
    expect(await run.ended).toBe(0)
    for (const flag of ['host', 'port', 'data-dir', 'database-url', 'feeds', 'replay']) {
      expect(run.stdout()).toContain(`--${flag} `)
    }
  })
})
