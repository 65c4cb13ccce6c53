import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createWebhooks } from '../../../hub/webhooks/deliver.ts'
import { VERSION } from '../../../shared/version.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { startReceiver } from './receiver.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

let hub: TestHub
let receiver: Awaited<ReturnType<typeof startReceiver>>
let webhook_id = ''
/** The clock of the sender, which stands still. */
let clock = Date.now()
const lines: Record<string, unknown>[] = []
beforeAll(async () => {
  hub = await startHub()
  receiver = await startReceiver()
  const made = await hub.call('POST', 'settings/webhooks', {
    label: 'Mine',
    url: receiver.url,
    events: ['mail.replied'],
    allow_private: true,
  })
  webhook_id = (await made.json()).webhook.id
})
afterAll(async () => {
  await receiver.close()
  await hub.close()
})
afterEach(async () => {
  vi.restoreAllMocks()
  await hub.query('delete from hub.webhook_deliveries')
  await hub.query(
    `update hub.webhooks set url = $1, allow_private = true, enabled = true, disabled_reason = null`,
    [receiver.url],
  )
  receiver.reset()
  lines.length = 0
  clock = Date.now()
})

const sender = (more: object = {}) => {
  const { db, config } = hub.deps
  const log = (line: Record<string, unknown>) => void lines.push(line)
  return createWebhooks({ db, paths: config.paths, log, now: () => new Date(clock), ...more })
}
/** A delivery that is due, if nothing else is given. */
async function add(next_at = clock, created_at = clock): Promise<string> {
  const [row] = await hub.query<{ id: string }>(
    `insert into hub.webhook_deliveries (webhook_id, event, data, next_at, created_at)
     values ($1, 'mail.replied', '{"draft_id": "x"}', $2, $3) returning id`,
    [webhook_id, new Date(next_at), new Date(created_at)],
  )
  return row?.id ?? ''
}
const set = (change: string) => hub.query(`update hub.webhooks set ${change}`)
const states = async () =>
  (await hub.query<{ state: string }>('select state from hub.webhook_deliveries')).map(
    ({ state }) => state,
  )
const isOn = async () => (await hub.query('select enabled from hub.webhooks'))[0]?.enabled

test('a message is posted as JSON by its sender, and one line tells of it', async () => {
  const id = await add(clock, clock - HOUR)
  const outcome = await sender().now(id)
  expect(outcome).toEqual({ status: 204, failure: null, answer: '', retry_after: null })
  const [{ method, headers, body } = { method: '', headers: {}, body: '' }] = receiver.received
  expect(method).toBe('POST')
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': `WatchpostHub/${VERSION}`,
  })
  expect(JSON.parse(body)).toEqual({
    type: 'mail.replied',
    timestamp: new Date(clock - HOUR).toISOString(),
    data: { draft_id: 'x' },
  })
  expect(lines).toEqual([
    {
      msg: 'webhook',
      webhook_id,
      delivery_id: id,
      attempts: 1,
      status: 204,
      failure: null,
      state: 'succeeded',
      duration_ms: expect.any(Number),
    },
  ])
  expect(lines[0]?.duration_ms).toBeLessThan(performance.now())
})

test.each([
  [200, 'succeeded', true],
  [299, 'succeeded', true],
  [300, 'queued', true],
  [404, 'queued', true],
  [410, 'failed', false],
])('the answer %i leaves it %s', async (status, state, stays) => {
  receiver.answers = [{ status }]
  await sender().now(await add())
  expect([await states(), await isOn()]).toEqual([[state], stays])
})

test('an answer that asks twice for another time asks for none', async () => {
  receiver.answers = [{ status: 503, headers: { 'retry-after': ['7200', '7200'] } }]
  await sender().now(await add())
  const [row] = await hub.query<{ next_at: string }>('select next_at from hub.webhook_deliveries')
  expect(Date.parse(row?.next_at ?? '') - clock).toBeLessThan(MINUTE)
})

