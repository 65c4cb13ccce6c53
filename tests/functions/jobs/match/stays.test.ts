import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { Alert } from '../../../../shared/schemas/alert.ts'
import { createTestJobs, quake, type TestJobs } from '../../../support/jobs.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

// How the end of a stay is told: by a position outside, or by 24 hours of silence.
let service: Service
let jobs: TestJobs
let person: Person
let zoneId: string

beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service)
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})
beforeEach(async () => {
  person = await service.person()
  const channel = { kind: 'webhook', target: 'https://hooks.example.com/in' }
  await service.request('POST', '/api/v1/channels', { key: person.key, body: channel })
  zoneId = await zone()
  await jobs.drain()
  service.receiver.requests.length = 0
})

const Zone = z.object({ zone: z.object({ id: z.uuid() }) })
async function zone(): Promise<string> {
  const body = { label: 'Strait', lat: 60, lon: 20, radius_km: 10, types: ['vessel'] }
  const made = await service.request('POST', '/api/v1/zones', { key: person.key, body })
  return parsed(made, 201, Zone).zone.id
}

const start = Date.now() - 50 * 3_600_000
let ships = 0
/** A ship of its own; each call is a position, so many minutes after the start. */
function ship() {
  const mmsi = 230_000_000 + ++ships
  return (minutes: number, lat = 60) =>
    quake({
      id: `test:${mmsi}:${minutes}`,
      type: 'vessel',
      title: `SHIP ${mmsi}`,
      subject: `mmsi:${mmsi}`,
      severity: 0,
      lat,
      lon: 20,
      ts: new Date(start + minutes * 60_000).toISOString(),
    })
}

const Message = z.object({ type: z.string(), data: z.object({ alert: Alert }) })
/** What this person's zone told. */
const told = () =>
  service.receiver.requests
    .map(({ body }) => Message.parse(JSON.parse(body)))
    .filter(({ data }) => data.alert.zone_id === zoneId)
    .map(({ type, data }) => [type, data.alert.event_id, data.alert.reason])
const alerts = async () => {
  const answer = await service.request('GET', '/api/v1/alerts?days=7', { key: person.key })
  return parsed(answer, 200, z.object({ alerts: z.array(Alert) })).alerts
}
/** As if nothing had been heard for a day. */
const wait = () =>
  service.database.query(
    `update watchpost.match_memory set updated_at = now() - interval '25 hours' where zone_id = $1`,
    [zoneId],
  )

test('a ship that leaves ends its alert, once, with its place', async () => {
  const at = ship()
  await jobs.ingest(at(0), at(10))
  await jobs.drain()
  await jobs.ingest(at(60, 60.3), at(70, 60.4))
  await jobs.drain()
  expect(told()).toEqual([
    ['alert.raised', at(0).id, expect.stringContaining('reaches 0')],
    ['alert.ended', at(0).id, expect.stringContaining('it has left the zone')],
  ])
  const [alert] = await alerts()
  expect(alert?.updates).toMatchObject([
    { kind: 'ended', changes: { place: [{ lat: 60 }, { lat: 60.3 }] } },
  ])
})

test('a ship that falls silent ends its alert after 24 hours, once', async () => {
  const at = ship()
  await jobs.ingest(at(0))
  await jobs.drain()
  const restarted = () => createTestJobs(service)
  const early = await restarted()
  await early.drain()
  await wait()
  for (const process of [await restarted(), await restarted()]) {
    await process.drain()
    await process.close()
  }
  await early.close()
  expect(told()).toEqual([
    ['alert.raised', at(0).id, expect.anything()],
    ['alert.ended', at(0).id, expect.stringContaining('it was not seen for 24 hours')],
  ])
})

test('a position by which a stay only goes on leaves its memory and what is indexed as they were', async () => {
  const at = ship()
  await jobs.ingest(at(0))
  await jobs.drain()
  const stored = () =>
    service.database.query<{ seen_at: string | null; memory: object; updated_at: string }>(
      `select seen_at, memory, updated_at from watchpost.match_memory where zone_id = $1`,
      [zoneId],
    )
  const [first] = await stored()
  expect(first?.seen_at).toBeNull()
  await jobs.ingest(at(1), at(2))
  await jobs.drain()
  expect(await stored()).toEqual([{ ...first, seen_at: new Date(at(2).ts) }])
  await service.database.query(
    `update watchpost.match_memory set updated_at = now() - interval '61 minutes' where zone_id = $1`,
    [zoneId],
  )
  await jobs.ingest(at(3))
  await jobs.drain()
  const [later] = await stored()
  expect(Date.parse(String(later?.updated_at))).toBeGreaterThan(Date.now() - 60_000)
  // One that is no sample, and therefore goes, is not noted; the next sample is.
  await jobs.ingest(at(3 + 1 / 6))
  await jobs.drain()
  expect(await stored()).toEqual([later])
  await jobs.ingest(at(3 + 2 / 6), at(4))
  await jobs.drain()
  expect(await stored()).toEqual([{ ...later, seen_at: new Date(at(4).ts) }])
})

