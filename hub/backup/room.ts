import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Transform } from 'node:stream'

/** What a backup leaves of the disk: without room the database on it stops. */
export const LEFT_FREE = 256 * 2 ** 20
const LOOK_BYTES = 16 * 2 ** 20

/** Throws as if the disk of this folder were full when it nearly is. */
async function requireRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize >= LEFT_FREE) return
  throw Object.assign(new Error(`The disk with ${folder} is nearly full.`), { code: 'ENOSPC' })
}

/** Passes on what is written to this file, as long as the disk has room. */
export function withRoom(file: string): Transform {
  let left = 0
  return new Transform({
    transform(chunk: Buffer, _, done) {
      left -= chunk.length
      if (left >= 0) return done(null, chunk)
      left = LOOK_BYTES
      requireRoom(dirname(file)).then(() => done(null, chunk), done)
    },
  })
}
