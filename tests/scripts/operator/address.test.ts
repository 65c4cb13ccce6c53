import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findAddress, keepAddress } from '../../../scripts/operator/address.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-operator-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('the page of the running service is found until it stops', async () => {
  expect(await findAddress(folder)).toBeUndefined()
  const forget = await keepAddress(folder, 'http://127.0.0.1:41234')
  expect(await findAddress(folder)).toBe('http://127.0.0.1:41234')
  expect((await stat(join(folder, 'operator-url'))).mode & 0o777).toBe(0o600)
  await forget()
  expect(await findAddress(folder)).toBeUndefined()
})

test.each(['', 'x', 'https://evil.example/', 'http://127.0.0.1:1/#x', 'http://a b'])(
  'a file that says %j names no page',
  async (text) => {
    await writeFile(join(folder, 'operator-url'), text)
    expect(await findAddress(folder)).toBeUndefined()
  },
)
