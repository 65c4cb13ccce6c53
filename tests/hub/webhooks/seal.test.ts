import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pathsIn } from '../../../hub/config.ts'
import { writeWhole } from '../../../hub/files.ts'
import { seal, unseal } from '../../../hub/webhooks/seal.ts'
import { temporaryFolder } from '../support/model.ts'

const SECRET = 'whsec_çok gizli'
const made: Awaited<ReturnType<typeof temporaryFolder>>[] = []
beforeAll(async () => {
  made.push(await temporaryFolder(), await temporaryFolder())
})
afterAll(() => Promise.all(made.map(({ remove }) => remove())))
const machine = (at: number) => pathsIn(made[at]?.folder ?? '')
const keyOf = (at: number) => readFile(join(machine(at).config_dir, 'webhooks.key'), 'utf8')

test('a secret is sealed under a key of 32 bytes, another one on each machine', async () => {
  const sealed = await seal(machine(0), SECRET)
  expect(await unseal(machine(0), sealed)).toBe(SECRET)
  expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('gizli')
  expect(await seal(machine(0), SECRET)).not.toBe(sealed)
  await seal(machine(1), SECRET)
  const keys = [await keyOf(0), await keyOf(1)]
  for (const key of keys) expect(Buffer.from(key, 'base64')).toHaveLength(32)
  expect(Buffer.from(keys[0] ?? '', 'base64').toString('base64')).toBe(keys[0])
  expect(keys[0]).not.toBe(keys[1])
})

test('what another machine sealed, or what was changed, is no secret', async () => {
  const sealed = await seal(machine(0), SECRET)
  expect(await unseal(machine(1), sealed)).toBeUndefined()
  const bytes = Buffer.from(sealed, 'base64')
  for (const at of [0, 12, bytes.length - 1]) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(await unseal(machine(0), changed.toString('base64'))).toBeUndefined()
  }
  expect(await unseal(machine(0), '')).toBeUndefined()
  await writeWhole(join(machine(1).config_dir, 'webhooks.key'), 'no key', 0o600)
  expect(await unseal(machine(1), sealed)).toBeUndefined()
})
