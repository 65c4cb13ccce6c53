import { ApiError } from '../../../shared/problem.ts'
import { raw, type Sql } from '../../../shared/sql.ts'
import { absent } from '../../i18n/failure.ts'
import { bilingual, joined, stored, type Words } from '../../i18n/words.ts'
import { flowText } from './flow.text.ts'
import { canStep, STEPS, type State, type Step } from './flow.ts'

const say = bilingual(flowText)

// Only this file writes drafts.state and recipients.state (tests/hub/mail/drafts/state.test.ts): each
// change has a name, the states it starts from, and looks at whether it happened.

/** A draft, as far as its state needs it. */
type Draft = { id: string; approved_hash: string | null }

/** One mail of a draft: what goes to one recipient. */
export type Mail = {
  draft_id: string
  project_id: string
  email: string
  lead_id: string | null
  subject: string
}
/** A mail that was about to be sent; `attempt` says whose answer an answer is. */
export type ClaimedMail = Mail & { attempt: number }

/** Refuses a step out of order; the update that follows has the same condition in SQL. */
export function requireState(step: Step, state: State): void {
  if (!canStep(step, state)) throw wrongState(step, state)
}

/** 409 for a step out of order: it names the state and what is next. */
function wrongState(step: Step, state: State): ApiError {
  const refusal = joined([say.cannot[step], say.is[state]], ': ')
  return new ApiError('wrong_state', joined([refusal, say.next[state]]))
}

/** When nothing changed, somebody else was first: 409 names the state it is in now. */
export async function requireChange(
  sql: Sql,
  step: Step,
  id: string,
  changed: unknown[],
): Promise<void> {
  if (changed.length > 0) return
  const [row] = await sql<{ state: State }>`select state from hub.drafts where id = ${id}`
  if (!row) throw absent('draft')
  throw wrongState(step, row.state)
}

const reasonOf = (reason: Words | null) => reason && stored(reason)

/** The columns of a draft that rendering fills, emptied. */
export const UNRENDERED = raw(
  'html = null, rendered_subject = null, rendered_text = null, campaign = null',
)

/** approveDraft fixes what goes out, to whom and how: rendered → approved. */
export async function approveDraft(
  sql: Sql,
  id: string,
  given: { via: 'smtp' | 'tx' | 'campaign' | null; hash: string; approved: object },
): Promise<void> {
  const changed = await sql`
    update hub.drafts
    set state = 'approved', state_reason = null, via = ${given.via}, approved_at = now(),
      approved_hash = ${given.hash}, approved = ${JSON.stringify(given.approved)},
      updated_at = now()
    where id = ${id} and state = 'rendered'
    returning id`
  await requireChange(sql, 'approve', id, changed)
}

/**
 * addRecipients puts down whom an approved draft goes to; a `reason` says why somebody is left out.
 * Who has had this mail before keeps that row, and so does not get it again.
 */
export async function addRecipients(
  sql: Sql,
  draft: { id: string; project_id: string },
  people: {
    lead_id: string
    email: string
    name: string | null
    company: string | null
    reason: Words | null
  }[],
): Promise<void> {
  await sql`
    insert into hub.recipients (draft_id, project_id, lead_id, email, name, company, state, reason)
    select ${draft.id}, ${draft.project_id}, lead_id, email, name, company,
      case when reason is null then 'waiting' else 'skipped' end, reason
    from jsonb_to_recordset(${JSON.stringify(people)})
      as person (lead_id uuid, email text, name text, company text, reason jsonb)
    on conflict (draft_id, email) do nothing`
}

/**
 * voidApproval takes a draft back by a step that is not forward, and with it what an approval fixed.
 * Who has had this mail, or may have had it, stays on record, so that a new approval does not write
 * to them again.
 */
