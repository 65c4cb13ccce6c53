import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Alert } from '../../../shared/schemas/alert.ts'
import { createTestJobs, quake, registerSource, type TestJobs } from '../../support/jobs.ts'
import {
  createService,
  type Person,
  parsed,
  type Service,
  sendResult,
} from '../../support/service.ts'

let service: Service
let jobs: TestJobs

beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service)
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

const Alerts = z.object({ alerts: z.array(Alert) })
const Zone = z.object({ zone: z.object({ id: z.uuid() }) })
const Channel = z.object({ channel: z.object({ id: z.uuid(), signing_secret: z.string() }) })
const CALIFORNIA = { label: 'Southern California', lat: 33.9, lon: -117.5, radius_km: 300 }

async function channel(person: Person) {
  const made = await service.request('POST', '/api/v1/channels', {
    key: person.key,
    body: { kind: 'webhook', target: 'https://hooks.example.com/in' },
  })
  return parsed(made, 201, Channel).channel
}

async function zone(person: Person, fields: object = {}) {
  const body = { ...CALIFORNIA, ...fields }
  const made = await service.request('POST', '/api/v1/zones', { key: person.key, body })
  return parsed(made, 201, Zone).zone.id
}

async function alertsOf(person: Person, query = '') {
  const answer = await service.request('GET', `/api/v1/alerts?days=7${query}`, { key: person.key })
  return parsed(answer, 200, Alerts).alerts
}

test('an event inside a zone reaches a signed webhook and stands in the history', async () => {
  const person = await service.person()
  const { signing_secret } = await channel(person)
  const zoneId = await zone(person)
  await jobs.drain()
  service.receiver.requests.length = 0
  const event = quake({ severity: 71, title: 'M 5.7 - near Riverside' })
  await jobs.ingest(event)
  await jobs.drain()

  const sent = service.receiver.requests.find((request) => request.body.includes(event.id))
  if (!sent) throw new Error('nothing was sent')
  const message = z
    .object({
      type: z.string(),
      timestamp: z.string(),
      data: z.object({ alert: Alert, zone: z.unknown() }),
    })
    .parse(new Webhook(signing_secret).verify(sent.body, sent.headers))
  expect(message.type).toBe('alert.raised')
  expect(message.timestamp).toBe(event.ts)
  expect(message.data.alert.event).toMatchObject({ id: event.id, severity: 71 })
  expect(message.data.zone).toEqual({ id: zoneId, label: CALIFORNIA.label })

  const [alert, ...others] = await alertsOf(person)
  expect(others).toEqual([])
  expect(alert).toMatchObject({
    zone_id: zoneId,
    event_id: event.id,
    severity: 71,
    status: 'dispatched',
    channel: 'webhook',
  })
  expect(alert?.deliveries).toMatchObject([
    { id: sent.headers['webhook-id'], kind: 'alert.raised', status: 'succeeded', attempts: 1 },
  ])
})

test('an event outside, or below the threshold, leaves no row', async () => {
  const person = await service.person()
  await zone(person, { min_severity: 50 })
  await jobs.ingest(quake({ lat: 10, lon: 10 }), quake({ severity: 49 }))
  await jobs.drain()
  expect(await alertsOf(person)).toEqual([])
})

test('without a channel an alert is recorded', async () => {
  const person = await service.person()
  await zone(person)
  await jobs.ingest(quake())
  await jobs.drain()
  expect(await alertsOf(person)).toMatchObject([{ status: 'recorded', deliveries: [] }])
})

test('a revision that makes it worse is told as an escalation, once', async () => {
  const person = await service.person()
  await channel(person)
  await zone(person)
  const event = quake({ severity: 45 })
  await jobs.ingest(event)
  await jobs.drain()
  service.receiver.requests.length = 0
  await jobs.ingest({ ...event, severity: 82, title: 'M 6.3' })
  await jobs.drain()
  await jobs.ingest({ ...event, severity: 82, title: 'M 6.3' })
  await jobs.drain()
  const mine = (await alertsOf(person))[0]
  expect(mine?.updates).toMatchObject([{ kind: 'escalated' }])
  expect(mine?.severity).toBe(82)
  expect(mine?.deliveries.map((delivery) => delivery.kind)).toEqual([
    'alert.raised',
    'alert.escalated',
  ])
  const types = service.receiver.requests
    .filter((request) => request.body.includes(mine?.id ?? ''))
    .map((request) => JSON.parse(request.body).type)
  expect(types).toEqual(['alert.escalated'])
})

