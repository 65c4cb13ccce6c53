import { appendFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startBackup } from '../../../hub/backup/backup.ts'
import { backupFile } from '../../../hub/backup/make.ts'
import { isOlder, type Manifest } from '../../../hub/backup/manifest.ts'
import { checkStage, upgradeStage } from '../../../hub/backup/scratch.ts'
import { unpack } from '../../../hub/backup/unpack.ts'
import { fillHub } from '../support/backup-data.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const SQL = join(import.meta.dirname, '../../../hub/sql')
let hub: TestHub
let folder: string
/** The hub/sql of a later release, which gave leads a nickname. */
let later: string
let number = 0

beforeAll(async () => {
  hub = await startHub()
  await fillHub(hub)
  folder = await mkdtemp(join(tmpdir(), 'watchpost-scratch-'))
  later = join(folder, 'sql')
  await cp(SQL, later, { recursive: true })
  const change = `
    alter table hub.leads add column nickname text;
    update hub.leads set nickname = left(name, 1);`
  await mkdir(join(later, 'upgrades'), { recursive: true })
  await writeFile(join(later, 'upgrades/20990101_give_leads_a_nickname.sql'), change)
  await appendFile(join(later, '20_leads.sql'), 'alter table hub.leads add column nickname text;')
})
afterAll(async () => {
  await hub.close()
  await rm(folder, { recursive: true })
})

async function stage(): Promise<{ path: string; manifest: Manifest }> {
  const name = await (await startBackup(hub.config, 'manual')).done
  number += 1
  const path = join(folder, `stage-${number}`)
  const file = backupFile(hub.paths, name)
  const { manifest } = await unpack({ paths: hub.paths, file, folder: path, secret: {} })
  return { path, manifest }
}

test('a backup reads back the same from a scratch database, which is gone afterwards', async () => {
  const { path, manifest } = await stage()
  const { adminUrl } = inject('server')
  expect(await checkStage(adminUrl, path, manifest)).toEqual([])
  const sum = manifest.files.find(({ path }) => path === 'database/leads.copy')
  if (sum) sum.sha256 = '0'.repeat(64)
  expect(await checkStage(adminUrl, path, manifest)).toEqual(['leads'])
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  const { rows } = await client.query(
    "select datname from pg_database where datname like 'hub_scratch_%'",
  )
  await client.end()
  expect(rows).toEqual([])
})

test('rows of an older release go through its upgrades', async () => {
  const { path, manifest } = await stage()
  expect(await isOlder(manifest, later)).toBe(true)
  expect(await checkStage(inject('server').adminUrl, path, manifest, later)).toEqual([])
  const upgraded = await upgradeStage(inject('server').adminUrl, path, manifest, later)
  expect(await isOlder(upgraded, later)).toBe(false)
  const leads = upgraded.tables.find(({ name }) => name === 'leads')
  expect(leads?.columns).toContain('nickname')
  expect(await readFile(join(path, 'database/leads.copy'), 'utf8')).toMatch(/\tA$/m)
  // This release in turn is too old for it.
  await expect(isOlder(upgraded)).rejects.toThrow(/newer than this hub/)
})
