import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { tokenHash } from '../../../shared/token.ts'
import { expectProblem } from '../../support/refusals.ts'
import {
  createService,
  type Person,
  parsed,
  type Service,
  tokenOfInvite,
} from '../../support/service.ts'

const ZONES = '/api/v1/zones'
const ACCOUNT = '/api/v1/account'
const zone = { label: 'A place', lat: 41, lon: 29 }
const Invited = z.object({ invite_url: z.string() })

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

type Signed = Person & { token: string }

async function person(email?: string): Promise<Signed> {
  const made = await service.person(email ? { email } : {})
  return { ...made, token: await service.session(made) }
}

async function change({ user_id }: { user_id: string }, what: string) {
  await service.database.query(`update auth.users set ${what} where id = $1`, [user_id])
}

async function count(statement: string, ...values: unknown[]): Promise<number> {
  const [row] = await service.database.query<{ n: number }>(
    `select count(*)::int as n from ${statement}`,
    values,
  )
  return row?.n ?? -1
}

/** What a key and a session are answered: reading, writing, the account, MCP. */
async function statuses({ key, token }: Signed): Promise<number[]> {
  const mcp = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'list_zones', arguments: {} },
  }
  const headers = { Accept: 'application/json, text/event-stream' }
  const asked = [key, token].flatMap((each) => [
    service.request('GET', '/api/v1/me', { key: each }),
    service.request('POST', ZONES, { key: each, body: zone }),
    service.request('POST', '/api/v1/mcp', { key: each, body: mcp, headers }),
  ])
  asked.push(service.request('GET', ACCOUNT, { key: token }))
  return (await Promise.all(asked)).map(({ status }) => status)
}

const WORKS = [200, 201, 200, 200, 201, 200, 200]
const SHUT = [401, 401, 401, 401, 401, 401, 401]

describe('somebody who is banned', () => {
  test('acts by no key and no session from the next request on, and again when it is over', async () => {
    const me = await person()
    expect(await statuses(me)).toEqual(WORKS)
    await change(me, `banned_until = now() + interval '100 years'`)
    expect(await statuses(me)).toEqual(SHUT)
    expect(await count('watchpost.zones where owner_id = $1', me.user_id)).toBe(2)
    await change(me, `banned_until = now() - interval '1 second'`)
    expect(await statuses(me)).toEqual(WORKS)
    await change(me, `banned_until = 'infinity'`)
    expect(await statuses(me)).toEqual(SHUT)
  })

  test('was banned already when the account was made', async () => {
    const me = await person()
    await change(me, `banned_until = now() + interval '1 hour'`)
    await service.database.query('delete from watchpost.accounts where user_id = $1', [me.user_id])
    expectProblem(await service.request('GET', ACCOUNT, { key: me.token }), 401, 'unauthenticated')
  })

  test('does nothing in a transaction that was pipelined behind the refusal', async () => {
    const me = await person()
    await change(me, `banned_until = 'infinity'`)
    expect(await service.queryAs(me.key, 'select 1', [], 'commit')).toBe('WP401')
  })
})

describe('somebody who was deleted softly', () => {
  test('is gone as by the API: keys, sessions, zones, invites to their address, not what is shared', async () => {
    const me = await person()
    const owner = await person()
    const org = await service.organisation(owner, [me, 'member'])
    const mine = await service.organisation(me, [owner, 'admin'])
    expect(await statuses(me)).toEqual(WORKS)
    const shared = await service.request('POST', ZONES, {
      key: me.key,
      body: { ...zone, org_id: org },
    })
    expect(shared.status).toBe(201)
    // What Supabase Auth writes: the address as a hash, and the time.
    await change(me, `email = md5(email), phone = md5(email), deleted_at = now()`)
    expect(await statuses(me)).toEqual(SHUT)
    expect(await count('watchpost.accounts where user_id = $1', me.user_id)).toBe(0)
    expect(await count('watchpost.zones where owner_id = $1', me.user_id)).toBe(0)
    expect(
      await count('watchpost.zones where owner_id = $1 and org_id = $2', owner.user_id, org),
    ).toBe(1)
    expect(
      await count(
        `watchpost.members where org_id = $1 and role = 'owner' and user_id = $2`,
        mine,
        owner.user_id,
      ),
    ).toBe(1)
    // A later change of that row brings nobody back, and neither does the token that is still good.
    await change(me, `email = 'back@watchpost.test'`)
    expect(await statuses(me)).toEqual(SHUT)
    expect(await count('watchpost.accounts where user_id = $1', me.user_id)).toBe(0)
  })
})

