import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Member } from '../../../shared/schemas/organisation.ts'
import { tokenHash } from '../../../shared/token.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import {
  createService,
  type Person,
  PUBLIC_URL,
  parsed,
  type Service,
  tokenOfInvite,
} from '../../support/service.ts'

const List = z.object({ members: z.array(Member) })
const One = z.strictObject({ member: Member })
const Invited = z.strictObject({ member: Member, invite_url: z.string() })

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service.close())

/** An organisation with one of each role, and a stranger. */
async function team() {
  const [owner, admin, member, stranger] = await Promise.all([
    service.person(),
    service.person(),
    service.person(),
    service.person(),
  ])
  const org = await service.organisation(owner, [admin, 'admin'], [member, 'member'])
  return { owner, admin, member, stranger, org, path: `/api/v1/orgs/${org}/members` }
}

function invite(person: Person, path: string, body: unknown) {
  return service.request('POST', path, { key: person.key, body })
}

describe('listing members', () => {
  test('every member sees all of them, the owner first and invites last', async () => {
    const { owner, admin, member, path } = await team()
    await invite(owner, path, { email: 'new@watchpost.test' })
    for (const person of [owner, admin, member]) {
      const { members } = parsed(await service.request('GET', path, person), 200, List)
      expect(members.map(({ email, role, status }) => [email, role, status])).toEqual([
        [owner.email, 'owner', 'active'],
        [admin.email, 'admin', 'active'],
        [member.email, 'member', 'active'],
        ['new@watchpost.test', 'member', 'invited'],
      ])
      expect(members[3]).toMatchObject({ user_id: null, joined_at: null })
    }
  })

  test('a member is found by user id and by member id', async () => {
    const { admin, member, path } = await team()
    const byUser = await service.request('GET', `${path}/${member.user_id}`, admin)
    const found = parsed(byUser, 200, One).member
    expect(found).toMatchObject({ user_id: member.user_id, role: 'member', status: 'active' })
    const byId = await service.request('GET', `${path}/${found.id}`, admin)
    expect(parsed(byId, 200, One).member).toEqual(found)
  })

  test('a member of another organisation of the caller is not one of this', async () => {
    const { owner, path } = await team()
    const other = await service.person()
    await service.organisation(owner, [other, 'member'])
    const address = `${path}/${other.user_id}`
    const body = { role: 'admin' }
    for (const [method, options] of [['GET'], ['PATCH', { body }], ['DELETE']] as const) {
      const answer = await service.request(method, address, { key: owner.key, ...options })
      expectProblem(answer, 404, 'not_found')
    }
  })
})

