import { z } from 'zod'
import { ApiError } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { hashPassword, Password } from '../../auth/auth.ts'
import { addressOf } from '../../auth/caller.ts'
import { endSessionsOf, rememberDevice, startSession } from '../../auth/sessions.ts'
import { ROLES } from '../../db/actor.ts'
import { everywhere, readOnlyKey } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems } from '../../http/http.ts'
import { bilingual } from '../../i18n/words.ts'
import { membersText } from '../../members/members.text.ts'
import { acceptLink, MemberName, memberOfLink } from '../../members/members.ts'

const say = bilingual(membersText)
const Done = z.object({ ok: z.literal(true) })
const Secret = z
  .string()
  .min(1)
  .max(200)
  .meta({ description: 'What stands behind the # of the link.' })
const Invitation = z
  .object({ email: z.string(), name: z.string().nullable(), role: z.enum(ROLES) })
  .meta({ id: 'Invitation' })

/** The page behind an invitation: no session is needed, the link is the proof. */
export const join = resource<Env>()

join.openapi(
  createRoute({
    method: 'post',
    path: '/invitation/look',
    operationId: 'lookAtInvitation',
    tags: ['Access'],
    summary: 'Whom a link invites',
    security: [],
    request: { body: jsonBody(z.strictObject({ secret: Secret })) },
    responses: { 200: jsonResponse(Invitation, 'The link works.'), ...problems(404, 422, 429) },
  }),
  async (c) => answer(c, Invitation, await linkOf(c, c.req.valid('json').secret), 200),
)

join.openapi(
  createRoute({
    method: 'post',
    path: '/invitation/accept',
    operationId: 'acceptInvitation',
    tags: ['Access'],
    summary: 'Set name and password with a link, and sign in',
    description: 'The link works once. All sessions of the member end before the new one begins.',
    security: [],
    request: {
      body: jsonBody(z.strictObject({ secret: Secret, name: MemberName, password: Password })),
    },
    responses: { 200: jsonResponse(Done, 'Signed in.'), ...problems(404, 422, 429) },
  }),
  async (c) => {
    const { secret, name, password } = c.req.valid('json')
    await linkOf(c, secret)
    const { attempts, root_db, config, key_role } = c.get('deps')
    if (key_role !== 'hub_rw') throw readOnlyKey()
    const password_hash = await attempts.alone(() => hashPassword(password))
    const member = await everywhere(root_db, (sql) =>
      acceptLink(sql, { secret, name, password_hash }),
    )
    if (!member) throw new ApiError('not_found', say.bad_link)
    await endSessionsOf(config.paths, member.id)
    const actor = { kind: 'member' as const, id: member.id, name: member.name }
    await c.get('deps').audit.add({
      ...{ actor, action: 'acceptInvitation', area: 'Access', project: null, target: null },
      ...{ fields: [], outcome: 'done', count: 1, address: addressOf(c) },
    })
    await startSession(c, member)
    rememberDevice(c, { id: member.id, password_hash })
    return answer(c, Done, { ok: true }, 200)
  },
)

/** Throws 404 for a link that does not work, and 429 for an address that tries many. */
async function linkOf(c: Ctx, secret: string) {
  const { attempts, root_db } = c.get('deps')
  const member = await everywhere(root_db, (sql) => memberOfLink(sql, secret))
  if (member) return { email: member.email, name: member.name, role: member.role }
  attempts.wrong('link', addressOf(c))
  throw new ApiError('not_found', say.bad_link)
}