test('of an answer without an end the first thousand bytes are kept', async () => {
  const server = createServer((request, response) => {
    request.resume()
    response.write('x'.repeat(600))
    setTimeout(() => response.write('y'.repeat(400)), 20)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo // safe: it listens on a port
  await set(`url = 'http://127.0.0.1:${port}'`)
  const outcome = await sender().now(await add())
  expect(outcome).toMatchObject({ status: 200, answer: 'x'.repeat(600) + 'y'.repeat(400) })
  server.closeAllConnections()
  server.close()
})

test('an answer of 2xx counts although its body never ends', async () => {
  const server = createServer((request, response) => {
    request.resume()
    response.write('got it')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo // safe: it listens on a port
  await set(`url = 'http://127.0.0.1:${port}'`)
  const { timeout } = AbortSignal
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 20))
  const outcome = await sender().now(await add())
  expect(outcome).toMatchObject({ status: 200, failure: null, answer: 'got it' })
  expect(await states()).toEqual(['succeeded'])
  server.closeAllConnections()
  server.close()
})

describe('what is not answered', () => {
  const none = { status: null, answer: null, retry_after: null }

  test('is unreachable, and is tried again', async () => {
    await set("url = 'http://127.0.0.1:1/hook'")
    expect(await sender().now(await add())).toEqual({ ...none, failure: 'unreachable' })
    expect([await states(), await isOn()]).toEqual([['queued'], true])
  })

  test('took too long after ten seconds, and is tried again', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort())
    expect(await sender().now(await add())).toEqual({ ...none, failure: 'timeout' })
    expect(timeout).toHaveBeenCalledWith(10_000)
    expect(await states()).toEqual(['queued'])
  })

  test.each([
    ['with credentials', "url = replace(url, 'http://', 'http://me:secret@')"],
    ['in a private network that is not allowed any more', 'allow_private = false'],
  ])('was refused before it was sent: an address %s', async (_, change) => {
    await set(change)
    expect(await sender().now(await add())).toEqual({ ...none, failure: 'refused' })
    expect([receiver.received, await states(), await isOn()]).toEqual([[], ['failed'], true])
  })
})

describe('an address by a name', () => {
  const named = (name: string) => set(`url = replace(url, '127.0.0.1', '${name}')`)

  test('is looked up', async () => {
    await named('localhost')
    expect(await sender().now(await add())).toMatchObject({ status: 204 })
  })

  test('is reached in a private network that is allowed, past what never is', async () => {
    await named('hooks.example')
    const resolve = async () => ['169.254.169.254', '127.0.0.1']
    const outcome = await sender({ reach: { resolve } }).now(await add())
    expect(outcome).toMatchObject({ status: 204 })
  })
})

test.each([true, false])(
  'is tried again when no name server knows it for a while, private ones allowed: %s',
  async (allow_private) => {
    await set(`url = 'https://hooks.example/x', allow_private = ${allow_private}`)
    const resolve = () => Promise.reject(new Error('getaddrinfo EAI_AGAIN hooks.example'))
    const outcome = await sender({ reach: { resolve } }).now(await add())
    expect(outcome).toMatchObject({ status: null, failure: 'unreachable' })
    expect([await states(), await isOn()]).toEqual([['queued'], true])
  },
)

test('is tried as often as others after the hub was off for days', async () => {
  receiver.answers = [{ status: 503 }]
  await add(clock - 3 * DAY, clock - 3 * DAY)
  await sender().sweep()
  expect([await states(), await isOn()]).toEqual([['queued'], true])
})

test('has all its attempts again when the webhook is turned on again', async () => {
  const id = await add(clock, clock - 3 * DAY)
  await hub.query('update hub.webhook_deliveries set attempts = 7, first_attempt_at = $1', [
    new Date(clock - 2 * DAY),
  ])
  await hub.query(
    `insert into hub.webhook_attempts (delivery_id, position, at, status, duration_ms)
     select $1, nth, $2, 503, 1 from generate_series(1, 7) as nth`,
    [id, new Date(clock - 2 * DAY)],
  )
  await set("enabled = false, disabled_reason = 'failing'")
  await hub.call('POST', 'settings/webhooks/change', { id: webhook_id, enabled: true })
  receiver.answers = [{ status: 503 }]
  await sender().sweep()
  expect(receiver.received).toHaveLength(1)
  expect([await states(), await isOn()]).toEqual([['queued'], true])
})

