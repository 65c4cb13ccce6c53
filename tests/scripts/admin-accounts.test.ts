import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type AccountSelector,
  addMember,
  asOperator,
  createLink,
  createOrganisation,
  mintKey,
} from '../../scripts/postgres/accounts.ts'
import { userOperator } from '../../scripts/postgres/operator.ts'
import { keyHash } from '../../shared/key.ts'
import { tokenHash } from '../../shared/token.ts'
import { Account, type Admin, createAdmin, Minted } from '../support/admin.ts'

let admin: Admin
beforeAll(async () => {
  admin = await createAdmin()
})
afterAll(() => admin?.close())

describe('account', () => {
  test('create makes somebody who can sign in, with a key of which only the hash is stored', async () => {
    const made = await admin.account()
    const [stored] = await admin.database.query(
      `select u.email, u.aud, a.plan, k.scopes, k.key_hash, k.prefix
      from auth.users u
      join watchpost.accounts a on a.user_id = u.id
      join watchpost.api_keys k on k.user_id = u.id
      where u.id = $1 and k.id = $2`,
      [made.user_id, made.key_id],
    )
    expect(stored).toMatchObject({
      email: made.email,
      aud: 'authenticated',
      plan: 'pro',
      scopes: ['read', 'write'],
      prefix: made.api_key.slice(0, 12),
    })
    expect(stored?.key_hash).toEqual(Buffer.from(await keyHash(made.api_key)))
  })

  test('the same address again, in any case, is refused with the way out', async () => {
    const { email } = await admin.account()
    const { code, stdout, stderr } = await admin.run(
      ...['account', 'create', '--email', email.toUpperCase(), '--plan', 'pro', '--json'],
    )
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/There is already an account for \S+\. .*"key mint"/)
  })

  test('link makes a sign-in link of which only the hash is stored, for an hour', async () => {
    const { email, user_id } = await admin.account()
    const { code, stdout } = await admin.run(...['account', 'link', '--email', email, '--json'])
    const made = z
      .strictObject({
        url: z.string(),
        email: z.string(),
        token_hash: z.string().min(40),
        expires_at: z.string(),
      })
      .parse(JSON.parse(stdout))
    expect([code, made.email]).toEqual([0, email])
    const [stored] = await admin.database.query(
      `select token_hash, round(extract(epoch from expires_at - created_at) / 60)::int as minutes
      from watchpost.sign_in_links where user_id = $1`,
      [user_id],
    )
    expect(stored).toEqual({
      token_hash: Buffer.from(await tokenHash(made.token_hash)),
      minutes: 60,
    })
    const unknown = await admin.run(...['account', 'link', '--email', 'nobody@watchpost.test'])
    expect(unknown.code).toBe(1)
    expect(unknown.stderr).toContain('There is no account for')
  })

  test.each([
    ['is banned', `banned_until = now() + interval '1 day'`],
    ['has not confirmed its address', 'email_confirmed_at = null'],
  ])('link is refused to an account that %s', async (_, change) => {
    const { email, user_id } = await admin.account()
    await admin.database.query(`update auth.users set ${change} where id = $1`, [user_id])
    const made = asOperator(admin.database.adminUrl, (client) => createLink(client, { email }))
    await expect(made).rejects.toThrow(`${email} is banned or its address is not confirmed`)
  })

  test('link is refused where Supabase Auth signs people in', async () => {
    const { email } = await admin.account()
    await admin.database.query('comment on schema auth is null')
    const { code, stdout, stderr } = await admin.run('account', 'link', '--email', email)
    await admin.database.query(
      `comment on schema auth is 'Watchpost''s stand-in for Supabase Auth.'`,
    )
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Send one from its dashboard')
  })

  test('plan changes it, and the audit log says that an operator did', async () => {
    const { email, user_id } = await admin.account()
    const changed = await admin.answer(
      Account,
      'account',
      'plan',
      '--email',
      email,
      '--plan',
      'free',
    )
    expect(changed).toEqual({ user_id, email, plan: 'free' })
    const acts = await admin.database.query<{ action: string; details: unknown }>(
      'select action, details from watchpost.audit where account_id = $1 order by seq desc limit 1',
      [user_id],
    )
    expect(acts).toEqual([
      {
        action: 'account.plan_changed',
        details: {
          ...{ via: 'postgres', operator: userOperator().name },
          changed: { plan: ['pro', 'free'] },
        },
      },
    ])
  })
})

