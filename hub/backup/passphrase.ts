import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { Identity, Recipient } from 'age-encryption'

const derive = promisify<
  string,
  Buffer,
  number,
  { N: number; r: number; p: number; maxmem: number },
  Buffer
>(scrypt)

const LABEL = 'age-encryption.org/v1/scrypt'
/**
 * log2 of scrypt's N, as the age tool uses it. One more in a stranger's file would need 512 MiB of
 * memory.
 */
const WORK = 18
const TAG_BYTES = 16
const CIPHER = 'chacha20-poly1305'
const OPTIONS = { authTagLength: TAG_BYTES }

// age-encryption derives the key in JavaScript, which blocks the hub for seconds; Node's own scrypt
// runs in another thread. The stanzas are those of https://age-encryption.org/v1 and can be opened
// with `age`.

/** Encrypts an archive's file key with a passphrase. */
export function passphraseRecipient(passphrase: string): Recipient {
  return {
    wrapFileKey: async (fileKey) => {
      const salt = randomBytes(16)
      const cipher = createCipheriv(CIPHER, await keyOf(passphrase, salt, WORK), ZERO, OPTIONS)
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()])
      const text = salt.toString('base64').replace(/=+$/, '')
      const { Stanza } = await import('age-encryption')
      return [new Stanza(['scrypt', text, String(WORK)], body)]
    },
  }
}

/** Decrypts the file key; null if the passphrase is wrong. */
export function passphraseIdentity(passphrase: string): Identity {
  return {
    unwrapFileKey: async (stanzas) => {
      const [stanza] = stanzas
      const [kind, salt = '', work = ''] = stanza?.args ?? []
      if (!stanza || stanzas.length !== 1 || kind !== 'scrypt') return null
      if (!/^[1-9]\d?$/.test(work) || Number(work) > WORK || stanza.body.length !== 32) {
        throw new Error('the scrypt stanza is not usable')
      }
      const key = await keyOf(passphrase, Buffer.from(salt, 'base64'), Number(work))
      const cipher = createDecipheriv(CIPHER, key, ZERO, OPTIONS)
      cipher.setAuthTag(stanza.body.subarray(TAG_BYTES))
      const fileKey = cipher.update(stanza.body.subarray(0, TAG_BYTES))
      try {
        cipher.final()
      } catch {
        return null
      }
      return fileKey
    },
  }
}

const ZERO = Buffer.alloc(12)

function keyOf(passphrase: string, salt: Buffer, work: number): Promise<Buffer> {
  const N = 2 ** work
  const options = { N, r: 8, p: 1, maxmem: 128 * 8 * N * 2 }
  return derive(passphrase, Buffer.concat([Buffer.from(LABEL), salt]), 32, options)
}
