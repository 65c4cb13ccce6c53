import { randomUUID } from 'node:crypto'
import { ApiError } from '../../shared/problem.ts'
import type { Sql } from '../../shared/sql.ts'
import { bilingual } from '../i18n/words.ts'
import { UNRENDERED, voidApproval } from '../mail/drafts/state.ts'
import { stopSequences } from '../mail/sequences/stop.ts'
import { emailHash, emailHashes, type Refusals, suppressHashes } from '../mail/suppression.ts'
import { type Lead, type LeadChange, MAX_TAGS } from './lead.ts'
import { leadsText } from './leads.text.ts'
import { changeLead, READ_COLUMNS } from './leads.ts'
import { changedRows, type MovedRow, rowsOf } from './merge-record.ts'
import { refuseUnderway } from './remove-lead.ts'
import { recordActivity } from './timeline.ts'

const { merge: say } = bilingual(leadsText)

/** What a person chooses between: fields that only make sense together are chosen together. */
export const MERGE_GROUPS = {
  name: ['name'],
  email: ['email'],
  company: ['company'],
  title: ['title'],
  phone: ['phone'],
  website: ['website'],
  country: ['country'],
  language: ['language'],
  source: ['source'],
  score: ['score'],
  next_step: ['next_step'],
  close_on: ['close_on'],
  amount: ['amount', 'currency'],
  stage: ['stage', 'outcome_reason', 'outcome_note'],
  lawful_basis: ['lawful_basis', 'basis_note', 'basis_source', 'basis_on'],
} as const satisfies Record<string, readonly (keyof LeadChange)[]>
export type MergeGroup = keyof typeof MERGE_GROUPS
export const GROUPS = Object.keys(MERGE_GROUPS) as MergeGroup[] // safe: the keys of a constant

type Fields = Omit<Lead, 'id' | 'project' | 'notes' | 'open_tasks' | 'created_at' | 'updated_at'>
type Row = Fields & { id: string; project_id: string; whole: string }
export type Choices = Partial<Record<string, 'kept' | 'gone'>>

/**
 * mergedFields puts two leads together: what was chosen, else what the kept one has, else what the
 * other has. Tags are those of both. A lawful basis is never lost to an empty one.
 */
export function mergedFields(kept: Fields, gone: Fields, choices: Choices): LeadChange {
  const change: LeadChange = {}
  for (const group of GROUPS) {
    const [first] = MERGE_GROUPS[group]
    const chosen = choices[group] ?? (kept[first] === null ? 'gone' : 'kept')
    const isEmptyBasis =
      group === 'lawful_basis' && (chosen === 'gone' ? gone : kept)[first] === null
    const other = chosen === 'gone' ? 'kept' : 'gone'
    const from = (isEmptyBasis ? other : chosen) === 'gone' ? gone : kept
    for (const field of MERGE_GROUPS[group]) Object.assign(change, { [field]: from[field] })
  }
  const keys = new Set([...Object.keys(kept.custom), ...Object.keys(gone.custom)])
  const custom = [...keys].map((key) => {
    const chosen = choices[`custom.${key}`] ?? (key in kept.custom ? 'kept' : 'gone')
    return [key, (chosen === 'gone' ? gone : kept).custom[key] ?? null]
  })
  return {
    ...change,
    tags: [...new Set([...kept.tags, ...gone.tags])],
    custom: Object.fromEntries(custom),
  }
}

/**
 * mergeLeads makes two leads of a project one, in the caller's transaction. Everything of the lead that
 * goes comes to the kept one, and a record of both as they were stays.
 *
 * @throws ApiError `not_found`; `conflict` while a mail to either of them is on its way, and for more tags than one
 * lead may have.
 */
