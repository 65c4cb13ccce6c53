import type { Sql } from '../../shared/sql.ts'

/** A row that came to the kept lead: `column` was the id of the other one. */
export type MovedRow = { table: string; column: string; key: Record<string, unknown> }
/** A row that a merge changed otherwise; null: it was not there. */
export type ChangedRow = {
  table: string
  key: Record<string, unknown>
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

/** Keys and rows are texts: JavaScript would round what PostgreSQL keeps exactly. */
type Snapshot = {
  rows: Map<string, { table: string; key: string; content: string }>
  /** The campaigns and sequences that name the lead that goes among their recipients. */
  naming: string[]
}

/** rowsOf returns every row that a merge of two leads can change, as it is now. */
export async function rowsOf(
  sql: Sql,
  given: { kept_id: string; gone_id: string; naming?: string[] },
): Promise<Snapshot> {
  const { kept_id, gone_id, naming: known = null } = given
  const own = await sql<{ table: string; key: string; content: string }>`
    select name as "table", key::text as key, content::text as content
    from private.rows_of_leads(array[${kept_id}, ${gone_id}]::uuid[])`
  const campaigns = await sql<{ id: string; table: string; key: string; content: string }>`
    select id, 'drafts' as "table", jsonb_build_object('id', id)::text as key,
      jsonb_build_object('id', id, 'audience', audience)::text as content
    from hub.drafts
    where case when ${known}::uuid[] is null then audience #> '{filter,lead_ids}' ? ${gone_id}
      else id = any(${known}::uuid[]) end
    union all
    select id, 'sequences', jsonb_build_object('id', id)::text,
      jsonb_build_object('id', id, 'state', state, 'filter', filter)::text
    from hub.sequences
    where case when ${known}::uuid[] is null then filter -> 'lead_ids' ? ${gone_id}
      else id = any(${known}::uuid[]) end`
  return {
    rows: new Map([...own, ...campaigns].map((row) => [`${row.table} ${row.key}`, row])),
    naming: campaigns.map(({ id }) => id),
  }
}

/**
 * changedRows returns, as JSON, what differs between the rows before and after a merge, but for rows
 * that only moved to the kept lead.
 */
export function changedRows(given: {
  before: Snapshot
  after: Snapshot
  moved_rows: MovedRow[]
  gone_id: string
  kept_id: string
}): string {
  const { before, after, moved_rows, gone_id, kept_id } = given
  const columns = new Map<string, string[]>()
  for (const { table, column, key } of moved_rows) {
    const name = `${table} ${keyText(key)}`
    columns.set(name, [...(columns.get(name) ?? []), column])
  }
  const changed: string[] = []
  for (const name of new Set([...before.rows.keys(), ...after.rows.keys()])) {
    const was = before.rows.get(name)
    const is = after.rows.get(name)
    const one = was ?? is
    if (!one || was?.content === is?.content) continue
    const moved = columns.get(`${one.table} ${keyText(JSON.parse(one.key))}`) ?? []
    if (was && is && onlyMoved(was.content, is.content, { moved, gone_id, kept_id })) continue
    changed.push(
      `{"table":${JSON.stringify(one.table)},"key":${one.key},"before":${was?.content ?? 'null'},"after":${is?.content ?? 'null'}}`,
    )
  }
  return `[${changed.join(',')}]`
}

const keyText = (key: Record<string, unknown>) => JSON.stringify(Object.entries(key).sort())

function onlyMoved(
  was: string,
  is: string,
  { moved, gone_id, kept_id }: { moved: string[]; gone_id: string; kept_id: string },
): boolean {
  if (moved.length === 0) return false
  const row = JSON.parse(was)
  for (const column of moved) if (row[column] === gone_id) row[column] = kept_id
  return JSON.stringify(row) === JSON.stringify(JSON.parse(is))
}
