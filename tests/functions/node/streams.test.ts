import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createPool, type Database } from '../../../functions/db.ts'
import type { StreamedFeed } from '../../../functions/feeds/feed.ts'
import type { Open } from '../../../functions/feeds/stream.ts'
import { registerFeeds } from '../../../functions/jobs/ingest.ts'
import { openConnection } from '../../../functions/node/connections.ts'
import { runStreams } from '../../../functions/node/streams.ts'
import { startWebSocketServer, type WebSocketServer } from '../../support/feeds/websocket-server.ts'
import { quake } from '../../support/jobs.ts'
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.ts'

let database: TestDatabase
let db: Database
let server: WebSocketServer
beforeAll(async () => {
  database = await createTestDatabase()
  db = createPool({ url: database.jobsUrl, max: 4 })
})
afterAll(async () => {
  await db?.end()
  await database?.drop()
})
let running: { stop: () => Promise<void> }[] = []
let count = 0
let feed: StreamedFeed
beforeEach(async () => {
  server = await startWebSocketServer()
  count += 1
  feed = createFeed(`stream-${count}`, server.url)
  await registerFeeds(db, [feed])
})
afterEach(async () => {
  await Promise.all(running.map(({ stop }) => stop()))
  running = []
  await server.close()
})

/** An event that comes again is the same one. */
const SAME = { title: 'M 5.0 - somewhere', ts: new Date().toISOString() }

function createFeed(source: string, url: string): StreamedFeed {
  return {
    source,
    title: source,
    attribution: 'Nobody',
    types: ['earthquake'],
    interval_seconds: 60,
    stream: {
      connections: () => [{ name: 'server', url }],
      createReader:
        () =>
        (frame, { item }) =>
          frame === 'garbage'
            ? { events: [], rejected: [{ item, reason: 'garbage' }] }
            : { events: [quake({ id: `${source}:${frame}`, source, ...SAME })], rejected: [] },
      silence_seconds: 60,
    },
  }
}

function start({
  open = openConnection,
  silence_ms = 60_000,
}: {
  open?: Open
  silence_ms?: number
} = {}) {
  const lines: Record<string, unknown>[] = []
  const streams = runStreams({
    db,
    feeds: [feed],
    open,
    log: (line) => void lines.push(line),
    lease_ms: 2_000,
    report_ms: 50,
    stream: { batch_ms: 10, wait_ms: { first: 10, longest: 50 }, silence_ms },
  })
  running.push(streams)
  return { lines, stop: streams.stop }
}

const stored = async () =>
  (
    await database.query<{ id: string }>(
      'select id from watchpost.events where source = $1 order by id',
      [feed.source],
    )
  ).map(({ id }) => id.replace(/^.*:/, ''))
const health = async () => {
  const [row] = await database.query<{ status: string; error: string | null }>(
    'select status, error from private.sources_health() where source = $1',
    [feed.source],
  )
  return row
}
/** As if everything in the row of the source had happened this much earlier. */
const age = (minutes: number) =>
  database.query(
    `update watchpost.sources set created_at = created_at - make_interval(mins => $2),
      last_success_at = last_success_at - make_interval(mins => $2) where source = $1`,
    [feed.source, minutes],
  )
const isOpen = () => vi.waitFor(() => expect(server.sockets).toHaveLength(1), 5_000)

test('an operator who pauses the feed ends its connection, and resuming opens it again', async () => {
  start()
  await isOpen()
  await database.query(
    `update watchpost.sources set paused_at = now(), paused_reason = 'Noise' where source = $1`,
    [feed.source],
  )
  server.send('late')
  await vi.waitFor(() => expect(server.sockets).toHaveLength(0), 5_000)
  expect(await stored()).toEqual([])
  expect(await health()).toEqual({ status: 'disabled', error: 'Paused by an operator: Noise' })
  await database.query(
    `update watchpost.sources set paused_at = null, paused_reason = null where source = $1`,
    [feed.source],
  )
  await isOpen()
  server.send('again')
  await vi.waitFor(async () => expect(await stored()).toEqual(['again']), 5_000)
})

test('what comes is stored and queued to be matched, and the source is ok', async () => {
  start()
  await isOpen()
  server.send('a')
  server.send('b')
  await vi.waitFor(async () => expect(await stored()).toEqual(['a', 'b']), 5_000)
  expect(await health()).toEqual({ status: 'ok', error: null })
  const jobs = await database.query(
    `select from pgboss.job where name = 'match' and data ->> 'source' = $1`,
    [feed.source],
  )
  expect(jobs.length).toBeGreaterThan(0)
})

