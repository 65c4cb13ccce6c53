import type { Readable, Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** The encodings that are requested and understood. */
export const ENCODINGS = 'gzip, br'

/** `is_cut`: the body was longer than the limit. */
export type ReadBody = { bytes: Buffer; is_cut: boolean }

/** The body has an encoding that was not requested. */
export class UnknownEncoding extends Error {}

/**
 * readBody reads a body up to `max_bytes` after decompression and then closes the connection.
 * Decompression stops at the limit, so a decompression bomb does no harm.
 */
export async function readBody(
  body: Readable,
  encoding: string,
  max_bytes: number,
  on_wire: (bytes: number) => void = () => {},
): Promise<ReadBody> {
  // Without a listener, destroying the stream would throw.
  body.on('error', () => {})
  let source: Readable = body
  try {
    const decoder = decoderOf(encoding)
    if (decoder) {
      body.once('error', (error) => decoder.destroy(error))
      body.once('aborted', () => decoder.destroy())
      source = body.pipe(decoder)
    }
    body.on('data', (chunk: Buffer) => on_wire(chunk.length))
    const parts: Buffer[] = []
    let size = 0
    for await (const chunk of source) {
      const part: Buffer = chunk
      parts.push(part.subarray(0, max_bytes - size))
      size += part.length
      if (size > max_bytes) return { bytes: Buffer.concat(parts), is_cut: true }
    }
    return { bytes: Buffer.concat(parts), is_cut: false }
  } finally {
    body.unpipe()
    if (source !== body) source.destroy()
    body.destroy()
  }
}

function decoderOf(encoding: string): Transform | undefined {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return undefined
    case 'gzip':
    case 'x-gzip':
      // A truncated body is returned as far as it came.
      return createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })
    case 'deflate':
      return createInflate({ finishFlush: constants.Z_SYNC_FLUSH })
    case 'br':
      return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })
    default:
      throw new UnknownEncoding(encoding.slice(0, 40))
  }
}
