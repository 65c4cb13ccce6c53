import { ApiError } from '../../../shared/problem.ts'
import { raw, type Sql } from '../../../shared/sql.ts'
import { absent } from '../../i18n/failure.ts'
import { bilingual, joined, stored, type Words } from '../../i18n/words.ts'
import { flowText } from './flow.text.ts'
import { canStep, STEPS, type State, type Step } from './flow.ts'

const say = bilingual(flowText)

// Only this file, portion-state.ts, state-outdated.ts and step-state.ts write drafts.state and recipients.state (a test sees to it).
// Each change has a name and the states it starts from, and checks whether it happened.

/** The fields of a draft that its state depends on. */
export type Draft = { id: string; approved_hash: string | null }

/** One mail of a draft, to one recipient. */
export type Mail = {
  draft_id: string
  project_id: string
  email: string
  lead_id: string | null
  subject: string
}
/** A mail that was about to be sent; `attempt` tells the answers apart. */
export type ClaimedMail = Mail & { attempt: number }

/** Refuses a step out of order; the update that follows has the same condition in SQL. */
export function requireState(step: Step, state: State): void {
  if (!canStep(step, state)) throw wrongState(step, state)
}

/** A 409 for a step out of order, with the state and the next step. */
function wrongState(step: Step, state: State): ApiError {
  const refusal = joined([say.cannot[step], say.is[state]], ': ')
  return new ApiError('wrong_state', joined([refusal, say.next[state]]))
}

/** If nothing changed, somebody else was first: 409 with the current state. */
export async function requireChange(sql: Sql, step: Step, id: string, changed: unknown[]) {
  if (changed.length > 0) return
  const [row] = await sql<{ state: State }>`select state from hub.drafts where id = ${id}`
  if (!row) throw absent('draft')
  throw wrongState(step, row.state)
}

export const reasonOf = (reason: Words | null) => reason && stored(reason)

/** The columns of a draft that rendering fills, emptied. */
export const UNRENDERED = raw(
  'html = null, rendered_subject = null, rendered_text = null, campaign = null, is_stale = false',
)

/** approveDraft fixes what is sent, to whom and how: rendered → approved. */
export async function approveDraft(
  sql: Sql,
  id: string,
  given: { via: 'smtp' | 'tx' | 'campaign' | null; hash: string; approved: object },
): Promise<void> {
  const changed = await sql`
    update hub.drafts
    set state = 'approved', state_reason = null, via = ${given.via}, approved_at = now(),
      approved_hash = ${given.hash}, approved = ${JSON.stringify(given.approved)},
      is_stale = false, updated_at = now()
    where id = ${id} and state = 'rendered'
    returning id`
  await requireChange(sql, 'approve', id, changed)
}

/**
 * addRecipients stores the recipients of an approved draft; a `reason` says why somebody is skipped.
 * Whoever has had this mail, at whatever address, keeps that row and gets it no second time.
 */
export async function addRecipients(
  sql: Sql,
  draft: { id: string; project_id: string },
  people: {
    lead_id: string
    email: string
    name: string | null
    company: string | null
    own: Record<string, string>
    reason: Words | null
  }[],
): Promise<void> {
  await sql`
    insert into hub.recipients
      (draft_id, project_id, lead_id, email, name, company, own, state, reason)
    select ${draft.id}, ${draft.project_id}, lead_id, email, name, company, own,
      case when reason is null then 'waiting' else 'skipped' end, reason
    from jsonb_to_recordset(${JSON.stringify(people)})
      as person (
        lead_id uuid, email text, name text, company text, own jsonb, reason jsonb)
    where not exists (select from hub.recipients where draft_id = ${draft.id}
      and lead_id = person.lead_id and recipients.state in ('sending', 'sent', 'unclear'))
    on conflict (draft_id, email) do nothing`
}

/**
 * voidApproval takes a draft back to an earlier state, and removes what an approval fixed. Whoever has
 * or may have had this mail stays recorded, so that a new approval does not send it to them again.
 */
export async function voidApproval(
  sql: Sql,
  id: string,
  given: {
    step: Step
    to: 'draft' | 'rendered' | 'rejected'
    reason?: Words | null
    /** What it was rendered with has changed, so that it is rendered again by itself. */
    is_stale?: boolean
  },
): Promise<void> {
  const { step, to, reason = null, is_stale = false } = given
  const [pushing] = await sql`
    select from hub.drafts where id = ${id} and pushing_until > now()`
  if (pushing) throw new ApiError('conflict', say.being_pushed)
  const changed = await sql`
    update hub.drafts
    set state = ${to}, state_reason = ${reasonOf(reason)}, approved_hash = null,
      approved_at = null, via = null, retry_at = null, retries = 0, is_stale = ${is_stale},
      updated_at = now()
    where id = ${id} and state = any(${[...STEPS[step]]}::text[])
    returning id`
  await requireChange(sql, step, id, changed)
  await forgetApproved(sql, [id])
}

