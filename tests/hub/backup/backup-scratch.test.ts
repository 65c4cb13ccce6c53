import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { isEncrypted, pack } from '../../../hub/backup/archive.ts'
import { startBackup } from '../../../hub/backup/backup.ts'
import { backupFile, dumpTables } from '../../../hub/backup/make.ts'
import { isOlder, type Manifest, manifestText, upgradesIn } from '../../../hub/backup/manifest.ts'
import { upgradeArchive } from '../../../hub/backup/offline.ts'
import { checkStage, rebuild, upgradeStage } from '../../../hub/backup/scratch.ts'
import { signManifest } from '../../../hub/backup/signing.ts'
import { unpack } from '../../../hub/backup/unpack.ts'
import { withClient } from '../../../scripts/schema/schema.ts'
import { createEmptyDatabase, onServer } from '../../support/servers/database.ts'
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

test('a scratch database that a killed check left goes with the next, and not one in use', async () => {
  const { adminUrl } = inject('server')
  const [lost, used] = ['hub_scratch_000000000001', 'hub_scratch_000000000002']
  await onServer(adminUrl, `create database ${lost}`)
  await onServer(adminUrl, `create database ${used}`)
  const other = new pg.Client({ connectionString: adminUrl, application_name: used })
  await other.connect()
  try {
    const { path, manifest } = await stage()
    expect(await checkStage(adminUrl, path, manifest)).toEqual([])
    const { rows } = await other.query(
      'select datname as name from pg_database where datname = any($1)',
      [[lost, used]],
    )
    expect(rows).toEqual([{ name: used }])
  } finally {
    await other.end()
    for (const name of [lost, used]) await onServer(adminUrl, `drop database if exists ${name}`)
  }
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

test('an archive of an older release becomes one of this release: encrypted as before, unsigned', async () => {
  const before = (await upgradesIn()).slice(0, -1)
  const old = await createEmptyDatabase()
  const staged = await mkdtemp(join(folder, 'older-'))
  const content = join(staged, 'content')
  const given = {
    stage: { folder: staged, file: join(staged, 'archive') },
    secret: { passphrase: 'a long passphrase' },
    ownerUrl: inject('server').adminUrl,
  }
  try {
    const manifest: Manifest = {
      ...{ format: 1, version: '0.1.0', created_at: new Date().toISOString(), kind: 'manual' },
      ...{ upgrades: before, with_secrets: true, tables: [], folders: [], files: [] },
    }
    await mkdir(content)
    await withClient(old.adminUrl, async (client) => {
      await rebuild(client, SQL, before)
      await client.query(`insert into hub.projects (slug, name) values ('demir', 'Demir')`)
      await dumpTables(client, content, manifest)
    })
    const text = manifestText(manifest)
    await writeFile(join(content, 'manifest.json'), text)
    await writeFile(join(content, 'signature.json'), await signManifest(hub.paths, text))
    await pack(content, given.stage.file, { kind: 'passphrase', ...given.secret })
    await rm(content, { recursive: true })

    expect(await upgradeArchive(hub.config, given)).toBe(true)
    expect(await isEncrypted(given.stage.file)).toBe(true)
    // What it was unpacked into is gone.
    expect(await readdir(staged)).toEqual(['archive'])
    const { paths } = hub
    const { file } = given.stage
    const found = await unpack({ paths, file, folder: content, secret: given.secret })
    expect(found.origin.kind).toBe('unsigned')
    expect(await isOlder(found.manifest)).toBe(false)
    expect(await readFile(join(content, 'database/projects.copy'), 'utf8')).toContain('demir')
    expect(await upgradeArchive(hub.config, given)).toBe(false)
  } finally {
    await old.drop()
  }
})
