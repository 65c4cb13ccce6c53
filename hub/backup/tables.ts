import { createReadStream, createWriteStream } from 'node:fs'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from, to } from 'pg-copy-streams'
import { COPY_SETTINGS, parentsFirst } from '../../shared/copy.ts'
import { bilingual } from '../i18n/words.ts'
import { backupText } from './backup.text.ts'
import { digest } from './digest.ts'
import { BackupError, type Manifest } from './manifest.ts'
import { withRoom } from './room.ts'

const say = bilingual(backupText)

export type Table = {
  name: string
  columns: string[]
  key: string[]
  /** Append-only: the hub's role cannot delete rows, so a restore keeps the existing ones. */
  is_append_only: boolean
  /** Tables its rows refer to. */
  parents: string[]
}

const id = pg.escapeIdentifier
/** Half of JavaScript's safe integers, so that sequences have as many numbers left. */
const LAST_NUMBER = BigInt(Number.MAX_SAFE_INTEGER) / 2n

const list = (names: string[]) => names.map(id).join(', ')

/** readTables describes every table of schema hub; referenced tables come first. */
export async function readTables(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select t.relname as name,
      array(
        select attname::text from pg_catalog.pg_attribute
        where attrelid = t.oid and attnum > 0 and not attisdropped and attgenerated = ''
        order by attnum
      ) as columns,
      array(
        select a.attname::text
        from pg_catalog.pg_index as i, unnest(i.indkey) with ordinality as k (attnum, position)
        join pg_catalog.pg_attribute as a on a.attnum = k.attnum
        where i.indrelid = t.oid and i.indisprimary and a.attrelid = t.oid
        order by k.position
      ) as key,
      not pg_catalog.has_table_privilege('hub_rw', t.oid, 'delete') as is_append_only,
      array(
        select distinct p.relname::text
        from pg_catalog.pg_constraint as c
        join pg_catalog.pg_class as p on p.oid = c.confrelid
        where c.conrelid = t.oid and c.contype = 'f' and c.confrelid <> t.oid
      ) as parents
    from pg_catalog.pg_class as t
    where t.relnamespace = 'hub'::regnamespace and t.relkind in ('r', 'p') and not t.relispartition
    order by t.relname`)
  return parentsFirst(rows)
}

/**
 * asText sets the output formats, so that rows read the same on every server, and lifts the time
 * limits.
 */
export async function asText(client: pg.ClientBase): Promise<void> {
  await client.query(COPY_SETTINGS)
  await client.query("select set_config('hub.project', '*', true)")
}

export type Copied = { rows: number; bytes: number; sha256: string }

/**
 * copyOut writes a table's rows as COPY text in the order of its key; without a file it only counts
 * and sums.
 */
export async function copyOut(
  client: pg.ClientBase,
  table: { relation: string; columns: string[]; key: string[] },
  file?: string,
): Promise<Copied> {
  const { relation, columns, key } = table
  // Text order differs between servers, except in the C collation.
  const order = key.map((column) => `${id(column)}::text collate "C"`).join(', ')
  const rows = client.query(
    to(`copy (select ${list(columns)} from ${relation} order by ${order}) to stdout`),
  )
  const { sum, found } = digest()
  const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })
  if (file) await pipeline(rows, sum, withRoom(file), createWriteStream(file, { mode: 0o600 }))
  else await pipeline(rows, sum, nowhere())
  return { rows: rows.rowCount, ...found() }
}

/** copyIn loads COPY text into a table; a line that ends it early would hide the rows after it. */
export async function copyIn(
  client: pg.ClientBase,
  relation: string,
  { name, columns, rows }: Manifest['tables'][number],
  file: string,
): Promise<void> {
  const copy = client.query(from(`copy ${relation} (${list(columns)}) from stdin`))
  await pipeline(createReadStream(file), copy)
  if (copy.rowCount !== rows) throw new BackupError(say.rows(name, copy.rowCount, rows))
}

export const relationOf = (name: string) => `hub.${id(name)}`
const loadedOf = (name: string) => id(`restored_${name}`)

/**
 * replaceRows replaces the rows of the tables by those of the files, in the caller's transaction
 * and with the service's rights. COPY cannot write to a table under row-level security, so it goes
 * through temporary tables. Append-only tables only get the missing rows.
 */
export async function replaceRows(
  client: pg.ClientBase,
  tables: Table[],
  loaded: Manifest['tables'],
  fileOf: (name: string) => string,
): Promise<void> {
  const columnsOf = new Map(loaded.map(({ name, columns }) => [name, columns]))
  for (const table of loaded) {
    const { name, columns } = table
    await client.query(
      `create temporary table ${loadedOf(name)} on commit drop as
       select ${list(columns)} from ${relationOf(name)} with no data`,
    )
    await copyIn(client, loadedOf(name), table, fileOf(name))
  }
  if (columnsOf.has('members')) await giveWay(client)
  const changing = tables.filter(({ is_append_only }) => !is_append_only)
  await client.query(
    `lock table ${changing.map(({ name }) => relationOf(name)).join(', ')} in share row exclusive mode`,
  )
  // Rows that an append-only row refers to must not be deleted and inserted again: the reference
  // would be lost.
  const kept = new Set(
    tables.filter(({ is_append_only }) => is_append_only).flatMap(({ parents }) => parents),
  )
  for (const { name, key } of [...changing].reverse()) {
    const isBack = `exists (select from ${loadedOf(name)} as loaded where ${key
      .map((column) => `loaded.${id(column)} = t.${id(column)}`)
      .join(' and ')})`
    const condition = kept.has(name) && columnsOf.has(name) ? ` where not ${isBack}` : ''
    await client.query(`delete from ${relationOf(name)} as t${condition}`)
  }
  for (const { name, key, is_append_only } of tables) {
    const columns = columnsOf.get(name)
    if (!columns) continue
    const update = columns.map((column) => `${id(column)} = excluded.${id(column)}`).join(', ')
    const conflict = is_append_only
      ? ' on conflict do nothing'
      : kept.has(name)
        ? ` on conflict (${list(key)}) do update set ${update}`
        : ''
    await client.query(
      `insert into ${relationOf(name)} (${list(columns)}) overriding system value
       select ${list(columns)} from ${loadedOf(name)}${conflict}`,
    )
  }
  await advanceNumbers(client)
}

/** A member of the backup whose address has another member here by now comes back as one who was removed. */
async function giveWay(client: pg.ClientBase): Promise<void> {
  await client.query(
    `update ${loadedOf('members')} as loaded
     set removed_at = now(), password_hash = null, link_hash = null, link_ends_at = null
     where removed_at is null and exists (
       select from hub.members as ours
       where ours.email_key = lower(loaded.email) and ours.removed_at is null and ours.id <> loaded.id
     )`,
  )
}

/** Sets each sequence to continue after the loaded numbers. */
async function advanceNumbers(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ relation: string; column: string; sequence: string }>(`
    select attrelid::regclass::text as relation, attname as column,
      pg_get_serial_sequence(attrelid::regclass::text, attname) as sequence
    from pg_catalog.pg_attribute as a
    join pg_catalog.pg_class as t on t.oid = a.attrelid
    where t.relnamespace = 'hub'::regnamespace and attidentity <> ''`)
  for (const { relation, column, sequence } of rows) {
    const { rows } = await client.query<{ last: string | null }>(
      `select max(${id(column)}) as last from ${relation}`,
    )
    const last = BigInt(rows[0]?.last ?? 0)
    if (last > LAST_NUMBER) throw new BackupError(say.unusable_value(`${relation}.${column}`))
    if (last > 0n) {
      await client.query('select setval($1::regclass, greatest($2, nextval($1::regclass)))', [
        sequence,
        String(last),
      ])
    }
  }
}

/**
 * Returns the tables that differ from what was loaded; in an append-only one no loaded row may be
 * missing.
 */
export async function differingTables(
  client: pg.ClientBase,
  tables: Table[],
  manifest: Manifest,
  options: { is_merged: boolean },
): Promise<string[]> {
  const found: string[] = []
  for (const { name, columns } of manifest.tables) {
    const table = tables.find((known) => known.name === name)
    if (!table) continue
    if (options.is_merged && table.is_append_only) {
      const match = table.key.map((key) => `loaded.${id(key)} = t.${id(key)}`).join(' and ')
      const { rows } = await client.query<{ missing: number }>(
        `select count(*)::int as missing from ${loadedOf(name)} as loaded
         where not exists (select from ${relationOf(name)} as t where ${match})`,
      )
      if (rows[0]?.missing !== 0) found.push(name)
      continue
    }
    const read = await copyOut(client, { relation: relationOf(name), columns, key: table.key })
    const file = manifest.files.find(({ path }) => path === `database/${name}.copy`)
    if (read.sha256 !== file?.sha256) found.push(name)
  }
  return found
}
