import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'

/*
 * Who a key or session speaks for is asked twice: before anything is done, and again by the transaction that
 * does it. Here both are asked alone, because either would hide what the other forgets.
 */
let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.drop())

const LIMITS = { pro: 1000, enterprise: 1000, address: 1000 }
const one = async (text: string, values: unknown[]) =>
  (await database.query<Record<string, unknown>>(text, values))[0]

/** A person with a key and a session, and a request of theirs. */
async function somebody(scopes = ['read', 'write']) {
  const [user_id, session_id, request_id] = [randomUUID(), randomUUID(), randomUUID()]
  const hash = createHash('sha256').update(user_id).digest()
  const email = `${user_id}@watchpost.test`
  await one('insert into auth.users (id, email, email_confirmed_at) values ($1, $2, now())', [
    user_id,
    email,
  ])
  await one(`update watchpost.accounts set plan = 'pro' where user_id = $1`, [user_id])
  await one(
    `insert into watchpost.api_keys (user_id, prefix, key_hash, scopes) values ($1, 'wp_live_', $2, $3)`,
    [user_id, hash, scopes],
  )
  await one(`insert into auth.sessions (id, user_id, aal) values ($1, $2, 'aal1')`, [
    session_id,
    user_id,
  ])
  return { user_id, session_id, request_id, hash }
}
type Somebody = Awaited<ReturnType<typeof somebody>>

/** What the first question and what the transaction answers: a verdict, and claims or the code of a refusal. */
const ASKED = {
  key: {
    verdict: 'select verdict from private.check_key($1, $2, $3, $4)',
    claims: 'select private.key_claims($1, $2, $3) as claims',
    who: ({ hash }: Somebody): unknown[] => [hash],
  },
  session: {
    verdict: `select verdict from private.check_session($1, $2, false, $3, $4, $5)`,
    claims: `select private.session_claims($1, $2, 'aal1', false, $3, $4) as claims`,
    who: ({ user_id, session_id }: Somebody): unknown[] => [user_id, session_id],
  },
}
type By = keyof typeof ASKED

async function claimsOf(by: By, whom: Somebody) {
  const { claims, who } = ASKED[by]
  const row = await one(claims, [...who(whom), whom.request_id, { ip: null }]).catch(
    ({ code }) => ({ claims: code }),
  )
  return row?.claims
}
const verdictOf = async (by: By, whom: Somebody) =>
  (await one(ASKED[by].verdict, [...ASKED[by].who(whom), randomUUID(), whom.request_id, LIMITS]))
    ?.verdict

const ACCOUNT: [why: string, statement: string, verdict: string][] = [
  ['is banned', `update auth.users set banned_until = now() + interval '1 day' where id = $1`, ''],
  ['is gone', 'delete from auth.users where id = $1', ''],
  [
    'has no plan',
    `update watchpost.accounts set plan = 'free' where user_id = $1`,
    'plan_required',
  ],
]
const KEY: typeof ACCOUNT = [
  ['is revoked', 'update watchpost.api_keys set revoked_at = now() where user_id = $1', ''],
  ['is expired', 'update watchpost.api_keys set expires_at = now() where user_id = $1', ''],
  [
    'is unknown',
    `update watchpost.api_keys set key_hash = sha256(key_hash) where user_id = $1`,
    '',
  ],
]
const SESSION: typeof ACCOUNT = [['is ended', 'delete from auth.sessions where user_id = $1', '']]
const CASES = [
  ...ACCOUNT.flatMap((one) => [['key', ...one] as const, ['session', ...one] as const]),
  ...KEY.map((one) => ['key', ...one] as const),
  ...SESSION.map((one) => ['session', ...one] as const),
]

describe.each(['key', 'session'] as const)('a %s', (by) => {
  test('that nothing speaks against is let in, and its transaction acts for its account', async () => {
    const whom = await somebody()
    expect(await verdictOf(by, whom)).toBe('ok')
    expect(JSON.parse(String(await claimsOf(by, whom)))).toMatchObject({
      sub: whom.user_id,
      role: 'authenticated',
      request_id: whom.request_id,
    })
  })

  test('whose request was denied for its number gets no transaction, the next request does', async () => {
    const whom = await somebody()
    await one('insert into watchpost.rate_denials (request_id) values ($1)', [whom.request_id])
    expect(await claimsOf(by, whom)).toBe('WP401')
    expect(await claimsOf(by, { ...whom, request_id: randomUUID() })).not.toBe('WP401')
  })

  test('beyond its budget is denied, and its transaction refused', async () => {
    const whom = await somebody()
    const ask = () => one(ASKED[by].verdict, [...ASKED[by].who(whom), 'x', whom.request_id, TIGHT])
    expect([await ask(), await ask(), await ask()].map((row) => row?.verdict)).toEqual([
      'ok',
      'ok',
      'rate_limited',
    ])
    expect(await claimsOf(by, whom)).toBe('WP401')
  })
})
const TIGHT = { pro: 2, enterprise: 2, address: 2 }

test.each(CASES)(
  'a %s is refused where it or its account %s',
  async (by, _, statement, verdict) => {
    const whom = await somebody()
    await one(statement, [whom.user_id])
    expect(await verdictOf(by, whom)).toBe(verdict || 'unauthenticated')
    expect(await claimsOf(by, whom)).toBe('WP401')
  },
)

test.each([
  [['read'], ['read']],
  [['write'], ['write', 'read']],
  [['ingest'], ['ingest']],
  [
    ['read', 'ingest'],
    ['read', 'ingest'],
  ],
])('a key for %j acts with %j', async (scopes, allowed) => {
  const claims = await claimsOf('key', await somebody(scopes))
  expect(JSON.parse(String(claims)).scopes).toEqual(allowed)
})

test('nothing that a request says of itself changes whom its key acts for', async () => {
  const whom = await somebody(['read'])
  await one(`update watchpost.accounts set plan = 'enterprise' where user_id = $1`, [whom.user_id])
  const said = {
    sub: randomUUID(),
    role: 'postgres',
    scopes: ['write'],
    plan: 'pro',
    ip: '192.0.2.9',
  }
  const row = await one(ASKED.key.claims, [whom.hash, whom.request_id, { ...said, key_id: 'x' }])
  expect(JSON.parse(String(row?.claims))).toEqual({
    ...{ sub: whom.user_id, role: 'authenticated', scopes: ['read'], plan: 'enterprise' },
    ...{ ip: '192.0.2.9', key_id: expect.not.stringMatching(/^x$/), request_id: whom.request_id },
  })
})

test.each([
  ['59 seconds', false],
  ['61 seconds', true],
])('a key used %s after it was noted: noted again is %s', async (time, isNoted) => {
  const { user_id } = await somebody()
  const key = await one('select id from watchpost.api_keys where user_id = $1', [user_id])
  const last = () =>
    one('select last_used_at::text as at from watchpost.key_usage where key_id = $1', [key?.id])
  await one('select private.touch_key($1)', [key?.id])
  await one(
    'update watchpost.key_usage set last_used_at = now() - $2::interval where key_id = $1',
    [key?.id, time],
  )
  const before = await last()
  await one('select private.touch_key($1)', [key?.id])
  expect((await last())?.at !== before?.at).toBe(isNoted)
})

test('the budget of a caller is written without any index but its key', async () => {
  // Every request updates a row there: a second index would be written each time.
  const indexes = await database.query(
    `select indexrelid::regclass::text as name from pg_index where indrelid = 'watchpost.rate_limits'::regclass`,
  )
  expect(indexes).toEqual([{ name: 'watchpost.rate_limits_pkey' }])
})
