import { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createPool } from '../../../functions/db.ts'
import { Pipeline } from '../../../functions/postgres/pipeline.ts'
import { generateKey } from '../../../shared/key.ts'
import { generateToken, tokenHash } from '../../../shared/token.ts'
import { prepareRoute } from '../../support/attacks/prepare-route.ts'
import {
  createOwnedThings,
  type OwnedThings,
  pathOf,
  ROUTES,
  type Route,
} from '../../support/attacks/refusals.ts'
import { type CountingProxy, startProxy } from '../../support/servers/proxy.ts'
import { createService, type Person, type Service } from '../../support/service.ts'

// Round trips to Postgres of each route, on a warm connection and with a key used before.
// A read is one, a write two, because its commit waits until the answer was looked at; a step that
// needs the answer of another costs one more, and the commit travels with the last one.
const TRIPS: Record<string, number> = {
  'GET /api/sources/health': 1,
  'GET /api/v1/feeds/{file}': 1,
  'GET /api/v1/zones/{id}/drills/{drillId}': 1,
  'GET /api/v1/zones/{id}/feed-links': 1,
  'GET /api/v1/zones/{id}/feed-links/{linkId}': 1,
  'GET /api/v1/me': 1,
  'GET /api/v1/web-push': 1,
  'GET /api/v1/zones': 1,
  'GET /api/v1/zones/{id}': 1,
  'POST /api/v1/zones/preview': 1,
  'GET /api/v1/alerts': 1,
  'GET /api/v1/alerts/{id}': 1,
  'GET /api/v1/alerts/{id}/evidence': 1,
  'GET /.well-known/watchpost-evidence.json': 1,
  'GET /api/v1/alerts/changes': 1,
  'GET /api/v1/events/changes': 1,
  'GET /api/v1/events/footprints': 1,
  'GET /api/v1/events/map': 1,
  'GET /api/v1/events/tracks': 1,
  'GET /api/v1/events/{id}': 1,
  'GET /api/v1/channels': 1,
  'GET /api/v1/channels/{id}': 1,
  'GET /api/v1/channels/{id}/deliveries': 1,
  'GET /api/v1/orgs/{id}/members': 1,
  'GET /api/v1/orgs/{id}/members/{userId}': 1,
  'GET /api/v1/analytics': 1,
  'GET /api/v1/audit': 1,
  'GET /api/v1/events': 2,
  'GET /api/v1/zones/{id}/preview': 2,
  'GET /api/v1/zones/{id}/explain': 2,
  'GET /api/v1/zones/{id}/versions': 1,
  'POST /api/v1/events': 2,
  'POST /api/v1/zones': 2,
  'PATCH /api/v1/zones/{id}': 2,
  'DELETE /api/v1/zones/{id}': 2,
  'POST /api/v1/zones/{id}/restore': 2,
  'POST /api/v1/zones/{id}/feed-links': 2,
  'POST /api/v1/zones/{id}/feed-links/{linkId}/rotate': 2,
  'DELETE /api/v1/zones/{id}/feed-links/{linkId}': 2,
  'PATCH /api/v1/alerts/{id}': 2,
  'POST /api/v1/alerts/{id}/acknowledge': 2,
  'POST /api/v1/alerts/{id}/redeliver': 2,
  'POST /api/v1/channels': 2,
  'DELETE /api/v1/channels/{id}': 2,
  'POST /api/v1/channels/{id}/restore': 2,
  'POST /api/v1/channels/{id}/rotate-secret': 2,
  'POST /api/v1/channels/{id}/recover': 2,
  'PATCH /api/v1/orgs/{id}/members/{userId}': 2,
  'DELETE /api/v1/orgs/{id}/members/{userId}': 2,
  'POST /api/v1/zones/bulk': 2,
  'POST /api/v1/zones/{id}/drill': 3,
  'PATCH /api/v1/channels/{id}': 3,
  'POST /api/v1/channels/{id}/test': 3,
  'POST /api/v1/channels/{id}/confirmation': 3,
  'POST /api/v1/orgs/{id}/members': 3,
}

let service: Service
let proxy: CountingProxy
let person: Person
/** How often something was handed to the operating system for the proxy. */
let writes = 0

beforeAll(async () => {
  service = await createService({
    connect: async ({ apiUrl }) => {
      proxy = await startProxy(apiUrl)
      countWrites(Number(new URL(proxy.urlOf(apiUrl)).port))
      // One connection: what a request does beside its answer would be counted too.
      return createPool({ url: proxy.urlOf(apiUrl), max: 1 })
    },
  })
  // More channels than Pro has: each route gets its own.
  person = await service.person({ plan: 'enterprise' })
  await service.request('GET', '/api/v1/me', { key: person.key })
})
afterAll(async () => {
  vi.restoreAllMocks()
  await service?.close()
  await proxy?.close()
})

function countWrites(port: number): void {
  // safe: a socket has both, and they take what its stream gives them
  const socket = Socket.prototype as unknown as Record<'_write' | '_writev', Write>
  for (const name of ['_write', '_writev'] as const) {
    const write = socket[name]
    vi.spyOn(socket, name).mockImplementation(function (this: Socket, ...given) {
      if (this.remotePort === port) writes += 1
      write.apply(this, given)
    })
  }
}
type Write = (this: Socket, ...given: unknown[]) => void

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
const keyed = ROUTES.map((route) => [nameOf(route), route] as const)

test('every route has its number of round trips', async () => {
  const routes = (await service.routes()).filter(({ is_account }) => !is_account)
  expect(Object.keys(TRIPS).sort()).toEqual(routes.map(nameOf).sort())
})

