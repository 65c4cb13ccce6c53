import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { KeyKind } from './keys.ts'
import { KEY_ROLES } from './keys.ts'
import { LOCK_SPACE, LOCKS } from './locks.ts'

const FOLDER = join(import.meta.dirname, '../sql')

/**
 * migrate brings the hub's database to the schema of this release, as its owner. An empty database
 * gets the topic files of sql/; an existing one gets the files of sql/upgrades it does not have
 * yet. Returns the names of the applied files. A database of a newer release is refused: an older one would
 * write to it what it no longer takes, or leave out what it needs.
 */
export async function migrate(ownerUrl: string, folder = FOLDER): Promise<string[]> {
  return withOwner(ownerUrl, async (client) => {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1, $2)', [LOCK_SPACE, LOCKS.migrate])
    await client.query(
      `create table if not exists public.hub_migrations (
         name text primary key,
         applied_at timestamptz not null default now()
       )`,
    )
    const { rows } = await client.query<{ name: string }>('select name from public.hub_migrations')
    const had = new Set(rows.map(({ name }) => name))
    const topics = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
    const upgrades: string[] = await readdir(join(folder, 'upgrades')).then(
      (names) => names.filter((name) => name.endsWith('.sql')).sort(),
      (): string[] => [],
    )
    // Topic files may have another name by now; what an upgrade was called never changes.
    const newer = [...had].find((name) => /^\d{8,}_/.test(name) && !upgrades.includes(name))
    if (newer) {
      throw new Error(
        `A newer version has changed this database (${newer}). Install that version or a later one.`,
      )
    }
    // The topic files are the current schema, so they include every upgrade.
    const isNew = had.size === 0
    const applied = isNew ? topics : upgrades.filter((name) => !had.has(name))
    for (const name of applied) await run(client, join(folder, isNew ? '' : 'upgrades', name))
    for (const name of isNew ? [...topics, ...upgrades] : applied) {
      await client.query('insert into public.hub_migrations (name) values ($1)', [name])
    }
    await client.query('commit')
    return applied
  })
}

/** setKeys sets the two keys as passwords of their login roles. */
export async function setKeys(ownerUrl: string, keys: Record<KeyKind, string>): Promise<void> {
  await withOwner(ownerUrl, async (client) => {
    for (const kind of ['public', 'service'] as const) {
      const role = pg.escapeIdentifier(KEY_ROLES[kind])
      // PostgreSQL would log the password with the statement, if it logs statements.
      await client.query("set log_statement = 'none'")
      await client.query(`alter role ${role} password ${pg.escapeLiteral(keys[kind])}`)
    }
  })
}

/** createHubDatabase creates the hub's database if it does not exist. */
export async function createHubDatabase(ownerUrl: string, name: string): Promise<string> {
  const url = new URL(ownerUrl)
  await withOwner(ownerUrl, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (!rowCount) await client.query(`create database ${pg.escapeIdentifier(name)}`)
  })
  url.pathname = `/${name}`
  return url.href
}

async function withOwner<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function run(client: pg.Client, file: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  try {
    await client.query(text)
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    const line = text.slice(0, Number(error.position ?? 0)).split('\n').length
    throw new Error(`${file}:${line}: ${error.message} (${error.code})`, { cause: error })
  }
}
