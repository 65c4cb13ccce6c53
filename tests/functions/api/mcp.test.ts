import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { expectProblem } from '../../support/attacks/refusals.ts'
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
      // The SDK answers by itself, but the service still says which request it was.
      expect(answer.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
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

test('a model creates a zone, reads its alerts, asks why, acknowledges one and resolves it', async () => {
  const person = await service.person()
  const client = await connect(person.key)
  expect(client.getServerVersion()).toMatchObject({ name: 'watchpost', title: 'Watchpost' })
  const place = { lat: 33.9, lon: -117.5, radius_km: 100, min_severity: 40 }
  const zone = { label: 'By a model', external_id: 'store-7', ...place }
  const created = await call(client, 'create_zone', { zone })
  expect(created.body.zone).toMatchObject({ label: 'By a model', owner_id: person.user_id })
  const again = await call(client, 'create_zone', { zone })
  expect(again.body).toMatchObject({ code: 'conflict', errors: [{ path: 'external_id' }] })
  const named = async (external_id: string) =>
    (await call(client, 'list_zones', { external_id })).body.zones.length
  expect([await named('store-7'), await named('store-8')]).toEqual([1, 0])
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
  const unseen = await call(client, 'list_alerts', { seen: false })
  expect(unseen.body.alerts).toHaveLength(1)
  const seen = await call(client, 'acknowledge_alert', { alert_id: body.alerts[0].id })
  expect(seen.body.alert).toMatchObject({ seen_by: person.user_id, seen_via: 'mcp' })
  expect((await call(client, 'list_alerts', { seen: false })).body.alerts).toEqual([])
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

test('a batch costs a request for each of its messages, and more than is left is refused as a whole', async () => {
  const person = await service.person()
  const bucket = `account:${person.user_id}`
  const aheadBy = (seconds: number) =>
    service.database.query(
      `insert into watchpost.rate_limits (bucket, tat) values ($1, now() + make_interval(secs => $2))
      on conflict (bucket) do update set tat = excluded.tat`,
      [bucket, seconds],
    )
  const arrival = async () => {
    const [row] = await service.database.query<{ tat: Date }>(
      'select tat from watchpost.rate_limits where bucket = $1',
      [bucket],
    )
    return row?.tat.getTime() ?? Number.NaN
  }
  const ask = (count: number) =>
    service.request('POST', '/api/v1/mcp', {
      key: person.key,
      headers: { Accept: 'application/json, text/event-stream' },
      body: Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })),
    })
  await aheadBy(30)
  const before = await arrival()
  expect((await ask(4)).body).toHaveLength(4)
  expect((await arrival()) - before).toBe((4 * 60_000) / PER_MINUTE)
  // Neither keeps its connection: there are only a few.
  for (let time = 0; time < 5; time += 1) {
    await aheadBy(0)
    expect((await ask(2)).status).toBe(200)
    await aheadBy(58)
    expectProblem(await ask(20), 429, 'rate_limited')
  }
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

test('a model sets up a channel, tests it, and sees what was delivered', async () => {
  const client = await connect((await service.person()).key)
  const channel = { kind: 'webhook', label: 'On call', target: 'https://hooks.example.com/x' }
  const created = await call(client, 'create_channel', { channel })
  const channel_id = created.body.channel.id
  expect((await call(client, 'test_channel', { channel_id })).isError).toBe(false)
  const listed = await call(client, 'list_channels', {})
  expect(listed.body.channels).toMatchObject([{ id: channel_id, label: 'On call' }])
  const sent = await call(client, 'list_channel_deliveries', { channel_id })
  expect(sent.body.deliveries).toMatchObject([{ kind: 'channel.test' }])
  const changes = { label: 'Night shift' }
  const changed = await call(client, 'update_channel', { channel_id, changes })
  expect(changed.body.channel.label).toBe('Night shift')
  expect((await call(client, 'delete_channel', { channel_id })).isError).toBe(false)
})

test('a model sees its organisations, invites somebody, and withdraws the invite', async () => {
  const person = await service.person()
  const org_id = await service.organisation(person)
  const client = await connect(person.key)
  expect((await call(client, 'get_me', {})).body.orgs).toMatchObject([{ id: org_id }])
  const invite = { email: 'ayse@watchpost.test' }
  const { body } = await call(client, 'invite_member', { org_id, invite })
  const member_id = body.member.id
  await call(client, 'update_member', { org_id, member_id, changes: { role: 'admin' } })
  const { members } = (await call(client, 'list_members', { org_id })).body
  expect(members).toMatchObject([{ role: 'owner' }, { role: 'admin', status: 'invited' }])
  expect((await call(client, 'remove_member', { org_id, member_id })).isError).toBe(false)
})

test('zones and alerts are resources, listed page by page and read one by one', async () => {
  const person = await service.person({ plan: 'enterprise' })
  const client = await connect(person.key)
  const zones = Array.from({ length: 101 }, (_, nr) => ({
    ...{ external_id: `site-${nr}`, label: `Zone ${nr}` },
    ...{ lat: 41, lon: 29, radius_km: 10 },
  }))
  const { key } = person
  const made = await service.request('POST', '/api/v1/zones/bulk', { key, body: { zones } })
  expect(made.body).toMatchObject({ created: 101 })
  await jobs.drain()
  const event = quake({ lat: 41, lon: 29 })
  await jobs.ingest(event)
  await jobs.drain()
  const uris: string[] = []
  let cursor: string | undefined
  do {
    const page = await client.listResources(cursor ? { cursor } : {})
    uris.push(...page.resources.map(({ uri }) => uri))
    cursor = page.nextCursor
  } while (cursor)
  expect(new Set(uris).size).toBe(202)
  for (const kind of ['zones', 'alerts']) {
    const uri = uris.find((each) => each.startsWith(`watchpost://${kind}/`)) ?? ''
    const { contents } = await client.readResource({ uri })
    expect(contents).toMatchObject([{ uri, mimeType: 'application/json' }])
    expect(JSON.stringify(contents)).toContain(uri.split('/').at(-1))
  }
  const { resourceTemplates } = await client.listResourceTemplates()
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'watchpost://zones/{id}',
    'watchpost://alerts/{id}',
  ])
})

test('a resource of somebody else does not exist, nor does a page of an invented cursor', async () => {
  const theirs = await service.person()
  const zone = { label: 'Theirs', lat: 41, lon: 29 }
  const { body } = await call(await connect(theirs.key), 'create_zone', { zone })
  const client = await connect((await service.person()).key)
  await expect(
    client.readResource({ uri: `watchpost://zones/${body.zone.id}` }),
  ).rejects.toMatchObject({ code: -32002, message: expect.stringContaining('no such zone') })
  await expect(client.listResources({ cursor: 'secrets:' })).rejects.toMatchObject({
    ...{ code: -32602, message: expect.stringContaining('The cursor is not one of this list.') },
  })
})
