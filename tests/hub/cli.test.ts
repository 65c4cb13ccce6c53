import { spawn } from 'node:child_process'
import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { listBackups } from '../../hub/backup/make.ts'
import { readPause } from '../../hub/mail/settings.ts'
import { VERSION } from '../../shared/version.ts'
import { exportOf, fillHub } from './support/backup-data.ts'
import { startHub, type TestHub } from './support/hub.ts'

/** Each run is a process of its own, which a busy machine starts slowly. */
vi.setConfig({ testTimeout: 120_000 })

const LIGHT_PASSWORDS = new URL('../support/light-passwords.ts', import.meta.url).href
let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await fillHub(hub)
})
afterAll(() => hub.close())

type Ran = { code: number | null; out: string; err: string }
function run(
  args: string[],
  given: { input?: string; owner?: string; folders?: false } = {},
): Promise<Ran> {
  const script = join(import.meta.dirname, '../../hub/cli.ts')
  const folders = {
    HUB_CONFIG_DIR: hub.paths.config_dir,
    HUB_DATA_DIR: hub.paths.data_dir,
    HUB_PROMPTS_DIR: hub.paths.prompts_dir,
  }
  // What it hashes is checked here, so with as little work.
  const child = spawn(process.execPath, ['--import', LIGHT_PASSWORDS, script, ...args], {
    env: {
      ...process.env,
      ...(given.folders === false ? {} : folders),
      HUB_PORT: '1',
      HUB_OWNER_URL: given.owner ?? '',
    },
  })
  const ran: Ran = { code: null, out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    ran.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    ran.err += chunk
  })
  child.stdin.end(given.input)
  return new Promise((resolve) => child.on('close', (code) => resolve({ ...ran, code })))
}

test('an unknown verb or option is 2 and shows what there is', async () => {
  const [unknown, option, help] = await Promise.all([
    run(['dance', 'slowly']),
    run(['doctor', '--loud']),
    run(['help']),
  ])
  expect(unknown).toMatchObject({ code: 2, out: '' })
  expect(unknown.err).toMatch(/^Unknown verb: dance slowly\.\n\nwatchpost-hub <verb> \[options\]\n/)
  expect(option).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--loud') })
  expect(help).toMatchObject({ code: 0, err: '', out: expect.stringContaining('restore BACKUP') })
})

test('doctor says what is amiss and the way out, and fails for it', async () => {
  const { code, out } = await run(['doctor'])
  expect(code).toBe(1)
  expect(out).toMatch(/^fail {2}Hub .*systemctl start watchpost-hub/m)
  expect(out).toMatch(/^ok {4}Database .*with the service key/m)
  expect(out).toMatch(/^ok {4}Secrets/m)
  expect(out).toMatch(/^warn {2}Backups .*None yet/m)
  await writeFile(join(hub.paths.config_dir, 'mail.json'), '{"smtp": 1}', { mode: 0o644 })
  const again = await run(['doctor'])
  await rm(join(hub.paths.config_dir, 'mail.json'))
  expect(again.out).toMatch(/^fail {2}Secrets .*chmod 600 .*mail\.json/m)
  expect(again.out).toMatch(/^fail {2}Mail .*mail\.json: smtp is not valid/m)
})

