import { p256 } from '@noble/curves/nist.js'
import { base64url } from 'jose'
import type { Seal } from '../../seal.ts'

/** The key pair by which push services know this service (RFC 8292), in base64url. */
export type VapidKeys = {
  /** An uncompressed point on P-256: 65 bytes. Browsers subscribe with it. */
  public_key: string
  /** 32 bytes. */
  private_key: string
}

const SEED_BYTES = 48

/**
 * The key pair that follows from the oldest sealing key: a browser that has subscribed with it hears nothing of another
 * pair, so it stays when a new sealing key is put before the old one.
 */
export async function vapidKeys(seal: Seal): Promise<VapidKeys> {
  const mac = (await seal.macKeys('vapid')).at(-1)
  if (!mac) throw new Error('a seal without a key')
  const seed = new Uint8Array(64)
  for (const half of [0, 1]) {
    const block = await crypto.subtle.sign('HMAC', mac, new Uint8Array([half]))
    seed.set(new Uint8Array(block), half * 32)
  }
  const secret = p256.utils.randomSecretKey(seed.subarray(0, SEED_BYTES))
  return {
    public_key: base64url.encode(p256.getPublicKey(secret, false)),
    private_key: base64url.encode(secret),
  }
}

/**
 * How push services can reach the operator (RFC 8292 §2.1): a mailto: or https: URL; undefined where neither the
 * contact nor the address of the service is one, because some push services refuse anything else.
 */
export function vapidSubject({
  contact,
  public_url,
}: {
  contact: string | undefined
  public_url: string | null
}): string | undefined {
  if (contact?.startsWith('https://')) return contact
  if (contact && /^[^\s@]+@[^\s@]+$/.test(contact)) return `mailto:${contact}`
  return public_url?.startsWith('https://') ? public_url : undefined
}
