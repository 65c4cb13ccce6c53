import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
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
  await registerSource(service, 'other')
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

const HOUR = 3_600_000
const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
const Explained = z.object({ live: z.boolean(), raised: z.boolean(), checks: z.array(Check) })
const Previewed = z.object({ count: z.int(), suppressed: z.record(z.string(), z.int()) })

const ask = ({ key }: Person, method: string, path: string, body?: object) =>
  service.request(method, `/api/v1/${path}`, { key, body })

let places = 0
/** A zone of 100 km that excludes aftershocks, and a channel; each at a place of its own. */
async function setUp(fields: object = {}) {
  places += 1
  const here = { lat: -60 + 8 * places, lon: 20 }
  const person = await service.person()
  await ask(person, 'POST', 'channels', { kind: 'webhook', target: 'https://hooks.example.com/in' })
  const body = { label: 'A place', radius_km: 100, min_severity: 0, aftershocks: {}, ...fields }
  const made = await ask(person, 'POST', 'zones', { ...here, ...body })
  const { zone } = parsed(made, 201, z.object({ zone: z.object({ id: z.uuid() }) }))
  await jobs.drain()
  service.receiver.requests.length = 0
  const at = (magnitude: number, hours: number, more: Partial<NormalisedEvent> = {}) =>
    quake({
      ...here,
      magnitude,
      severity: Math.round(magnitude * 10),
      ts: ago(hours * HOUR),
      ...more,
    })
  return { person, here, zone: zone.id, at }
}

async function ingest(...events: Parameters<TestJobs['ingest']>) {
  await jobs.ingest(...events)
  await jobs.drain()
}

async function alertedOf(person: Person) {
  const answer = await ask(person, 'GET', 'alerts?days=30&limit=200')
  const { alerts } = parsed(answer, 200, z.object({ alerts: z.array(Alert) }))
  return alerts.map(({ event_id }) => event_id).sort()
}

async function explain(person: Person, zone: string, { id }: { id: string }) {
  const answer = await ask(
    person,
    'GET',
    `zones/${zone}/explain?event_id=${encodeURIComponent(id)}`,
  )
  const { checks, ...explained } = parsed(answer, 200, Explained)
  return { ...explained, aftershock: checks.find(({ name }) => name === 'aftershock') }
}

async function preview(person: Person, zone: string) {
  return parsed(await ask(person, 'GET', `zones/${zone}/preview?days=7`), 200, Previewed)
}

describe('the aftershocks of a large earthquake', () => {
  test('raise no alert, all but the strong, far and late ones; preview and explain say so', async () => {
    const { person, here, zone, at } = await setUp()
    const main = at(7.1, 5)
    await ingest(main)
    const swarm = Array.from({ length: 50 }, (_, n) =>
      at(3 + (n % 20) / 10, 4.9 - n / 20, { lon: here.lon + (n % 10) / 20 }),
    )
    const strong = at(5.1, 2)
    const far = at(4.5, 2, { lat: here.lat + 0.87 })
    const unknown = at(4.5, 2, { magnitude: null })
    for (let n = 0; n < swarm.length; n += 10) await ingest(...swarm.slice(n, n + 10))
    await ingest(strong, far, unknown)
    const alerted = [main, strong, far, unknown].map(({ id }) => id).sort()
    expect(await alertedOf(person)).toEqual(alerted)

    expect(await preview(person, zone)).toMatchObject({ count: 4, suppressed: { aftershock: 50 } })
    const draft = { label: 'Draft', ...here, radius_km: 100, min_severity: 0 }
    const without = await ask(person, 'POST', 'zones/preview?days=7', draft)
    expect(parsed(without, 200, Previewed)).toMatchObject({
      count: 54,
      suppressed: { aftershock: 0 },
    })

    const one = await explain(person, zone, swarm[0] ?? main)
    expect(one).toMatchObject({
      live: false,
      raised: false,
      aftershock: {
        passed: false,
        magnitude: 3,
        magnitude_gap: 2,
        mainshock: { event_id: main.id, magnitude: 7.1, distance_km: 0, days: 60, ts: main.ts },
      },
    })
    const passed = await explain(person, zone, strong)
    expect(passed).toMatchObject({ raised: true, aftershock: { passed: true, magnitude: 5.1 } })
  })

  test('of a mainshock outside the zone, by another source, which the zone does not hear of', async () => {
    const { person, here, at } = await setUp({ sources: ['test'], types: ['earthquake'] })
    const main = at(7.5, 5, { id: 'other:main', source: 'other', lon: here.lon + 1.5 })
    await ingest(main)
    await ingest(at(4.5, 2))
    expect(await alertedOf(person)).toEqual([])
  })

  test('in the same answer as the mainshock are known to be its', async () => {
    const { person, at } = await setUp()
    const main = at(6.5, 5)
    await ingest(at(4, 4.9), main, at(4.1, 4.8))
    expect(await alertedOf(person)).toEqual([main.id])
  })

  test('are those of one of magnitude 5.5, and not of a smaller one', async () => {
    const { person, here, at } = await setUp()
    const near = { lat: here.lat + 0.5 }
    const [small, enough] = [at(5.4, 5), at(5.5, 5, near)]
    await ingest(small, enough)
    const after = [at(3, 4), at(3.1, 4, near)]
    await ingest(...after)
    expect(await alertedOf(person)).toEqual(
      [small, enough, ...after.slice(0, 1)].map(({ id }) => id).sort(),
    )
  })

  test('pass as an emergency, and once they turn out to be stronger', async () => {
    const { person, zone, at } = await setUp({ emergency_severity: 45 })
    const [main, weak, strong] = [at(7, 5), at(4.4, 3), at(4.5, 3)]
    await ingest(main)
    await ingest(weak, strong)
    expect(await alertedOf(person)).toEqual([main.id, strong.id].sort())
    const { aftershock } = await explain(person, zone, strong)
    expect(aftershock).toMatchObject({ passed: true, overridden_by_emergency: true })
    await ingest({ ...weak, magnitude: 5.2, severity: 44 })
    expect(await alertedOf(person)).toEqual([main.id, strong.id, weak.id].sort())
    expect(await preview(person, zone)).toMatchObject({ count: 3, suppressed: { aftershock: 0 } })
  })
})

