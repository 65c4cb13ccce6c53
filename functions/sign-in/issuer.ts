import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { z } from 'zod'
import { deriveToken, generateToken, tokenHash, tokenKey } from '../../shared/token.ts'
import type { Ctx, Env } from '../context.ts'
import { auditContext } from '../credential.ts'
import type { Database } from '../db.ts'
import type { Seal } from '../seal.ts'
import { localSessions, type Session, type VerifySession } from './sessions.ts'

/** The path of its routes; supabase-js calls `<url>/auth/v1`. */
export const ISSUER_PATH = '/auth/v1'
/** Short, because others who verify a token accept it until it expires. */
const ACCESS_SECONDS = 10 * 60
const ALGORITHM = 'ES256'
const API_VERSION = '2024-01-01'
const JWKS_SECONDS = 10 * 60
/** The request headers that supabase-js sends. */
const ALLOWED_HEADERS = [
  'authorization',
  'apikey',
  'content-type',
  'x-client-info',
  'x-supabase-api-version',
]

type LocalIssuer = { routes: Hono<Env>; verify_session: VerifySession }
type IssuerOptions = { db: Database; seal: Seal; public_url: string; origins: string[] }

/**
 * Signs people in on a plain Postgres. It implements the part of the Supabase Auth API that supabase-js
 * uses: one-time links, refresh, user, logout and the public keys. `npm run admin` creates the links.
 */
export async function createIssuer({
  db,
  seal,
  public_url,
  origins,
}: IssuerOptions): Promise<LocalIssuer> {
  const issuer = `${public_url}${ISSUER_PATH}`
  const { kid, private_sealed, jwks } = await keysOf(db, seal)
  const private_jwk = PrivateJwk.parse(JSON.parse(await seal.unseal(private_sealed)))
  const signingKey = await importJWK(private_jwk, ALGORITHM)
  // Derived from the signing key: whoever has that key does not need refresh tokens anyway.
  const refreshKey = await tokenKey(private_jwk.d, 'watchpost refresh tokens')
  const verify_session = localSessions(issuer, jwks)

  const respondWithSession = async (c: Ctx, row: SessionRow, refresh_token: string) => {
    const user = userOf(row)
    const expires_at = Math.floor(Date.now() / 1000) + ACCESS_SECONDS
    const access_token = await new SignJWT({
      email: user.email,
      phone: user.phone,
      role: user.role,
      app_metadata: user.app_metadata,
      user_metadata: user.user_metadata,
      is_anonymous: user.is_anonymous,
      aal: 'aal1',
      amr: [{ method: 'otp', timestamp: Math.floor(Date.parse(row.signed_in_at) / 1000) }],
      session_id: row.session_id,
    })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setSubject(user.id)
      .setAudience(user.aud)
      .setIssuedAt()
      .setExpirationTime(expires_at)
      .sign(signingKey)
    return c.json({
      access_token,
      token_type: 'bearer',
      expires_in: ACCESS_SECONDS,
      expires_at,
      refresh_token,
      user,
    })
  }

  const signedIn = async (c: Ctx): Promise<Session> => {
    const [scheme, token = ''] = (c.req.header('authorization') ?? '').split(' ')
    const session = scheme?.toLowerCase() === 'bearer' ? await verify_session(token) : undefined
    if (session) return session
    consumeAddressBudget(c)
    throw new AuthError(403, 'bad_jwt', 'The access token is invalid or has expired.')
  }

  const routes = new Hono<Env>()
  routes.use(async (c, next) => {
    c.header('x-supabase-api-version', API_VERSION)
    await next()
  })
  routes.use(
    cors({
      origin: (origin) => (origins.includes(origin) ? origin : null),
      allowHeaders: ALLOWED_HEADERS,
      allowMethods: ['GET', 'POST'],
      exposeHeaders: ['x-supabase-api-version', 'retry-after'],
      maxAge: 600,
    }),
  )

  routes.get('/.well-known/jwks.json', (c) => {
    c.header('Cache-Control', `public, max-age=${JWKS_SECONDS}`)
    return c.json(jwks)
  })

  routes.post('/verify', async (c) => {
    consumeAddressBudget(c)
    const { token_hash } = await bodyOf(c, z.object({ token_hash: Token, type: z.string() }))
    const refresh_token = generateToken()
    const [row] = await queryAll(db, SessionRow, 'select * from private.redeem_link($1, $2, $3)', [
      await tokenHash(token_hash),
      await tokenHash(refresh_token),
      auditContext(c),
    ])
    if (row) return respondWithSession(c, row, refresh_token)
    const message = 'The link has been used or has expired. Ask for a new one.'
    throw new AuthError(403, 'otp_expired', message)
  })

  routes.post('/token', async (c) => {
    consumeAddressBudget(c)
    if (c.req.query('grant_type') !== 'refresh_token') {
      throw new AuthError(400, 'validation_failed', 'grant_type must be refresh_token.')
    }
    const { refresh_token: used } = await bodyOf(c, z.object({ refresh_token: Token }))
    const refresh_token = await deriveToken(refreshKey, used)
    const [row] = await queryAll(
      db,
      Refreshed,
      'select * from private.refresh_session($1, $2, $3)',
      [await tokenHash(used), await tokenHash(refresh_token), auditContext(c)],
    )
    if (row?.verdict === 'ok') return respondWithSession(c, row, refresh_token)
    if (row?.verdict === 'reused') {
      const message = 'This refresh token was used before, so its session was ended. Sign in again.'
      throw new AuthError(400, 'refresh_token_already_used', message)
    }
    const message = 'This session no longer exists. Sign in.'
    throw new AuthError(400, 'refresh_token_not_found', message)
  })

  routes.get('/user', async (c) => {
    const { session_id } = await signedIn(c)
    const [row] = await queryAll(db, SessionRow, 'select * from private.session_of($1)', [
      session_id,
    ])
    if (row) return c.json(userOf(row))
    throw new AuthError(403, 'session_not_found', 'The session has ended. Sign in.')
  })

  routes.post('/logout', async (c) => {
    const scope = z.enum(['global', 'local', 'others']).safeParse(c.req.query('scope') ?? 'global')
    if (!scope.success) {
      throw new AuthError(400, 'validation_failed', 'scope must be global, local or others.')
    }
    const { session_id } = await signedIn(c)
    await queryAll(db, z.unknown(), 'select private.end_sessions($1, $2, $3)', [
      session_id,
      scope.data,
      auditContext(c),
    ])
    return c.body(null, 204)
  })

  routes.onError((error, c) => {
    const log = c.get('log')
    if (error instanceof AuthError) {
      log.code = error.code
      return c.json({ code: error.code, message: error.message }, error.status)
    }
    log.error = error.message
    // supabase-js treats 503 as temporary, so an internal error does not sign anybody out.
    return c.json({ code: 'unexpected_failure', message: 'Try again in a moment.' }, 503)
  })
  return { routes, verify_session }
}

