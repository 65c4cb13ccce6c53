import { ApiError } from '../../shared/problem.ts'
import type { Sql } from '../../shared/sql.ts'
import { bilingual } from '../i18n/words.ts'
import { leadsText } from './leads.text.ts'
import type { ChangedRow, MovedRow } from './merge-record.ts'
import { recordActivities } from './timeline.ts'

const { undo_merge: say } = bilingual(leadsText)

/** How long the record of a merge stays, and with it the way back. */
export const KEPT_DAYS = 30

type Sums = Record<string, string>
type MergeRecord = {
  project_id: string
  lead_id: string
  gone: { id: string; email: string | null }
  kept: { email: string | null }
  moved_rows: MovedRow[] | null
  changed: ChangedRow[] | null
  sums: Sums | null
  undone_at: string | null
}

/** Why a merge cannot be undone any more: which of the lead's rows are not as it left them. */
const REASONS: { reason: keyof typeof say.since; tables: string[] }[] = [
  { reason: 'lead', tables: ['leads'] },
  { reason: 'mail', tables: ['drafts', 'recipients', 'campaigns', 'stands'] },
  { reason: 'sequence', tables: ['sequence_recipients', 'sequences'] },
  { reason: 'inbox', tables: ['inbox_mails', 'answers'] },
]

/**
 * undoMerge makes two leads of one again, exactly as they were, in the caller's transaction; only
 * suppressions stay, and that it was undone stands on both timelines. Returns the ids of both.
 *
 * @throws ApiError `not_found`; `conflict` if it was undone before, and after anything else that
 * happened to the lead.
 */
export async function undoMerge(
  sql: Sql,
  merge_id: string,
): Promise<{ kept_id: string; gone_id: string }> {
  const [known] = await sql<{ lead_id: string }>`
    select lead_id from hub.merges where id = ${merge_id}`
  // The lead first, as merging does, so that the two wait for each other.
  await sql`select from hub.leads where id = ${known?.lead_id ?? null} for update`
  const [record] = await sql<MergeRecord>`
    select project_id, lead_id, gone, kept, moved_rows, changed, sums, undone_at from hub.merges
    where id = ${merge_id} and merged_at > now() - make_interval(days => ${KEPT_DAYS})
    for update`
  if (!record) throw noMerge()
  const { project_id, lead_id, gone, kept, moved_rows, changed, sums, undone_at } = record
  if (undone_at) throw new ApiError('conflict', say.twice)
  if (!moved_rows || !changed || !sums) throw new ApiError('conflict', say.too_old)
  await refuseLater(sql, merge_id)
  await refuseSince(sql, { lead_id, sums, changed })
  await refuseTaken(sql, { lead_id, emails: [gone.email, kept.email] })
  await restore(sql, { merge_id, gone_id: gone.id })
  await sql`
    update hub.merges
    set undone_at = now(), moved_rows = null, changed = null, sums = null
    where id = ${merge_id}`
  // Without the other's name, which would outlive its erasure here.
  await recordActivities(
    sql,
    [lead_id, gone.id].map((id) => ({ project_id, lead_id: id, kind: 'unmerged' })),
  )
  return { kept_id: lead_id, gone_id: gone.id }
}

/** noMerge is the refusal for a merge of which there is no record. */
export const noMerge = () => new ApiError('not_found', say.gone(KEPT_DAYS))

/** forgetMerges deletes the records whose time is over. */
export async function forgetMerges(sql: Sql): Promise<number> {
  const gone = await sql`
    delete from hub.merges where merged_at <= now() - make_interval(days => ${KEPT_DAYS})
    returning 1`
  return gone.length
}

/** The last merge of a lead is undone first. */
async function refuseLater(sql: Sql, merge_id: string): Promise<void> {
  const [later] = await sql`
    select from hub.merges as later
    join hub.merges as this on this.lead_id = later.lead_id
    where this.id = ${merge_id} and later.id <> this.id and later.undone_at is null
      and later.merged_at >= this.merged_at
    limit 1`
  if (later) throw new ApiError('conflict', say.later)
}

