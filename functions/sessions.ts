import { createLocalJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { z } from 'zod'
import { ALGORITHMS, publishedKeys } from './jwks.ts'

/** Who a session token speaks for, by its signature; the database has the last word. */
export type Session = {
  user_id: string
  session_id: string
  /** How sure the issuer was of the person: aal2 when they showed a second factor. */
  aal: string | null
}

/** Undefined for a token that is none of the issuer's; throws when its keys cannot be had. */
export type VerifySession = (token: string) => Promise<Session | undefined>

/** An issuer of session tokens: Supabase Auth, or whoever speaks like it. */
export type Issuer = { issuer: string; jwks_url: string }

const AUDIENCE = 'authenticated'
const MOST_CHARACTERS = 8192

const Claims = z.object({
  sub: z.guid(),
  role: z.literal('authenticated'),
  is_anonymous: z.literal(false).optional(),
  session_id: z.guid(),
  aal: z.string().nullish(),
})

// One for each address in this process, which keeps the keys and counts how often they are asked for.
const remote = new Map<string, JWTVerifyGetKey>()

/** remoteSessions verifies tokens of an issuer that publishes its keys. */
export function remoteSessions({ issuer, jwks_url }: Issuer): VerifySession {
  let keys = remote.get(jwks_url)
  if (!keys) {
    keys = publishedKeys(jwks_url)
    remote.set(jwks_url, keys)
  }
  return verifier(issuer, keys)
}

/** localSessions verifies tokens of an issuer whose keys are at hand. */
export function localSessions(
  issuer: string,
  jwks: Parameters<typeof createLocalJWKSet>[0],
): VerifySession {
  return verifier(issuer, createLocalJWKSet(jwks))
}

function verifier(issuer: string, keys: JWTVerifyGetKey): VerifySession {
  return async (token) => {
    if (token.length > MOST_CHARACTERS) return undefined
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

/** Whether the token is at fault; anything else is about getting the keys. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof errors.JOSEError &&
    /^ERR_(JW[ST]_|JOSE_(ALG|NOT_SUPPORTED)|JWKS_(NO|MULTIPLE)_MATCHING)/.test(error.code)
  )
}
