import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { inTransaction } from '../../../../functions/db.ts'
import { ChannelDelivery } from '../../../../shared/schemas/channel.ts'
import { createTestJobs, quake, type TestJobs } from '../../../support/jobs.ts'
import { createService, parsed, type Service } from '../../../support/service.ts'

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

const purge = () => inTransaction(jobs.db, (sql) => sql`select private.purge()`)
const revisionOf = async (id: string) =>
  (await service.database.query('select revision from watchpost.events where id = $1', [id]))[0]

test('an old event that a feed tells now is kept for its time from now on', async () => {
  const event = quake({ ts: '2020-01-01T00:00:00.000Z' })
  await jobs.ingest(event)
  await purge()
  expect(await revisionOf(event.id)).toEqual({ revision: 1 })
})

test('an event that was deleted for its age and is told again goes on with its next revision', async () => {
  const event = quake({ ts: '2020-01-01T00:00:00.000Z' })
  await jobs.ingest(event)
  await service.database.query(
    `update watchpost.events set updated_at = now() - interval '91 days' where id = $1`,
    [event.id],
  )
  await purge()
  expect(await revisionOf(event.id)).toBeUndefined()
  await jobs.ingest(event)
  expect(await revisionOf(event.id)).toEqual({ revision: 2 })
})

test('an event that its source still reports stays, and followers are told of no change', async () => {
  const event = quake({ ts: '2020-01-01T00:00:00.000Z' })
  const stored = () =>
    service.database.query<{ revision: number; changed_in: string; reported_at: Date | null }>(
      'select revision, changed_in::text, reported_at from watchpost.events where id = $1',
      [event.id],
    )
  await jobs.ingest(event)
  await jobs.ingest(event)
  expect(await stored()).toMatchObject([{ reported_at: null }])
  await service.database.query(
    `update watchpost.events set updated_at = now() - interval '91 days' where id = $1`,
    [event.id],
  )
  const [before] = await stored()
  await jobs.ingest(event)
  await purge()
  expect(await stored()).toMatchObject([
    { revision: 1, changed_in: before?.changed_in, reported_at: expect.any(Date) },
  ])
  await service.database.query(
    `update watchpost.events set reported_at = now() - interval '91 days' where id = $1`,
    [event.id],
  )
  await purge()
  expect(await stored()).toEqual([])
})

test('one run goes on until nothing is left, and says how much went', async () => {
  const { query } = service.database
  await query(
    `insert into watchpost.zone_changes (changed_in, zone_id, at)
    select '1', gen_random_uuid(), now() - interval '2 days' from generate_series(1, 4001)`,
  )
  const from = jobs.lines.length
  await query(`select private.enqueue('purge', gen_random_uuid(), '{}', p_singleton => 'purge')`)
  await jobs.drain()
  expect(await query(`select from watchpost.zone_changes where changed_in = '1'`)).toEqual([])
  expect(jobs.lines.slice(from)).toContainEqual(expect.objectContaining({ deleted: 4001 }))
})

test('a purge that fails is tried again after a pause, which outlasts a lost connection', async () => {
  const { query } = service.database
  const state = () =>
    query(
      `select state::text, retry_count from pgboss.job where name = 'purge' order by created_on desc limit 1`,
    )
  await query('alter function private.measure_silence rename to measure_silence_away')
  await query(`select private.enqueue('purge', gen_random_uuid(), '{}', p_singleton => 'purge')`)
  await expect(jobs.drain()).rejects.toThrow('measure_silence')
  await query('alter function private.measure_silence_away rename to measure_silence')
  expect(await state()).toEqual([{ state: 'retry', retry_count: 0 }])
  await query(`update pgboss.job set start_after = now() where name = 'purge' and state = 'retry'`)
  await jobs.drain()
  expect(await state()).toEqual([{ state: 'completed', retry_count: 1 }])
})

test('the log of attempts goes after 30 days, the delivery stays with what it says of them', async () => {
  const { query } = service.database
  const { key } = await service.person()
  const body = { kind: 'webhook', target: 'https://hooks.example.com/in' }
  const made = await service.request('POST', '/api/v1/channels', { key, body })
  const { channel } = parsed(made, 201, z.object({ channel: z.looseObject({ id: z.uuid() }) }))
  await service.request('POST', `/api/v1/channels/${channel.id}/test`, { key })
  const age = (time: string) =>
    query(`update watchpost.delivery_attempts set at = now() - $1::interval`, [time])
  const read = async () => {
    const answer = await service.request('GET', `/api/v1/channels/${channel.id}/deliveries`, {
      key,
    })
    const Page = z.object({ deliveries: z.tuple([ChannelDelivery]) })
    const [delivery] = parsed(answer, 200, Page).deliveries
    return [delivery.status, delivery.attempts, delivery.attempt_log.length]
  }
  await age('29 days')
  await purge()
  expect(await read()).toEqual(['succeeded', 1, 1])

  // However short they are to be kept: a delivery that is still tried counts them.
  const keep = (time: string) =>
    query(`update watchpost.retention set keep = $1::interval where thing = 'delivery_attempts'`, [
      time,
    ])
  await keep('1 hour')
  await age('47 hours')
  await purge()
  expect(await read()).toEqual(['succeeded', 1, 1])

  await keep('30 days')
  await age('31 days')
  await purge()
  expect(await read()).toEqual(['succeeded', 1, 0])

  // A test has no alert that would end it, and would keep its deleted channel for ever.
  await query(`update watchpost.deliveries set created_at = now() - interval '401 days'`)
  await query(`update watchpost.channels set deleted_at = now() - interval '31 days'`)
  await purge()
  expect(await query('select from watchpost.channels')).toEqual([])
})
