import { ApiError } from '../../../shared/problem.ts'
import { inProject } from '../../db/db.ts'
import { bilingual } from '../../i18n/words.ts'
import { type Mailing, withApproval } from './approval.ts'
import { lockDraft } from './drafts.ts'
import { flowText } from './flow.text.ts'
import { requireOpen } from './gates.ts'
import { pauseDraft, resumeDraft } from './holds.ts'
import { recordAllSent } from './outcome.ts'
import { beginSending, clearMails, requireState } from './state.ts'

/** send marks a pushed draft for sending, which then happens in the background. */
export async function send(mailing: Mailing, given: { slug: string; id: string }): Promise<void> {
  await withApproval(mailing, { ...given, step: 'send' }, async (sql, draft, _project, gates) => {
    requireOpen(gates)
    await beginSending(sql, draft)
  })
}

/** Pauses or resumes a draft that is being sent. */
export async function setPaused(
  { db }: Mailing,
  given: { slug: string; id: string; isPaused: boolean },
): Promise<void> {
  const { slug, id, isPaused } = given
  await inProject(db, slug, async (sql, project) => {
    await lockDraft(sql, project.id, id)
    await (isPaused ? pauseDraft : resumeDraft)(sql, id)
  })
}

/**
 * clear stores the admin's decision about unclear mails: `sent`, or `not_sent`, after which they
 * may be sent again. Without `email` for all of the draft.
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
    const cleared = await clearMails(sql, draft, { is_sent: isSent, email })
    if (cleared.length === 0) {
      throw new ApiError('not_found', bilingual(flowText).nothing_unclear)
    }
    if (isSent) await recordAllSent(sql, draft, cleared)
  })
}
