import { z } from 'zod'
import { ApiError, invalid, notFound } from '../../shared/problem.ts'
import {
  createRoute,
  jsonBody,
  jsonResponse,
  pathId,
  resource,
  respond,
} from '../../shared/route.ts'
import {
  MEMBER_READ_ONLY,
  Member,
  MemberInvite,
  MemberPatch,
} from '../../shared/schemas/organisation.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { generateToken, tokenHash } from '../../shared/token.ts'
import { can } from '../auth.ts'
import type { Env } from '../context.ts'
import { problems } from '../http.ts'
import { IdempotencyHeader, idempotent } from '../idempotency.ts'
import { read, write } from '../transaction.ts'
import { LostWarnings, PassedOn, type Removal, tellRemoval } from './account/removal.ts'
import { requireReadOnly } from './whole-thing.ts'

export const INVITE_DAYS = 7

const OrgId = z.object({
  id: pathId('The id of an organisation; see GET /me.'),
})
const MemberId = OrgId.extend({
  userId: pathId('The `user_id` or the `id` of a member.'),
})
const List = z.object({ members: z.array(Member) })
const One = z.object({ member: Member })
const Invited = One.extend({
  invite_url: z
    .string()
    .nullable()
    .meta({
      description: `A link to a page that says how to accept. It works for this address, once, for ${INVITE_DAYS} days, and is shown only in this answer.`,
      example: 'https://watchpost.example/invite#3q2-7w…',
    }),
})
const Removed = One.extend({ passed_on: PassedOn, warnings: LostWarnings })

const columns = raw('m.id, m.user_id, m.email, m.role, m.status, m.joined_at, m.invite_expires_at')

export const orgs = resource<Env>()

orgs.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/members',
    operationId: 'listMembers',
    tags: ['Organisations'],
    summary: 'List the members and invites of an organisation, the owner first',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: OrgId },
    responses: { 200: jsonResponse(List, 'The complete list.'), ...problems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const members = await read(
      c,
      (sql) => sql<Member>`
        select ${columns}
        from watchpost.members m
        where m.org_id = ${id}
        order by m.role = 'owner' desc, m.status, m.created_at, m.id`,
    )
    // A member would see at least themselves.
    if (members.length === 0) throw notFound('organisation')
    return respond(c, List, { members }, 200)
  },
)

orgs.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/members/{userId}',
    operationId: 'getMember',
    tags: ['Organisations'],
    summary: 'Get a member or an invite',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: MemberId },
    responses: { 200: jsonResponse(One, 'The member.'), ...problems(404) },
  }),
  async (c) => {
    const { id, userId } = c.req.valid('param')
    const member = await read(c, (sql) => find(sql, id, userId))
    if (!member) throw notFound('member')
    return respond(c, One, { member }, 200)
  },
)

orgs.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/members',
    operationId: 'inviteMember',
    tags: ['Organisations'],
    summary: 'Invite an email address; a new invite to the same address voids the previous one',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: OrgId, headers: IdempotencyHeader, body: jsonBody(MemberInvite) },
    responses: {
      201: jsonResponse(
        Invited,
        'The invite and its link. Watchpost sends no mail, so pass the link on yourself.',
      ),
      ...problems(404, 409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { email, role = 'member' } = c.req.valid('json')
    const token = generateToken()
    const hash = await tokenHash(token)
    const { thing, status, replayed } = await idempotent(c, {
      create: async (sql) => {
        const [known] = await Promise.all([
          sql<Member>`
            select ${columns}
            from watchpost.members m
            where m.org_id = ${id} and lower(m.email) = lower(${email})
            order by m.status`,
          requireManager(sql, id),
        ])
        if (known[0]?.status === 'active') {
          throw new ApiError(
            'conflict',
            `${email} is already a member. Change the role with PATCH.`,
          )
        }
        const [member] = known[0]
          ? await sql<Member>`
              update watchpost.members m
              set role = ${role}, invited_by = private.uid(), invite_hash = ${hash},
                  invite_expires_at = now() + make_interval(days => ${INVITE_DAYS})
              where m.id = ${known[0].id} and m.status = 'invited'
              returning ${columns}`
          : await sql<Member>`
              insert into watchpost.members as m (org_id, email, role, invited_by, invite_hash, invite_expires_at)
              values (${id}, ${email}, ${role}, private.uid(), ${hash},
                now() + make_interval(days => ${INVITE_DAYS}))
              returning ${columns}`
        if (!member) throw new ApiError('conflict', `${email} has just accepted an invite.`)
        return member
      },
      replay: (sql, memberId) => find(sql, id, memberId),
    })
    return respond(
      c,
      Invited,
      {
        member: thing,
        invite_url: replayed ? null : `${c.get('deps').public_url}/invite#${token}`,
      },
      status,
      { Location: `/api/v1/orgs/${id}/members/${thing.id}` },
    )
  },
)

