import { expect, test, vi } from 'vitest'
import { createTestJobs, quake } from '../../../support/jobs.ts'
import { createService, type Person, type Service, sendResult } from '../../../support/service.ts'

// Whoever is slow: a process that comes back when its work was given to another, and a receiver.
test('a process whose lease was given to another changes nothing any more', async () => {
  const { service, jobs, person } = await setDesk()
  await post(service, person, '/api/v1/zones', { label: 'near', lat: 41, lon: 29 })
  const event = quake({ lat: 41, lon: 29 })
  await jobs.drain()
  await jobs.ingest(event)
  let arrived = () => {}
  let release = () => {}
  const sending = new Promise<void>((resolve) => (arrived = resolve))
  const gate = new Promise<void>((resolve) => (release = resolve))
  service.receiver.answer = async () => {
    arrived()
    await gate
    return sendResult(500, 'told too late')
  }
  const stale = jobs.drain()
  await sending
  await service.database.query(
    `update pgboss.job set started_on = started_on - interval '1 hour' where state = 'active'`,
  )
  await service.database.query('update pgboss.queue set monitor_on = null, monitor_claim_on = null')
  service.receiver.answer = () => sendResult(200, 'ok')
  const other = await createTestJobs(service)
  await other.drain()
  release()
  await stale
  expect(jobs.lines).toContainEqual(
    expect.objectContaining({ queue: 'deliver', outcome: 'lease_lost' }),
  )
  expect(
    await service.database.query(
      `select d.status, d.attempts, t.attempt, t.response_excerpt, a.status as alert
      from watchpost.deliveries d
      join watchpost.delivery_attempts t on t.delivery_id = d.id
      join watchpost.alerts a on a.id = d.alert_id`,
    ),
  ).toEqual([
    { status: 'succeeded', attempts: 1, attempt: 1, response_excerpt: 'ok', alert: 'dispatched' },
  ])
  await other.close()
  await jobs.close()
  await service.close()
})

test('a receiver that hangs delays nobody else', async () => {
  const { service, jobs, person } = await setDesk()
  const target = 'https://slow.example.com/in'
  await post(service, person, '/api/v1/channels', { kind: 'webhook', target })
  await post(service, person, '/api/v1/zones', { label: 'near', lat: 41, lon: 29 })
  await jobs.drain()
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  service.receiver.answer = async ({ url }) => {
    if (url === target) await gate
    return sendResult(200)
  }
  const events = Array.from({ length: 30 }, () => quake({ lat: 41, lon: 29 }))
  await jobs.ingest(...events)
  const draining = jobs.drain()
  const told = () =>
    service.database.query<{ target: string; status: string; count: number }>(
      `select c.target_masked like '%slow%' as slow, d.status, count(*)::int
      from watchpost.deliveries d join watchpost.channels c on c.id = d.channel_id
      group by 1, 2 order by 1, 2`,
    )
  await vi.waitFor(
    async () =>
      expect(await told()).toEqual([
        { slow: false, status: 'succeeded', count: 30 },
        { slow: true, status: 'queued', count: 29 },
        { slow: true, status: 'sending', count: 1 },
      ]),
    { timeout: 60_000 },
  )
  release()
  await draining
  expect(await told()).toEqual([
    { slow: false, status: 'succeeded', count: 30 },
    { slow: true, status: 'succeeded', count: 30 },
  ])
  await jobs.close()
  await service.close()
}, 90_000)

/** A service with one person and one channel, and jobs beside it. */
async function setDesk() {
  const service = await createService()
  const jobs = await createTestJobs(service)
  const person = await service.person()
  const target = 'https://hooks.example.com/in'
  await post(service, person, '/api/v1/channels', { kind: 'webhook', target })
  return { service, jobs, person }
}

async function post(service: Service, { key }: Person, path: string, body: object) {
  const answer = await service.request('POST', path, { key, body })
  if (answer.status !== 201) throw new Error(answer.text)
}