export async function voidApproval(
  sql: Sql,
  id: string,
  given: { step: Step; to: 'draft' | 'rendered' | 'rejected'; reason?: Words | null },
): Promise<void> {
  const { step, to, reason = null } = given
  const [pushing] = await sql`
    select from hub.drafts where id = ${id} and pushing_until > now()`
  if (pushing) throw new ApiError('conflict', say.being_pushed)
  const changed = await sql`
    update hub.drafts
    set state = ${to}, state_reason = ${reasonOf(reason)}, approved_hash = null,
      approved_at = null, via = null, retry_at = null, retries = 0, updated_at = now()
    where id = ${id} and state = any(${[...STEPS[step]]}::text[])
    returning id`
  await requireChange(sql, step, id, changed)
  await sql`
    delete from hub.recipients
    where draft_id = ${id} and bounced_at is null
      and state in ('waiting', 'pushed', 'skipped', 'failed')`
  await sql`update hub.campaigns set state = 'void' where draft_id = ${id} and state = 'made'`
}

/** moveDrafts gives the unsent drafts to a lead to another project, to be rendered in its name. */
export async function moveDrafts(
  sql: Sql,
  { lead_id, from, to }: { lead_id: string; from: string; to: string },
): Promise<void> {
  await sql`
    update hub.drafts
    set project_id = ${to}, state = 'draft', ${UNRENDERED}, updated_at = now()
    where project_id = ${from} and audience ->> 'lead_id' = ${lead_id}
      and state in ('draft', 'rendered')`
}

/** finishPush: approved → pushed, with all its mails that wait. */
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

/** beginSending: pushed → sending; from here on it goes by itself. */
export async function beginSending(sql: Sql, { id, approved_hash }: Draft): Promise<void> {
  const changed = await sql`
    update hub.drafts
    set state = 'sending', state_reason = null, paused_at = null, retry_at = null, retries = 0,
      updated_at = now()
    where id = ${id} and state = 'pushed' and approved_hash = ${approved_hash}
    returning id`
  await requireChange(sql, 'send', id, changed)
}

/** endDraft: sending → what it ended as, once none of its mails is under way. */
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

/** Which mails of a draft are meant. */
type Some = { draft_id: string; emails: string[] }

/** skipMails leaves people out who may not get it by now. */
export async function skipMails(
  sql: Sql,
  { draft_id, emails }: Some,
  reason: Words,
): Promise<void> {
  await sql`
    update hub.recipients set state = 'skipped', reason = ${stored(reason)}
    where draft_id = ${draft_id} and email = any(${emails}::text[])
      and state in ('waiting', 'pushed')`
}

/**
 * claimMail: pushed → sending, the last moment in which an unsubscription, a pause or a void approval
 * still counts. Answers the attempt, or undefined when it must not go out.
 */
export async function claimMail(
  sql: Sql,
  draft: Draft,
  mail: { email: string; hashes: string[]; message_id: string; token_hash: string },
): Promise<number | undefined> {
  const [row] = await sql<{ attempts: number }>`
    update hub.recipients
    set state = 'sending', attempts = attempts + 1, claimed_at = now(), reason = null,
      message_id = ${mail.message_id}, token_hash = ${mail.token_hash}
    where draft_id = ${draft.id} and email = ${mail.email} and state = 'pushed'
      and not exists (
        select from hub.suppression
        where email_hash = any(${mail.hashes}::text[]) and released_at is null
      )
      and exists (
        select from hub.drafts
        where id = ${draft.id} and state = 'sending' and paused_at is null
          and approved_hash = ${draft.approved_hash}
      )
    returning attempts`
  return row?.attempts
}

/** claimPortion: pushed → sending for all of a campaign that is about to start; false if it must not. */
export async function claimPortion(
  sql: Sql,
  draft: Draft,
  { id, portion }: { id: string; portion: number },
): Promise<boolean> {
  const [row] = await sql`
    update hub.campaigns set state = 'started', started_at = now()
    where id = ${id} and state = 'made' and exists (
      select from hub.drafts
      where id = ${draft.id} and state = 'sending' and paused_at is null
        and approved_hash = ${draft.approved_hash}
    )
    returning id`
  if (!row) return false
  await sql`
    update hub.recipients
    set state = 'sending', attempts = attempts + 1, claimed_at = now(), reason = null
    where draft_id = ${draft.id} and portion = ${portion} and state = 'pushed'`
  return true
}

