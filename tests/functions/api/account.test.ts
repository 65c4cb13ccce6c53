import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Account, AccountExport, Key, Org } from '../../../shared/schemas/account.ts'
import {
  createOwnedThings,
  expectProblem,
  OTHER_ACCOUNT_MARKER,
} from '../../support/attacks/refusals.ts'
import { parsed, type Signed } from '../../support/service.ts'
import { ACCOUNT, actions, ask, count, service, useService } from './account/account-scene.ts'

const Made = z.object({ key: Key.extend({ api_key: z.string().nullable() }) })
const One = z.object({ key: Key })

useService()

test('the account says who is signed in, what the plan allows and what there is', async () => {
  const me = await service.signed()
  const org = await service.organisation(me, [await service.signed(), 'member'])
  await service.request('POST', '/api/v1/zones', {
    key: me.key,
    body: { label: 'A place', lat: 41, lon: 29 },
  })
  const answer = parsed(await ask(me, 'GET', ''), 200, z.strictObject({ account: Account }))
  expect(answer.account).toEqual({
    user_id: me.user_id,
    email: me.email,
    plan: 'pro',
    created_at: expect.stringMatching(/Z$/),
    limits: {
      requests_per_minute: 100_000,
      zones: 1000,
      channels: 50,
      members: 50,
      keys: 20,
      organisations: 20,
    },
    counts: { zones: 1, channels: 0, keys: 1, organisations: 1 },
    orgs: [{ id: org, name: 'A team', role: 'owner', members: 2, created_at: expect.any(String) }],
  })
})

describe('keys', () => {
  test('one is made, shown once, used, listed and revoked', async () => {
    const me = await service.signed()
    const answer = await ask(me, 'POST', '/keys', { name: 'Night shift', scopes: ['read', 'read'] })
    const { key } = parsed(answer, 201, Made)
    expect(key).toMatchObject({ name: 'Night shift', scopes: ['read'], revoked_at: null })
    const { api_key, ...shown } = key
    if (!api_key) throw new Error('no key was shown')
    expect(api_key.startsWith(key.prefix)).toBe(true)
    expect(answer.headers.get('Location')).toBe(`${ACCOUNT}/keys/${key.id}`)

    const read = await ask(me, 'GET', `/keys/${key.id}`)
    expect(parsed(read, 200, One).key).toEqual(shown)
    expect(read.text).not.toContain(api_key)
    expect((await service.request('GET', '/api/v1/zones', { key: api_key })).status).toBe(200)
    const forbidden = await service.request('POST', '/api/v1/zones', { key: api_key, body: {} })
    expectProblem(forbidden, 403, 'insufficient_scope')

    expect((await ask(me, 'DELETE', `/keys/${key.id}`)).status).toBe(204)
    const refused = await service.request('GET', '/api/v1/zones', { key: api_key })
    expectProblem(refused, 401, 'unauthenticated')
    const revoked = parsed(await ask(me, 'GET', `/keys/${key.id}`), 200, One).key.revoked_at
    expect(revoked).toEqual(expect.any(String))
    expect((await ask(me, 'DELETE', `/keys/${key.id}`)).status).toBe(204)
    expect(parsed(await ask(me, 'GET', `/keys/${key.id}`), 200, One).key.revoked_at).toBe(revoked)
    expect(await actions(me)).toEqual(
      expect.arrayContaining(['key.created', 'key.created', 'key.revoked']),
    )
  })

  test('the list pages, newest first', async () => {
    const me = await service.signed()
    for (const name of ['One', 'Two', 'Three']) {
      expect((await ask(me, 'POST', '/keys', { name, scopes: ['read'] })).status).toBe(201)
    }
    const Page = z.object({ keys: z.array(Key), next_cursor: z.string().nullable() })
    const names: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = cursor && `&cursor=${cursor}`
      const page = parsed(await ask(me, 'GET', `/keys?limit=2${query}`), 200, Page)
      names.push(...page.keys.map(({ name }) => name))
      cursor = page.next_cursor
    }
    expect(names).toEqual(['Three', 'Two', 'One', 'API key'])
  })

  test('creating a key twice with one Idempotency-Key makes one key, shown once', async () => {
    const me = await service.signed()
    const body = { name: 'Once', scopes: ['write'] }
    const first = parsed(await ask(me, 'POST', '/keys', body, 'k'), 201, Made).key
    const again = parsed(await ask(me, 'POST', '/keys', body, 'k'), 201, Made).key
    expect(again).toEqual({ ...first, api_key: null })
    const other = await ask(me, 'POST', '/keys', { ...body, name: 'Other' }, 'k')
    expectProblem(other, 422, 'idempotency_mismatch')
  })

  test('the end of a key may be sent in any time zone', async () => {
    const body = { name: 'Summer', scopes: ['read'], expires_at: '2999-07-01T00:30:00+02:00' }
    const { key } = parsed(await ask(await service.signed(), 'POST', '/keys', body), 201, Made)
    expect(key.expires_at).toBe('2999-06-30T22:30:00.000Z')
  })

  test.each([
    [{ scopes: ['read'] }, 'name'],
    [{ name: ' ', scopes: ['read'] }, 'name'],
    [{ name: 'x', scopes: [] }, 'scopes'],
    [{ name: 'x', scopes: ['admin'] }, 'scopes.0'],
    [{ name: 'x', scopes: ['read'], expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ name: 'x', scopes: ['read'], expires_at: 'tomorrow' }, 'expires_at'],
    [{ name: 'x', scopes: ['read'], user_id: 'me' }, 'user_id'],
  ])('%j is 422', async (body, path) => {
    const answer = await ask(await service.signed(), 'POST', '/keys', body)
    expectProblem(answer, 422, 'invalid')
    expect(answer.body).toMatchObject({ errors: [{ path }] })
  })

  test('more keys than the plan allows answer 409; expired keys do not count', async () => {
    const me = await service.signed()
    await service.database.query(
      `insert into watchpost.api_keys (user_id, prefix, key_hash, scopes)
      select $1::uuid, 'wp_live_', sha256(($1 || '-' || n)::bytea), '{read}' from generate_series(1, 19) n`,
      [me.user_id],
    )
    const body = { name: 'x', scopes: ['read'] }
    expectProblem(await ask(me, 'POST', '/keys', body), 409, 'limit_reached')
    await service.database.query(
      `update watchpost.api_keys set expires_at = now() where prefix = 'wp_live_' and user_id = $1`,
      [me.user_id],
    )
    expect((await ask(me, 'POST', '/keys', body)).status).toBe(201)
  })

  test('revoking somebody else’s key answers 404, and the key keeps working', async () => {
    const [me, other] = [await service.signed(), await service.signed()]
    const { keys } = parsed(await ask(other, 'GET', '/keys'), 200, z.object({ keys: z.array(Key) }))
    for (const id of [keys[0]?.id, 'nonsense']) {
      expectProblem(await ask(me, 'GET', `/keys/${id}`), 404, 'not_found')
      expectProblem(await ask(me, 'DELETE', `/keys/${id}`), 404, 'not_found')
    }
    expect((await service.request('GET', '/api/v1/me', other)).status).toBe(200)
  })
})

