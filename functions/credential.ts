import { createHash } from 'node:crypto'
import { isKey } from '../shared/key.ts'
import { ApiError } from '../shared/problem.ts'
import { bucketOf } from './address.ts'
import type { Credential, Ctx } from './context.ts'
import type { Connection } from './db.ts'
import { KeysUnavailable } from './sign-in/jwks.ts'

const STATEMENT_TIMEOUT = '10s'

/** The credential in the Authorization header, read once per request. Throws 401 when there is none, 429 after too many. */
export async function credentialOf(c: Ctx): Promise<Credential> {
  const credential = c.get('credential') ?? (await read(c))
  if (!credential) {
    const wait = consumeAddressBudget(c)
    if (wait > 0) throw rateLimited(wait)
    throw unauthenticated()
  }
  c.set('credential', credential)
  if ('session' in credential && c.get('via') === 'api') c.set('via', 'console')
  return credential
}

async function read(c: Ctx): Promise<Credential | undefined> {
  const [scheme, token, ...rest] = (c.req.header('authorization') ?? '').split(' ')
  if (scheme?.toLowerCase() !== 'bearer' || !token || rest.length > 0) return undefined
  // As keyHash, but at once: the threads that Web Crypto hands so little work to cost ten times as much.
  if (isKey(token)) return { key_hash: createHash('sha256').update(token).digest() }
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined
  try {
    const session = await c.get('deps').verify_session(token)
    return session && { session }
  } catch (cause) {
    const wait = consumeAddressBudget(c)
    if (wait > 0) throw rateLimited(wait)
    const seconds = cause instanceof KeysUnavailable ? cause.retry_after : 5
    const message = `Session tokens cannot be verified right now. Try again in ${seconds} s.`
    throw new ApiError('unavailable', message, {
      cause,
      headers: { 'Retry-After': String(seconds) },
    })
  }
}

function consumeAddressBudget(c: Ctx): number {
  const { address, address_limit } = c.get('deps')
  return address_limit(address(c))
}

/** An id for the credential, to tell callers apart before the database has identified them. */
export async function credentialId(c: Ctx): Promise<string> {
  const credential = await credentialOf(c)
  return 'key_hash' in credential
    ? Array.from(credential.key_hash).join()
    : credential.session.user_id
}

/** Asks the database whose credential this is, and consumes one request of that account's budget. */
export function checkCredential(
  c: Ctx,
  connection: Connection,
  credential: Credential,
  request_id = c.get('request_id'),
) {
  const { limits, address } = c.get('deps')
  const rest = [bucketOf(address(c)), request_id, limits]
  if ('key_hash' in credential) {
    return connection.query('select * from private.check_key($1, $2, $3, $4)', [
      credential.key_hash,
      ...rest,
    ])
  }
  const { user_id, session_id } = credential.session
  return connection.query('select * from private.check_session($1, $2, $3, $4, $5, $6)', [
    user_id,
    session_id,
    isAnyPlan(c),
    ...rest,
  ])
}

/** Makes the rest of the transaction run as the caller. Fails for a caller who was refused. */
export function setCaller(c: Ctx, connection: Connection, credential: Credential) {
  const [call, first, ...more] = callerClaims(c, credential)
  return connection.query(
    `select set_config('request.jwt.claims', ${call}, true),
      set_config('statement_timeout', $1, true), set_config('role', $2, true)`,
    [STATEMENT_TIMEOUT, 'authenticated', first, c.get('request_id'), auditContext(c), ...more],
  )
}

function callerClaims(c: Ctx, credential: Credential): [call: string, ...values: unknown[]] {
  if ('key_hash' in credential) return ['private.key_claims($3, $4, $5)', credential.key_hash]
  const { user_id, session_id, aal } = credential.session
  const call = 'private.session_claims($3, $6, $7, $8, $4, $5)'
  return [call, user_id, session_id, aal, isAnyPlan(c)]
}

/** The account routes work below Pro too. */
const isAnyPlan = (c: Ctx) => c.get('needs_session') === true

/** What the audit log records about a request. */
export function auditContext(c: Ctx) {
  return {
    ip: c.get('deps').address(c),
    user_agent: c.req.header('user-agent')?.slice(0, 300) ?? null,
    via: c.get('via'),
  }
}

export function unauthenticated(): ApiError {
  return new ApiError(
    'unauthenticated',
    'Send a valid API key as "Authorization: Bearer wp_live_…", or the access token of a session. Create keys in the account settings.',
  )
}

export function rateLimited(seconds: number): ApiError {
  return new ApiError('rate_limited', `Too many requests. Try again in ${seconds} s.`, {
    headers: { 'Retry-After': String(seconds) },
  })
}
