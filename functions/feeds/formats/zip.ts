import { feedError, isFeedError } from '../feed.ts'

/** A table of GDELT has about a megabyte. */
const MAX_BYTES = 32 * 1024 * 1024
const CENTRAL = 0x02014b50
const END = 0x06054b50

/** The text of the first file of a ZIP archive. Throws a FeedError if the archive is damaged or too large. */
export async function unzipText(archive: Uint8Array): Promise<string> {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength)
  const entry = centralEntry(view)
  const [method, crc, size, at] = [
    view.getUint16(entry + 10, true),
    view.getUint32(entry + 16, true),
    view.getUint32(entry + 20, true),
    view.getUint32(entry + 42, true),
  ]
  if (at + 30 > view.byteLength) throw damaged()
  const start = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true)
  if (start + size > view.byteLength || (method !== 0 && method !== 8)) throw damaged()
  const packed = archive.slice(start, start + size)
  const bytes = method === 0 ? packed : await inflate(packed)
  if (crc32(bytes) !== crc) throw damaged()
  return new TextDecoder().decode(bytes)
}

/** Where the entry of the first file stands: only there are its sizes always given. */
function centralEntry(view: DataView): number {
  for (let at = view.byteLength - 22; at >= Math.max(0, view.byteLength - 65_557); at--) {
    if (view.getUint32(at, true) !== END) continue
    const entry = view.getUint32(at + 16, true)
    if (entry + 46 <= view.byteLength && view.getUint32(entry, true) === CENTRAL) return entry
  }
  throw damaged()
}

async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  const reader = stream.getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.byteLength
      if (size > MAX_BYTES) {
        reader.cancel().catch(() => {})
        throw feedError('too_large', `answered with a ZIP archive of more than ${MAX_BYTES} bytes`)
      }
      parts.push(part.value)
    }
  } catch (cause) {
    if (isFeedError(cause)) throw cause
    throw feedError('unreadable', 'answered with a damaged ZIP archive', { cause })
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.byteLength
  }
  return bytes
}

function damaged() {
  return feedError('unreadable', 'answered with a damaged ZIP archive')
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}
