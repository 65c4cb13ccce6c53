import type { MiddlewareHandler } from 'hono'
import { ApiError, notFound } from '../shared/problem.ts'
import { type Sql, sqlOn } from '../shared/sql.ts'
import { takeBody } from './body.ts'
import {
  check as checkCredential,
  contextOf,
  credentialOf,
  enter,
  rateLimited,
  unauthenticated,
} from './credential.ts'
import { type Connection, leave, requireCommit, sqlState } from './db.ts'
import { afterwards, type Ctx, type Env, issueOfLimit } from './http.ts'

/** Who asks: facts verified in the database, never what the request says of itself. */
export type Caller = {
  user_id: string
  email: string
  /** Below Pro only on the routes of the account itself. */
  plan: 'free' | 'pro' | 'enterprise'
  scopes: Scope[]
  /** Null for a session. */
  key_id: string | null
  rate_limit: { limit: number; remaining: number; reset_seconds: number }
}
export type Scope = 'read' | 'write' | 'ingest'

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

/** What happens in a caller's transaction; `last` says which statements are its last ones. */
type Work<T> = (sql: Sql, last: Last) => Promise<T>
/**
 * Around statements that were just issued: the commit travels with them, which saves a round trip.
 * Nothing may be asked of the database afterwards, and what is thrown then undoes nothing.
 */
type Last = <T>(issued: Promise<T>) => Promise<T>

/**
 * A read in one round trip: key check, transaction, claims, queries and commit are sent together.
 * `work` must issue all its statements before it first awaits.
 */
export function read<T>(c: Ctx, work: (sql: Sql) => Promise<T>): Promise<T> {
  return asCaller(c, 'begin read only', (sql, last) => last(work(sql)))
}

/** A read of several steps, one round trip each, in one snapshot. */
export function readInSteps<T>(c: Ctx, work: Work<T>): Promise<T> {
  return asCaller(c, 'begin isolation level repeatable read read only', work)
}

/** A write: the first statements travel with the key check, the commit is looked at. */
export async function write<T>(c: Ctx, work: Work<T>): Promise<T> {
  const value = await asCaller(c, 'begin', work)
  c.get('deps').wake?.()
  return value
}

async function asCaller<T>(c: Ctx, begin: string, work: Work<T>): Promise<T> {
  const credential = await credentialOf(c)
  // Its statements would be on their way before it is refused.
  if (c.get('needs_session') && 'key_hash' in credential) await authenticate(c)
  const connection = await connect(c)
  // Everything up to the first await below leaves in one packet; each promise is looked at later.
  const check = c.get('caller') ? undefined : checkCredential(c, connection, credential)
  const begun = connection.query(begin)
  const entered = enter(c, connection, credential)
  let committed: ReturnType<Connection['query']> | undefined
  const commit = () => {
    committed ??= connection.query('commit')
    committed.catch(() => undefined)
    return committed
  }
  const inside: Connection['query'] = async (text, values) => {
    if (committed) throw new Error('a statement was issued after the last ones of its transaction')
    return connection.query(text, values)
  }
  const working = work(sqlOn({ query: inside }), (issued) => {
    commit()
    return issued
  })
  const sent = [check, begun, entered, working]
  for (const promise of sent) promise?.catch(() => undefined)
  try {
    if (check) admit(c, verdictOf(await check))
    else requireScope(c)
    await begun
    await entered
    const value = await working
    requireCommit(await commit())
    connection.release()
    return value
  } catch (error) {
    await Promise.allSettled([...sent, committed])
    await leave(connection)
    throw translate(error)
  }
}

/** Whatever keeps us from connecting, the caller can only try again. */
async function connect(c: Ctx): Promise<Connection> {
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

function verdictOf(result: { rows: unknown[] }): Verdict {
  return result.rows[0] as Verdict // safe: both checks always answer one row of these columns
}

function admit(c: Ctx, verdict: Verdict): Caller {
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

function requireScope(c: Ctx): void {
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

const SECOND_FACTOR =
  'Complete the second factor first: this account has one, and the session was signed in without it (aal1). Verify it, and send the new access token (aal2).'

/** What Postgres refused, in the words of the API; anything unknown stays as it is. */
function translate(error: unknown): unknown {
  if (error instanceof ApiError) return error
  const state = sqlState(error)
  switch (state) {
    case 'WP401':
      return unauthenticated()
    case 'WP2FA':
      return new ApiError('second_factor_required', SECOND_FACTOR)
    case 'WP403':
    case '42501':
      return new ApiError('forbidden', `You may not do this: ${messageOf(error, state)}.`)
    case 'WP404':
      return notFound(messageOf(error, state))
    case 'WP409':
      return new ApiError('conflict', messageOf(error, state))
    case 'WPOWN':
      return new ApiError('owner_protected', messageOf(error, state))
    case 'WPLIM':
      return issueOfLimit(messageOf(error, state))
    case 'WPIDF':
      return new ApiError(
        'idempotency_in_flight',
        'The first request with this Idempotency-Key is still running. Try again shortly.',
        { headers: { 'Retry-After': '1' } },
      )
    case 'WPIDC':
      return new ApiError(
        'idempotency_mismatch',
        'This Idempotency-Key was used with another body. Use a new key for a new request.',
      )
    case '22001':
    case '22003':
    case '22007':
    case '22008':
    case '22018':
    case '22023':
    case '22026':
    case '22P02':
    case '22P03':
      return new ApiError(
        'malformed',
        'A value of this request is outside of what can be stored: a time between the years 1000 and 9999, a number or text of its documented form.',
        { cause: error },
      )
    case '22021':
    case '22P05':
      return new ApiError('malformed', 'Text may not contain the character U+0000. Leave it out.')
    case '23505':
      return new ApiError('conflict', 'Something like this exists already.', { cause: error })
    case '40001':
    case '40P01':
    case '55P03':
    case '57014':
      return unavailable(error)
  }
  if (state === undefined ? isConnectionError(error) : /^(08|53|57P)/.test(state)) {
    return unavailable(error)
  }
  return error
}

function unavailable(cause: unknown): ApiError {
  return new ApiError('unavailable', 'The database is away for a moment. Try again.', { cause })
}

function messageOf(error: unknown, state: string): string {
  // Only our own errors carry words for the caller; Postgres' may name what they must not see.
  return state.startsWith('WP') && error instanceof Error
    ? error.message
    : 'your role in the organisation does not allow it'
}

function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return /ECONN|EPIPE|ETIMEDOUT|terminated|timeout|not queryable|closed/i.test(
    `${'code' in error ? error.code : ''} ${error.message}`,
  )
}
