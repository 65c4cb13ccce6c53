import { rm } from 'node:fs/promises'
import { z } from 'zod'
import { ApiError, invalid } from '../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../shared/route.ts'
import { VERSION } from '../../shared/version.ts'
import { authText } from '../auth/auth.text.ts'
import { authFiles, isPassword, isSame, isSetUp, Password, setPassword } from '../auth/auth.ts'
import { clientOf } from '../auth/caller.ts'
import { endSession, endSessions, startSession } from '../auth/sessions.ts'
import { readText } from '../files.ts'
import { answer, type Ctx, type Env, problems } from '../http/http.ts'
import { bilingual } from '../i18n/words.ts'

const say = bilingual(authText)

const Health = z
  .object({
    status: z.literal('ok'),
    version: z.string(),
    set_up: z.boolean().meta({ description: 'Whether the admin has chosen a password.' }),
    key_role: z
      .enum(['hub_ro', 'hub_rw'])
      .meta({ description: '`hub_ro`: the hub can only read; `hub_rw`: it can read and write.' }),
  })
  .meta({ id: 'HubHealth' })
const Done = z.object({ ok: z.literal(true) })

/** Set-up, sign-in, and the sessions of the single admin. */
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
    const { config, key_role } = c.get('deps')
    const set_up = await isSetUp(config.paths)
    return answer(c, Health, { status: 'ok', version: VERSION, set_up, key_role }, 200)
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
    await c.get('deps').attempts.alone(async () => {
      // If two requests use the code at once, the first one sets the password.
      if (await isSetUp(paths)) throw new ApiError('conflict', say.set_up)
      await setPassword(paths, password)
      await rm(authFiles(paths).setup_code, { force: true })
    })
    await startSession(c)
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
    security: [],
    request: { body: jsonBody(z.strictObject({ password: z.string().max(200) })) },
    responses: {
      200: jsonResponse(Done, 'Signed in; the session cookie is valid for 30 days.'),
      ...problems(422, 429),
    },
  }),
  async (c) => {
    const { paths } = c.get('deps').config
    await attempt(c, 'password', () => isPassword(paths, c.req.valid('json').password))
    await startSession(c)
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
    description: 'Ends all sessions, including this one. The local token keeps working.',
    responses: { 200: jsonResponse(Done, 'Signed out everywhere.'), ...problems() },
  }),
  async (c) => {
    await endSessions(c)
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
    method: 'post',
    path: '/password',
    operationId: 'changePassword',
    tags: ['Access'],
    summary: 'Change the admin’s password',
    description: 'Ends all other sessions.',
    request: {
      body: jsonBody(z.strictObject({ current: z.string().max(200), password: Password })),
    },
    responses: { 200: jsonResponse(Done, 'Changed.'), ...problems(422, 429) },
  }),
  async (c) => {
    const { paths } = c.get('deps').config
    const { current, password } = c.req.valid('json')
    await attempt(c, 'current', () => isPassword(paths, current))
    await c.get('deps').attempts.alone(() => setPassword(paths, password))
    await startSession(c)
    return answer(c, Done, { ok: true }, 200)
  },
)

/** Runs one attempt; a wrong one throws 422 with the field and makes its address wait. */
async function attempt(c: Ctx, path: string, isRight: () => Promise<boolean>): Promise<void> {
  if (await c.get('deps').attempts.attempt(clientOf(c), isRight)) return
  const message = path === 'code' ? say.wrong_code : say.wrong_password
  throw invalid([{ path, code: 'wrong', message }])
}