describe('export', () => {
  test('contains everything the account owns, and no secret', async () => {
    const me = await service.signed()
    const [member, stranger] = [await service.signed(), await service.signed()]
    const org = await service.organisation(me, [member, 'admin'])
    const secret = 'https://hooks.example.com/very-secret-path'
    const channel = { kind: 'webhook', target: secret, config: { headers: { 'X-K': 'hush' } } }
    const made = await service.request('POST', '/api/v1/channels', { key: me.key, body: channel })
    const { signing_secret } = z
      .object({ channel: z.object({ signing_secret: z.string() }) })
      .parse(made.body).channel
    await service.request('POST', '/api/v1/zones', {
      key: me.key,
      body: { label: 'Shared', lat: 41, lon: 29, org_id: org },
    })
    const own = await createOwnedThings(service, me)
    await service.request('POST', `/api/v1/channels/${own.ids.channel}/test`, me)
    await service.request('DELETE', `/api/v1/zones/${own.ids.zone}`, me)
    // The admin changes the shared zone: an act of theirs in this log.
    const { zones } = z
      .object({ zones: z.array(z.object({ id: z.uuid(), label: z.string() })) })
      .parse((await service.request('GET', '/api/v1/zones', me)).body)
    await service.request('PATCH', `/api/v1/zones/${zones[0]?.id}`, {
      key: member.key,
      body: { label: 'Changed' },
      headers: { 'User-Agent': 'a-foreign-agent' },
    })
    // What is shared stays its owner's, although colleagues see it.
    await service.database.query(
      `begin; set local session_replication_role = replica;
      ${['zones', 'channels', 'alerts'].map((table) => `update watchpost.${table} set org_id = '${org}' where owner_id = '${me.user_id}'`).join(';')}; commit`,
    )

    const answer = await ask(me, 'GET', '/export')
    expect(answer.headers.get('Content-Disposition')).toMatch(
      /^attachment; filename="watchpost-\d{4}-\d\d-\d\d\.json"$/,
    )
    expect(answer.headers.get('Content-Type')).toBe('application/json')
    const file = parsed(answer, 200, AccountExport.strict())
    expect(file.account.email).toBe(me.email)
    expect(file.keys.map(({ name }) => name)).toEqual(['API key'])
    expect(file.zones.map(({ label, deleted_at }) => [label, deleted_at !== null])).toEqual([
      [OTHER_ACCOUNT_MARKER, true],
      ['Changed', false],
    ])
    expect(file.channels).toHaveLength(2)
    expect(file.channels.every(({ target }) => target.includes('…'))).toBe(true)
    expect(file.feed_links.map(({ id }) => id)).toEqual([own.ids.feed_link])
    expect(file.alerts.map(({ id }) => id)).toEqual([own.ids.alert])
    expect(file.deliveries.map(({ kind }) => kind)).toEqual(['channel.test'])
    expect(file.audit.find(({ actor_id }) => actor_id === member.user_id)).toMatchObject({
      action: 'zone.updated',
      ip: null,
      user_agent: null,
    })
    const hashes = await service.database.query<{ hash: string }>(
      `select encode(key_hash, 'hex') as hash from watchpost.api_keys where user_id = $1`,
      [me.user_id],
    )
    const secrets = [
      secret,
      signing_secret,
      'hush',
      me.key,
      'a-foreign-agent',
      '_sealed',
      'key_hash',
    ]
    for (const word of [...secrets, ...hashes.map(({ hash }) => hash)]) {
      expect(answer.text).not.toContain(word)
    }
    // Colleagues see a shared zone; it is not theirs. Strangers have nothing of it.
    for (const other of [member, stranger]) {
      const { text, body } = await ask(other, 'GET', '/export')
      const nothing = { zones: [], channels: [], feed_links: [], alerts: [], deliveries: [] }
      expect(body).toMatchObject(nothing)
      expect(text).not.toContain(OTHER_ACCOUNT_MARKER)
      expect(text).not.toContain(me.email)
    }
  })

  test('comes page by page, each thing once', async () => {
    const me = await service.signed()
    const { ids } = await createOwnedThings(service, me)
    await service.database.query(
      `insert into watchpost.audit (account_id, actor_id, action, target_type, at)
      select $1, $1, 'zone.updated', 'zone', date_trunc('milliseconds', now()) - (n / 3) * interval '1 second'
      from generate_series(1, 1700) n`,
      [me.user_id],
    )
    await service.database.query(
      `insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity,
        reason, first_reason, status, raised_at, checks, zone_version, event_revision)
      select zone_id, zone_name, owner_id, 'usgs:' || n, source, event, severity, reason, first_reason, status,
        date_trunc('milliseconds', now()) - (n / 2) * interval '1 second', checks, 1, 1
      from watchpost.alerts, generate_series(1, 999) n where id = $1`,
      [ids.alert],
    )
    const file = parsed(await ask(me, 'GET', '/export'), 200, AccountExport)
    expect(new Set(file.alerts.map(({ id }) => id)).size).toBe(1000)
    expect(file.alerts).toHaveLength(1000)
    expect(new Set(file.audit.map(({ id }) => id)).size).toBe(file.audit.length)
    expect(file.audit.length).toBe(
      await count('watchpost.audit where account_id = $1', [me.user_id]),
    )
  })
})

