import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { decodeKey } from '../../functions/seal.ts'
import type { Signature } from './manifest.ts'

const FINGERPRINT = 'watchpost sealing key 1'
const MANIFEST = 'watchpost backup manifest 1'

/** A sealing key by its fingerprint, which reveals nothing of the key. */
export type SealKey = { text: string; bytes: Uint8Array; fingerprint: string }

/** readSealKeys reads SEAL_KEYS: keys in base64, separated by commas. Throws without the value. */
export function readSealKeys(text: string): SealKey[] {
  const keys = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  return keys.map((key) => {
    const bytes = decodeKey(key)
    const digest = createHmac('sha256', bytes).update(FINGERPRINT).digest('hex')
    return { text: key, bytes, fingerprint: digest.slice(0, 16) }
  })
}

/** signManifest returns the signature by a sealing key. */
export function signManifest(key: SealKey, manifest: Buffer): Signature {
  return { key: key.fingerprint, mac: macOf(key, manifest).toString('hex') }
}

/**
 * Whether a sealing key of this service signed the manifest: 'foreign' if it was another key, which
 * may be anybody's, and 'altered' if it was ours but not for this manifest.
 */
export function originOf(
  keys: SealKey[],
  manifest: Buffer,
  signature: Signature,
): 'ours' | 'foreign' | 'altered' {
  const key = keys.find(({ fingerprint }) => fingerprint === signature.key)
  if (!key) return 'foreign'
  const isRight = timingSafeEqual(macOf(key, manifest), Buffer.from(signature.mac, 'hex'))
  return isRight ? 'ours' : 'altered'
}

function macOf({ bytes }: SealKey, manifest: Buffer): Buffer {
  const key = hkdfSync('sha256', bytes, '', MANIFEST, 32)
  return createHmac('sha256', Buffer.from(key)).update(manifest).digest()
}
