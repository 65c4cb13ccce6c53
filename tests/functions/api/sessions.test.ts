import { randomUUID } from 'node:crypto'
import { base64url, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectProblem, unknownCallers } from '../../support/attacks/refusals.ts'
import { type Changes, ISSUER } from '../../support/servers/issuer.ts'
import { type Account, createService, type Service } from '../../support/service.ts'

const ZONES = '/api/v1/zones'
const ACCOUNT = '/api/v1/account'
const zone = { label: 'A place', lat: 41, lon: 29 }

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

describe('a session', () => {
  test('may do what a writing key may, and says that it is a session', async () => {
    const person = await service.person()
    const key = await service.session(person)
    const made = await service.request('POST', ZONES, { key, body: zone })
    expect(made.status).toBe(201)
    expect((await service.request('GET', '/api/v1/me', { key })).body).toMatchObject({
      user_id: person.user_id,
      email: person.email,
      key_id: null,
      scopes: ['read', 'write'],
    })
    const listed = await service.request('GET', ZONES, { key: person.key })
    expect(listed.body).toMatchObject({ zones: [{ label: 'A place', owner_id: person.user_id }] })
    const [row] = await service.database.query(
      `select actor_id, key_id, ip from watchpost.audit where account_id = $1 and action = 'zone.created'`,
      [person.user_id],
    )
    expect(row).toEqual({ actor_id: person.user_id, key_id: null, ip: '192.0.2.1' })
  })

  test('shares the budget of the account with its keys', async () => {
    const small = await createService({ limits: { pro: 3, address: 2 } })
    try {
      const person = await small.person()
      const key = await small.session(person)
      await small.request('GET', ZONES, { key: person.key })
      const { headers } = await small.request('GET', ZONES, { key })
      expect(headers.get('RateLimit')).toMatch(/r=1;/)
      await small.request('GET', ACCOUNT, { key })
      const fourth = await small.request('GET', ACCOUNT, { key })
      expectProblem(fourth, 429, 'rate_limited')
      // Below Pro, the account's own routes have the budget of an address.
      const free = await small.account({ plan: 'free' })
      const token = await small.session(free)
      const answers = [1, 2, 3].map(() => small.request('GET', ACCOUNT, { key: token }))
      expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([
        200, 200, 429,
      ])
    } finally {
      await small.close()
    }
  })

  test('below Pro reaches the account and nothing else', async () => {
    const key = await service.session(await service.account({ plan: 'free' }))
    expect((await service.request('GET', ACCOUNT, { key })).body).toMatchObject({
      account: { plan: 'free', limits: { zones: 0, channels: 0, keys: 20 } },
    })
    for (const path of [ZONES, '/api/v1/me']) {
      expectProblem(await service.request('GET', path, { key }), 402, 'plan_required')
    }
    expectProblem(await service.request('POST', ZONES, { key, body: zone }), 402, 'plan_required')
  })
})

