import { createHash } from 'node:crypto'
import { Transform } from 'node:stream'

/** digest makes a stream that counts and hashes what passes through it, and what it has found at its end. */
export function digest(): { sum: Transform; found: () => { bytes: number; sha256: string } } {
  const hash = createHash('sha256')
  let bytes = 0
  const sum = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk)
      bytes += chunk.length
      done(null, chunk)
    },
  })
  return { sum, found: () => ({ bytes, sha256: hash.digest('hex') }) }
}
