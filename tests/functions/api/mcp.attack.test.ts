import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAX_BATCH_MESSAGES } from '../../../functions/api/mcp.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { createService, type Service } from '../../support/service.ts'

/** A request of an enterprise is a millisecond of its bucket; a pro has two a minute. */
const LIMITS = { enterprise: 60_000, pro: 2 }
let service: Service
beforeAll(async () => {
  service = await createService({ limits: LIMITS })
})
afterAll(() => service?.close())

const call = (id: number, name = 'list_zones', args: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})
const calls = (count: number) => Array.from({ length: count }, (_, id) => call(id))

const post = (body: unknown, key?: string) =>
  service.request('POST', '/api/v1/mcp', {
    body,
    headers: { Accept: 'application/json, text/event-stream' },
    ...(key === undefined ? {} : { key }),
  })

/** How many requests this costs an account's budget. */
async function cost(user_id: string, work: () => Promise<void>): Promise<number> {
  const bucket = `account:${user_id}`
  const arrival = async () => {
    const [row] = await service.database.query<{ tat: Date }>(
      'select tat from watchpost.rate_limits where bucket = $1',
      [bucket],
    )
    return row?.tat.getTime() ?? Number.NaN
  }
  // Ahead of the clock, so that each request moves it by exactly one step.
  await service.database.query(
    `insert into watchpost.rate_limits (bucket, tat) values ($1, date_trunc('second', now()) + interval '40 seconds')`,
    [bucket],
  )
  const before = await arrival()
  await work()
  return (await arrival()) - before
}

test('each message of a batch costs a request', async () => {
  const { key, user_id } = await service.person({ plan: 'enterprise' })
  const taken = await cost(user_id, async () => {
    const answer = await post(calls(5), key)
    expect(answer.status).toBe(200)
    expect(answer.body).toHaveLength(5)
  })
  expect(taken).toBe(5)
})

test('two previews in one batch cost two', async () => {
  const { key, user_id } = await service.person({ plan: 'enterprise' })
  const zone = { label: 'A draft', lat: 41, lon: 29 }
  const batch = [1, 2].map((id) => call(id, 'preview_draft', { zone }))
  const taken = await cost(user_id, async () => {
    expect((await post(batch, key)).status).toBe(200)
  })
  expect(taken).toBe(2)
})

test('a batch that the budget is too small for is 429, and nothing of it is done', async () => {
  const { key } = await service.person()
  const zone = { label: 'Never', lat: 41, lon: 29 }
  const batch = Array.from({ length: 12 }, (_, id) => call(id, 'create_zone', { zone }))
  expectProblem(await post(batch, key), 429, 'rate_limited')
  const rows = await service.database.query(`select from watchpost.zones where label = 'Never'`)
  expect(rows).toEqual([])
})

test('a batch has a maximum size, and the refusal names it', async () => {
  const { key } = await service.person()
  const answer = await post(calls(MAX_BATCH_MESSAGES + 1), key)
  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({
    jsonrpc: '2.0',
    error: {
      code: -32600,
      message: expect.stringContaining(`at most ${MAX_BATCH_MESSAGES} messages`),
    },
  })
})

test('a batch of that size is answered in full', async () => {
  const { key } = await service.person({ plan: 'enterprise' })
  const answer = await post(calls(MAX_BATCH_MESSAGES), key)
  expect(answer.body).toHaveLength(MAX_BATCH_MESSAGES)
})

test('a list needs no parameters', async () => {
  const { key } = await service.person({ plan: 'enterprise' })
  const answer = await post({ jsonrpc: '2.0', id: 1, method: 'resources/list' }, key)
  expect(answer.body).toMatchObject({ result: { resources: [], nextCursor: 'alerts:' } })
})

test('a call cancelled in its own batch is still answered', async () => {
  const { key } = await service.person({ plan: 'enterprise' })
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0 } }
  const answer = await post([call(0), cancel], key)
  expect(answer.status).toBe(200)
})

test.each([
  ['{', -32700, 'The body is not valid JSON. Send a JSON-RPC message.'],
  ['{"jsonrpc": "1.0"}', -32700, 'Parse error: Invalid JSON-RPC message'],
])('a malformed body is an error of the protocol: %s', async (body, code, message) => {
  const { key } = await service.person()
  const answer = await post(body, key)
  expect(answer.status).toBe(400)
  expect(answer.body).toEqual({ jsonrpc: '2.0', id: null, error: { code, message } })
})

test('an argument that a tool does not know is refused by its name, and nothing is done', async () => {
  const { key } = await service.person({ plan: 'enterprise' })
  const answer = await post(call(1, 'list_zones', { min_serverity: 40 }), key)
  expect(answer.body).toMatchObject({ result: { isError: true } })
  expect(answer.text).toContain('min_serverity')
  const zone = { label: 'Unwanted', lat: 41, lon: 29 }
  expect((await post(call(2, 'create_zone', { zone, dry_run: true }), key)).body).toMatchObject({
    result: { isError: true },
  })
  const rows = await service.database.query(`select from watchpost.zones where label = 'Unwanted'`)
  expect(rows).toEqual([])
})

test('9,000 wrong positions in a tool’s arguments get a short answer', async () => {
  const { key } = await service.person()
  const coordinates = [Array.from({ length: 9_000 }, () => [1])]
  const zone = { label: 'x', lat: 0, lon: 0, polygon: { type: 'Polygon', coordinates } }
  const answer = await post(call(1, 'preview_draft', { zone }), key)
  expect(answer.status).toBe(200)
  expect(answer.text.includes('Must be a position, [lon, lat], in degrees.')).toBe(true)
  expect(answer.text.length).toBeLessThan(1000)
})
