import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createPool } from '../../../functions/db.ts'
import { createIssuer } from '../../../functions/sign-in/issuer.ts'
import { asOperator, createLink } from '../../../scripts/postgres/accounts.ts'
import { tokenHash } from '../../../shared/token.ts'
import { createIssuingApp, type IssuingApp } from '../../support/servers/issuing-app.ts'
import {
  type Account,
  createService,
  ORIGIN,
  PUBLIC_URL,
  type Service,
} from '../../support/service.ts'

const AUTH = `${PUBLIC_URL}/auth/v1`
const Session = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.literal(600),
  expires_at: z.int(),
  token_type: z.literal('bearer'),
  user: z.object({ id: z.uuid(), email: z.string() }),
})
type Session = z.infer<typeof Session>

let service: Service
let app: IssuingApp
let account: Account
/** What clients asked for. */
const asked: string[] = []

beforeAll(async () => {
  service = await createService()
  app = await createIssuingApp(service)
})
afterAll(async () => {
  await app?.close()
  await service?.close()
})
beforeEach(async () => {
  account = await service.account()
  asked.length = 0
})

/** supabase-js as the console has it. */
function client(): SupabaseClient {
  return createClient(PUBLIC_URL, 'any-key', {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: {
      fetch: (input, init) => {
        asked.push(String(input instanceof Request ? input.url : input).slice(AUTH.length))
        return app.fetch(input, init)
      },
    },
  })
}

const link = async ({ email } = account) =>
  (await asOperator(service.database.adminUrl, (sql) => createLink(sql, { email }))).token_hash

