import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createTestJobs, quake, type TestJobs } from '../../support/jobs.ts'
import { createService, type Service } from '../../support/service.ts'

const PER_MINUTE = 100
let service: Service
let jobs: TestJobs

beforeAll(async () => {
  // Whole milliseconds a request: each moves the account's bucket by exactly so many.
  service = await createService({ limits: { pro: PER_MINUTE } })
  jobs = await createTestJobs(service)
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

/** The SDK's own client, whose requests go to the test service. */
async function connect(key: string) {
  const client = new Client({ name: 'test', version: '0' })
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/api/v1/mcp'), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
    fetch: async (url, init) => {
      const { pathname } = new URL(url)
      const headers = new Headers(init?.headers)
      headers.delete('content-type') // the service says it of every body
      const answer = await service.request(init?.method ?? 'GET', pathname, {
        headers: Object.fromEntries(headers),
        ...(typeof init?.body === 'string' ? { body: init.body } : {}),
      })
      return new Response(answer.status === 202 ? null : answer.text, {
        status: answer.status,
        headers: answer.headers,
      })
    },
  })
  // safe: the SDK's transport differs from its own interface in an optional property only
  await client.connect(transport as Parameters<typeof client.connect>[0])
  return client
}

const Content = z.object({
  content: z.array(z.object({ text: z.string() })).min(1),
  isError: z.boolean().optional(),
})

async function call(client: Client, name: string, args: Record<string, unknown>) {
  const { content, isError } = Content.parse(await client.callTool({ name, arguments: args }))
  return { isError: isError ?? false, body: JSON.parse(content[0]?.text ?? 'null') }
}

test('a model creates a zone, reads its alerts, asks why, and resolves one', async () => {
  const person = await service.person()
  const client = await connect(person.key)
  const zone = { label: 'By a model', lat: 33.9, lon: -117.5, radius_km: 100, min_severity: 40 }
  const created = await call(client, 'create_zone', { zone })
  expect(created.body.zone).toMatchObject({ label: 'By a model', owner_id: person.user_id })
  await jobs.drain()
  const event = quake()
  await jobs.ingest(event)
  await jobs.drain()
  const { body } = await call(client, 'list_alerts', {})
  expect(body.alerts).toMatchObject([{ event_id: event.id }])
  const why = await call(client, 'explain_event', {
    zone_id: created.body.zone.id,
    event_id: event.id,
  })
  expect(why.body).toMatchObject({ raised: true, live: false })
  const done = await call(client, 'resolve_alert', { alert_id: body.alerts[0].id, resolved: true })
  expect(done.body.alert).toMatchObject({ resolved: true, resolved_via: 'mcp' })
})

test('a key that only reads is offered no tool that writes', async () => {
  const account = await service.account()
  const client = await connect(await service.key(account, { scopes: ['read'] }))
  const { tools } = await client.listTools()
  expect(tools.map((tool) => tool.name)).toContain('list_events')
  expect(tools.filter((tool) => !tool.annotations?.readOnlyHint)).toEqual([])
  const refused = await client.callTool({ name: 'create_zone', arguments: { zone: {} } })
  expect(refused.isError).toBe(true)
})

test('what the API refuses is an error of the tool that names the way out', async () => {
  const client = await connect((await service.person()).key)
  const foreign = await call(client, 'get_zone', {
    zone_id: '0b0f8a52-7f2f-4c7a-9f7e-3f3c2f0a1b2c',
  })
  expect(foreign).toMatchObject({ isError: true, body: { code: 'not_found' } })
})

test('without a key there is no protocol at all', async () => {
  const answer = await service.request('POST', '/api/v1/mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  })
  expect(answer.status).toBe(401)
})

test('a tool call costs one request of the budget', async () => {
  const person = await service.person()
  const client = await connect(person.key)
  // Far ahead of the clock, so that each request moves it by exactly one step.
  await service.database.query(
    `update watchpost.rate_limits set tat = now() + interval '30 seconds' where bucket = $1`,
    [`account:${person.user_id}`],
  )
  const arrival = async () => {
    const [row] = await service.database.query<{ tat: Date }>(
      `select tat from watchpost.rate_limits where bucket = $1`,
      [`account:${person.user_id}`],
    )
    return row?.tat.getTime() ?? Number.NaN
  }
  const before = await arrival()
  await call(client, 'list_zones', {})
  expect((await arrival()) - before).toBe(60_000 / PER_MINUTE)
})