test('backup says on the side what it lacks', async () => {
  const project = join(hub.paths.data_dir, 'projects/demir')
  const file = Buffer.concat([Buffer.from(`${project}/`), Buffer.from('73f67a', 'hex')])
  await writeFile(file, 'x')
  const { code, out, err } = await run(['backup'])
  await rm(file)
  expect([code, err]).toEqual([0, expect.stringMatching(/^The backup lacks "projects\/demir\//)])
  await rm(out.trim())
})

test('service-key show prints the key alone', async () => {
  const key = await readFile(join(hub.paths.config_dir, 'service.key'), 'utf8')
  expect(await run(['service-key', 'show'])).toEqual({ code: 0, out: `${key.trim()}\n`, err: '' })
  await rename(join(hub.paths.config_dir, 'service.key'), join(hub.paths.config_dir, 'away'))
  const [missing, other] = await Promise.all([run(['service-key', 'show']), run(['service-key'])])
  await rename(join(hub.paths.config_dir, 'away'), join(hub.paths.config_dir, 'service.key'))
  expect(missing).toMatchObject({ code: 1, out: '' })
  expect(missing.err).toMatch(/service\.key is missing\. Run the installer again\.\n$/)
  expect(other).toMatchObject({
    code: 2,
    err: expect.stringContaining('Unknown verb: service-key.'),
  })
})

test('backup, restore --check, restore', async () => {
  const before = await exportOf(hub)
  const made = await run(['backup'])
  expect(made.code).toBe(0)
  expect(made.out).toMatch(/-manual\.tar\.gz\n$/)
  const file = made.out.trim()
  expect((await run(['backup', '--scheduled'])).out).toMatch(/-daily\.tar\.gz\n$/)
  expect(await run(['backup', '--scheduled'])).toEqual({ code: 0, out: '', err: '' })

  const owner = inject('server').adminUrl
  const checked = await run(['restore', '--check', file], { owner })
  expect(checked).toMatchObject({ code: 0, out: expect.stringMatching(/^ok: \d+ tables/) })
  expect((await run(['restore', '--check', file])).err).toContain('HUB_OWNER_URL')

  await hub.query('delete from hub.projects')
  expect(await run(['restore', file])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--yes'),
  })
  const elsewhere = join(hub.paths.data_dir, 'copy.tar.gz')
  await copyFile(file, elsewhere)
  const restored = await run(['restore', '--yes', elsewhere], { owner })
  expect(restored).toMatchObject({ code: 0, out: expect.stringContaining('Mail is paused') })
  const after = await exportOf(hub)
  expect(after.folders).toEqual(before.folders)
  expect(after.tables.leads).toEqual(before.tables.leads)
  const kinds = (await listBackups(hub.paths)).map(({ kind }) => kind)
  expect(kinds).toEqual(['before-restore', 'daily', 'manual'])
  expect((await readPause(hub.paths)).reason).toBe('restored')
  expect(await run(['restore', '--yes', '/nowhere.tar.gz'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('no file or backup named /nowhere.tar.gz'),
  })
})

test('reset-password makes a code, or takes a password; both end every session', async () => {
  const { code, out } = await run(['reset-password'])
  expect(code).toBe(0)
  const setup = out.trim().split('\n').at(-1)
  expect(out).toMatch(
    /^The old password of the first admin is void, .* Open \/hub\/ and choose a new password/,
  )
  const time = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z'
  const facts = [
    `Watchpost Hub ${VERSION.replaceAll('.', '\\.')}`,
    '  Hub         not running',
    '  Key         service \\(reads and writes\\)',
    '  License     free',
    `  Backups     last ${time}, next ${time}`,
    '  Signing key \\S.*',
  ]
  const status = await run(['status'])
  expect(status.code).toBe(3)
  expect(status.out).toMatch(new RegExp(`^${facts.join('\n')}\n  Set-up code ${setup}\n$`))
  const post = (path: string, body: object) =>
    hub.app.request(`/api/cockpit/${path}`, {
      method: 'POST',
      headers: { host: 'localhost', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const made = await post('setup', { code: setup, password: 'a first password' })
  expect(made.status).toBe(200)
  const cookie = made.headers.get('set-cookie')?.split(';')[0] ?? ''
  const list = () =>
    hub.app.request('/api/cockpit/projects/list', { headers: { host: 'localhost', cookie } })
  expect((await list()).status).toBe(200)
  const short = await run(['reset-password', '--stdin'], { input: 'short\n' })
  expect(short).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/\S/) })
  expect(await run(['reset-password', '--stdin'], { input: 'a second password\n' })).toEqual({
    code: 0,
    out: 'The password of the first admin was changed, and its sessions have ended. Members keep theirs.\n',
    err: '',
  })
  expect((await list()).status).toBe(401)
  expect((await post('login', { password: 'a second password' })).status).toBe(200)
  // The folders of a hub that npm run hub started are named by one option.
  const folder = ['--data-dir', hub.paths.data_dir]
  const last = await run(['status', ...folder], { folders: false })
  expect(last.out).toMatch(new RegExp(`^${facts.join('\n')}\n$`))
})