async function post(path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await app.fetch(AUTH + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

async function signIn(): Promise<Session> {
  const { status, text } = await post('/verify', { token_hash: await link(), type: 'magiclink' })
  expect(status).toBe(200)
  return Session.parse(JSON.parse(text))
}

/** The API's own answer to a token. */
async function ask(path: string, token: string) {
  const answer = await app.fetch(`${PUBLIC_URL}/api/v1${path}`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  return { status: answer.status, body: await answer.json() }
}

async function expectUnknown(token: string) {
  expect(await ask('/me', token)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
}

const refresh = (refresh_token: string) =>
  post('/token?grant_type=refresh_token', { refresh_token })

function expectRefusal(answer: Awaited<ReturnType<typeof post>>, status: number, code: string) {
  expect({ status: answer.status, ...JSON.parse(answer.text) }).toEqual({
    status,
    code,
    message: expect.stringMatching(/\S/),
  })
  expect(answer.headers.get('x-supabase-api-version')).toBe('2024-01-01')
}

describe('supabase-js', () => {
  test('signs in with a link once, refreshes, reads the user, calls the API and signs out', async () => {
    const supabase = client()
    const token_hash = await link()
    const verified = await supabase.auth.verifyOtp({ token_hash, type: 'magiclink' })
    expect(verified.error).toBeNull()
    expect(verified.data.user).toMatchObject({ id: account.user_id, email: account.email })

    const again = await client().auth.verifyOtp({ token_hash, type: 'magiclink' })
    expect(again.error).toMatchObject({ status: 403, code: 'otp_expired' })

    const { data, error } = await supabase.auth.getUser()
    expect(error).toBeNull()
    expect(data.user).toMatchObject({
      id: account.user_id,
      aud: 'authenticated',
      role: 'authenticated',
      is_anonymous: false,
      email_confirmed_at: expect.stringMatching(/Z$/),
    })

    const before = verified.data.session
    asked.length = 0
    const refreshed = await Promise.all([1, 2, 3].map(() => supabase.auth.refreshSession()))
    expect(asked).toEqual(['/token?grant_type=refresh_token'])
    const after = refreshed[0]?.data.session
    expect(refreshed.map((each) => each.data.session)).toEqual([after, after, after])
    expect(after?.refresh_token).not.toBe(before?.refresh_token)

    const key = after?.access_token ?? ''
    expect(await ask('/account', key)).toMatchObject({
      status: 200,
      body: { account: { user_id: account.user_id, email: account.email } },
    })
    expect((await ask('/zones', key)).status).toBe(200)

    expect((await supabase.auth.signOut()).error).toBeNull()
    await expectUnknown(key)
    expect((await supabase.auth.getUser()).error?.name).toBe('AuthSessionMissingError')
    const late = await client().auth.getUser(key)
    expect(late.error?.name).toBe('AuthSessionMissingError')
    const dead = await client().auth.refreshSession({ refresh_token: after?.refresh_token ?? '' })
    expect(dead.error).toMatchObject({ status: 400, code: 'refresh_token_not_found' })
  })

  test('verifies tokens by the published keys, asked once', async () => {
    const supabase = client()
    const { access_token } = await signIn()
    asked.length = 0
    for (let nth = 0; nth < 20; nth++) {
      const { data, error } = await supabase.auth.getClaims(access_token)
      expect(error).toBeNull()
      expect(data?.claims).toMatchObject({ sub: account.user_id, iss: AUTH, aud: 'authenticated' })
    }
    expect(asked).toEqual(['/.well-known/jwks.json'])
  })
})

describe('a link', () => {
  const use = (token_hash: string) => post('/verify', { token_hash, type: 'magiclink' })
  const expire = (when: string) =>
    service.database.query(
      'update watchpost.sign_in_links set expires_at = now() + $2::interval where user_id = $1',
      [account.user_id, when],
    )

  test.each([
    ['1 minute', 200],
    ['0 seconds', 403],
    ['-1 minute', 403],
  ])('that is good for %s more is %i', async (left, status) => {
    const token_hash = await link()
    await expire(left)
    const answer = await use(token_hash)
    expect(answer.status).toBe(status)
    if (status === 403) expectRefusal(answer, 403, 'otp_expired')
  })

  test('that is unknown, or of an address that is not confirmed any more, is otp_expired', async () => {
    expectRefusal(await use('unknown'), 403, 'otp_expired')
    const unconfirmed = await link()
    await service.database.query('update auth.users set email_confirmed_at = null where id = $1', [
      account.user_id,
    ])
    expectRefusal(await use(unconfirmed), 403, 'otp_expired')
    await expect(link()).rejects.toThrow('is not confirmed')
  })

  test('used by many at once signs in one', async () => {
    const token_hash = await link()
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => post('/verify', { token_hash, type: 'magiclink' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403])
  })
})

describe('a refresh token', () => {
  test('works once, and within ten seconds it brings the same one again', async () => {
    const first = await signIn()
    const answers = [await refresh(first.refresh_token), await refresh(first.refresh_token)]
    const sessions = answers.map(({ text }) => Session.parse(JSON.parse(text)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(sessions[1]?.refresh_token).toBe(sessions[0]?.refresh_token)
    expect(sessions[0]?.refresh_token).not.toBe(first.refresh_token)
  })

  test('that comes back later ends the session, for whoever has its newer tokens too', async () => {
    const first = await signIn()
    const second = Session.parse(JSON.parse((await refresh(first.refresh_token)).text))
    await service.database.query(
      `update watchpost.refresh_tokens set used_at = used_at - interval '11 seconds' where token_hash = $1`,
      [await tokenHash(first.refresh_token)],
    )
    expectRefusal(await refresh(first.refresh_token), 400, 'refresh_token_already_used')
    expectRefusal(await refresh(second.refresh_token), 400, 'refresh_token_not_found')
    await expectUnknown(second.access_token)
    const acts = await service.database.query(
      `select action, actor_id, ip from watchpost.audit
      where account_id = $1 and target_type = 'session' order by xid, seq`,
      [account.user_id],
    )
    expect(acts).toEqual(
      ['session.started', 'session.reused'].map((action) => ({
        action,
        actor_id: account.user_id,
        ip: '192.0.2.1',
      })),
    )
  })

  test('of a session that slept for 30 days, or that nobody gave, is refresh_token_not_found', async () => {
    const { refresh_token } = await signIn()
    await service.database.query(
      `update watchpost.sessions set refreshed_at = now() - interval '30 days' where user_id = $1`,
      [account.user_id],
    )
    for (const token of [refresh_token, 'unknown']) {
      expectRefusal(await refresh(token), 400, 'refresh_token_not_found')
    }
  })
})

describe('signing out', () => {
  const logout = (token: string, scope: string) =>
    post(`/logout?scope=${scope}`, undefined, { Authorization: `Bearer ${token}` })
  const works = async ({ access_token }: Session) => (await ask('/me', access_token)).status === 200

  test.each([
    ['local', [false, true, true]],
    ['others', [true, false, true]],
    ['global', [false, false, true]],
  ] as const)('%s ends these sessions: %o', async (scope, expected) => {
    const [mine, elsewhere] = [await signIn(), await signIn()]
    account = await service.account()
    const theirs = await signIn()
    expect((await logout(mine.access_token, scope)).status).toBe(204)
    expect([await works(mine), await works(elsewhere), await works(theirs)]).toEqual(expected)
  })

  test('without a session is bad_jwt', async () => {
    expectRefusal(await logout('a.b.c', 'global'), 403, 'bad_jwt')
    expectRefusal(await logout(await service.issuer.token(account), 'global'), 403, 'bad_jwt')
    const { access_token } = await signIn()
    expectRefusal(await logout(access_token, 'galaxy'), 400, 'validation_failed')
  })
})

test('an unreadable request is validation_failed', async () => {
  expectRefusal(await post('/verify', { type: 'magiclink' }), 400, 'validation_failed')
  expectRefusal(await post('/verify'), 400, 'validation_failed')
  expectRefusal(await post('/token', { refresh_token: 'x' }), 400, 'validation_failed')
  const password = { email: 'a@b.example', password: 'x' }
  expectRefusal(await post('/token?grant_type=password', password), 400, 'validation_failed')
})

test('allows the console’s origin and no other', async () => {
  const preflight = (origin: string) =>
    app.fetch(`${AUTH}/verify`, {
      method: 'OPTIONS',
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'apikey,authorization,content-type,x-client-info',
      },
    })
  const allowed = (await preflight(ORIGIN)).headers
  expect(allowed.get('Access-Control-Allow-Origin')).toBe(ORIGIN)
  expect(allowed.get('Access-Control-Allow-Headers')).toContain('apikey')
  expect(allowed.get('Access-Control-Allow-Methods')).toBe('GET,POST')
  expect(allowed.get('Access-Control-Max-Age')).toBe('600')
  const { headers } = await app.fetch(`${AUTH}/verify`, { headers: { Origin: ORIGIN } })
  expect(headers.get('Access-Control-Expose-Headers')).toBe('x-supabase-api-version,retry-after')
  const refused = (await preflight('https://elsewhere.test')).headers
  expect(refused.get('Access-Control-Allow-Origin')).toBeNull()
})

test('an address that guessed too often is told to wait, and whoever has a session is not', async () => {
  const { access_token } = await signIn()
  const limited = await createIssuingApp(service, { address_limit: () => 7 })
  const guess = (path: string, authorization = '') =>
    limited.fetch(AUTH + path, {
      method: path === '/user' ? 'GET' : 'POST',
      headers: { Authorization: authorization },
    })
  try {
    for (const path of ['/verify', '/token?grant_type=refresh_token', '/logout', '/user']) {
      for (const authorization of ['', 'Bearer a.b.c', `Basic ${access_token}`]) {
        const answer = await guess(path, authorization)
        expect(answer.status, path).toBe(429)
        expect(answer.headers.get('Retry-After')).toBe('7')
        expect(await answer.json()).toMatchObject({ code: 'over_request_rate_limit' })
      }
    }
    expect((await guess('/user', `bearer ${access_token}`)).status).toBe(200)
  } finally {
    await limited.close()
  }
})

test('tokens are of this service alone', async () => {
  const other = await createService()
  const elsewhere = await createIssuingApp(other)
  try {
    const { access_token } = await signIn()
    expect(decodeProtectedHeader(access_token)).toEqual({
      alg: 'ES256',
      kid: expect.any(String),
      typ: 'JWT',
    })
    const headers = { Authorization: `Bearer ${access_token}` }
    const { status } = await elsewhere.fetch(`${PUBLIC_URL}/api/v1/me`, { headers })
    expect(status).toBe(401)
  } finally {
    await elsewhere.close()
    await other.close()
  }
})

test('the key is made once, sealed, and kept for the next start', async () => {
  const db = createPool({ url: service.database.apiUrl, max: 2 })
  try {
    const given = { db, seal: service.seal, public_url: PUBLIC_URL, origins: [] }
    const { access_token } = await signIn()
    const starts = await Promise.all([createIssuer(given), createIssuer(given)])
    for (const { verify_session } of starts) {
      expect(await verify_session(access_token)).toMatchObject({ user_id: account.user_id })
    }
    const rows = await service.database.query('select * from watchpost.issuer_keys')
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toMatch(/"d":/)
    const jwks = await (await app.fetch(`${AUTH}/.well-known/jwks.json`)).json()
    expect(jwks).toEqual({ keys: [rows[0]?.public_jwk] })
    expect(JSON.stringify(jwks)).not.toMatch(/"d":/)
  } finally {
    await db.end()
  }
})

test('no link, token or session is stored or logged as it is', async () => {
  const token_hash = await link()
  const { access_token, refresh_token } = await signIn()
  const tables = await service.database.query(
    `select jsonb_agg(to_jsonb(l)) as all from watchpost.sign_in_links l
    union all select jsonb_agg(to_jsonb(t)) from watchpost.refresh_tokens t
    union all select jsonb_agg(to_jsonb(a)) from watchpost.audit a`,
  )
  const kept = JSON.stringify([tables, app.lines])
  for (const secret of [token_hash, access_token, refresh_token]) expect(kept).not.toContain(secret)
})

test('an account that is deleted takes its sessions along', async () => {
  const { refresh_token, access_token: key } = await signIn()
  await service.database.query('delete from auth.users where id = $1', [account.user_id])
  expectRefusal(await refresh(refresh_token), 400, 'refresh_token_not_found')
  await expectUnknown(key)
})
