import { rm } from 'node:fs/promises'
import { z } from 'zod'
import { ApiError, invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { VERSION } from '../../../shared/version.ts'
import { type Named, NOBODY } from '../../audit/audit.ts'
import { authText } from '../../auth/auth.text.ts'
import {
  authFiles,
  hashPassword,
  isHashOf,
  isSame,
  isSetUp,
  Password,
  secretFor,
  setPassword,
} from '../../auth/auth.ts'
import { addressOf, clientOf } from '../../auth/caller.ts'
import {
  endSession,
  endSessions,
  endSessionsOf,
  isKnownDevice,
  rememberDevice,
  startSession,
} from '../../auth/sessions.ts'
import { type Actor, ROLES, TOKEN_ACTOR } from '../../db/actor.ts'
import { everywhere, readOnlyKey } from '../../db/db.ts'
import { readText } from '../../files.ts'
import { answer, type Ctx, type Env, problems, requireAdmin } from '../../http/http.ts'
import { bilingual } from '../../i18n/words.ts'
import { normaliseEmail } from '../../mail/address.ts'
import { membersText } from '../../members/members.text.ts'
import { endEpoch, memberByEmail } from '../../members/members.ts'

const say = bilingual(authText)

const Health = z
  .object({
    status: z.literal('ok'),
    version: z.string(),
    has_members: z.boolean().meta({
      description: 'Whether somebody signs in with an e-mail, beside the single admin.',
    }),
    set_up: z.boolean().meta({ description: 'Whether the admin has chosen a password.' }),
    key_role: z
      .enum(['hub_ro', 'hub_rw'])
      .meta({ description: '`hub_ro`: the hub can only read; `hub_rw`: it can read and write.' }),
  })
  .meta({ id: 'HubHealth' })
const Done = z.object({ ok: z.literal(true) })
const Me = z.object({
  me: z
    .object({
      kind: z.enum(['admin', 'member', 'api', 'agent']).meta({
        description: '`admin`: the single admin; `member`; `api`: a key or the local token.',
      }),
      id: z.uuid().nullable(),
      name: z.string().nullable(),
      email: z.string().nullable(),
      role: z.enum(ROLES),
    })
    .meta({ id: 'Me' }),
})

/** Set-up, sign-in, and the sessions of the single admin and of members. */
export const access = resource<Env>()

access.openapi(
  createRoute({
    method: 'get',
    path: '/health',
    operationId: 'health',
    tags: ['Access'],
    summary: 'Whether the hub runs',
    security: [],
    responses: { 200: jsonResponse(Health, 'The hub is running.') },
  }),
  async (c) => {
    const { config, key_role, root_db } = c.get('deps')
    const set_up = await isSetUp(config.paths)
    // While the database is away the admin still signs in, with the password alone.
    const has_members = await everywhere(
      root_db,
      (sql) => sql`
        select from hub.members where removed_at is null and password_hash is not null limit 1`,
    ).then(
      (rows) => rows.length > 0,
      () => false,
    )
    return answer(c, Health, { status: 'ok', version: VERSION, has_members, set_up, key_role }, 200)
  },
)

access.openapi(
  createRoute({
    method: 'post',
    path: '/setup',
    operationId: 'setup',
    tags: ['Access'],
    summary: 'Choose the admin’s password',
    description: 'Needs the one-time set-up code that the installer or the first start printed.',
    security: [],
    request: { body: jsonBody(z.strictObject({ code: z.string().max(200), password: Password })) },
    responses: { 200: jsonResponse(Done, 'Signed in.'), ...problems(409, 422, 429) },
  }),
  async (c) => {
    const { paths } = c.get('deps').config
    const { code, password } = c.req.valid('json')
    if (await isSetUp(paths)) {
      throw new ApiError('conflict', say.set_up)
    }
    await attempt(c, 'code', async () => {
      const expected = (await readText(authFiles(paths).setup_code))?.trim()
      return expected !== undefined && isSame(code.trim().toLowerCase(), expected)
    })
    const secret = await c.get('deps').attempts.alone(async () => {
      // If two requests use the code at once, the first one sets the password.
      if (await isSetUp(paths)) throw new ApiError('conflict', say.set_up)
      const secret = await setPassword(paths, password)
      await rm(authFiles(paths).setup_code, { force: true })
      return secret
    })
    await startSession(c, { secret })
    return answer(c, Done, { ok: true }, 200)
  },
)

access.openapi(
  createRoute({
    method: 'post',
    path: '/login',
    operationId: 'login',
    tags: ['Access'],
    summary: 'Sign in',
    description: 'Members give their e-mail; the single admin signs in with the password alone.',
    security: [],
    request: {
      body: jsonBody(
        z.strictObject({
          email: z.string().max(320).optional(),
          password: z.string().max(200),
        }),
      ),
    },
    responses: {
      200: jsonResponse(Done, 'Signed in; the session cookie is valid for 30 days.'),
      ...problems(422, 429),
    },
  }),
  async (c) => {
    const { paths } = c.get('deps').config
    const { email, password } = c.req.valid('json')
    if (email === undefined || email.trim() === '') {
      let secret = ''
      const check = async () => {
        secret = (await secretFor(paths, password)) ?? ''
        return secret !== ''
      }
      await tell(c, NO_MEMBER, () => attempt(c, 'password', check))
      await startSession(c, { secret })
      return answer(c, Done, { ok: true }, 200)
    }
    await signIn(c, email, password)
    return answer(c, Done, { ok: true }, 200)
  },
)

access.openapi(
  createRoute({
    method: 'post',
    path: '/logout',
    operationId: 'logout',
    tags: ['Access'],
    summary: 'Sign out in this browser',
    description: 'Ends the session on the server, so a copy of its cookie is no longer valid.',
    responses: { 200: jsonResponse(Done, 'Signed out.'), ...problems() },
  }),
  async (c) => {
    await endSession(c)
    return answer(c, Done, { ok: true }, 200)
  },
)

access.openapi(
  createRoute({
    method: 'post',
    path: '/logout/everywhere',
    operationId: 'logoutEverywhere',
    tags: ['Access'],
    summary: 'Sign out in all browsers',
    description:
      'Ends all sessions of whoever asks, including this one; the local token and keys of an admin end those of the single admin. Tokens and keys keep working.',
    responses: { 200: jsonResponse(Done, 'Signed out everywhere.'), ...problems() },
  }),
  async (c) => {
    const { root_db, config, key_role, actor } = c.get('deps')
    const id = memberOf(actor)
    if (!id) {
      // A key has no sessions: only one with an admin's rights ends those of the admin.
      requireAdmin(c)
      await endSessions(c)
    } else {
      await endSessionsOf(config.paths, id)
      if (key_role === 'hub_rw') await everywhere(root_db, (sql) => endEpoch(sql, { id }))
    }
    return answer(c, Done, { ok: true }, 200)
  },
)

access.openapi(
  createRoute({
    method: 'get',
    path: '/session',
    operationId: 'session',
    tags: ['Access'],
    summary: 'Check the authentication of a request',
    description: 'nginx calls this before it accepts the body of an upload.',
    responses: { 200: jsonResponse(Done, 'Authenticated.'), ...problems() },
  }),
  async (c) => answer(c, Done, { ok: true }, 200),
)

access.openapi(
  createRoute({
    method: 'get',
    path: '/me',
    operationId: 'me',
    tags: ['Access'],
    summary: 'Who is signed in, and what they may do',
    responses: { 200: jsonResponse(Me, 'Whoever sent the request.'), ...problems() },
  }),
  async (c) => {
    const { kind, id, name, role } = c.get('actor') ?? TOKEN_ACTOR
    const [row] =
      kind === 'member'
        ? await everywhere(
            c.get('deps').db,
            (sql) => sql<{ email: string }>`select email from hub.members where id = ${id}`,
          )
        : []
    return answer(c, Me, { me: { kind, id, name, email: row?.email ?? null, role } }, 200)
  },
)

access.openapi(
  createRoute({
    method: 'post',
    path: '/password',
    operationId: 'changePassword',
    tags: ['Access'],
    summary: 'Change one’s own password',
    description:
      'Ends all other sessions. The local token and keys change the password of the single admin.',
    request: {
      body: jsonBody(z.strictObject({ current: z.string().max(200), password: Password })),
    },
    responses: { 200: jsonResponse(Done, 'Changed.'), ...problems(422, 429) },
  }),
  async (c) => {
    const { paths } = c.get('deps').config
    const { current, password } = c.req.valid('json')
    const id = memberOf(c.get('actor'))
    if (id) {
      await changeOwnPassword(c, { id, current, password })
      return answer(c, Done, { ok: true }, 200)
    }
    await attempt(c, 'current', async () => (await secretFor(paths, current)) !== undefined)
    const secret = await c.get('deps').attempts.alone(() => setPassword(paths, password))
    await startSession(c, { secret })
    return answer(c, Done, { ok: true }, 200)
  },
)

const NO_MEMBER = { kind: 'admin', id: null, name: null } as const

/** Writes a sign-in into the audit, and counts it when it is refused. */
async function tell<T>(c: Ctx, actor: Named, work: () => Promise<T>): Promise<T> {
  const { audit } = c.get('deps')
  const act = { actor, action: 'login', area: 'Access', target: null, address: addressOf(c) }
  try {
    const value = await work()
    await audit.add({ ...act, project: null, fields: [], outcome: 'done', count: 1 })
    return value
  } catch (error) {
    audit.refused(act)
    throw error
  }
}

const memberOf = (actor: Actor | undefined) => (actor?.kind === 'member' ? actor.id : null)

/** Signs a member in. An e-mail that is not known is answered like a wrong password, and as late. */
async function signIn(c: Ctx, email: string, password: string): Promise<void> {
  const { root_db, attempts } = c.get('deps')
  const member = await everywhere(root_db, (sql) => memberByEmail(sql, email))
  const is_known = member !== undefined && isKnownDevice(c, member)
  const name = normaliseEmail(email) ?? ''
  const actor = member ? { kind: 'member' as const, id: member.id, name: member.name } : NOBODY
  const found = await tell(c, actor, async () => {
    const check = () => isHashOf(member?.password_hash, password)
    const whose = { door: 'member', account: { name, is_known } } as const
    const isRight = await attempts.attempt(clientOf(c), check, whose)
    if (member && isRight) return member
    const message = bilingual(membersText).wrong_login
    throw invalid([{ path: 'password', code: 'wrong', message }])
  })
  await startSession(c, found)
  rememberDevice(c, found)
}

async function changeOwnPassword(
  c: Ctx,
  { id, current, password }: { id: string; current: string; password: string },
): Promise<void> {
  const { root_db, attempts, key_role, config } = c.get('deps')
  if (key_role !== 'hub_rw') throw readOnlyKey()
  const [known] = await everywhere(
    root_db,
    (sql) => sql<{ password_hash: string }>`
      select password_hash from hub.members where id = ${id} and password_hash is not null`,
  )
  await attempt(c, 'current', () => isHashOf(known?.password_hash, current))
  const password_hash = await attempts.alone(() => hashPassword(password))
  const member = await everywhere(root_db, (sql) => endEpoch(sql, { id, password_hash }))
  if (!member) throw new ApiError('unauthenticated', say.unauthenticated)
  await endSessionsOf(config.paths, id)
  await startSession(c, member)
  rememberDevice(c, { id, password_hash })
}

/** Runs one attempt; a wrong one throws 422 with the field and makes its address wait. */
async function attempt(c: Ctx, path: string, isRight: () => Promise<boolean>): Promise<void> {
  const door = memberOf(c.get('actor')) ? 'member' : 'admin'
  if (await c.get('deps').attempts.attempt(clientOf(c), isRight, { door })) return
  const wrong = door === 'member' ? say.wrong_own_password : say.wrong_password
  const message = path === 'code' ? say.wrong_code : wrong
  throw invalid([{ path, code: 'wrong', message }])
}
