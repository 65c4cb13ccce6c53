import fs, { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { startBackup } from '../../../hub/backup/backup.ts'
import { examine } from '../../../hub/ops/doctor.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { licenseHub } from '../support/licensed.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.close())
// To start a browser for each finding would take most of the time.
beforeEach(() => void vi.stubEnv('HUB_CHROMIUM', '/nowhere/chromium'))
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  syncBuiltinESMExports()
})

/** What the doctor finds about one thing: its grade and its English sentence. */
async function look(what: string, more: object = {}): Promise<[string, string]> {
  const findings = await examine({ ...hub.config, ...more })
  const found = findings.find((finding) => finding.what.en === what)
  return [found?.is ?? 'none', found?.say.en ?? '']
}
const inConfig = (name: string) => join(hub.paths.config_dir, name)
const GIB = 2 ** 30

test('every prerequisite is named once, in its order, in both languages', async () => {
  const findings = await examine(hub.config)
  expect(findings.map(({ what }) => what.en).join(', ')).toBe(
    'Node, Memory, Disk, Folders, Secrets, Database, Hub, Set-up, Model, License, Mail, Backups, Cron, Browser',
  )
  expect(findings.map(({ what }) => what.tr)).toContain('Klasörler')
  expect(findings[0]).toMatchObject({ is: 'ok', say: { en: `Node ${process.versions.node}.` } })
})

test('memory is too little below 3.5 GiB and little below 6', async () => {
  const given = async (gib: number) => {
    vi.spyOn(os, 'totalmem').mockReturnValue(gib * GIB)
    syncBuiltinESMExports()
    return look('Memory')
  }
  expect(await given(3.4)).toEqual(['fail', expect.stringContaining('3.4 GiB')])
  expect(await given(3.5)).toEqual(['warn', expect.stringContaining('choose a small model')])
  expect((await given(5.9))[0]).toBe('warn')
  expect(await given(6)).toEqual(['ok', '6.0 GiB of memory.'])
})

test('disk is too little below 1 GiB and little below 4', async () => {
  const given = async (gib: number) => {
    // safe: the doctor reads nothing else
    vi.spyOn(fs, 'statfs').mockResolvedValue({ bavail: gib * 1024, bsize: 2 ** 20 } as never)
    syncBuiltinESMExports()
    return look('Disk')
  }
  expect(await given(0.9)).toEqual(['fail', expect.stringContaining('at least 1 GiB is required')])
  expect(await given(1)).toEqual(['warn', expect.stringContaining('Free some space')])
  expect((await given(3.9))[0]).toBe('warn')
  expect(await given(4)).toEqual(['ok', `4.0 GiB free in ${hub.paths.data_dir}.`])
})

