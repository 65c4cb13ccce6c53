/** What the log says of each job: which row it was about, and all that came of it. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import {
  CreatedZone,
  createDeliveryService,
  type DeliveryService,
} from '../../support/delivery-service.ts'
import { quake } from '../../support/jobs.ts'
import { parsed, sendResult } from '../../support/service.ts'

let at: DeliveryService
beforeAll(async () => {
  at = await createDeliveryService()
  await at.query(`delete from watchpost.sources where source <> 'test'`)
})
afterAll(() => at?.close())
beforeEach(() => at.reset())

/** Runs what is due; answers the lines of its jobs, but for how long each took. */
async function drained() {
  const from = at.jobs.lines.length
  await at.jobs.drain()
  const lines = at.jobs.lines.slice(from).filter(({ msg }) => msg === 'job')
  return lines
    .filter(({ queue }) => queue !== 'purge')
    .map(({ duration_ms, job_id, msg, ...line }) => {
      expect([typeof duration_ms, typeof job_id]).toEqual(['number', 'string'])
      return line
    })
}
async function scene(fields: object = {}) {
  const person = await at.service.person()
  const channel_id = (await at.channelOf(person)).id
  const here = at.place()
  const body = { label: 'A place', min_severity: 40, ...here, ...fields }
  const zone_id = (await at.make(person, 'zones', body, CreatedZone)).zone.id
  return { person, channel_id, here, zone_id }
}
const enqueue = (queue: string, data: object) =>
  at.query(`select private.enqueue($1, gen_random_uuid(), $2)`, [queue, data])
const done = { outcome: 'done' }
const NONE = { batches: 1, revisions: 1, pairs: 1, alerts: 0, updates: 0, thinned: 0 }

test('an alert from its zone to its receiver, and its news', async () => {
  const { channel_id, here, zone_id } = await scene()
  expect(await drained()).toEqual([{ queue: 'match_zone', zone_id, pairs: 0, alerts: 0, ...done }])
  const event = quake({ ...here, severity: 50 })
  await at.jobs.ingest(event)
  const [matched, delivered] = await drained()
  expect(matched).toEqual({ queue: 'match', source: 'test', ...NONE, alerts: 1, ...done })
  const sent = { queue: 'deliver', channel_id, kind: 'webhook', result: 'ok', status: 200 }
  const { delivery_id, latency_ms, ...rest } = delivered ?? {}
  expect(rest).toEqual({ ...sent, type: 'alert.raised', attempt: 1, ...done })
  expect(z.uuid().safeParse(delivery_id).success).toBe(true)
  expect(latency_ms).toBeGreaterThanOrEqual(0)
  await at.jobs.ingest({ ...event, severity: 90 })
  const [again, told] = await drained()
  expect(again).toEqual({ queue: 'match', source: 'test', ...NONE, updates: 1, ...done })
  expect(told).toEqual({
    ...{ ...sent, type: 'alert.escalated', attempt: 1, ...done },
    delivery_id: expect.any(String),
  })
  expect(told?.delivery_id).not.toBe(delivery_id)
})

test('an event of which no zone hears', async () => {
  await at.jobs.ingest(quake(at.place()))
  expect(await drained()).toEqual([
    { queue: 'match', source: 'test', ...NONE, revisions: 0, pairs: 0, ...done },
  ])
})

test('a zone that is made where something still stands', async () => {
  const here = at.place()
  const ends_at = new Date(Date.now() + 3_600_000).toISOString()
  await at.jobs.ingest(quake({ ...here, ends_at }))
  await drained()
  const person = await at.service.person()
  const body = { label: 'Here', ...here, channel_ids: [] }
  const zone_id = (await at.make(person, 'zones', body, CreatedZone)).zone.id
  expect(await drained()).toEqual([{ queue: 'match_zone', zone_id, pairs: 1, alerts: 1, ...done }])
})

test('a message that is refused, tried again, expired or cancelled', async () => {
  const { channel_id, here, zone_id, person } = await scene()
  await drained()
  at.service.receiver.answer = () => sendResult(503)
  await at.jobs.ingest(quake(here))
  const [, refused] = await drained()
  const { next_attempt_at, delivery_id, ...rest } = refused ?? {}
  expect(rest).toEqual({
    ...{ queue: 'deliver', channel_id, kind: 'webhook', type: 'alert.raised', attempt: 1 },
    ...{ result: 'retry', status: 503, error: expect.stringContaining('503'), ...done },
  })
  expect(Date.parse(String(next_attempt_at))).toBeGreaterThan(Date.now() - 60_000)
  await at.query(`update pgboss.job set start_after = now() where name = 'deliver'`)
  await at.query(
    `update watchpost.deliveries set due_at = now() - interval '40 hours',
      next_attempt_at = now(), expires_at = now() - interval '1 second' where id = $1`,
    [delivery_id],
  )
  const why = 'There was one attempt, the last with: '
  expect(await drained()).toEqual([
    {
      ...{ queue: 'deliver', delivery_id, channel_id, ...done },
      expired: expect.stringContaining(why),
    },
  ])
  await at.jobs.ingest(quake(here))
  await at.query('update watchpost.channels set paused_until = null')
  const { status } = await at.service.request('DELETE', `/api/v1/zones/${zone_id}`, {
    key: person.key,
  })
  expect(status).toBeLessThan(300)
  const lines = await drained()
  for (const line of lines.filter(({ queue }) => queue === 'deliver')) {
    expect(line).toMatchObject({ channel_id, cancelled: expect.any(String) })
  }
})

test('a drill, and the jobs of what is not there any more', async () => {
  const { person, zone_id, channel_id } = await scene()
  await drained()
  const path = `/api/v1/zones/${zone_id}/drill?wait=0`
  const made = await at.service.request('POST', path, { key: person.key, body: {} })
  const { id: drill_id } = parsed(made, 201, z.object({ drill: z.object({ id: z.uuid() }) })).drill
  const [drill, sent] = await drained()
  expect(drill).toEqual({
    ...{ queue: 'drill', drill_id, ...done },
    ...{ outcome: 'done', is_sent: true, failed_at: null },
  })
  expect(sent).toMatchObject({ queue: 'deliver', channel_id, type: 'alert.raised', result: 'ok' })
  const gone = randomUUID()
  await enqueue('drill', { drill_id: gone })
  expect(await drained()).toEqual([{ queue: 'drill', drill_id: gone, skipped: true, ...done }])
  await enqueue('deliver', { delivery_id: gone })
  expect(await drained()).toEqual([{ queue: 'deliver', delivery_id: gone, skipped: true, ...done }])
  await enqueue('release', { zone_id: gone })
  expect(await drained()).toEqual([{ queue: 'release', zone_id: gone, released: 0, ...done }])
  await enqueue('match_zone', { zone_id: gone })
  expect(await drained()).toEqual([
    { queue: 'match_zone', zone_id: gone, pairs: 0, alerts: 0, ...done },
  ])
  await enqueue('match', { source: 'nobody' })
  const nothing = { batches: 0, revisions: 0, pairs: 0, alerts: 0, updates: 0, thinned: 0 }
  expect(await drained()).toEqual([{ queue: 'match', source: 'nobody', ...nothing, ...done }])
})