test.each(keyed)('%s', async (name, route) => {
  const { ids } = await createOwnedThings(service, person)
  await prepareRoute(service, route, ids)
  const { trips, writes, answer } = await count(route, ids)
  expect(answer.status, answer.text).toBeLessThan(300)
  expect(trips).toBe(TRIPS[name])
  // The statements of a trip leave together.
  expect(writes).toBe(trips)
})

test('GET /api/sources/health', async () => {
  const before = proxy.trips()
  const { status } = await service.request('GET', '/api/sources/health')
  expect({ status, trips: proxy.trips() - before }).toEqual({
    status: 200,
    trips: TRIPS['GET /api/sources/health'],
  })
})

test('GET /api/v1/feeds/{file}', async () => {
  const { ids } = await createOwnedThings(service, person)
  const token = generateToken()
  await service.database.query('update watchpost.feed_links set token_hash = $2 where id = $1', [
    ids.feed_link,
    await tokenHash(token),
  ])
  const before = proxy.trips()
  const { status } = await service.request('GET', `/api/v1/feeds/${token}.atom`)
  expect({ status, trips: proxy.trips() - before }).toEqual({
    status: 200,
    trips: TRIPS['GET /api/v1/feeds/{file}'],
  })
})

describe('what else a request may ask for costs at most three', () => {
  test('a zone, a channel and an invite made once per Idempotency-Key', async () => {
    const { ids } = await createOwnedThings(service, person)
    const trips: Record<string, number> = {}
    for (const [name, route] of keyed) {
      if (route.method !== 'POST' || !/\/(zones|channels|members)$/.test(route.path)) continue
      const headers = { 'Idempotency-Key': `once for ${name}` }
      const first = await count(route, ids, { headers })
      const again = await count(route, ids, { headers })
      expect([first.answer.status, again.answer.status]).toEqual([201, 201])
      trips[name] = first.trips
      trips[`${name} again`] = again.trips
    }
    expect(trips).toEqual({
      'POST /api/v1/zones': 2,
      'POST /api/v1/zones again': 3,
      'POST /api/v1/channels': 2,
      'POST /api/v1/channels again': 3,
      'POST /api/v1/orgs/{id}/members': 3,
      'POST /api/v1/orgs/{id}/members again': 3,
    })
  })

  test('a channel that comes into an organisation', async () => {
    const { ids } = await createOwnedThings(service, person)
    const org_id = ids.organisation
    const create = { ...find('POST /api/v1/channels') }
    create.body = { ...create.body, org_id }
    const headers = { 'Idempotency-Key': 'shared' }
    expect(await count(create, ids, { headers })).toMatchObject({
      trips: 3,
      answer: { status: 201 },
    })
    const share = { ...find('PATCH /api/v1/channels/{id}'), body: { org_id } }
    expect(await count(share, ids)).toMatchObject({ trips: 3, answer: { status: 200 } })
  })
})

test('a key that is unknown costs one, and one of another form none', async () => {
  const route = find('GET /api/v1/zones')
  const { ids } = await createOwnedThings(service, person)
  const unknown = generateKey()
  expect(await count(route, ids, { key: unknown })).toMatchObject({
    // The failed transaction is ended with a rollback, which nobody waits for but the pool.
    trips: 2,
    answer: { status: 401 },
  })
  expect(await count(route, ids, { key: 'nonsense' })).toMatchObject({
    trips: 0,
    answer: { status: 401 },
  })
})

test('a list of zones takes as many statements for a thousand rows as for one', async () => {
  const sent = vi.spyOn(Pipeline.prototype, 'send')
  const me = await service.person()
  const site = (external_id: string, lat: number) => ({ external_id, label: 'Site', lat, lon: 29 })
  const statements = async (zones: object[]) => {
    sent.mockClear()
    const answer = await service.request('POST', '/api/v1/zones/bulk', {
      key: me.key,
      body: { zones },
    })
    expect(answer.body).toMatchObject({ unchanged: 0, rejected: 0 })
    return sent.mock.calls.length
  }
  const rows = (lat: number) => Array.from({ length: 998 }, (_, nr) => site(`n${nr}`, lat))
  try {
    await statements([site('first', 41)])
    const creating = await statements([site('second', 41)])
    expect(creating).toBeGreaterThan(0)
    expect(await statements(rows(41))).toBe(creating)
    expect(await statements(rows(2))).toBe(await statements([site('first', 2)]))
  } finally {
    sent.mockRestore()
  }
})

test('an answer is made once, and not again around its stream', async () => {
  const { ids } = await createOwnedThings(service, person)
  // Of whichever class the process has: the server for Node replaces it.
  const made = vi.spyOn(globalThis, 'Response')
  try {
    for (const name of ['GET /api/v1/me', 'GET /api/v1/zones', 'POST /api/v1/zones']) {
      made.mockClear()
      expect((await count(find(name), ids)).answer.status).toBeLessThan(300)
      expect(made, name).toHaveBeenCalledTimes(1)
    }
  } finally {
    made.mockRestore()
  }
})

function find(name: string): Route {
  const route = ROUTES.find((each) => nameOf(each) === name)
  if (!route) throw new Error(`there is no route ${name}`)
  return route
}

async function count(
  route: Route,
  ids: OwnedThings['ids'],
  options: Parameters<Service['request']>[2] = {},
) {
  const before = { trips: proxy.trips(), writes }
  const answer = await service.request(route.method, pathOf(route, ids), {
    key: person.key,
    body: route.body,
    ...options,
  })
  return { trips: proxy.trips() - before.trips, writes: writes - before.writes, answer }
}
