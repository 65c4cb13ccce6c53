import pg from 'pg'
import { parentsFirst } from '../../shared/copy.ts'
import { BackupError, type Manifest } from './manifest.ts'

const id = pg.escapeIdentifier

/** A table whose rows belong into a backup; the columns are those that can be written. */
export type Table = {
  /** With its schema, as in the archive. */
  name: string
  columns: string[]
  parents: string[]
  /** Identity columns with their sequences. */
  sequences: { column: string; sequence: string }[]
}

/**
 * Left out, with the reasons:
 * - rate limits are forgotten within minutes;
 * - changes are followed by the numbers of a server's transactions, which mean nothing in another one:
 *   all cursors expire with a restore, and followers start again, as do processes that follow zones.
 * - operators are signed in to one service on one machine, for hours.
 */
const LEFT_OUT = [
  'watchpost.operator_sessions',
  'watchpost.rate_limits',
  'watchpost.rate_denials',
  'watchpost.visibility_changes',
  'watchpost.change_history',
  'watchpost.zone_changes',
]

/**
 * The one table of pg-boss with something that is nowhere else: jobs that wait or run. Queues and the
 * version are made by the migrations, finished jobs are history that is kept for an hour, and the rest
 * is statistics.
 */
const JOBS = 'pgboss.job'

/** Columns that are numbered anew, by which rows are read in order; a transaction's number is left out. */
const ORDERED: Record<string, { column: string; order: string }> = {
  'watchpost.audit': { column: 'seq', order: 'xid, seq' },
}

/** readTables describes the tables of a backup, those that others refer to first. */
export async function readTables(client: pg.ClientBase, auth: Manifest['auth']): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select n.nspname || '.' || t.relname as name,
      array(
        select a.attname::text from pg_catalog.pg_attribute a
        where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
          and a.atttypid <> 'xid8'::regtype
        order by a.attnum
      ) as columns,
      array(
        select distinct p.relnamespace::regnamespace || '.' || p.relname
        from pg_catalog.pg_constraint c
        join pg_catalog.pg_class p on p.oid = c.confrelid
        where c.conrelid = t.oid and c.contype = 'f' and c.confrelid <> t.oid
      ) as parents,
      coalesce((
        select jsonb_agg(jsonb_build_object(
          'column', a.attname, 'sequence', pg_catalog.pg_get_serial_sequence(t.oid::regclass::text, a.attname)))
        from pg_catalog.pg_attribute a
        where a.attrelid = t.oid and a.attidentity <> ''
      ), '[]') as sequences
    from pg_catalog.pg_class t
    join pg_catalog.pg_namespace n on n.oid = t.relnamespace
    where t.relkind in ('r', 'p') and not t.relispartition
      and (n.nspname = 'watchpost' or n.nspname = 'auth' and $1 or n.nspname || '.' || t.relname = $2)
      and n.nspname || '.' || t.relname <> all($3)
    order by name`,
    [auth === 'watchpost', JOBS, LEFT_OUT],
  )
  return parentsFirst(rows)
}

/** relationOf returns a table's name for SQL. */
export function relationOf(name: string): string {
  return name.split('.').map(id).join('.')
}

/** listOf returns names for SQL. */
export function listOf(names: string[]): string {
  return names.map(id).join(', ')
}

/** isOwned returns whether watchpost_owner owns the table; otherwise the migrating login does. */
export function isOwned(name: string): boolean {
  return name.startsWith('watchpost.')
}

/**
 * rowsOf is the query whose rows are the table's in a backup. A job that runs at this moment waits
 * again in the backup, because whoever runs it will not be there; a finished one is left out.
 */
export function rowsOf({ name, columns }: Pick<Table, 'name' | 'columns'>): string {
  const relation = relationOf(name)
  const ordered = ORDERED[name]
  const values = columns.map((column) => {
    if (column === ordered?.column) return `row_number() over (order by ${ordered.order})`
    if (name === JOBS && column === 'state') {
      return `case when state = 'active' then 'retry' else state end`
    }
    return id(column)
  })
  const condition = name === JOBS ? ` where state in ('created', 'retry', 'active')` : ''
  return `select ${values.join(', ')} from ${relation}${condition}`
}

/**
 * requireSame refuses an archive unless it has exactly the tables and columns that its migrations
 * make here.
 */
export function requireSame(tables: Table[], archived: Manifest['tables']): void {
  const known = new Map(tables.map((table) => [table.name, table]))
  for (const { name, columns } of archived) {
    const table = known.get(name)
    if (!table) throw misfit(`the table ${name}, which is not one of a backup`)
    const unknown = columns.find((column) => !table.columns.includes(column))
    if (unknown !== undefined) throw misfit(`the column ${name}.${unknown}, which does not exist`)
    const missing = table.columns.find((column) => !columns.includes(column))
    if (missing !== undefined) throw misfit(`no column ${name}.${missing}`)
    if (new Set(columns).size < columns.length) throw misfit(`a column of ${name} twice`)
  }
  const missing = tables.find(({ name }) => !archived.some((table) => table.name === name))
  if (missing) throw misfit(`no table ${missing.name}`)
}

function misfit(what: string): BackupError {
  return new BackupError(
    `The archive contains ${what} at the version of its migrations. It was changed, or made by a version between two releases. Nothing was restored.`,
  )
}