describe('somebody who signed up before Watchpost was there', () => {
  /** Their row is in auth.users and no trigger of ours has seen it. */
  async function early(columns: Record<string, unknown> = {}): Promise<Signed> {
    const me = await person()
    await service.database.query('delete from watchpost.accounts where user_id = $1', [me.user_id])
    const names = Object.keys(columns)
    if (names.length > 0) {
      await service.database.query(
        `set session_replication_role = replica;
        update auth.users set ${names.map((name) => `${name} = ${columns[name]}`)} where id = '${me.user_id}';
        reset session_replication_role`,
      )
    }
    return me
  }

  test('has an account from the first good token on, on the plan free', async () => {
    const me = await early()
    const answer = await service.request('GET', ACCOUNT, { key: me.token })
    expect(answer.body).toMatchObject({
      account: { user_id: me.user_id, email: me.email, plan: 'free', orgs: [] },
    })
    expectProblem(await service.request('GET', ZONES, { key: me.token }), 402, 'plan_required')
    const made = await service.request('POST', `${ACCOUNT}/keys`, {
      key: me.token,
      body: { name: 'First', scopes: ['read'] },
    })
    expect(made.status).toBe(201)
  })

  test('has one, however many requests come first', async () => {
    const me = await early()
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => service.request('GET', ACCOUNT, { key: me.token })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await count('watchpost.accounts where user_id = $1', me.user_id)).toBe(1)
  })

  test.each([
    ['unconfirmed', { email_confirmed_at: 'null' }],
    ['anonymous', { is_anonymous: 'true' }],
    ['deleted softly', { deleted_at: 'now()' }],
    ['banned', { banned_until: `'infinity'` }],
  ])('is still nobody when %s', async (_, columns) => {
    const me = await early(columns)
    expectProblem(await service.request('GET', ACCOUNT, { key: me.token }), 401, 'unauthenticated')
  })

  test('gets none while they are being deleted', async () => {
    const me = await early()
    const deletion = await service.transaction()
    await deletion.query('delete from auth.users where id = $1', [me.user_id])
    const asking = service.request('GET', ACCOUNT, { key: me.token })
    try {
      await expect
        .poll(() =>
          count(`pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
        )
        .toBe(1)
    } finally {
      await deletion.commit()
    }
    expectProblem(await asking, 401, 'unauthenticated')
    expect(await count('watchpost.accounts where user_id = $1', me.user_id)).toBe(0)
  })

  test('comes back by no token after deleting their account where auth.users could not follow', async () => {
    const me = await person()
    // As on a platform that keeps us from the rows of auth.users.
    await service.database.query(
      `create function public.keep() returns trigger language plpgsql as $$
      begin raise insufficient_privilege; end $$;
      create trigger keep before delete on auth.users for each row
      when (old.id = '${me.user_id}') execute function public.keep()`,
    )
    try {
      const body = { confirm: me.email }
      expect((await service.request('DELETE', ACCOUNT, { key: me.token, body })).status).toBe(204)
      expect(await count('auth.users where id = $1', me.user_id)).toBe(1)
      expect(await statuses(me)).toEqual(SHUT)
      await change(me, `email = 'new@watchpost.test', email_confirmed_at = now()`)
      expect(await statuses(me)).toEqual(SHUT)
      expect(await count('watchpost.accounts where user_id = $1', me.user_id)).toBe(0)
    } finally {
      await service.database.query('drop function public.keep cascade')
    }
    await service.database.query('delete from auth.users where id = $1', [me.user_id])
    expect(await count('watchpost.erased_accounts')).toBe(0)
  })
})

describe('an address', () => {
  /** Somebody whose employer signs them in, under an address that has an account already. */
  async function twin({ email }: { email: string }): Promise<{ user_id: string; email: string }> {
    const user_id = randomUUID()
    await service.database.query(
      'insert into auth.users (id, email, email_confirmed_at, is_sso_user) values ($1, $2, now(), true)',
      [user_id, email],
    )
    return { user_id, email }
  }

  test('is nobody: two accounts may have it, and neither sees the other', async () => {
    const me = await person()
    const made = await service.request('POST', ZONES, { key: me.key, body: zone })
    expect(made.status).toBe(201)
    const other = await twin(me)
    await service.database.query(`update watchpost.accounts set plan = 'pro' where user_id = $1`, [
      other.user_id,
    ])
    const token = await service.session(other)
    expect((await service.request('GET', ZONES, { key: token })).body).toMatchObject({ zones: [] })
    expect((await service.request('GET', ACCOUNT, { key: token })).body).toMatchObject({
      account: { user_id: other.user_id, email: me.email, counts: { zones: 0, keys: 0 } },
    })
    expect((await service.request('GET', ZONES, { key: me.key })).body).toMatchObject({
      zones: [{ label: 'A place' }],
    })
  })

  test('invited is invited still when another account with it is deleted', async () => {
    const owner = await person()
    const org = await service.organisation(owner)
    const me = await person()
    const other = await twin(me)
    const invite = await service.request('POST', `/api/v1/orgs/${org}/members`, {
      key: owner.key,
      body: { email: me.email },
    })
    expect(invite.status).toBe(201)
    const token = await service.session(other)
    const gone = await service.request('DELETE', ACCOUNT, {
      key: token,
      body: { confirm: me.email },
    })
    expect(gone.status).toBe(204)
    expect(
      (await service.request('GET', `${ACCOUNT}/invites`, { key: me.token })).body,
    ).toMatchObject({
      invites: [{ email: me.email }],
    })
  })

  test('that is not proved accepts no invite, sees none, and takes none along', async () => {
    const owner = await person()
    const org = await service.organisation(owner)
    const email = 'somebody-else@watchpost.test'
    const { invite_url } = parsed(
      await service.request('POST', `/api/v1/orgs/${org}/members`, {
        key: owner.key,
        body: { email },
      }),
      201,
      Invited,
    )
    const link = tokenOfInvite(invite_url)
    const user_id = randomUUID()
    await service.database.query('insert into auth.users (id, email) values ($1, $2)', [
      user_id,
      email,
    ])
    const token = await service.session({ user_id, email }, { claims: { email_verified: true } })
    const accept = { key: token, body: { token: link } }
    expectProblem(
      await service.request('POST', `${ACCOUNT}/invites/accept`, accept),
      401,
      'unauthenticated',
    )
    expectProblem(
      await service.request('GET', `${ACCOUNT}/invites`, { key: token }),
      401,
      'unauthenticated',
    )
    // Also where a claim says so: the functions themselves ask whether it is proved.
    const [seen] = await service.database.query<{ joined: string }>(
      `with me as materialized (select set_config('request.jwt.claims', $1, true))
      select (select count(*) from private.my_invites())::text as joined from me`,
      [JSON.stringify({ sub: user_id, signed_in: true, scopes: ['read', 'write'] })],
    )
    expect(seen?.joined).toBe('0')
    await expect(
      service.database.query(
        `with me as materialized (select set_config('request.jwt.claims', $1, true))
        select private.accept_invite($2, null) from me`,
        [
          JSON.stringify({ sub: user_id, signed_in: true, scopes: ['read', 'write'] }),
          Buffer.from(await tokenHash(link ?? '')),
        ],
      ),
    ).rejects.toMatchObject({ code: 'WP403' })
    await service.database.query('delete from auth.users where id = $1', [user_id])
    expect(await count(`watchpost.members where org_id = $1 and status = 'invited'`, org)).toBe(1)
  })
})

describe('a session that has ended at the issuer', () => {
  test.each([
    ['signed out', 'delete from auth.sessions where user_id = $1'],
    ['past its last moment', 'update auth.sessions set not_after = now() where user_id = $1'],
  ])('is refused at once, whatever its token says, when %s', async (_, statement) => {
    const me = await person()
    await service.database.query(statement, [me.user_id])
    for (const path of ['/api/v1/me', ACCOUNT, `${ACCOUNT}/keys`]) {
      expectProblem(await service.request('GET', path, { key: me.token }), 401, 'unauthenticated')
    }
    const body = { name: 'After signing out', scopes: ['write'] }
    const minted = await service.request('POST', `${ACCOUNT}/keys`, { key: me.token, body })
    expectProblem(minted, 401, 'unauthenticated')
    expect((await service.request('GET', ZONES, { key: me.key })).status).toBe(200)
  })
})

describe('an account with a second factor', () => {
  async function factor({ user_id }: Signed, status = 'verified') {
    await service.database.query(
      `insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
      values (gen_random_uuid(), $1, 'totp', $2, now(), now())`,
      [user_id, status],
    )
  }

  /** Everything that gives or takes access for good. */
  async function acts(me: Signed, token: string) {
    const [owner, fellow] = [await person(), await person()]
    const theirs = await service.organisation(owner, [me, 'admin'], [fellow, 'member'])
    const [mine, given, doomed] = await Promise.all(
      [1, 2, 3].map(() => service.organisation(me, [owner, 'admin'])),
    )
    const invited = parsed(
      await service.request('POST', `/api/v1/orgs/${await service.organisation(owner)}/members`, {
        key: owner.key,
        body: { email: me.email },
      }),
      201,
      Invited,
    )
    const ask = (method: string, path: string, body?: unknown) => () =>
      service.request(method, `/api/v1${path}`, { key: token, body })
    return {
      'makes a key': ask('POST', '/account/keys', { name: 'x', scopes: ['write'] }),
      'founds an organisation': ask('POST', '/account/orgs', { name: 'x' }),
      'joins one': ask('POST', '/account/invites/accept', {
        token: tokenOfInvite(invited.invite_url),
      }),
      invites: ask('POST', `/orgs/${mine}/members`, { email: 'x@watchpost.test' }),
      'changes a role': ask('PATCH', `/orgs/${mine}/members/${owner.user_id}`, { role: 'member' }),
      'removes a member': ask('DELETE', `/orgs/${theirs}/members/${fellow.user_id}`),
      'leaves one': ask('POST', `/account/orgs/${theirs}/leave`),
      'transfers one': ask('POST', `/account/orgs/${given}/transfer`, { user_id: owner.user_id }),
      'deletes one': ask('DELETE', `/account/orgs/${doomed}`),
    }
  }

  const everything = async ({ user_id }: Signed) =>
    service.database.query(
      `select to_jsonb(m) from watchpost.members m
        where org_id in (select org_id from watchpost.members where user_id = $1)
      union all select to_jsonb(k) from watchpost.api_keys k where user_id = $1
      union all select to_jsonb(a) from watchpost.accounts a where user_id = $1
      order by 1`,
      [user_id],
    )

  test.each([
    ['went without it', 'aal1', 'aal1'],
    ['says so, but was lowered at the issuer', 'aal2', 'aal1'],
    ['was raised after this token was given', 'aal1', 'aal2'],
    ['says nothing', undefined, undefined],
  ])('changes nothing for good by a session that %s', async (_, claimed, stored) => {
    const me = await person()
    await factor(me)
    const token = await service.session(me, { claims: { aal: claimed } })
    await service.database.query('update auth.sessions set aal = $2 where user_id = $1', [
      me.user_id,
      stored,
    ])
    const tries = await acts(me, token)
    const before = await everything(me)
    for (const [what, act] of Object.entries(tries)) {
      const answer = await act()
      expect([what, answer.status]).toEqual([what, 403])
      expectProblem(answer, 403, 'second_factor_required')
      expect(answer.body).toMatchObject({ detail: expect.stringContaining('aal2') })
    }
    expect(await everything(me)).toEqual(before)
    // What ends access, and what is undone easily, needs none.
    const keys = z.object({ keys: z.array(z.object({ id: z.string() })) })
    const list = await service.request('GET', `${ACCOUNT}/keys`, { key: token })
    const [{ id } = { id: '' }] = parsed(list, 200, keys).keys
    expect((await service.request('DELETE', `${ACCOUNT}/keys/${id}`, { key: token })).status).toBe(
      204,
    )
    expect((await service.request('POST', ZONES, { key: token, body: zone })).status).toBe(201)
  })

  test.each([
    ['after showing it', 'verified', 'aal2'],
    ['whose factor was never verified', 'unverified', 'aal1'],
  ])('does all of it %s', async (_, status, aal) => {
    const me = await person()
    await factor(me, status)
    const tries = await acts(me, await service.session(me, { claims: { aal } }))
    const answers: [string, number][] = []
    for (const [what, act] of Object.entries(tries)) answers.push([what, (await act()).status])
    expect(answers).toEqual([
      ['makes a key', 201],
      ['founds an organisation', 201],
      ['joins one', 200],
      ['invites', 201],
      ['changes a role', 200],
      ['removes a member', 200],
      ['leaves one', 200],
      ['transfers one', 200],
      ['deletes one', 204],
    ])
  })
  test('is deleted by a session that showed it alone', async () => {
    const me = await person()
    await factor(me)
    const body = { confirm: me.email }
    const refused = await service.request('DELETE', ACCOUNT, { key: me.token, body })
    expectProblem(refused, 403, 'second_factor_required')
    expect(await statuses(me)).toEqual(WORKS)
    const strong = await service.session(me, { claims: { aal: 'aal2' } })
    expect((await service.request('DELETE', ACCOUNT, { key: strong, body })).status).toBe(204)
    expect(await statuses(me)).toEqual(SHUT)
  })
})
