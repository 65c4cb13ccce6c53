import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSeal } from '../../functions/seal.ts'
import { PROOF } from '../support/proof.ts'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'
import { type Received, receiver } from '../support/servers/receiver.ts'
import type { Line } from '../support/servers/runtimes.ts'
import { createPerson, EDGES, type Edge, SEAL_KEY } from './edges.ts'

const MANY = PROOF ? 1000 : 400
/** Channels take one delivery at a time each, so there are more than a run has slots. */
const CHANNELS = 260
/** Requests that one run opens at once. Of one process, those to one host are fewer: so there are two. */
const SLOTS: Record<string, number> = { Deno: 200, workerd: 3 }
const HOSTS = 2

describe.each(EDGES)('on %s', (name, start) => {
  const slots = SLOTS[name] ?? 0
  let database: TestDatabase
  let edge: Edge | undefined
  let key: string
  let hosts: Awaited<ReturnType<typeof receiver>>[]
  const received = () => hosts.flatMap((host) => host.received)
  let lines: Line[]
  /** Answers wait until more than this many requests are open at once. */
  let heldUntilMoreThan = 0
  let answerAfterMs = 0
  let mostOpen = 0
  const open = new Set<() => void>()
  const answerAll = () => {
    heldUntilMoreThan = 0
    for (const answer of open) answer()
  }
  beforeAll(async () => {
    const take: Parameters<typeof receiver>[0] = (response) => {
      const answer = () => {
        open.delete(answer)
        response.end('ok')
      }
      open.add(answer)
      mostOpen = Math.max(mostOpen, open.size)
      if (answerAfterMs > 0) setTimeout(answer, answerAfterMs)
      else if (open.size > heldUntilMoreThan) answerAll()
    }
    hosts = await Promise.all(Array.from({ length: HOSTS }, () => receiver(take)))
  })
  afterAll(() => {
    for (const host of hosts ?? []) host.close()
  })

  async function prepare(budget_seconds: number): Promise<Edge> {
    lines = []
    answerAfterMs = 0
    mostOpen = 0
    for (const host of hosts) host.received.length = 0
    database = await createTestDatabase()
    ;({ key } = await createPerson(database))
    await queueDeliveries(
      database,
      hosts.map(({ url }) => url),
    )
    edge = await start({ database, budget_seconds, onLine: (line) => void lines.push(line) })
    return edge
  }
  async function clear(): Promise<void> {
    answerAll()
    await edge?.close()
    await database?.drop()
  }
  const drains = () => lines.filter(({ msg }) => msg === 'drain')

  /** Run after run, until one says that nothing is left. */
  async function runAll(run: Edge['run']): Promise<void> {
    do {
      const before = drains().length
      await run()
      await vi.waitFor(() => expect(drains()).toHaveLength(before + 1), 10_000)
    } while (drains().at(-1)?.left)
  }

  test('a long queue is done over several short runs, each delivery once', async () => {
    const { run } = await prepare(1)
    // However fast the machine, the queue takes twice the budget of one run.
    answerAfterMs = (2000 * slots) / MANY
    try {
      await runAll(run)
      expect(drains().length).toBeGreaterThan(1)
      expect(mostOpen).toBeLessThanOrEqual(slots)
      await expectEachOnce(database, received())
      // The budget, and at most one message that waits for its receiver.
      expect(drains().every(({ duration_ms }) => Number(duration_ms) < 17_000)).toBe(true)
      await expectNoConnections(database)
    } finally {
      await clear()
    }
  }, 300_000)

  test('two runs of the clock and one woken by a write share the queue, each delivery once', async () => {
    const { run, ask } = await prepare(40)
    // One run alone opens no more requests, so the answers wait for a second run's. A send gives up after 15 s.
    heldUntilMoreThan = slots
    const giveUp = setTimeout(answerAll, 12_000)
    try {
      const write = ask(key, 'POST', '/api/v1/zones', { label: 'Another place', lat: 1, lon: 1 })
      const [written] = await Promise.all([write, run(), run()])
      expect(written.status).toBe(201)
      await vi.waitFor(() => expect(drains()).toHaveLength(3), 60_000)
      expect(mostOpen).toBeGreaterThan(slots)
      // Who comes too late finds nothing; two at least had a share.
      expect(drains().filter(({ ran }) => Number(ran) > 0).length).toBeGreaterThan(1)
      // A busy machine does not get through with it in their time.
      await runAll(run)
      await expectEachOnce(database, received())
      await expectNoConnections(database)
    } finally {
      clearTimeout(giveUp)
      await clear()
    }
  }, 300_000)
})

/** A zone with alerts whose deliveries wait, as matching leaves them. */
async function queueDeliveries(database: TestDatabase, urls: string[]): Promise<void> {
  const seal = createSeal([SEAL_KEY])
  await database.query(
    `insert into watchpost.zones (owner_id, label, lat, lon, boxes)
    select user_id, 'A place', 41, 29, array[box '(30,42),(28,40)'] from watchpost.accounts`,
  )
  await database.query(
    `insert into watchpost.channels
      (owner_id, kind, target_sealed, target_masked, signing_secret_sealed)
    select user_id, 'webhook', ($1::text[])[1 + n % cardinality($1)], 'http://127.0.0.1/…', $2
    from watchpost.accounts, generate_series(1, $3) n`,
    [
      await Promise.all(urls.map((url) => seal.seal(url))),
      await seal.seal(`whsec_${Buffer.alloc(24, 1).toString('base64')}`),
      CHANNELS,
    ],
  )
  await database.query(
    `with a as (
      insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity,
        reason, first_reason, status, raised_at, checks, zone_version, event_revision)
      select z.id, z.label, z.owner_id, 'test:' || n, 'test', jsonb_build_object('id', 'test:' || n,
        'source', 'test', 'type', 'earthquake', 'title', 'M 5.0', 'lat', 41, 'lon', 29,
        'ts', '2026-01-01T00:00:00.000Z', 'severity', 50, 'url', null),
        50, 'It is near.', 'It is near.', 'pending', now(), '[]', 1, 1
      from watchpost.zones z, generate_series(1, $1) n
      returning id
    ), c as (
      select id, row_number() over () - 1 as place from watchpost.channels
    ), d as (
      insert into watchpost.deliveries (alert_id, channel_id, type)
      select a.id, c.id, 'alert.raised'
      from (select id, row_number() over () as place from a) a
      join c on c.place = a.place % $2
      returning id, channel_id
    )
    select count(private.enqueue('deliver', id, jsonb_build_object('delivery_id', id),
      p_group => channel_id::text)) from d`,
    [MANY, CHANNELS],
  )
}

/** Nothing is lost and nothing doubled: at the receiver, among the deliveries and their attempts. */
async function expectEachOnce(database: TestDatabase, received: Received[]): Promise<void> {
  const [kept] = await database.query<{ done: number; attempts: number }>(
    `select (select count(*)::integer from watchpost.deliveries where status = 'succeeded') as done,
      (select count(*)::integer from watchpost.delivery_attempts) as attempts`,
  )
  expect(kept).toEqual({ done: MANY, attempts: MANY })
  const ids = received.map(({ headers }) => headers['webhook-id'])
  expect(ids).toHaveLength(MANY)
  expect(new Set(ids).size).toBe(MANY)
}

async function expectNoConnections(database: TestDatabase): Promise<void> {
  await vi.waitFor(async () => {
    const open = await database.query(
      `select application_name, state from pg_stat_activity
      where datname = current_database() and usename = 'watchpost_jobs'`,
    )
    expect(open).toEqual([])
  }, 10_000)
}