test('each folder that is missing, or that the hub cannot write to, is named', async () => {
  const { config_dir, prompts_dir, data_dir } = hub.paths
  const below = ['projects', 'models', 'backups'].map((name) => join(data_dir, name))
  for (const folder of [prompts_dir, ...below]) await mkdir(folder, { recursive: true })
  expect(await look('Folders')).toEqual(['ok', 'All folders exist and are writable.'])
  const access = fs.access
  for (const folder of [config_dir, prompts_dir, ...below]) {
    // Root may write everywhere, so the file system is asked through a door that says no.
    vi.spyOn(fs, 'access').mockImplementation(async (path, mode) => {
      if (path !== folder) return access(path, mode)
      expect(mode).toBe(fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
      throw new Error('EACCES')
    })
    syncBuiltinESMExports()
    expect(await look('Folders'), folder).toEqual([
      'fail',
      `${folder} is missing, or the hub cannot write to it. Run the installer again to repair it.`,
    ])
  }
})

test('each secret that others can read is named with the command, and one that is missing too', async () => {
  expect((await look('Secrets'))[0]).toBe('ok')
  const secrets = ['x.key', 'x.token', 'x.salt', 'x.secret', 'sessions.json', 'mail.json']
  secrets.push('dkim.json', 'backup-ssh', 'x.code')
  for (const name of [...secrets, 'models.json', 'backup.json', 'license.json', 'admin.json']) {
    await writeFile(inConfig(name), '{}', { mode: 0o600 })
    expect((await look('Secrets'))[0], name).toBe('ok')
    for (const mode of [0o640, 0o604]) {
      await chmod(inConfig(name), mode)
      expect(await look('Secrets'), name).toEqual([
        'fail',
        `Other users can read ${inConfig(name)}. Run: chmod 600 ${inConfig(name)}`,
      ])
    }
    await rm(inConfig(name))
  }
  for (const name of ['hub.json.bak', 'x.keys', 'mail.json.old', 'notes.txt', 'my-mail.json']) {
    await writeFile(inConfig(name), '{}', { mode: 0o644 })
    await chmod(inConfig(name), 0o644)
    expect((await look('Secrets'))[0], name).toBe('ok')
    await rm(inConfig(name))
  }
  const token = await fs.readFile(inConfig('hub.token'))
  await rm(inConfig('hub.token'))
  expect(await look('Secrets')).toEqual(['fail', expect.stringMatching(/hub\.token is missing/)])
  await writeFile(inConfig('hub.token'), token, { mode: 0o600 })
})

test('the database works with the service key, only reads with the other, or does not answer', async () => {
  const { host, port } = hub.config.database
  expect(await look('Database')).toEqual(['ok', `Answers at ${host}:${port} with the service key.`])
  const reader = await startHub({ key: 'public' })
  const findings = await examine(reader.config)
  await reader.close()
  expect(findings.find(({ what }) => what.en === 'Database')).toMatchObject({
    is: 'warn',
    say: { en: expect.stringContaining('only with the read-only key') },
  })
  const nowhere = { database: { ...hub.config.database, port: 1 } }
  expect(await look('Database', nowhere)).toEqual([
    'fail',
    expect.stringMatching(/^\S+:1 does not work: .*ECONNREFUSED/),
  ])
})

test('the hub runs where it answers its health, and nowhere else', async () => {
  let status = 200
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.url)
    response.writeHead(status).end('{"version":"9.8.7"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // safe: it listens on a port
  expect(await look('Hub', { port })).toEqual(['ok', `Version 9.8.7 answers on port ${port}.`])
  expect(asked).toEqual(['/api/cockpit/health'])
  status = 503
  const away = ['fail', expect.stringContaining(`Nothing answers at 127.0.0.1:${port}.`)]
  expect(await look('Hub', { port })).toEqual(away)
  await new Promise((resolve) => server.close(resolve))
  expect(await look('Hub', { port })).toEqual(away)
})

test('mail needs a server, a public address for SMTP, and no pause', async () => {
  const set = (name: string, value: object) =>
    writeFile(inConfig(name), JSON.stringify(value), { mode: 0o600 })
  const smtp = { host: '127.0.0.1', port: 25, security: 'none' }
  const put = (body: object) => hub.call('PUT', 'settings/mail', body)
  expect(await look('Mail')).toEqual(['warn', expect.stringContaining('No mail server is set up')])
  expect((await put({ smtp })).status).toBe(200)
  expect(await look('Mail')).toEqual(['warn', expect.stringContaining('public https address')])
  const public_url = 'https://hub.example.com'
  expect(await look('Mail', { public_url })).toEqual(['ok', 'Sent through SMTP.'])
  await hub.call('POST', 'settings/mail/pause')
  expect(await look('Mail', { public_url })).toEqual([
    'warn',
    'Paused by the admin. Resume it in Settings > Mail.',
  ])
  await hub.call('POST', 'settings/mail/confirm')
  expect((await look('Mail', { public_url }))[0]).toBe('ok')
  await set('mail.json', { smtp: 1 })
  expect((await look('Mail'))[0]).toBe('fail')
  await rm(inConfig('mail.json'))
})

test('a daily or manual backup is fresh for 50 hours', async () => {
  expect(await look('Backups')).toEqual(['warn', expect.stringMatching(/^None yet/)])
  const made = (kind: string) =>
    join(hub.paths.data_dir, `backups/watchpost-hub-20260101-000000000-${kind}.tar.gz`)
  const at = (hours: number) => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 0, 1) + hours * 3_600_000)
    return look('Backups')
  }
  await writeFile(made('before-restore'), '')
  expect((await at(1))[0]).toBe('warn')
  for (const kind of ['daily', 'manual']) {
    await writeFile(made(kind), '')
    expect(await at(49.99), kind).toEqual(['ok', expect.stringContaining('1 January 2026')])
    expect(await at(50), kind).toEqual(['fail', expect.stringContaining('watchpost-hub backup')])
    await rm(made(kind))
  }
  await rm(made('before-restore'))
})

