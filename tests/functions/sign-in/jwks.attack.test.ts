import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { issuerProblem, KeysUnavailable } from '../../../functions/sign-in/jwks.ts'
import { remoteSessions, type VerifySession } from '../../../functions/sign-in/sessions.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { ISSUER } from '../../support/servers/issuer.ts'
import { createService } from '../../support/service.ts'

const PERSON = '00000000-0000-4000-8000-000000000001'
const MINUTE = 60_000

let server: Server
let published: JWK[] = []
let fetched = 0
let status = 200
/** What the issuer waits for before it answers. */
let held: Promise<void> | undefined
let url: string
let nth = 0
let verify: VerifySession

beforeAll(async () => {
  server = createServer(async (_, answer) => {
    fetched++
    const body = JSON.stringify({ keys: published })
    await held
    answer.writeHead(status, { 'Content-Type': 'application/json' })
    answer.end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => void server.close())
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  nth += 1
  published = []
  fetched = 0
  status = 200
  held = undefined
  // safe: it listens on a port
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${nth}.json`
  verify = remoteSessions({ issuer: ISSUER, jwks_url: url })
})
afterEach(() => void vi.useRealTimers())

/** Holds back the answers of the issuer, each with the keys of its moment, until they are let go. */
function hold(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  held = promise
  return resolve
}

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)

/** A signing key, and a token that it signed just now. */
async function signer(kid: string, alg = 'ES256') {
  const { privateKey, publicKey } = await generateKeyPair(alg)
  const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }
  const token = () =>
    new SignJWT({ role: 'authenticated', session_id: PERSON })
      .setProtectedHeader({ alg, kid })
      .setIssuer(ISSUER)
      .setAudience('authenticated')
      .setSubject(PERSON)
      .setExpirationTime(Math.floor(Date.now() / 1000) + 3600)
      .sign(privateKey)
  return { jwk, token }
}

describe('the keys of an issuer elsewhere', () => {
  test('include one rotated in a moment after they were fetched', async () => {
    const [old, young] = [await signer('old'), await signer('young')]
    published = [old.jwk]
    expect(await verify(await old.token())).toBeDefined()
    published = [old.jwk, young.jwk]
    pass(1000)
    expect(await verify(await young.token())).toBeDefined()
    expect(await verify(await old.token())).toBeDefined()
    expect(fetched).toBe(2)
  })

  test.each([
    ['ES256', true],
    ['RS256', true],
    ['ES384', false],
    ['PS256', false],
  ])('of %s: accepted %s', async (alg, accepted) => {
    const { jwk, token } = await signer('one', alg)
    published = [jwk]
    const session = await verify(await token()).catch(() => undefined)
    expect(session !== undefined).toBe(accepted)
  })

  test('are asked for once by tokens that come at once', async () => {
    const [old, young] = [await signer('old'), await signer('young')]
    published = [old.jwk]
    const tokens = await Promise.all(Array.from({ length: 20 }, () => young.token()))
    expect(await verify(await old.token())).toBeDefined()
    published = [old.jwk, young.jwk]
    pass(1000)
    const answers = await Promise.all(tokens.map((token) => verify(token)))
    expect(answers.filter(Boolean)).toHaveLength(20)
    expect(fetched).toBe(2)
  })

  test('are had by all who wait for the last request of a minute', async () => {
    const [old, young] = [await signer('old'), await signer('young')]
    published = [old.jwk]
    expect(await verify(await old.token())).toBeDefined()
    for (let nth = 2; nth < 5; nth++) {
      expect(await verify(await (await signer(`none-${nth}`)).token())).toBeUndefined()
    }
    published = [old.jwk, young.jwk]
    const letGo = hold()
    const first = verify(await young.token())
    await vi.waitFor(() => expect(fetched).toBe(5), 20_000)
    const second = verify(await young.token())
    letGo()
    expect(await Promise.all([first, second])).toEqual([expect.anything(), expect.anything()])
  })

  test.each([
    ['the first request', 0],
    ['a later one', 1],
  ])('published while %s was under way work with the next', async (_, before) => {
    const [old, young] = [await signer('old'), await signer('young')]
    published = [old.jwk]
    if (before > 0) expect(await verify(await old.token())).toBeDefined()
    const letGo = hold()
    const first = verify(await (await signer('none')).token())
    await vi.waitFor(() => expect(fetched).toBe(before + 1), 20_000)
    published = [old.jwk, young.jwk]
    const early = verify(await young.token())
    letGo()
    expect(await Promise.all([first, early])).toEqual([undefined, undefined])
    expect(await verify(await young.token())).toBeDefined()
  })

  test('are asked for five times a minute, however many unknown ones are named', async () => {
    const [old, young] = [await signer('old'), await signer('young')]
    published = [old.jwk]
    expect(await verify(await old.token())).toBeDefined()
    let refused = 0
    let put_off = 0
    const flood = async () => {
      for (let i = 0; i < 300; i++) {
        const { token } = await signer(crypto.randomUUID())
        const outcome = await verify(await token()).catch((error) => error)
        if (outcome === undefined) refused++
        else if (outcome instanceof KeysUnavailable) put_off++
        pass(10)
      }
    }
    await flood()
    expect([fetched, refused + put_off]).toEqual([5, 300])
    // Nobody who has a good key waits for it; who has a new one is told to come again, never that it is bad.
    expect(await verify(await old.token())).toBeDefined()
    published = [old.jwk, young.jwk]
    const waiting = await verify(await young.token()).catch((error) => error)
    expect(waiting).toBeInstanceOf(KeysUnavailable)
    expect(waiting.retry_after).toBeGreaterThan(0)
    expect(waiting.retry_after).toBeLessThanOrEqual(60)
    pass(waiting.retry_after * 1000)
    expect(await verify(await young.token())).toBeDefined()
  })

  test('are fetched again for an unknown key once in thirty seconds', async () => {
    const [old, none] = [await signer('old'), await signer('none')]
    published = [old.jwk]
    expect(await verify(await old.token())).toBeDefined()
    pass(1000)
    for (let i = 0; i < 100; i++) expect(await verify(await none.token())).toBeUndefined()
    expect(fetched).toBe(2)
    pass(29_999)
    expect(await verify(await none.token())).toBeUndefined()
    expect(fetched).toBe(2)
    pass(1)
    expect(await verify(await none.token())).toBeUndefined()
    expect(fetched).toBe(3)
  })

  test('that were withdrawn verify nothing after ten minutes, or as soon as another is asked for', async () => {
    const [old, young] = [await signer('old'), await signer('young')]
    published = [old.jwk]
    const token = await old.token()
    expect(await verify(token)).toBeDefined()
    published = [young.jwk]
    pass(10 * MINUTE - 1000)
    expect(await verify(token)).toBeDefined()
    pass(1000)
    expect(await verify(token)).toBeUndefined()

    const again = remoteSessions({ issuer: ISSUER, jwks_url: `${url}?again` })
    expect(await again(await young.token())).toBeDefined()
    published = [old.jwk]
    pass(1000)
    expect(await again(await old.token())).toBeDefined()
    expect(await again(await young.token())).toBeUndefined()
  })

  test('that cannot be had when they are due make nobody’s token good', async () => {
    const old = await signer('old')
    published = [old.jwk]
    expect(await verify(await old.token())).toBeDefined()
    status = 500
    pass(10 * MINUTE)
    const token = await old.token()
    for (let i = 0; i < 50; i++) await expect(verify(token)).rejects.toThrow()
    // Nor is an issuer in trouble asked more often for it.
    expect(fetched).toBe(6)
    status = 200
    pass(MINUTE)
    expect(await verify(token)).toBeDefined()
  })
})

test('who has to wait for keys gets 503 with the time', async () => {
  vi.useRealTimers()
  const service = await createService({
    verify_session: () => Promise.reject(new KeysUnavailable(42)),
  })
  try {
    const answer = await service.request('GET', '/api/v1/me', { key: 'a.b.c' })
    expectProblem(answer, 503, 'unavailable')
    expect(answer.headers.get('Retry-After')).toBe('42')
  } finally {
    await service.close()
  }
})

describe('an issuer is asked at the start', () => {
  test.each([
    [
      'no key at all, as with a shared secret',
      [],
      /AUTH_ISSUER publishes no ES256 or RS256 key.*HS256/,
    ],
    ['a shared secret', [{ kty: 'oct', alg: 'HS256' }], /AUTH_ISSUER publishes no/],
    ['keys of another sort', [{ kty: 'OKP', crv: 'Ed25519' }], /AUTH_ISSUER publishes no/],
    ['ES384', [{ kty: 'EC', crv: 'P-384' }], /AUTH_ISSUER publishes no/],
    ['no elliptic curve', [{ kty: 'OKP', crv: 'P-256' }], /AUTH_ISSUER publishes no/],
    ['ES256', [{ kty: 'EC', crv: 'P-256' }], undefined],
    ['RS256 beside others', [{ kty: 'oct' }, { kty: 'RSA' }], undefined],
  ] as const)('%s', async (_, keys, said) => {
    published = [...keys]
    const problem = await issuerProblem(url)
    if (said) expect(problem).toMatch(said)
    else expect(problem).toBeUndefined()
  })

  test('and says when its answer is not a key set', async () => {
    published = [{ alg: 'RS256' }]
    expect(await issuerProblem(url)).toMatch(/AUTH_ISSUER.*its answer is not a key set.*503/)
  })

  test('and says when it does not answer', async () => {
    status = 404
    expect(await issuerProblem(url)).toMatch(/AUTH_ISSUER.*it answers 404.*503/)
    const gone = createServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    // safe: it listens on a port
    const { port } = gone.address() as AddressInfo
    await new Promise((closed) => gone.close(closed))
    expect(await issuerProblem(`http://127.0.0.1:${port}/`)).toMatch(/AUTH_ISSUER.*ECONNREFUSED/)
  })
})
