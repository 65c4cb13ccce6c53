import type { Readable, Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** What is asked for, and understood. */
export const ENCODINGS = 'gzip, br'

export type Taken = { bytes: Buffer; is_cut: boolean }

/** UnknownEncoding: the body came packed in a way that was not asked for. */
export class UnknownEncoding extends Error {}

/**
 * takeBody reads a body up to `most` bytes after decompression, and hangs up on what comes behind.
 * A decompressor is stopped where the limit is, so a bomb costs what is kept of it.
 */
export async function takeBody(
  body: Readable,
  encoding: string,
  most: number,
  on_wire: (bytes: number) => void = () => {},
): Promise<Taken> {
  // A stream that is destroyed says so as an error.
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
      parts.push(part.subarray(0, most - size))
      size += part.length
      if (size > most) return { bytes: Buffer.concat(parts), is_cut: true }
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
      // What broke off is shown as far as it came.
      return createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })
    case 'deflate':
      return createInflate({ finishFlush: constants.Z_SYNC_FLUSH })
    case 'br':
      return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })
    default:
      throw new UnknownEncoding(encoding.slice(0, 40))
  }
}