describe('deleting the account', () => {
  const remove = (me: Signed, confirm = me.email) => ask(me, 'DELETE', '', { confirm })

  test('requires the account’s own address as confirmation', async () => {
    const me = await service.signed()
    for (const confirm of ['', 'else@watchpost.test']) {
      const answer = await remove(me, confirm)
      expectProblem(answer, 422, 'invalid')
      expect(answer.body).toMatchObject({ errors: [{ path: 'confirm' }] })
    }
    expectProblem(await ask(me, 'DELETE', ''), 400, 'malformed')
    expect((await ask(me, 'GET', '')).status).toBe(200)
  })

  test('waits until owned organisations are transferred or deleted', async () => {
    const [me, heir] = [await service.signed(), await service.signed()]
    const org = await service.organisation(me, [heir, 'member'])
    const refused = await remove(me)
    expectProblem(refused, 409, 'conflict')
    expect(refused.body).toMatchObject({ detail: expect.stringContaining('A team') })
    await ask(me, 'POST', `/orgs/${org}/transfer`, { user_id: heir.user_id })
    expect((await remove(me)).status).toBe(204)
    const { orgs } = parsed(await ask(heir, 'GET', '/orgs'), 200, z.object({ orgs: z.array(Org) }))
    expect(orgs).toMatchObject([{ id: org, role: 'owner', members: 1 }])
  })

  test('removes everything, whatever the case of the address', async () => {
    const [owner, me] = [
      await service.signed(),
      await service.signed({ email: 'Leaving@Watchpost.test' }),
    ]
    const org = await service.organisation(owner, [me, 'admin'])
    const zone = { label: 'Shared', lat: 41, lon: 29, org_id: org }
    const shared = await service.request('POST', '/api/v1/zones', { key: me.key, body: zone })
    const { id } = z.object({ zone: z.object({ id: z.uuid() }) }).parse(shared.body).zone
    await createOwnedThings(service, me)
    await service.database.query('delete from watchpost.members where user_id = $1 and role = $2', [
      me.user_id,
      'owner',
    ])
    await service.request('POST', `/api/v1/orgs/${org}/members`, {
      key: owner.key,
      body: { email: 'somebody@watchpost.test' },
    })
    await ask(me, 'POST', '/keys', { name: 'x', scopes: ['read'] }, 'once')

    expect((await remove(me, me.email.toUpperCase())).status).toBe(204)

    for (const key of [me.key, me.token]) {
      expectProblem(await service.request('GET', '/api/v1/me', { key }), 401, 'unauthenticated')
    }
    // No row of any table of ours, nor of auth.users, knows the id or the address.
    const tables = await service.database.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c
      where c.relnamespace::regnamespace::text in ('watchpost', 'auth') and c.relkind in ('r', 'p')
        and not c.relispartition`,
    )
    const left: string[] = []
    for (const { name } of tables) {
      if (name === 'watchpost.rate_limits') continue // ten minutes
      const found = await count(
        `${name} t where to_jsonb(t)::text ilike any (array['%' || $1 || '%', '%' || $2 || '%'])`,
        [me.user_id, me.email],
      )
      if (found) left.push(name)
    }
    expect(left).toEqual([])
    const [passed] = await service.database.query(
      'select owner_id, org_id from watchpost.zones where id = $1',
      [id],
    )
    expect(passed).toEqual({ owner_id: owner.user_id, org_id: org })
  })

  test('leaves its acts in the logs of others, under one pseudonym', async () => {
    const [owner, me] = [await service.signed(), await service.signed()]
    const org = await service.organisation(owner, [me, 'admin'])
    const zone = { label: 'Shared', lat: 41, lon: 29, org_id: org }
    const made = await service.request('POST', '/api/v1/zones', { key: owner.key, body: zone })
    const { id } = z.object({ zone: z.object({ id: z.uuid() }) }).parse(made.body).zone
    for (const label of ['One', 'Two']) {
      await service.request('PATCH', `/api/v1/zones/${id}`, { key: me.key, body: { label } })
    }
    expect((await remove(me)).status).toBe(204)
    const Log = z.object({
      audit: z.array(
        z.object({ action: z.string(), actor_id: z.guid().nullable(), ip: z.string().nullable() }),
      ),
    })
    const { audit } = parsed(await service.request('GET', '/api/v1/audit', owner), 200, Log)
    const theirs = audit.filter(({ actor_id }) => actor_id && actor_id !== owner.user_id)
    expect(theirs.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['zone.updated', 'zone.updated', 'member.deleted']),
    )
    expect(new Set(theirs.map(({ actor_id }) => actor_id)).size).toBe(1)
    expect(theirs[0]?.actor_id).not.toBe(me.user_id)
    expect(theirs.map(({ ip }) => ip)).toEqual(theirs.map(() => null))
    const [kept] = await service.database.query(
      `select action, ip from watchpost.audit where account_id = $1 and action = 'account.deleted'`,
      [theirs[0]?.actor_id],
    )
    expect(kept).toEqual({ action: 'account.deleted', ip: null })
  })

  test('by an operator passes organisations to the longest-serving admin', async () => {
    const [me, member, admin, alone] = [
      await service.signed(),
      await service.signed(),
      await service.signed(),
      await service.signed(),
    ]
    const org = await service.organisation(me, [member, 'member'], [admin, 'admin'])
    await service.organisation(alone)
    for (const { user_id } of [me, alone]) {
      await service.database.query('delete from auth.users where id = $1', [user_id])
    }
    const members = await service.database.query(
      'select user_id, role from watchpost.members where org_id = $1 order by role',
      [org],
    )
    expect(members).toEqual([
      { user_id: member.user_id, role: 'member' },
      { user_id: admin.user_id, role: 'owner' },
    ])
    expect(
      await count(
        'watchpost.organisations o where not exists (select from watchpost.members m where m.org_id = o.id)',
        [],
      ),
    ).toBe(0)
  })
})
