import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Admin, createAdmin, Minted } from '../support/admin.ts'

let admin: Admin
beforeAll(async () => {
  admin = await createAdmin()
})
afterAll(() => admin?.close())

describe('key', () => {
  test('mint gives one with scopes and an end', async () => {
    const { email } = await admin.account()
    const { key_id } = await admin.answer(
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
    const [stored] = await admin.database.query(
      'select scopes, expires_at from watchpost.api_keys where id = $1',
      [key_id],
    )
    expect(stored).toEqual({
      scopes: ['read', 'ingest'],
      expires_at: new Date('2090-01-01T00:00:00Z'),
    })
  })

  test('revoke says when, and a second time the same', async () => {
    const { key_id } = await admin.account()
    const Revoked = z.strictObject({ key_id: z.uuid(), revoked_at: z.iso.datetime() })
    const first = await admin.answer(Revoked, 'key', 'revoke', '--key', key_id)
    expect(await admin.answer(Revoked, 'key', 'revoke', '--key', key_id)).toEqual(first)
  })

  test('keeps to the limit of the plan', async () => {
    const { email, user_id } = await admin.account()
    await admin.database.query(
      `insert into watchpost.api_keys (user_id, prefix, key_hash, scopes)
      select $1::uuid, 'wp_live_', sha256(convert_to($1::uuid || n::text, 'utf8')), '{read}' from generate_series(2, 20) n`,
      [user_id],
    )
    const { code, stderr } = await admin.run('key', 'mint', '--email', email, '--scopes', 'read')
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
    const [owner, member, invited] = [
      await admin.account(),
      await admin.account(),
      await admin.account(),
    ]
    const { org_id } = await admin.answer(
      Made,
      'org',
      'create',
      '--name',
      'Team',
      '--owner',
      owner.email,
    )
    await admin.database.query(
      `insert into watchpost.members (org_id, email, role, invited_by, invite_hash, invite_expires_at)
      values ($1, $2, 'member', $3, sha256('x'), now() + interval '1 day')`,
      [org_id, invited.email, owner.user_id],
    )
    for (const [who, role] of [
      [member, 'member'],
      [invited, 'admin'],
    ] as const) {
      const added = await admin.answer(
        Member,
        ...['org', 'add', '--org', org_id, '--email', who.email, '--role', role],
      )
      expect(added).toEqual({ org_id, user_id: who.user_id, email: who.email, role })
    }
    const members = await admin.database.query(
      `select email, role, status from watchpost.members where org_id = $1 order by email`,
      [org_id],
    )
    expect(members).toEqual([
      { email: owner.email, role: 'owner', status: 'active' },
      { email: member.email, role: 'member', status: 'active' },
      { email: invited.email, role: 'admin', status: 'active' },
    ])
    const again = await admin.run(
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
    await admin.database.query(
      `insert into watchpost.sources (source, title, attribution, types, interval_seconds, error, error_at)
      values ('quiet', 'Quiet', 'Nobody', '{other}', 60, 'answered HTTP 500', now())`,
    )
    const { code, stdout } = await admin.run('feeds', 'status')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^source +status +last_success_at +last_event_at +events_24h +error\n/)
    expect(stdout).toMatch(/^quiet +down +- +- +0 +answered HTTP 500$/m)
  })

  test('redrive puts dead jobs back where they came from, the oldest first, and says what is left', async () => {
    // Six of match, the first of them the oldest, one of release, and one that nobody knows where to put.
    await admin.database.query(
      `insert into pgboss.job (name, data, policy, source_name, source_id, created_on)
      select 'dead', jsonb_build_object('n', n), 'standard',
        case n when 7 then 'release' when 8 then null else 'match' end, gen_random_uuid(), now() - make_interval(mins => 60 - n)
      from generate_series(1, 8) n`,
    )
    await admin.database.query(
      `insert into watchpost.channels (id, owner_id, kind, target_sealed, target_masked)
      select gen_random_uuid(), user_id, 'ntfy', 'x', 'x' from watchpost.accounts limit 1`,
    )
    await admin.database.query(
      `insert into watchpost.deliveries (channel_id, type, status, created_at)
      select id, 'channel.test', 'queued', now() - interval '90 seconds' from watchpost.channels`,
    )
    const Status = z.strictObject({
      queues: z.array(
        z.strictObject({
          ...{ queue: z.string(), waiting: z.int(), later: z.int(), running: z.int() },
          ...{
            oldest_seconds: z.int(),
            failed: z.int(),
            oldest_failed_seconds: z.int().nullable(),
          },
        }),
      ),
      deliveries_waiting: z.array(
        z.strictObject({ status: z.string(), count: z.int(), oldest_seconds: z.int() }),
      ),
      deliveries_24h: z.array(z.strictObject({ status: z.string(), count: z.int() })),
      heartbeat: z.array(
        z.strictObject({
          ...{ looked_at: z.string().nullable(), not_well: z.string() },
          ...{ called_at: z.string().nullable(), error: z.string().nullable() },
        }),
      ),
    })
    const status = () => admin.answer(Status, 'queue', 'status')
    const counts = async () => {
      const { queues } = await status()
      const of = (name: string) => queues.find(({ queue }) => queue === name)
      return [of('dead')?.waiting, of('match')?.waiting, of('match')?.failed, of('release')?.failed]
    }
    expect(await counts()).toEqual([8, 0, 6, 1])
    const before = await status()
    const match = before.queues.find(({ queue }) => queue === 'match')
    expect(Math.round((match?.oldest_failed_seconds ?? 0) / 60)).toBe(59)
    expect(before.heartbeat).toEqual([
      { looked_at: null, not_well: '', called_at: null, error: null },
    ])
    expect(before.deliveries_24h).toEqual([{ status: 'queued', count: 1 }])
    expect(before.deliveries_waiting).toMatchObject([{ status: 'queued', count: 1 }])
    expect(before.deliveries_waiting[0]?.oldest_seconds).toBeGreaterThanOrEqual(90)
    const Redriven = z.strictObject({ redriven: z.int(), remaining: z.int(), unroutable: z.int() })
    const redrive = (...words: string[]) => admin.answer(Redriven, 'queue', 'redrive', ...words)
    expect(await redrive('--limit', '2', '--queue', 'match')).toEqual({
      ...{ redriven: 2, remaining: 4, unroutable: 0 },
    })
    const moved = await admin.database.query(
      `select data from pgboss.job where name = 'match' and state = 'created' order by (data ->> 'n')::integer`,
    )
    expect(moved).toEqual([{ data: { n: 1 } }, { data: { n: 2 } }])
    expect(await redrive()).toEqual({ redriven: 5, remaining: 1, unroutable: 1 })
    expect(await redrive()).toEqual({ redriven: 0, remaining: 1, unroutable: 1 })
    expect(await counts()).toEqual([1, 6, 0, 0])
  })
})

describe('what is written wrongly', () => {
  test.each([
    [2, [], /^npm run admin -- <command>/],
    [2, ['queue', 'redrive', '--limit', '0'], /^--limit must be a whole number from 1 to 10000/],
    [2, ['queue', 'redrive', '--limit', '10001'], /^--limit must be a whole number from 1 to 1/],
    [2, ['queue', 'redrive', '--queue', 'x'], /^There is no queue "x"\. There are: dead, deliver,/],
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
    const result = await admin.run(...args)
    expect(result.stderr).toMatch(message)
    expect([result.code, result.stdout]).toEqual([code, ''])
  })

  test('a folder without a Watchpost is not filled with one', async () => {
    const folder = `${admin.processes.dataDir}/nothing`
    const started = admin.processes.run('scripts/admin.ts', [
      'feeds',
      'status',
      '--data-dir',
      folder,
    ])
    expect(await started.ended).toBe(1)
    expect(started.stderr()).toMatch(/^There is no Watchpost in nothing\. Start it once/)
  })
})