test('a backup that was made and could not be copied elsewhere is no good one', async () => {
  const folder = join(hub.paths.data_dir, 'backups')
  await (await startBackup(hub.config, 'manual')).done
  expect((await look('Backups'))[0]).toBe('ok')
  const encryption = { kind: 'passphrase', passphrase: 'x'.repeat(12) }
  const target = { kind: 'rsync', destination: '/nowhere/at/all' }
  await writeFile(inConfig('backup.json'), JSON.stringify({ encryption, target }))
  const { done } = await startBackup(hub.config, 'manual')
  await expect(done).rejects.toThrow('rsync')
  expect(await look('Backups')).toEqual([
    'fail',
    expect.stringMatching(/^The last backup failed\. The backup was made, but rsync/),
  ])
  await rm(inConfig('backup.json'))
  for (const name of await fs.readdir(folder)) await rm(join(folder, name))
})

test('a model is chosen, at an endpoint, or a file in its folder or elsewhere', async () => {
  const given = async (settings: object) => {
    await writeFile(inConfig('models.json'), JSON.stringify(settings), { mode: 0o600 })
    const found = await look('Model')
    await rm(inConfig('models.json'))
    return found
  }
  expect(await look('Model')).toEqual(['warn', expect.stringContaining('missions wait')])
  expect(await given({ kind: 'endpoint', url: 'http://127.0.0.1:1/v1', model: 'm' })).toEqual([
    'ok',
    'm at http://127.0.0.1:1/v1.',
  ])
  const elsewhere = join(hub.paths.data_dir, 'other.gguf')
  for (const [file, place] of [
    ['x.gguf', join(hub.paths.data_dir, 'models/x.gguf')],
    [elsewhere, elsewhere],
  ] as const) {
    const local = { kind: 'local', file }
    expect(await given(local)).toEqual([
      'fail',
      `${file} is missing. Download it in Settings > Models.`,
    ])
    await writeFile(place, '')
    expect(await given(local)).toEqual(['ok', file])
    await rm(place)
  }
})

test('no license is the Free tier, and one that is refused says why', async () => {
  expect(await look('License')).toEqual(['ok', 'None: Free tier, one project.'])
  await writeFile(inConfig('license.json'), '{"license":"x"}', { mode: 0o600 })
  expect(await look('License')).toEqual([
    'warn',
    'This is not a license key. Paste the whole key, exactly as you received it.',
  ])
  await rm(inConfig('license.json'))
})

test('a license is told with its tier and its end', async () => {
  const license_keys = hub.config.license_keys
  await licenseHub(hub, new Date('2199-03-01T12:00:00Z'))
  expect(await look('License')).toEqual(['ok', expect.stringMatching(/Enterprise.*1 March 2199/)])
  hub.config.license_keys = license_keys
  await rm(inConfig('license.json'))
})

test('the admin password is set or still open', async () => {
  expect(await look('Set-up')).toEqual(['warn', expect.stringContaining('No admin password')])
  await writeFile(inConfig('admin.json'), '{}', { mode: 0o600 })
  expect((await look('Set-up'))[0]).not.toBe('warn')
  await rm(inConfig('admin.json'))
})

test('an installed hub has its cron file; elsewhere none is needed', async () => {
  expect(await look('Cron')).toEqual(['ok', 'Not installed; the hub makes the backups itself.'])
  const installed = { paths: { ...hub.paths, config_dir: '/etc/watchpost' } }
  const cron = '/etc/cron.d/watchpost'
  const access = fs.access
  for (const [isThere, grade] of [
    [true, 'ok'],
    [false, 'warn'],
  ] as const) {
    vi.spyOn(fs, 'access').mockImplementation(async (path, mode) => {
      if (path !== cron) return access(path, mode)
      if (!isThere) throw new Error('ENOENT')
    })
    syncBuiltinESMExports()
    expect(await look('Cron', installed)).toEqual([grade, expect.stringContaining(cron)])
  }
})

test('without Chromium no website can be read', async () => {
  expect(await look('Browser')).toEqual(['warn', expect.stringContaining('not installed')])
})
