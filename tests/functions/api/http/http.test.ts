import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import {
  createService,
  ORIGIN,
  type Person,
  parsed,
  type Service,
} from '../../../support/service.ts'

const CHANNEL = { kind: 'webhook', target: 'https://hooks.example.com/in/s3cret-path' }

let service: Service
let caller: Person
beforeAll(async () => {
  service = await createService()
  caller = await service.person()
})
afterAll(() => service.close())

describe('addresses and methods', () => {
  test.each([
    ['GET', '/api/v1/nope'],
    ['POST', '/api/v1/nope'],
    ['GET', '/api/v2/zones'],
    ['GET', '/nope'],
    ['GET', '/api/v1/zones/'],
  ])('%s %s is 404, with a key or without', async (method, path) => {
    expectProblem(await service.request(method, path), 404, 'not_found')
    expectProblem(await service.request(method, path, caller), 404, 'not_found')
  })

  test.each([
    ['PUT', '/api/v1/zones', 'GET, POST'],
    ['DELETE', '/api/v1/me', 'GET'],
    ['PUT', '/api/v1/channels/x', 'GET, PATCH, DELETE'],
    ['GET', '/api/v1/channels/x/test', 'POST'],
    ['PATCH', '/api/v1/zones/preview', 'POST'],
    ['POST', '/api/sources/health', 'GET'],
  ])('%s %s is 405 and says what is allowed', async (method, path, allow) => {
    const answer = await service.request(method, path)
    expectProblem(answer, 405, 'method_not_allowed')
    expect(answer.headers.get('Allow')).toBe(allow)
    expect(answer.text).toContain(`This route accepts ${allow.replaceAll(', ', ' or ')}.`)
  })

  test('an unknown address is 404 before its body is looked at', async () => {
    const headers = { 'Content-Type': 'text/plain' }
    const answer = await service.request('POST', '/api/v1/nope', { body: 'x', headers })
    expectProblem(answer, 404, 'not_found')
  })

  test('HEAD answers the headers of GET', async () => {
    const { status, text, headers } = await service.request('HEAD', '/api/v1/me', caller)
    expect([status, text]).toEqual([200, ''])
    expect(headers.get('RateLimit')).toMatch(/^"account";r=\d+;t=\d+$/)
  })
})

describe('bodies', () => {
  test('a body over 2 MiB is 413, before the key is looked at', async () => {
    const body = JSON.stringify({ label: 'x'.repeat(2 * 1024 * 1024) })
    const headers = { 'Content-Length': String(body.length) }
    expectProblem(
      await service.request('POST', '/api/v1/zones', { body, headers }),
      413,
      'too_large',
    )
    const known = await service.request('POST', '/api/v1/zones', { key: caller.key, body, headers })
    expectProblem(known, 413, 'too_large')
  })

  test('every mistake of a body is named', async () => {
    const body = { kind: 7, target: '', nope: true }
    const answer = await service.request('POST', '/api/v1/channels', { key: caller.key, body })
    expectProblem(answer, 422, 'invalid')
    const { errors } = z
      .object({ errors: z.array(z.object({ path: z.string() })) })
      .parse(answer.body)
    expect(errors.map(({ path }) => path).sort()).toEqual(['kind', 'nope', 'target'])
  })

  test('a body without a content type is 415, a charset beside it is welcome', async () => {
    const ask = (type: string) =>
      service.request('POST', '/api/v1/channels', {
        key: caller.key,
        body: CHANNEL,
        headers: { 'Content-Type': type },
      })
    expectProblem(await ask(''), 415, 'unsupported_media_type')
    expect((await ask('Application/JSON; charset=utf-8')).status).toBe(201)
  })

  test('a body that is packed is 415; one that says it is not is welcome', async () => {
    const ask = (encoding: string) =>
      service.request('POST', '/api/v1/channels', {
        key: caller.key,
        body: CHANNEL,
        headers: { 'Content-Encoding': encoding },
      })
    expectProblem(await ask('gzip'), 415, 'unsupported_media_type')
    expect((await ask('Identity')).status).toBe(201)
  })

  test('text that the database cannot store answers 400, not 500', async () => {
    const body = { ...CHANNEL, config: { headers: { 'X-A': 'a\u0000b' } } }
    const answer = await service.request('POST', '/api/v1/channels', { key: caller.key, body })
    expect(answer.status).toBe(422)
    const query = await service.request('GET', '/api/v1/events?source=a%00b', caller)
    expectProblem(query, 400, 'malformed')
    for (const path of ['zones/%00', 'events/a%00b', `events/${'x'.repeat(256)}`]) {
      const answer = await service.request('GET', `/api/v1/${path}`, caller)
      expectProblem(answer, 404, 'not_found')
    }
  })

  test.each(['__proto__', 'constructor'])(
    'a field named %s is refused like any other',
    async (name) => {
      const body = `{"kind":"webhook","target":"${CHANNEL.target}","${name}":{"x":1}}`
      const answer = await service.request('POST', '/api/v1/channels', { key: caller.key, body })
      expectProblem(answer, 422, 'invalid')
    },
  )
})

