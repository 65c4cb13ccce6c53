import { ApiError } from '../../shared/problem.ts'
import type { Sql } from '../../shared/sql.ts'
import type { Project } from '../db/db.ts'
import { bilingual } from '../i18n/words.ts'
import { moveDrafts } from '../mail/drafts/state.ts'
import { leadsText } from './leads.text.ts'
import { findByEmail, KnownEmail } from './leads.ts'
import { recordActivity } from './timeline.ts'

const say = bilingual(leadsText)

/**
 * moveLead moves a lead to another project with its notes, tasks, timeline, evidence and unsent
 * mails. Those become drafts again, since the other project has its own sender. Sent mails stay in
 * the project that sent them. Throws 409 if the e-mail exists there or a mail to it is being sent.
 * The transaction's scope is `*`.
 */
export async function moveLead(
  sql: Sql,
  {
    id,
    from,
    to,
  }: { id: string; from: Pick<Project, 'id' | 'slug'>; to: Pick<Project, 'id' | 'slug'> },
): Promise<void> {
  const [lead] = await sql<{ email: string | null }>`
    select email from hub.leads where id = ${id} and project_id = ${from.id} for update`
  if (!lead) throw new ApiError('not_found', 'There is no such lead.')
  if (from.id === to.id) return
  const known = lead.email ? await findByEmail(sql, to.id, lead.email) : undefined
  if (known) throw new KnownEmail(known)
  await refuseUnderway(sql, id)
  await sql`update hub.leads set project_id = ${to.id}, updated_at = now() where id = ${id}`
  await sql`update hub.notes set project_id = ${to.id} where lead_id = ${id}`
  await sql`update hub.tasks set project_id = ${to.id} where lead_id = ${id}`
  await sql`update hub.activities set project_id = ${to.id} where lead_id = ${id}`
  await sql`update hub.evidence set project_id = ${to.id} where lead_id = ${id}`
  await moveDrafts(sql, { lead_id: id, from: from.id, to: to.id })
  const details = { from: from.slug, to: to.slug }
  await recordActivity(sql, { project_id: to.id, lead_id: id, kind: 'moved', details })
}

/**
 * removeLead deletes a lead with everything known about it and its unsent mails; sent mails remain.
 * Throws 409 while a mail to it is being sent.
 */
export async function removeLead(sql: Sql, id: string): Promise<void> {
  await refuseUnderway(sql, id)
  await sql`
    delete from hub.drafts
    where audience ->> 'lead_id' = ${id} and state in ('draft', 'rendered', 'rejected', 'failed')`
  await sql`delete from hub.leads where id = ${id}`
}

/** Throws 409 while a letter to the lead is approved, being sent or unclear. */
export async function refuseUnderway(sql: Sql, id: string): Promise<void> {
  const [draft] = await sql<{ state: keyof typeof say.mail }>`
    select state from hub.drafts
    where audience ->> 'lead_id' = ${id}
      and state in ('approved', 'pushed', 'sending', 'unclear')
    limit 1`
  if (!draft) return
  throw new ApiError('conflict', say.mail[draft.state])
}
