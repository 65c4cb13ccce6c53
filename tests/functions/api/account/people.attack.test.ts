import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import { ACCOUNT, SHUT, statuses, WORKS, ZONES, zone } from '../../../support/people.ts'
import { createService, type Service, type Signed } from '../../../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

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

describe('somebody who is banned', () => {
  test('is refused with every key and session from the next request on, until the ban ends', async () => {
    const me = await service.signed()
    expect(await statuses(service, me)).toEqual(WORKS)
    await change(me, `banned_until = now() + interval '100 years'`)
    expect(await statuses(service, me)).toEqual(SHUT)
    expect(await count('watchpost.zones where owner_id = $1', me.user_id)).toBe(2)
    await change(me, `banned_until = now() - interval '1 second'`)
    expect(await statuses(service, me)).toEqual(WORKS)
    await change(me, `banned_until = 'infinity'`)
    expect(await statuses(service, me)).toEqual(SHUT)
  })

  test('cannot use an account made while they are banned', async () => {
    const me = await service.signed()
    await change(me, `banned_until = now() + interval '1 hour'`)
    await service.database.query('delete from watchpost.accounts where user_id = $1', [me.user_id])
    expectProblem(await service.request('GET', ACCOUNT, { key: me.token }), 401, 'unauthenticated')
  })

  test('does nothing in a transaction that was pipelined behind the refusal', async () => {
    const me = await service.signed()
    await change(me, `banned_until = 'infinity'`)
    expect(await service.queryAs(me.key, 'select 1', [], 'commit')).toBe('WP401')
  })
})

describe('somebody who was deleted softly', () => {
  test('loses what the API would delete: keys, sessions, zones, invites; shared things stay', async () => {
    const me = await service.signed()
    const owner = await service.signed()
    const org = await service.organisation(owner, [me, 'member'])
    const mine = await service.organisation(me, [owner, 'admin'])
    expect(await statuses(service, me)).toEqual(WORKS)
    const shared = await service.request('POST', ZONES, {
      key: me.key,
      body: { ...zone, org_id: org },
    })
    expect(shared.status).toBe(201)
    // What Supabase Auth writes: the address as a hash, and the time.
    await change(me, `email = md5(email), phone = md5(email), deleted_at = now()`)
    expect(await statuses(service, me)).toEqual(SHUT)
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
    expect(await statuses(service, me)).toEqual(SHUT)
    expect(await count('watchpost.accounts where user_id = $1', me.user_id)).toBe(0)
  })
})

describe('somebody who signed up before Watchpost was there', () => {
  /** Their row is in auth.users and no trigger of ours has seen it. */
  async function early(columns: Record<string, unknown> = {}): Promise<Signed> {
    const me = await service.signed()
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

  test('gets exactly one account, however many requests arrive first', async () => {
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
  ])('gets no account when %s', async (_, columns) => {
    const me = await early(columns)
    expectProblem(await service.request('GET', ACCOUNT, { key: me.token }), 401, 'unauthenticated')
  })

  test('gets no account while they are being deleted', async () => {
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

  test('cannot return with an old token where auth.users outlived the deleted account', async () => {
    const me = await service.signed()
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
      expect(await statuses(service, me)).toEqual(SHUT)
      await change(me, `email = 'new@watchpost.test', email_confirmed_at = now()`)
      expect(await statuses(service, me)).toEqual(SHUT)
      expect(await count('watchpost.accounts where user_id = $1', me.user_id)).toBe(0)
    } finally {
      await service.database.query('drop function public.keep cascade')
    }
    await service.database.query('delete from auth.users where id = $1', [me.user_id])
    expect(await count('watchpost.erased_accounts')).toBe(0)
  })
})

describe('a session that has ended at the issuer', () => {
  test.each([
    ['signed out', 'delete from auth.sessions where user_id = $1'],
    ['past its last moment', 'update auth.sessions set not_after = now() where user_id = $1'],
  ])('is refused at once, whatever its token says, when %s', async (_, statement) => {
    const me = await service.signed()
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