test('it is never polled', async () => {
  const [row] = await database.query(
    `select next_poll_at = 'infinity' as is_never from watchpost.sources where source = $1`,
    [feed.source],
  )
  expect(row).toEqual({ is_never: true })
})

test('a connection that is dropped is opened again, and nothing after it is lost', async () => {
  const { lines } = start()
  await isOpen()
  server.send('a')
  await vi.waitFor(async () => expect(await stored()).toEqual(['a']), 5_000)
  server.sockets[0]?.destroy()
  await vi.waitFor(() => expect(server.connections).toBe(2), 5_000)
  await isOpen()
  server.send('b')
  await vi.waitFor(async () => expect(await stored()).toEqual(['a', 'b']), 5_000)
  expect(lines).toContainEqual(
    expect.objectContaining({ msg: 'stream', source: feed.source, connection: 'server' }),
  )
})

test('garbage is counted in the log, and is no sign of life', async () => {
  const { lines } = start()
  await isOpen()
  for (let index = 0; index < 7; index++) server.send('garbage')
  await vi.waitFor(() => {
    const counted = lines.map(({ rejected_count }) => Number(rejected_count ?? 0))
    expect(counted.reduce((sum, each) => sum + each, 0)).toBe(7)
  }, 5_000)
  expect(lines).toContainEqual(
    expect.objectContaining({
      rejected: expect.arrayContaining([{ item: '#1', reason: 'garbage' }]),
    }),
  )
  const [row] = await database.query(
    'select last_success_at from watchpost.sources where source = $1',
    [feed.source],
  )
  expect(row).toEqual({ last_success_at: null })
})

test('its lines of the log add up to what came, and there are none of nothing', async () => {
  const { lines, stop } = start()
  await isOpen()
  const counts = () => {
    const sum: Record<string, number> = {}
    for (const line of lines.filter(({ events }) => events !== undefined)) {
      expect(line).toMatchObject({ msg: 'stream', source: feed.source })
      expect('rejected' in line).toBe(Number(line.rejected_count) > 0)
      for (const [name, count] of Object.entries(line)) {
        if (typeof count === 'number') sum[name] = (sum[name] ?? 0) + count
      }
    }
    return sum
  }
  for (const frame of ['a', 'b', 'garbage']) server.send(frame)
  await vi.waitFor(async () => expect(await stored()).toEqual(['a', 'b']), 5_000)
  for (const frame of ['a', 'c']) server.send(frame)
  await vi.waitFor(async () => expect(await stored()).toContain('c'), 5_000)
  await stop()
  expect(counts()).toEqual({
    ...{ events: 4, inserted: 3, revised: 0, unchanged: 1, dropped_late: 0, flagged: 0 },
    ...{ dropped_full: 0, not_stored: 0, rejected_count: 1 },
  })
  for (const line of lines) {
    expect(Object.values(line).some((value) => typeof value === 'number' && value > 0)).toBe(true)
  }
})

test('a stream that stalls with an open socket becomes stale, and is opened again', async () => {
  start({ silence_ms: 100 })
  await vi.waitFor(async () => {
    server.send('a')
    expect(await health()).toEqual({ status: 'ok', error: null })
  }, 5_000)
  const before = server.connections
  await vi.waitFor(() => expect(server.connections).toBeGreaterThan(before), 5_000)
  await age(4)
  expect((await health())?.status).toBe('stale')
  await vi.waitFor(async () => {
    server.send('b')
    expect((await health())?.status).toBe('ok')
  }, 5_000)
})

test('what could not be read is counted once in what the health says', async () => {
  start()
  await isOpen()
  for (const frame of ['a', 'b', 'garbage', 'c', 'garbage']) server.send(frame)
  const counted = () =>
    database.query(
      'select sum(items)::integer as items, sum(rejected)::integer as rejected, max(reason) as reason from watchpost.source_hours where source = $1',
      [feed.source],
    )
  await vi.waitFor(
    async () => expect(await counted()).toEqual([{ items: 5, rejected: 2, reason: 'garbage' }]),
    5_000,
  )
  server.send('d')
  await vi.waitFor(
    async () => expect(await counted()).toMatchObject([{ items: 6, rejected: 2 }]),
    5_000,
  )
})

