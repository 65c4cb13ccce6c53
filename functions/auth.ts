import type { MiddlewareHandler } from 'hono'
import { ApiError } from '../shared/problem.ts'
import { takeBody } from './body.ts'
import type { Caller, Ctx, Env, Scope } from './context.ts'
import {
  check as checkCredential,
  contextOf,
  credentialOf,
  rateLimited,
  unauthenticated,
} from './credential.ts'
import type { Connection } from './db.ts'
import { translate, unavailable } from './errors.ts'
import { afterwards } from './http.ts'

/** Seconds of the rate-limit window. */
export const WINDOW_SECONDS = 60

/**
 * The permission of a route, on its line. The form of a key or token is tested before anything of the
 * body is, who it is in the same round trip as the route's query; before a large body is read, in one
 * of its own. A route that answered without asking is a fault.
 */
export function can(scope: Scope): MiddlewareHandler<Env> {
  return async (c, next) => {
    c.set('scope', scope)
    await credentialOf(c)
    if (c.get('held_body')) {
      await authenticate(c)
      await takeBody(c)
    }
    await next()
    if (!c.get('caller') && c.res.ok) throw new Error(`${c.req.path} answered without a caller`)
    const caller = c.get('caller')
    if (caller) setRateHeaders(c, caller)
  }
}

/** can for what people do themselves, on any plan: a session may, a key never. */
export function signedIn(scope: Scope): MiddlewareHandler<Env> {
  const permit = can(scope)
  return (c, next) => {
    c.set('needs_session', true)
    return permit(c, next)
  }
}

/** Verifies the caller in a round trip of its own; for requests that are refused for other reasons. */
export async function authenticate(c: Ctx): Promise<Caller> {
  const known = c.get('caller')
  if (known) return known
  const credential = await credentialOf(c)
  const connection = await connect(c)
  try {
    const verdict = verdictOf(await checkCredential(c, connection, credential))
    connection.release()
    return admit(c, verdict)
  } catch (error) {
    if (!(error instanceof ApiError)) connection.release(true)
    throw translate(error)
  }
}

/**
 * charge takes further requests from a known caller's budget, for what came in one: all of them or,
 * where it has not so many left, 429 before any is done.
 */
export async function charge(c: Ctx, more: number): Promise<void> {
  if (more <= 0) return
  const credential = await credentialOf(c)
  const connection = await connect(c)
  try {
    // A request each for the database too: it keeps by its id what it has denied.
    const checks = Array.from({ length: more }, () =>
      checkCredential(c, connection, credential, crypto.randomUUID()),
    )
    for (const result of await Promise.all(checks)) admit(c, verdictOf(result))
    connection.release()
  } catch (error) {
    if (error instanceof ApiError) connection.release()
    else connection.release(true)
    throw translate(error)
  }
}

/** Whatever keeps us from connecting, the caller can only try again. */
export async function connect(c: Ctx): Promise<Connection> {
  try {
    return await c.get('deps').db.connect()
  } catch (error) {
    throw unavailable(error)
  }
}

type Verdict = {
  verdict: 'ok' | 'unauthenticated' | 'address_limited' | 'plan_required' | 'rate_limited'
  user_id: string
  email: string
  plan: Caller['plan']
  scopes: Scope[]
  key_id: string | null
  rate_limit: number
  remaining: number
  reset_seconds: number
  retry_after: number
}

export function verdictOf(result: { rows: unknown[] }): Verdict {
  return result.rows[0] as Verdict // safe: both checks always answer one row of these columns
}

export function admit(c: Ctx, verdict: Verdict): Caller {
  if (verdict.verdict === 'unauthenticated') throw unauthenticated()
  if (verdict.verdict === 'address_limited') throw rateLimited(verdict.retry_after)
  const log = c.get('log')
  log.user_id = verdict.user_id
  log.key_id = verdict.key_id
  if (c.get('needs_session') && verdict.key_id !== null) {
    const message =
      'A key does not manage its account. Sign in, and send the access token of the session as "Authorization: Bearer …".'
    throw refusal(c, verdict, new ApiError('forbidden', message))
  }
  if (verdict.verdict === 'plan_required') {
    throw refusal(
      c,
      verdict,
      new ApiError(
        'plan_required',
        'The API needs the Pro or Enterprise plan. Your zones are paused, nothing is deleted; change the plan in the account settings.',
      ),
    )
  }
  const caller: Caller = {
    user_id: verdict.user_id,
    email: verdict.email,
    plan: verdict.plan,
    scopes: verdict.scopes.includes('write')
      ? [...new Set<Scope>(['read', ...verdict.scopes])]
      : verdict.scopes,
    key_id: verdict.key_id,
    rate_limit: {
      limit: verdict.rate_limit,
      remaining: verdict.remaining,
      reset_seconds: verdict.reset_seconds,
    },
  }
  c.set('caller', caller)
  if (caller.key_id !== null) touchKey(c, caller.key_id)
  if (verdict.verdict === 'rate_limited') {
    setRateHeaders(c, caller)
    throw refusal(c, verdict, rateLimited(verdict.retry_after))
  }
  requireScope(c)
  return caller
}

export function requireScope(c: Ctx): void {
  const scope = c.get('scope')
  const caller = c.get('caller')
  if (!scope || !caller || caller.scopes.includes(scope)) return
  const error = new ApiError(
    'insufficient_scope',
    `This needs a key with the scope "${scope}"; this key has ${caller.scopes.join(', ')}.`,
  )
  throw refusal(c, caller, error)
}

/** Counts a refusal of a known caller in its account's audit log, after the answer. */
function refusal(c: Ctx, who: Pick<Caller, 'user_id' | 'key_id'>, error: ApiError): ApiError {
  const counted = onOwnConnection(c, (connection) =>
    connection.query('select private.record_refusal($1, $2, $3, $4, $5)', [
      who.user_id,
      who.key_id,
      error.code,
      `${c.req.method} ${c.req.routePath}`,
      contextOf(c),
    ]),
  )
  afterwards(c, counted)
  return error
}

// Per process: the database row is the truth, this only spares most of the writes.
const touched = new Map<string, number>()

function touchKey(c: Ctx, keyId: string): void {
  const now = Date.now()
  if (now - (touched.get(keyId) ?? 0) < 60_000) return
  if (touched.size > 10_000) touched.clear()
  touched.set(keyId, now)
  afterwards(
    c,
    onOwnConnection(c, (connection) => connection.query('select private.touch_key($1)', [keyId])),
  )
}

async function onOwnConnection(
  c: Ctx,
  work: (connection: Connection) => Promise<unknown>,
): Promise<void> {
  const connection = await c.get('deps').db.connect()
  try {
    await work(connection)
    connection.release()
  } catch (error) {
    connection.release(true)
    throw error
  }
}

/** Rate-limit headers by draft-ietf-httpapi-ratelimit-headers. */
function setRateHeaders(c: Ctx, { rate_limit }: Caller): void {
  c.header('RateLimit-Policy', `"account";q=${rate_limit.limit};w=${WINDOW_SECONDS}`)
  c.header('RateLimit', `"account";r=${rate_limit.remaining};t=${rate_limit.reset_seconds}`)
}
