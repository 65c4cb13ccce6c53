import { base64url } from 'jose'
import type { Seal } from './seal.ts'

/** What a signed link is good for, and the ids that it names, in this order. */
const SUBJECTS = {
  'confirm-address': ['channel_id', 'confirmation_id'],
  acknowledge: ['alert_id', 'channel_id'],
  unsubscribe: ['channel_id', 'confirmation_id'],
} as const
export type LinkPurpose = keyof typeof SUBJECTS
export type LinkSubject<P extends LinkPurpose> = Record<(typeof SUBJECTS)[P][number], string>

/** What a link says, if it was signed here. The database decides whether that still holds. */
export type Link<P extends LinkPurpose> = { subject: LinkSubject<P>; is_expired: boolean }

/** The path of all links below the public URL; the purpose follows. */
export const LINKS_PATH = '/links'
export const LINK_PURPOSES = Object.keys(SUBJECTS) as LinkPurpose[] // safe: its own keys

type Bytes = Uint8Array<ArrayBuffer>

const VERSION = 1
const ID_BYTES = 16
/** The version, and the expiry in seconds since 1970. */
const HEAD_BYTES = 5
const MAC_BYTES = 32

/**
 * A link that anybody may use who has it, for one purpose and until a time: its token is version, expiry, the ids and
 * an HMAC over all of these, with a key of its purpose. The token is in the query, which no log of ours holds.
 */
export async function signLink<P extends LinkPurpose>(
  { seal, public_url }: { seal: Seal; public_url: string },
  { purpose, subject, expires_at }: { purpose: P; subject: LinkSubject<P>; expires_at: Date },
): Promise<string> {
  const ids = SUBJECTS[purpose].map((name) => bytesOf(subject[name as keyof LinkSubject<P>])) // safe: one of its names
  const body = new Uint8Array(HEAD_BYTES + ids.length * ID_BYTES)
  const view = new DataView(body.buffer)
  view.setUint8(0, VERSION)
  view.setUint32(1, Math.floor(expires_at.getTime() / 1000))
  ids.forEach((id, index) => {
    body.set(id, HEAD_BYTES + index * ID_BYTES)
  })
  const [key] = await linkKeys(seal, purpose)
  if (!key) throw new Error('a seal without a key')
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, body))
  const token = base64url.encode(new Uint8Array([...body, ...mac]))
  return `${public_url}${LINKS_PATH}/${purpose}?token=${token}`
}

/** What the token of a link says; null if it is not one of this purpose that one of the living keys signed. */
export async function readLink<P extends LinkPurpose>(
  seal: Seal,
  { purpose, token, now }: { purpose: P; token: string; now: Date },
): Promise<Link<P> | null> {
  const names = SUBJECTS[purpose]
  const size = HEAD_BYTES + names.length * ID_BYTES
  const bytes = decode(token)
  if (bytes?.length !== size + MAC_BYTES || bytes[0] !== VERSION) return null
  const [body, mac] = [bytes.slice(0, size), bytes.slice(size)]
  const verified = await Promise.all(
    // Compares in constant time.
    (await linkKeys(seal, purpose)).map((key) => crypto.subtle.verify('HMAC', key, mac, body)),
  )
  if (!verified.includes(true)) return null
  const ids = names.map((name, index) => {
    const from = HEAD_BYTES + index * ID_BYTES
    return [name, uuidOf(body.subarray(from, from + ID_BYTES))]
  })
  const expires_at = new DataView(body.buffer).getUint32(1) * 1000
  // safe: exactly the names of this purpose
  const subject = Object.fromEntries(ids) as LinkSubject<P>
  return { subject, is_expired: expires_at <= now.getTime() }
}

const linkKeys = (seal: Seal, purpose: LinkPurpose) => seal.macKeys(`link ${purpose}`)

function decode(token: string): Bytes | null {
  if (!/^[\w-]{1,400}$/.test(token)) return null
  try {
    return new Uint8Array(base64url.decode(token))
  } catch {
    return null
  }
}

function bytesOf(uuid: string): Bytes {
  const digits = uuid.replaceAll('-', '')
  if (!/^[0-9a-f]{32}$/i.test(digits)) throw new Error(`"${uuid}" is not a UUID`)
  return Uint8Array.from({ length: ID_BYTES }, (_, index) =>
    Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16),
  )
}

function uuidOf(bytes: Uint8Array): string {
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
