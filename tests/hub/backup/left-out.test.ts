import fs, { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { readJob, startBackup, startRestore } from '../../../hub/backup/backup.ts'
import { backupFile, backupsIn } from '../../../hub/backup/make.ts'
import { createHealth } from '../../../hub/ops/health.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { membersOf } from '../support/tar.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir' })
})
afterAll(() => hub.close())
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

const folder = () => join(hub.paths.data_dir, 'projects/demir')
const reason = async () => (await readJob(hub.paths))?.reason?.en
/** “sözleşme.txt” as Windows has written it for long. */
const OLD_NAME = Buffer.from('73f67a6c65fe6d652e747874', 'hex')
const odd = (name: Buffer) => Buffer.concat([Buffer.from(`${folder()}/`), name])
const backupAlerts = async () => {
  const { config, db, log, model } = hub.deps
  const alerts = await createHealth({ config, db, log, model, is_writable: false }).check()
  return alerts.filter(({ cause }) => cause === 'backup')
}

test('a file whose name is not UTF-8 is named by the backup that lacks it, and by an alert', async () => {
  await (await startBackup(hub.config, 'manual')).done
  expect([await reason(), await backupAlerts()]).toEqual([undefined, []])
  await writeFile(odd(OLD_NAME), 'x')
  const { done } = await startBackup(hub.config, 'daily')
  const paths = membersOf(await readFile(backupFile(hub.paths, await done)))
  expect(paths.filter(({ path }) => path.includes('zle'))).toEqual([])
  const said =
    'The backup lacks "projects/demir/s\uFFFDzle\uFFFDme.txt", whose name is not UTF-8. Rename it.'
  expect(await reason()).toBe(said)
  expect(await backupAlerts()).toMatchObject([{ message: { en: said } }])
  await mkdir(odd(Buffer.from('ff', 'hex')))
  await (await startBackup(hub.config, 'daily')).done
  expect(await reason()).toMatch(/^The backup lacks ".+" and 1 more, whose names are not UTF-8/)
})

test('a restore, which would lose it, is refused', async () => {
  const name = await (await startBackup(hub.config, 'manual')).done
  const { done } = await startRestore(hub.config, name, { secret: {} })
  await expect(done).rejects.toThrow('would be lost')
  expect(await readFile(odd(OLD_NAME), 'utf8')).toBe('x')
  await rm(odd(OLD_NAME))
  await rm(odd(Buffer.from('ff', 'hex')), { recursive: true })
  await (await startRestore(hub.config, name, { secret: {} })).done
})

test('a file that the hub may not read is named by the backup that fails for it', async () => {
  await writeFile(join(folder(), 'of-root.txt'), 'x')
  const { lstat } = fs
  vi.spyOn(fs, 'lstat').mockImplementation(((path: string) =>
    String(path).endsWith('of-root.txt')
      ? Promise.reject(Object.assign(new Error('permission denied'), { code: 'EACCES' }))
      : lstat(path)) as typeof lstat)
  syncBuiltinESMExports()
  const { done } = await startBackup(hub.config, 'manual')
  await expect(done).rejects.toThrow('cannot read "projects/demir/of-root.txt"')
  expect(await reason()).toContain('chown watchpost')
})

test('a backup leaves room on the disk, without which the database would stop', async () => {
  const before = await fs.readdir(backupsIn(hub.paths))
  const { statfs } = fs
  let looks = 0
  vi.spyOn(fs, 'statfs').mockImplementation((async (path: string) => {
    looks += 1
    const found = await statfs(path)
    return looks < 4 ? found : { ...found, bsize: 4096, bavail: 65_535 }
  }) as unknown as typeof statfs)
  syncBuiltinESMExports()
  const { done } = await startBackup(hub.config, 'manual')
  await expect(done).rejects.toThrow(`The disk with ${backupsIn(hub.paths)} is full`)
  expect(await reason()).toContain('Delete old backups or free some space')
  expect(await fs.readdir(backupsIn(hub.paths))).toEqual(before)
})

test('an upload leaves room on the disk, too', async () => {
  const before = await fs.readdir(backupsIn(hub.paths))
  const full = { bsize: 4096, bavail: 65_535 } as unknown as Awaited<ReturnType<typeof fs.statfs>>
  vi.spyOn(fs, 'statfs').mockResolvedValue(full)
  syncBuiltinESMExports()
  const type = { 'content-type': 'application/octet-stream' }
  const answer = await hub.call('POST', 'backup/upload', new Uint8Array(gzipSync('x')), type)
  expect(answer.status).toBe(422)
  expect((await answer.json()).errors).toMatchObject([{ code: 'no_room' }])
  expect(await fs.readdir(backupsIn(hub.paths))).toEqual(before)
})

test('a restore is done although a folder that it replaced cannot be removed, and backups go on', async () => {
  const name = await (await startBackup(hub.config, 'manual')).done
  const { rm: remove } = fs
  const closed = Object.assign(new Error('permission denied'), { code: 'EACCES' })
  vi.spyOn(fs, 'rm').mockImplementation((path, options) =>
    String(path).includes('.restore-') ? Promise.reject(closed) : remove(path, options),
  )
  syncBuiltinESMExports()
  await (await startRestore(hub.config, name, { secret: {} })).done
  expect(await readJob(hub.paths)).toMatchObject({ kind: 'restore', status: 'done' })
  await (await startBackup(hub.config, 'manual')).done
})
