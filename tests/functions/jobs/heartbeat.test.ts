import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { SendRequest, SendResult } from '../../../functions/channels/transport/send.ts'
import { createPool, type Database } from '../../../functions/db.ts'
import { beat } from '../../../functions/jobs/heartbeat.ts'
import { createRunner } from '../../../functions/jobs.ts'
import { createService, type Service, sendResult } from '../../support/service.ts'

const SECRET = 'b7c1-s3cret'
const URL = `https://hc-ping.example.com/${SECRET}?key=${SECRET}`
let service: Service
let db: Database
let asked: SendRequest[] = []
let lines: Record<string, unknown>[] = []
let answer: SendResult

beforeAll(async () => {
  service = await createService()
  db = createPool({ url: service.database.jobsUrl, max: 4 })
})
afterAll(async () => {
  await db?.end()
  await service?.close()
})
const query = (statement: string) => service.database.query<Record<string, unknown>>(statement)
beforeEach(async () => {
  asked = []
  lines = []
  answer = sendResult(200, 'OK')
  await query(`
    delete from pgboss.job;
    delete from watchpost.sources;
    update watchpost.heartbeat set looked_at = null, reasons = '{}', called_at = null, error = null`)
})

const deps = (heartbeat_url: string | undefined = URL) => ({
  db,
  heartbeat_url,
  send: async (request: SendRequest) => {
    asked.push(request)
    return answer
  },
  log: (line: Record<string, unknown>) => void lines.push(line),
})
const kept = async () => (await query('select * from watchpost.heartbeat'))[0]

test('the URL is called while all is well, with nothing in the log that opens it', async () => {
  await beat(deps())
  expect(asked).toEqual([{ url: URL, method: 'GET', headers: { accept: '*/*' }, body: '' }])
  expect(await kept()).toMatchObject({ reasons: [], error: null, called_at: expect.any(Date) })
  const target = 'https://hc-ping.example.com/…'
  const line = { msg: 'heartbeat', target, duration_ms: expect.any(Number) }
  expect(lines).toEqual([{ ...line, outcome: 'called' }])
  expect(JSON.stringify(lines)).not.toContain(SECRET)
})

test('at most once in a minute, however many processes ask', async () => {
  const started = new Date()
  await Promise.all(Array.from({ length: 8 }, () => beat(deps())))
  await beat(deps())
  // A minute may have begun meanwhile.
  const most = new Date().getMinutes() === started.getMinutes() ? 1 : 2
  expect(asked.length).toBeLessThanOrEqual(most)
  expect(asked.length).toBeGreaterThan(0)
  await query(`update watchpost.heartbeat set looked_at = looked_at - interval '1 minute'`)
  await beat(deps())
  expect(asked.length).toBeGreaterThan(1)
})

test('without a URL nothing is looked at', async () => {
  await beat({ ...deps(), heartbeat_url: undefined })
  expect(asked).toEqual([])
  expect(await kept()).toMatchObject({ looked_at: null })
})

test.each([
  ['an error', () => sendResult(503), 'The heartbeat URL answered HTTP 503.'],
  ['a redirect', () => sendResult(302), 'The heartbeat URL answered HTTP 302.'],
  ['a choice', () => sendResult(300), 'The heartbeat URL answered HTTP 300.'],
  ['less than an answer', () => sendResult(199), 'The heartbeat URL answered HTTP 199.'],
  [
    'no answer',
    (): SendResult => ({ ok: false, failure: 'timeout', message: 'It took long.', duration_ms: 1 }),
    'It took long.',
  ],
])('%s is kept and logged, and the last success stays', async (_, given, error) => {
  await beat(deps())
  const { called_at } = (await kept()) ?? {}
  await query(`update watchpost.heartbeat set looked_at = null`)
  answer = given()
  lines = []
  await beat(deps())
  expect(await kept()).toMatchObject({ error, called_at })
  expect(lines).toMatchObject([{ msg: 'heartbeat', outcome: 'failed', error }])
  expect(JSON.stringify(lines)).not.toContain(SECRET)
  await query(`update watchpost.heartbeat set looked_at = null`)
  answer = sendResult(204)
  await beat(deps())
  expect(await kept()).toMatchObject({ error: null })
})