export async function mergeLeads(
  sql: Sql,
  { salt, queued }: Refusals,
  given: { kept_id: string; gone_id: string; choices: Choices },
): Promise<{ merge_id: string; moved: Record<string, number>; dropped: unknown[] }> {
  const { kept_id, gone_id, choices } = given
  const rows = await sql<Row>`
    select id, project_id, closed_at, ${READ_COLUMNS}, to_jsonb(lead)::text as whole
    from hub.leads as lead
    where id in (${kept_id}, ${gone_id}) order by id for update`
  const kept = rows.find(({ id }) => id === kept_id)
  const gone = rows.find(({ id }) => id === gone_id)
  if (!kept || !gone) throw new ApiError('not_found', 'There is no such lead.')
  if (kept_id === gone_id) throw new ApiError('conflict', say.same)
  if (kept.project_id !== gone.project_id) throw new ApiError('conflict', say.other_project)
  await refuseUnderway(sql, kept_id)
  await refuseUnderway(sql, gone_id)
  await refuseBoth(sql, kept_id, gone_id)
  const { project_id } = kept
  const change = mergedFields(kept, gone, choices)
  const tags = change.tags?.length ?? 0
  if (tags > MAX_TAGS) throw new ApiError('conflict', say.too_many_tags(tags, MAX_TAGS))
  await keepOptOuts(sql, { salt, queued }, [kept.email, gone.email, change.email ?? null])
  const before = await rowsOf(sql, { kept_id, gone_id })
  await stopSequences(sql, { project_id, lead_id: gone_id }, 'lead_deleted')
  await moveMails(sql, gone_id, kept_id)
  const [done] = await sql<{
    moved: Record<string, number>
    dropped: unknown[]
    moved_rows: MovedRow[]
  }>`
    select moved, dropped, moved_rows from private.move_to_lead(${gone_id}, ${kept_id})`
  const { moved = {}, dropped = [], moved_rows = [] } = done ?? {}
  // The copies of the one that goes are copies of the kept one.
  await sql`
    update hub.leads as kept set linked = gone.linked from hub.leads as gone
    where kept.id = ${kept_id} and gone.id = ${gone_id} and kept.linked is null`
  await sql`delete from hub.leads where id = ${gone_id}`
  await changeLead(sql, kept_id, change)
  if (choices.stage === 'gone') {
    // The deal was decided when it was, not now.
    await sql`
      update hub.leads set closed_at = (${gone.whole}::jsonb ->> 'closed_at')::timestamptz
      where id = ${kept_id}`
  }
  const merge_id = randomUUID()
  const lead = gone.name ?? gone.company ?? gone.email
  await recordActivity(sql, {
    project_id,
    lead_id: kept_id,
    kind: 'merged',
    details: { merge_id, lead },
  })
  const after = await rowsOf(sql, { kept_id, gone_id, naming: before.naming })
  await sql`
    insert into hub.merges
      (id, project_id, lead_id, gone, kept, moved, dropped, moved_rows, changed, sums)
    values (${merge_id}, ${project_id}, ${kept_id}, ${gone.whole}, ${kept.whole},
      ${JSON.stringify(moved)}, ${JSON.stringify(dropped)}, ${JSON.stringify(moved_rows)},
      ${changedRows({ before, after, moved_rows, gone_id, kept_id })},
      private.lead_sums(${kept_id}))`
  return { merge_id, moved, dropped }
}

/** One person must not get one mail twice: as long as both get it, they stay two. */
async function refuseBoth(sql: Sql, kept_id: string, gone_id: string): Promise<void> {
  const [both] = await sql<{ subject: string }>`
    select draft.subject from hub.drafts as draft
    where draft.state in ('approved', 'pushed', 'sending', 'unclear')
      and exists (select from hub.recipients where draft_id = draft.id and lead_id = ${kept_id})
      and exists (select from hub.recipients where draft_id = draft.id and lead_id = ${gone_id})
    limit 1`
  if (both) throw new ApiError('conflict', say.both(both.subject))
}

/**
 * Whoever asked for no more mail at one of their addresses gets none at the other either. A bounce is
 * about one address and stays with it.
 */
async function keepOptOuts(
  sql: Sql,
  { salt, queued }: Refusals,
  given: (string | null)[],
): Promise<void> {
  const emails = [...new Set(given.flatMap((email) => email ?? []))]
  const hashes = emails.flatMap((email) => emailHashes(salt, email))
  // Whoever was erased asked for it. Only the address that was erased is marked so.
  const [entry] = await sql<{ reason: 'complained' | 'unsubscribed' | 'manual' | 'imported' }>`
    select case reason when 'erased' then 'unsubscribed' else reason end as reason
    from hub.suppression
    where email_hash = any(${hashes}::text[]) and released_at is null
      and reason in ('complained', 'unsubscribed', 'erased', 'manual', 'imported')
    order by array_position(
      array['complained', 'unsubscribed', 'erased', 'manual', 'imported'], suppression.reason)
    limit 1`
  const isQueued = hashes.some((hash) => queued.has(hash))
  const reason = isQueued && entry?.reason !== 'complained' ? 'unsubscribed' : entry?.reason
  if (!reason) return
  await suppressHashes(sql, { hashes: emails.map((email) => emailHash(salt, email)), reason })
}

/** Mails to the lead that goes become mails to the kept one; unsent ones are rendered anew. */
async function moveMails(sql: Sql, from: string, to: string): Promise<void> {
  const open = await sql<{ id: string }>`
    select id from hub.drafts
    where audience ->> 'lead_id' = ${from} and state in ('draft', 'rendered')
    order by id for update`
  for (const { id } of open) {
    await voidApproval(sql, id, { step: 'edit', to: 'draft' })
    await sql`delete from hub.stands where draft_id = ${id}`
    await sql`update hub.drafts set ${UNRENDERED} where id = ${id}`
  }
  await sql`
    update hub.drafts set audience = jsonb_set(audience, '{lead_id}', to_jsonb(${to}::text))
    where audience ->> 'lead_id' = ${from}`
  await sql`
    update hub.drafts
    set audience = jsonb_set(audience, '{filter,lead_ids}', (
      select jsonb_agg(distinct case when lead.id = ${from} then ${to} else lead.id end)
      from jsonb_array_elements_text(audience #> '{filter,lead_ids}') as lead (id)
    ))
    where audience #> '{filter,lead_ids}' ? ${from}`
  // A sequence that is not approved yet; what was approved stays as it was, and its recipients move.
  await sql`
    update hub.sequences
    set filter = jsonb_set(filter, '{lead_ids}', (
      select jsonb_agg(distinct case when lead.id = ${from} then ${to} else lead.id end)
      from jsonb_array_elements_text(filter -> 'lead_ids') as lead (id)
    ))
    where state = 'draft' and filter -> 'lead_ids' ? ${from}`
}
