const PREFIX = 'whsec_'
const TOLERANCE_SECONDS = 5 * 60
const HMAC = { name: 'HMAC', hash: 'SHA-256' }

type SignatureHeaders = {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

type Verification =
  | { ok: true }
  | { ok: false; reason: 'missing_header' | 'bad_timestamp' | 'too_old' | 'too_new' | 'no_match' }

/** A new signing secret of 256 random bits, in the form of Standard Webhooks 1.0.0. */
export function generateSecret(): string {
  return PREFIX + toBase64(crypto.getRandomValues(new Uint8Array(32)))
}

/** The bytes of a signing secret. Throws an error that never contains the secret. */
export function parseSecret(secret: string): Uint8Array<ArrayBuffer> {
  if (!secret.startsWith(PREFIX)) {
    throw new Error(`A signing secret must begin with "${PREFIX}".`)
  }
  const bytes = fromBase64(secret.slice(PREFIX.length))
  if (bytes === null) {
    throw new Error(`A signing secret must be "${PREFIX}" followed by base64 with padding.`)
  }
  if (bytes.length < 24 || bytes.length > 64) {
    throw new Error(`A signing secret must hold 24 to 64 bytes; this one holds ${bytes.length}.`)
  }
  return bytes
}

/** HMAC-SHA-256 of these bytes, in base64. */
type Mac = (
  key: Uint8Array<ArrayBuffer>,
  content: Uint8Array<ArrayBuffer>,
) => string | Promise<string>

const webMac: Mac = async (bytes, content) => {
  const key = await crypto.subtle.importKey('raw', bytes, HMAC, false, ['sign'])
  return toBase64(new Uint8Array(await crypto.subtle.sign(HMAC, key, content)))
}

/**
 * The three signature headers for this body (Standard Webhooks 1.0.0); one signature per secret. `mac` is for platforms
 * that have a faster way than Web Crypto.
 */
export async function sign(
  message: { id: string; timestamp: Date; body: string; secrets: readonly string[] },
  mac: Mac = webMac,
): Promise<SignatureHeaders> {
  const { id, timestamp, body, secrets } = message
  if (secrets.length === 0) throw new Error('Signing requires at least one secret.')
  // A dot in the id would make the signed content ambiguous.
  if (!/^[\w-]+$/.test(id)) throw new Error(`webhook-id must be [A-Za-z0-9_-]+, got "${id}".`)
  const seconds = String(Math.floor(timestamp.getTime() / 1000))
  const content = signedContent(id, seconds, body)
  const signatures = await Promise.all(
    secrets.map(async (secret) => `v1,${await mac(parseSecret(secret), content)}`),
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': signatures.join(' '),
  }
}

/**
 * Verifies a message as a receiver does, from its raw body, its headers and the secret. Receivers should also
 * remember the `webhook-id`: two messages with the same id are duplicates.
 */
export async function verify(message: {
  headers: Headers | Record<string, string | undefined>
  body: string
  secret: string
  now: Date
}): Promise<Verification> {
  const { body, secret, now } = message
  const headers = readHeaders(message.headers)
  const id = headers.get('webhook-id')
  const timestamp = headers.get('webhook-timestamp')
  const list = headers.get('webhook-signature')
  if (!id || !timestamp || !list) return { ok: false, reason: 'missing_header' }

  if (!/^\d{1,12}$/.test(timestamp)) return { ok: false, reason: 'bad_timestamp' }
  const age = Math.floor(now.getTime() / 1000) - Number(timestamp)
  if (age > TOLERANCE_SECONDS) return { ok: false, reason: 'too_old' }
  if (age < -TOLERANCE_SECONDS) return { ok: false, reason: 'too_new' }

  const key = await crypto.subtle.importKey('raw', parseSecret(secret), HMAC, false, ['verify'])
  const content = signedContent(id, timestamp, body)
  for (const entry of list.split(' ')) {
    const [version, encoded = ''] = entry.split(',')
    const signature = version === 'v1' ? fromBase64(encoded) : null
    // `subtle.verify` compares in constant time.
    if (signature && (await crypto.subtle.verify(HMAC, key, signature, content))) {
      return { ok: true }
    }
  }
  return { ok: false, reason: 'no_match' }
}

function signedContent(id: string, timestamp: string, body: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${id}.${timestamp}.${body}`)
}

function readHeaders(headers: Headers | Record<string, string | undefined>): Headers {
  if (headers instanceof Headers) return headers
  const given = Object.entries(headers).filter((pair): pair is [string, string] => pair[1] != null)
  return new Headers(given)
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
