import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from } from 'pg-copy-streams'
import { COPY_SETTINGS } from '../../shared/copy.ts'
import {
  applyOnce,
  isSupabase,
  type Migration,
  prepare,
  ROOT,
  refuseOldServer,
} from '../postgres/migrate.ts'
import type { Archive } from './archive.ts'
import type { Progress } from './backup.ts'
import type { SealKey } from './keys.ts'
import { replaceLostSecrets } from './lost-secrets.ts'
import { type ArchivedTable, BackupError, type Manifest, newer } from './manifest.ts'
import { becomeOwnerOf, inSession, migrationsOf, nameOf } from './session.ts'
import { listOf, readTables, relationOf, requireSame, type Table } from './tables.ts'

type Options = {
  archive: Archive
  adminUrl: string
  keys: SealKey[]
  /** The key that sealed the channels' secrets is lost: they are replaced. */
  is_key_lost: boolean
  progress?: Progress
  /** For tests: another clone's `sql/local` and `supabase/migrations`. */
  root?: string
}

/**
 * restoreBackup makes a Watchpost of an archive in a database without one, in one transaction: the
 * schema as the archive's migrations made it, the rows, and then the migrations since. The archive
 * must have been checked before.
 */
export async function restoreBackup(options: Options): Promise<{ lost_channels: number }> {
  const { archive, adminUrl, keys, is_key_lost, progress = () => {}, root = ROOT } = options
  const { manifest } = archive
  const { theirs, later } = await splitMigrations(manifest, root)
  return inSession(adminUrl, 'begin', async (client) => {
    await refuseOldServer(client)
    await requireEmpty(client)
    await requireSameAuth(client, manifest)
    await prepare(client, join(root, 'sql/local'))
    await applyAll(client, theirs)
    await requireNobody(client, manifest)
    const tables = await readTables(client, manifest.auth)
    requireSame(tables, manifest.tables)
    await beginChanges(client)
    await clear(client, tables)
    await switchTriggers(client, tables, 'disable')
    await client.query(COPY_SETTINGS)
    await archive.eachTable(
      (table, rows, measure) =>
        copyIn(client, table, async (copy) => pipeline(rows, measure, copy)),
      (table, rows) => progress(table.name, rows, table.rows),
    )
    await advanceSequences(client, tables)
    await keepJobs(client)
    // Deferred checks must be done before the tables can be changed.
    await client.query('set local role none; set constraints all immediate')
    const lost_channels = is_key_lost ? await replaceLostSecrets(client, keys) : 0
    await switchTriggers(client, tables, 'enable')
    await requirePeople(client, manifest)
    await applyAll(client, later)
    await analyse(client, tables)
    return { lost_channels }
  })
}

/** Those of our migrations that the archive's database had, and those since. Throws for a newer archive. */
async function splitMigrations(
  { migrations, version }: Manifest,
  root: string,
): Promise<{ theirs: Migration[]; later: Migration[] }> {
  const ours = await migrationsOf(root)
  const names = ours.map(nameOf)
  if (migrations.some((name) => !names.includes(name))) throw newer(version)
  const skipped = names.slice(0, migrations.length).find((name) => !migrations.includes(name))
  if (skipped !== undefined) {
    throw new BackupError(
      `The backup lacks the migration ${skipped}, which is older than its newest. It cannot be restored by this version.`,
    )
  }
  return { theirs: ours.slice(0, migrations.length), later: ours.slice(migrations.length) }
}

async function applyAll(client: pg.Client, migrations: Migration[]): Promise<void> {
  for (const migration of migrations) {
    await client.query('set local role none; set local statement_timeout = 0')
    await applyOnce(client, migration)
  }
}

/** Throws with what is in the way. */
async function requireEmpty(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ schema: string }>(
    `select nspname as schema from pg_catalog.pg_namespace
    where nspname in ('watchpost', 'private', 'support', 'pgboss') order by nspname = 'watchpost' desc, nspname`,
  )
  if (rows.length === 0) return requireNoMigrations(client)
  const held = rows[0]?.schema === 'watchpost' ? await contents(client) : ''
  throw new BackupError(
    `The database is not empty: it has the schema ${rows.map(({ schema }) => schema).join(', ')}${held}. A backup is restored only into a database without Watchpost. Name another one: a new --data-dir, or --database-url of a new database (create database …). Nothing was changed.`,
  )
}

/** Migrations that are recorded would be left out, although what they made is gone. */
async function requireNoMigrations(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    `select to_regclass('supabase_migrations.schema_migrations') is not null as found`,
  )
  if (!rows[0]?.found) return
  const recorded = await client.query('select from supabase_migrations.schema_migrations limit 1')
  if (recorded.rowCount === 0) return
  throw new BackupError(
    'The database is not empty: supabase_migrations.schema_migrations says that migrations were applied, although the schema watchpost does not exist. Drop the schema supabase_migrations, or name another database. Nothing was changed.',
  )
}

/** Says how much is in the tables, as far as the login may know. */
async function contents(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ can_read: boolean }>(
    `select to_regclass('watchpost.alerts') is not null and coalesce((
      select pg_has_role(oid, 'set') from pg_roles where rolname = 'watchpost_owner'), false) as can_read`,
  )
  if (!rows[0]?.can_read) return ''
  await becomeOwnerOf(client, 'watchpost.accounts')
  const counted = await client.query<{ thing: string; count: string }>(
    ['accounts', 'zones', 'channels', 'events', 'alerts']
      .map((thing) => `select '${thing}' as thing, count(*) from watchpost.${thing}`)
      .join(' union all '),
  )
  return ` with ${counted.rows.map(({ thing, count }) => `${count} ${thing}`).join(', ')}`
}

