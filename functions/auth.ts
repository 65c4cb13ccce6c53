import type { MiddlewareHandler } from 'hono'
import { ApiError } from '../shared/problem.ts'
import { readBody } from './body.ts'
import type { Caller, Ctx, Env, Scope } from './context.ts'
import {
  auditContext,
  checkCredential,
  credentialOf,
  rateLimited,
  unauthenticated,
} from './credential.ts'
import type { Connection } from './db.ts'
import { translate, unavailable } from './errors.ts'
import { runInBackground } from './http.ts'

/** The length of the rate-limit window. */
export const WINDOW_SECONDS = 60

/**
 * Middleware that requires a scope. The form of the credential is checked first. The caller is identified
 * in the same round trip as the route's first query or, before a large body is read, in a round trip of
 * its own. Throws when a route succeeds without having identified its caller.
 */
export function can(scope: Scope): MiddlewareHandler<Env> {
  return async (c, next) => {
    c.set('scope', scope)
    await credentialOf(c)
    if (c.get('unread_body')) {
      await authenticate(c)
      await readBody(c)
    }
    await next()
    if (!c.get('caller') && c.res.ok) throw new Error(`${c.req.path} answered without a caller`)
    const caller = c.get('caller')
    if (caller) setRateHeaders(c, caller)
  }
}

/** `can` for account routes: they accept a session on any plan, but no API key (403). */
export function signedIn(scope: Scope): MiddlewareHandler<Env> {
  const permit = can(scope)
  return (c, next) => {
    c.set('needs_session', true)
    return permit(c, next)
  }
}

/** Identifies the caller in a separate round trip, e.g. before the request is refused for another reason. */
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
 * Consumes `more` additional requests of the caller's budget, for a batch that came in one request.
 * Throws 429 when the budget is too small.
 */
export async function consumeBudget(c: Ctx, more: number): Promise<void> {
  if (more <= 0) return
  const credential = await credentialOf(c)
  const connection = await connect(c)
  try {
    // Each gets its own request id, because the database records denials by request id.
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

/** Connects to the database; any failure is 503. */
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

export const PLAN_REQUIRED =
  'Your account has the Free plan, and the API requires Pro or Enterprise. Your zones are paused and nothing is deleted. ' +
  'Ask the operator of this service to change the plan. Signed in, you can still export your data (GET /api/v1/account/export) and manage your account.'

export function admit(c: Ctx, verdict: Verdict): Caller {
  if (verdict.verdict === 'unauthenticated') throw unauthenticated()
  if (verdict.verdict === 'address_limited') throw rateLimited(verdict.retry_after)
  const log = c.get('log')
  log.user_id = verdict.user_id
  log.key_id = verdict.key_id
  if (c.get('needs_session') && verdict.key_id !== null) {
    const message =
      'An API key cannot manage its account. Sign in, and send the access token of the session as "Authorization: Bearer …".'
    throw recordRefusal(c, verdict, new ApiError('forbidden', message))
  }
  if (verdict.verdict === 'plan_required') {
    throw recordRefusal(c, verdict, new ApiError('plan_required', PLAN_REQUIRED))
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
    throw recordRefusal(c, verdict, rateLimited(verdict.retry_after))
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
    `This requires a key with the scope "${scope}". This key has: ${caller.scopes.join(', ')}.`,
  )
  throw recordRefusal(c, caller, error)
}

/** Records a refusal of a known caller in their audit log, in the background. Returns the error. */
function recordRefusal(c: Ctx, who: Pick<Caller, 'user_id' | 'key_id'>, error: ApiError): ApiError {
  const counted = onOwnConnection(c, (connection) =>
    connection.query('select private.record_refusal($1, $2, $3, $4, $5)', [
      who.user_id,
      who.key_id,
      error.code,
      `${c.req.method} ${c.req.routePath}`,
      auditContext(c),
    ]),
  )
  runInBackground(c, counted)
  return error
}

// When this process last updated a key's last_used_at; spares most of the writes.
const touched = new Map<string, number>()

function touchKey(c: Ctx, keyId: string): void {
  const now = Date.now()
  if (now - (touched.get(keyId) ?? 0) < 60_000) return
  if (touched.size > 10_000) touched.clear()
  touched.set(keyId, now)
  runInBackground(
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

/** Sets the rate-limit headers of draft-ietf-httpapi-ratelimit-headers. */
function setRateHeaders(c: Ctx, { rate_limit }: Caller): void {
  const set = (name: string, value: string) =>
    // `c.header` would make a finished response anew, around a stream.
    c.finalized ? c.res.headers.set(name, value) : c.header(name, value)
  set('RateLimit-Policy', `"account";q=${rate_limit.limit};w=${WINDOW_SECONDS}`)
  set('RateLimit', `"account";r=${rate_limit.remaining};t=${rate_limit.reset_seconds}`)
}
