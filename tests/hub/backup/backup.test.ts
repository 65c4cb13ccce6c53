import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startBackup, startRestore } from '../../../hub/backup/backup.ts'
import { backupFile, backupsIn, listBackups } from '../../../hub/backup/make.ts'
import { readPause } from '../../../hub/mail/settings.ts'
import { emailHash, readSalt, type Salt } from '../../../hub/mail/suppression.ts'
import { exportOf, fillHub } from '../support/backup-data.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
let salt: Salt
beforeAll(async () => {
  hub = await startHub()
  salt = await readSalt(hub.paths)
  await fillHub(hub)
})
afterAll(() => hub.close())

const make = async () => (await startBackup(hub.config, 'manual')).done
const restore = async (name: string, trust?: string) =>
  (await startRestore(hub.config, name, { secret: {}, trust })).done
const projects = () => join(hub.paths.data_dir, 'projects')

test('backup, wipe, restore: byte-equal rows and folders', async () => {
  const before = await exportOf(hub)
  expect(Object.keys(before.tables).length).toBeGreaterThan(8)
  const name = await make()
  await hub.query('delete from hub.projects')
  await hub.query('delete from hub.suppression')
  await rm(projects(), { recursive: true })
  await mkdir(join(projects(), 'left-over'), { recursive: true })
  await writeFile(join(hub.paths.prompts_dir, 'sales.md'), 'changed')
  await rm(join(hub.paths.prompts_dir, 'docs.md'))

  await restore(name)
  expect(await exportOf(hub)).toEqual(before)
})

test('a restore is preceded by a backup, pauses mail, and lets nobody off the suppression list', async () => {
  const name = await make()
  const hash = emailHash(salt, 'new@example.com')
  await hub.query("insert into hub.suppression (email_hash, reason) values ($1, 'manual')", [hash])
  const before = (await listBackups(hub.paths)).filter(({ kind }) => kind === 'before-restore')
  await restore(name)
  expect(await hub.query('select from hub.suppression where email_hash = $1', [hash])).toHaveLength(
    1,
  )
  const after = (await listBackups(hub.paths)).filter(({ kind }) => kind === 'before-restore')
  expect(after.length).toBe(before.length + 1)
  expect(await readPause(hub.paths)).toMatchObject({ reason: 'restored' })
})

test('rows made since are gone, changed ones are as they were', async () => {
  const before = await exportOf(hub)
  const name = await make()
  await hub.query("update hub.leads set name = 'Changed', email = null where email is not null")
  await hub.query("insert into hub.projects (slug, name) values ('since', 'Since')")
  await restore(name)
  expect((await exportOf(hub)).tables).toEqual(before.tables)
})

test('a backup is of one moment: what is written while it is made is in the next', async () => {
  const before = await exportOf(hub)
  const waits = () =>
    hub.query(
      `select from pg_stat_activity
       where datname = current_database() and application_name = 'watchpost-hub backup'
         and wait_event_type = 'Lock'`,
    )
  let making: Promise<string> | undefined
  await hub.deps.db.transaction('*', async (sql) => {
    await sql`lock table hub.leads in access exclusive mode`
    making = make()
    // It has read tables before this one, and reads others behind it.
    await vi.waitFor(async () => expect(await waits()).toHaveLength(1), { timeout: 20_000 })
    const [project] = await sql<{ id: string }>`select id from hub.projects limit 1`
    const [lead] = await sql<{ id: string }>`
      insert into hub.leads (project_id, name) values (${project?.id}, 'Meanwhile') returning id`
    await sql`
      insert into hub.notes (project_id, lead_id, text) values (${project?.id}, ${lead?.id}, 'x')`
  })
  await restore((await making) ?? '')
  expect((await exportOf(hub)).tables).toEqual(before.tables)
})

