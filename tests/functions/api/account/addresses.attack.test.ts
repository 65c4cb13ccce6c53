import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenHash } from '../../../../shared/token.ts'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import { ACCOUNT, Invited, ZONES, zone } from '../../../support/people.ts'
import { createService, parsed, type Service, tokenOfInvite } from '../../../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

async function count(statement: string, ...values: unknown[]): Promise<number> {
  const [row] = await service.database.query<{ n: number }>(
    `select count(*)::int as n from ${statement}`,
    values,
  )
  return row?.n ?? -1
}

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

  test('may belong to two accounts, and neither sees the other’s things', async () => {
    const me = await service.signed()
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

  test('keeps its invite when another account with the same address is deleted', async () => {
    const owner = await service.signed()
    const org = await service.organisation(owner)
    const me = await service.signed()
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

  test('that is not confirmed sees and accepts no invite, and deleting its account leaves the invite', async () => {
    const owner = await service.signed()
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
