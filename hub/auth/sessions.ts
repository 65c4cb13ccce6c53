import { createHmac, randomBytes } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import PQueue from 'p-queue'
import { z } from 'zod'
import { ApiError } from '../../shared/problem.ts'
import type { Paths } from '../config.ts'
import { readText } from '../files.ts'
import type { Ctx, Env } from '../http/http.ts'
import { bilingual } from '../i18n/words.ts'
import { readSetting, type Setting, writeSetting } from '../ops/settings.ts'
import { authText } from './auth.text.ts'
import { ADMIN, authFiles, isSame } from './auth.ts'
import { addressOf } from './caller.ts'

const say = bilingual(authText)

const SESSION_DAYS = 30
const DAY_MS = 86_400_000
const MAX_SESSIONS = 100
const COOKIE = 'hub_session'
const TOKEN = /^[\w-]{43}$/

const Sessions = z.strictObject({
  sessions: z.array(z.strictObject({ id: z.string(), ends_at: z.iso.datetime() })),
})
/**
 * The valid sessions, each stored as an HMAC under the admin's secret, so that a new secret ends
 * all.
 */
const SESSIONS: Setting<typeof Sessions> = {
  file: 'sessions.json',
  schema: Sessions,
  fallback: { sessions: [] },
}
const writes = new PQueue({ concurrency: 1 })

const idOf = (secret: string, token: string) =>
  createHmac('sha256', Buffer.from(secret, 'base64')).update(token).digest('hex')

/** A damaged file counts as empty: everybody signs in again. */
async function current(paths: Paths): Promise<z.infer<typeof Sessions>['sessions']> {
  const { sessions } = await readSetting(paths, SESSIONS).catch(() => SESSIONS.fallback)
  return sessions.filter(({ ends_at }) => Date.parse(ends_at) > Date.now())
}

/** startSession starts a session and sets its cookie. */
export async function startSession(c: Ctx): Promise<void> {
  const { paths } = c.get('deps').config
  const admin = await readSetting(paths, ADMIN)
  if (!admin) throw unauthenticated()
  const token = randomBytes(32).toString('base64url')
  const id = idOf(admin.session_secret, token)
  const ends_at = new Date(Date.now() + SESSION_DAYS * DAY_MS).toISOString()
  await writes.add(async () => {
    const known = (await current(paths)).slice(1 - MAX_SESSIONS)
    await writeSetting(paths, SESSIONS, { sessions: [...known, { id, ends_at }] })
  })
  setCookie(c, COOKIE, token, {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure: c.req.header('x-forwarded-proto') === 'https',
    maxAge: (SESSION_DAYS * DAY_MS) / 1000,
  })
}

/** The session of a request's cookie; undefined if there is no valid one. */
async function sessionOf(c: Ctx): Promise<string | undefined> {
  const { paths } = c.get('deps').config
  const token = getCookie(c, COOKIE)
  if (!token || !TOKEN.test(token)) return undefined
  const admin = await readSetting(paths, ADMIN)
  if (!admin) return undefined
  const id = idOf(admin.session_secret, token)
  return (await current(paths)).find((known) => isSame(known.id, id))?.id
}

/** Whether the request's cookie belongs to a valid session. */
export async function hasSession(c: Ctx): Promise<boolean> {
  return (await sessionOf(c)) !== undefined
}

/** endSession ends the session on the server, so that a copy of its cookie is no longer valid. */
export async function endSession(c: Ctx): Promise<void> {
  const { paths } = c.get('deps').config
  const id = await sessionOf(c)
  deleteCookie(c, COOKIE)
  if (!id) return
  await writes.add(async () => {
    const others = (await current(paths)).filter((known) => known.id !== id)
    await writeSetting(paths, SESSIONS, { sessions: others })
  })
}

/** endSessions ends all sessions. */
export async function endSessions(c: Ctx): Promise<void> {
  const { paths } = c.get('deps').config
  const admin = await readSetting(paths, ADMIN)
  deleteCookie(c, COOKIE)
  await writes.add(async () => {
    await writeSetting(paths, SESSIONS, SESSIONS.fallback)
    if (!admin) return
    const session_secret = randomBytes(32).toString('base64')
    await writeSetting(paths, ADMIN, { ...admin, session_secret })
  })
}

/** Throws 401 for a request without a valid session or the local token. */
export const authenticate: MiddlewareHandler<Env> = async (c, next) => {
  const { config, attempts } = c.get('deps')
  const [scheme, shown] = (c.req.header('authorization') ?? '').split(' ')
  if (scheme?.toLowerCase() === 'bearer' && shown) {
    const token = (await readText(authFiles(config.paths).token))?.trim()
    if (!token || !isSame(shown, token)) {
      attempts.wrong('token', addressOf(c))
      throw unauthenticated()
    }
    c.set('caller', 'token')
    return next()
  }
  if (!(await hasSession(c))) throw unauthenticated()
  c.set('caller', 'session')
  await next()
}

function unauthenticated(): ApiError {
  return new ApiError('unauthenticated', say.unauthenticated)
}
