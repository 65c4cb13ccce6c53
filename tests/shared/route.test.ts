import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ApiError } from '../../shared/problem.ts'
import {
  createRoute,
  hasRoute,
  jsonBody,
  jsonResponse,
  noBody,
  pathId,
  requireJson,
  resource,
  respond,
  respondRows,
  unknownRoute,
} from '../../shared/route.ts'

const ID = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
const Thing = z.strictObject({ label: z.string().min(1) })
const params = z.object({ id: pathId('The id of a thing') })
const responses = { 200: jsonResponse(Thing, 'A thing') }

/** A service of things, whose refusals are their code and detail. */
const app = resource()
app.use(requireJson)
app.openapi(
  createRoute({ method: 'get', path: '/things/{id}', request: { params }, responses }),
  (c) => respond(c, Thing, { label: c.req.valid('param').id }, 200, { 'X-Seen': 'yes' }),
)
app.openapi(
  createRoute({
    ...{ method: 'post', path: '/things', request: { body: jsonBody(Thing) }, responses },
    middleware: async (c, next) => {
      c.header('X-Passed', 'yes')
      await next()
    },
  }),
  (c) => c.json(c.req.valid('json'), 200),
)
app.openapi(
  createRoute({
    method: 'delete',
    path: '/things/{id}',
    request: { params, body: noBody },
    responses,
  }),
  (c) => c.json({ label: 'gone' }, 200),
)
app.openapi(
  createRoute({
    ...{ method: 'get', path: '/things', responses },
    request: { query: z.strictObject({ label: z.string().optional() }) },
  }),
  (c) => respondRows(c, { label: c.req.valid('query').label ?? 'all' }, Thing),
)
for (const method of ['put', 'patch'] as const) {
  app.openapi(createRoute({ method, path: '/names', responses }), (c) => c.json({ label: '' }, 200))
}
app.openapi(createRoute({ method: 'post', path: '/things/check', responses }), (c) =>
  c.json({ label: 'checked' }, 200),
)
app.onError((error, c) => {
  if (!(error instanceof ApiError)) throw error
  const { code, message, issues } = error
  return c.json({ code, message, issues }, 400)
})
app.notFound((c) => {
  const { code, message, headers } = unknownRoute(app, c, 'See the list.')
  return c.json({ code, message, headers }, 404)
})

async function ask(method: string, path: string, body?: string, type = 'application/json') {
  const headers = { 'Content-Type': type }
  const init = body === undefined ? { method } : { method, body, headers }
  return (await app.request(path, init)).json()
}

describe('a body', () => {
  test.each(['application/json', 'Application/JSON', 'application/json; charset=utf-8'])(
    'of the type "%s" is read',
    async (type) => {
      expect(await ask('POST', '/things', '{"label":"a"}', type)).toEqual({ label: 'a' })
    },
  )

  test.each(['text/plain', 'application/jsonp', 'x-application/json', 'application/json2', ''])(
    'of the type "%s" is not',
    async (type) => {
      expect(await ask('POST', '/things', '{"label":"a"}', type)).toMatchObject({
        ...{ code: 'unsupported_media_type', message: 'Send the body as application/json.' },
      })
    },
  )

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'of %s must be JSON by its type',
    async (method) => {
      const { code } = await ask(method, '/things/x', 'label=a', 'text/plain')
      expect(code).toBe('unsupported_media_type')
    },
  )

  test('without a type is not', async () => {
    const body = new TextEncoder().encode('{"label":"a"}')
    const answer = await app.request('/things', { method: 'POST', body })
    expect(await answer.json()).toMatchObject({ code: 'unsupported_media_type' })
  })

  test('that is required must not be empty', async () => {
    const message = 'The body is missing. Send one as application/json.'
    for (const empty of [undefined, '']) {
      expect(await ask('POST', '/things', empty)).toMatchObject({ code: 'malformed', message })
    }
  })

  test('comes after what the route itself asks first', async () => {
    const init = { method: 'POST', body: '{"label":"a"}' }
    const headers = { 'Content-Type': 'application/json' }
    const answer = await app.request('/things', { ...init, headers })
    expect(answer.headers.get('X-Passed')).toBe('yes')
  })

  test('that nothing needs may be absent, empty or {}, but has no field', async () => {
    for (const none of [undefined, '', '{}']) {
      expect(await ask('DELETE', `/things/${ID}`, none)).toEqual({ label: 'gone' })
    }
    expect(await ask('DELETE', `/things/${ID}`, '{"a":1}')).toMatchObject({ code: 'invalid' })
  })

  test('with mistakes is refused with all of them', async () => {
    const { code, issues } = await ask('POST', '/things', '{"label":"","more":1}')
    expect([code, issues.length]).toEqual(['invalid', 2])
  })
})

