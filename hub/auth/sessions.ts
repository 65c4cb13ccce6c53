import { createHmac } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import PQueue from 'p-queue'
import { z } from 'zod'
import { ApiError } from '../../shared/problem.ts'
import type { Paths } from '../config.ts'
import { type Actor, ADMIN_ACTOR, includes, TOKEN_ACTOR } from '../db/actor.ts'
import { needsRole } from '../db/db.ts'
import { readText } from '../files.ts'
import type { Ctx, Env } from '../http/http.ts'
import { bilingual } from '../i18n/words.ts'
import { readSetting, type Setting, writeSetting } from '../ops/settings.ts'
import { authText } from './auth.text.ts'
import { ADMIN, authFiles, changeAdmin, isSame, newSessionSecret } from './auth.ts'
import { addressOf } from './caller.ts'
import {
  type ActiveMember,
  activeMember,
  actorOfMember,
  callerOfKey,
  isKey,
  newSecret,
  type Scope,
  secretHash,
} from './identity.ts'
import { isProposal, roleFor } from './roles.ts'

const say = bilingual(authText)

const SESSION_DAYS = 30
const DAY_MS = 86_400_000
/** Of one person; the oldest ends for the next. */
const MAX_SESSIONS = 100
const COOKIE = 'hub_session'
const TOKEN = /^[\w-]{43}$/

const Session = z.strictObject({
  id: z.string(),
  ends_at: z.iso.datetime(),
  /** The member who signed in; absent for the single admin. */
  member: z.uuid().optional(),
  epoch: z.int().optional(),
})
type Session = z.infer<typeof Session>
const Sessions = z.strictObject({ sessions: z.array(Session) })
/**
 * The valid sessions. The single admin's are stored as an HMAC under a secret, so that a new secret ends
 * all of them; a member's with a number that the member's row must still have.
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
async function current(paths: Paths): Promise<Session[]> {
  const { sessions } = await readSetting(paths, SESSIONS).catch(() => SESSIONS.fallback)
  return sessions.filter(({ ends_at }) => Date.parse(ends_at) > Date.now())
}

/** Replaces the sessions, one change at a time. */
async function change(paths: Paths, work: (known: Session[]) => Session[]): Promise<void> {
  await writes.add(async () => {
    await writeSetting(paths, SESSIONS, { sessions: work(await current(paths)) })
  })
}

/** Whose session begins: a member's, or the single admin's with the secret that the password gave. */
type Owner = Pick<ActiveMember, 'id' | 'session_epoch'> | { secret: string }

/** startSession starts a session and sets its cookie. */
export async function startSession(c: Ctx, owner: Owner): Promise<void> {
  const { paths } = c.get('deps').config
  const token = newSecret()
  const ends_at = new Date(Date.now() + SESSION_DAYS * DAY_MS).toISOString()
  const member = 'secret' in owner ? undefined : owner.id
  const session: Session =
    'secret' in owner
      ? { id: idOf(owner.secret, token), ends_at }
      : { id: secretHash(token), ends_at, member: owner.id, epoch: owner.session_epoch }
  await change(paths, (known) => {
    const own = known.filter((one) => one.member === member).slice(1 - MAX_SESSIONS)
    return [...known.filter((one) => one.member !== member), ...own, session]
  })
  setCookie(c, COOKIE, token, {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure: c.req.header('x-forwarded-proto') === 'https',
    maxAge: (SESSION_DAYS * DAY_MS) / 1000,
  })
}

/** The session of a request's cookie and who signed in; undefined if there is no valid one. */
async function sessionOf(c: Ctx): Promise<{ id: string; actor: Actor } | undefined> {
  const { config, root_db } = c.get('deps')
  const token = getCookie(c, COOKIE)
  if (!token || !TOKEN.test(token)) return undefined
  const known = await current(config.paths)
  const admin = await readSetting(config.paths, ADMIN)
  const id = admin && idOf(admin.session_secret, token)
  const own = known.find((one) => id && !one.member && isSame(one.id, id))
  if (own) return { id: own.id, actor: ADMIN_ACTOR }
  const hash = secretHash(token)
  const found = known.find((one) => one.member && isSame(one.id, hash))
  if (!found?.member) return undefined
  const member = await activeMember(root_db, found.member)
  if (!member || member.session_epoch !== found.epoch) return undefined
  return { id: hash, actor: actorOfMember(member) }
}

