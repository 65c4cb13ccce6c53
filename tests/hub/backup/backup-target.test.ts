import { execFileSync } from 'node:child_process'
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBackup, startRestore } from '../../../hub/backup/backup.ts'
import { backupFile, backupsIn, listBackups } from '../../../hub/backup/make.ts'
import { BACKUP, type BackupSettings } from '../../../hub/backup/settings.ts'
import { writeSetting } from '../../../hub/ops/settings.ts'
import { exportOf, fillHub } from '../support/backup-data.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const IDENTITY = 'AGE-SECRET-KEY-1CZCC008726V4P55QRV83N746HLSN2T8KQLJCPUC44TEDETTW3QTSQ4EUVV'
const RECIPIENT = 'age15r2vmxr22k3fjhqw6uvsgqm45z2ye6cmwt9wl62kltdxpcatpg2sv4pffp'
const PASSPHRASE = 'correct horse battery staple'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await fillHub(hub)
})
afterAll(() => hub.close())

const set = (settings: Partial<BackupSettings>) =>
  writeSetting(hub.paths, BACKUP, settings as BackupSettings) // safe: the schema completes it
const folder = (destination: string) =>
  ({ kind: 'rsync', destination, port: 22, host_key: null }) as const
const make = async () => (await startBackup(hub.config, 'daily')).done
const restore = async (name: string, secret: object) =>
  (await startRestore(hub.config, name, { secret, powers: ['models'] })).done

test('a plain archive holds no key, password or token', async () => {
  const { config_dir } = hub.paths
  await writeFile(join(config_dir, 'models.json'), '{"kind": "none"}')
  const file = backupFile(hub.paths, await make())
  const names = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).split('\n')
  expect(names.slice(0, 2)).toEqual(['manifest.json', 'signature.json'])
  expect(names.filter((name) => name.startsWith('config/'))).toEqual([
    'config/',
    'config/suppression.salt',
  ])
  const content = execFileSync('tar', ['-xzOf', file]).toString('latin1')
  expect(content).not.toMatch(/wph_(service|public|local)_/)
})

describe('an encrypted archive', () => {
  test.each([
    ['a passphrase', { kind: 'passphrase', passphrase: PASSPHRASE }, { passphrase: PASSPHRASE }],
    ['a recipient', { kind: 'recipient', recipient: RECIPIENT }, { identity: IDENTITY }],
  ] as const)(
    'for %s opens with it alone, and holds passwords too',
    async (_, encryption, secret) => {
      await set({ encryption })
      const before = await exportOf(hub)
      const name = await make()
      expect(name).toMatch(/\.tar\.gz\.age$/)
      expect((await readFile(backupFile(hub.paths, name))).includes('Ayşe')).toBe(false)
      await set({})
      await hub.query('delete from hub.projects')
      await writeFile(join(hub.paths.config_dir, 'models.json'), '{"kind": "changed"}')
      await expect(restore(name, {})).rejects.toThrow(/is encrypted/)
      await expect(restore(name, { passphrase: 'another one entirely' })).rejects.toThrow(
        /does not open/,
      )
      expect(await hub.query('select from hub.projects')).toHaveLength(0)
      await restore(name, secret)
      const models = await readFile(join(hub.paths.config_dir, 'models.json'), 'utf8')
      expect(JSON.parse(models)).toEqual({ kind: 'none' })
      expect((await exportOf(hub)).folders).toEqual(before.folders)
      expect(await hub.query('select from hub.leads')).toHaveLength(2)
    },
  )
})

test('off this machine backups go encrypted only', async () => {
  await expect(set({ encryption: { kind: 'none' }, target: folder('/mnt') })).rejects.toThrow(
    /only encrypted/,
  )
})

