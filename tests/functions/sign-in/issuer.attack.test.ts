import { createClient } from '@supabase/supabase-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { asOperator, createLink } from '../../../scripts/postgres/accounts.ts'
import { tokenHash } from '../../../shared/token.ts'
import { createIssuingApp, type IssuingApp } from '../../support/servers/issuing-app.ts'
import { type Account, createService, PUBLIC_URL, type Service } from '../../support/service.ts'

const AUTH = `${PUBLIC_URL}/auth/v1`
const Pair = z.object({ access_token: z.string(), refresh_token: z.string() })
type Pair = z.infer<typeof Pair>
type Answer = { status: number; body: unknown }

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

async function post(path: string, body: unknown): Promise<Answer> {
  const answer = await app.fetch(AUTH + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: await answer.json() }
}

/** A person whose refresh token somebody copied. */
async function victim(): Promise<Account & Pair> {
  const account = await service.account()
  const { token_hash } = await asOperator(service.database.adminUrl, (sql) =>
    createLink(sql, account),
  )
  const { body } = await post('/verify', { token_hash, type: 'magiclink' })
  return { ...account, ...Pair.parse(body) }
}

const exchange = (refresh_token: string) =>
  post('/token?grant_type=refresh_token', { refresh_token })

async function next(refresh_token: string): Promise<string> {
  const { status, body } = await exchange(refresh_token)
  expect(status).toBe(200)
  return Pair.parse(body).refresh_token
}

const REUSED = { status: 400, body: { code: 'refresh_token_already_used' } }
const GONE = { status: 400, body: { code: 'refresh_token_not_found' } }

/** Time passes for every token of an account. */
async function wait(seconds: number, { user_id }: Account) {
  await service.database.query(
    `update watchpost.refresh_tokens t set used_at = used_at - make_interval(secs => $2)
    from watchpost.sessions s where s.id = t.session_id and s.user_id = $1`,
    [user_id, seconds],
  )
}

/** How many tokens of an account would still be exchanged. */
async function live({ user_id }: Account): Promise<number> {
  const [row] = await service.database.query<{ n: number }>(
    `select count(*)::int as n from watchpost.refresh_tokens t
    join watchpost.sessions s on s.id = t.session_id
    where s.user_id = $1 and s.ended_at is null and t.used_at is null`,
    [user_id],
  )
  return row?.n ?? 0
}

async function expectEnded(person: Account & Pair, ...tokens: string[]) {
  for (const token of tokens) expect(await exchange(token)).toMatchObject(GONE)
  expect(await live(person)).toBe(0)
  const headers = { Authorization: `Bearer ${person.access_token}` }
  expect((await app.fetch(`${PUBLIC_URL}/api/v1/me`, { headers })).status).toBe(401)
  const acts = await service.database.query(
    `select action from watchpost.audit where account_id = $1 and target_type = 'session' order by xid, seq`,
    [person.user_id],
  )
  expect(acts).toEqual([{ action: 'session.started' }, { action: 'session.reused' }])
}

describe('a copied refresh token', () => {
  test.each([
    ['thief first', ['thief', 'victim']],
    ['victim first', ['victim', 'thief']],
  ] as const)('used within the grace gives no second chain, %s', async (_, order) => {
    const person = await victim()
    const held: Record<string, string> = {}
    for (const who of order) held[who] = await next(person.refresh_token)
    expect(held.thief).toBe(held.victim)
    expect(await live(person)).toBe(1)
  })

  test.each([
    ['thief', 'victim'],
    ['victim', 'thief'],
  ] as const)('ends the session when %s goes on and then %s', async (first, second) => {
    const person = await victim()
    const held = { thief: '', victim: '' }
    held[first] = await next(person.refresh_token)
    held[second] = await next(person.refresh_token)
    const ahead = await next(held[first])
    await wait(11, person)
    expect(await exchange(held[second])).toMatchObject(REUSED)
    await expectEnded(person, ahead, held.thief, held.victim, person.refresh_token)
  })

  test('outside the grace ends the session, whoever comes second', async () => {
    const person = await victim()
    const ahead = await next(person.refresh_token)
    await wait(11, person)
    expect(await exchange(person.refresh_token)).toMatchObject(REUSED)
    await expectEnded(person, ahead)
  })

  test('of an older generation ends the session, also within the grace', async () => {
    const person = await victim()
    const parent = await next(person.refresh_token)
    const child = await next(parent)
    expect(await exchange(person.refresh_token)).toMatchObject(REUSED)
    await expectEnded(person, child, parent)
  })

  test('stretches no grace by coming again and again', async () => {
    const person = await victim()
    const ahead = await next(person.refresh_token)
    for (let nth = 0; nth < 3; nth++) {
      await wait(4, person)
      const { status } = await exchange(person.refresh_token)
      expect([nth, status]).toEqual([nth, nth < 2 ? 200 : 400])
    }
    await expectEnded(person, ahead)
  })

  test('a hundred times at once gives one chain', async () => {
    const person = await victim()
    const answers = await Promise.all(Array.from({ length: 100 }, () => next(person.refresh_token)))
    expect(new Set(answers).size).toBe(1)
    expect(await live(person)).toBe(1)
  })
})