test('a ship that came before its zone was moved away is in the zone as it was', async () => {
  const at = ship()
  await jobs.ingest(at(0))
  const moved = await service.request('PATCH', `/api/v1/zones/${zoneId}`, {
    key: person.key,
    body: { lat: 10 },
  })
  expect(moved.status).toBe(200)
  await jobs.drain()
  expect(told().map(([type, id]) => [type, id])).toEqual([['alert.raised', at(0).id]])
})

test('what another source saw before a ship was seen last is late, and its silence counts from then', async () => {
  const at = ship()
  const zoned = (minutes: number, lat?: number) => ({
    ...at(minutes, lat),
    ...{ id: `other:${minutes}`, source: 'other' },
  })
  await service.database.query(
    `insert into watchpost.sources (source, title, attribution, types, interval_seconds)
    values ('other', 'Other', 'Other', '{vessel}', 60) on conflict do nothing`,
  )
  await jobs.ingest(at(0))
  await jobs.drain()
  // A day and an hour after the first position, but half an hour after the one before it.
  for (const minutes of [23 * 60, 24 * 60 + 30, 25 * 60]) {
    await jobs.ingest(at(minutes))
    await jobs.drain()
  }
  await jobs.ingest(zoned(24 * 60, 60.4))
  await jobs.drain()
  expect(told().map(([type]) => type)).toEqual(['alert.raised'])
  await jobs.ingest(zoned(25 * 60 + 1, 60.4))
  await jobs.drain()
  expect(told().map(([type]) => type)).toEqual(['alert.raised', 'alert.ended'])
})

test('a ship that was seen within 24 hours has not fallen silent', async () => {
  const at = ship()
  const hours = (ago: number) => (Date.now() - start) / 60_000 - ago * 60
  await jobs.ingest(at(hours(26)))
  await jobs.drain()
  await jobs.ingest(at(hours(23)))
  await jobs.drain()
  await wait()
  const other = await createTestJobs(service)
  await other.drain()
  await other.close()
  expect(told().map(([type]) => type)).toEqual(['alert.raised'])
})

test('a ship that comes back after a day of silence ends the old alert and raises a new one', async () => {
  const at = ship()
  await jobs.ingest(at(0))
  await jobs.drain()
  await jobs.ingest(at(25 * 60))
  await jobs.drain()
  expect(told()).toEqual(
    expect.arrayContaining([
      ['alert.raised', at(0).id, expect.anything()],
      ['alert.raised', at(25 * 60).id, expect.anything()],
      ['alert.ended', at(0).id, expect.anything()],
    ]),
  )
  const [second, first] = await alerts()
  expect(second).toMatchObject({ event_id: at(25 * 60).id, updates: [] })
  expect(first).toMatchObject({ event_id: at(0).id, updates: [{ kind: 'ended' }] })
})

test('a zone that is off is not told of the end, and nor is it when it is on again', async () => {
  const at = ship()
  await jobs.ingest(at(0))
  await jobs.drain()
  const patch = (body: object) =>
    service.request('PATCH', `/api/v1/zones/${zoneId}`, { key: person.key, body })
  await patch({ enabled: false })
  await jobs.drain()
  await wait()
  const other = await createTestJobs(service)
  await other.drain()
  await patch({ enabled: true })
  await other.drain()
  await other.close()
  expect(told().map(([type]) => type)).toEqual(['alert.raised'])
  expect(
    await service.database.query(
      `select memory ->> 'began_at' as began_at from watchpost.match_memory where zone_id = $1`,
      [zoneId],
    ),
  ).toEqual([{ began_at: null }])
})

test('a position no ship could reach is no stay, and ends none', async () => {
  const [at, ghost] = [ship(), ship()]
  await jobs.ingest(at(0), ghost(0, 50), at(5, 40), ghost(5), at(10))
  await jobs.drain()
  expect(told()).toEqual([['alert.raised', at(0).id, expect.anything()]])
  await jobs.ingest(ghost(8))
  await jobs.drain()
  expect(told().map(([, id]) => id)).toEqual([at(0).id, ghost(8).id])
})
