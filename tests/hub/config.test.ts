import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HubFile, pathsIn, readConfig } from '../../hub/config.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-config-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Reads the configuration with this hub.json; undefined: there is none. */
async function read(hub_json: string | undefined, env: Record<string, string> = {}) {
  const config_dir = await mkdtemp(join(folder, 'hub-'))
  if (hub_json !== undefined) await writeFile(join(config_dir, 'hub.json'), hub_json)
  return readConfig({ HUB_CONFIG_DIR: config_dir, ...env })
}
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'taken',
    (error: Error) => error.message,
  )

test('without settings it is an installed hub on its own ports, known as localhost', async () => {
  const { paths, license_keys, ...config } = await read(undefined)
  expect(config).toEqual({
    port: 8770,
    hosts: [],
    public_url: null,
    database: { host: '127.0.0.1', port: 8771, name: 'hub' },
    model_query_timeout_ms: 5000,
    max_archive_bytes: 20 * 1024 ** 3,
  })
  expect(paths).toMatchObject({
    data_dir: '/var/lib/watchpost',
    prompts_dir: '/opt/ceo-runner/prompts',
  })
  expect(license_keys).toMatch(/\/hub\/license\/license-keys\.json$/)
  // There is no hub.json of an installed hub where the tests run, or it names the same folders.
  const installed = await readConfig({ HUB_DATA_DIR: '/data' })
  expect(installed.paths).toMatchObject({ config_dir: '/etc/watchpost', data_dir: '/data' })
})

test('the environment names folders, keys and the port, whatever hub.json says', async () => {
  const env = { HUB_DATA_DIR: '/d', HUB_PROMPTS_DIR: '/p', HUB_LICENSE_KEYS: '/k.json' }
  const config = await read('{"port": 1234, "database": {"port": 5}}', { ...env, HUB_PORT: '0' })
  expect(config).toMatchObject({ port: 0, license_keys: '/k.json' })
  expect(config.paths).toMatchObject({ data_dir: '/d', prompts_dir: '/p' })
  expect(config.database).toEqual({ host: '127.0.0.1', port: 5, name: 'hub' })
  expect((await read('{"port": 1234}')).port).toBe(1234)
})

test.each([
  ...['x', '-1', '65536', '1.5'].map((port) => ['HUB_PORT', port]),
  ...['HUB_CONFIG_DIR', 'HUB_DATA_DIR', 'HUB_PROMPTS_DIR', 'HUB_LICENSE_KEYS'].map((name) => [
    name,
    '',
  ]),
])('%s cannot be "%s", and the error names it', async (name = '', value = '') => {
  const said = await refusal(read(undefined, { [name]: value }))
  expect(said.split(': ')[0]).toBe(name)
  if (name === 'HUB_PORT') expect(said).toBe('HUB_PORT: must be a port between 0 and 65535')
})

test.each([
  ['{"port": 65536}', /hub\.json: port: must be a port between 0 and 65535$/],
  ['{"database": {"port": 0}}', /: database: port: must be a port between 1 and 65535$/],
  ['{"prot": 1}', /hub\.json: Unrecognized key: "prot"$/],
  ['{', /hub\.json is not valid JSON/],
])('of the hub.json %s the error names file and field', async (text, message) => {
  expect(await refusal(read(text))).toMatch(message)
})

describe('in hub.json', () => {
  const isTaken = (given: object) => HubFile.safeParse(given).success
  test.each<[field: string, good: unknown[], bad: unknown[]]>([
    ['port', [0, 1, 65_535], [-1, 65_536, 80.5, '80']],
    [
      'hosts',
      [[], ['a'], ['x'.repeat(253)], Array(200).fill('a')],
      [[''], ['x'.repeat(254)], Array(201).fill('a'), 'a', null],
    ],
    [
      'public_url',
      [null, 'https://hub.example', 'https://hub.example:8443/x'],
      ['http://hub.example', 'httpsx://hub.example', 'xhttps://hub.example', 'hub.example', ''],
    ],
  ])('%s is %j, and not %j', (field, good, bad) => {
    for (const value of good) expect([value, isTaken({ [field]: value })]).toEqual([value, true])
    for (const value of bad) expect([value, isTaken({ [field]: value })]).toEqual([value, false])
  })

  test('the database has a port from 1 to 65535 and no other fields', () => {
    for (const port of [1, 65_535]) expect(isTaken({ database: { port } }), `${port}`).toBe(true)
    for (const port of [0, 65_536]) expect(isTaken({ database: { port } }), `${port}`).toBe(false)
    expect(isTaken({ database: { user: 'x' } })).toBe(false)
  })
})

test('a hub in one folder keeps everything there, and ~ is the home folder', () => {
  expect(pathsIn('~/hub')).toEqual({
    config_dir: join(homedir(), 'hub'),
    data_dir: join(homedir(), 'hub'),
    prompts_dir: join(homedir(), 'hub/prompts'),
  })
  expect(pathsIn('~').data_dir).toBe(homedir())
  for (const path of ['/a/~', '/a/~/b', '/~b']) expect(pathsIn(path).data_dir).toBe(path)
  expect(pathsIn('~b').data_dir).toBe(join(process.cwd(), '~b'))
})
