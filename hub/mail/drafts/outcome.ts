import type { Sql } from '../../../shared/sql.ts'
import { bilingual, joined } from '../../i18n/words.ts'
import { moveStage } from '../../leads/leads.ts'
import { recordActivity } from '../../leads/timeline.ts'
import { stopSequences } from '../sequences/stop.ts'
import { type Salt, suppress } from '../suppression.ts'
import { outcomeText } from './outcome.text.ts'
import { type ClaimedMail, endDraft, type Mail, markSent } from './state.ts'

const say = bilingual(outcomeText)

/** recordSent records that the server accepted the mail. */
export async function recordSent(sql: Sql, mail: ClaimedMail): Promise<void> {
  if (await markSent(sql, mail)) await recordOutcome(sql, mail, 'sent')
}

/** Records this for mails of one draft that were sent together. */
export async function recordAllSent(
  sql: Sql,
  draft: { id: string; project_id: string; subject: string },
  mails: { lead_id: string | null }[],
): Promise<void> {
  const { id: draft_id, project_id, subject } = draft
  for (const { lead_id } of mails) {
    await recordOutcome(sql, { draft_id, project_id, lead_id, subject }, 'sent')
  }
}

/**
 * Adds an entry to the lead's timeline; the first mail makes a new lead a contacted one, and who replies or
 * unsubscribes leaves every sequence.
 */
export async function recordOutcome(
  sql: Sql,
  mail: Omit<Mail, 'email'>,
  kind: 'sent' | 'bounced' | 'replied' | 'unsubscribed',
  more: {
    inbox_id?: string
    only_address?: true
    from?: string
    opt_out?: 'asked' | 'open'
    text?: string
    message_id?: string
  } = {},
): Promise<void> {
  const { project_id, lead_id, draft_id, subject } = mail
  if (!lead_id) return
  const lead = { project_id, lead_id }
  await recordActivity(sql, { ...lead, kind, details: { draft_id, subject, ...more } })
  const details = { by: kind }
  if (kind === 'sent') await moveStage(sql, lead, { from: ['new'], to: 'contacted', details })
  if (kind === 'unsubscribed') await stopSequences(sql, lead, 'opted_out')
  if (kind === 'replied') {
    await stopSequences(sql, lead, more.opt_out === 'asked' ? 'opted_out' : 'replied')
    await moveStage(sql, lead, { from: ['new', 'contacted'], to: 'replied', details })
  }
}

/**
 * recordBounce records that an address does not exist, or that its owner complained; it never gets
 * mail again.
 */
export async function recordBounce(
  sql: Sql,
  salt: Salt,
  mail: Mail,
  bounce: 'hard' | 'soft' | 'complaint',
): Promise<void> {
  const isComplaint = bounce === 'complaint'
  const changed = isComplaint
    ? await sql`
        update hub.recipients set complained_at = now()
        where draft_id = ${mail.draft_id} and email = ${mail.email} and complained_at is null
        returning 1`
    : await sql`
        update hub.recipients set bounced_at = now(), bounce = ${bounce}
        where draft_id = ${mail.draft_id} and email = ${mail.email}
          and bounce is distinct from ${bounce} and bounce is distinct from 'hard'
        returning 1`
  if (bounce !== 'soft') {
    const reason = isComplaint ? 'complained' : 'bounced'
    const { email, project_id } = mail
    await suppress(sql, salt, { emails: [email], reason, project_id })
    await stopSequences(sql, { project_id: null, email }, reason)
  }
  if (changed.length > 0) await recordOutcome(sql, mail, 'bounced')
}

/**
 * finishDraft ends a draft if no mail is waiting any more: as unclear, sent, or failed if nobody
 * got it.
 */
export async function finishDraft(sql: Sql, draft_id: string): Promise<void> {
  const [count] = await sql<Record<'unclear' | 'sent' | 'failed' | 'skipped' | 'open', number>>`
    select count(*) filter (where state = 'unclear')::int as unclear,
      count(*) filter (where state = 'sent')::int as sent,
      count(*) filter (where state = 'failed')::int as failed,
      count(*) filter (where state = 'skipped')::int as skipped,
      count(*) filter (where state in ('waiting', 'pushed', 'sending'))::int as open
    from hub.recipients where draft_id = ${draft_id}`
  if (!count || count.open > 0) return
  const { unclear, sent, failed, skipped } = count
  const reasons = [
    ...(unclear > 0 ? [say.unclear(unclear)] : []),
    ...(failed > 0 ? [say.failed(failed)] : []),
    ...(skipped > 0 ? [say.left_out(skipped)] : []),
  ]
  await endDraft(sql, draft_id, {
    to: unclear > 0 ? 'unclear' : sent > 0 ? 'sent' : 'failed',
    reason: reasons.length > 0 ? joined(reasons, ', ') : null,
  })
}

/** The sent mails to an address, or with a Message-ID, newest first. */
export function findMails(
  sql: Sql,
  given: { message_ids: string[]; email: string | null },
): Promise<Mail[]> {
  return sql`
    select r.draft_id, r.project_id, r.lead_id, r.email, d.subject
    from hub.recipients as r
    join hub.drafts as d on d.id = r.draft_id
    where r.claimed_at is not null
      and (r.message_id = any(${given.message_ids}::text[]) or r.email = ${given.email})
    order by r.claimed_at desc`
}
