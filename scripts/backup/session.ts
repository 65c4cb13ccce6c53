import { join } from 'node:path'
import pg from 'pg'
import { requireCommit } from '../../shared/sql.ts'
import { type Migration, migrationFiles, ROOT } from '../postgres/migrate.ts'
import { BackupError } from './manifest.ts'
import { isOwned } from './tables.ts'

/** inSession runs work in one transaction of a connection of its own. Everything is kept or nothing. */
export async function inSession<T>(
  adminUrl: string,
  begin: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  // COPY streams cannot be pipelined.
  const client = new pg.Client({
    connectionString: adminUrl,
    application_name: 'watchpost-backup',
    connectionTimeoutMillis: 10_000,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(begin)
    const value = await work(client)
    requireCommit(await client.query('commit'))
    return value
  } catch (error) {
    throw explained(error, client)
  } finally {
    // Ends the transaction too; after a COPY that was given up, a rollback would wait for its rows.
    await client.end().catch(() => {})
  }
}

/** A missing privilege is named with the login that lacks it. */
function explained(error: unknown, { user }: pg.Client): unknown {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof pg.DatabaseError) || cause.code !== '42501') return error
  return new BackupError(
    `The login ${user} lacks a privilege: ${cause.message}. Use the login that applies the migrations (a superuser, or the one that installed Watchpost; docs/self-hosting.md lists what it needs). Nothing was changed.`,
    { cause },
  )
}

/** becomeOwnerOf makes the rest of the transaction run as the role that owns a table. */
export async function becomeOwnerOf(client: pg.ClientBase, table: string): Promise<void> {
  await client.query(`set local role ${isOwned(table) ? 'watchpost_owner' : 'none'}`)
}

/** The migrations of this clone, or for tests of another one. */
export async function migrationsOf(root = ROOT): Promise<Migration[]> {
  return migrationFiles(join(root, 'supabase/migrations'))
}

/** A migration as a manifest names it. */
export const nameOf = ({ version, name }: Pick<Migration, 'version' | 'name'>) =>
  `${version}_${name}`