test('a retracted event is told to those who heard of it', async () => {
  const person = await service.person()
  await channel(person)
  await zone(person)
  const event = quake()
  await jobs.ingest(event)
  await jobs.drain()
  await jobs.ingest({ ...event, status: 'retracted' })
  await jobs.drain()
  const [alert] = await alertsOf(person)
  expect(alert?.updates).toMatchObject([{ kind: 'retracted' }])
  expect(alert?.deliveries.map((delivery) => delivery.status)).toEqual(['succeeded', 'succeeded'])
})

test('an alias of a known event is the same event', async () => {
  const person = await service.person()
  await zone(person)
  const event = quake({ aliases: ['test:alias-a', 'test:alias-b'] })
  await jobs.ingest(event)
  await jobs.ingest({ ...event, id: 'test:alias-b', severity: 61 })
  await jobs.drain()
  expect(await alertsOf(person)).toMatchObject([{ event_id: event.id }])
})

test('a failing receiver is tried again with the same id, and every attempt is kept', async () => {
  const person = await service.person()
  const { id } = await channel(person)
  await zone(person)
  const normal = service.receiver.answer
  service.receiver.answer = () => sendResult(500, 'broken')
  await jobs.ingest(quake())
  await jobs.drain()
  const [before] = await alertsOf(person)
  expect(before).toMatchObject({ status: 'pending' })
  expect(before?.deliveries).toMatchObject([{ status: 'queued', attempts: 1 }])
  service.receiver.answer = normal
  await service.database.query(
    `update pgboss.job set start_after = now() where name = 'deliver' and state = 'created'`,
  )
  await jobs.drain()
  const [after] = await alertsOf(person)
  expect(after).toMatchObject({ status: 'dispatched' })
  expect(after?.deliveries).toMatchObject([{ status: 'succeeded', attempts: 2 }])
  const ids = service.receiver.requests
    .filter((request) => request.body.includes(before?.id ?? ''))
    .map((request) => request.headers['webhook-id'])
  expect(new Set(ids).size).toBe(1)
  expect(ids.length).toBe(2)
  const attempts = await service.request('GET', `/api/v1/channels/${id}/deliveries`, {
    key: person.key,
  })
  expect(attempts.text).toContain('broken')
})

test('410 switches the channel off and fails the alert', async () => {
  const person = await service.person()
  const { id } = await channel(person)
  await zone(person)
  const normal = service.receiver.answer
  service.receiver.answer = () => sendResult(410)
  await jobs.ingest(quake())
  await jobs.drain()
  service.receiver.answer = normal
  expect(await alertsOf(person)).toMatchObject([{ status: 'failed' }])
  const answer = await service.request('GET', `/api/v1/channels/${id}`, { key: person.key })
  expect(answer.body).toMatchObject({ channel: { enabled: false, status: 'disabled' } })
})

test('quiet hours hold alerts and send one digest when the window ends', async () => {
  const person = await service.person()
  await channel(person)
  const now = new Date()
  const clock = (minutes: number) =>
    new Date(now.getTime() + minutes * 60_000).toISOString().slice(11, 16)
  const zoneId = await zone(person, { quiet_hours_start: clock(-60), quiet_hours_end: clock(60) })
  await jobs.ingest(quake({ severity: 50 }), quake({ severity: 70 }))
  await jobs.drain()
  const held = await alertsOf(person)
  expect(held.map((alert) => alert.status)).toEqual(['held', 'held'])
  expect(held[0]?.deliveries).toMatchObject([{ status: 'held' }])
  service.receiver.requests.length = 0
  const patched = await service.request('PATCH', `/api/v1/zones/${zoneId}`, {
    key: person.key,
    body: { quiet_hours_start: null, quiet_hours_end: null },
  })
  expect(patched.status).toBe(200)
  await jobs.drain()
  const mine = service.receiver.requests.filter((request) => request.body.includes(zoneId))
  expect(mine.map((request) => JSON.parse(request.body).type)).toEqual(['alert.digest'])
  expect(JSON.parse(mine[0]?.body ?? '').data.alerts).toHaveLength(2)
  const released = await alertsOf(person)
  expect(released.map((alert) => alert.status)).toEqual(['dispatched', 'dispatched'])
})

