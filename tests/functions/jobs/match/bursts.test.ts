import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { inTransaction } from '../../../../functions/db.ts'
import { lockBursts } from '../../../../functions/jobs/swarm.ts'
import { Check } from '../../../../shared/decide/checks.ts'
import { Alert } from '../../../../shared/schemas/alert.ts'
import type { NormalisedEvent } from '../../../../shared/schemas/event.ts'
import { createTestJobs, quake, registerSource, type TestJobs } from '../../../support/jobs.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

let service: Service
let jobs: TestJobs
beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service)
  for (const source of ['second', 'third']) await registerSource(service, source)
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

const ask = ({ key }: Person, method: string, path: string, body?: object) =>
  service.request(method, `/api/v1/${path}`, { key, body })

let places = 0
async function setUp(fields: object = {}, messages?: string[]) {
  places += 1
  const here = { lat: -60 + 3 * places, lon: 20 }
  const person = await service.person()
  const channel = { kind: 'webhook', target: 'https://hooks.example.com/in', messages }
  await ask(person, 'POST', 'channels', channel)
  const body = { label: 'A place', max_alerts_per_hour: 5, ...here, ...fields }
  const made = await ask(person, 'POST', 'zones', body)
  const { zone } = parsed(made, 201, z.object({ zone: z.object({ id: z.uuid() }) }))
  await jobs.drain()
  service.receiver.requests.length = 0
  const some = (count: number, more: Partial<NormalisedEvent> = {}) =>
    Array.from({ length: count }, () => quake({ ...here, ...more }))
  return { person, here, zone: zone.id, some }
}

async function ingest(...events: NormalisedEvent[]) {
  await jobs.ingest(...events)
  await jobs.drain()
}

async function alertsOf(person: Person) {
  const answer = await ask(person, 'GET', 'alerts?days=7&limit=200')
  return parsed(answer, 200, z.object({ alerts: z.array(Alert) })).alerts
}
async function statuses(person: Person) {
  const counted = Map.groupBy(await alertsOf(person), ({ status }) => status)
  return Object.fromEntries([...counted].map(([status, alerts]) => [status, alerts.length]))
}

async function patch(person: Person, zone: string, body: object) {
  expect((await ask(person, 'PATCH', `zones/${zone}`, body)).status).toBe(200)
  await jobs.drain()
}

async function explain(person: Person, zone: string, id: string) {
  const answer = await ask(
    person,
    'GET',
    `zones/${zone}/explain?event_id=${encodeURIComponent(id)}`,
  )
  return parsed(
    answer,
    200,
    z.object({ raised: z.boolean(), reason: z.string(), checks: z.array(Check) }),
  )
}

const clock = (minutes: number) =>
  new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)

const Message = z.object({
  type: z.string(),
  data: z.object({
    summary: z.string().nullable().optional(),
    alerts: z.array(z.unknown()).optional(),
    alerts_total: z.int().optional(),
  }),
})
const sent = () => service.receiver.requests.map(({ body }) => Message.parse(JSON.parse(body)))
/** What was sent: each type of message how often, and what digests say. */
function sentInShort() {
  const digests = sent().filter(({ type }) => type === 'alert.digest')
  return {
    raised: sent().filter(({ type }) => type === 'alert.raised').length,
    summaries: [...new Set(digests.map(({ data }) => data.summary))],
    totals: [...new Set(digests.map(({ data }) => data.alerts_total))],
    carried: digests.flatMap(({ data }) => data.alerts ?? []).length,
  }
}

/** Lets the hour of every burst be over. */
async function passHour(zone: string) {
  const { query } = service.database
  await query(
    `update watchpost.alerts set held_until = now() where zone_id = $1 and status = 'held'`,
    [zone],
  )
  await query(
    `update watchpost.match_memory set memory = '{"kind": "burst", "sent": [], "until": null}'
    where zone_id = $1 and key = 'burst'`,
    [zone],
  )
  await query(
    `update pgboss.job set start_after = now() where name = 'release' and state = 'created'`,
  )
  await jobs.drain()
}

