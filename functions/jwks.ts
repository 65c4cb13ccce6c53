import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose'
import { z } from 'zod'

/** What a session token may be signed with: never a secret that two parties hold. */
export const ALGORITHMS = ['ES256', 'RS256']
/** As long as a key that the issuer has withdrawn may still verify tokens here. */
const KEYS_MS = 10 * 60_000
/** A key that is not known is asked for at once, but not more often than this. */
const MOST_FETCHES = 5
const WINDOW_MS = 60_000
/** How long a key that was asked for in vain is taken for none. */
const IN_VAIN_MS = 30_000
const MOST_IN_VAIN = 1000
const TIMEOUT_MS = 5_000

/** The issuer was asked for keys as often as it may be: try again later. */
export class KeysUnavailable extends Error {
  readonly retry_after: number
  constructor(retry_after: number) {
    super('the issuer was asked for its keys too often')
    this.retry_after = retry_after
  }
}

/**
 * publishedKeys are the keys of an issuer elsewhere. A key that it has just begun to sign with works
 * with the first token that names it; however many unknown ones are named, the issuer is asked a few
 * times a minute, and every answer brings all the keys there are.
 */
export function publishedKeys(jwks_url: string): JWTVerifyGetKey {
  let fetches: number[] = []
  const inVain = new Map<string, number>()
  const keys = createRemoteJWKSet(new URL(jwks_url), {
    cacheMaxAge: KEYS_MS,
    // Asking for unknown keys is done here.
    cooldownDuration: Number.POSITIVE_INFINITY,
    timeoutDuration: TIMEOUT_MS,
    [customFetch]: (url, options) => {
      fetches.push(Date.now())
      return fetch(url, options)
    },
  })

  /** Fetches once for all that wait; those of an issuer that is away count as well. */
  const fetchAnew = async (): Promise<void> => {
    if (keys.reloading) return keys.reload()
    const now = Date.now()
    fetches = fetches.filter((at) => at > now - WINDOW_MS)
    const [oldest] = fetches
    if (oldest !== undefined && fetches.length >= MOST_FETCHES) {
      throw new KeysUnavailable(Math.ceil((oldest + WINDOW_MS - now) / 1000))
    }
    return keys.reload()
  }

  return async (header, token) => {
    const name = `${header?.alg} ${header?.kid}`
    // A fetch that began before us may miss a key that is there now.
    let is_ours = !keys.reloading
    const is_due = !keys.fresh
    if (is_due) await fetchAnew()
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      if ((inVain.get(name) ?? 0) > Date.now() - IN_VAIN_MS) throw error
    }
    if (!is_due) {
      is_ours = !keys.reloading
      await fetchAnew()
    }
    try {
      return await keys(header, token)
    } catch (error) {
      if (is_ours && error instanceof errors.JWKSNoMatchingKey) {
        if (inVain.size >= MOST_IN_VAIN) inVain.clear()
        inVain.set(name, Date.now())
      }
      throw error
    }
  }
}

const KeySet = z.object({
  keys: z.array(z.object({ kty: z.string(), crv: z.string().optional() })),
})

/** issuerProblem is why nobody could sign in with an issuer's tokens; undefined when they can. */
export async function issuerProblem(jwks_url: string): Promise<string | undefined> {
  let found: z.infer<typeof KeySet>
  try {
    const answer = await fetch(jwks_url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!answer.ok) throw new Error(`it answers ${answer.status}`)
    found = KeySet.parse(await answer.json())
  } catch (error) {
    const why = error instanceof z.ZodError ? 'its answer is no key set' : messageOf(error)
    return `AUTH_ISSUER: its public keys cannot be had at the moment (${why}). Until they can, sessions get 503; API keys work. See AUTH_ISSUER and AUTH_JWKS_URL.`
  }
  const is_usable = found.keys.some(
    ({ kty, crv }) => kty === 'RSA' || (kty === 'EC' && crv === 'P-256'),
  )
  if (is_usable) return undefined
  return 'AUTH_ISSUER publishes no ES256 or RS256 key: it signs with a shared secret (HS256), and no such token is accepted, so nobody can sign in; API keys work. Give it an asymmetric signing key (Supabase: Settings, JWT Keys).'
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
