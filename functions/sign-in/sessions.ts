import { createLocalJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { z } from 'zod'
import { ALGORITHMS, remoteKeys } from './jwks.ts'

/** The claims of a verified session token. The database still checks the session and the account. */
export type Session = {
  user_id: string
  session_id: string
  /** The authentication assurance level: `aal2` when a second factor was used. */
  aal: string | null
}

/** Verifies a token. Undefined when it is invalid; throws when the issuer's keys cannot be fetched. */
export type VerifySession = (token: string) => Promise<Session | undefined>

/** An issuer of session tokens: Supabase Auth or a compatible service. */
export type Issuer = {
  issuer: string
  jwks_url: string
  /** What the issuer wants as `apikey` from browsers; null when it wants none. */
  publishable_key: string | null
}

const AUDIENCE = 'authenticated'
const MAX_TOKEN_CHARACTERS = 8192

const Claims = z.object({
  sub: z.guid(),
  role: z.literal('authenticated'),
  is_anonymous: z.literal(false).optional(),
  session_id: z.guid(),
  aal: z.string().nullish(),
})

// One key set per JWKS URL in this process; it caches the keys and limits how often they are fetched.
const keySets = new Map<string, JWTVerifyGetKey>()

/** Verifies tokens of an issuer that publishes its keys at a JWKS URL. */
export function remoteSessions({
  issuer,
  jwks_url,
}: Omit<Issuer, 'publishable_key'>): VerifySession {
  let keys = keySets.get(jwks_url)
  if (!keys) {
    keys = remoteKeys(jwks_url)
    keySets.set(jwks_url, keys)
  }
  return verifier(issuer, keys)
}

/** Verifies tokens of an issuer whose keys are given. */
export function localSessions(
  issuer: string,
  jwks: Parameters<typeof createLocalJWKSet>[0],
): VerifySession {
  return verifier(issuer, createLocalJWKSet(jwks))
}

function verifier(issuer: string, keys: JWTVerifyGetKey): VerifySession {
  return async (token) => {
    if (token.length > MAX_TOKEN_CHARACTERS) return undefined
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ALGORITHMS,
        issuer,
        audience: AUDIENCE,
        requiredClaims: ['exp', 'sub'],
      })
      const claims = Claims.safeParse(payload)
      if (!claims.success) return undefined
      const { sub, session_id, aal = null } = claims.data
      return { user_id: sub, session_id, aal }
    } catch (error) {
      if (isRefusal(error)) return undefined
      throw error
    }
  }
}

/** Whether the error means that the token is invalid, and not that the keys could not be fetched. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof errors.JOSEError &&
    /^ERR_(JW[ST]_|JOSE_(ALG|NOT_SUPPORTED)|JWKS_(NO|MULTIPLE)_MATCHING)/.test(error.code)
  )
}
