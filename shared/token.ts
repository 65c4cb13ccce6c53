const encoder = new TextEncoder()

/** generateToken makes the secret of a link or a session: 32 random bytes, base64url. */
export function generateToken(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)))
}

/** What derives tokens from others: see deriveToken. */
export type TokenKey = CryptoKey

/** tokenKey makes a key for deriveToken of a secret that serves something else too. */
export async function tokenKey(secret: string, use: string): Promise<TokenKey> {
  const base = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, [
    'deriveKey',
  ])
  const info = encoder.encode(use)
  const how = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info }
  const hmac = { name: 'HMAC', hash: 'SHA-256', length: 256 }
  return crypto.subtle.deriveKey(how, base, hmac, false, ['sign'])
}

/** deriveToken is the one successor of a token, which only who has the key can tell. */
export async function deriveToken(key: TokenKey, token: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(token))))
}

/** tokenHash is what is stored of a token: the SHA-256 of its text. */
export async function tokenHash(token: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(token)))
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
