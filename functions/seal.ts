import { base64url, CompactEncrypt, compactDecrypt } from 'jose'

/** Encrypts secrets at rest: targets, tokens and signing secrets. */
export type Seal = {
  seal: (value: string) => Promise<string>
  unseal: (sealed: string) => Promise<string>
  /** A key for HMAC-SHA-256 from each sealing key, in their order, that is good for one purpose only (HKDF, RFC 5869). */
  macKeys: (purpose: string) => Promise<CryptoKey[]>
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * A seal by JWE (RFC 7516, `dir` with A256GCM). The first key seals and every key unseals. To replace a
 * key, put the new one first and keep the old one after it.
 * @param keys base64 or base64url, 32 bytes each; throws for any other length
 */
export function createSeal(keys: string[]): Seal {
  const all = keys.map(decodeKey)
  const first = all[0]
  if (!first) throw new Error('at least one sealing key is required')
  return {
    seal: (value) =>
      new CompactEncrypt(encoder.encode(value))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .encrypt(first),
    unseal: async (sealed) => {
      let failure: unknown
      for (const key of all) {
        try {
          return decoder.decode((await compactDecrypt(sealed, key)).plaintext)
        } catch (error) {
          failure = error
        }
      }
      throw new Error('none of the configured keys opens a sealed value', { cause: failure })
    },
    macKeys: (purpose) => Promise.all(all.map((key) => deriveMacKey(key, purpose))),
  }
}

/** So many opened values are remembered; a channel has two or three. */
const MAX_OPENED = 3_000
/** Nothing is remembered for longer, however often it is used. */
const OPENED_MS = 10 * 60_000

/**
 * A seal that remembers for some minutes what it opened: the receivers of the jobs are the same again and again. That is no
 * more than its process holds anyway, which has the keys.
 */
export function rememberOpened(seal: Seal, now = () => performance.now()): Seal {
  // In the order in which they were opened.
  const opened = new Map<string, { value: Promise<string>; until: number }>()
  return {
    ...seal,
    unseal: (sealed) => {
      for (const [old, { until }] of opened) {
        if (until > now()) break
        opened.delete(old)
      }
      const known = opened.get(sealed)
      if (known) return known.value
      const value = seal.unseal(sealed)
      value.catch(() => opened.delete(sealed))
      const [oldest] = opened.size >= MAX_OPENED ? opened.keys() : []
      if (oldest !== undefined) opened.delete(oldest)
      opened.set(sealed, { value, until: now() + OPENED_MS })
      return value
    },
  }
}

async function deriveMacKey(key: Uint8Array<ArrayBuffer>, purpose: string): Promise<CryptoKey> {
  const base = await crypto.subtle.importKey('raw', key, 'HKDF', false, ['deriveKey'])
  const info = encoder.encode(`watchpost ${purpose}`)
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info }
  const hmac = { name: 'HMAC', hash: 'SHA-256', length: 256 }
  return crypto.subtle.deriveKey(hkdf, base, hmac, false, ['sign', 'verify'])
}

/** The 32 bytes of a key in base64 or base64url; throws for any other length. */
export function decodeKey(key: string): Uint8Array<ArrayBuffer> {
  const plain = key.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
  const bytes = new Uint8Array(base64url.decode(plain))
  if (bytes.length === 32) return bytes
  throw new Error(`a sealing key must have 32 bytes, this one has ${bytes.length}`)
}
