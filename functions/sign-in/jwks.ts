import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose'
import { z } from 'zod'

/** The accepted signature algorithms. None of them uses a shared secret. */
export const ALGORITHMS = ['ES256', 'RS256']
/** How long keys are cached, and so how long a withdrawn key may still be accepted. */
const CACHE_MS = 10 * 60_000
/** An unknown key is fetched at once, but at most this often per window. */
const MAX_FETCHES = 5
const WINDOW_MS = 60_000
/** How long a key that was not found is remembered as unknown. */
const UNKNOWN_KEY_MS = 30_000
const MAX_UNKNOWN_KEYS = 1000
const TIMEOUT_MS = 5_000

/** The limit of fetches from the issuer is reached. */
export class KeysUnavailable extends Error {
  readonly retry_after: number
  constructor(retry_after: number) {
    super('the issuer has been asked for its keys too often')
    this.retry_after = retry_after
  }
}

/**
 * The published keys of an issuer. A new key works with the first token that names it. However many
 * unknown keys are named, the issuer is asked only a few times a minute.
 */
export function remoteKeys(jwks_url: string): JWTVerifyGetKey {
  let fetches: number[] = []
  const unknownKeys = new Map<string, number>()
  const keys = createRemoteJWKSet(new URL(jwks_url), {
    cacheMaxAge: CACHE_MS,
    // Unknown keys are fetched by the code below.
    cooldownDuration: Number.POSITIVE_INFINITY,
    timeoutDuration: TIMEOUT_MS,
    [customFetch]: (url, options) => {
      fetches.push(Date.now())
      return fetch(url, options)
    },
  })

  /** Fetches the keys once for all who wait. Failed fetches count towards the limit too. */
  const refetch = async (): Promise<void> => {
    if (keys.reloading) return keys.reload()
    const now = Date.now()
    fetches = fetches.filter((at) => at > now - WINDOW_MS)
    const [oldest] = fetches
    if (oldest !== undefined && fetches.length >= MAX_FETCHES) {
      throw new KeysUnavailable(Math.ceil((oldest + WINDOW_MS - now) / 1000))
    }
    return keys.reload()
  }

  return async (header, token) => {
    const name = `${header?.alg} ${header?.kid}`
    // A fetch that began before this call may lack a key that was published since.
    const is_ours = !keys.reloading
    const is_due = !keys.fresh
    if (is_due) await refetch()
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      if ((unknownKeys.get(name) ?? 0) > Date.now() - UNKNOWN_KEY_MS) throw error
    }
    if (!is_due) await refetch()
    try {
      return await keys(header, token)
    } catch (error) {
      if (is_ours && error instanceof errors.JWKSNoMatchingKey) {
        if (unknownKeys.size >= MAX_UNKNOWN_KEYS) unknownKeys.clear()
        unknownKeys.set(name, Date.now())
      }
      throw error
    }
  }
}

const KeySet = z.object({
  keys: z.array(z.object({ kty: z.string(), crv: z.string().optional() })),
})

/** Why tokens of this issuer cannot be verified, as a sentence; undefined when they can. */
export async function issuerProblem(jwks_url: string): Promise<string | undefined> {
  let found: z.infer<typeof KeySet>
  try {
    const answer = await fetch(jwks_url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!answer.ok) throw new Error(`it answers ${answer.status}`)
    found = KeySet.parse(await answer.json())
  } catch (error) {
    const why = error instanceof z.ZodError ? 'its answer is not a key set' : messageOf(error)
    return `AUTH_ISSUER: its public keys cannot be fetched (${why}). Until they can, session tokens are answered 503; API keys work. Check AUTH_ISSUER and AUTH_JWKS_URL.`
  }
  const is_usable = found.keys.some(
    ({ kty, crv }) => kty === 'RSA' || (kty === 'EC' && crv === 'P-256'),
  )
  if (is_usable) return undefined
  return 'AUTH_ISSUER publishes no ES256 or RS256 key. It signs with a shared secret (HS256), which is not accepted, so nobody can sign in; API keys work. Give it an asymmetric signing key (Supabase: Settings, JWT Keys).'
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
