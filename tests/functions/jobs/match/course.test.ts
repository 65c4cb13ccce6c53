import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Alert } from '../../../../shared/schemas/alert.ts'
import { createTestJobs, quake, type TestJobs } from '../../../support/jobs.ts'
import {
  createService,
  type Person,
  parsed,
  type Service,
  sendResult,
} from '../../../support/service.ts'

// What becomes of an alert between its birth and its message: held, suppressed, taken further, gathered.
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

const Id = z.object({ id: z.uuid() })
const HOUR = 3_600_000
const later = (ms: number) => new Date(Date.now() + ms).toISOString()
const clock = (minutes: number) => later(minutes * 60_000).slice(11, 16)
const QUIET = { quiet_hours_start: clock(-60), quiet_hours_end: clock(60) }
const LOUD = { quiet_hours_start: null, quiet_hours_end: null }

let places = 0
async function setUp(fields: object = {}) {
  places += 1
  const here = { lat: -60 + 2 * places, lon: 20 }
  const person = await service.person()
  const target = 'https://hooks.example.com/in'
  const made = await ask(person, 'POST', 'channels', { kind: 'webhook', target })
  const { channel } = parsed(made, 201, z.object({ channel: Id }))
  const drawn = await ask(person, 'POST', 'zones', { label: 'A place', ...here, ...fields })
  const { zone } = parsed(drawn, 201, z.object({ zone: Id }))
  await jobs.drain()
  service.receiver.requests.length = 0
  return { person, here, zone: zone.id, channel: channel.id }
}

function ask({ key }: Person, method: string, path: string, body?: object) {
  return service.request(method, `/api/v1/${path}`, { key, body })
}

async function patch(person: Person, zone: string, body: object) {
  expect((await ask(person, 'PATCH', `zones/${zone}`, body)).status).toBe(200)
  await jobs.drain()
}

async function ingest(...events: Parameters<TestJobs['ingest']>) {
  await jobs.ingest(...events)
  await jobs.drain()
}

async function alertsOf(person: Person) {
  const answer = await ask(person, 'GET', 'alerts?days=7')
  return parsed(answer, 200, z.object({ alerts: z.array(Alert) })).alerts
}

const sent = () => service.receiver.requests.map(({ body }) => JSON.parse(body))
const types = () => sent().map(({ type }) => type)
/** Lets the end of every quiet window be now. */
async function release(zone: string) {
  const { query } = service.database
  await query(
    `update watchpost.alerts set held_until = now() where zone_id = $1 and status = 'held'`,
    [zone],
  )
  await query(
    `update watchpost.deliveries d set next_attempt_at = now() from watchpost.alerts a
    where a.id = d.alert_id and a.zone_id = $1 and d.status = 'held' and d.next_attempt_at is not null`,
    [zone],
  )
  await query(
    `update pgboss.job set start_after = now() where name = 'release' and state = 'created'`,
  )
  await jobs.drain()
}

describe('a subject that moves', () => {
  test.each([
    ['23 hours 59 minutes', 24 * 60 - 1, 1],
    ['24 hours', 24 * 60, 1],
    ['24 hours and a minute', 24 * 60 + 1, 2],
  ])('after %s of silence it has raised as many alerts', async (_, minutes, count) => {
    const { person, here } = await setUp({ types: ['vessel'] })
    const subject = `mmsi:23000${String(minutes).padStart(4, '0')}`
    const start = Date.now() - 26 * HOUR
    const at = (minute: number) =>
      quake({
        ...here,
        id: `test:${subject}-${minute}`,
        type: 'vessel',
        subject,
        ts: new Date(start + minute * 60_000).toISOString(),
      })
    await ingest(at(0))
    await ingest(at(minutes))
    expect((await alertsOf(person)).length).toBe(count)
    // Each stay has told of itself, and the first of its end.
    const ended = count === 2 ? ['alert.ended'] : []
    expect(types().sort()).toEqual([...ended, ...Array(count).fill('alert.raised')])
  })

  test('that was held and gets worse is told of the position that made it worse', async () => {
    const { person, here } = await setUp({ types: ['vessel'], emergency_severity: 80, ...QUIET })
    const at = (minute: number, severity: number) =>
      quake({
        ...here,
        id: `test:mmsi:230000555-${minute}`,
        type: 'vessel',
        subject: 'mmsi:230000555',
        severity,
        ts: later((minute - 60) * 60_000),
      })
    await ingest(at(0, 50))
    expect(await alertsOf(person)).toMatchObject([
      { status: 'held', event_id: 'test:mmsi:230000555-0', severity: 50 },
    ])
    await ingest(at(10, 90))
    expect(await alertsOf(person)).toMatchObject([
      { status: 'dispatched', event_id: 'test:mmsi:230000555-10', severity: 90, held_until: null },
    ])
    expect(types()).toEqual(['alert.raised'])
  })
})