describe('a bad archive is refused and nothing is changed', () => {
  let good: string
  let before: Awaited<ReturnType<typeof exportOf>>
  beforeAll(async () => {
    good = await make()
    before = await exportOf(hub)
  })

  /** Unpacks the good one, lets the case damage it, and packs it again. */
  async function damaged(damage: (folder: string) => Promise<void>): Promise<string> {
    const folder = join(hub.paths.data_dir, 'damage')
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder)
    execFileSync('tar', ['-xzf', backupFile(hub.paths, good), '-C', folder])
    await damage(folder)
    // Whoever changes an archive cannot sign it.
    await rm(join(folder, 'signature.json'))
    const name = 'watchpost-hub-20200101-000000000-uploaded.tar.gz'
    const names = (await readdir(folder)).sort((a) => (a === 'manifest.json' ? -1 : 1))
    execFileSync('tar', ['-czf', backupFile(hub.paths, name), '-C', folder, '--', ...names])
    return name
  }
  const edit = async (folder: string, change: (manifest: Record<string, unknown>) => void) => {
    const file = join(folder, 'manifest.json')
    const manifest = JSON.parse(await readFile(file, 'utf8'))
    change(manifest)
    await writeFile(file, JSON.stringify(manifest))
  }

  test.each<[string, (folder: string) => Promise<void>, RegExp]>([
    [
      'a changed row',
      async (folder) => {
        const file = join(folder, 'database/leads.copy')
        await writeFile(file, (await readFile(file, 'utf8')).replace('Ayşe', 'Eyşe'))
      },
      /does not match its checksum/,
    ],
    ['a missing file', (folder) => rm(join(folder, 'database/leads.copy')), /is missing/],
    ['an added file', (folder) => writeFile(join(folder, 'projects/x'), 'x'), /not in the archive/],
    [
      'a symbolic link',
      (folder) => symlink('/etc/passwd', join(folder, 'projects/link')),
      /not a regular file/,
    ],
    ['no manifest', (folder) => rm(join(folder, 'manifest.json')), /has no manifest/],
    [
      'a path that leads out',
      (folder) =>
        edit(folder, (manifest) => {
          manifest.files = [
            { path: 'projects/../../x', bytes: 0, sha256: '0'.repeat(64), mode: 0o600 },
          ]
        }),
      /manifest is invalid \(files\.0\.path\)/,
    ],
    [
      'a newer schema',
      (folder) =>
        edit(folder, (manifest) => {
          manifest.upgrades = ['29990101_more.sql']
        }),
      /newer than this hub/,
    ],
    [
      'a newer format',
      (folder) =>
        edit(folder, (manifest) => {
          manifest.format = 2
        }),
      /newer than this hub/,
    ],
    [
      'an unknown column',
      (folder) =>
        edit(folder, (manifest) => {
          const [table] = manifest.tables as { columns: string[] }[]
          table?.columns.push('nonsense')
        }),
      /does not know/,
    ],
  ])('%s', async (_, damage, message) => {
    const name = await damaged(damage)
    await expect(restore(name, 'I trust this archive')).rejects.toThrow(message)
    expect(await exportOf(hub)).toEqual(before)
    expect((await readdir(hub.paths.data_dir)).filter((n) => n.startsWith('.restore'))).toEqual([])
  })

  test.each([
    ['half an archive', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['one with a flipped bit', (bytes: Buffer) => bytes.fill(0xff, 600, 601)],
    ['an empty one', (bytes: Buffer) => bytes.subarray(0, 0)],
  ])('%s', async (_, damage) => {
    const name = 'watchpost-hub-20200101-000000001-uploaded.tar.gz'
    await writeFile(
      backupFile(hub.paths, name),
      damage(await readFile(backupFile(hub.paths, good))),
    )
    await expect(restore(name)).rejects.toThrow(/damaged|manifest|checksum/)
    expect(await exportOf(hub)).toEqual(before)
  })
})