describe('inviting', () => {
  test('owner and admin get a link of which only the hash is stored', async () => {
    const { owner, admin, path } = await team()
    for (const [person, role] of [
      [owner, 'admin'],
      [admin, undefined],
    ] as const) {
      const email = `${role ?? 'default'}@watchpost.test`
      const answer = await invite(person, path, { email, role })
      const { member, invite_url } = parsed(answer, 201, Invited)
      expect(member).toMatchObject({ email, role: role ?? 'member', status: 'invited' })
      const location = answer.headers.get('Location') ?? ''
      const there = await service.request('GET', location, person)
      expect(parsed(there, 200, One).member).toEqual(member)
      const token = tokenOfInvite(invite_url)
      expect(invite_url).toBe(`${PUBLIC_URL}/invite#${token}`)
      expect(token).toMatch(/^[\w-]{43}$/)
      const [row] = await service.database.query<{ invite_hash: Buffer }>(
        `select invite_hash, invited_by,
          round(extract(epoch from invite_expires_at - now()) / 86400)::integer as days
        from watchpost.members where id = $1`,
        [member.id],
      )
      expect(row).toMatchObject({ invited_by: person.user_id, days: 7 })
      expect(row?.invite_hash.equals(await tokenHash(token))).toBe(true)
    }
  })

  test('a new invite to the same address, in any case, voids the one before', async () => {
    const { owner, admin, path } = await team()
    const first = parsed(await invite(owner, path, { email: 'New@watchpost.test' }), 201, Invited)
    const body = { email: 'new@watchpost.test', role: 'admin' }
    const second = parsed(await invite(admin, path, body), 201, Invited)
    expect(second.member).toMatchObject({ id: first.member.id, role: 'admin' })
    expect(second.invite_url).not.toBe(first.invite_url)
    // Whoever sent it last answers for it.
    const [{ invited_by } = {}] = await service.database.query(
      'select invited_by from watchpost.members where id = $1',
      [second.member.id],
    )
    expect(invited_by).toBe(admin.user_id)
    const token = tokenOfInvite(first.invite_url)
    const rows = await service.database.query(
      'select from watchpost.members where invite_hash = $1',
      [await tokenHash(token)],
    )
    expect(rows).toEqual([])
  })

  test('sent twice with one Idempotency-Key shows its link once', async () => {
    const { owner, path } = await team()
    const send = () =>
      service.request('POST', path, {
        key: owner.key,
        body: { email: 'once@watchpost.test' },
        headers: { 'Idempotency-Key': 'once' },
      })
    const first = parsed(await send(), 201, Invited)
    expect((await send()).body).toEqual({ ...first, invite_url: null })
  })

  test('answers 409 to somebody who is already a member', async () => {
    const { owner, member, path } = await team()
    const answer = await invite(owner, path, { email: member.email.toUpperCase() })
    expectProblem(answer, 409, 'conflict')
  })

  test('a plain member may not: 403, and nobody is invited', async () => {
    const { member, path } = await team()
    expectProblem(await invite(member, path, { email: 'a@watchpost.test' }), 403, 'forbidden')
    const { members } = parsed(await service.request('GET', path, member), 200, List)
    expect(members).toHaveLength(3)
  })

  test.each([
    [{}, 'email'],
    [{ email: 'nobody' }, 'email'],
    [{ email: 'a@watchpost.test', role: 'owner' }, 'role'],
    [{ email: `${'a'.repeat(250)}@watchpost.test` }, 'email'],
  ])('%o is 422', async (body, field) => {
    const { owner, path } = await team()
    const answer = await invite(owner, path, body)
    expectProblem(answer, 422, 'invalid')
    expect(answer.body).toMatchObject({ errors: [{ path: field }] })
  })

  test('more members than the owner’s plan allows are 409', async () => {
    const { owner, org, path } = await team()
    await service.database.query(
      `insert into watchpost.members (org_id, email, role, invite_hash)
      select $1, n || '@watchpost.test', 'member', sha256(n::text::bytea) from generate_series(1, 47) n`,
      [org],
    )
    expectProblem(await invite(owner, path, { email: 'one@watchpost.test' }), 409, 'limit_reached')
  })
})

describe('changing a role', () => {
  const patch = (person: Person, path: string, role: string) =>
    service.request('PATCH', path, { key: person.key, body: { role } })

  test('to owner is refused with the way to it, and to the same role changes nothing', async () => {
    const { owner, member, path } = await team()
    const refused = await patch(owner, `${path}/${member.user_id}`, 'owner')
    expectProblem(refused, 422, 'invalid')
    expect(refused.body).toMatchObject({
      errors: [
        {
          ...{ path: 'role', code: 'not_given' },
          message: 'Ownership moves only by POST /account/orgs/{id}/transfer.',
        },
      ],
    })
    // Whoever sends the whole of the owner back changes nothing either.
    const same = await patch(owner, `${path}/${owner.user_id}`, 'owner')
    expect(parsed(same, 200, One).member).toMatchObject({ user_id: owner.user_id, role: 'owner' })
  })

  test('owner and admin change it, and it counts at once', async () => {
    const { owner, member, path } = await team()
    const answer = await patch(owner, `${path}/${member.user_id}`, 'admin')
    expect(parsed(answer, 200, One).member).toMatchObject({ role: 'admin' })
    expect((await invite(member, path, { email: 'x@watchpost.test' })).status).toBe(201)
    await patch(owner, `${path}/${member.user_id}`, 'member')
    expectProblem(await invite(member, path, { email: 'y@watchpost.test' }), 403, 'forbidden')
  })

  test('the owner’s row is protected, from admins and from the owner', async () => {
    const { owner, admin, path } = await team()
    for (const person of [owner, admin]) {
      const address = `${path}/${owner.user_id}`
      expectProblem(await patch(person, address, 'member'), 409, 'owner_protected')
      expectProblem(await service.request('DELETE', address, person), 409, 'owner_protected')
    }
    const { members } = parsed(await service.request('GET', path, owner), 200, List)
    expect(members[0]).toMatchObject({ user_id: owner.user_id, role: 'owner' })
  })

  test('a plain member is 403, of the owner’s row too; a stranger 404', async () => {
    const { owner, member, admin, stranger, path } = await team()
    for (const { user_id } of [owner, admin, member]) {
      expectProblem(await patch(member, `${path}/${user_id}`, 'admin'), 403, 'forbidden')
      expectProblem(await patch(stranger, `${path}/${user_id}`, 'admin'), 404, 'not_found')
    }
  })

  test('cannot make anybody the owner', async () => {
    const { owner, admin, path } = await team()
    expectProblem(await patch(owner, `${path}/${admin.user_id}`, 'owner'), 422, 'invalid')
  })
})

