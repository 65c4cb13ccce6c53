import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Invite, Org } from '../../../../shared/schemas/account.ts'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import {
  createService,
  type Person,
  parsed,
  type Service,
  type Signed,
  tokenOfInvite,
} from '../../../support/service.ts'

const ACCOUNT = '/api/v1/account'
const One = z.strictObject({ org: Org })
const List = z.strictObject({ orgs: z.array(Org) })
const Invites = z.strictObject({ invites: z.array(Invite) })
const Invited = z.object({ member: z.object({ id: z.uuid() }), invite_url: z.string() })

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

function ask({ token }: Signed, method: string, path: string, body?: unknown, once?: string) {
  const headers: Record<string, string> = once === undefined ? {} : { 'Idempotency-Key': once }
  return service.request(method, ACCOUNT + path, { key: token, body, headers })
}

async function team() {
  const people = [
    await service.signed(),
    await service.signed(),
    await service.signed(),
    await service.signed(),
  ] as const
  const [owner, admin, member, stranger] = people
  const org = await service.organisation(owner, [admin, 'admin'], [member, 'member'])
  return { owner, admin, member, stranger, org, path: `/orgs/${org}` }
}

const roles = async (org: string) =>
  Object.fromEntries(
    (
      await service.database.query<{ user_id: string; role: string }>(
        `select user_id, role from watchpost.members where org_id = $1 and status = 'active'`,
        [org],
      )
    ).map(({ user_id, role }) => [user_id, role]),
  )

/** Invites an address, and answers the token of its link. */
async function invite(by: Signed, org: string, email: string, role = 'member'): Promise<string> {
  const answer = await service.request('POST', `/api/v1/orgs/${org}/members`, {
    key: by.token,
    body: { email, role },
  })
  return tokenOfInvite(parsed(answer, 201, Invited).invite_url)
}

const accept = (who: Signed, token: string) => ask(who, 'POST', '/invites/accept', { token })

