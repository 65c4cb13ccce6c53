import { randomUUID } from 'node:crypto'
import {
  CompactSign,
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose'
import { localSessions, type VerifySession } from '../../../functions/sign-in/sessions.ts'

/** How a token differs from a valid one. */
export type Changes = {
  claims?: JWTPayload
  header?: Partial<JWTHeaderParameters>
  /** Signed with a different key than the one its `kid` names. */
  forged?: boolean
}

export type TestIssuer = {
  verify_session: VerifySession
  /** A token like those of Supabase Auth, valid for ten minutes. */
  token: (account: { user_id: string; email: string }, changes?: Changes) => Promise<string>
  jwks: Parameters<typeof localSessions>[1]
  /** Any bytes with any header, signed with this issuer's key. */
  sign: (payload: string, header: JWTHeaderParameters & { alg: string }) => Promise<string>
  /** The key pair of somebody who forges tokens. */
  stranger: { privateKey: CryptoKey; publicKey: CryptoKey }
}

export const ISSUER = 'https://auth.watchpost.test/auth/v1'
const KID = 'test'

/** createTestIssuer signs people in as Supabase Auth would, with a key of its own. */
export async function createTestIssuer(): Promise<TestIssuer> {
  const [good, other] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
  const jwk = await exportJWK(good.publicKey)
  const jwks = { keys: [{ ...jwk, kid: KID, alg: 'ES256', use: 'sig' }] }
  return {
    jwks,
    stranger: other,
    sign: (payload, { crit, ...header }) =>
      new CompactSign(new TextEncoder().encode(payload))
        .setProtectedHeader({ kid: KID, ...header, ...(crit ? { crit } : {}) })
        .sign(
          good.privateKey,
          crit ? { crit: Object.fromEntries(crit.map((name) => [name, true])) } : {},
        ),
    verify_session: localSessions(ISSUER, jwks),
    token: ({ user_id, email }, { claims, header, forged = false } = {}) => {
      const now = Math.floor(Date.now() / 1000)
      return new SignJWT({
        iss: ISSUER,
        sub: user_id,
        aud: 'authenticated',
        role: 'authenticated',
        email,
        session_id: randomUUID(),
        aal: 'aal1',
        is_anonymous: false,
        iat: now,
        exp: now + 600,
        ...claims,
      })
        .setProtectedHeader({ alg: 'ES256', kid: KID, typ: 'JWT', ...header })
        .sign(forged ? other.privateKey : good.privateKey)
    },
  }
}
