import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBackup } from '../../../hub/backup/backup.ts'
import { backupFile } from '../../../hub/backup/make.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir' })
})
afterAll(() => hub.close())

const check = async (name: string) => hub.call('POST', 'backup/check', { name })

test('a backup is held to its checksums; one that was damaged is told, nothing is left behind', async () => {
  const name = await (await startBackup(hub.config, 'manual')).done
  const sound = await check(name)
  expect(sound.status).toBe(200)
  const { files, rows, ...rest } = await sound.json()
  expect(rest).toMatchObject({ ok: true, reason: null })
  expect(files).toBeGreaterThan(5)
  expect(rows).toBeGreaterThan(0)

  const file = backupFile(hub.paths, name)
  const content = await readFile(file)
  await writeFile(file, content.subarray(0, content.length - 400))
  expect(await (await check(name)).json()).toMatchObject({
    ok: false,
    reason: expect.stringContaining('damaged'),
  })
  const turkish = await hub.call('POST', 'backup/check', { name }, { 'Accept-Language': 'tr' })
  expect((await turkish.json()).reason).toMatch(/^Arşiv bozuk/)
  const { backups } = await (await hub.call('GET', 'backups')).json()
  expect(backups).toHaveLength(1)
})

test('a backup that is not there is 404', async () => {
  expect((await check('watchpost-hub-20200101-000000-manual.tar.gz')).status).toBe(404)
})

test('the doctor tells what he finds, as on the command line', async () => {
  const { findings } = await (await hub.call('GET', 'doctor')).json()
  expect(findings.map(({ what }: { what: string }) => what)).toContain('Database')
  for (const { is, say } of findings) {
    expect(['ok', 'warn', 'fail']).toContain(is)
    expect(say).not.toBe('')
  }
  const mail = join(hub.paths.config_dir, 'mail.json')
  await writeFile(mail, '{"smtp": 1}', { mode: 0o600 })
  const turkish = await hub.call('GET', 'doctor', undefined, { 'Accept-Language': 'tr' })
  const found = (await turkish.json()).findings
  expect(found).toContainEqual({
    is: 'warn',
    what: 'Model',
    say: 'Model seçilmemiş; görevler bekliyor. Ayarlar > Modeller bölümünde seçin.',
  })
  expect(found).toContainEqual({
    is: 'fail',
    what: 'E-posta',
    say: `${mail}: smtp geçerli değil.`,
  })
})
