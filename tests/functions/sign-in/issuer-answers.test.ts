/** What the local issuer says in its tokens and answers, and what it refuses before it looks anything up. */
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asOperator, createLink } from '../../../scripts/postgres/accounts.ts'
import { createIssuingApp, type IssuingApp } from '../../support/servers/issuing-app.ts'
import { type Account, createService, PUBLIC_URL, type Service } from '../../support/service.ts'

const AUTH = `${PUBLIC_URL}/auth/v1`
const AGENT = 'a browser'

let service: Service
let app: IssuingApp
beforeAll(async () => {
  service = await createService()
  app = await createIssuingApp(service)
})
afterAll(async () => {
  await app?.close()
  await service?.close()
})

async function post(path: string, body: unknown, { by = app, headers = {} } = {}) {
  const answer = await by.fetch(AUTH + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'User-Agent': AGENT, ...headers },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: text ? JSON.parse(text) : null }
}
const verify = (token_hash: string, by = app) =>
  post('/verify', { token_hash, type: 'magiclink' }, { by })
const refresh = (refresh_token: string, by = app) =>
  post('/token?grant_type=refresh_token', { refresh_token }, { by })

async function signIn(account: Account, by = app) {
  const { token_hash } = await asOperator(service.database.adminUrl, (sql) =>
    createLink(sql, account),
  )
  const { status, body } = await verify(token_hash, by)
  expect(status).toBe(200)
  return body
}

test('a token and its answer say who signed in, when and how, without a second factor', async () => {
  const account = await service.account()
  const first = await signIn(account)
  const [row] = await service.database.query<{ id: string }>(
    `update watchpost.sessions set created_at = '2026-03-01T12:00:00.9Z'
    where user_id = $1 returning id`,
    [account.user_id],
  )
  const { access_token, expires_at, expires_in, user } = (await refresh(first.refresh_token)).body
  const shared = {
    ...{ aud: 'authenticated', role: 'authenticated', email: account.email, phone: '' },
    app_metadata: { provider: 'email', providers: ['email'] },
    ...{ user_metadata: {}, is_anonymous: false },
  }
  expect(decodeJwt(access_token)).toEqual({
    ...shared,
    ...{ iss: AUTH, sub: account.user_id, session_id: row?.id, aal: 'aal1' },
    amr: [{ method: 'otp', timestamp: Date.parse('2026-03-01T12:00:00Z') / 1000 }],
    ...{ iat: expect.any(Number), exp: expires_at },
  })
  expect(expires_in).toBe(600)
  expect(expires_at - Date.now() / 1000).toSatisfy((left: number) => left > 590 && left <= 600)
  const when = expect.stringMatching(/^\d{4}-/)
  expect(user).toEqual({
    ...shared,
    ...{ id: account.user_id, identities: [], created_at: when, updated_at: when },
    ...{ email_confirmed_at: when, confirmed_at: when },
    last_sign_in_at: expect.stringMatching(/^2026-03-01T12:00:00\.9/),
  })
})

test('every act of a session is recorded with the address and program of whoever did it', async () => {
  const account = await service.account()
  const { access_token, refresh_token } = await signIn(account)
  const headers = { Authorization: `Bearer ${access_token}` }
  expect((await post('/logout', undefined, { headers })).status).toBe(204)
  const again = await signIn(account)
  const { body } = await refresh(again.refresh_token)
  await refresh(body.refresh_token)
  expect((await refresh(again.refresh_token)).status).toBe(400)
  expect((await refresh(refresh_token)).status).toBe(400)
  const acts = await service.database.query(
    `select action, ip, user_agent from watchpost.audit
    where account_id = $1 and target_type = 'session' order by xid, seq`,
    [account.user_id],
  )
  const by = { ip: '192.0.2.1', user_agent: AGENT }
  const named = ['session.started', 'session.ended', 'session.started', 'session.reused']
  expect(acts).toEqual(named.map((action) => ({ action, ...by })))
})

test('signing out without a word on how ends every session of the person', async () => {
  const account = await service.account()
  const [one, other] = [await signIn(account), await signIn(account)]
  const headers = { Authorization: `Bearer ${one.access_token}` }
  expect((await post('/logout', undefined, { headers })).status).toBe(204)
  expect((await refresh(other.refresh_token)).status).toBe(400)
})