orgs.openapi(
  createRoute({
    method: 'patch',
    path: '/{id}/members/{userId}',
    operationId: 'updateMember',
    tags: ['Organisations'],
    summary: 'Change the role of a member or an invite',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: MemberId, body: jsonBody(MemberPatch) },
    responses: { 200: jsonResponse(One, 'The member.'), ...problems(404, 409, 413, 415, 422) },
  }),
  async (c) => {
    const { id, userId } = c.req.valid('param')
    const patch = c.req.valid('json')
    const member = await write(c, async (sql, last) => {
      const found = await findAsManager(sql, id, userId)
      requireReadOnly(patch, found, MEMBER_READ_ONLY)
      const { role = found.role } = patch
      if (role === found.role) return found
      requireOther(found)
      if (role === 'owner') {
        const message = 'Ownership moves only by POST /account/orgs/{id}/transfer.'
        throw invalid([{ path: 'role', code: 'not_given', message }])
      }
      const updated = sql<Member>`
        update watchpost.members m
        set role = ${role}
        where m.id = ${found.id}
        returning ${columns}`
      const [changed] = await last(updated)
      return changed
    })
    if (!member) throw notFound('member')
    return respond(c, One, { member }, 200)
  },
)

orgs.openapi(
  createRoute({
    method: 'delete',
    path: '/{id}/members/{userId}',
    operationId: 'removeMember',
    tags: ['Organisations'],
    summary: 'Remove a member or void an invite; what the member shared passes to the owner',
    description:
      'Their private channels stay with them: a zone that chose one goes on without it, and one that loses all it chose ' +
      'sends to every enabled channel of the owner and the organisation. `warnings` names these zones.',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: MemberId },
    responses: {
      200: jsonResponse(Removed, 'The removed member, and what passed to the owner.'),
      ...problems(404, 409),
    },
  }),
  async (c) => {
    const { id, userId } = c.req.valid('param')
    const removed = await write(c, async (sql, last) => {
      const member = await findAsManager(sql, id, userId)
      requireOther(member)
      const [row] = await last(sql<{ removed: Removal | null }>`
        select private.remove_member(${member.id}) as removed`)
      if (!row?.removed) throw notFound('member')
      return { member, ...tellRemoval(row.removed) }
    })
    return respond(c, Removed, removed, 200)
  },
)

async function find(sql: Sql, orgId: string, userId: string): Promise<Member | undefined> {
  const [member] = await sql<Member>`
    select ${columns}
    from watchpost.members m
    where m.org_id = ${orgId} and (m.user_id = ${userId} or m.id = ${userId})`
  return member
}

/** The member, if the caller manages the organisation. Throws 404, then 403. */
async function findAsManager(sql: Sql, orgId: string, userId: string): Promise<Member> {
  const [member] = await Promise.all([find(sql, orgId, userId), requireManager(sql, orgId)])
  if (!member) throw notFound('member')
  return member
}

/** Throws 409 for the owner. */
function requireOther({ role }: Member): void {
  if (role === 'owner') {
    throw new ApiError(
      'owner_protected',
      'The owner cannot be changed or removed. Transfer the ownership first.',
    )
  }
}

/** Requires the caller to be the owner or an admin. Throws 404 for a stranger and 403 for a member. */
async function requireManager(sql: Sql, orgId: string): Promise<void> {
  const [mine] = await sql<Pick<Member, 'role'>>`
    select role
    from watchpost.members
    where org_id = ${orgId} and user_id = private.uid()`
  if (!mine) throw notFound('organisation')
  if (mine.role === 'member') {
    throw new ApiError(
      'forbidden',
      'Only the owner and the admins can manage members. Ask one of them.',
    )
  }
}