test('that is a test is sent once, and does not turn the webhook off', async () => {
  receiver.answers = [{ status: 503 }]
  const tested = await hub.call('POST', 'settings/webhooks/test', { id: webhook_id })
  const { delivery } = await tested.json()
  expect(delivery).toMatchObject({ state: 'failed', next_at: null, attempts: [{ status: 503 }] })
  clock += DAY
  await sender().sweep()
  expect(receiver.received).toHaveLength(1)
  expect(await isOn()).toBe(true)
})

describe('by the clock of the hub', () => {
  test('a message is due within its millisecond, and not before', async () => {
    await add(clock + 1)
    const webhooks = sender()
    await webhooks.sweep()
    expect(receiver.received).toHaveLength(0)
    clock += 1
    await webhooks.sweep()
    expect(receiver.received).toHaveLength(1)
  })

  test('what is over is deleted after 30 days, by a look once an hour', async () => {
    const webhooks = sender()
    await webhooks.sweep()
    await add(clock + DAY, clock - 30 * DAY + HOUR)
    await add(clock + DAY, clock - 31 * DAY)
    await hub.query("update hub.webhook_deliveries set state = 'failed'")
    clock += HOUR - 1
    await webhooks.sweep()
    expect(await states()).toHaveLength(2)
    clock += 1
    await webhooks.sweep()
    expect(await states()).toHaveLength(1)
  })
})

test('what waits for a webhook that is off keeps nothing from the others', async () => {
  const sql = `insert into hub.webhooks (label, url, events, enabled, secret)
    select 'Off', url, events, false, secret from hub.webhooks returning id`
  const [off] = await hub.query<{ id: string }>(sql)
  for (let nth = 0; nth < 5; nth += 1) await add(clock - HOUR)
  await hub.query('update hub.webhook_deliveries set webhook_id = $1', [off?.id])
  const id = await add()
  await sender().sweep()
  await hub.query('delete from hub.webhooks where not enabled')
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id])
})

test('much that waits for one webhook keeps nothing from the others', async () => {
  for (let nth = 0; nth < 8; nth += 1) await add(clock - HOUR)
  const sql = `insert into hub.webhooks (label, url, events, allow_private, secret)
    select 'Other', url, events, true, secret from hub.webhooks returning id`
  const [other] = await hub.query<{ id: string }>(sql)
  const id = await add()
  await hub.query('update hub.webhook_deliveries set webhook_id = $1 where id = $2', [
    other?.id,
    id,
  ])
  await sender().sweep()
  await hub.query('delete from hub.webhooks where id = $1', [other?.id])
  expect(receiver.received).toHaveLength(9)
  // It is among those that are sent first, five at once.
  const first = receiver.received.slice(0, 5).map(({ headers }) => headers['webhook-id'])
  expect(first).toContain(id)
})

describe('in the background', () => {
  test('it looks at its start and every five seconds, until it is closed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const looks = vi.spyOn(hub.deps.db, 'transaction')
    const seen = async (count: number) => {
      while (looks.mock.calls.length < count) await new Promise(setImmediate)
    }
    const webhooks = sender()
    webhooks.start()
    // The first look also deletes what is old.
    await seen(2)
    vi.advanceTimersByTime(4_999)
    await webhooks.sweep()
    expect(looks).toHaveBeenCalledTimes(3)
    vi.advanceTimersByTime(1)
    await seen(4)
    await webhooks.close()
    const left = vi.getTimerCount()
    vi.useRealTimers()
    expect(left).toBe(0)
  })

  test('it waits at its end for what it sends', async () => {
    await add()
    const webhooks = sender()
    webhooks.wake()
    await webhooks.close()
    expect(await states()).toEqual(['succeeded'])
  })

  test.each([
    [new Error('no database'), 'no database'],
    ['a text', 'a text'],
  ])('a look that fails with %j is told, and the next one comes', async (thrown, error) => {
    const transaction = async () => Promise.reject(thrown)
    const webhooks = sender({ db: { transaction } })
    for (let look = 0; look < 2; look += 1) {
      webhooks.wake()
      await webhooks.close()
    }
    const line = { msg: 'webhooks', error }
    expect(lines).toEqual([line, line])
  })
})
