import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { requireExtensions } from './extensions.ts'

type MigrateOptions = {
  log?: (line: string) => void
  /** For tests: another clone's `sql/local` and `supabase/migrations`. */
  root?: string
}

const OLDEST_SERVER = 17
/**
 * What PostgreSQL says when two transactions alter the same roles: the first as XX000 like any internal
 * error, the second when they do it in different orders.
 */
const COLLISION = /tuple concurrently updated|deadlock detected/
const STAND_IN = "Watchpost's stand-in for Supabase Auth."
// An arbitrary number, the same for every process.
const LOCK = 5_760_021_400
export const ROOT = resolve(import.meta.dirname, '../..')

/** migrate brings a database to the schema of this clone; it returns the versions it applied. */
export async function migrate(adminUrl: string, options: MigrateOptions = {}): Promise<string[]> {
  const { log = () => {}, root = ROOT } = options
  const files = await migrationFiles(join(root, 'supabase/migrations'))
  const client = new pg.Client({ connectionString: adminUrl })
  // A connection that breaks between two queries must not end the process; the next query fails.
  client.on('error', () => {})
  await client.connect()
  try {
    await refuseOldServer(client)
    await client.query('set client_min_messages = warning')
    await requireExtensions(client)
    await inTransaction(client, () => prepare(client, join(root, 'sql/local')))
    const applied: string[] = []
    for (const file of files) {
      if (!(await inTransaction(client, () => applyOnce(client, file)))) continue
      log(`Applied migration ${file.version}_${file.name}`)
      applied.push(file.version)
    }
    return applied
  } finally {
    await client.end()
  }
}

/** usesSupabaseAuth returns whether people of this database sign up with Supabase Auth. */
export async function usesSupabaseAuth(adminUrl: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: adminUrl })
  client.on('error', () => {})
  await client.connect()
  try {
    return await isSupabase(client)
  } finally {
    await client.end()
  }
}

/**
 * setLoginPasswords sets the passwords of the two roles that log in; migrations create them without
 * one.
 */
export async function setLoginPasswords(
  adminUrl: string,
  passwords: Partial<Record<'api' | 'jobs', string>>,
) {
  const client = new pg.Client({ connectionString: adminUrl })
  client.on('error', () => {})
  await client.connect()
  try {
    for (const [name, password] of Object.entries(passwords)) {
      // Hashed here, because a statement with the password could end up in a log or in statistics.
      const secret = pg.escapeLiteral(scramVerifier(password))
      await client.query(
        `alter role ${pg.escapeIdentifier(`watchpost_${name}`)} password ${secret}`,
      )
    }
  } finally {
    await client.end()
  }
}

export type Migration = { version: string; name: string; path: string; text: string }

/** migrationFiles reads the migrations of a folder, oldest first. */
export async function migrationFiles(folder: string): Promise<Migration[]> {
  const found = await readdir(folder).catch(() => [])
  const names = found.filter((name) => name.endsWith('.sql')).sort()
  if (names.length === 0) {
    throw new Error(`There is no migration in ${folder}: this copy of Watchpost is incomplete.`)
  }
  return Promise.all(
    names.map(async (file) => {
      const [, version, name] = file.match(/^(\d{14})_([a-z0-9_]+)\.sql$/) ?? []
      if (!version || !name) {
        throw new Error(`${file} must be named <yyyymmddhhmmss>_<verb>_<thing>.sql`)
      }
      const path = join(folder, file)
      return { version, name, path, text: await readFile(path, 'utf8') }
    }),
  )
}

/** refuseOldServer throws for a server that is older than Watchpost requires. */
export async function refuseOldServer(client: pg.Client) {
  const { rows } = await client.query<{ number: number; version: string }>(
    `select current_setting('server_version_num')::int as number,
       current_setting('server_version') as version`,
  )
  const [server] = rows
  if (!server || server.number >= OLDEST_SERVER * 10_000) return
  throw new Error(
    `Watchpost requires PostgreSQL ${OLDEST_SERVER} or newer; this server runs ${server.version}. Upgrade it, or start without a database URL to use the embedded PostgreSQL.`,
  )
}

/**
 * prepare creates the stand-in for Supabase's own schema, and the table in which its CLI records
 * migrations, in the caller's transaction.
 */
export async function prepare(client: pg.Client, localFolder: string) {
  await client.query('select pg_advisory_xact_lock($1)', [LOCK])
  if (!(await isSupabase(client))) {
    for (const file of (await readdir(localFolder)).filter((n) => n.endsWith('.sql')).sort()) {
      await runFile(client, join(localFolder, file))
    }
  }
  const { rows } = await client.query<{ found: string | null }>(
    `select to_regclass('supabase_migrations.schema_migrations') as found`,
  )
  if (rows[0]?.found) return
  await client.query(`
    create schema if not exists supabase_migrations;
    create table supabase_migrations.schema_migrations (
      version text primary key,
      statements text[],
      name text
    )`)
}

/** Supabase has auth.users. Our stand-in has it too, but its schema has a comment that says so. */
export async function isSupabase(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ supabase: boolean }>(
    `select to_regclass('auth.users') is not null
       and obj_description(to_regnamespace('auth'), 'pg_namespace') is distinct from $1
       as supabase`,
    [STAND_IN],
  )
  return rows[0]?.supabase === true
}

/**
 * applyOnce applies a migration in the caller's transaction, unless it was applied before; returns
 * whether it did. Settings of the session are back at their defaults afterwards.
 */
export async function applyOnce(client: pg.Client, migration: Migration): Promise<boolean> {
  const { version, name, path, text } = migration
  await client.query('select pg_advisory_xact_lock($1)', [LOCK])
  const { rowCount } = await client.query(
    'select from supabase_migrations.schema_migrations where version = $1',
    [version],
  )
  if (rowCount) return false
  await runFile(client, path, text)
  await client.query('reset role; reset all')
  await client.query(
    'insert into supabase_migrations.schema_migrations (version, statements, name) values ($1, $2, $3)',
    [version, [text], name],
  )
  return true
}

export async function runFile(client: pg.Client, path: string, known?: string) {
  const text = known ?? (await readFile(path, 'utf8'))
  try {
    await client.query(text)
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    const line = text.slice(0, Number(error.position ?? 0)).split('\n').length
    const hint = error.hint ? ` Hint: ${error.hint}` : ''
    throw new Error(`${path}:${line}: ${error.message} (${error.code})${hint}`, { cause: error })
  }
}

const MAX_TRIES = 10

/**
 * Runs work in a transaction. Roles belong to the server: whoever alters one at the same time, such as a
 * migration of another database, makes PostgreSQL refuse, and the work is done again.
 */
async function inTransaction<T>(client: pg.Client, work: () => Promise<T>, tries = 1): Promise<T> {
  await client.query('begin')
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => {})
    const isCollision = error instanceof Error && COLLISION.test(error.message)
    if (!isCollision || tries === MAX_TRIES) throw error
  }
  await pause(50 * tries)
  return inTransaction(client, work, tries + 1)
}

/** A password in the form in which PostgreSQL stores it (RFC 5803). */
function scramVerifier(password: string): string {
  const iterations = 4096
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const storedKey = createHash('sha256').update(hmac(salted, 'Client Key')).digest('base64')
  const serverKey = hmac(salted, 'Server Key').toString('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}
