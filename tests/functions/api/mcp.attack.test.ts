import { afterAll, beforeAll, expect, test } from 'vitest'
import { MOST_MESSAGES } from '../../../functions/api/mcp.ts'
import { expectProblem } from '../../refusals.ts'
import { createService, type Service } from '../../service.ts'

const PER_MINUTE = 30
let service: Service
beforeAll(async () => {
  service = await createService({ limits: { pro: PER_MINUTE } })
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

async function remaining(key: string): Promise<number> {
  const { headers } = await service.request('GET', '/api/v1/me', { key })
  return Number(/r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1])
}

test('each message of a batch costs a request', async () => {
  const { key } = await service.person()
  const answer = await post(calls(5), key)
  expect(answer.status).toBe(200)
  expect(answer.body).toHaveLength(5)
  expect(await remaining(key)).toBe(PER_MINUTE - 6)
})

test('two previews in one batch cost two', async () => {
  const { key } = await service.person()
  const zone = { label: 'A draft', lat: 41, lon: 29 }
  const answer = await post(
    [1, 2].map((id) => call(id, 'preview_draft', { zone })),
    key,
  )
  expect(answer.status).toBe(200)
  expect(await remaining(key)).toBe(PER_MINUTE - 3)
})

test('a batch that the budget is too small for is 429, and nothing of it is done', async () => {
  const { key } = await service.person()
  await post(calls(20), key)
  const zone = { label: 'Never', lat: 41, lon: 29 }
  const batch = Array.from({ length: 12 }, (_, id) => call(id, 'create_zone', { zone }))
  expectProblem(await post(batch, key), 429, 'rate_limited')
  const rows = await service.database.query(`select from watchpost.zones where label = 'Never'`)
  expect(rows).toEqual([])
})

test('a batch has an end, and the refusal says where', async () => {
  const { key } = await service.person()
  const answer = await post(calls(MOST_MESSAGES + 1), key)
  expectProblem(answer, 400, 'malformed')
  expect(answer.body).toMatchObject({
    detail: expect.stringContaining(`at most ${MOST_MESSAGES} messages`),
  })
  expect(await remaining(key)).toBe(PER_MINUTE - 2)
})

test('a call that is cancelled beside itself is answered all the same', async () => {
  const { key } = await service.person()
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0 } }
  const answer = await post([call(0), cancel], key)
  expect(answer.status).toBe(200)
})

test('what is no JSON is 400', async () => {
  const { key } = await service.person()
  expectProblem(await post('{', key), 400, 'malformed')
})

test('9,000 wrong positions in the arguments of a tool are a short answer', async () => {
  const { key } = await service.person()
  const coordinates = [Array.from({ length: 9_000 }, () => [1])]
  const zone = { label: 'x', lat: 0, lon: 0, polygon: { type: 'Polygon', coordinates } }
  const answer = await post(call(1, 'preview_draft', { zone }), key)
  expect(answer.status).toBe(200)
  expect(answer.text.includes('Too small')).toBe(true)
  expect(answer.text.length).toBeLessThan(1000)
})