/** endSession ends the session on the server, so that a copy of its cookie is no longer valid. */
export async function endSession(c: Ctx): Promise<void> {
  const session = await sessionOf(c)
  deleteCookie(c, COOKIE)
  if (!session) return
  await change(c.get('deps').config.paths, (known) => known.filter(({ id }) => id !== session.id))
}

/** endSessions ends all sessions of the single admin. */
export async function endSessions(c: Ctx): Promise<void> {
  const { paths } = c.get('deps').config
  deleteCookie(c, COOKIE)
  await endSessionsOf(paths, undefined)
  await changeAdmin(paths, (known) => known && { ...known, session_secret: newSessionSecret() })
}

/** endSessionsOf takes the sessions of a member, or of the single admin, off the list. */
export async function endSessionsOf(paths: Paths, member: string | undefined): Promise<void> {
  await change(paths, (known) => known.filter((one) => one.member !== member))
}

const DEVICE = 'hub_device'
const DEVICE_SECONDS = 365 * 86_400

/** Proves that a member signed in with this password before; a new password makes it void. */
const deviceOf = ({ id, password_hash }: { id: string; password_hash: string }) =>
  createHmac('sha256', password_hash).update(`device ${id}`).digest('base64url')

/** rememberDevice lets a member sign in from this browser however many others guess meanwhile. */
export function rememberDevice(c: Ctx, member: { id: string; password_hash: string }): void {
  setCookie(c, DEVICE, deviceOf(member), {
    path: '/api/cockpit/login',
    httpOnly: true,
    sameSite: 'Strict',
    secure: c.req.header('x-forwarded-proto') === 'https',
    maxAge: DEVICE_SECONDS,
  })
}

export function isKnownDevice(c: Ctx, member: { id: string; password_hash: string }): boolean {
  return isSame(getCookie(c, DEVICE) ?? '', deviceOf(member))
}

type Identity = { caller: 'session' | 'token'; actor: Actor; scope?: Scope }

/** Who sends a request; throws 401 without a valid session, key or local token. */
async function identify(c: Ctx): Promise<Identity> {
  const { config, attempts, root_db, key_role } = c.get('deps')
  const [scheme, shown] = (c.req.header('authorization') ?? '').split(' ')
  if (scheme?.toLowerCase() === 'bearer' && shown) {
    const token = (await readText(authFiles(config.paths).token))?.trim()
    if (token && isSame(shown, token)) return { caller: 'token', actor: TOKEN_ACTOR }
    const can_write = key_role === 'hub_rw'
    const key = isKey(shown) ? await callerOfKey(root_db, shown, { can_write }) : undefined
    if (key) return { caller: 'token', ...key }
    attempts.wrong('token', addressOf(c))
    throw unauthenticated()
  }
  const session = await sessionOf(c)
  if (!session) throw unauthenticated()
  return { caller: 'session', actor: session.actor }
}

/** Whether whoever sent a request that is still open may go on with it. */
export async function isStillLetIn(c: Ctx): Promise<boolean> {
  const now = await identify(c).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'unauthenticated') return undefined
    throw error
  })
  return now !== undefined
}

/**
 * authenticate throws 401 for a request without a valid session, key or local token, and 403 when its
 * role may not use the route. What comes after it acts as that person.
 */
export const authenticate =
  (base: string): MiddlewareHandler<Env> =>
  async (c, next) => {
    const { caller, actor: known, scope } = await identify(c)
    const path = c.req.path.slice(base.length + 1)
    const proposes = scope === 'propose' && isProposal(c.req.method, path)
    const actor: Actor = proposes ? { ...known, role: 'seller' } : known
    c.set('caller', caller)
    c.set('actor', actor)
    if (scope) c.set('scope', scope)
    c.get('log').actor = actor.id ?? actor.kind
    const needed = roleFor(c.req.method, path)
    if (!includes(actor.role, needed)) {
      const what = { action: 'role', area: 'Access', target: `${c.req.method} ${path}` }
      c.get('deps').audit.refused({ actor, ...what, address: addressOf(c) })
      throw scope === 'propose' ? onlyProposes() : needsRole(needed)
    }
    const deps = c.get('deps')
    c.set('deps', { ...deps, db: deps.root_db.as(actor), actor })
    await next()
  }

function onlyProposes(): ApiError {
  return new ApiError('forbidden', say.only_proposes)
}

function unauthenticated(): ApiError {
  return new ApiError('unauthenticated', say.unauthenticated)
}