const source = (name: string, more: string) => `
  insert into watchpost.sources (source, title, attribution, types, interval_seconds, enabled, created_at, error_at, last_success_at)
  values ('${name}', 'x', 'x', '{earthquake}', 60, ${more})`
const waits = (queue: string, minutes: number, state = 'created') => `
  insert into pgboss.job (name, data, state, start_after)
  values ('${queue}', '{}', '${state}', now() - interval '${minutes} minutes')`
const DOWN = `true, now() - interval '1 day', now(), null`
const WELL = `true, now() - interval '1 day', null, now()`

test.each([
  ['a delivery that nobody takes up', waits('deliver', 11), /oldest due delivery .* 11 minutes/],
  ['a job that nobody takes up', waits('match', 11), /job of the queue match .* 11 minutes/],
  ['a job that is to be tried again', waits('drill', 11, 'retry'), /queue drill/],
  [
    'feeds of which none answers',
    `${source('a', DOWN)};${source('b', DOWN)}`,
    /None of the 2 feeds/,
  ],
])('it is silent after %s', async (_, statement, reason) => {
  await query(statement)
  await beat(deps())
  expect(asked).toEqual([])
  expect(await kept()).toMatchObject({ reasons: [expect.stringMatching(reason)], called_at: null })
  expect(lines).toEqual([
    { msg: 'heartbeat', outcome: 'not_well', error: expect.stringMatching(reason) },
  ])
  expect(lines[0]?.error).toMatch(/^not called, because not all is well: /)
})

test('it is silent after a step of an escalation that nobody runs', async () => {
  const { user_id } = await service.person()
  await query(`
    with z as (
      insert into watchpost.zones (owner_id, label, lat, lon, boxes)
      values ('${user_id}', 'z', 1, 2, array[box '(3,2),(1,0)']) returning id),
    a as (
      insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity, reason,
        first_reason, status, raised_at, checks, zone_version, event_revision)
      select id, 'z', '${user_id}', 'test:1', 'test', '{}', 50, 'r', 'r', 'dispatched', now(), '[]', 1, 1 from z
      returning id)
    insert into watchpost.alert_steps (alert_id, round, step, after_minutes, began_at, due_at)
    select id, 0, 1, 5, now(), now() - interval '11 minutes' from a`)
  await query('delete from pgboss.job')
  await beat(deps())
  expect(await kept()).toMatchObject({
    reasons: ['A step of an escalation has been due for 11 minutes.'],
  })
  await query('delete from watchpost.alert_steps')
})

test.each([
  ['what has waited for less', waits('deliver', 9)],
  ['what waits for its time', waits('deliver', -60)],
  ['what is running', waits('match', 11, 'active')],
  ['what has failed for good', waits('dead', 11)],
  ['one feed of two', `${source('a', DOWN)};${source('b', WELL)}`],
  ['a feed that is switched off', source('a', DOWN.replace('true', 'false'))],
])('it goes on with %s', async (_, statement) => {
  await query(statement)
  await beat(deps())
  expect(await kept()).toMatchObject({ reasons: [] })
  expect(asked).toHaveLength(1)
})

test('a drain calls it when it is done, and the loops call it', async () => {
  const outside = { seal: service.seal, allow: { ranges: [], names: new Set<string>() }, feeds: [] }
  const runner = createRunner({
    ...deps(),
    ...outside,
    fetch,
    contact: undefined,
    public_url: null,
  })
  await query(waits('deliver', 11))
  await runner.drain({ budget_ms: 10_000 })
  // The job was stuck before the drain, which has taken it up.
  expect(asked).toHaveLength(1)
  await query(`update watchpost.heartbeat set looked_at = null`)
  const { stop } = runner.start()
  await expect.poll(() => asked.length).toBe(2)
  await stop()
})
