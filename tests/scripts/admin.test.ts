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
import { isKey, keyHash } from '../../shared/key.ts'
import { tokenHash } from '../../shared/token.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createProcesses, type Processes } from '../support/processes.ts'

let database: TestDatabase
let processes: Processes
beforeAll(async () => {
  database = await createTestDatabase()
  processes = await createProcesses()
})
afterAll(async () => {
  await processes.close()
  await database.drop()
})

async function run(...args: string[]) {
  const started = processes.run('scripts/admin.ts', [...args, '--database-url', database.adminUrl])
  const code = await started.ended
  return { code, stdout: started.stdout(), stderr: started.stderr() }
}

async function answer<S extends z.ZodType>(schema: S, ...args: string[]): Promise<z.output<S>> {
  const { code, stdout, stderr } = await run(...args, '--json')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout.trim().split('\n')).toHaveLength(1)
  return schema.parse(JSON.parse(stdout))
}

const Minted = z.strictObject({ key_id: z.uuid(), api_key: z.string().refine(isKey) })
const Account = z.strictObject({ user_id: z.uuid(), email: z.email(), plan: z.string() })

let counter = 0
async function account(plan = 'pro') {
  counter += 1
  const email = `person${String(counter).padStart(3, '0')}@example.com`
  const made = await answer(
    z.strictObject({ ...Account.shape, ...Minted.shape }),
    ...['account', 'create', '--email', email, '--plan', plan],
  )
  return made
}

describe('account', () => {
  test('create makes somebody who can sign in, with a key of which only the hash is stored', async () => {
    const made = await account()
    const [stored] = await database.query(
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
    const { email } = await account()
    const { code, stdout, stderr } = await run(
      ...['account', 'create', '--email', email.toUpperCase(), '--plan', 'pro', '--json'],
    )
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/There is already an account for \S+\. .*"key mint"/)
  })

  test('link makes a sign-in link of which only the hash is stored, for an hour', async () => {
    const { email, user_id } = await account()
    const { code, stdout } = await run(...['account', 'link', '--email', email, '--json'])
    const made = z
      .strictObject({
        url: z.string(),
        email: z.string(),
        token_hash: z.string().min(40),
        expires_at: z.string(),
      })
      .parse(JSON.parse(stdout))
    expect([code, made.email]).toEqual([0, email])
    const [stored] = await database.query(
      `select token_hash, round(extract(epoch from expires_at - created_at) / 60)::int as minutes
      from watchpost.sign_in_links where user_id = $1`,
      [user_id],
    )
    expect(stored).toEqual({
      token_hash: Buffer.from(await tokenHash(made.token_hash)),
      minutes: 60,
    })
    const unknown = await run(...['account', 'link', '--email', 'nobody@watchpost.test'])
    expect(unknown.code).toBe(1)
    expect(unknown.stderr).toContain('There is no account for')
  })

  test('plan changes it, and the audit log says that an operator did', async () => {
    const { email, user_id } = await account()
    const changed = await answer(Account, 'account', 'plan', '--email', email, '--plan', 'free')
    expect(changed).toEqual({ user_id, email, plan: 'free' })
    const acts = await database.query<{ action: string; details: unknown }>(
      'select action, details from watchpost.audit where account_id = $1 order by seq desc limit 1',
      [user_id],
    )
    expect(acts).toEqual([
      {
        action: 'account.plan_changed',
        details: { via: 'postgres', changed: { plan: ['pro', 'free'] } },
      },
    ])
  })
})

