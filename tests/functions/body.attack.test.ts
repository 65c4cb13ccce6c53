import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { can } from '../../functions/auth.ts'
import { checkBody, readBody, SMALL_BODY_BYTES } from '../../functions/body.ts'
import type { Env } from '../../functions/context.ts'
import { createPool, type Database } from '../../functions/db.ts'
import { generateKey } from '../../shared/key.ts'
import { MAX_ISSUES, toApiError } from '../../shared/problem.ts'
import { coast, diagonals, EXPENSIVE_BODIES } from '../support/attacks/expensive.ts'
import { countJsonParses } from '../support/attacks/json-parses.ts'
import { expectProblem } from '../support/attacks/refusals.ts'
import { createIssuingApp } from '../support/servers/issuing-app.ts'
import { createService, PUBLIC_URL, type Service } from '../support/service.ts'

const PER_MINUTE = 60
const PREVIEW = '/api/v1/zones/preview'
const CHUNKED = { 'Content-Length': '2', 'Transfer-Encoding': 'chunked' }

let service: Service
/** What happened, in order: a caller was asked for, a large text was parsed. */
const order: string[] = []

/** A pool that records when the database has identified the caller. */
function recordingOrder(db: Database): Database {
  return {
    ...db,
    connect: async () => {
      const connection = await db.connect()
      return {
        ...connection,
        query: async (text, values) => {
          const result = await connection.query(text, values)
          if (/private\.check_(key|session)/.test(text)) order.push('known')
          return result
        },
      }
    },
  }
}

beforeAll(async () => {
  service = await createService({
    limits: { pro: PER_MINUTE },
    connect: ({ apiUrl }) => recordingOrder(createPool({ url: apiUrl, max: 4 })),
  })
})
afterAll(() => service?.close())

async function post(body: string, key?: string, path = PREVIEW, headers = {}) {
  const parsed = countJsonParses(() => order.push('parsed'))
  try {
    const answer = await service.request('POST', path, {
      body,
      headers: { 'Content-Length': String(Buffer.byteLength(body)), ...headers },
      ...(key === undefined ? {} : { key }),
    })
    return { answer, parsed: parsed.texts }
  } finally {
    parsed.stop()
  }
}

describe('a body whose sender nobody knows', () => {
  test.each(Object.entries(EXPENSIVE_BODIES))(
    '%s: 401, and nothing of it is parsed',
    async (_, body) => {
      const none = await post(body)
      expectProblem(none.answer, 401, 'unauthenticated')
      expect(none.parsed).toEqual([])
      // One whose form is right, as anybody can make it up.
      const unknown = await post(body, generateKey())
      expectProblem(unknown.answer, 401, 'unauthenticated')
      expect(unknown.parsed).toEqual([])
    },
  )

  test('a small one without a key is not parsed either', async () => {
    const body = JSON.stringify({ label: 'x'.repeat(2000) })
    const { answer, parsed } = await post(body)
    expectProblem(answer, 401, 'unauthenticated')
    expect(parsed).toEqual([])
  })

  test('without a length it is read no further than a small one is', async () => {
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 1024
        controller.enqueue(new Uint8Array(1024).fill(0x5b))
      },
    })
    const app = new Hono<Env>()
    app.use(async (c, next) => {
      const address = { address: () => '192.0.2.1', address_limit: () => 0 }
      // safe: a caller without a key needs no more of them
      c.set('deps', address as unknown as Env['Variables']['deps'])
      await next()
    })
    app.use(checkBody)
    app.post('/', can('read'), (c) => c.text('taken'))
    app.onError((error, c) => c.text(toApiError(error).code, 401))
    const answer = await app.request('/', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: endless,
      // safe: what fetch asks for with a stream, which its type does not know
      ...({ duplex: 'half' } as object),
    })
    expect(await answer.text()).toBe('unauthenticated')
    expect(pulled).toBeLessThanOrEqual(SMALL_BODY_BYTES + 3 * 1024)
  })

  test('the issuer of sessions, which is public, does not read a large one either', async () => {
    const issuing = await createIssuingApp(service)
    const parsed = countJsonParses()
    try {
      const body = JSON.stringify({ token_hash: 'x'.repeat(100_000), type: 'magiclink' })
      const answer = await issuing.fetch(`${PUBLIC_URL}/auth/v1/verify`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Content-Length': String(body.length) },
        body,
      })
      expect(answer.status).toBe(413)
      expect(parsed.texts).toEqual([])
    } finally {
      parsed.stop()
      await issuing.close()
    }
  })
})