/** failPortion: pushed → failed for all of a campaign that does not start. */
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

/** endPortion: sending → sent, or unclear, for all of a campaign; answers whose mails they were. */
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

/** markSent: sending → sent. Also right when it was called unclear meanwhile: now it is clear. */
export async function markSent(sql: Sql, mail: ClaimedMail): Promise<boolean> {
  const changed = await sql`
    update hub.recipients set state = 'sent', sent_at = now(), reason = null
    where draft_id = ${mail.draft_id} and email = ${mail.email} and attempts = ${mail.attempt}
      and state in ('sending', 'unclear')
    returning 1`
  return changed.length > 0
}

/** markUnclear: sending → unclear. Nobody knows whether it arrived, so it never goes out again by itself. */
export async function markUnclear(sql: Sql, mail: ClaimedMail, reason: Words): Promise<void> {
  await sql`
    update hub.recipients set state = 'unclear', reason = ${stored(reason)}
    where draft_id = ${mail.draft_id} and email = ${mail.email} and attempts = ${mail.attempt}
      and state = 'sending'`
}

/** markFailed: sending → failed. It was surely not taken and will not be. */
export async function markFailed(sql: Sql, mail: ClaimedMail, reason: Words): Promise<void> {
  await sql`
    update hub.recipients set state = 'failed', reason = ${stored(reason)}
    where draft_id = ${mail.draft_id} and email = ${mail.email} and attempts = ${mail.attempt}
      and state = 'sending'`
}

/** putBack: sending → pushed. It was surely not taken, and may be tried again after a while. */
export async function putBack(
  sql: Sql,
  mail: ClaimedMail,
  { reason, wait_seconds }: { reason: Words; wait_seconds: number },
): Promise<void> {
  await sql`
    update hub.recipients
    set state = 'pushed', reason = ${stored(reason)}, claimed_at = null,
      retry_at = now() + make_interval(secs => ${wait_seconds})
    where draft_id = ${mail.draft_id} and email = ${mail.email} and attempts = ${mail.attempt}
      and state = 'sending'`
}

/**
 * giveUpClaims: sending → unclear for every mail that a process which ended had claimed; answers how
 * many. What listmonk runs goes on without us.
 */
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
 * clearMails: unclear → sent, or back to where another send takes them up. Without an address all of
 * the draft's; answers whose mails they were.
 */
export async function clearMails(
  sql: Sql,
  draft: { id: string; via: string | null },
  { is_sent, email }: { is_sent: boolean; email: string | null },
): Promise<{ lead_id: string | null }[]> {
  // A campaign that is over does not start again: who did not get it is pushed anew.
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
      state_reason = null, sent_at = coalesce(sent_at, now()), updated_at = now()
    where id = ${draft.id} and state = 'unclear'`
  return cleared
}

/**
 * doubtRestored lets no restored mail go out by itself: approvals are void, and what was on its way is
 * unclear, for it may have gone out since the backup.
 */
export async function doubtRestored(sql: Sql, reason: Words): Promise<void> {
  await sql`
    update hub.recipients
    set state = 'unclear', claimed_at = coalesce(claimed_at, now()), reason = ${stored(reason)}
    where state in ('waiting', 'pushed', 'sending') and exists (
      select from hub.drafts
      where id = draft_id and drafts.state in ('approved', 'pushed', 'sending')
    )`
  // A draft that nobody waits for any more was sent.
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

/** unrenderRestored takes back what another hub rendered: this one did not, and does not send it. */
export async function unrenderRestored(sql: Sql): Promise<void> {
  await sql`
    update hub.drafts
    set ${UNRENDERED}, state = case when state = 'rendered' then 'draft' else state end
    where state <> 'sent'`
}