test('a snoozed zone records what it suppresses, and an escalation after the snooze is told', async () => {
  const person = await service.person()
  await channel(person)
  const zoneId = await zone(person, {
    snoozed_until: new Date(Date.now() + 3_600_000).toISOString(),
  })
  const event = quake({ severity: 50 })
  await jobs.ingest(event)
  await jobs.drain()
  expect(await alertsOf(person)).toMatchObject([{ status: 'suppressed', deliveries: [] }])
  await service.request('PATCH', `/api/v1/zones/${zoneId}`, {
    key: person.key,
    body: { snoozed_until: null },
  })
  await jobs.drain()
  expect(await alertsOf(person)).toMatchObject([{ status: 'suppressed' }])
  await jobs.ingest({ ...event, severity: 85 })
  await jobs.drain()
  expect(await alertsOf(person)).toMatchObject([{ status: 'dispatched', severity: 85 }])
})

test('a new zone does not alert on what happened before, but on what still stands', async () => {
  const person = await service.person()
  await jobs.ingest(
    quake({ lat: -40, lon: 100, title: 'past' }),
    quake({
      lat: -40,
      lon: 100,
      type: 'storm',
      title: 'standing',
      ends_at: new Date(Date.now() + 3_600_000).toISOString(),
    }),
  )
  await jobs.drain()
  await zone(person, { lat: -40, lon: 100 })
  await jobs.drain()
  const alerts = await alertsOf(person)
  expect(alerts.map((alert) => alert.event.title)).toEqual(['standing'])
})

test('a deleted zone cancels what is pending', async () => {
  const person = await service.person()
  await channel(person)
  const zoneId = await zone(person)
  const normal = service.receiver.answer
  service.receiver.answer = () => sendResult(503)
  await jobs.ingest(quake())
  await jobs.drain()
  service.receiver.answer = normal
  const gone = await service.request('DELETE', `/api/v1/zones/${zoneId}`, { key: person.key })
  expect(gone.status).toBe(204)
  const rows = await service.database.query<{ status: string }>(
    `select d.status from watchpost.deliveries d join watchpost.alerts a on a.id = d.alert_id where a.zone_id = $1`,
    [zoneId],
  )
  expect(rows).toEqual([{ status: 'cancelled' }])
})

test('a vessel raises one alert a stay, after its dwell', async () => {
  const person = await service.person()
  await zone(person, {
    lat: 60,
    lon: 20,
    radius_km: 10,
    dwell_minutes: 10,
    types: ['vessel'],
    min_severity: 0,
  })
  const start = Date.now() - 90 * 60_000
  const at = (minutes: number, lat = 60) =>
    quake({
      id: `test:230000001:${minutes}`,
      type: 'vessel',
      title: 'AURORA',
      subject: 'mmsi:230000001',
      severity: 0,
      lat,
      lon: 20,
      ts: new Date(start + minutes * 60_000).toISOString(),
    })
  await jobs.ingest(at(0), at(5))
  await jobs.drain()
  expect(await alertsOf(person)).toEqual([])
  await jobs.ingest(at(11), at(12))
  await jobs.drain()
  expect(await alertsOf(person)).toMatchObject([{ event_id: 'test:230000001:11' }])
  // 33 km north, and back: no vessel is faster than that in between.
  await jobs.ingest(at(40, 60.3), at(60), at(71))
  await jobs.drain()
  expect((await alertsOf(person)).map((alert) => alert.event_id).sort()).toEqual([
    'test:230000001:11',
    'test:230000001:71',
  ])
})

test.each([
  ['below Pro', `update watchpost.accounts set plan = 'free' where user_id = $1`],
  ['banned', `update auth.users set banned_until = 'infinity' where id = $1`],
  ['deleted softly', 'update auth.users set deleted_at = now() where id = $1'],
])('the zones of an account that is %s raise nothing', async (_, statement) => {
  const person = await service.person()
  await zone(person)
  await service.database.query(statement, [person.user_id])
  await jobs.ingest(quake())
  await jobs.drain()
  const rows = await service.database.query(`select 1 from watchpost.alerts where owner_id = $1`, [
    person.user_id,
  ])
  expect(rows).toEqual([])
})

test('a source takes over no event of another, by id or by alias', async () => {
  const person = await service.person()
  await zone(person)
  const event = quake()
  await jobs.ingest(event)
  const other = quake({ source: 'test', id: 'another:1' })
  await expect(jobs.ingest(other)).rejects.toThrow('begins with test:')
  await registerSource(service, 'another')
  await jobs.ingest(quake({ id: 'another:2', source: 'another', aliases: [event.id] }))
  await jobs.drain()
  expect((await alertsOf(person)).map((alert) => alert.event_id).sort()).toEqual(
    ['another:2', event.id].sort(),
  )
})
