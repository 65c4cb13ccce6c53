const encoder = new TextEncoder()

/** A random token for a link or a session: 32 bytes in base64url. */
export function generateToken(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)))
}

/** The key for deriveToken. */
type TokenKey = CryptoKey

/** Derives a key for deriveToken from a secret that is also used for something else (HKDF, RFC 5869). */
export async function tokenKey(secret: string, use: string): Promise<TokenKey> {
  const base = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, [
    'deriveKey',
  ])
  const info = encoder.encode(use)
  const how = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info }
  const hmac = { name: 'HMAC', hash: 'SHA-256', length: 256 }
  return crypto.subtle.deriveKey(how, base, hmac, false, ['sign'])
}

/** The successor of a token: its HMAC-SHA256 in base64url, which only the holder of the key can compute. */
export async function deriveToken(key: TokenKey, token: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(token))))
}

/** The form in which a token is stored: the SHA-256 of its text. */
export async function tokenHash(token: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(token)))
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
