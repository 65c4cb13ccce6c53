import { z } from 'zod'
import { Invite, InviteAccept, Org } from '../../shared/account.ts'
import { notFound } from '../../shared/problem.ts'
import { answer, body, createRoute, json, resource } from '../../shared/route.ts'
import { tokenHash } from '../../shared/token.ts'
import { signedIn } from '../auth.ts'
import type { Env } from '../context.ts'
import { personProblems } from '../http.ts'
import { read, write } from '../transaction.ts'
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
    summary: 'Invites to the caller’s address that can still be accepted, newest first',
    security,
    middleware: signedIn('read'),
    responses: { 200: json(List, 'All of them.'), ...personProblems() },
  }),
  async (c) => {
    const invites = await read(
      c,
      (sql) => sql<z.infer<typeof Invite>>`
        select id, jsonb_build_object('id', org_id, 'name', org_name) as org, email, role, invited_by,
          expires_at, created_at
        from private.my_invites()`,
    )
    return answer(c, List, { invites }, 200)
  },
)

accountInvites.openapi(
  createRoute({
    method: 'post',
    path: '/accept',
    operationId: 'acceptInvite',
    tags: ['Organisations'],
    summary: 'Join an organisation with the token of an invite link',
    description:
      'A token works once, for seven days, and for the address it was sent to. It is void when whoever ' +
      'invited has left or lost the role, and when a newer invite was sent.',
    security,
    middleware: signedIn('write'),
    request: { body: body(InviteAccept) },
    responses: {
      200: json(Joined, 'The organisation joined.'),
      ...personProblems(404, 409, 413, 415, 422),
    },
  }),
  async (c) => {
    const hash = await tokenHash(c.req.valid('json').token)
    const org = await write(c, async (sql, last) => {
      const [joined] = await sql<{ id: string }>`select private.accept_invite(${hash}) as id`
      return joined && (await last(findOrg(sql, joined.id)))
    })
    if (!org) throw notFound('invite')
    return answer(c, Joined, { org }, 200)
  },
)
