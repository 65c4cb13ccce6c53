import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPool } from '../../../functions/db.ts'
import { remoteSessions } from '../../../functions/sign-in/sessions.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { ISSUER } from '../../support/servers/issuer.ts'
import { type CountingProxy, startProxy } from '../../support/servers/proxy.ts'
import { createService, type Service } from '../../support/service.ts'

const ZONES = '/api/v1/zones'
const ACCOUNT = '/api/v1/account'

let service: Service
let proxy: CountingProxy
beforeAll(async () => {
  service = await createService({
    connect: async ({ apiUrl }) => {
      proxy = await startProxy(apiUrl)
      return createPool({ url: proxy.urlOf(apiUrl), max: 1 })
    },
  })
})
afterAll(async () => {
  await service?.close()
  await proxy?.close()
})

describe('a session token', () => {
  test('reads in one round trip, as a key does', async () => {
    const key = await service.session(await service.account())
    // The first request opens the connection.
    await service.request('GET', '/api/v1/me', { key })
    for (const path of [ZONES, ACCOUNT, `${ACCOUNT}/keys`, `${ACCOUNT}/orgs`]) {
      const before = proxy.trips()
      const { status } = await service.request('GET', path, { key })
      expect([path, status, proxy.trips() - before]).toEqual([path, 200, 1])
    }
  })

  test('is read up to 8192 characters', async () => {
    const account = await service.account()
    const { token, verify_session } = service.issuer
    /** A good token of this length: not every header leaves one, because base64url has no length of 4n + 1. */
    const ofLength = async (length: number) => {
      const padded = (cty: string, pad: number) =>
        token(account, { header: { cty }, claims: { pad: 'x'.repeat(pad) } })
      const room = length - (await padded('', 0)).length
      for (const cty of ['', 'x', 'xx', 'xxx']) {
        for (let pad = Math.floor(room * 0.75) - 5; pad < room * 0.75; pad++) {
          const text = await padded(cty, pad)
          if (text.length === length) return text
        }
      }
      throw new Error(`no token has ${length} characters`)
    }
    const { user_id } = account
    expect(await verify_session(await ofLength(8192))).toMatchObject({ user_id })
    expect(await verify_session(await ofLength(8193))).toBeUndefined()
  })

  test('that is forged costs no round trip to the database', async () => {
    const account = await service.account()
    const key = await service.issuer.token(account, { forged: true })
    const before = proxy.trips()
    expectProblem(await service.request('GET', ZONES, { key }), 401, 'unauthenticated')
    expect(proxy.trips() - before).toBe(0)
  })
})

describe('an issuer elsewhere', () => {
  let server: Server
  let fetched = 0
  let jwks_url: string
  beforeAll(async () => {
    server = createServer((_, answer) => {
      fetched++
      answer.setHeader('Content-Type', 'application/json').end(JSON.stringify(service.issuer.jwks))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    // safe: it listens on a port
    jwks_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`
  })
  afterAll(() => void server.close())

  test('is asked for its keys five times a minute, whatever keys tokens name', async () => {
    const account = await service.account()
    const verify = remoteSessions({ issuer: ISSUER, jwks_url })
    for (let nth = 0; nth < 5; nth++) {
      const token = await service.issuer.token(account, { header: { kid: `unknown-${nth}` } })
      expect(await verify(token)).toBeUndefined()
    }
    const good = await service.session(account)
    expect(await verify(good)).toMatchObject({ user_id: account.user_id })
    // Another verifier in this process has the same keys.
    expect(await remoteSessions({ issuer: ISSUER, jwks_url })(good)).toBeDefined()
    expect(await remoteSessions({ issuer: 'https://other.test', jwks_url })(good)).toBeUndefined()
    expect(fetched).toBe(5)
  })

  test('that cannot be reached is 503 for sessions and nothing for keys', async () => {
    const away = await createService({
      verify_session: remoteSessions({ issuer: ISSUER, jwks_url: 'http://127.0.0.1:1/jwks.json' }),
    })
    try {
      const person = await away.person()
      const refused = await away.request('GET', ZONES, { key: await away.session(person) })
      expectProblem(refused, 503, 'unavailable')
      expect((await away.request('GET', ZONES, { key: person.key })).status).toBe(200)
    } finally {
      await away.close()
    }
  })
})
