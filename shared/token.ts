const encoder = new TextEncoder()

/** generateToken makes the secret of a link or a session: 32 random bytes, base64url. */
export function generateToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** tokenHash is what is stored of a token: the SHA-256 of its text. */
export async function tokenHash(token: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(token)))
}