describe('an S3-compatible target', () => {
  let server: Server
  let endpoint: string
  let refuse = false
  const received: { path: string; body: Buffer; request: IncomingMessage }[] = []
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      received.push({ path: request.url ?? '', body: Buffer.concat(chunks), request })
      if (!refuse) return response.end()
      response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  })
  afterAll(() => server.close())
  const target = () => ({
    kind: 's3' as const,
    endpoint,
    bucket: 'backups',
    region: 'eu-central-1',
    prefix: 'hub/one',
    access_key_id: 'AKID',
    secret_access_key: 'the secret',
  })
  const encryption = { kind: 'recipient' as const, recipient: RECIPIENT }

  test('gets the whole file under a right signature', async () => {
    await set({ encryption, target: target() })
    const name = await make()
    const [put] = received
    if (!put) throw new Error('nothing arrived')
    const { headers, method } = put.request
    expect(method).toBe('PUT')
    expect(put.path).toBe(`/backups/hub/one/${name}`)
    expect(put.body).toEqual(await readFile(backupFile(hub.paths, name)))
    expect(headers['content-length']).toBe(String(put.body.length))
    const sha256 = createHash('sha256').update(put.body).digest('hex')
    expect(headers['x-amz-content-sha256']).toBe(sha256)
    expect(headers.authorization).toContain(signatureOf(put.request, put.path, sha256))
  })

  test('that refuses fails the run with its reason, and the backup stays here', async () => {
    refuse = true
    const before = await listBackups(hub.paths)
    await expect(make()).rejects.toThrow(/"backups" refused the copy: 403 AccessDenied/)
    expect(await listBackups(hub.paths)).toHaveLength(before.length + 1)
    const { job } = await (await hub.call('GET', 'backups')).json()
    expect(job).toMatchObject({ status: 'failed', reason: expect.stringContaining('AccessDenied') })
    const headers = { 'Accept-Language': 'tr' }
    const turkish = await (await hub.call('GET', 'backups', undefined, headers)).json()
    expect(turkish.job.reason).toContain('“backups” kovası kopyayı kabul etmedi: 403 AccessDenied')
  })

  /** Signature Version 4, as Amazon's documentation writes it down. */
  function signatureOf({ headers }: IncomingMessage, path: string, sha256: string): string {
    const date = String(headers['x-amz-date'])
    const names = (/SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? '').split(';')
    const canonical = [
      'PUT',
      path,
      '',
      ...names.map((name) => `${name}:${headers[name]}`),
      '',
      names.join(';'),
      sha256,
    ].join('\n')
    const scope = `${date.slice(0, 8)}/eu-central-1/s3/aws4_request`
    const hash = createHash('sha256').update(canonical).digest('hex')
    const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash}`
    const hmac = (key: string | Buffer, value: string) =>
      createHmac('sha256', key).update(value).digest()
    const key = scope.split('/').reduce<string | Buffer>(hmac, 'AWS4the secret')
    return `Signature=${hmac(key, text).toString('hex')}`
  }
})

test('rsync gets the file behind the options; a missing rsync is said', async () => {
  const bin = join(hub.paths.data_dir, 'bin')
  const away = join(hub.paths.data_dir, 'away')
  await mkdir(bin)
  await mkdir(away)
  await set({
    encryption: { kind: 'recipient', recipient: RECIPIENT },
    target: folder(away),
  })
  const path = process.env.PATH
  try {
    process.env.PATH = bin
    await expect(make()).rejects.toThrow(/rsync is not installed/)
    const script = '#!/bin/sh\nfor a; do before=$last; last=$a; done\n/bin/cp "$before" "$last"\n'
    await writeFile(join(bin, 'rsync'), script)
    await chmod(join(bin, 'rsync'), 0o755)
    const name = await make()
    expect(await readdir(away)).toEqual([name])
  } finally {
    process.env.PATH = path
  }
})

describe('a copy over SSH', () => {
  const HOST_KEY =
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEpDeVY/Z/uR3/Zzvft1Y1CUsZkI8arvYAN1BdUIx4st'
  const FINGERPRINT = 'SHA256:92I9zjMZmUgJQhog0EmhLsYsM0qjvO0FSJ2CPhWseKQ'
  const path = process.env.PATH
  let bin: string
  /** Programs in place of OpenSSH's and rsync: the tests need neither. */
  const program = async (name: string, script: string) => {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(bin, name), 0o755)
  }
  const server = { destination: 'backup@nas.example:hub', port: 2222 }
  beforeAll(async () => {
    bin = join(hub.paths.data_dir, 'ssh-bin')
    await mkdir(bin)
    process.env.PATH = bin
    await program('ssh-keyscan', `echo "# $*"; echo "nas.example ${HOST_KEY}"`)
    await program(
      'ssh-keygen',
      'for a; do file=$a; done\necho private > "$file"; echo "ssh-ed25519 AAAAown watchpost-hub" > "$file.pub"',
    )
  })
  afterAll(() => {
    process.env.PATH = path
  })

  test('shows the key of the server with its fingerprint, and makes one of its own, once', async () => {
    const read = () =>
      hub.call('POST', 'settings/backup_server', server).then((answer) => answer.json())
    expect(await read()).toEqual({
      public_key: 'ssh-ed25519 AAAAown watchpost-hub',
      host_keys: [{ host_key: HOST_KEY, fingerprint: FINGERPRINT }],
    })
    await program('ssh-keygen', 'exit 1')
    expect(await read()).toMatchObject({ public_key: 'ssh-ed25519 AAAAown watchpost-hub' })
  })

  test('a destination whose server is known has a key to sign in with, and no other needs one', async () => {
    const key = join(hub.paths.config_dir, 'backup-ssh.pub')
    await program(
      'ssh-keygen',
      'for a; do file=$a; done\necho private > "$file"; echo "ssh-ed25519 AAAAnew watchpost-hub" > "$file.pub"',
    )
    const choose = async (target: object) => {
      for (const half of [key, key.replace('.pub', '')]) await rm(half, { force: true })
      const answer = await hub.call('PUT', 'settings/system', { backup: { target } })
      expect(answer.status, await answer.text()).toBe(200)
      return readFile(key, 'utf8').catch(() => null)
    }
    const rsync = { kind: 'rsync', ...server }
    expect(await choose({ ...rsync, host_key: null })).toBe(null)
    expect(await choose({ kind: 'none' })).toBe(null)
    expect(await choose({ ...rsync, host_key: HOST_KEY })).toContain('AAAAnew')
  })

  test.each([
    [
      'a folder',
      { destination: '/mnt', port: 22 },
      'Only a destination of the form user@host:folder',
    ],
    ['a server that is away', server, 'No SSH server answered at nas.example, port 2222.'],
  ])('names the field for %s', async (_, body, message) => {
    await program('ssh-keyscan', 'exit 1')
    const answer = await hub.call('POST', 'settings/backup_server', body)
    expect(answer.status).toBe(422)
    expect((await answer.json()).errors).toMatchObject([
      { path: 'destination', message: expect.stringContaining(message) },
    ])
  })

  test('trusts that server alone, and signs in with its own key alone', async () => {
    await set({
      encryption: { kind: 'recipient', recipient: RECIPIENT },
      target: { kind: 'rsync', ...server, host_key: HOST_KEY },
    })
    await program('rsync', 'while [ "$1" != -e ]; do shift; done; echo "$2" > ssh-command')
    await make()
    const of = (name: string) => readFile(join(hub.paths.config_dir, name), 'utf8')
    const command = await of('ssh-command')
    expect(command).toContain('-p 2222 -F none -i backup-ssh -o IdentitiesOnly=yes')
    expect(command).toContain('-o IdentityAgent=none -o StrictHostKeyChecking=yes')
    expect(command).toContain('-o HostKeyAlias=watchpost-hub-backup')
    expect(command).toContain('-o UserKnownHostsFile=backup-known-hosts')
    expect(command).toContain('-o GlobalKnownHostsFile=/dev/null')
    expect(await of('backup-known-hosts')).toBe(`watchpost-hub-backup ${HOST_KEY}\n`)
    const key = join(hub.paths.config_dir, 'backup-ssh.pub')
    const kept = await readFile(key)
    await rm(key)
    await rm(join(hub.paths.config_dir, 'ssh-command'))
    await expect(make()).rejects.toThrow(/key/)
    await expect(of('ssh-command')).rejects.toThrow(/ENOENT/)
    await writeFile(key, kept)
  })

  test('leaves nothing there under the name of a backup when it is cut short', async () => {
    await program(
      'rsync',
      `for a; do if [ "$a" = --partial ]; then echo 'it leaves a part' >&2; fi; done
      echo 'connection lost' >&2; exit 12`,
    )
    await expect(make()).rejects.toThrow('rsync failed: connection lost.')
  })

  test.each([
    ['@@@@\nHost key verification failed.', /does not show the key that is stored/],
    ['backup@nas: Permission denied (publickey).', /does not accept the key of this hub/],
    ['rsync: No space left on device.', /rsync failed: rsync: No space left on device\. Check/],
  ])('says what to do about "%s"', async (told, message) => {
    await program('rsync', `echo '${told}' >&2; exit 12`)
    await expect(make()).rejects.toThrow(message)
  })
})

test('the newest daily backups stay, and every one made by hand', async () => {
  await set({ keep_daily: 2 })
  const manual = await (await startBackup(hub.config, 'manual')).done
  await writeFile(join(backupsIn(hub.paths), 'of-somebody-else.tar.gz'), '')
  const made = [await make(), await make(), await make()]
  const left = await listBackups(hub.paths)
  expect(left.filter(({ kind }) => kind === 'daily').map(({ name }) => name)).toEqual(
    made.slice(1).reverse(),
  )
  expect(left.map(({ name }) => name)).toContain(manual)
  expect(await readdir(backupsIn(hub.paths))).toContain('of-somebody-else.tar.gz')
})