describe('of 20 alerts with a limit of 5', () => {
  test('five are sent at once and the others as one digest, each of them once', async () => {
    const { person, zone, some } = await setUp()
    const events = some(20)
    for (let n = 0; n < 20; n += 4) await ingest(...events.slice(n, n + 4))
    expect(await statuses(person)).toEqual({ dispatched: 5, held: 15 })
    expect(sentInShort()).toEqual({ raised: 5, summaries: [], totals: [], carried: 0 })

    const alerts = await alertsOf(person)
    const held = alerts.filter(({ status }) => status === 'held')
    expect(new Set(held.map(({ held_until }) => held_until)).size).toBe(1)
    const { raised, reason, checks } = await explain(person, zone, held[0]?.event_id ?? '')
    expect(raised).toBe(false)
    expect(reason).toContain('5 alerts were sent in the hour before, of at most 5')
    expect(checks.at(-1)).toMatchObject({
      ...{ name: 'burst', passed: false, sent: 5, max_alerts_per_hour: 5 },
      ...{ window_end: held[0]?.held_until, held_until: held[0]?.held_until },
    })
    const preview = await ask(person, 'GET', `zones/${zone}/preview?days=2`)
    expect(preview.body).toMatchObject({ count: 5, suppressed: { burst: 15 } })

    await passHour(zone)
    expect(await statuses(person)).toEqual({ dispatched: 20 })
    expect(sentInShort()).toEqual({
      ...{ raised: 5, summaries: ['15 more in this zone'], totals: [15], carried: 15 },
    })
    await ingest(...some(1))
    expect(sentInShort().raised).toBe(6)
  })

  test('an event that raises none is explained with the numbers of its time', async () => {
    const { person, zone, some } = await setUp({ max_alerts_per_hour: 1 })
    const [weak] = some(1, { severity: 5 })
    await ingest(...some(2), ...(weak ? [weak] : []))
    const { checks } = await explain(person, zone, weak?.id ?? '')
    expect(checks.at(-1)).toMatchObject({ name: 'burst', passed: false, sent: 1 })
  })

  test('emergencies, updates and escalations pass', async () => {
    const { person, some } = await setUp({ max_alerts_per_hour: 1, emergency_severity: 80 })
    const [first, held, ...emergencies] = [...some(2), ...some(2, { severity: 85 })]
    if (!first || !held) throw new Error('two were made')
    await ingest(first)
    await ingest(held, ...emergencies)
    expect(await statuses(person)).toEqual({ dispatched: 3, held: 1 })
    await ingest({ ...first, severity: 81 })
    // It was severe and is extreme: the held alert goes out.
    await ingest({ ...held, severity: 82 })
    expect(await statuses(person)).toEqual({ dispatched: 4 })
    expect(sent().map(({ type }) => type)).toEqual([
      ...Array(3).fill('alert.raised'),
      'alert.escalated',
      'alert.raised',
    ])
  })

  test('a channel that takes no digest gets what was held one by one', async () => {
    const { person, zone, some } = await setUp({}, ['alert.raised'])
    await ingest(...some(8))
    expect(sentInShort().raised).toBe(5)
    await passHour(zone)
    expect(sentInShort()).toMatchObject({ raised: 8, carried: 0 })
    expect(await statuses(person)).toEqual({ dispatched: 8 })
  })

  test('a digest of quiet hours says nothing of a burst', async () => {
    const quiet = { quiet_hours_start: clock(-60), quiet_hours_end: clock(60) }
    const { zone, some } = await setUp({ max_alerts_per_hour: 1, ...quiet })
    await ingest(...some(3))
    await passHour(zone)
    expect(sentInShort()).toMatchObject({ raised: 0, summaries: [null], totals: [3] })
  })
})