/** Removes the recipients and campaigns that an approval fixed and that nothing has gone out to. */
export async function forgetApproved(sql: Sql, ids: string[]): Promise<void> {
  await sql`
    delete from hub.recipients
    where draft_id = any(${ids}::uuid[]) and bounced_at is null
      and state in ('waiting', 'pushed', 'skipped', 'failed')`
  await sql`
    update hub.campaigns set state = 'void'
    where draft_id = any(${ids}::uuid[]) and state = 'made'`
}

/** finishPush: approved → pushed, together with all its waiting mails. */
export async function finishPush(sql: Sql, { id, approved_hash }: Draft): Promise<void> {
  const changed = await sql`
    update hub.drafts
    set state = 'pushed', state_reason = null, pushing_until = null, updated_at = now()
    where id = ${id} and state = 'approved' and approved_hash = ${approved_hash}
    returning id`
  await requireChange(sql, 'push', id, changed)
  await sql`
    update hub.recipients set state = 'pushed' where draft_id = ${id} and state = 'waiting'`
}

/** beginSending: pushed → sending; from here on it is sent in the background. */
export async function beginSending(sql: Sql, { id, approved_hash }: Draft): Promise<void> {
  const changed = await sql`
    update hub.drafts
    set state = 'sending', state_reason = null, paused_at = null, retry_at = null, retries = 0,
      updated_at = now()
    where id = ${id} and state = 'pushed' and approved_hash = ${approved_hash}
    returning id`
  await requireChange(sql, 'send', id, changed)
}

/** endDraft: sending → its final state, once none of its mails is being sent. */
export async function endDraft(
  sql: Sql,
  id: string,
  { to, reason }: { to: 'sent' | 'unclear' | 'failed'; reason: Words | null },
): Promise<void> {
  await sql`
    update hub.drafts
    set state = ${to}, state_reason = ${reasonOf(reason)}, retry_at = null, paused_at = null,
      sent_at = case when exists (
        select from hub.recipients where draft_id = ${id} and state = 'sent'
      ) then now() end,
      updated_at = now()
    where id = ${id} and state = 'sending' and not exists (
      select from hub.recipients
      where draft_id = ${id} and state in ('waiting', 'pushed', 'sending')
    )`
}

/** skipMails skips recipients who must no longer get the mail. */
export async function skipMails(
  sql: Sql,
  { draft_id, emails }: { draft_id: string; emails: string[] },
  reason: Words,
): Promise<void> {
  await sql`
    update hub.recipients set state = 'skipped', reason = ${stored(reason)}
    where draft_id = ${draft_id} and email = any(${emails}::text[])
      and state in ('waiting', 'pushed')`
}

/** claimMail: pushed → sending, unless it must not be sent any more; returns the attempt. */
export async function claimMail(
  sql: Sql,
  draft: Draft,
  mail: { email: string; hashes: string[]; message_id: string; token_hash: string; sender: string },
): Promise<number | undefined> {
  const [row] = await sql<{ attempts: number }>`
    update hub.recipients
    set state = 'sending', attempts = attempts + 1, claimed_at = now(), reason = null,
      message_id = ${mail.message_id}, token_hash = ${mail.token_hash}, sender = ${mail.sender}
    where draft_id = ${draft.id} and email = ${mail.email} and state = 'pushed'
      and (due_until is null or (due_at <= now() and now() < due_until))
      and not exists (
        select from hub.suppression
        where email_hash = any(${mail.hashes}::text[]) and released_at is null
      )
      and exists (
        select from hub.drafts
        where id = ${draft.id} and state = 'sending' and paused_at is null
          and approved_hash = ${draft.approved_hash}
          and not private.mail_is_held(recipients.project_id, lead_id, email, drafts.created_at)
      )
    returning attempts`
  return row?.attempts
}

/** markSent: sending → sent. It also applies to a mail that was marked unclear meanwhile. */
export async function markSent(sql: Sql, mail: ClaimedMail): Promise<boolean> {
  const changed = await sql`
    update hub.recipients set state = 'sent', sent_at = now(), reason = null
    where draft_id = ${mail.draft_id} and email = ${mail.email} and attempts = ${mail.attempt}
      and state in ('sending', 'unclear')
    returning 1`
  return changed.length > 0
}

/** markUnclear: sending → unclear. Nobody knows whether it arrived, so it is never sent again automatically. */
export async function markUnclear(sql: Sql, mail: ClaimedMail, reason: Words): Promise<void> {
  await sql`
    update hub.recipients set state = 'unclear', reason = ${stored(reason)}
    where draft_id = ${mail.draft_id} and email = ${mail.email} and attempts = ${mail.attempt}
      and state = 'sending'`
}