describe('an organisation', () => {
  test('is founded by its owner, on any plan, once per Idempotency-Key', async () => {
    const me = await service.signed({ plan: 'free' })
    const answer = await ask(me, 'POST', '/orgs', { name: 'Port operations' }, 'k')
    const { org } = parsed(answer, 201, One)
    expect(org).toMatchObject({ name: 'Port operations', role: 'owner', members: 1 })
    expect(answer.headers.get('Location')).toBe(`${ACCOUNT}/orgs/${org.id}`)
    const again = await ask(me, 'POST', '/orgs', { name: 'Port operations' }, 'k')
    expect(parsed(again, 201, One).org).toEqual(org)
    expect(parsed(await ask(me, 'GET', `/orgs/${org.id}`), 200, One).org).toEqual(org)
    expect(parsed(await ask(me, 'GET', '/orgs'), 200, List).orgs).toEqual([org])
    const acts = await service.database.query(
      `select action from watchpost.audit where account_id = $1 and action ~ '^(organisation|member)'`,
      [me.user_id],
    )
    expect(acts.map(({ action }) => action).sort()).toEqual([
      'member.created',
      'organisation.created',
    ])
  })

  test('more than the plan allows are 409, also at once', async () => {
    const me = await service.signed()
    await service.database.query(
      `with made as (insert into watchpost.organisations (name)
        select 'x' from generate_series(1, 18) returning id)
      insert into watchpost.members (org_id, user_id, email, role, status, joined_at)
      select id, $1, $2, 'owner', 'active', now() from made`,
      [me.user_id, me.email],
    )
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => ask(me, 'POST', '/orgs', { name: 'One more' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409])
  })

  test('is renamed by its owner and admins; a member is 403, a stranger 404', async () => {
    const { owner, admin, member, stranger, path } = await team()
    for (const [who, name] of [
      [owner, 'First'],
      [admin, 'Second'],
    ] as const) {
      const { org } = parsed(await ask(who, 'PATCH', path, { name }), 200, One)
      expect(org.name).toBe(name)
    }
    expectProblem(await ask(member, 'PATCH', path, { name: 'x' }), 403, 'forbidden')
    expectProblem(await ask(stranger, 'PATCH', path, { name: 'x' }), 404, 'not_found')
    expectProblem(await ask(owner, 'PATCH', path, { name: ' ' }), 422, 'invalid')
    expect(parsed(await ask(member, 'GET', path), 200, One).org.name).toBe('Second')
    expectProblem(await ask(stranger, 'GET', path), 404, 'not_found')
  })

  test('is left by admins and members, not by its owner; what they shared passes on', async () => {
    const { owner, member, stranger, org, path } = await team()
    const zone = { label: 'Shared', lat: 41, lon: 29, org_id: org }
    expect(
      (await service.request('POST', '/api/v1/zones', { key: member.key, body: zone })).status,
    ).toBe(201)
    expectProblem(await ask(owner, 'POST', `${path}/leave`), 409, 'owner_protected')
    expectProblem(await ask(stranger, 'POST', `${path}/leave`), 404, 'not_found')
    const left = await ask(member, 'POST', `${path}/leave`)
    expect(left.body).toEqual({ passed_on: { zones: 1, channels: 0 } })
    expectProblem(await ask(member, 'POST', `${path}/leave`), 404, 'not_found')
    expect(await roles(org)).not.toHaveProperty(member.user_id)
    const zones = await service.request('GET', '/api/v1/zones', owner)
    expect(zones.body).toMatchObject({ zones: [{ label: 'Shared', owner_id: owner.user_id }] })
  })

  test('is transferred by its owner alone, to who has joined; there is always one owner', async () => {
    const { owner, admin, member, stranger, org, path } = await team()
    await invite(owner, org, stranger.email)
    const to = ({ user_id }: Person) => ({ user_id })
    expectProblem(await ask(admin, 'POST', `${path}/transfer`, to(admin)), 403, 'forbidden')
    expectProblem(await ask(stranger, 'POST', `${path}/transfer`, to(stranger)), 404, 'not_found')
    expectProblem(await ask(owner, 'POST', `${path}/transfer`, to(stranger)), 409, 'conflict')
    expect((await ask(owner, 'POST', `${path}/transfer`, to(owner))).status).toBe(200)
    expect((await roles(org))[owner.user_id]).toBe('owner')

    const moved = await Promise.all([
      ask(owner, 'POST', `${path}/transfer`, to(member)),
      ask(owner, 'POST', `${path}/transfer`, to(admin)),
    ])
    expect(moved.map(({ status }) => status).sort()).toEqual([200, 403])
    expect(Object.values(await roles(org)).filter((role) => role === 'owner')).toHaveLength(1)
    expect((await roles(org))[owner.user_id]).toBe('admin')
    // What the former owner sent still holds: an admin may invite too.
    const pending = await ask(stranger, 'GET', '/invites')
    expect(parsed(pending, 200, Invites).invites).toHaveLength(1)
  })

  test('is deleted by its owner alone; what was shared is unshared and stays with its owner', async () => {
    const { owner, admin, member, org, path } = await team()
    const place = { lat: 41, lon: 29, org_id: org }
    const channel = { kind: 'webhook', target: 'https://hooks.example.com/in', org_id: org }
    for (const { key, user_id } of [owner, admin, member]) {
      const body = { ...place, label: user_id }
      expect((await service.request('POST', '/api/v1/zones', { key, body })).status).toBe(201)
    }
    for (const { key } of [owner, admin]) {
      const made = await service.request('POST', '/api/v1/channels', { key, body: channel })
      expect(made.status).toBe(201)
    }
    for (const who of [admin, member])
      expectProblem(await ask(who, 'DELETE', path), 403, 'forbidden')
    expect((await ask(owner, 'DELETE', path)).status).toBe(204)
    expectProblem(await ask(owner, 'GET', path), 404, 'not_found')
    for (const who of [owner, admin, member]) {
      const { body } = await service.request('GET', '/api/v1/zones', who)
      expect(body).toMatchObject({
        zones: [{ label: who.user_id, owner_id: who.user_id, org_id: null }],
      })
    }
    const channels = await service.request('GET', '/api/v1/channels', admin)
    expect(channels.body).toMatchObject({ channels: [{ owner_id: admin.user_id, org_id: null }] })
    const [told] = await service.database.query(
      `select action, actor_id from watchpost.audit where account_id = $1 and action = 'member.deleted'`,
      [member.user_id],
    )
    expect(told).toMatchObject({ actor_id: owner.user_id })
  })
})