describe('an alert that gets worse', () => {
  const SNOOZED = { snoozed_until: later(HOUR) }
  const AWAKE = { snoozed_until: null }
  const DROPS = { ...QUIET, quiet_mode: 'drop' }

  test.each<[string, string, object, object, number, string, string[]]>([
    // how it began, then what changed, then how severe it gets, and where that leads
    ['suppressed', 'snoozed', SNOOZED, { ...AWAKE, ...QUIET }, 85, 'held', []],
    ['suppressed', 'snoozed', SNOOZED, AWAKE, 85, 'dispatched', ['alert.raised']],
    ['suppressed', 'snoozed', SNOOZED, AWAKE, 58, 'suppressed', []],
    ['suppressed', 'snoozed', SNOOZED, {}, 85, 'suppressed', []],
    ['suppressed', 'dropped', DROPS, LOUD, 85, 'dispatched', ['alert.raised']],
    ['suppressed', 'dropped', DROPS, { quiet_mode: 'hold' }, 85, 'held', []],
    ['held', 'quiet', { ...QUIET, emergency_severity: 80 }, {}, 85, 'dispatched', ['alert.raised']],
    ['held', 'quiet', { ...QUIET, emergency_severity: 90 }, {}, 85, 'held', []],
  ])('%s because it was %s %j and then %j, at %i: %s', async (...given) => {
    const [before, , fields, change, severity, after, told] = given
    const { person, here, zone } = await setUp(fields)
    const event = quake({ ...here, severity: 55 })
    await ingest(event)
    expect(await alertsOf(person)).toMatchObject([{ status: before, severity: 55 }])
    if (Object.keys(change).length > 0) await patch(person, zone, change)
    await ingest({ ...event, severity })
    const [alert, ...others] = await alertsOf(person)
    expect(others).toEqual([])
    expect(alert).toMatchObject({ status: after })
    expect(types()).toEqual(told)
    if (after !== 'held') return
    expect(alert?.held_until).not.toBeNull()
    expect(alert?.deliveries.map(({ status }) => status)).toContain('held')
    // What is held is told in the end, once.
    await release(zone)
    expect(types()).toEqual(['alert.digest'])
    expect(await alertsOf(person)).toMatchObject([{ status: 'dispatched' }])
    await release(zone)
    expect(types()).toEqual(['alert.digest'])
  })

  test('and waited with no channel to go to is told where there is one by now', async () => {
    const fields = { ...QUIET, channel_ids: [], emergency_severity: 80 }
    const { person, here, zone } = await setUp(fields)
    const event = quake({ ...here, severity: 55 })
    await ingest(event)
    expect(await alertsOf(person)).toMatchObject([{ status: 'recorded', deliveries: [] }])
    await patch(person, zone, { channel_ids: null })
    await ingest({ ...event, severity: 85 })
    expect(await alertsOf(person)).toMatchObject([{ status: 'dispatched', severity: 85 }])
    expect(types()).toEqual(['alert.raised'])
  })

  test('but is recorded only, because it has no channel, stays recorded', async () => {
    const { person, here, zone } = await setUp({ channel_ids: [] })
    const event = quake({ ...here, severity: 45 })
    await ingest(event)
    await patch(person, zone, { channel_ids: null })
    await ingest({ ...event, severity: 90 })
    expect(await alertsOf(person)).toMatchObject([{ status: 'recorded', severity: 90 }])
  })
})

