import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { becomeServiceUser } from '../../../hub/ops/service-user.ts'

let config_dir: string
let calls: unknown[][]
beforeEach(() => {
  config_dir = mkdtempSync(join(tmpdir(), 'service-user-'))
  calls = []
  for (const name of ['setgroups', 'setgid', 'setuid'] as const) {
    vi.spyOn(process, name).mockImplementation(
      (...given: unknown[]) => void calls.push([name, ...given]),
    )
  }
  vi.stubEnv('HUB_USER', undefined)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  rmSync(config_dir, { recursive: true })
})

const become = (caller: number) => {
  vi.spyOn(process as Required<typeof process>, 'getuid').mockReturnValue(caller)
  // safe: only this path is read
  return becomeServiceUser({ paths: { config_dir } } as Parameters<typeof becomeServiceUser>[0])
}

test('root continues as the user that the installer named, and keeps none of its groups', async () => {
  const { username, uid, gid } = userInfo()
  vi.stubEnv('HUB_USER', username)
  await become(0)
  // The groups first: whoever has given up being root may not change them any more.
  expect(calls).toEqual([
    ['setgroups', [gid]],
    ['setgid', gid],
    ['setuid', uid],
  ])
})

test('root fails where the named user does not exist', async () => {
  vi.stubEnv('HUB_USER', 'nobody-of-this-name')
  await expect(become(0)).rejects.toThrow('nobody-of-this-name')
  expect(calls).toEqual([])
})

test('without a name it is the owner of the settings', async () => {
  const owner = userInfo().uid === 0 ? { uid: 12_345, gid: 12_346 } : userInfo()
  chownSync(config_dir, owner.uid, owner.gid)
  await become(0)
  expect(calls).toEqual([
    ['setgroups', [owner.gid]],
    ['setgid', owner.gid],
    ['setuid', owner.uid],
  ])
})

test('whoever is not root stays who they are', async () => {
  vi.stubEnv('HUB_USER', userInfo().username)
  await become(1000)
  expect(calls).toEqual([])
})
