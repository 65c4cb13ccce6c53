import pg from 'pg'

/** The rows of a database by table, each as PostgreSQL writes it in JSON, in a fixed order. */
export type Rows = Record<string, Record<string, unknown>[]>

/** pg-boss makes its partitions from day to day; nothing of ours is in them. */
const NOT_OURS = /^pgboss\.queue_stats/
/** Settings, which an upgrade may change: only these columns must stay. */
const KEPT_COLUMNS: Record<string, string[]> = { 'pgboss.queue': ['name', 'policy'] }
/** Columns that a release took away: what an agent cited is judged anew, sentence by sentence. */
const REMOVED: Record<string, string[]> = { 'hub.drafts': ['claims'] }

/** Reads every table of the given schemas that contains anything. */
export async function readRows(adminUrl: string, schemas: string[]): Promise<Rows> {
  return withClient(adminUrl, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', n.nspname, c.relname) as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition
       order by 1`,
      [schemas],
    )
    const found: Rows = {}
    for (const { name } of tables.filter((table) => !NOT_OURS.test(table.name))) {
      const { rows } = await client.query<{ row: Record<string, unknown> }>(
        `select to_jsonb(t) as row from ${name} t order by to_jsonb(t)::text collate "C"`,
      )
      if (rows.length > 0) found[name] = rows.map(({ row }) => row)
    }
    return found
  })
}

/** Replaces all rows of these tables; triggers and foreign keys are switched off meanwhile. */
export async function loadRows(adminUrl: string, given: Rows): Promise<void> {
  await withClient(adminUrl, async (client) => {
    await client.query('begin; set local session_replication_role = replica')
    for (const name of Object.keys(given)) await client.query(`delete from ${name}`)
    for (const [name, rows] of Object.entries(given)) {
      const { rows: columns } = await client.query<{ name: string }>(
        `select quote_ident(attname) as name from pg_attribute
         where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''
         order by attnum`,
        [name],
      )
      const list = columns.map((column) => column.name).join(', ')
      await client.query(
        `insert into ${name} (${list}) overriding system value
         select ${list} from jsonb_populate_recordset(null::${name}, $1)`,
        [JSON.stringify(rows)],
      )
    }
    await client.query('commit')
  })
}

/**
 * The rows that an upgrade lost or changed, one line each. Only the columns of before are compared.
 */
export function lostRows(before: Rows, after: Rows): string[] {
  return Object.entries(before).flatMap(([table, rows]) => {
    const had = [...new Set(rows.flatMap(Object.keys))].sort()
    const columns = KEPT_COLUMNS[table] ?? had.filter((column) => !REMOVED[table]?.includes(column))
    const lineOf = (row: Record<string, unknown>) =>
      JSON.stringify(columns.map((column) => [column, row[column] ?? null]))
    const left = new Map<string, number>()
    for (const row of after[table] ?? []) {
      left.set(lineOf(row), (left.get(lineOf(row)) ?? 0) + 1)
    }
    return rows.map(lineOf).flatMap((line) => {
      const count = left.get(line) ?? 0
      left.set(line, count - 1)
      return count > 0 ? [] : [`${table}: ${line}`]
    })
  })
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`set timezone = 'UTC'`)
    return await work(client)
  } finally {
    await client.end()
  }
}
