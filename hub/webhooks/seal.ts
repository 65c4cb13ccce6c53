import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Paths } from '../config.ts'
import { makeOnce } from '../files.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The key of this machine, which no backup contains. */
async function keyOf(paths: Paths): Promise<Buffer> {
  const file = join(paths.config_dir, 'webhooks.key')
  return Buffer.from(await makeOnce(file, () => randomBytes(32).toString('base64')), 'base64')
}

/** seal encrypts a secret with AES-256-GCM under the key of this machine. */
export async function seal(paths: Paths, secret: string): Promise<string> {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', await keyOf(paths), nonce)
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
}

/** The secret; undefined if another machine sealed it, or it was changed. */
export async function unseal(paths: Paths, text: string): Promise<string | undefined> {
  const bytes = Buffer.from(text, 'base64')
  try {
    const nonce = bytes.subarray(0, NONCE_BYTES)
    const cipher = createDecipheriv('aes-256-gcm', await keyOf(paths), nonce)
    cipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const opened = cipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
    return Buffer.concat([opened, cipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