describe('when quiet hours end', () => {
  test('what was held is one digest a channel, the most severe first, and each alert is told in it', async () => {
    const { person, here, zone } = await setUp(QUIET)
    const other = await ask(person, 'POST', 'channels', {
      kind: 'webhook',
      target: 'https://other.example.com/in',
    })
    expect(other.status).toBe(201)
    const severities = [50, 90, 70]
    for (const severity of severities) await ingest(quake({ ...here, severity }))
    expect((await alertsOf(person)).map(({ status }) => status)).toEqual(Array(3).fill('held'))
    await release(zone)
    expect(types()).toEqual(['alert.digest', 'alert.digest'])
    expect(new Set(service.receiver.requests.map(({ url }) => url)).size).toBe(2)
    for (const { data } of sent()) {
      expect(data.alerts.map((alert: { severity: number }) => alert.severity)).toEqual([90, 70, 50])
      expect(data.alert.severity).toBe(90)
      expect(data.alerts_total).toBe(3)
    }
    expect((await alertsOf(person)).map(({ status }) => status)).toEqual(
      Array(3).fill('dispatched'),
    )
  })

  test('what fell into the next window stays held', async () => {
    const { person, here, zone } = await setUp(QUIET)
    await ingest(quake({ ...here, severity: 50 }))
    await ingest(quake({ ...here, severity: 60 }))
    await service.database.query(
      `update watchpost.alerts set held_until = now() where zone_id = $1 and severity = 50`,
      [zone],
    )
    await service.database.query(
      `update pgboss.job set start_after = now() where name = 'release' and state = 'created'`,
    )
    await jobs.drain()
    const states = (await alertsOf(person)).map(({ severity, status }) => [severity, status])
    expect(states.sort()).toEqual([
      [50, 'dispatched'],
      [60, 'held'],
    ])
    expect(sent()[0].data.alerts).toHaveLength(1)
  })

  test('a change of the zone before that sends nothing of what it holds', async () => {
    const { person, here, zone } = await setUp(QUIET)
    await ingest(quake({ ...here, severity: 50 }))
    await patch(person, zone, { label: 'Another name' })
    expect((await alertsOf(person)).map(({ status }) => status)).toEqual(['held'])
    expect(service.receiver.requests).toEqual([])
    await patch(person, zone, LOUD)
    expect(types()).toEqual(['alert.digest'])
  })

  test.each<[string, object]>([
    ['switched off', { enabled: false }],
    ['snoozed', { snoozed_until: later(2 * HOUR) }],
  ])('a zone that was %s meanwhile tells nothing of what it held', async (_, change) => {
    const { person, here, zone } = await setUp(QUIET)
    await ingest(quake({ ...here, severity: 50 }), quake({ ...here, severity: 90 }))
    await patch(person, zone, change)
    await release(zone)
    expect(service.receiver.requests).toEqual([])
    const alerts = await alertsOf(person)
    expect(alerts.map(({ status }) => status)).toEqual(['suppressed', 'suppressed'])
    expect(alerts.flatMap(({ deliveries }) => deliveries)).toMatchObject(
      alerts.map(() => ({
        status: 'cancelled',
        last_error: expect.stringMatching(/off or snoozed/),
      })),
    )
    // Neither does it when it is awake again.
    await patch(person, zone, { enabled: true, snoozed_until: null, ...LOUD })
    expect(service.receiver.requests).toEqual([])
  })

  test('a snooze that is over meanwhile holds nothing back', async () => {
    const { person, here, zone } = await setUp(QUIET)
    await ingest(quake({ ...here, severity: 50 }))
    await service.database.query(
      `update watchpost.zones set snoozed_until = now() - interval '1 second' where id = $1`,
      [zone],
    )
    await release(zone)
    expect(types()).toEqual(['alert.digest'])
    expect(await alertsOf(person)).toMatchObject([{ status: 'dispatched' }])
  })

  test('a zone that was deleted meanwhile tells nothing, also when it is restored', async () => {
    const { person, here, zone } = await setUp(QUIET)
    await ingest(quake({ ...here, severity: 50 }))
    expect((await ask(person, 'DELETE', `zones/${zone}`)).status).toBe(204)
    await release(zone)
    expect(service.receiver.requests).toEqual([])
    expect((await ask(person, 'POST', `zones/${zone}/restore`)).status).toBe(200)
    await release(zone)
    expect(service.receiver.requests).toEqual([])
    expect(await alertsOf(person)).toMatchObject([{ status: 'failed' }])
  })

  test('what was held for a channel that was deleted meanwhile has failed', async () => {
    const { person, here, zone, channel } = await setUp(QUIET)
    await ingest(quake({ ...here, severity: 50 }))
    expect((await ask(person, 'DELETE', `channels/${channel}`)).status).toBe(204)
    await release(zone)
    expect(service.receiver.requests).toEqual([])
    expect(await alertsOf(person)).toMatchObject([
      { status: 'failed', deliveries: [{ status: 'cancelled' }] },
    ])
  })

  test('news about what was told before goes out as a digest too', async () => {
    const { person, here, zone, channel } = await setUp()
    const messages = ['alert.raised', 'alert.revised', 'alert.digest']
    expect((await ask(person, 'PATCH', `channels/${channel}`, { messages })).status).toBe(200)
    const event = quake({ ...here, severity: 45 })
    await ingest(event)
    expect(types()).toEqual(['alert.raised'])
    await patch(person, zone, QUIET)
    await ingest({ ...event, severity: 48, title: 'M 5.1' })
    expect(types()).toEqual(['alert.raised'])
    const [alert] = await alertsOf(person)
    expect(alert?.deliveries).toMatchObject([
      { kind: 'alert.raised', status: 'succeeded' },
      { kind: 'alert.revised', status: 'held' },
    ])
    await release(zone)
    expect(types()).toEqual(['alert.raised', 'alert.digest'])
  })
})

