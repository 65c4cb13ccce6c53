import { z } from 'zod'
import { ApiError } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { endSessionsOf } from '../../auth/sessions.ts'
import { ROLES } from '../../db/actor.ts'
import { everywhere } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import { bilingual } from '../../i18n/words.ts'
import { membersText } from '../../members/members.text.ts'
import {
  changeMember,
  invite,
  type Linked,
  listMembers,
  Member,
  MemberName,
  removeMember,
  renewLink,
  withdrawLink,
} from '../../members/members.ts'

const say = bilingual(membersText)

const All = z.object({ members: z.array(Member) })
const One = z.object({ member: Member })
const WithLink = z.object({
  member: Member,
  link: z.string().meta({
    description: 'Send it to that person. It works once, for 7 days, and is not shown again.',
  }),
})
const Ref = { id: z.uuid().meta({ description: 'The id of a member.' }) }

/** The people of the hub beside its single admin. */
export const members = resource<Env>()

members.openapi(
  createRoute({
    method: 'get',
    path: '/members',
    operationId: 'listMembers',
    tags: ['Members'],
    summary: 'List the members',
    description:
      'The admin of the set-up is not among them: it signs in without an e-mail and always stays.',
    responses: { 200: jsonResponse(All, 'Removed ones come last.'), ...problems() },
  }),
  async (c) => answer(c, All, { members: await everywhere(c.get('deps').db, listMembers) }, 200),
)

members.openapi(
  createRoute({
    method: 'post',
    path: '/members',
    operationId: 'inviteMember',
    tags: ['Members'],
    summary: 'Invite a person',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          email: z.string().min(3).max(320),
          name: MemberName.nullable().default(null),
          role: z.enum(ROLES),
        }),
      ),
    },
    responses: {
      201: jsonResponse(WithLink, 'Invited.'),
      ...problems(409, 422),
    },
  }),
  async (c) => {
    const given = c.req.valid('json')
    const made = await everywhere(c.get('deps').db, (sql) => invite(sql, given))
    const Location = '/api/cockpit/settings/members'
    return answer(c, WithLink, linked(c, made), 201, { Location })
  },
)

members.openapi(
  createRoute({
    method: 'post',
    path: '/members/link',
    operationId: 'renewMemberLink',
    tags: ['Members'],
    summary: 'Make a new link for a member to set a password',
    description:
      'An older link no longer works. For somebody who has joined, the password and all sessions end at once.',
    middleware: write,
    request: { body: jsonBody(z.strictObject(Ref)) },
    responses: { 200: jsonResponse(WithLink, 'The new link.'), ...problems(404, 409, 422) },
  }),
  async (c) => {
    const { id } = notYourself(c, c.req.valid('json'))
    const { db, config } = c.get('deps')
    const made = await everywhere(db, (sql) => renewLink(sql, id))
    await endSessionsOf(config.paths, id)
    return answer(c, WithLink, linked(c, made), 200)
  },
)

members.openapi(
  createRoute({
    method: 'post',
    path: '/members/withdraw',
    operationId: 'withdrawMemberLink',
    tags: ['Members'],
    summary: 'Withdraw the open link of a member',
    description: 'Somebody who has not joined yet is no longer invited then.',
    middleware: write,
    request: { body: jsonBody(z.strictObject(Ref)) },
    responses: { 200: jsonResponse(One, 'Withdrawn.'), ...problems(404, 409, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('json')
    const member = await everywhere(c.get('deps').db, (sql) => withdrawLink(sql, id))
    return answer(c, One, { member }, 200)
  },
)

members.openapi(
  createRoute({
    method: 'post',
    path: '/members/change',
    operationId: 'changeMember',
    tags: ['Members'],
    summary: 'Change the name or the role of a member',
    description: 'A new role counts from the next request on.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({ ...Ref, name: MemberName.optional(), role: z.enum(ROLES).optional() }),
      ),
    },
    responses: { 200: jsonResponse(One, 'Changed.'), ...problems(404, 409, 422) },
  }),
  async (c) => {
    const change = c.req.valid('json')
    if (change.role !== undefined) notYourself(c, change)
    const member = await everywhere(c.get('deps').db, (sql) => changeMember(sql, change))
    return answer(c, One, { member }, 200)
  },
)

members.openapi(
  createRoute({
    method: 'post',
    path: '/members/remove',
    operationId: 'removeMember',
    tags: ['Members'],
    summary: 'Remove a member',
    description: 'Their sessions end at once. What they did stays, with their name.',
    middleware: write,
    request: { body: jsonBody(z.strictObject(Ref)) },
    responses: { 200: jsonResponse(One, 'Removed.'), ...problems(404, 409, 422) },
  }),
  async (c) => {
    const { id } = notYourself(c, c.req.valid('json'))
    const { db, config } = c.get('deps')
    const member = await everywhere(db, (sql) => removeMember(sql, id))
    await endSessionsOf(config.paths, id)
    return answer(c, One, { member }, 200)
  },
)

/** Nobody locks themself out, or takes their own role away, by mistake. */
function notYourself<T extends { id: string }>(c: Ctx, given: T): T {
  const actor = c.get('actor')
  if (actor?.kind === 'member' && actor.id === given.id) {
    throw new ApiError('conflict', say.yourself)
  }
  return given
}

/** The secret stands behind the #, so that it is in no log of a server. */
function linked(c: Ctx, { member, secret }: Linked) {
  const scheme = c.req.header('x-forwarded-proto') === 'https' ? 'https' : 'http'
  const host = c.req.header('host') ?? new URL(c.req.url).host
  return { member, link: `${scheme}://${host}/hub/join#${secret}` }
}
