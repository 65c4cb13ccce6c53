import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import pg from 'pg'
import { migrate, migrationFiles, ROOT } from '../postgres/migrate.ts'
import type { Ground } from './ground.ts'

/** The last migration of the database that `statements/` were taken from. */
const FROZEN_AT = '20261123081341'
/** What a request reads. Everything else is empty in the copy. */
const COPIED = [
  'auth.users',
  'watchpost.accounts',
  'watchpost.api_keys',
  'watchpost.sources',
  'watchpost.channels',
  'watchpost.zones',
  'watchpost.zone_boxes',
  'watchpost.events',
  'watchpost.alerts',
]

export type Frozen = {
  admin: pg.Client
  /** The connection string of the API's login. */
  api_url: string
}

/**
 * Makes, beside the database of the bench, one with the schema, functions and policies of the day on which
 * `statements/` were taken, and copies what requests read into it. A ceiling measured in it stays where it is,
 * whatever becomes of our SQL.
 */
export async function createFrozen({ admin, adminUrl, loginUrl }: Ground): Promise<Frozen> {
  await admin.query('create database frozen')
  const url = frozenUrl(adminUrl)
  await migrateUntilFrozen(url)
  const frozen = new pg.Client({ connectionString: url })
  // The server is stopped under this connection when something else fails.
  frozen.on('error', () => undefined)
  await frozen.connect()
  await frozen.query('set session_replication_role = replica')
  for (const table of COPIED) await copyTable(admin, frozen, table)
  await frozen.query('set session_replication_role = default')
  // pgbench prepares the statements of a pipeline before it sends any, and so before the role is the caller's.
  await frozen.query('grant usage on schema watchpost to watchpost_api')
  await frozen.query('vacuum analyze')
  return { admin: frozen, api_url: frozenUrl(loginUrl('watchpost_api')) }
}

function frozenUrl(url: string): string {
  const frozen = new URL(url)
  frozen.pathname = '/frozen'
  return frozen.href
}

async function migrateUntilFrozen(url: string): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'watchpost-frozen-'))
  const folder = join(root, 'supabase/migrations')
  await mkdir(folder, { recursive: true })
  await mkdir(join(root, 'sql'))
  await symlink(join(ROOT, 'sql/local'), join(root, 'sql/local'))
  for (const { version, path } of await migrationFiles(join(ROOT, 'supabase/migrations'))) {
    if (version <= FROZEN_AT) await symlink(path, join(folder, basename(path)))
  }
  try {
    await migrate(url, { root })
  } finally {
    await rm(root, { recursive: true })
  }
}

/** Copies the rows of a table by the names of its columns there: the table here may have got others since. */
async function copyTable(from: pg.Client, to: pg.Client, table: string): Promise<void> {
  const { rows: columns } = await to.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
    where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  )
  const names = columns.map(({ name }) => name).join(', ')
  const { rows } = await from.query<{ rows: string }>(
    `select coalesce(json_agg(t), '[]')::text as rows from ${table} t`,
  )
  await to.query(
    `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1)`,
    [rows[0]?.rows],
  )
}
