import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import { ACCOUNT, Invited, SHUT, statuses, WORKS, ZONES, zone } from '../../../support/people.ts'
import {
  createService,
  parsed,
  type Service,
  type Signed,
  tokenOfInvite,
} from '../../../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

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
    const [owner, fellow] = [await service.signed(), await service.signed()]
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
  ])('cannot be changed for good by a session that %s', async (_, claimed, stored) => {
    const me = await service.signed()
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
  ])('allows all of it %s', async (_, status, aal) => {
    const me = await service.signed()
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
  test('can be deleted only by a session that showed the second factor', async () => {
    const me = await service.signed()
    await factor(me)
    const body = { confirm: me.email }
    const refused = await service.request('DELETE', ACCOUNT, { key: me.token, body })
    expectProblem(refused, 403, 'second_factor_required')
    expect(await statuses(service, me)).toEqual(WORKS)
    const strong = await service.session(me, { claims: { aal: 'aal2' } })
    expect((await service.request('DELETE', ACCOUNT, { key: strong, body })).status).toBe(204)
    expect(await statuses(service, me)).toEqual(SHUT)
  })
})