describe('queries and cursors', () => {
  test.each(['limit=0', 'limit=501', 'limit=many', 'limit=1.5', 'limit=', 'limit=1&limit=2'])(
    'GET /channels?%s is 400 and named',
    async (query) => {
      const answer = await service.request('GET', `/api/v1/channels?${query}`, caller)
      expectProblem(answer, 400, 'invalid_query')
      expect(answer.body).toMatchObject({ errors: [{ path: 'limit' }] })
    },
  )

  test('a cursor that was tampered with, or is of another list, is 400', async () => {
    const owner = await service.person()
    for (const _ of [1, 2]) {
      await service.request('POST', '/api/v1/channels', { key: owner.key, body: CHANNEL })
    }
    const Cursor = z.object({ next_cursor: z.string() })
    const page = await service.request('GET', '/api/v1/channels?limit=1', owner)
    const { next_cursor } = parsed(page, 200, Cursor)
    const position = JSON.parse(Buffer.from(next_cursor, 'base64url').toString())
    const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const [version, digest, at, id] = position
    for (const cursor of [
      'x',
      '',
      '%00',
      next_cursor.slice(0, -2),
      forged(null),
      forged([version, digest]),
      forged([version + 1, digest, at, id]),
      forged([version, 'AAAAAAAAAAAA', at, id]),
      forged([version, digest, "now'", id]),
      forged([version, digest, at, 'not-an-id']),
      forged([version, digest, at, id, 'more']),
    ]) {
      const answer = await service.request(
        'GET',
        `/api/v1/channels?limit=1&cursor=${cursor}`,
        owner,
      )
      expectProblem(answer, 400, 'invalid_cursor')
    }
    const other = await service.request('GET', `/api/v1/zones?cursor=${next_cursor}`, owner)
    expectProblem(other, 400, 'invalid_cursor')
    const next = await service.request('GET', `/api/v1/channels?cursor=${next_cursor}`, owner)
    expect(next.status).toBe(200)
  })
})