/** markFailed: sending → failed. It was certainly not accepted and will not be. */
export async function markFailed(sql: Sql, mail: ClaimedMail, reason: Words): Promise<void> {
  await sql`
    update hub.recipients set state = 'failed', reason = ${stored(reason)}
    where draft_id = ${mail.draft_id} and email = ${mail.email} and attempts = ${mail.attempt}
      and state = 'sending'`
}

/**
 * putBack: sending → pushed. It was certainly not accepted, and may be tried again later. It `was_tried`
 * if the answer was about this mail; a server that takes none uses up no attempt.
 */
export async function putBack(
  sql: Sql,
  mail: ClaimedMail,
  given: { reason: Words; wait_seconds: number; was_tried: boolean },
): Promise<void> {
  const { reason, wait_seconds, was_tried } = given
  await sql`
    update hub.recipients
    set state = 'pushed', reason = ${stored(reason)}, claimed_at = null,
      attempts = attempts - ${was_tried ? 0 : 1},
      retry_at = now() + make_interval(secs => ${wait_seconds})
    where draft_id = ${mail.draft_id} and email = ${mail.email} and attempts = ${mail.attempt}
      and state = 'sending'`
}

/** giveUpClaims: sending → unclear for all that an ended process had claimed; listmonk’s campaigns go on. */
export async function giveUpClaims(sql: Sql, reason: Words): Promise<number> {
  const changed = await sql`
    update hub.recipients set state = 'unclear', reason = ${stored(reason)}
    where state = 'sending' and exists (
      select from hub.drafts
      where id = recipients.draft_id and via is distinct from 'campaign'
    )
    returning 1`
  return changed.length
}

/**
 * clearMails: unclear → sent, or back to where another send includes them. Without an address for
 * all mails of the draft; returns whose mails they were.
 */
export async function clearMails(
  sql: Sql,
  draft: { id: string; via: string | null },
  { is_sent, email }: { is_sent: boolean; email: string | null },
): Promise<{ lead_id: string | null }[]> {
  // A finished campaign cannot start again: those who did not get it are pushed again.
  const back = draft.via === 'campaign' ? 'waiting' : 'pushed'
  const cleared = await sql<{ lead_id: string | null }>`
    update hub.recipients
    set state = case when ${is_sent} then 'sent' else ${back} end,
      reason = null, retry_at = null,
      sent_at = case when ${is_sent} then claimed_at end,
      claimed_at = case when ${is_sent} then claimed_at end,
      portion = case when ${is_sent} then portion end
    where draft_id = ${draft.id} and state = 'unclear'
      and (${email}::text is null or email = ${email})
    returning lead_id`
  if (cleared.length === 0) return []
  await sql`
    update hub.drafts
    set state = (
        select case
          when bool_or(state = 'unclear') then 'unclear'
          when bool_or(state = 'waiting') then 'approved'
          when bool_or(state = 'pushed') then 'pushed'
          else 'sent'
        end
        from hub.recipients where draft_id = ${draft.id}
      ),
      state_reason = null, updated_at = now(),
      sent_at = case when exists (
        select from hub.recipients where draft_id = ${draft.id} and state = 'sent'
      ) then coalesce(sent_at, now()) end
    where id = ${draft.id} and state = 'unclear'`
  return cleared
}

/**
 * doubtRestored makes sure that no restored mail is sent automatically: approvals are void, and
 * mails that were being sent are unclear, because they may have been sent since the backup.
 */
export async function doubtRestored(sql: Sql, reason: Words): Promise<void> {
  await sql`
    update hub.recipients
    set state = 'unclear', claimed_at = coalesce(claimed_at, now()), reason = ${stored(reason)}
    where state in ('waiting', 'pushed', 'sending') and exists (
      select from hub.drafts
      where id = draft_id and drafts.state in ('approved', 'pushed', 'sending')
    )`
  // A draft without waiting mails was sent.
  await sql`
    update hub.drafts
    set state = 'unclear', state_reason = ${stored(reason)}, paused_at = null, retry_at = null,
      updated_at = now()
    where state in ('approved', 'pushed', 'sending') and exists (
      select from hub.recipients where draft_id = drafts.id and recipients.state = 'unclear'
    )`
  await sql`
    update hub.drafts set state = 'sent', sent_at = coalesce(sent_at, now())
    where state = 'sending'`
  await sql`
    update hub.drafts set approved_hash = null, approved_at = null, pushing_until = null
    where state <> 'sent' and (approved_hash is not null or pushing_until is not null)`
}

/** unrenderRestored removes what another hub rendered, so that this hub does not send it. */
export async function unrenderRestored(sql: Sql): Promise<void> {
  await sql`
    update hub.drafts
    set ${UNRENDERED}, state = case when state = 'rendered' then 'draft' else state end
    where state <> 'sent'`
}
