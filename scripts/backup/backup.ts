import { existsSync } from 'node:fs'
import { pipeline, Readable, type Transform } from 'node:stream'
import type pg from 'pg'
import { to } from 'pg-copy-streams'
import { createSeal } from '../../functions/seal.ts'
import { COPY_SETTINGS } from '../../shared/copy.ts'
import { VERSION } from '../../shared/version.ts'
import { isSupabase } from '../postgres/migrate.ts'
import { type Member, meter, taken, writeArchive } from './archive.ts'
import { type SealKey, signManifest } from './keys.ts'
import { BackupError, type Manifest, memberOf } from './manifest.ts'
import { becomeOwnerOf, inSession, migrationsOf, nameOf } from './session.ts'
import { readTables, rowsOf, type Table } from './tables.ts'

/** Reports progress: the rows of a table so far, and how many there will be about. */
export type Progress = (table: string, rows: number, total: number) => void

type Options = {
  adminUrl: string
  file: string
  /** The sealing keys of the service; the first one seals. */
  keys: SealKey[]
  progress?: Progress
  /** For tests: another clone's migrations. */
  root?: string
}

/**
 * makeBackup writes every row of one moment into one archive, signed by the first sealing key, which
 * is not in it. The service may run meanwhile. Memory does not grow with the rows.
 */
export async function makeBackup(options: Options): Promise<{ manifest: Manifest; bytes: number }> {
  const { adminUrl, file, keys, progress = () => {}, root } = options
  if (existsSync(file)) throw taken(file)
  const begin = 'begin isolation level repeatable read read only'
  return inSession(adminUrl, begin, async (client) => {
    await client.query(COPY_SETTINGS)
    await requireSchema(client)
    const auth = (await isSupabase(client)) ? 'supabase' : 'watchpost'
    const manifest: Manifest = {
      product: 'watchpost',
      format: 1,
      version: VERSION,
      created_at: new Date().toISOString(),
      migrations: await appliedMigrations(client, root),
      auth,
      seal_keys: keys.map(({ fingerprint }) => fingerprint),
      tables: [],
    }
    await requireFittingKeys(client, keys)
    const totals = await estimates(client)
    const tables = (await readTables(client, auth)).map((table) => ({
      name: memberOf(table.name),
      content: async () => {
        const total = totals.get(table.name) ?? 0
        const { stream, measured } = await copyOut(client, table, (rows) =>
          progress(table.name, rows, Math.max(rows, total)),
        )
        stream.once('end', () => {
          manifest.tables.push({ name: table.name, columns: table.columns, ...measured() })
        })
        return stream
      },
    }))
    return { manifest, ...(await writeArchive(file, [...tables, ...headOf(manifest, keys)])) }
  })
}

/** The manifest and its signature, which are complete only after all tables were written. */
function headOf(manifest: Manifest, keys: SealKey[]): Member[] {
  const [key] = keys
  if (!key) throw new Error('at least one sealing key is required')
  const bytes = () => Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`)
  const signature = () => `${JSON.stringify(signManifest(key, bytes()))}\n`
  return [
    { name: 'manifest.json', content: async () => Readable.from([bytes()]) },
    { name: 'signature.json', content: async () => Readable.from([Buffer.from(signature())]) },
  ]
}

async function copyOut(
  client: pg.ClientBase,
  table: Table,
  moved: (rows: number) => void,
): Promise<ReturnType<typeof meter> & { stream: Transform }> {
  await becomeOwnerOf(client, table.name)
  const counted = meter({ moved })
  // An error of either ends the other, and reaches whoever reads the second.
  pipeline(client.query(to(`copy (${rowsOf(table)}) to stdout`)), counted.stream, () => {})
  return counted
}

async function requireSchema(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    `select to_regclass('watchpost.accounts') is not null as found`,
  )
  if (rows[0]?.found) return
  throw new BackupError('This database does not contain Watchpost, so there is nothing to back up.')
}

/** Throws if the database is newer than this clone, which would not know what to leave out. */
async function appliedMigrations(
  client: pg.ClientBase,
  root: string | undefined,
): Promise<string[]> {
  const known = await migrationsOf(root)
  const { rows } = await client.query<{ version: string }>(
    'select version from supabase_migrations.schema_migrations order by version',
  )
  return rows.map(({ version }) => {
    const migration = known.find((one) => one.version === version)
    if (migration) return nameOf(migration)
    throw new BackupError(
      `The database has the migration ${version}, which this Watchpost does not know. Make the backup with the version that runs on it.`,
    )
  })
}

/** Throws unless the keys open what the service sealed last; a backup with other keys would be of no use. */
async function requireFittingKeys(client: pg.ClientBase, keys: SealKey[]): Promise<void> {
  const { unseal } = createSeal(keys.map(({ text }) => text))
  await becomeOwnerOf(client, 'watchpost.channels')
  const { rows } = await client.query<{ sealed: string | null }>(
    `select coalesce(
      (select target_sealed from watchpost.channels order by created_at desc limit 1),
      (select private_sealed from watchpost.issuer_keys order by created_at desc limit 1)) as sealed`,
  )
  await client.query('set local role none')
  const sealed = rows[0]?.sealed
  if (!sealed) return
  await unseal(sealed).catch((error: unknown) => {
    throw new BackupError(
      `SEAL_KEYS (or secrets.json) does not hold the key of this database: it does not open the newest secret (fingerprints ${keys.map(({ fingerprint }) => fingerprint).join(', ')}). Set SEAL_KEYS as the service has it.`,
      { cause: error },
    )
  })
}

/** How many rows the tables had when PostgreSQL counted last. */
async function estimates(client: pg.ClientBase): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; rows: number }>(
    `select relnamespace::regnamespace || '.' || relname as name, greatest(reltuples, 0)::float8 as rows
    from pg_catalog.pg_class where relkind = 'r'`,
  )
  return new Map(rows.map(({ name, rows }) => [name, rows]))
}
