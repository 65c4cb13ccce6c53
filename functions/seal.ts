import { base64url, CompactEncrypt, compactDecrypt } from 'jose'

/** Encrypts what is secret at rest: targets, tokens, signing secrets. */
export type Seal = {
  seal: (value: string) => Promise<string>
  unseal: (sealed: string) => Promise<string>
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * A seal by JWE (RFC 7516, `dir`, A256GCM). The first key seals, every key unseals, so that a key
 * can be replaced: put the new one in front and keep the old one behind it.
 * @param keys base64 or base64url, 32 bytes each
 */
export function createSeal(keys: string[]): Seal {
  const all = keys.map((key) => {
    const bytes = base64url.decode(key.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''))
    if (bytes.length !== 32) throw new Error(`a sealing key has ${bytes.length} bytes, it needs 32`)
    return bytes
  })
  const first = all[0]
  if (!first) throw new Error('no sealing key was given')
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
      throw new Error('a sealed value does not open with the configured keys', { cause: failure })
    },
  }
}
