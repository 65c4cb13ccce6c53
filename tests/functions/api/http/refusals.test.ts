import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createOwnedThings,
  expectProblem,
  OTHER_ACCOUNT_MARKER,
  type OwnedThings,
  pathOf,
  ROUTES,
  type Route,
  unknownCallers,
  unknownIds,
} from '../../../support/attacks/refusals.ts'
import { createService, type Person, type Service } from '../../../support/service.ts'

let service: Service
let caller: Person
let foreign: OwnedThings
let unknown: Awaited<ReturnType<typeof unknownCallers>>
beforeAll(async () => {
  service = await createService()
  caller = await service.person()
  foreign = await createOwnedThings(service, await service.person())
  unknown = await unknownCallers(service)
})
afterAll(() => service.close())

const named = ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const)
const withBody = named.filter(([, { body }]) => body)
const withId = named.filter(([, { thing }]) => thing)

/** The route's own request, with what the test changes about it. */
function ask(
  route: Route,
  { ids = foreign.ids, query = '', ...options }: AskOptions,
): ReturnType<Service['request']> {
  const address = pathOf(route, ids)
  const separator = address.includes('?') ? '&' : '?'
  const path = query ? `${address}${separator}${query}` : address
  return service.request(route.method, path, { body: route.body, ...options })
}
type AskOptions = Parameters<Service['request']>[2] & { ids?: OwnedThings['ids']; query?: string }

test('every route for keys in the OpenAPI document is here, and only health, feeds and the keys of evidence need none', async () => {
  const documented = (await service.routes()).filter(({ is_account }) => !is_account)
  const name = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
  expect(ROUTES.map(name).sort()).toEqual(
    documented
      .filter(({ is_public }) => !is_public)
      .map(name)
      .sort(),
  )
  expect(
    documented
      .filter(({ is_public }) => is_public)
      .map(name)
      .sort(),
  ).toEqual([
    'GET /.well-known/watchpost-evidence.json',
    'GET /api/sources/health',
    'GET /api/v1/feeds/{file}',
  ])
})

const THINGS: Record<string, string> = {
  zones: 'zone',
  channels: 'channel',
  alerts: 'alert',
  events: 'event',
  orgs: 'organisation',
  drills: 'drill',
  'feed-links': 'feed link',
}
/** Routes that name another thing. */
const OTHERS: Record<string, string> = {
  'GET /api/v1/orgs/{id}/members/{userId}': 'member',
  'GET /api/v1/zones/{id}/drills/{drillId}': 'drill',
  'POST /api/v1/zones/{id}/restore': 'deleted zone',
}

test('no route reveals anything of another account, in body, header or log line', async () => {
  const account = await service.account()
  const callers: Record<string, string | undefined> = {
    nobody: undefined,
    free: (await service.person({ plan: 'free' })).key,
    reader: await service.key(account, { scopes: ['read'] }),
    revoked: await service.key(account, { revoked: true }),
    stranger: caller.key,
  }
  service.lines.length = 0
  for (const [who, key] of Object.entries(callers)) {
    for (const route of ROUTES) {
      const { text, headers } = await ask(route, key === undefined ? {} : { key })
      const told = `${text} ${JSON.stringify([...headers])}`
      expect([who, route.path, told.includes(OTHER_ACCOUNT_MARKER)]).toEqual([
        who,
        route.path,
        false,
      ])
    }
  }
  expect(service.lines.length).toBeGreaterThanOrEqual(5 * ROUTES.length)
  expect(JSON.stringify(service.lines)).not.toContain(OTHER_ACCOUNT_MARKER)
})

