import { randomBytes } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { VERSION } from '../../shared/version.ts'
import { migrate } from '../db/migrate.ts'
import { bilingual } from '../i18n/words.ts'
import { backupText } from './backup.text.ts'
import { dumpTables } from './make.ts'
import { BackupError, isOlder, type Manifest, tableFile, upgradesIn } from './manifest.ts'
import { asText, copyIn, differingTables, readTables, relationOf } from './tables.ts'

const say = bilingual(backupText)

const SQL = join(import.meta.dirname, '../sql')

/**
 * upgradeStage brings an unpacked backup of an older schema to this release's: in a scratch
 * database its rows go through the same upgrades as a hub's own.
 */
export async function upgradeStage(
  ownerUrl: string,
  stage: string,
  manifest: Manifest,
  folder = SQL,
): Promise<Manifest> {
  return inScratch(ownerUrl, async (client, url) => {
    await loadInto(client, url, { stage, manifest, folder })
    await migrate(url, folder)
    const others = manifest.files.filter(({ path }) => !path.startsWith('database/'))
    const folders = manifest.folders.filter((path) => path !== 'database')
    const upgraded: Manifest = { ...manifest, tables: [], files: others, folders }
    await rm(join(stage, 'database'), { recursive: true })
    await dumpTables(client, stage, upgraded)
    return { ...upgraded, version: VERSION, upgrades: await upgradesIn(folder) }
  })
}

/**
 * checkStage loads an unpacked backup into a scratch database, reads every table back, and takes it
 * through this release's upgrades. Returns the tables that differ.
 */
export async function checkStage(
  ownerUrl: string,
  stage: string,
  manifest: Manifest,
  folder = SQL,
): Promise<string[]> {
  const older = await isOlder(manifest, folder)
  return inScratch(ownerUrl, async (client, url) => {
    await loadInto(client, url, { stage, manifest, folder })
    await client.query('begin')
    await asText(client)
    const tables = await readTables(client)
    const found = await differingTables(client, tables, manifest, { is_merged: false })
    await client.query('rollback')
    if (older) await migrate(url, folder)
    return found
  })
}

/** Creates a database with the schema of the backup's release and loads its rows. */
async function loadInto(
  client: pg.Client,
  ownerUrl: string,
  given: { stage: string; manifest: Manifest; folder: string },
): Promise<void> {
  const { stage, manifest, folder } = given
  const missing = (await upgradesIn(folder)).filter((name) => !manifest.upgrades.includes(name))
  if (missing.length === 0) await migrate(ownerUrl, folder)
  else await rebuild(client, folder, manifest.upgrades)
  await client.query('begin')
  try {
    await asText(client)
    // The rows are consistent already, so triggers and foreign keys are switched off while loading.
    await client.query('set local session_replication_role = replica')
    for (const table of manifest.tables) {
      const { name } = table
      await copyIn(client, relationOf(name), table, join(stage, tableFile(name)))
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    if (!(error instanceof pg.DatabaseError)) throw error
    throw new BackupError(say.no_fit(error.message), { cause: error })
  }
}

/**
 * Builds the schema as it was after some of the upgrades: sql/base has the topic files of the first
 * release, and each upgrade has the changes since.
 */
export async function rebuild(
  client: pg.Client,
  folder: string,
  upgrades: string[],
): Promise<void> {
  const base = (await readdir(join(folder, 'base'))).filter((name) => name.endsWith('.sql')).sort()
  await client.query(
    `create table public.hub_migrations (
       name text primary key,
       applied_at timestamptz not null default now()
     )`,
  )
  const files = [...base.map((name) => `base/${name}`), ...upgrades.map((n) => `upgrades/${n}`)]
  for (const file of files) await client.query(await readFile(join(folder, file), 'utf8'))
  await client.query('insert into public.hub_migrations (name) select unnest($1::text[])', [
    [...base, ...upgrades],
  ])
}

async function inScratch<T>(
  ownerUrl: string,
  work: (client: pg.Client, url: string) => Promise<T>,
): Promise<T> {
  const name = `hub_scratch_${randomBytes(6).toString('hex')}`
  // Its name shows that the database is in use, from before it is there until it is gone.
  const owner = new pg.Client({ connectionString: ownerUrl, application_name: name })
  owner.on('error', () => {})
  await owner.connect()
  try {
    await dropLost(owner)
    await owner.query(`create database ${name} template template0`)
    const url = new URL(ownerUrl)
    url.pathname = `/${name}`
    const client = new pg.Client({ connectionString: url.href })
    client.on('error', () => {})
    try {
      await client.connect()
      return await work(client, url.href)
    } finally {
      await client.end().catch(() => {})
      await owner.query(`drop database if exists ${name} with (force)`)
    }
  } finally {
    await owner.end()
  }
}

/** Drops the scratch databases that killed processes left: they hold all rows of a hub. */
async function dropLost(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(
    `select lost.datname as name from pg_catalog.pg_database as lost
     where lost.datname ~ '^hub_scratch_[0-9a-f]{12}$' and not exists (
       select from pg_catalog.pg_stat_activity where application_name = lost.datname
     )`,
  )
  for (const { name } of rows) await owner.query(`drop database if exists ${name} with (force)`)
}
