import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  base64url,
  CompactEncrypt,
  exportJWK,
  exportSPKI,
  importJWK,
  type JWK,
  SignJWT,
} from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import { type Changes, ISSUER } from '../../../support/servers/issuer.ts'
import { type Account, createService, type Service } from '../../../support/service.ts'

const ZONES = '/api/v1/zones'
const KEYS = '/api/v1/account/keys'
const HOUR = 3600

let service: Service
let account: Account
let stranger: Account
/** A token that is good, and its three parts. */
let good: string
let parts: [header: string, payload: string, signature: string]
/** Where a forger would like keys to be fetched from. */
const bait = createServer((_, answer) => {
  fetched++
  answer.end('{"keys": []}')
})
let fetched = 0
let bait_url: string

beforeAll(async () => {
  // Unknown keys are asked for five times a minute in a process, whoever shows them.
  service = await createService({ own_platform: true })
  account = await service.account()
  stranger = await service.account()
  good = await service.session(account)
  const [header = '', payload = '', signature = ''] = good.split('.')
  parts = [header, payload, signature]
  bait.listen(0, '127.0.0.1')
  await once(bait, 'listening')
  // safe: it listens on a port
  bait_url = `http://127.0.0.1:${(bait.address() as AddressInfo).port}/jwks.json`
})
afterAll(async () => {
  bait.close()
  await service?.close()
})

const now = () => Math.floor(Date.now() / 1000)
const encode = (value: unknown) =>
  base64url.encode(typeof value === 'string' ? value : JSON.stringify(value))
const claims = () => JSON.parse(new TextDecoder().decode(base64url.decode(parts[1])))
const header = { alg: 'ES256', kid: 'test', typ: 'JWT' }

/** As somebody without our key would make one, who knows everything else. */
async function homemade(extra: Record<string, unknown>, changed: object = {}): Promise<string> {
  return new SignJWT({ ...claims(), ...changed })
    .setProtectedHeader({ ...header, ...extra })
    .sign(service.issuer.stranger.privateKey)
}

async function symmetric(secret: Uint8Array, alg = 'HS256'): Promise<string> {
  return new SignJWT(claims()).setProtectedHeader({ ...header, alg }).sign(secret)
}

const published = (): JWK => service.issuer.jwks.keys[0] ?? {}
const text = (value: string) => new TextEncoder().encode(value)
/** Signed by the issuer for a session that lives, but not what it says to us. */
const said = (changed: Changes['claims']) => () => service.session(account, { claims: changed })