describe('a body whose sender is known', () => {
  test('a large body is read only after the caller is known, and costs one request', async () => {
    const person = await service.person()
    order.length = 0
    const body = JSON.stringify({ label: 'Coast', lat: 10, lon: 29, polygon: coast(1000) })
    const { answer } = await post(body, person.key, PREVIEW, {})
    expect(answer.status).toBe(200)
    expect(order.slice(0, 2)).toEqual(['known', 'parsed'])
    expect(answer.headers.get('RateLimit')).toMatch(`"account";r=${PER_MINUTE - 1};`)
  })

  test('beyond the budget a large one is 429 and not parsed', async () => {
    const person = await service.person()
    await service.database.query(
      `insert into watchpost.rate_limits (bucket, tat) values ($1, now() + interval '1 hour')`,
      [`account:${person.user_id}`],
    )
    const { answer, parsed } = await post(EXPENSIVE_BODIES['a text of 2 MB'] ?? '', person.key)
    expectProblem(answer, 429, 'rate_limited')
    expect(answer.headers.get('RateLimit')).toMatch(/^"account";r=0;t=\d+$/)
    expect(parsed).toEqual([])
  })

  test.each([
    ['9,988 near-parallel diagonals', 'too_tangled', 'polygon.coordinates.0'],
    ['500,000 positions of one number', 'too_many_values', 'polygon'],
    ['lists a million deep', 'too_deep', ''],
    ['objects 300,000 deep', 'too_deep', 'a'],
    ['150,000 unknown fields', 'too_many_values', expect.stringMatching(/^f\d+$/)],
    ['a text of 2 MB', 'text_too_long', 'label'],
    ['a text of 2 MB full of escapes', 'text_too_long', 'label'],
    ['2 MB of commas', 'too_many_values', 'a'],
  ])('%s: refused with the field and the way out', async (what, code, path) => {
    const person = await service.person()
    const { answer } = await post(EXPENSIVE_BODIES[what] ?? '', person.key)
    expectProblem(answer, 422, 'invalid')
    expect(answer.body).toMatchObject({
      errors: [{ path, code, message: expect.stringMatching(/[Ss]end (less|fewer)/) }],
    })
  })

  test('of many mistakes the first hundred are named, and all are counted', async () => {
    const person = await service.person()
    const unknown = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`f${i}`, 1]))
    const body = JSON.stringify({ label: 'x', lat: 0, lon: 0, ...unknown })
    const { answer } = await post(body, person.key)
    expectProblem(answer, 422, 'invalid')
    const { errors, detail } = Problem.parse(answer.body)
    expect(errors).toHaveLength(MAX_ISSUES)
    expect(detail).toBe('The body has 5000 mistakes. "errors" has the first 100 of them.')
  })

  /** What a service that only reads bodies answers to one. */
  async function take(body: string | ReadableStream<Uint8Array>, headers = {}): Promise<string> {
    const app = new Hono<Env>()
    app.use(checkBody)
    app.post('/', async (c) => {
      await readBody(c)
      return c.text('taken')
    })
    app.onError((error, c) => c.text(toApiError(error).message, 400))
    const answer = await app.request('/', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
      // safe: what fetch asks for with a stream, which its type does not know
      ...({ duplex: 'half' } as object),
    })
    return answer.text()
  }

  test.each([
    ['its length is declared', (bytes: number) => ({ 'Content-Length': String(bytes) })],
    ['it is not', () => ({})],
    ['it comes in chunks and declares a wrong one', () => CHUNKED],
  ])('of 2 MiB is taken and of a byte more is not, when %s', async (_, headersOf) => {
    for (const [bytes, answer] of [
      [2_097_152, 'taken'],
      [2_097_153, 'The body is over 2 MiB. Send a smaller one.'],
    ] as const) {
      expect(await take('{}'.padEnd(bytes, ' '), headersOf(bytes))).toBe(answer)
    }
  })

  test('in pieces of a byte it is refused after some thousand of them', async () => {
    let pulled = 0
    const drops = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 1
        controller.enqueue(new Uint8Array([0x20]))
      },
    })
    const answer = await take(drops)
    expect(answer).toBe('The body is split into too many small chunks. Send larger chunks.')
    expect(pulled).toBeLessThan(10_000)
  })

  test('positions that are all wrong are one mistake', async () => {
    const person = await service.person()
    const polygon = { type: 'Polygon', coordinates: [Array.from({ length: 9000 }, () => [1])] }
    const body = JSON.stringify({ label: 'x', lat: 0, lon: 0, polygon })
    const { answer } = await post(body, person.key)
    expectProblem(answer, 422, 'invalid')
    expect(answer.body).toMatchObject({
      errors: [{ path: 'polygon.coordinates.0.0', code: 'too_small' }],
    })
  })

  test('a small body full of brackets or diagonals is refused as a mistake', async () => {
    const person = await service.person()
    for (const body of ['['.repeat(SMALL_BODY_BYTES), JSON.stringify(diagonals(200))]) {
      const { answer } = await post(body.slice(0, SMALL_BODY_BYTES), person.key)
      expect([400, 422]).toContain(answer.status)
    }
  })

  test('a compressed body is 415, whoever sends it', async () => {
    const headers = { 'Content-Encoding': 'gzip' }
    const { answer } = await post('x'.repeat(100), undefined, PREVIEW, headers)
    expectProblem(answer, 415, 'unsupported_media_type')
  })
})

const Problem = z.object({ detail: z.string(), errors: z.array(z.unknown()) })