describe('people whom no account was made for', () => {
  /** As before Watchpost was installed, or by an import. */
  async function person(email: string): Promise<string> {
    const id = crypto.randomUUID()
    await database.query(
      `with made as (insert into auth.users (id, email, email_confirmed_at) values ($1, $2, now()) returning id)
      select from made`,
      [id, email],
    )
    await database.query('delete from watchpost.accounts where user_id = $1', [id])
    return id
  }

  test('plan and create say the same of them: there is an account', async () => {
    const user_id = await person('early@example.com')
    const changed = await answer(
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
    const { code, stderr } = await run(
      'account',
      'create',
      '--email',
      'early2@example.com',
      '--plan',
      'pro',
    )
    expect([code, stderr]).toEqual([1, expect.stringContaining('There is already an account for')])
    await answer(Account, 'account', 'plan', '--email', 'early2@example.com', '--plan', 'pro')
  })

  test('who deleted theirs gets a new one by create alone', async () => {
    const user_id = await person('left@example.com')
    await database.query('insert into watchpost.erased_accounts (user_id) values ($1)', [user_id])
    const { code, stderr } = await run(
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
    const made = await answer(
      z.strictObject({ ...Account.shape, ...Minted.shape }),
      ...['account', 'create', '--email', 'left@example.com', '--plan', 'pro'],
    )
    expect(made).toMatchObject({ user_id, plan: 'pro' })
  })
})

describe('an address that two accounts have', () => {
  test('changes neither, and is told from the other by the id', async () => {
    const { email, user_id } = await account()
    const sso = crypto.randomUUID()
    await database.query(
      'insert into auth.users (id, email, email_confirmed_at, is_sso_user) values ($1, $2, now(), true)',
      [sso, email],
    )
    const operator = <T>(work: Parameters<typeof asOperator<T>>[1]) =>
      asOperator(database.adminUrl, work)
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
    const { code, stdout } = await run('account', 'plan', '--plan', 'free', '--email', email)
    expect([code, stdout]).toEqual([1, ''])
    const changed = await answer(Account, 'account', 'plan', '--user', sso, '--plan', 'enterprise')
    expect(changed).toEqual({ user_id: sso, email, plan: 'enterprise' })
    const plans = await database.query(
      'select user_id, plan from watchpost.accounts where email = $1 order by plan',
      [email],
    )
    expect(plans).toEqual([
      { user_id: sso, plan: 'enterprise' },
      { user_id, plan: 'pro' },
    ])
  })
})

describe('key', () => {
  test('mint gives one with scopes and an end', async () => {
    const { email } = await account()
    const { key_id } = await answer(
      Minted,
      ...[
        'key',
        'mint',
        '--email',
        email,
        '--scopes',
        'read,ingest',
        '--expires',
        '2090-01-01T00:00:00Z',
      ],
    )
    const [stored] = await database.query(
      'select scopes, expires_at from watchpost.api_keys where id = $1',
      [key_id],
    )
    expect(stored).toEqual({
      scopes: ['read', 'ingest'],
      expires_at: new Date('2090-01-01T00:00:00Z'),
    })
  })

  test('revoke says when, and a second time the same', async () => {
    const { key_id } = await account()
    const Revoked = z.strictObject({ key_id: z.uuid(), revoked_at: z.iso.datetime() })
    const first = await answer(Revoked, 'key', 'revoke', '--key', key_id)
    expect(await answer(Revoked, 'key', 'revoke', '--key', key_id)).toEqual(first)
  })

  test('a plan’s limit is kept', async () => {
    const { email, user_id } = await account()
    await database.query(
      `insert into watchpost.api_keys (user_id, prefix, key_hash, scopes)
      select $1::uuid, 'wp_live_', sha256(convert_to($1::uuid || n::text, 'utf8')), '{read}' from generate_series(2, 20) n`,
      [user_id],
    )
    const { code, stderr } = await run('key', 'mint', '--email', email, '--scopes', 'read')
    expect([code, stderr]).toEqual([
      1,
      'The limit of the plan is reached: the pro plan allows 20 keys. Change the plan.\n',
    ])
  })
})

describe('org', () => {
  const Made = z.strictObject({ org_id: z.uuid() })
  const Member = z.strictObject({
    org_id: z.uuid(),
    user_id: z.uuid(),
    email: z.string(),
    role: z.string(),
  })

  test('create makes its owner a member, and add puts others in, invited or not', async () => {
    const [owner, member, invited] = [await account(), await account(), await account()]
    const { org_id } = await answer(Made, 'org', 'create', '--name', 'Team', '--owner', owner.email)
    await database.query(
      `insert into watchpost.members (org_id, email, role, invited_by, invite_hash, invite_expires_at)
      values ($1, $2, 'member', $3, sha256('x'), now() + interval '1 day')`,
      [org_id, invited.email, owner.user_id],
    )
    for (const [who, role] of [
      [member, 'member'],
      [invited, 'admin'],
    ] as const) {
      const added = await answer(
        Member,
        ...['org', 'add', '--org', org_id, '--email', who.email, '--role', role],
      )
      expect(added).toEqual({ org_id, user_id: who.user_id, email: who.email, role })
    }
    const members = await database.query(
      `select email, role, status from watchpost.members where org_id = $1 order by email`,
      [org_id],
    )
    expect(members).toEqual([
      { email: owner.email, role: 'owner', status: 'active' },
      { email: member.email, role: 'member', status: 'active' },
      { email: invited.email, role: 'admin', status: 'active' },
    ])
    const again = await run(
      'org',
      'add',
      '--org',
      org_id,
      '--email',
      member.email,
      '--role',
      'admin',
    )
    expect([again.code, again.stderr]).toEqual([
      1,
      `${member.email} is already a member of this organisation.\n`,
    ])
  })
})

describe('feeds and queues', () => {
  test('feeds status lists the sources', async () => {
    await database.query(
      `insert into watchpost.sources (source, title, attribution, types, interval_seconds, error, error_at)
      values ('quiet', 'Quiet', 'Nobody', '{other}', 60, 'answered HTTP 500', now())`,
    )
    const { code, stdout } = await run('feeds', 'status')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^source +status +last_success_at +last_event_at +events_24h +error\n/)
    expect(stdout).toMatch(/^quiet +down +- +- +0 +answered HTTP 500$/m)
  })

  test('redrive puts dead jobs back where they came from', async () => {
    await database.query(
      `insert into pgboss.job (name, data, policy, source_name, source_id)
      select 'dead', '{"source": "usgs"}', 'standard', 'match', gen_random_uuid() from generate_series(1, 3)`,
    )
    const Queues = z.looseObject({
      queues: z.array(z.looseObject({ queue: z.string(), waiting: z.number() })),
    })
    const waiting = async () => {
      const { queues } = await answer(Queues, 'queue', 'status')
      const of = (name: string) => queues.find(({ queue }) => queue === name)?.waiting
      return { dead: of('dead'), match: of('match') }
    }
    expect(await waiting()).toEqual({ dead: 3, match: 0 })
    const Redriven = z.strictObject({ redriven: z.int() })
    expect(await answer(Redriven, 'queue', 'redrive')).toEqual({ redriven: 3 })
    expect(await waiting()).toEqual({ dead: 0, match: 3 })
  })
})

describe('what is written wrongly', () => {
  test.each([
    [2, [], /^npm run admin -- <command>/],
    [2, ['key', 'forge'], /^There is no command "key forge"\. See/],
    [2, ['toString'], /^There is no command "toString"/],
    [2, ['key', 'mint', '--email', 'a@example.com'], /^--scopes is required\. See/],
    [
      2,
      ['key', 'mint', '--email', 'nobody', '--scopes', 'read'],
      /^--email must be an email address/,
    ],
    [
      2,
      ['key', 'mint', '--email', 'a@b.cc', '--scopes', 'all'],
      /^--scopes must be a list of read, /,
    ],
    [
      2,
      ['key', 'mint', '--email', 'a@b.cc', '--scopes', 'read', '--expires', '2001-01-01'],
      /^--expires must be in the future/,
    ],
    [
      2,
      ['key', 'mint', '--email', 'a@b.cc', '--scopes', 'read', '--expires', 'soon'],
      /^--expires must be an ISO 8601/,
    ],
    [
      2,
      ['account', 'create', '--email', 'a@b.cc', '--plan', 'gold'],
      /^--plan must be one of free, pro/,
    ],
    [2, ['queue', 'status', '--email', 'a@b.cc'], /^--email is not an option of this command/],
    [2, ['account', 'link'], /^--email is required \(or --user\)/],
    [
      2,
      ['account', 'link', '--email', 'a@b.cc', '--user', '00000000-0000-4000-8000-000000000000'],
      /^--email and --user cannot be combined/,
    ],
    [
      2,
      ['org', 'create', '--name', 'x', '--owner', 'me'],
      /^--owner must be an email address or an id/,
    ],
    [2, ['org', 'create', '--name', 'x'], /^--owner is required/],
    [2, ['queue', 'status', '--frobnicate'], /^Unknown option '--frobnicate'\. See/],
    [2, ['queue', 'status', '--data-dir', 'x'], /^Give --data-dir or --database-url, not both/],
    [
      1,
      ['account', 'plan', '--email', 'no@b.cc', '--plan', 'pro'],
      /^There is no account for no@b\.cc\. Create one with "account create"/,
    ],
    [
      1,
      ['key', 'revoke', '--key', '00000000-0000-4000-8000-000000000000'],
      /^There is no key 0000/,
    ],
    [
      1,
      ['org', 'create', '--name', 'x', '--owner', 'no@b.cc'],
      /^There is no account for no@b\.cc/,
    ],
  ])('%i: %j', async (code, args, message) => {
    const result = await run(...args)
    expect(result.stderr).toMatch(message)
    expect([result.code, result.stdout]).toEqual([code, ''])
  })

  test('a folder without a Watchpost is not filled with one', async () => {
    const folder = `${processes.dataDir}/nothing`
    const started = processes.run('scripts/admin.ts', ['feeds', 'status', '--data-dir', folder])
    expect(await started.ended).toBe(1)
    expect(started.stderr()).toMatch(/^There is no Watchpost in nothing\. Start it once/)
  })
})