test('a stream that stays open and silent is stale after three minutes, and told of at its limit', async () => {
  const { stop } = start()
  await isOpen()
  server.send('a')
  await vi.waitFor(async () => expect((await health())?.status).toBe('ok'), 5_000)
  const look = () => database.query('select private.watch_sources() as told')
  await age(2)
  await look()
  expect((await health())?.status).toBe('ok')
  await age(1)
  expect(await health()).toEqual({
    status: 'stale',
    error: expect.stringMatching(/^Nothing has come from it since .*Z\.$/),
  })
  expect(server.sockets).toHaveLength(1)
  const later = (minutes: number) =>
    database.query(
      `update watchpost.blindness set began_at = began_at - make_interval(mins => $1)`,
      [minutes],
    )
  await look()
  await later(14)
  expect(await look()).toEqual([{ told: [] }])
  await later(1)
  expect(await look()).toEqual([{ told: [{ source: feed.source, told: 'blind' }] }])
  await stop()
})

test('a stream that cannot be reached is down, with the reason', async () => {
  const url = server.url
  await server.close()
  feed = createFeed(feed.source, url)
  start()
  await vi.waitFor(async () => {
    expect(await health()).toEqual({ status: 'down', error: 'server: cannot be reached' })
  }, 5_000)
  server = await startWebSocketServer()
})

test('of two processes one holds it, and the other takes over when it stops', async () => {
  const first = start()
  await isOpen()
  start()
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect(server.connections).toBe(1)
  await first.stop()
  await vi.waitFor(() => expect(server.connections).toBe(2), 5_000)
  await isOpen()
})

test('whoever stops gives it up at once', async () => {
  const holder = () =>
    database.query('select stream_holder, stream_until from watchpost.sources where source = $1', [
      feed.source,
    ])
  const { stop } = start()
  await isOpen()
  expect(await holder()).toEqual([
    { stream_holder: expect.any(String), stream_until: expect.any(Date) },
  ])
  await stop()
  expect(await holder()).toEqual([{ stream_holder: null, stream_until: null }])
})

test('when its holder dies another takes over, and the dead one stores nothing any more', async () => {
  let push: (frame: string) => void = () => undefined
  const { lines } = start({
    open: async (_, { onFrame, signal }) => {
      push = (frame) => onFrame(frame, '')
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    },
  })
  await vi.waitFor(async () => {
    push('a')
    expect(await stored()).toEqual(['a'])
  }, 5_000)
  const other = '00000000-0000-0000-0000-000000000001'
  const [row] = await database.query<{ stream_holder: string }>(
    'select stream_holder from watchpost.sources where source = $1',
    [feed.source],
  )
  await database.query(
    `update watchpost.sources set stream_holder = $2, stream_until = now() + interval '1 hour' where source = $1`,
    [feed.source, other],
  )
  push('b')
  await vi.waitFor(
    () => expect(lines).toContainEqual(expect.objectContaining({ error: 'the lease was lost' })),
    5_000,
  )
  expect(await stored()).toEqual(['a'])
  // The other is silent for longer than its lease.
  await database.query(
    `update watchpost.sources set stream_until = now() - interval '1 second' where source = $1`,
    [feed.source],
  )
  await vi.waitFor(async () => {
    push('c')
    expect(await stored()).toContain('c')
  }, 5_000)
  const [after] = await database.query(
    'select stream_holder from watchpost.sources where source = $1',
    [feed.source],
  )
  expect(after).toEqual(row)
})

test('what the database does not take is counted, because it does not come again', async () => {
  const { source } = feed
  feed = { ...createFeed('stream-of-another', server.url), source }
  const { lines } = start()
  await isOpen()
  server.send('a')
  await vi.waitFor(
    () => expect(lines).toContainEqual(expect.objectContaining({ source, not_stored: 1 })),
    5_000,
  )
  expect(lines).toContainEqual(
    expect.objectContaining({ error: expect.stringContaining(`every id of source ${source}`) }),
  )
})

test('a source that is disabled is not held', async () => {
  await registerFeeds(db, [], [{ feed, reason: 'a setting is missing' }])
  start()
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(server.connections).toBe(0)
  await registerFeeds(db, [feed])
  await isOpen()
})
