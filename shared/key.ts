const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX = 'wp_live_'
const RANDOM_LENGTH = 43
const CHECKSUM_LENGTH = 6
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)
const encoder = new TextEncoder()

/** A new API key: prefix, 256 random bits in base62, CRC-32 of both in base62. */
export function generateKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  const random = base62(
    bytes.reduce((value, byte) => value * 256n + BigInt(byte), 0n),
    RANDOM_LENGTH,
  )
  return PREFIX + random + checksum(PREFIX + random)
}

/** Whether a text has the form of a key: prefix, length and checksum. */
export function isKey(text: string): boolean {
  return (
    FORM.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
  )
}

/** The form in which a key is stored: its SHA-256. A fast hash is enough for a random key. */
export async function keyHash(key: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(key)))
}

/** The part of a key that may be shown later, to tell keys apart. */
export function keyPrefix(key: string): string {
  return key.slice(0, PREFIX.length + 4)
}

function checksum(text: string): string {
  return base62(BigInt(crc32(encoder.encode(text))), CHECKSUM_LENGTH)
}

function base62(value: bigint, length: number): string {
  let out = ''
  for (let rest = value; out.length < length; rest /= 62n) out = ALPHABET[Number(rest % 62n)] + out
  return out
}

/** CRC-32 (IEEE 802.3, reflected) as in gzip; node:zlib is not available in every runtime. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}
