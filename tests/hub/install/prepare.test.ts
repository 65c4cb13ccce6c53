import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest'
import { setPassword } from '../../../hub/auth/auth.ts'
import { pathsIn } from '../../../hub/config.ts'
import { keyFiles } from '../../../hub/db/keys.ts'
import { onServer } from '../../support/servers/database.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const { adminUrl, hubKeys } = inject('server')
let hub: TestHub
let folder: string
let runs = 0
beforeAll(async () => {
  // It makes the template; the installer's own database is a clone of it.
  hub = await startHub()
  await onServer(adminUrl, 'create database hub template hub_template strategy file_copy')
  folder = await mkdtemp(join(tmpdir(), 'watchpost-prepare-'))
  // The keys are passwords of roles that all tests share.
  await mkdir(pathsIn(folder).config_dir, { recursive: true })
  await writeFile(join(folder, 'public.key'), hubKeys.public)
  await writeFile(keyFiles(pathsIn(folder)).service, hubKeys.service)
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})
afterAll(async () => {
  await onServer(adminUrl, 'drop database if exists hub with (force)')
  await hub.close()
  await rm(folder, { recursive: true })
})

/** Runs the program as the installer does, and answers what it prints. */
async function prepare(given: Record<string, string | undefined>) {
  const { config_dir, data_dir, prompts_dir } = pathsIn(folder)
  const folders = {
    HUB_CONFIG_DIR: config_dir,
    HUB_DATA_DIR: data_dir,
    HUB_PROMPTS_DIR: prompts_dir,
  }
  const all = { HUB_OWNER_URL: adminUrl, HUB_USER: undefined, ...folders, ...given }
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value)
  const print = vi.spyOn(console, 'log').mockImplementation(() => {})
  runs += 1
  const program = new URL(`../../../hub/install/prepare.ts?run=${runs}`, import.meta.url)
  await import(program.href)
  return print.mock.calls.flat()
}
const file = (name: string) => join(pathsIn(folder).config_dir, name)
const hubJson = async () => JSON.parse(await readFile(file('hub.json'), 'utf8'))
const database = { host: '127.0.0.1', port: 8771, name: 'hub' }

test('without the login of the database’s owner nothing is prepared', async () => {
  await expect(prepare({ HUB_OWNER_URL: undefined })).rejects.toThrow('HUB_OWNER_URL is not set')
})

test('a new hub knows its names and license, and its set-up code is printed', async () => {
  const printed = await prepare({
    HUB_HOSTS: ' hub.example  192.0.2.1 hub.example',
    HUB_PUBLIC_URL: 'https://hub.example',
    HUB_LICENSE: 'of this hub',
  })
  expect(printed).toEqual([(await readFile(file('setup.code'), 'utf8')).trim()])
  expect(await hubJson()).toEqual({
    database,
    hosts: ['hub.example', '192.0.2.1'],
    public_url: 'https://hub.example',
  })
  // Its group is that of the service, which reads it and no more.
  expect((await stat(file('hub.json'))).mode & 0o777).toBe(0o640)
  expect(JSON.parse(await readFile(file('license.json'), 'utf8'))).toEqual({
    license: 'of this hub',
  })
})

test('another run adds names and keeps what was entered by hand', async () => {
  await writeFile(file('hub.json'), JSON.stringify({ ...(await hubJson()), port: 9000 }))
  await prepare({ HUB_HOSTS: '192.0.2.1 new.example', HUB_PUBLIC_URL: 'https://other.example' })
  const known = {
    database,
    port: 9000,
    hosts: ['hub.example', '192.0.2.1', 'new.example'],
    public_url: 'https://hub.example',
  }
  expect(await hubJson()).toEqual(known)
  expect(await readFile(file('license.json'), 'utf8')).toContain('of this hub')
  const { ino } = await stat(file('hub.json'))
  await prepare({ HUB_HOSTS: 'hub.example', HUB_PUBLIC_URL: '' })
  expect(await hubJson()).toEqual(known)
  // What has not changed is not written.
  expect((await stat(file('hub.json'))).ino).toBe(ino)
})

test('of more names than fit, addresses that the machine no longer has go, the oldest first', async () => {
  const kept = await readFile(file('hub.json'), 'utf8')
  const old = Array.from({ length: 60 }, (_, nth) => `2001:db8::${nth + 1}`)
  const hosts = ['hub.example', ...old, 'by-hand.example', '192.0.2.1']
  await writeFile(file('hub.json'), JSON.stringify({ database, hosts }))
  await prepare({ HUB_HOSTS: '192.0.2.1 2001:db8::f1' })
  const known = await hubJson()
  expect(known.hosts).toHaveLength(50)
  expect(known.hosts).toEqual([
    'hub.example',
    ...old.slice(-46),
    'by-hand.example',
    '192.0.2.1',
    '2001:db8::f1',
  ])
  await prepare({ HUB_HOSTS: '192.0.2.1 2001:db8::f1' })
  expect(await hubJson()).toEqual(known)
  await writeFile(file('hub.json'), kept)
})

test('a hub with a password prints no code, and an address alone is a reason to write', async () => {
  await setPassword(pathsIn(folder), 'correct horse battery')
  await writeFile(file('hub.json'), JSON.stringify({ database, public_url: null }))
  expect(await prepare({ HUB_HOSTS: undefined, HUB_PUBLIC_URL: undefined })).toEqual([''])
  expect(await hubJson()).toEqual({ database, public_url: null })
  await prepare({ HUB_HOSTS: '', HUB_PUBLIC_URL: 'https://hub.example' })
  expect(await hubJson()).toEqual({ database, hosts: [], public_url: 'https://hub.example' })
})