async function refuseSince(
  sql: Sql,
  { lead_id, sums, changed }: { lead_id: string; sums: Sums; changed: ChangedRow[] },
): Promise<void> {
  const [now] = await sql<{ sums: Sums }>`select private.lead_sums(${lead_id}) as sums`
  const tables = new Set([...Object.keys(sums), ...Object.keys(now?.sums ?? {})])
  const differing = [...tables].filter((table) => now?.sums[table] !== sums[table])
  const reason = REASONS.find((one) => one.tables.some((table) => differing.includes(table)))
  if (reason) throw new ApiError('conflict', say.since[reason.reason])
  if (differing.length > 0) throw new ApiError('conflict', say.since.other)
  const drafts = changed.flatMap(({ table, key, after }) =>
    table === 'drafts' && after ? [{ id: key.id, audience: after.audience }] : [],
  )
  const kept = await sql`
    select from hub.drafts as draft
    join jsonb_to_recordset(${JSON.stringify(drafts)}) as after (id uuid, audience jsonb)
      on after.id = draft.id and after.audience = draft.audience`
  const sequences = changed.flatMap(({ table, after }) =>
    table === 'sequences' && after && 'filter' in after ? [after] : [],
  )
  const same = await sql`
    select from hub.sequences as sequence
    join jsonb_to_recordset(${JSON.stringify(sequences)}) as after (id uuid, state text, filter jsonb)
      on after.id = sequence.id and after.state = sequence.state and after.filter = sequence.filter`
  if (kept.length < drafts.length || same.length < sequences.length) {
    throw new ApiError('conflict', say.since.audience)
  }
}

/** A lead that was added since, with an address that comes back. */
async function refuseTaken(
  sql: Sql,
  { lead_id, emails }: { lead_id: string; emails: (string | null)[] },
): Promise<void> {
  const [other] = await sql<{ email: string }>`
    select other.email from hub.leads as other
    join hub.leads as lead on lead.id = ${lead_id} and lead.project_id = other.project_id
    where other.id <> lead.id
      and other.email_key in (select lower(email) from unnest(${emails}::text[]) as email)
    limit 1`
  if (other) throw new ApiError('conflict', say.taken(other.email))
}

/** The kept lead first, which may have the address of the other one; then that one, and all the rest. */
async function restore(sql: Sql, given: { merge_id: string; gone_id: string }): Promise<void> {
  const { merge_id, gone_id } = given
  await sql`
    select private.put_row('leads', jsonb_build_object('id', lead_id), kept)
    from hub.merges where id = ${merge_id}`
  await sql`
    select private.put_row('leads', jsonb_build_object('id', ${gone_id}::text), gone)
    from hub.merges where id = ${merge_id}`
  // The record of an earlier merge that came along may be gone, because its time is over.
  await sql`
    select private.put_row(
      row.value ->> 'table', row.value -> 'key',
      jsonb_build_object(row.value ->> 'column', ${gone_id}::text))
    from hub.merges as record, jsonb_array_elements(record.moved_rows) as row
    where record.id = ${merge_id} and (row.value ->> 'table' <> 'merges' or exists (
      select from hub.merges where id = (row.value #>> '{key,id}')::uuid))`
  // What the merge added goes first: it may have taken the place of what comes back.
  await sql`
    select private.put_row(part.row ->> 'table', part.row -> 'key', nullif(part.row -> 'before', 'null'))
    from (
      select row.value as row
      from hub.merges as record,
        jsonb_array_elements(record.changed) with ordinality as row (value, position)
      where record.id = ${merge_id} and row.value ->> 'table' <> 'leads'
      order by (row.value -> 'before') <> 'null', row.position
    ) as part`
}