describe('people whom no account was made for', () => {
  /** As before Watchpost was installed, or by an import. */
  async function person(email: string): Promise<string> {
    const id = crypto.randomUUID()
    await admin.database.query(
      `with made as (insert into auth.users (id, email, email_confirmed_at) values ($1, $2, now()) returning id)
      select from made`,
      [id, email],
    )
    await admin.database.query('delete from watchpost.accounts where user_id = $1', [id])
    return id
  }

  test('plan and create say the same of them: there is an account', async () => {
    const user_id = await person('early@example.com')
    const changed = await admin.answer(
      Account,
      'account',
      'plan',
      '--email',
      'Early@example.com',
      '--plan',
      'pro',
    )
    expect(changed).toEqual({ user_id, email: 'early@example.com', plan: 'pro' })
    await person('early2@example.com')
    const { code, stderr } = await admin.run(
      'account',
      'create',
      '--email',
      'early2@example.com',
      '--plan',
      'pro',
    )
    expect([code, stderr]).toEqual([1, expect.stringContaining('There is already an account for')])
    await admin.answer(Account, 'account', 'plan', '--email', 'early2@example.com', '--plan', 'pro')
  })

  test('who deleted theirs gets a new one by create alone', async () => {
    const user_id = await person('left@example.com')
    await admin.database.query('insert into watchpost.erased_accounts (user_id) values ($1)', [
      user_id,
    ])
    const { code, stderr } = await admin.run(
      'account',
      'plan',
      '--email',
      'left@example.com',
      '--plan',
      'pro',
    )
    expect([code, stderr]).toEqual([
      1,
      'left@example.com deleted their account. If they want a new one, create it with "account create".\n',
    ])
    const made = await admin.answer(
      z.strictObject({ ...Account.shape, ...Minted.shape }),
      ...['account', 'create', '--email', 'left@example.com', '--plan', 'pro'],
    )
    expect(made).toMatchObject({ user_id, plan: 'pro' })
  })
})

describe('an address that two accounts have', () => {
  test('changes neither, and is told from the other by the id', async () => {
    const { email, user_id } = await admin.account()
    const sso = crypto.randomUUID()
    await admin.database.query(
      'insert into auth.users (id, email, email_confirmed_at, is_sso_user) values ($1, $2, now(), true)',
      [sso, email],
    )
    const operator = <T>(work: Parameters<typeof asOperator<T>>[1]) =>
      asOperator(admin.database.adminUrl, work)
    const { org_id } = await operator((client) =>
      createOrganisation(client, { name: 'Team', owner: { user: user_id } }),
    )
    const key = { scopes: ['read' as const], name: 'x', expires_at: null }
    const verbs: ((who: AccountSelector) => Promise<unknown>)[] = [
      (who) => operator((client) => createLink(client, who)),
      (who) => operator((client) => mintKey(client, { ...who, ...key })),
      (who) => operator((client) => addMember(client, { ...who, org_id, role: 'member' })),
      (owner) => operator((client) => createOrganisation(client, { name: 'x', owner })),
    ]
    for (const verb of verbs) {
      const refusal: unknown = await verb({ email }).catch((error) => error.message)
      expect(refusal).toMatch(/^There are 2 accounts for .*--user ID/)
      for (const id of [user_id, sso]) expect(refusal).toContain(id)
      await verb({ user: sso })
    }
    const { code, stdout } = await admin.run('account', 'plan', '--plan', 'free', '--email', email)
    expect([code, stdout]).toEqual([1, ''])
    const changed = await admin.answer(
      Account,
      'account',
      'plan',
      '--user',
      sso,
      '--plan',
      'enterprise',
    )
    expect(changed).toEqual({ user_id: sso, email, plan: 'enterprise' })
    const plans = await admin.database.query(
      'select user_id, plan from watchpost.accounts where email = $1 order by plan',
      [email],
    )
    expect(plans).toEqual([
      { user_id: sso, plan: 'enterprise' },
      { user_id, plan: 'pro' },
    ])
  })
})

test('of a command that fails half-way nothing stays', async () => {
  const { email, user_id } = await admin.account()
  const half = asOperator(admin.database.adminUrl, async (client) => {
    await createLink(client, { email })
    throw new Error('It stopped here.')
  })
  await expect(half).rejects.toThrow('It stopped here.')
  const links = 'select from watchpost.sign_in_links where user_id = $1'
  expect(await admin.database.query(links, [user_id])).toEqual([])
})