describe('401, all in the same bytes', () => {
  const cases: Record<string, Changes> = {
    'signed by another key': { forged: true },
    'an expired one': { claims: { exp: Math.floor(Date.now() / 1000) - 1 } },
    'one without an end': { claims: { exp: undefined } },
    'one not good yet': { claims: { nbf: Math.floor(Date.now() / 1000) + 3600 } },
    'of another issuer': { claims: { iss: `${ISSUER}/` } },
    'of no issuer': { claims: { iss: undefined } },
    'for another audience': { claims: { aud: 'anon' } },
    'for no audience': { claims: { aud: undefined } },
    'of another role': { claims: { role: 'service_role' } },
    'of an anonymous person': { claims: { is_anonymous: true } },
    'of nobody': { claims: { sub: undefined } },
    'of no id': { claims: { sub: "' or true --" } },
    'of an unknown person': { claims: { sub: randomUUID() } },
    'of no session': { claims: { session_id: undefined } },
    'of a session of no id': { claims: { session_id: 'x' } },
    'with an unknown kid': { header: { kid: 'other' } },
    'with a kid that lies': { header: { kid: 'other' }, forged: true },
  }
  let account: Account
  let bytes: string
  beforeAll(async () => {
    account = await service.account()
    bytes = await refusedWith(undefined)
  })

  async function refusedWith(key: string | undefined, path = ZONES): Promise<string> {
    const answer = await service.request('GET', path, key === undefined ? {} : { key })
    expectProblem(answer, 401, 'unauthenticated')
    return answer.text.replaceAll(answer.headers.get('X-Request-Id') ?? '', '')
  }

  test.each(Object.entries(cases))('%s', async (_, changes) => {
    const token = await service.session(account, changes)
    for (const path of [ZONES, ACCOUNT]) expect(await refusedWith(token, path)).toBe(bytes)
  })

  test('altered, unsigned, or signed with the public key', async () => {
    const good = await service.session(account)
    const [header = '', payload = '', signature = ''] = good.split('.')
    const stranger = await service.account()
    const claims = { ...JSON.parse(new TextDecoder().decode(base64url.decode(payload))) }
    const theirs = base64url.encode(JSON.stringify({ ...claims, sub: stranger.user_id }))
    const none = base64url.encode(JSON.stringify({ alg: 'none', typ: 'JWT' }))
    const publicKey = new TextEncoder().encode(JSON.stringify(service.issuer.jwks.keys[0]))
    const confused = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: 'test' })
      .sign(publicKey)
    for (const token of [
      `${header}.${theirs}.${signature}`,
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      confused,
      `${header}.${payload}`,
      `${good}.${signature}`,
      `${header}.${payload}.${'A'.repeat(9000)}`,
      'a.b.c',
    ]) {
      expect(await refusedWith(token)).toBe(bytes)
    }
    expect((await service.request('GET', ZONES, { key: good })).status).toBe(200)
  })

  test.each([
    ['an unconfirmed address', 'email_confirmed_at = null'],
    ['an anonymous account', 'is_anonymous = true'],
    ['an account that was deleted softly', 'deleted_at = now()'],
  ])('%s, whatever its token says', async (_, change) => {
    const person = await service.account()
    const token = await service.session(person)
    expect((await service.request('GET', ZONES, { key: token })).status).toBe(200)
    await service.database.query(`update auth.users set ${change} where id = $1`, [person.user_id])
    for (const path of [ZONES, ACCOUNT]) expect(await refusedWith(token, path)).toBe(bytes)
  })
})

describe('the routes of the account', () => {
  test('refuse keys of any scope and plan with 403 and say what to do, and change nothing', async () => {
    const person = await service.person()
    const org = await service.organisation(person)
    const read = await service.key(person, { scopes: ['read'] })
    const free = (await service.person({ plan: 'free' })).key
    const routes = (await service.routes()).filter(({ is_account }) => is_account)
    expect(routes.length).toBe(16)
    for (const { method, path } of routes) {
      const address = path.replace('{id}', org)
      for (const key of [person.key, read, free]) {
        for (const body of method === 'GET' ? [undefined] : [{ name: 'x', scopes: ['read'] }, {}]) {
          const answer = await service.request(method, address, { key, body })
          expectProblem(answer, 403, 'forbidden')
          expect(answer.body).toMatchObject({ detail: expect.stringContaining('Sign in') })
        }
      }
    }
    const [left] = await service.database.query(
      `select (select count(*)::int from watchpost.api_keys where user_id = $1 and revoked_at is null) as keys,
        (select count(*)::int from watchpost.members where user_id = $1) as orgs`,
      [person.user_id],
    )
    expect(left).toEqual({ keys: 2, orgs: 1 })
  })

  test('refuse whoever is not known with 401, before anything else', async () => {
    const routes = (await service.routes()).filter(({ is_account }) => is_account)
    for (const authorization of Object.values(await unknownCallers(service))) {
      const headers: Record<string, string> = authorization ? { Authorization: authorization } : {}
      for (const { method, path } of routes) {
        const body = method === 'GET' ? undefined : { nope: 1 }
        const answer = await service.request(method, `${path}?nope=1`, { headers, body })
        expectProblem(answer, 401, 'unauthenticated')
      }
    }
  })

  test('take no unknown parameter and no unknown field', async () => {
    const key = await service.session(await service.account({ plan: 'free' }))
    for (const { method, path } of await service.routes()) {
      if (!path.startsWith(ACCOUNT)) continue
      const answer = await service.request(method, `${path}?nope=1`, {
        key,
        body: method === 'GET' ? undefined : { nope: 1 },
      })
      expect([path, answer.status]).toEqual([path, expect.toBeOneOf([400, 422])])
    }
  })

  test('cannot be called from the transaction of a key', async () => {
    const person = await service.person()
    for (const call of [
      `private.create_key('x', 'wp_live_', sha256('x'), '{write}', null)`,
      `private.create_org('x')`,
      'private.my_invites()',
      'private.delete_account()',
    ]) {
      expect(await service.queryAs(person.key, `select * from ${call}`, [], 'rollback')).toBe(
        'WP403',
      )
    }
  })
})