describe('while alerts of a burst are held', () => {
  test('an edit leaves them, and one that allows more sends them', async () => {
    const { person, zone, some } = await setUp()
    await ingest(...some(9))
    await patch(person, zone, { label: 'Another name' })
    expect(await statuses(person)).toEqual({ dispatched: 5, held: 4 })
    await patch(person, zone, { max_alerts_per_hour: 6 })
    expect(await statuses(person)).toEqual({ dispatched: 9 })
    expect(sentInShort()).toMatchObject({ raised: 5, summaries: ['4 more in this zone'] })
    await ingest(...some(3))
    expect(await statuses(person)).toEqual({ dispatched: 10, held: 2 })
    await patch(person, zone, { max_alerts_per_hour: null })
    expect(await statuses(person)).toEqual({ dispatched: 12 })
  })

  test.each([30, 240])(
    'an edit that ends quiet hours of %i more minutes sends what those held, not what the burst holds',
    async (minutes) => {
      const { person, zone, some } = await setUp({ max_alerts_per_hour: 2 })
      await ingest(...some(3))
      const quiet = { quiet_hours_start: clock(-60), quiet_hours_end: clock(minutes) }
      await patch(person, zone, quiet)
      await ingest(...some(2))
      expect(await statuses(person)).toEqual({ dispatched: 2, held: 3 })
      await patch(person, zone, { quiet_hours_start: null, quiet_hours_end: null })
      expect(await statuses(person)).toEqual({ dispatched: 4, held: 1 })
      await passHour(zone)
      expect(await statuses(person)).toEqual({ dispatched: 5 })
      expect(sentInShort()).toMatchObject({ raised: 2, summaries: [null, '1 more in this zone'] })
    },
  )

  test('a zone that is switched off records them as suppressed', async () => {
    const { person, zone, some } = await setUp()
    await ingest(...some(7))
    await patch(person, zone, { enabled: false })
    expect(await statuses(person)).toEqual({ dispatched: 5, held: 2 })
    await passHour(zone)
    expect(await statuses(person)).toEqual({ dispatched: 5, suppressed: 2 })
    expect(sentInShort()).toMatchObject({ raised: 5, carried: 0 })
  })
})

describe('sources that are matched at the same time', () => {
  test('share the limit and do not wait for each other in a circle', async () => {
    const zones = await Promise.all(
      [0, 1, 2, 3].map(() => setUp({ max_alerts_per_hour: 3, min_severity: 0 })),
    )
    const others = await createTestJobs(service)
    const from = jobs.lines.length
    for (let round = 0; round < 4; round++) {
      for (const source of ['test', 'second', 'third']) {
        // Each source comes to the zones in an order of its own.
        const turned = zones.map((_, n) => zones[(n * 3 + round) % 4] ?? zones[0])
        const id = () => `${source}:${Math.random()}`
        const events = turned.flatMap((zone) => zone?.some(2, { source, id: id() }) ?? [])
        await jobs.ingest(...events.map((event, n) => ({ ...event, id: `${event.id}-${n}` })))
      }
      await Promise.all([jobs.drain(), others.drain()])
    }
    await others.close()
    for (const { person } of zones) {
      expect(await statuses(person)).toEqual({ dispatched: 3, held: 21 })
    }
    const failed = jobs.lines.slice(from).filter(({ outcome }) => outcome === 'failed')
    expect(failed).toEqual([])
  })

  test('wait for each other, and each sees what the one before sent', async () => {
    const { zone } = await setUp({ max_alerts_per_hour: 3 })
    const at = { id: zone, prepared: { zone: { max_alerts_per_hour: 3 } } }
    const zones = [at] as unknown as Parameters<typeof lockBursts>[1] // safe: it reads nothing else
    // The row is there already, so that only its lock can make the second wait.
    await inTransaction(jobs.db, (sql) => lockBursts(sql, zones))
    const order: string[] = []
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let locked = () => {}
    const isLocked = new Promise<void>((resolve) => {
      locked = resolve
    })
    const first = inTransaction(jobs.db, async (sql) => {
      await lockBursts(sql, zones)
      locked()
      await held
      await sql`
        update watchpost.match_memory set memory = jsonb_set(memory, '{sent}', '["2026-01-01T00:00:00.000Z"]')
        where zone_id = ${zone} and key = 'burst'`
      order.push('first')
    })
    await isLocked
    const second = inTransaction(jobs.db, async (sql) => {
      const bursts = await lockBursts(sql, zones)
      order.push('second')
      return bursts.get(zone)?.sent
    })
    await waitForLock()
    release()
    await first
    expect(await second).toEqual(['2026-01-01T00:00:00.000Z'])
    expect(order).toEqual(['first', 'second'])
  })
})

/** Until a statement waits for a lock. */
async function waitForLock() {
  for (;;) {
    const rows = await service.database.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%match_memory%' and pid <> pg_backend_pid()`,
    )
    if (rows.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