const FORGED: Record<string, () => Promise<string> | string> = {
  'alg none': () => `${encode({ ...header, alg: 'none' })}.${parts[1]}.`,
  'alg None with a signature': () =>
    `${encode({ ...header, alg: 'None' })}.${parts[1]}.${parts[2]}`,
  'no alg': () => `${encode({ kid: 'test', typ: 'JWT' })}.${parts[1]}.${parts[2]}`,
  'HS256 with the published key as JSON': () => symmetric(text(JSON.stringify(published()))),
  'HS256 with the published key as PEM': async () => {
    const key = await importJWK(published(), 'ES256', { extractable: true })
    if (key instanceof Uint8Array) throw new Error('it is no public key')
    return symmetric(text(await exportSPKI(key)))
  },
  'HS512 with a guessed secret': () =>
    symmetric(
      text('super-secret-jwt-token-with-at-least-32-characters-long'.padEnd(64, '0')),
      'HS512',
    ),
  'another curve in the header': () =>
    `${encode({ ...header, alg: 'ES384' })}.${parts[1]}.${parts[2]}`,
  'RS256 in the header': () => `${encode({ ...header, alg: 'RS256' })}.${parts[1]}.${parts[2]}`,
  'the key of another under our kid': () => homemade({}),
  'the key of another under no kid': () => homemade({ kid: undefined }),
  'the kid of a key there is not': () => homemade({ kid: 'other' }),
  'a kid that is a path': () => homemade({ kid: '../../../../dev/null' }),
  'a kid that is SQL': () => homemade({ kid: `' union select 'x' --` }),
  'an embedded jwk': async () =>
    homemade({ jwk: await exportJWK(service.issuer.stranger.publicKey) }),
  'a jku': () => homemade({ jku: bait_url }),
  'an x5u': () => homemade({ x5u: bait_url }),
  'an x5c': async () =>
    homemade({ x5c: [encode(await exportSPKI(service.issuer.stranger.publicKey))] }),
  'an unknown crit': () =>
    service.issuer.sign(JSON.stringify(claims()), { ...header, crit: ['exp'], exp: 1 }),
  'a token of another project': async () =>
    homemade({}, { iss: 'https://other.supabase.co/auth/v1' }),
  'of another issuer': said({ iss: 'https://other.supabase.co/auth/v1' }),
  'of our issuer and a slash': said({ iss: `${ISSUER}/` }),
  'of a list of issuers': said({ iss: [ISSUER] } as never), // safe: that is the forgery
  'of no issuer': said({ iss: undefined }),
  'for another audience': said({ aud: 'anon' }),
  'for a list of other audiences': said({ aud: ['anon', 'service_role'] }),
  'for no audience': said({ aud: undefined }),
  expired: said({ exp: now() - 1 }),
  'without an end': said({ exp: undefined }),
  'with an end in words': said({ exp: '9999999999' } as never), // safe: that is the forgery
  'not good yet': said({ nbf: now() + HOUR }),
  'of nobody': said({ sub: undefined }),
  'of no id': said({ sub: "' or true --" }),
  'of an id with a NUL': said({ sub: `${randomUUID()}\u0000` }),
  'of several people': () =>
    service.session(account, { claims: { sub: [account.user_id] } as never }), // safe: the forgery
  'of an unknown person': said({ sub: randomUUID() }),
  'of the role service_role': said({ role: 'service_role' }),
  'of the role anon': said({ role: 'anon' }),
  'of no role': said({ role: undefined }),
  'of several roles': said({ role: ['authenticated', 'service_role'] }),
  'of an anonymous person': said({ is_anonymous: true }),
  'of an anonymous person in words': said({ is_anonymous: 'true' }),
  'of no session': said({ session_id: undefined }),
  'of no session’s id': said({ session_id: 'x' }),
  'of a session there is not': said({ session_id: randomUUID() }),
  'of the session of somebody else': async () => {
    const { session_id } = claims()
    return service.session(stranger, { claims: { session_id } })
  },
  'an empty signature': () => `${parts[0]}.${parts[1]}.`,
  'a signature of zeros': () => `${parts[0]}.${parts[1]}.${base64url.encode(new Uint8Array(64))}`,
  truncated: () => good.slice(0, -4),
  'without its signature': () => `${parts[0]}.${parts[1]}`,
  'with a fourth part': () => `${good}.${parts[2]}`,
  'another person under a good signature': () =>
    `${parts[0]}.${encode({ ...claims(), sub: stranger.user_id })}.${parts[2]}`,
  'a claim twice under a good signature': () =>
    `${parts[0]}.${encode(`${JSON.stringify(claims()).slice(0, -1)},"sub":"${stranger.user_id}"}`)}.${parts[2]}`,
  'alg twice': () =>
    `${encode('{"alg":"ES256","kid":"test","typ":"JWT","alg":"none"}')}.${parts[1]}.`,
  'another header under a good signature': () =>
    `${encode({ ...header, x: 1 })}.${parts[1]}.${parts[2]}`,
  'good but for padding': () => `${parts[0]}=.${parts[1]}=.${parts[2]}=`,
  'with full-width dots': () => encodeURIComponent(good.replaceAll('.', '．')),
  'with its dots escaped': () => good.replaceAll('.', '%2e'),
  'with another alphabet': () => `${parts[0]}.${parts[1]}.${parts[2].slice(0, -3)}+/=`,
  'no JSON': () => service.issuer.sign('sub', { ...header }),
  'a list': () => service.issuer.sign('[]', { ...header }),
  'too long, though signed': said({ padding: 'x'.repeat(9000) }),
  'encrypted to the published key': async () => {
    const key = await importJWK({ ...published(), alg: 'ECDH-ES' }, 'ECDH-ES')
    return new CompactEncrypt(text(JSON.stringify(claims())))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: 'test' })
      .encrypt(key)
  },
  'of somebody who was deleted': async () => {
    const person = await service.account()
    const token = await service.session(person)
    await service.database.query('delete from auth.users where id = $1', [person.user_id])
    return token
  },
}

async function refusal(key: string | undefined, method: string, path: string): Promise<string> {
  const body = method === 'POST' ? { name: 'Forged', scopes: ['write'] } : undefined
  const answer = await service.request(method, path, {
    ...(key === undefined ? {} : { key }),
    body,
  })
  expectProblem(answer, 401, 'unauthenticated')
  return answer.text.replaceAll(answer.headers.get('X-Request-Id') ?? '', '')
}

describe('a forged token', () => {
  test('is compared with a genuine one, which works', async () => {
    for (const path of [ZONES, KEYS]) {
      expect((await service.request('GET', path, { key: good })).status).toBe(200)
    }
  })

  test.each(Object.entries(FORGED))('is answered exactly like no token: %s', async (_, make) => {
    const token = await make()
    for (const [method, path] of [
      ['GET', ZONES],
      ['POST', KEYS],
    ] as const) {
      expect(await refusal(token, method, path)).toBe(await refusal(undefined, method, path))
    }
  })

  test('makes no key, and no URL it names is fetched', async () => {
    const [row] = await service.database.query<{ n: number }>(
      'select count(*)::int as n from watchpost.api_keys where user_id in ($1, $2)',
      [account.user_id, stranger.user_id],
    )
    expect([row?.n, fetched]).toEqual([0, 0])
    expect((await service.request('GET', ZONES, { key: good })).status).toBe(200)
  })
})