describe('a query', () => {
  test('is refused by a route that knows none', async () => {
    expect(await ask('GET', `/things/${ID}?a=1`)).toMatchObject({ code: 'invalid_query' })
    expect(await ask('POST', '/things?a=1', '{"label":"a"}')).toMatchObject({
      code: 'invalid_query',
    })
  })

  test('is what the route says', async () => {
    expect(await ask('GET', '/things?label=b')).toEqual({ label: 'b' })
    expect(await ask('GET', '/things?more=b')).toMatchObject({ code: 'invalid_query' })
  })
})

describe('an id in a path', () => {
  test.each([
    [ID, ID],
    [ID.toUpperCase(), ID.toUpperCase()],
    ['1', '00000000-0000-0000-0000-000000000000'],
    [`${ID}0`, '00000000-0000-0000-0000-000000000000'],
  ])('%s is looked up as %s', async (given, id) => {
    expect(await ask('GET', `/things/${given}`)).toEqual({ label: id })
  })
})

describe('an answer', () => {
  test('has its headers, and only what its schema says', async () => {
    const answer = await app.request(`/things/${ID}`)
    expect([answer.status, answer.headers.get('X-Seen')]).toEqual([200, 'yes'])
    const strict = resource()
    strict.get('/', (c) => respond(c, Thing, { label: '' }, 200))
    strict.onError((error, c) => c.text(error.constructor.name))
    expect(await (await strict.request('/')).text()).toBe('ZodError')
  })

  test('is described as JSON', () => {
    expect(responses[200]).toEqual({
      description: 'A thing',
      content: { 'application/json': { schema: Thing } },
    })
    expect(jsonBody(Thing)).toEqual({
      required: true,
      content: { 'application/json': { schema: Thing } },
    })
  })
})

describe('an address without a route', () => {
  test.each([
    ['GET', '/nothing'],
    ['POST', '/things/1/more'],
    ['GET', '/'],
  ])('%s %s is unknown', async (method, path) => {
    expect(await ask(method, path)).toEqual({
      code: 'not_found',
      message: 'There is no route at this address. See the list.',
      headers: {},
    })
  })

  test.each([
    ['PUT', '/things', 'GET or POST', 'GET, POST'],
    ['POST', `/things/${ID}`, 'GET or DELETE', 'GET, DELETE'],
    ['PATCH', '/things/check', 'POST', 'POST'],
    ['DELETE', '/names', 'PUT or PATCH', 'PUT, PATCH'],
    ['OPTIONS', '/things/check', 'POST', 'POST'],
  ])('%s %s has other methods: %s', async (method, path, told, Allow) => {
    expect(await ask(method, path)).toEqual({
      code: 'method_not_allowed',
      message: `This route accepts ${told}.`,
      headers: { Allow },
    })
  })

  test('whose own route says so is unknown, also when only its head is asked for', () => {
    for (const method of ['GET', 'HEAD']) {
      // safe: nothing else of the context is read
      const context = { req: { method, path: '/things' } } as Parameters<typeof unknownRoute>[1]
      expect(unknownRoute(app, context, '').code).toBe('not_found')
    }
  })

  test.each([
    ['GET', '/things', true],
    ['HEAD', '/things', true],
    ['PUT', '/things', false],
    ['GET', '/things/1', true],
    ['DELETE', '/things/1', true],
    ['POST', '/things/check', true],
    // A literal path is no id.
    ['GET', '/things/check', false],
    ['DELETE', '/things/check', false],
    ['GET', '/nothing', false],
  ])('%s %s: %s', (method, path, is_there) => {
    expect(hasRoute(app, method, path)).toBe(is_there)
  })
})