describe('headers', () => {
  test('every answer has the security headers for browsers', async () => {
    for (const path of ['/api/v1/me', '/nope', '/api/sources/health']) {
      const { headers } = await service.request('GET', path, caller)
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
      expect(headers.get('X-Frame-Options')).toBe('DENY')
      expect(headers.get('Referrer-Policy')).toBe('no-referrer')
      expect(headers.get('Strict-Transport-Security')).toMatch(/^max-age=31536000/)
      expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  test('what one origin may read is not kept for another, and any page may show it', async () => {
    const origins: Record<string, string>[] = [{}, { Origin: ORIGIN }, { Origin: 'https://x.test' }]
    for (const headers of origins) {
      const answer = await service.request('GET', '/api/sources/health', { headers })
      expect(answer.headers.get('Vary')).toMatch(/\bOrigin\b/)
      expect(answer.headers.get('Cross-Origin-Resource-Policy')).toBeNull()
    }
  })

  test('an answer to a key may not be cached by anybody else', async () => {
    const { headers } = await service.request('GET', '/api/v1/me', caller)
    expect(headers.get('Cache-Control')).toBe('no-store')
  })

  test('the keys of evidence may be kept for five minutes, and read from anywhere', async () => {
    const path = '/.well-known/watchpost-evidence.json'
    const headers = { Origin: 'https://anywhere.example' }
    const answer = await service.request('GET', path, { headers })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Cache-Control')).toBe('public, max-age=300')
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*')
  })

  test('browsers may call from the configured origin and from no other', async () => {
    const preflight = (origin: string) =>
      service.request('OPTIONS', '/api/v1/zones', {
        headers: {
          Origin: origin,
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'authorization,idempotency-key',
        },
      })
    const { status, headers } = await preflight(ORIGIN)
    expect(status).toBe(204)
    expect(headers.get('Access-Control-Allow-Origin')).toBe(ORIGIN)
    expect(headers.get('Access-Control-Allow-Headers')).toBe(
      'Authorization,Content-Type,Idempotency-Key,If-Match',
    )
    expect(headers.get('Access-Control-Allow-Credentials')).toBeNull()
    for (const origin of ['https://evil.example', 'null', `${ORIGIN}.evil.example`]) {
      const refused = await preflight(origin)
      expect(refused.headers.get('Access-Control-Allow-Origin')).toBeNull()
      const plain = await service.request('GET', '/api/v1/me', {
        key: caller.key,
        headers: { Origin: origin },
      })
      expect(plain.headers.get('Access-Control-Allow-Origin')).toBeNull()
    }
    const refusal = await service.request('GET', '/api/v1/me', { headers: { Origin: ORIGIN } })
    expect(refusal.headers.get('Access-Control-Allow-Origin')).toBe(ORIGIN)
    expect(refusal.headers.get('Access-Control-Expose-Headers')).toBe(
      'X-Request-Id,RateLimit,RateLimit-Policy,Retry-After,Location',
    )
    expect(headers.get('Access-Control-Allow-Methods')).toBe('GET,POST,PATCH,DELETE')
    expect(headers.get('Access-Control-Max-Age')).toBe('600')
  })
})

describe('the log', () => {
  test('a request leaves one line, with who and what, and nothing secret', async () => {
    service.lines.length = 0
    const answer = await service.request('POST', '/api/v1/channels', {
      key: caller.key,
      body: { ...CHANNEL, config: { headers: { 'X-Token': 'hunter2' } } },
      headers: { 'Idempotency-Key': 'log-line-key' },
    })
    expect(answer.status).toBe(201)
    expect(service.lines).toEqual([
      {
        msg: 'request',
        request_id: answer.headers.get('X-Request-Id'),
        method: 'POST',
        path: '/api/v1/channels',
        route: '/api/v1/channels',
        status: 201,
        duration_ms: expect.any(Number),
        user_id: caller.user_id,
        key_id: expect.any(String),
      },
    ])
    const line = JSON.stringify(service.lines)
    for (const secret of [caller.key, 's3cret-path', 'hunter2', 'whsec_', 'log-line-key']) {
      expect(line).not.toContain(secret)
    }
  })

  test('an address without a route has none in the log, and one that is a key is not there', async () => {
    service.lines.length = 0
    await service.request('GET', '/api/v1/nope', caller)
    await service.request('GET', '/api/v1/feeds/s3cret-token.atom')
    expect(service.lines).toMatchObject([
      { path: '/api/v1/nope', route: 'none', status: 404 },
      { path: '/api/v1/feeds/…', route: '/api/v1/feeds/:file', status: 404 },
    ])
  })

  test('a refusal says its code', async () => {
    service.lines.length = 0
    await service.request('GET', '/api/v1/zones/x?cursor=secret', { key: 'wp_live_nonsense' })
    expect(service.lines).toMatchObject([{ status: 401, code: 'unauthenticated' }])
    // Only what went wrong has an error in the log.
    expect(service.lines[0]).not.toHaveProperty('error')
    expect(JSON.stringify(service.lines)).not.toMatch(/nonsense|secret/)
  })
})

test('a request without a body may have any Content-Type, or none', async () => {
  const person = await service.person()
  const key = await service.session(person)
  const types: Record<string, string>[] = [
    {},
    { 'Content-Type': 'application/json' },
    { 'Content-Type': 'text/plain' },
  ]
  for (const headers of types) {
    const org = await service.organisation(person)
    const deleted = await service.request('DELETE', `/api/v1/account/orgs/${org}`, { key, headers })
    expect(deleted.status).toBe(204)
    const made = await service.request('POST', '/api/v1/zones', { key, headers })
    expectProblem(made, 400, 'malformed')
  }
})