test('two exchanges that cross are one after the other', async () => {
  const person = await victim()
  const call = `select verdict from private.refresh_session($1, sha256('successor'), '{}')`
  const values = [Buffer.from(await tokenHash(person.refresh_token))]
  const first = await service.transaction()
  await first.query(call, values)
  const second = service.database.query(call, values)
  await expect
    .poll(() =>
      service.database.query(
        `select count(*)::int as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
      ),
    )
    .toEqual([{ n: 1 }])
  await first.commit()
  expect(await second).toEqual([{ verdict: 'ok' }])
  expect(await live(person)).toBe(1)
})

describe('three tabs', () => {
  test('that refresh at once stay signed in, round after round', async () => {
    const person = await victim()
    const tabs = [1, 2, 3].map(() =>
      createClient(PUBLIC_URL, 'any-key', {
        auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
        global: { fetch: (input, init) => app.fetch(input, init) },
      }),
    )
    let held = person.refresh_token
    for (let round = 0; round < 4; round++) {
      const answers = await Promise.all(
        tabs.map((tab) => tab.auth.refreshSession({ refresh_token: held })),
      )
      const tokens = answers.map(({ data, error }) => {
        expect(error).toBeNull()
        return data.session?.refresh_token ?? ''
      })
      expect(new Set(tokens).size).toBe(1)
      expect(tokens[0]).not.toBe(held)
      held = tokens[0] ?? ''
      await wait(600, person)
    }
    expect(await live(person)).toBe(1)
  })
})

describe('who reads the database', () => {
  test('finds no token in it, and can derive none from what is there', async () => {
    const person = await victim()
    const second = await next(person.refresh_token)
    const third = await next(second)
    const stored = JSON.stringify(
      await service.database.query(
        `select to_jsonb(t) from watchpost.refresh_tokens t
        union all select to_jsonb(s) from watchpost.sessions s
        union all select to_jsonb(a) from watchpost.audit a
        union all select to_jsonb(k) from watchpost.issuer_keys k`,
      ),
    )
    for (const token of [person.refresh_token, second, third]) {
      expect(token).toMatch(/^[\w-]{43}$/)
      expect(stored).not.toContain(token)
      expect(stored).not.toContain(Buffer.from(token, 'base64url').toString('hex'))
    }
    // What is stored of a token is no token, in whatever writing.
    const hash = await tokenHash(third)
    for (const writing of ['base64url', 'hex'] as const) {
      expect(await exchange(Buffer.from(hash).toString(writing))).toMatchObject(GONE)
    }
  })

  test('and holds a token learns no later one without the key: another service derives others', async () => {
    const person = await victim()
    const other = await createService()
    const elsewhere = await createIssuingApp(other)
    try {
      const account = await other.account()
      const [row] = await other.database.query<{ id: string }>(
        'insert into watchpost.sessions (user_id) values ($1) returning id',
        [account.user_id],
      )
      await other.database.query(
        'insert into watchpost.refresh_tokens (token_hash, session_id) values ($1, $2)',
        [Buffer.from(await tokenHash(person.refresh_token)), row?.id],
      )
      const answer = await elsewhere.fetch(`${AUTH}/token?grant_type=refresh_token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ refresh_token: person.refresh_token }),
      })
      const theirs = Pair.parse(await answer.json()).refresh_token
      expect(await next(person.refresh_token)).not.toBe(theirs)
    } finally {
      await elsewhere.close()
      await other.close()
    }
  })
})