describe('an invite', () => {
  test('is listed for its address in any case, accepted once, and makes a member', async () => {
    const { owner, org } = await team()
    const me = await service.signed({ plan: 'free' })
    const token = await invite(owner, org, me.email.toUpperCase(), 'admin')
    const { invites } = parsed(await ask(me, 'GET', '/invites'), 200, Invites)
    expect(invites).toMatchObject([
      { org: { id: org, name: 'A team' }, role: 'admin', invited_by: owner.email },
    ])
    const joined = parsed(await accept(me, token), 200, One)
    expect(joined.org).toMatchObject({ id: org, role: 'admin', members: 4 })
    expect(parsed(await ask(me, 'GET', '/invites'), 200, Invites).invites).toEqual([])
    expectProblem(await accept(me, token), 404, 'not_found')
    expect((await roles(org))[me.user_id]).toBe('admin')
    const [act] = await service.database.query(
      `select actor_id, details::text from watchpost.audit
      where account_id = $1 and action = 'member.updated'`,
      [owner.user_id],
    )
    expect(act).toMatchObject({ actor_id: me.user_id })
    expect(act?.details).not.toContain('invite_hash": [')
  })

  test('accepted by many requests at once makes one member', async () => {
    const { owner, org } = await team()
    const me = await service.signed()
    const token = await invite(owner, org, me.email)
    const answers = await Promise.all([1, 2, 3, 4].map(() => accept(me, token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
  })

  test('for another address is 403, and stays good for its own', async () => {
    const { owner, stranger, org } = await team()
    const me = await service.signed()
    const token = await invite(owner, org, me.email)
    const refused = await accept(stranger, token)
    expectProblem(refused, 403, 'forbidden')
    expect(refused.text).not.toContain(me.email)
    expect(parsed(await ask(stranger, 'GET', '/invites'), 200, Invites).invites).toEqual([])
    expect((await accept(me, token)).status).toBe(200)
  })

  test.each<
    [string, (given: { owner: Signed; admin: Signed; org: string; me: Signed }) => Promise<unknown>]
  >([
    [
      'older than seven days',
      ({ org }) =>
        service.database.query(
          `update watchpost.members set invite_expires_at = now() where org_id = $1 and status = 'invited'`,
          [org],
        ),
    ],
    ['replaced by a newer one', ({ owner, org, me }) => invite(owner, org, me.email)],
    [
      'withdrawn',
      async ({ owner, org, me }) => {
        const { invites } = parsed(await ask(me, 'GET', '/invites'), 200, Invites)
        await service.request('DELETE', `/api/v1/orgs/${org}/members/${invites[0]?.id}`, owner)
      },
    ],
    [
      'whose sender is no admin any more',
      ({ owner, admin, org }) =>
        service.request('PATCH', `/api/v1/orgs/${org}/members/${admin.user_id}`, {
          key: owner.key,
          body: { role: 'member' },
        }),
    ],
    [
      'whose sender was an admin, was none, and is one again',
      async ({ owner, admin, org }) => {
        for (const role of ['member', 'admin']) {
          await service.request('PATCH', `/api/v1/orgs/${org}/members/${admin.user_id}`, {
            key: owner.key,
            body: { role },
          })
        }
      },
    ],
    ['whose sender has left', ({ admin, org }) => ask(admin, 'POST', `/orgs/${org}/leave`)],
    [
      'whose sender was removed',
      ({ owner, admin, org }) =>
        service.request('DELETE', `/api/v1/orgs/${org}/members/${admin.user_id}`, owner),
    ],
    [
      'whose sender deleted their account',
      ({ admin }) => ask(admin, 'DELETE', '', { confirm: admin.email }),
    ],
    ['to an organisation that is gone', ({ owner, org }) => ask(owner, 'DELETE', `/orgs/${org}`)],
  ])('%s is 404, in the same bytes as one there never was', async (_, end) => {
    const { owner, admin, org } = await team()
    const me = await service.signed()
    const token = await invite(admin, org, me.email)
    await end({ owner, admin, org, me })
    const [refused, unknown] = [await accept(me, token), await accept(me, 'never-made')]
    expectProblem(refused, 404, 'not_found')
    const bytes = [refused, unknown].map(({ text, headers }) =>
      text.replaceAll(headers.get('X-Request-Id') ?? '', ''),
    )
    expect(bytes[0]).toBe(bytes[1])
    expect(await roles(org)).not.toHaveProperty(me.user_id)
  })

  test('answers 409 to somebody who already joined under another address', async () => {
    const { owner, member, org } = await team()
    const before = member.email
    await service.database.query('update auth.users set email = $2 where id = $1', [
      member.user_id,
      `new-${before}`,
    ])
    const token = await invite(owner, org, `new-${before}`)
    expectProblem(await accept(member, token), 409, 'conflict')
  })

  test.each([{}, { token: '' }, { token: 3 }, { token: 'x', org: 'y' }])(
    '%j is 422',
    async (body) => {
      expectProblem(
        await ask(await service.signed(), 'POST', '/invites/accept', body),
        422,
        'invalid',
      )
    },
  )
})

test.each([
  ['GET', '/keys/', 'key', undefined],
  ['DELETE', '/keys/', 'key', undefined],
  ['GET', '/orgs/', 'organisation', undefined],
  ['PATCH', '/orgs/', 'organisation', { name: 'Another' }],
  ['DELETE', '/orgs/', 'organisation', undefined],
])('%s %s of what is not there says what there is not: %s', async (method, path, thing, body) => {
  const me = await service.signed()
  const answer = await ask(me, method, path + crypto.randomUUID(), body)
  expectProblem(answer, 404, 'not_found')
  expect(answer.body).toMatchObject({ detail: `There is no such ${thing}, or it is not yours.` })
})