async function requireSameAuth(client: pg.Client, { auth }: Manifest): Promise<void> {
  const has_supabase = await isSupabase(client)
  if (has_supabase === (auth === 'supabase')) return
  throw new BackupError(
    has_supabase
      ? 'In this backup people sign in with Watchpost, but the database belongs to a Supabase project, whose auth.users only Supabase Auth may write. Restore it into a plain PostgreSQL. Nothing was changed.'
      : 'In this backup people sign in with Supabase Auth, whose schema is not in it. Restore the schema auth from a backup of Supabase first, then this backup. Nothing was changed.',
  )
}

/** The stand-in for Supabase Auth may be older than our schema. */
async function requireNobody(client: pg.Client, { auth }: Manifest): Promise<void> {
  if (auth === 'supabase') return
  const { rows } = await client.query<{ count: string }>('select count(*) from auth.users')
  if (rows[0]?.count === '0') return
  throw new BackupError(
    `The database is not empty: auth.users holds ${rows[0]?.count} people. Name another database. Nothing was changed.`,
  )
}

/** With Supabase Auth every account needs its person there. */
async function requirePeople(client: pg.Client, { auth }: Manifest): Promise<void> {
  if (auth === 'watchpost') return
  await client.query('set local role watchpost_owner')
  const accounts = await client.query<{ user_id: string }>('select user_id from watchpost.accounts')
  await client.query('set local role none')
  const { rows } = await client.query<{ missing: string }>(
    `select count(*) as missing from unnest($1::uuid[]) as a (id)
    where not exists (select from auth.users u where u.id = a.id)`,
    [accounts.rows.map(({ user_id }) => user_id)],
  )
  if (rows[0]?.missing === '0') return
  throw new BackupError(
    `${rows[0]?.missing} of ${accounts.rows.length} accounts have no person in auth.users. Restore the schema auth from a backup of Supabase first. Nothing was changed.`,
  )
}

/**
 * Transactions are counted anew here: the numbers of the archive's server are left out, and cursors
 * from before must expire. Before the rows, so that none has to be changed.
 */
async function beginChanges(client: pg.Client): Promise<void> {
  await becomeOwnerOf(client, 'watchpost.change_history')
  await client.query(
    `update watchpost.change_history set seen_in = (pg_current_xact_id()::text::bigint + 1)::text::xid8`,
  )
  await client.query('select private.keep_change_history()')
  // Positions of older days go into the default partition, from which the next purge deletes them.
  await client.query('select private.ensure_partitions()')
}

/** Removes what the migrations put into the tables; the archive has it too. */
async function clear(client: pg.Client, tables: Table[]): Promise<void> {
  const ours = tables.filter(({ name }) => name.startsWith('watchpost.'))
  await client.query(`truncate ${ours.map(({ name }) => relationOf(name)).join(', ')}`)
}

/**
 * Without them the rows stay as they were: triggers would write audit and history, count quotas and
 * create accounts. Foreign keys and checks are never switched off.
 */
async function switchTriggers(
  client: pg.Client,
  tables: Table[],
  verb: 'disable' | 'enable',
): Promise<void> {
  for (const { name } of tables) {
    await becomeOwnerOf(client, name)
    await client.query(`alter table ${relationOf(name)} ${verb} trigger user`)
  }
}

async function copyIn(
  client: pg.Client,
  { name, columns, rows }: ArchivedTable,
  fill: (copy: ReturnType<typeof from>) => Promise<void>,
): Promise<void> {
  await becomeOwnerOf(client, name)
  const copy = client.query(from(`copy ${relationOf(name)} (${listOf(columns)}) from stdin`))
  try {
    await fill(copy)
  } catch (error) {
    // Classes 22 and 23: a value or a row that the table does not accept.
    if (!(error instanceof pg.DatabaseError) || !/^2[23]/.test(error.code ?? '')) throw error
    throw new BackupError(`a row does not fit into ${name}: ${error.message}`, { cause: error })
  }
  // A line that ends the data would hide the rows after it.
  if (copy.rowCount === rows) return
  throw new BackupError(`only ${copy.rowCount} of ${rows} rows were accepted`)
}

/** Sets each sequence to continue after the loaded numbers. */
async function advanceSequences(client: pg.Client, tables: Table[]): Promise<void> {
  for (const { name, sequences } of tables) {
    await becomeOwnerOf(client, name)
    for (const { column, sequence } of sequences) {
      await client.query(
        `select setval($1::regclass, max(${pg.escapeIdentifier(column)})) from ${relationOf(name)}
        having max(${pg.escapeIdentifier(column)}) is not null`,
        [sequence],
      )
    }
  }
}

/** pg-boss deletes jobs that have waited too long; in an old backup that would be all of them. */
async function keepJobs(client: pg.Client): Promise<void> {
  await client.query('set local role none')
  await client.query(
    `update pgboss.job j set keep_until = now() + q.retention_seconds * interval '1 second'
    from pgboss.queue q
    where q.name = j.name and j.keep_until < now() + interval '1 day'`,
  )
}

/** Otherwise the first queries would be planned as if the tables were empty. */
async function analyse(client: pg.Client, tables: Table[]): Promise<void> {
  for (const { name } of tables) {
    await becomeOwnerOf(client, name)
    await client.query(`analyze ${relationOf(name)}`)
  }
}
