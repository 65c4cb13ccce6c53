import type { Sql } from '../../../shared/sql.ts'
import { stored, type Words } from '../../i18n/words.ts'
import { type Draft, reasonOf } from './state.ts'

// The changes of recipients.state that only the portions of campaigns in listmonk know.

/** claimPortion: pushed → sending for all mails of a campaign that is about to start; false if it must not. */
export async function claimPortion(
  sql: Sql,
  draft: Draft,
  { id, portion, sender }: { id: string; portion: number; sender: string },
): Promise<boolean> {
  const [row] = await sql`
    update hub.campaigns set state = 'started', started_at = now()
    where id = ${id} and state = 'made' and exists (
      select from hub.drafts
      where id = ${draft.id} and state = 'sending' and paused_at is null
        and approved_hash = ${draft.approved_hash} and not exists (
          select from hub.recipients as r
          where r.draft_id = drafts.id and portion = ${portion} and r.state = 'pushed'
            and private.mail_is_held(r.project_id, r.lead_id, r.email, drafts.created_at)
        )
    )
    returning id`
  if (!row) return false
  await sql`
    update hub.recipients
    set state = 'sending', attempts = attempts + 1, claimed_at = now(), reason = null, sender = ${sender}
    where draft_id = ${draft.id} and portion = ${portion} and state = 'pushed'`
  return true
}

/** failPortion: pushed → failed for all mails of a campaign that does not start. */
export async function failPortion(
  sql: Sql,
  draft_id: string,
  portion: number,
  reason: Words,
): Promise<void> {
  await sql`
    update hub.recipients set state = 'failed', reason = ${stored(reason)}
    where draft_id = ${draft_id} and portion = ${portion} and state = 'pushed'`
}

/** endPortion: sending → sent or unclear for all mails of a campaign; returns whose. */
export function endPortion(
  sql: Sql,
  draft_id: string,
  portion: number,
  { to, reason }: { to: 'sent' | 'unclear'; reason: Words | null },
): Promise<{ lead_id: string | null }[]> {
  return sql`
    update hub.recipients
    set state = ${to}, reason = ${reasonOf(reason)},
      sent_at = case when ${to} = 'sent' then now() end
    where draft_id = ${draft_id} and portion = ${portion} and state = 'sending'
    returning lead_id`
}

/**
 * withdrawMails: sending → skipped for recipients who are taken off the list of a campaign, or unclear
 * if some of its mails have left, because listmonk does not tell whose.
 */
export async function withdrawMails(
  sql: Sql,
  { draft_id, emails }: { draft_id: string; emails: string[] },
  { to, reason }: { to: 'skipped' | 'unclear'; reason: Words },
): Promise<void> {
  await sql`
    update hub.recipients
    set state = ${to}, reason = ${stored(reason)},
      claimed_at = case when ${to} = 'unclear' then claimed_at end
    where draft_id = ${draft_id} and email = any(${emails}::text[]) and state = 'sending'`
}
