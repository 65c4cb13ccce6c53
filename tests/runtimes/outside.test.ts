import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { Channel } from '../../shared/schemas/channel.ts'
import { Drill } from '../../shared/schemas/drill.ts'
import { verify } from '../../shared/signing.ts'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'
import { receiver } from '../support/servers/receiver.ts'
import { type Line, startWorkers } from '../support/servers/runtimes.ts'
import { createPerson, EDGES, type Edge } from './edges.ts'

const NOWHERE = {
  API_DATABASE: 'postgres://nobody:none@127.0.0.1:1/none',
  JOBS_DATABASE: 'postgres://nobody:none@127.0.0.1:1/none',
}
const Zones = z.object({ zones: z.array(z.unknown()) })
const Tested = z.object({ delivery: z.looseObject({ status: z.string() }) })

/** Two runtimes of a test's own, on a machine that may be busy. */
const STARTING_MS = 120_000

describe.each(EDGES)('on %s', (_, start) => {
  let database: TestDatabase
  let edge: Edge
  let key: string
  let hooks: Awaited<ReturnType<typeof receiver>>
  let beats: Awaited<ReturnType<typeof receiver>>
  const lines: Line[] = []
  beforeAll(async () => {
    hooks = await receiver((response) => response.end('thank you'))
    beats = await receiver((response) => response.end('OK'))
    database = await createTestDatabase()
    ;({ key } = await createPerson(database))
    edge = await start({
      database,
      budget_seconds: 10,
      variables: { HEARTBEAT_URL: `${beats.url}?s3cret` },
      onLine: (line) => void lines.push(line),
    })
  }, STARTING_MS)
  afterAll(async () => {
    await edge?.close()
    hooks?.close()
    beats?.close()
    await database?.drop()
  })

  const channel = async (target: string) => {
    const made = await edge.ask(key, 'POST', '/api/v1/channels', { kind: 'webhook', target })
    expect(made.status).toBe(201)
    return z.object({ channel: Channel }).parse(await made.json()).channel
  }
  const tried = async (id: string) => {
    const answer = await edge.ask(key, 'POST', `/api/v1/channels/${id}/test`)
    expect(answer.status).toBe(200)
    return Tested.parse(await answer.json()).delivery
  }

  test('a message reaches a real receiver, signed', async () => {
    const { id, signing_secret } = await channel(hooks.url)
    expect(await tried(id)).toMatchObject({
      status: 'succeeded',
      attempt_log: [{ status_code: 200, response_excerpt: 'thank you' }],
    })
    const { headers, body } = hooks.received.at(-1) ?? { headers: {}, body: '' }
    const secret = signing_secret ?? ''
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, String(value)]),
    )
    expect(await verify({ headers: sent, body, secret, now: new Date() })).toEqual({ ok: true })
  })

  test('a drill goes the whole way, and a run of the jobs calls the heartbeat', async () => {
    const { id } = await channel(hooks.url)
    const fields = { label: 'Drilled', lat: 2, lon: 2, channel_ids: [id] }
    const made = await edge.ask(key, 'POST', '/api/v1/zones', fields)
    const { zone } = z.object({ zone: z.looseObject({ id: z.uuid() }) }).parse(await made.json())
    const answer = await edge.ask(key, 'POST', `/api/v1/zones/${zone.id}/drill?wait=20`)
    expect(answer.status).toBe(201)
    const { drill } = z.object({ drill: Drill }).parse(await answer.json())
    expect(drill).toMatchObject({ status: 'done', channels: [{ outcome: 'succeeded' }] })
    expect(JSON.parse(hooks.received.at(-1)?.body ?? '{}')).toMatchObject({
      data: {
        drill: { id: drill.id },
        alert: { event: { title: expect.stringMatching(/^DRILL/) } },
      },
    })
    await vi.waitFor(() => expect(beats.received).not.toEqual([]), 10_000)
    expect(beats.received[0]).toMatchObject({ method: 'GET', path: '/hook?s3cret', body: '' })
    await vi.waitFor(
      () => expect(lines).toContainEqual(expect.objectContaining({ msg: 'heartbeat' })),
      10_000,
    )
    expect(JSON.stringify(lines)).not.toContain('s3cret')
  })

  test('a write wakes the jobs, which leave no connection behind', async () => {
    lines.length = 0
    const made = await edge.ask(key, 'POST', '/api/v1/zones', { label: 'Here', lat: 1, lon: 1 })
    expect(made.status).toBe(201)
    await vi.waitFor(
      () => expect(lines.map(({ msg, queue }) => queue ?? msg)).toContain('match_zone'),
      { timeout: 10_000 },
    )
    await vi.waitFor(async () => {
      const open = await database.query(
        `select from pg_stat_activity
        where datname = current_database() and application_name = 'watchpost-jobs'`,
      )
      expect(open).toEqual([])
    }, 10_000)
  })
})

describe.each(EDGES)('on %s, with named statements', (_, start) => {
  test(
    'requests and jobs do the same',
    async () => {
      const database = await createTestDatabase()
      const lines: Line[] = []
      const { key } = await createPerson(database)
      const edge = await start({
        database,
        budget_seconds: 10,
        variables: { PREPARED_STATEMENTS: 'on' },
        onLine: (line) => void lines.push(line),
      })
      try {
        for (const label of ['One', 'Two', 'Three']) {
          const body = { label, lat: 1, lon: 1 }
          expect((await edge.ask(key, 'POST', '/api/v1/zones', body)).status).toBe(201)
        }
        const { zones } = Zones.parse(await (await edge.ask(key, 'GET', '/api/v1/zones')).json())
        expect(zones).toHaveLength(3)
        await edge.run()
        await vi.waitFor(
          () =>
            expect(lines.filter(({ queue, outcome }) => queue && outcome === 'done')).not.toEqual(
              [],
            ),
          10_000,
        )
        expect(lines.filter(({ outcome }) => outcome === 'failed')).toEqual([])
      } finally {
        await edge.close()
        await database.drop()
      }
    },
    STARTING_MS,
  )
})

test(
  'workerd serves the static files before it calls the app, as closed down as the app',
  async () => {
    const workers = await startWorkers({
      variables: {},
      databases: NOWHERE,
      onLine: () => undefined,
    })
    try {
      const answer = await workers.fetch('/docs/swagger-ui.css', { method: 'GET' })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('Content-Type')).toMatch(/^text\/css/)
      expect(answer.headers.get('Cache-Control')).toContain('max-age=86400')
      expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff')
      const headers = await workers.fetch('/_headers', { method: 'GET' })
      expect(headers.status).not.toBe(200)
    } finally {
      await workers.close()
    }
  },
  STARTING_MS,
)

describe.each(EDGES)('on %s, told wrong', (_, start) => {
  test(
    'a login that row-level security does not hold back serves nobody',
    async () => {
      const database = await createTestDatabase()
      const lines: Line[] = []
      const { key } = await createPerson(database)
      const edge = await start({
        database: { ...database, apiUrl: withPassword(database.adminUrl) },
        budget_seconds: 1,
        onLine: (line) => void lines.push(line),
      })
      try {
        expect((await edge.ask(key, 'GET', '/api/v1/zones')).status).toBe(503)
        await vi.waitFor(
          () =>
            expect(JSON.stringify(lines)).toMatch(
              /bypasses row-level security\. Log in as watchpost_api/,
            ),
          10_000,
        )
      } finally {
        await edge.close()
        await database.drop()
      }
    },
    STARTING_MS,
  )
})

/** Hyperdrive takes no login without a password. */
function withPassword(text: string): string {
  const url = new URL(text)
  url.password ||= 'none'
  return url.href
}