describe('over HTTP', () => {
  const list = async () => (await hub.call('GET', 'backups')).json()
  const ended = () =>
    vi.waitFor(
      async () => {
        const { job } = await list()
        expect(job.status).not.toBe('running')
        return job
      },
      { timeout: 20_000, interval: 50 },
    )

  test('run, list, download, upload, restore, delete', async () => {
    const started = await hub.call('POST', 'backup/run')
    expect(started.status).toBe(202)
    expect((await started.json()).job).toMatchObject({ kind: 'backup', status: 'running' })
    expect((await hub.call('POST', 'backup/run')).status).toBe(409)
    const { name } = await ended()
    const { backups, last_at, next_at } = await list()
    expect(backups[0]).toMatchObject({ name, kind: 'manual', encrypted: false })
    expect(last_at).toBe(backups[0].created_at)
    expect(new Date(next_at).getTime()).toBeGreaterThan(Date.now())

    const fetched = await hub.call('GET', `backup/download?name=${name}`)
    const bytes = new Uint8Array(await fetched.arrayBuffer())
    expect(bytes.length).toBe(backups[0].bytes)
    const uploaded = await hub.call('POST', 'backup/upload', bytes, {
      'content-type': 'application/octet-stream',
    })
    expect(uploaded.status).toBe(201)
    const { backup } = await uploaded.json()
    expect(backup).toMatchObject({ kind: 'uploaded', bytes: bytes.length })

    const before = await exportOf(hub)
    await hub.query('delete from hub.projects')
    const unsure = await hub.call('POST', 'backup/restore', { name: backup.name, confirm: 'yes' })
    expect((await unsure.json()).errors).toMatchObject([{ path: 'confirm', code: 'mismatch' }])
    const restoring = await hub.call('POST', 'backup/restore', {
      name: backup.name,
      confirm: backup.name,
    })
    expect(restoring.status).toBe(202)
    expect(await ended()).toMatchObject({ kind: 'restore', status: 'done', progress: 1 })
    expect((await exportOf(hub)).folders).toEqual(before.folders)
    expect(await hub.query('select from hub.projects')).toHaveLength(2)

    expect((await hub.call('POST', 'backup/delete', { name: backup.name })).status).toBe(204)
    expect((await hub.call('POST', 'backup/delete', { name: backup.name })).status).toBe(404)
  })

  test.each(['../../etc/passwd', 'service.key', '.job.json', 'watchpost-hub-x.tar.gz'])(
    'the name %s is 404',
    async (name) => {
      const query = encodeURIComponent(name)
      expect((await hub.call('GET', `backup/download?name=${query}`)).status).toBe(404)
      expect((await hub.call('POST', 'backup/delete', { name })).status).toBe(404)
      const restoring = await hub.call('POST', 'backup/restore', { name, confirm: name })
      expect(restoring.status).toBe(404)
    },
  )

  test('an upload that is still arriving survives a backup, and its name is its own', async () => {
    const token = await readFile(join(hub.paths.config_dir, 'hub.token'), 'utf8')
    const arriving = new TransformStream<Uint8Array, Uint8Array>()
    const writer = arriving.writable.getWriter()
    const headers = { host: 'localhost', authorization: `Bearer ${token.trim()}` }
    const body = { method: 'POST', headers, body: arriving.readable, duplex: 'half' } as RequestInit // safe: fetch's own option for streams
    const uploading = hub.app.request('http://localhost/api/cockpit/backup/upload', body)
    await writer.write(gzipSync('half'))
    await vi.waitFor(async () => {
      const names = await readdir(backupsIn(hub.paths))
      expect(names.filter((name) => name.startsWith('.upload-'))).toHaveLength(1)
    }, 20_000)
    expect((await hub.call('POST', 'backup/run')).status).toBe(202)
    await ended()
    await writer.close()
    const uploaded = await uploading
    expect(uploaded.status).toBe(201)

    const archive = new Uint8Array(gzipSync('whole'))
    const both = await Promise.all(
      Array.from({ length: 5 }, () =>
        hub.call('POST', 'backup/upload', archive, { 'content-type': 'application/octet-stream' }),
      ),
    )
    expect(both.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    const names = await Promise.all(both.map(async (one) => (await one.json()).backup.name))
    expect(new Set(names).size).toBe(5)
    for (const name of names) await hub.call('POST', 'backup/delete', { name })
  })

  test('an archive that is too large is refused while it arrives, and leaves nothing behind', async () => {
    const small = await startHub({ config: { max_archive_bytes: 2048 } })
    onTestFinished(() => small.close())
    const upload = (bytes: number, headers: Record<string, string> = {}) => {
      const archive = new Uint8Array(bytes)
      archive.set(gzipSync('x'))
      const type = { 'content-type': 'application/octet-stream' }
      return small.call('POST', 'backup/upload', archive, { ...type, ...headers })
    }
    expect((await upload(2048)).status).toBe(201)
    // What declares its length is refused before it is read.
    for (const headers of [undefined, { 'content-length': '2049' }]) {
      const refused = await upload(2049, headers)
      expect(refused.status).toBe(413)
      expect((await refused.json()).detail).toContain('2 KiB')
    }
    expect(await readdir(backupsIn(small.paths))).toHaveLength(1)
  })

  test('what is no archive is not taken in', async () => {
    const refused = await hub.call('POST', 'backup/upload', new Uint8Array(100), {
      'content-type': 'application/octet-stream',
    })
    expect(refused.status).toBe(422)
  })
})