describe('a mainshock counts as it was known', () => {
  test('neither before it was large enough nor after it was retracted', async () => {
    const { person, zone, at } = await setUp()
    const main = at(5.4, 5)
    const [before, between, after] = [at(3, 4), at(3.1, 3), at(3.2, 2)]
    await ingest(main)
    await ingest(before)
    await ingest({ ...main, magnitude: 6.6 })
    await ingest(between)
    // What has vanished from a list is withdrawn without its magnitude.
    await ingest({ ...main, magnitude: null, status: 'retracted' })
    await ingest(after)
    expect(await alertedOf(person)).toEqual([main.id, before.id, after.id].sort())
    expect(await explain(person, zone, between)).toMatchObject({
      raised: false,
      aftershock: { passed: false, mainshock: { event_id: main.id, magnitude: 6.6 } },
    })
    expect(await preview(person, zone)).toMatchObject({ count: 3, suppressed: { aftershock: 1 } })
    const rows = await service.database.query(
      'select magnitude, counts from watchpost.mainshocks where event_id = $1 order by first_seen_at',
      [main.id],
    )
    expect(rows).toEqual([
      { magnitude: 6.6, counts: true },
      { magnitude: 6.6, counts: false },
    ])
  })

  test('not when it is an event of somebody’s own', async () => {
    const { person, at } = await setUp()
    const { id, source: _, aliases: __, ...main } = at(7, 5)
    const events = [{ ...main, id: id.slice('test:'.length) }]
    const pushed = await ask(person, 'POST', 'events', { source: 'custom:mine', events })
    expect(pushed.body).toMatchObject({ accepted: 1 })
    await jobs.drain()
    const small = at(3, 2)
    await ingest(small)
    expect(await alertedOf(person)).toContain(small.id)
  })

  test('still when its revisions are no longer kept, and not for ever', async () => {
    const { query } = service.database
    const { person, here, zone, at } = await setUp()
    const days = (count: number) => ago(count * 24 * HOUR)
    const old = { ...at(8.3, 0), ts: days(110), first_seen_at: days(110) }
    const ancient = {
      ...at(8.4, 0, { lat: here.lat + 1 }),
      ts: days(221),
      first_seen_at: days(221),
    }
    await jobs.ingest(old, ancient)
    await query(`update watchpost.batches set matched_at = now()`)
    await query('select private.purge()')
    const kept = await query('select event_id from watchpost.event_revisions where event_id = $1', [
      old.id,
    ])
    expect(kept).toEqual([])
    const known = await query(
      'select event_id from watchpost.mainshocks where event_id = any($1)',
      [[old.id, ancient.id]],
    )
    expect(known).toEqual([{ event_id: old.id }])
    // Its revisions are counted anew.
    await ingest({ ...old, first_seen_at: ago(0), magnitude: 8.2 })
    const late = at(5, 1)
    await ingest(late)
    expect(await alertedOf(person)).toEqual([])
    expect(await explain(person, zone, late)).toMatchObject({
      aftershock: { passed: false, mainshock: { event_id: old.id, days: 120 } },
    })
    expect(await preview(person, zone)).toMatchObject({ count: 0, suppressed: { aftershock: 1 } })
  })
})
