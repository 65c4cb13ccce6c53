import { ApiError } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import { inProject, type Project } from '../../db/db.ts'
import { bilingual } from '../../i18n/words.ts'
import { type Mailing, withApproval } from './approval.ts'
import { lockDraft, requireStep } from './drafts.ts'
import { flowText } from './flow.text.ts'
import { requireState } from './flow.ts'
import { requireOpen } from './gates.ts'
import { tell } from './outcome.ts'

/** send lets the sender take a pushed draft; from here on it goes by itself. */
export async function send(mailing: Mailing, given: { slug: string; id: string }): Promise<void> {
  await withApproval(mailing, { ...given, step: 'send' }, async (sql, draft, _project, gates) => {
    requireOpen(gates)
    const done = await sql`
      update hub.drafts
      set state = 'sending', state_reason = null, paused_at = null, retry_at = null, retries = 0,
        updated_at = now()
      where id = ${draft.id} and state = 'pushed' and approved_hash = ${draft.approved_hash}
      returning id`
    await requireStep(sql, 'send', draft.id, done)
  })
}

/** Holds a draft that is being sent, or lets it go on. */
export async function setPaused(
  { db }: Mailing,
  given: { slug: string; id: string; isPaused: boolean },
): Promise<void> {
  const { slug, id, isPaused } = given
  const step = isPaused ? 'pause' : 'resume'
  await inProject(db, slug, async (sql, project) => {
    const draft = await lockDraft(sql, project.id, id)
    requireState(step, draft.state)
    const done = await sql`
      update hub.drafts
      set paused_at = case when ${isPaused} then coalesce(paused_at, now()) end,
        retry_at = case when ${isPaused} then retry_at end, updated_at = now()
      where id = ${id} and state = 'sending'
      returning id`
    await requireStep(sql, step, id, done)
  })
}

/**
 * clear takes the admin's word on mails that nobody knows the fate of: `sent`, or `not_sent`, after
 * which they may be sent again by another send. Without `email` for all of the draft.
 */
export async function clear(
  { db }: Mailing,
  given: { slug: string; id: string; outcome: 'sent' | 'not_sent'; email?: string | undefined },
): Promise<void> {
  const { slug, id, outcome, email = null } = given
  await inProject(db, slug, async (sql, project) => {
    const draft = await lockDraft(sql, project.id, id)
    requireState('clear', draft.state)
    const isSent = outcome === 'sent'
    // A campaign that is over does not start again: who did not get it is pushed anew.
    const back = draft.via === 'campaign' ? 'waiting' : 'pushed'
    const cleared = await sql<{ lead_id: string | null }>`
      update hub.recipients
      set state = case when ${isSent} then 'sent' else ${back} end,
        reason = null, retry_at = null,
        sent_at = case when ${isSent} then claimed_at end,
        claimed_at = case when ${isSent} then claimed_at end,
        portion = case when ${isSent} then portion end
      where draft_id = ${id} and state = 'unclear' and (${email}::text is null or email = ${email})
      returning lead_id`
    if (cleared.length === 0) {
      throw new ApiError('not_found', bilingual(flowText).nothing_unclear)
    }
    if (isSent) await tellAll(sql, project, draft, cleared)
    await sql`
      update hub.drafts
      set state = case
          when exists (
            select from hub.recipients where draft_id = ${id} and state = 'unclear'
          ) then 'unclear'
          when exists (
            select from hub.recipients where draft_id = ${id} and state = 'waiting'
          ) then 'approved'
          when exists (
            select from hub.recipients where draft_id = ${id} and state = 'pushed'
          ) then 'pushed'
          else 'sent'
        end,
        state_reason = null, sent_at = coalesce(sent_at, now()), updated_at = now()
      where id = ${id} and state = 'unclear'`
  })
}

async function tellAll(
  sql: Sql,
  project: Project,
  draft: { id: string; subject: string },
  rows: { lead_id: string | null }[],
): Promise<void> {
  const { id: draft_id, subject } = draft
  for (const { lead_id } of rows) {
    await tell(sql, { draft_id, project_id: project.id, lead_id, subject }, 'sent')
  }
}
