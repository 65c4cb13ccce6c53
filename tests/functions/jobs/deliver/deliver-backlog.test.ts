import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPool, type Database } from '../../../../functions/db.ts'
import type { Claimed } from '../../../../functions/jobs/deliver-claim.ts'
import { waitUntil } from '../../../../functions/jobs/deliver-outcome.ts'
import type { JobContext } from '../../../../functions/jobs/queue.ts'
import { NO_TRACING } from '../../../../functions/tracing/tracing.ts'
import { createTestJobs, quake, type TestJobs } from '../../../support/jobs.ts'
import { createService, type Service, sendResult } from '../../../support/service.ts'

const CHANNELS = 400

let service: Service
let jobs: TestJobs
let claims: number
beforeAll(async () => {
  service = await createService()
  const pool = createPool({ url: service.database.jobsUrl, max: 6 })
  jobs = await createTestJobs(service, { db: counting(pool) })
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

/** The same database, with the statements counted that take up deliveries. */
const counting = (db: Database): Database => ({
  ...db,
  connect: async () => {
    const connection = await db.connect()
    return {
      ...connection,
      query: (text, values) => {
        if (text.includes('claim_deliveries')) claims += 1
        return connection.query(text, values)
      },
    }
  },
})

test('of a backlog many messages are taken up by one statement, although receivers answer one by one', async () => {
  const person = await service.person()
  const here = { lat: 10, lon: 20 }
  const body = { kind: 'webhook', target: 'https://hooks.example.com/in' }
  await service.request('POST', '/api/v1/channels', { key: person.key, body })
  // Without triggers, which would count them against the plan.
  await service.database.query('alter table watchpost.channels disable trigger user')
  await service.database.query(
    `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked, signing_secret_sealed)
    select owner_id, kind, target_sealed, target_masked, signing_secret_sealed
    from watchpost.channels, generate_series(2, $2::int) where owner_id = $1`,
    [person.user_id, CHANNELS],
  )
  await service.database.query('alter table watchpost.channels enable trigger user')
  const zone = { label: 'A place', radius_km: 50, ...here }
  await service.request('POST', '/api/v1/zones', { key: person.key, body: zone })
  await jobs.drain()
  let last: Promise<unknown> = Promise.resolve()
  service.receiver.answer = async () => {
    last = last.then(() => new Promise((resolve) => setTimeout(resolve, 2)))
    await last
    return sendResult(200)
  }
  claims = 0
  await jobs.ingest(quake(here))
  await jobs.drain()
  expect(service.receiver.requests).toHaveLength(CHANNELS)
  // A hundred and more where each slot is filled as it becomes free.
  expect(claims).toBeLessThanOrEqual(60)
})

test('the queue is looked at when a message is due that had to wait, once that is stored', async () => {
  const steps: unknown[] = []
  const context = {
    tracing: NO_TRACING,
    finishTogether: async (_: unknown, item: object) => void steps.push(item),
    lookAt: (queue: string, at: Date) => void steps.push([queue, at.toISOString()]),
  }
  const claimed = { id: 'a delivery', channel_id: 'a channel', waits_for: 'turn' }
  await waitUntil(
    // safe: nothing else of them is used
    context as unknown as JobContext,
    { id: 'a job', name: 'deliver', data: {} } as never,
    claimed as Claimed,
    '2026-11-26T10:00:00.000Z',
  )
  expect(steps).toEqual([
    { ...claimed, next_at: '2026-11-26T10:00:00.000Z' },
    ['deliver', '2026-11-26T10:00:00.010Z'],
  ])
})