describe('removing a member', () => {
  const Removed = One.extend({ passed_on: z.object({ zones: z.int(), channels: z.int() }) })

  test('what they shared passes to the owner, what they kept stays theirs', async () => {
    const { owner, admin, org, path } = await team()
    const channel = { kind: 'webhook', target: 'https://hooks.example.com/in' }
    const zone = { label: 'A place', lat: 41, lon: 29 }
    for (const [resource, body] of [
      ['channels', { ...channel, org_id: org }],
      ['channels', channel],
      ['zones', { ...zone, org_id: org }],
      ['zones', { ...zone, org_id: org }],
      ['zones', zone],
    ] as const) {
      const made = await service.request('POST', `/api/v1/${resource}`, { key: admin.key, body })
      expect(made.status).toBe(201)
    }
    const answer = await service.request('DELETE', `${path}/${admin.user_id}`, owner)
    const removed = parsed(answer, 200, Removed)
    expect(removed.member).toMatchObject({ user_id: admin.user_id, role: 'admin' })
    expect(removed.passed_on).toEqual({ zones: 2, channels: 1 })
    const owners = await service.database.query(
      `select owner_id, count(*)::integer from (
        select owner_id, org_id from watchpost.zones union all
        select owner_id, org_id from watchpost.channels) x
      where org_id = $1 group by 1`,
      [org],
    )
    expect(owners).toEqual([{ owner_id: owner.user_id, count: 3 }])
    const left = await service.request('GET', '/api/v1/zones', admin)
    expect(left.body).toMatchObject({ zones: [{ owner_id: admin.user_id, org_id: null }] })
    expectProblem(await service.request('GET', path, admin), 404, 'not_found')
  })

  test('an invite is voided by its id', async () => {
    const { owner, path } = await team()
    const made = parsed(await invite(owner, path, { email: 'x@watchpost.test' }), 201, Invited)
    const answer = await service.request('DELETE', `${path}/${made.member.id}`, owner)
    expect(parsed(answer, 200, Removed)).toEqual({
      member: made.member,
      passed_on: { zones: 0, channels: 0 },
    })
    const again = await service.request('DELETE', `${path}/${made.member.id}`, owner)
    expectProblem(again, 404, 'not_found')
  })

  test('an admin may leave', async () => {
    const { admin, path } = await team()
    const gone = await service.request('DELETE', `${path}/${admin.user_id}`, admin)
    expect(gone.status).toBe(200)
    expectProblem(await service.request('GET', path, admin), 404, 'not_found')
  })

  test('a plain member removes nobody', async () => {
    const { admin, member, path } = await team()
    const refused = await service.request('DELETE', `${path}/${admin.user_id}`, member)
    expectProblem(refused, 403, 'forbidden')
    const { members } = parsed(await service.request('GET', path, admin), 200, List)
    expect(members).toHaveLength(3)
  })
})