describe('news', () => {
  test('goes where the alert went, and not where that was cancelled', async () => {
    const { person, here, channel } = await setUp()
    const target = 'https://other.example.com/in'
    const made = await ask(person, 'POST', 'channels', { kind: 'webhook', target })
    const { channel: other } = parsed(made, 201, z.object({ channel: Id }))
    const event = quake({ ...here, severity: 45 })
    await jobs.ingest(event)
    service.receiver.answer = ({ url }) => sendResult(url === target ? 503 : 200)
    await jobs.drain()
    service.receiver.answer = () => sendResult(200)
    expect((await ask(person, 'DELETE', `channels/${other.id}`)).status).toBe(204)
    service.receiver.requests.length = 0
    await ingest({ ...event, status: 'retracted' })
    const [alert] = await alertsOf(person)
    const news = alert?.deliveries.filter(({ kind }) => kind === 'alert.retracted')
    expect(news?.map(({ channel_id }) => channel_id)).toEqual([channel])
    expect(types()).toEqual(['alert.retracted'])
  })

  test('of a snoozed zone is noted and not sent', async () => {
    const { person, here, zone } = await setUp()
    const event = quake({ ...here, severity: 45 })
    await ingest(event)
    await patch(person, zone, { snoozed_until: later(HOUR) })
    await ingest({ ...event, severity: 95 })
    expect(types()).toEqual(['alert.raised'])
    expect(await alertsOf(person)).toMatchObject([
      { status: 'dispatched', severity: 95, updates: [{ kind: 'escalated' }] },
    ])
  })
})