/** An error in the form that supabase-js reads: a status, a code and a message. */
class AuthError extends Error {
  readonly status: 400 | 403 | 413 | 429
  readonly code: string
  constructor(status: AuthError['status'], code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const Token = z.string().min(1).max(200)

/** A row of private.session_of. */
const SessionRow = z.object({
  session_id: z.guid(),
  user_id: z.guid(),
  email: z.string(),
  signed_in_at: z.string(),
  confirmed_at: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
type SessionRow = z.infer<typeof SessionRow>
const Refreshed = z.union([
  SessionRow.extend({ verdict: z.literal('ok') }),
  z.object({ verdict: z.enum(['unknown', 'reused']) }),
])

/** A user in the form of supabase-js. */
function userOf(row: SessionRow) {
  return {
    id: row.user_id,
    aud: 'authenticated',
    role: 'authenticated',
    email: row.email,
    email_confirmed_at: row.confirmed_at,
    phone: '',
    confirmed_at: row.confirmed_at,
    last_sign_in_at: row.signed_in_at,
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: {},
    identities: [],
    created_at: row.created_at,
    updated_at: row.updated_at,
    is_anonymous: false,
  }
}

function consumeAddressBudget(c: Ctx): void {
  const { address, address_limit } = c.get('deps')
  const wait = address_limit(address(c))
  if (wait === 0) return
  c.header('Retry-After', String(wait))
  const message = `Too many requests. Try again in ${wait} s.`
  throw new AuthError(429, 'over_request_rate_limit', message)
}

async function bodyOf<S extends z.ZodType>(c: Ctx, schema: S): Promise<z.output<S>> {
  if (c.get('unread_body')) {
    throw new AuthError(413, 'request_too_large', 'The body is too large. Send less.')
  }
  const read = schema.safeParse(await c.req.json().catch(() => undefined))
  if (read.success) return read.data
  const fields = read.error.issues.map(({ path }) => path.join('.')).filter((path) => path !== '')
  const message = `The body is invalid${fields.length ? `: ${fields.join(', ')}` : ''}.`
  throw new AuthError(400, 'validation_failed', message)
}

/** Runs one statement as the login role and returns its rows, parsed. */
async function queryAll<S extends z.ZodType>(
  db: Database,
  schema: S,
  text: string,
  values: unknown[],
): Promise<z.output<S>[]> {
  const connection = await db.connect()
  try {
    const { rows } = await connection.query(text, values)
    connection.release()
    return z.array(schema).parse(rows)
  } catch (error) {
    connection.release(true)
    throw error
  }
}

const PrivateJwk = z.looseObject({ kty: z.literal('EC'), d: z.string() })

const KeyRow = z.object({
  kid: z.string(),
  private_sealed: z.string(),
  public_jwk: z.custom<JWK>((value) => typeof value === 'object' && value !== null),
})

/** The signing keys in the database, newest first; creates the first one. */
async function keysOf(db: Database, seal: Seal) {
  const read = () => queryAll(db, KeyRow, 'select * from private.issuer_keys()', [])
  const found = await read()
  if (found.length === 0) {
    const { privateKey, publicKey } = await generateKeyPair(ALGORITHM, { extractable: true })
    const kid = crypto.randomUUID()
    await queryAll(db, z.unknown(), 'select private.add_issuer_key($1, $2, $3)', [
      kid,
      await seal.seal(JSON.stringify(await exportJWK(privateKey))),
      {
        ...(await exportJWK(publicKey)),
        kid,
        alg: ALGORITHM,
        use: 'sig',
        key_ops: ['verify'],
      },
    ])
    found.push(...(await read()))
  }
  const [newest] = found
  if (!newest) throw new Error('the issuer has no key')
  return { ...newest, jwks: { keys: found.map(({ public_jwk }) => public_jwk) } }
}