describe('a token as sent', () => {
  test.each([
    ['a', 'otp_expired', 'refresh_token_not_found'],
    ['a'.repeat(200), 'otp_expired', 'refresh_token_not_found'],
    ['', 'validation_failed', 'validation_failed'],
    ['a'.repeat(201), 'validation_failed', 'validation_failed'],
  ])('%s: %s', async (token, link, refreshed) => {
    expect((await verify(token)).body.code).toBe(link)
    expect((await refresh(token)).body.code).toBe(refreshed)
  })

  test('is named when it is missing, and the kind of link as well', async () => {
    const said = async (body: object) => (await post('/verify', body)).body
    const code = 'validation_failed'
    expect(await said({ type: 'magiclink' })).toEqual({
      ...{ code, message: 'The body is invalid: token_hash.' },
    })
    expect(await said({ token_hash: 'a' })).toEqual({
      ...{ code, message: 'The body is invalid: type.' },
    })
    expect(await said([])).toEqual({ code, message: 'The body is invalid.' })
  })

  test('is not read from a body of more than 4 kB', async () => {
    const pad = 'x'.repeat(5_000)
    const { status, body } = await post('/verify', { token_hash: 'a', type: 'magiclink', pad })
    expect(status).toBe(413)
    expect(body).toEqual({
      code: 'request_too_large',
      message: 'The body is too large. Send less.',
    })
    expect(app.lines.at(-1)).toMatchObject({ code: 'request_too_large' })
  })
})

test('an address that has to wait a second is told so', async () => {
  const limited = await createIssuingApp(service, { address_limit: () => 1 })
  try {
    const { status, headers, body } = await refresh('a', limited)
    expect([status, headers.get('Retry-After')]).toEqual([429, '1'])
    expect(body.message).toBe('Too many requests. Try again in 1 s.')
  } finally {
    await limited.close()
  }
})

test('a database that is away signs nobody out, and its words go to the log alone', async () => {
  const away = await createIssuingApp(service)
  await away.close()
  const { status, body } = await refresh('a', away)
  expect(status).toBe(503)
  expect(body).toEqual({ code: 'unexpected_failure', message: 'Try again in a moment.' })
  expect(away.lines.at(-1)).toMatchObject({ error: expect.stringContaining('pool') })
})

test('keys of before verify on, and the newest signs', async () => {
  const other = await createService()
  const before = await createIssuingApp(other)
  const account = await other.account()
  const signed = async (by: IssuingApp) => {
    const { token_hash } = await asOperator(other.database.adminUrl, (sql) =>
      createLink(sql, account),
    )
    return (await verify(token_hash, by)).body.access_token
  }
  const old = await signed(before)
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  await other.database.query(
    `insert into watchpost.issuer_keys (kid, private_sealed, public_jwk, created_at)
    values ('new', $1, $2, now() + interval '1 second')`,
    [
      await other.seal.seal(JSON.stringify(await exportJWK(privateKey))),
      { ...(await exportJWK(publicKey)), kid: 'new', alg: 'ES256', use: 'sig' },
    ],
  )
  const after = await createIssuingApp(other)
  try {
    const young = await signed(after)
    expect(decodeProtectedHeader(young).kid).toBe('new')
    for (const token of [old, young]) {
      const headers = { Authorization: `Bearer ${token}` }
      expect((await after.fetch(`${PUBLIC_URL}/api/v1/me`, { headers })).status).toBe(200)
    }
    const published = await after.fetch(`${AUTH}/.well-known/jwks.json`)
    expect(published.headers.get('Cache-Control')).toBe('public, max-age=600')
    const { keys } = await published.json()
    expect(keys.map(({ kid }: { kid: string }) => kid)).toEqual([
      'new',
      decodeProtectedHeader(old).kid,
    ])
    expect(keys[1]).toMatchObject({ alg: 'ES256', use: 'sig', key_ops: ['verify'] })
  } finally {
    await before.close()
    await after.close()
    await other.close()
  }
})