describe.each(named)('%s', (_, route) => {
  test('every unknown caller gets the same 401, byte for byte', async () => {
    const seen = new Set<string>()
    for (const [who, authorization] of Object.entries(unknown)) {
      const headers: Record<string, string> = authorization ? { Authorization: authorization } : {}
      // Neither the body nor the id nor the query is looked at before the caller.
      const answer = await ask(route, { headers, query: 'nope=1', ...spoiled(route) })
      expectProblem(answer, 401, 'unauthenticated')
      const id = answer.headers.get('X-Request-Id') ?? who
      expect(answer.text).toContain(id)
      seen.add(answer.text.replaceAll(id, 'request_id'))
    }
    expect(seen.size).toBe(1)
  })

  test('an account below Pro is 402', async () => {
    const free = await service.person({ plan: 'free' })
    const answer = await ask(route, { key: free.key, query: 'nope=1', ...spoiled(route) })
    expectProblem(answer, 402, 'plan_required')
  })

  test('a key without the scope is 403, whatever else is wrong', async () => {
    const other = { read: 'ingest', write: 'read', ingest: 'write' } as const
    const scopes = [other[route.scope]]
    const key = await service.key(await service.account(), { scopes })
    for (const options of [{}, { query: 'nope=1' }, spoiled(route)]) {
      expectProblem(await ask(route, { key, ...options }), 403, 'insufficient_scope')
    }
  })

  test('an unknown query parameter is 400', async () => {
    const answer = await ask(route, { key: caller.key, query: 'min_serverity=3' })
    expectProblem(answer, 400, 'invalid_query')
    expect(answer.body).toMatchObject({
      errors: [{ path: 'min_serverity', code: 'unknown_field' }],
    })
  })
})

describe.each(withBody)('%s', (_, route) => {
  test('an unknown field is 422, even if the thing does not exist', async () => {
    const body = { ...route.body, tarket: 1 }
    for (const ids of [foreign.ids, unknownIds(() => 'x')]) {
      const answer = await ask(route, { key: caller.key, body, ids })
      expectProblem(answer, 422, 'invalid')
      expect(answer.body).toMatchObject({
        errors: expect.arrayContaining([expect.objectContaining({ path: 'tarket' })]),
      })
    }
  })

  test('invalid JSON is 400, and a wrong Content-Type 415', async () => {
    const broken = await ask(route, { key: caller.key, body: '{"a":' })
    expectProblem(broken, 400, 'malformed')
    const headers = { 'Content-Type': 'text/plain' }
    expectProblem(await ask(route, { key: caller.key, headers }), 415, 'unsupported_media_type')
    expectProblem(await ask(route, { headers }), 415, 'unsupported_media_type')
  })

  test.each(['[]', '"text"', 'null', '3'])('the body %s is 422', async (body) => {
    expectProblem(await ask(route, { key: caller.key, body }), 422, 'invalid')
  })
})

describe.each(withId)('%s', (_, route) => {
  test('somebody else’s thing is 404, as if it did not exist, and is not changed', async () => {
    const before = await foreign.read()
    const theirs = await ask(route, { key: caller.key })
    const nobodys = await ask(route, { key: caller.key, ids: unknownIds(randomUUID) })
    const malformed = await ask(route, { key: caller.key, ids: unknownIds(() => 'nonsense') })
    for (const answer of [theirs, nobodys, malformed]) expectProblem(answer, 404, 'not_found')
    const bytes = [theirs, nobodys, malformed].map(({ text, headers }) =>
      text.replaceAll(headers.get('X-Request-Id') ?? '', ''),
    )
    expect(new Set(bytes).size).toBe(1)
    expect(theirs.body).toMatchObject({
      detail: `There is no such ${thingOf(route)}, or it is not yours.`,
    })
    expect(await foreign.read()).toEqual(before)
    expect(service.receiver.requests).toEqual([])
  })
})

/** What the first id of a path names; whoever does not see that learns of nothing below it. */
function thingOf({ method, path }: Route): string {
  const [, place = ''] = /\/([a-z_-]+)\/\{/.exec(path) ?? []
  return OTHERS[`${method} ${path}`] ?? THINGS[place] ?? place
}

/** A body with a mistake, for a route that takes one. */
function spoiled({ body }: Route): AskOptions {
  return body
    ? { body: { nope: true }, ids: unknownIds(() => 'x') }
    : { ids: unknownIds(() => 'x') }
}
