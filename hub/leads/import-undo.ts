import { ApiError } from '../../shared/problem.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { absent } from '../i18n/failure.ts'
import { bilingual } from '../i18n/words.ts'
import { importsText } from './imports.text.ts'

const { undo: say } = bilingual(importsText)

/** Rows of an import itself, which go with their leads. */
const OWN = ['activities', 'evidence', 'import_errors', 'notes']

/**
 * undoImport deletes the leads that an import made and nothing was built on since: no change, note, task,
 * mail or finding. The others stay, as do facts and fields that it gave to leads that were there
 * before; both are counted.
 *
 * @throws ApiError `conflict` while the import runs, or if it was undone before.
 */
export async function undoImport(
  sql: Sql,
  id: string,
): Promise<{ removed: number; kept: number; completed: number }> {
  const [run] = await sql<{ status: string; undone_at: string | null; merged: number }>`
    select status, undone_at, merged from hub.imports where id = ${id} for update`
  if (!run) throw absent('import')
  if (run.undone_at) throw new ApiError('conflict', say.twice)
  if (run.status === 'queued' || run.status === 'processing') {
    throw new ApiError('conflict', say.running)
  }
  // Locked, so that nothing is built on one of them between the look and the deletion.
  const made = await sql<{ id: string }>`
    select id from hub.leads
    where id in (
      select lead_id from hub.activities
      where kind = 'imported' and details ->> 'import_id' = ${id}
    )
    order by id
    for update`
  const ids = made.map((lead) => lead.id)
  const used = new Set(await usedSince(sql, id, ids))
  const gone = await sql<{ id: string }>`
    delete from hub.leads where id = any(${ids.filter((one) => !used.has(one))}::uuid[])
    returning id`
  await sql`
    update hub.imports set undone_at = now(), removed = ${gone.length} where id = ${id}`
  return { removed: gone.length, kept: used.size, completed: run.merged }
}

/** Those of the leads on which something was built: any row that refers to them but the import's own. */
async function usedSince(sql: Sql, id: string, ids: string[]): Promise<string[]> {
  const others = await sql<{ name: string; column: string }>`
    select t.relname as name, a.attname as column
    from pg_catalog.pg_constraint as c
    join pg_catalog.pg_class as t on t.oid = c.conrelid
    join pg_catalog.pg_attribute as a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.confrelid = 'hub.leads'::regclass
      and t.relname <> all(${OWN}::text[])`
  const used = await sql<{ lead_id: string }>`
    select lead_id from hub.activities
    where lead_id = any(${ids}::uuid[])
      and (kind <> 'imported' or details ->> 'import_id' is distinct from ${id})
    union
    select lead_id from hub.evidence
    where lead_id = any(${ids}::uuid[]) and field_key is null and import_id is distinct from ${id}
    union
    select (audience ->> 'lead_id')::uuid from hub.drafts
    where audience ->> 'lead_id' = any(${ids}::text[])
    union
    select chosen.id::uuid
    from (
      select audience #> '{filter,lead_ids}' as ids from hub.drafts
      union all
      select filter -> 'lead_ids' from hub.sequences
    ) as mail
    cross join lateral jsonb_array_elements_text(mail.ids) as chosen (id)
    where chosen.id = any(${ids}::text[])`
  for (const { name, column } of others) {
    const rows = await sql<{ lead_id: string }>`
      select distinct ${raw(`"${column}"`)} as lead_id from hub.${raw(`"${name}"`)}
      where ${raw(`"${column}"`)} = any(${ids}::uuid[])`
    used.push(...rows)
  }
  return used.map(({ lead_id }) => lead_id)
}
