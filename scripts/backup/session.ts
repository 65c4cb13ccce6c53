import { join } from 'node:path'
import pg from 'pg'
import { requireCommit } from '../../shared/sql.ts'
import { type Migration, migrationFiles, ROOT } from '../postgres/migrate.ts'
import { BackupError } from './manifest.ts'
import { isOwned } from './tables.ts'

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * inSession runs work in one transaction of a connection of its own. Everything is kept or nothing,
 * also when a signal asks to stop.
 */
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
  let is_stopped = false
  const stop = () => {
    is_stopped = true
    client.end().catch(() => {})
  }
  for (const signal of STOP_SIGNALS) process.once(signal, stop)
  try {
    await client.query(begin)
    // A row that a policy would hide is an error, not left out.
    await client.query('set local row_security = off')
    const value = await work(client)
    requireCommit(await client.query('commit'))
    return value
  } catch (error) {
    if (is_stopped) throw new BackupError('It was stopped. Nothing was kept.', { cause: error })
    throw explained(error, client)
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, stop)
    // Ends the transaction too; after a COPY that was given up, a rollback would wait for its rows.
    await client.end().catch(() => {})
  }
}

/** A missing privilege is named with the login that lacks it; rows that do not fit together are the archive's. */
function explained(error: unknown, { user }: pg.Client): unknown {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (error instanceof BackupError || !(cause instanceof pg.DatabaseError)) return error
  if (cause.code?.startsWith('23')) {
    const message = `The rows of the archive do not fit together: ${cause.message}. Nothing was restored.`
    return new BackupError(message, { cause })
  }
  if (cause.code !== '42501') return error
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
