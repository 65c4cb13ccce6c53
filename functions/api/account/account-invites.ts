import { z } from 'zod'
import { notFound } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource, respond } from '../../../shared/route.ts'
import { Invite, InviteAccept, Org } from '../../../shared/schemas/account.ts'
import { tokenHash } from '../../../shared/token.ts'
import { signedIn } from '../../auth.ts'
import type { Env } from '../../context.ts'
import { sessionProblems } from '../../http.ts'
import { read, write } from '../../transaction.ts'
import { findOrg } from './account-orgs.ts'

const List = z.object({ invites: z.array(Invite) })
const Joined = z.object({ org: Org })
const security = [{ session: [] }]

export const accountInvites = resource<Env>()

accountInvites.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'listInvites',
    tags: ['Organisations'],
    summary: 'List the invites to the caller’s address that can still be accepted, newest first',
    security,
    middleware: signedIn('read'),
    responses: { 200: jsonResponse(List, 'The complete list.'), ...sessionProblems() },
  }),
  async (c) => {
    const invites = await read(
      c,
      (sql) => sql<z.infer<typeof Invite>>`
        select id, jsonb_build_object('id', org_id, 'name', org_name) as org, email, role, invited_by,
          expires_at, created_at
        from private.my_invites()`,
    )
    return respond(c, List, { invites }, 200)
  },
)

accountInvites.openapi(
  createRoute({
    method: 'post',
    path: '/accept',
    operationId: 'acceptInvite',
    tags: ['Organisations'],
    summary: 'Join an organisation, with the token of an invite link or the id of an invite',
    description:
      'An invite works once, for seven days, and only for the address it was sent to. It becomes void when the ' +
      'inviter leaves or loses the role, and when a newer invite is sent.',
    security,
    middleware: signedIn('write'),
    request: { body: jsonBody(InviteAccept) },
    responses: {
      200: jsonResponse(Joined, 'The organisation joined.'),
      ...sessionProblems(404, 409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { token, id = null } = c.req.valid('json')
    const hash = token === undefined ? null : await tokenHash(token)
    const org = await write(c, async (sql, last) => {
      const [joined] = await sql<{ id: string }>`select private.accept_invite(${hash}, ${id}) as id`
      return joined && (await last(findOrg(sql, joined.id)))
    })
    if (!org) throw notFound('invite')
    return respond(c, Joined, { org }, 200)
  },
)
