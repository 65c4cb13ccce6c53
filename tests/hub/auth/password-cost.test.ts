import { scryptSync } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hashPassword, setPassword } from '../../../hub/auth/auth.ts'
import { pathsIn } from '../../../hub/config.ts'

// Other tests hash with less work (tests/support/light-passwords.ts); this one has its own process.
const PASSWORD = 'correct horse battery'
const hashOf = (salt: string) =>
  scryptSync(PASSWORD, Buffer.from(salt, 'base64'), 32, {
    ...{ N: 2 ** 17, r: 8, p: 1 },
    maxmem: 256 * 1024 * 1024,
  }).toString('base64')

test('the passwords of admin and members cost a guesser 128 MiB each', async () => {
  const [kind, salt = '', hash] = (await hashPassword(PASSWORD)).split(':')
  expect([kind, hash]).toEqual(['scrypt', hashOf(salt)])
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-cost-'))
  try {
    const paths = pathsIn(folder)
    await setPassword(paths, PASSWORD)
    const admin = JSON.parse(await readFile(join(paths.config_dir, 'admin.json'), 'utf8'))
    expect(admin.hash).toBe(hashOf(admin.salt))
  } finally {
    await rm(folder, { recursive: true })
  }
})
