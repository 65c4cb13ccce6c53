import type { Sql } from '../../../shared/sql.ts'
import { stored, type Words } from '../../i18n/words.ts'
import { UNRENDERED } from './state.ts'

// The changes of drafts.state and recipients.state that only the steps of sequences know; with
// state.ts the only file that writes these columns (tests/hub/mail/drafts/state.test.ts).

/**
 * startStep fixes what a step sends: draft → sending. Its mails wait for their time. Returns false if
 * it is not a draft.
 */
export async function startStep(
  sql: Sql,
  id: string,
  given: {
    hash: string
    approved: object
    mail: { html: string; subject: string; text: string }
  },
): Promise<boolean> {
  const { hash, approved, mail } = given
  const changed = await sql`
    update hub.drafts
    set state = 'sending', state_reason = null, via = 'smtp', approved_at = now(),
      approved_hash = ${hash}, approved = ${JSON.stringify(approved)}, html = ${mail.html},
      rendered_subject = ${mail.subject}, rendered_text = ${mail.text}, paused_at = null,
      retry_at = null, retries = 0, updated_at = now()
    where id = ${id} and sequence_id is not null and state = 'draft'
    returning id`
  return changed.length > 0
}

/**
 * voidSteps takes the steps of a sequence back to drafts, without the mails that nobody has got. Who
 * has had a mail, or may have had it, remains recorded and does not get it again.
 */
export async function voidSteps(sql: Sql, sequence_id: string): Promise<void> {
  await sql`
    update hub.drafts
    set state = 'draft', state_reason = null, approved_hash = null, approved_at = null, via = null,
      paused_at = null, retry_at = null, retries = 0, ${UNRENDERED}, updated_at = now()
    where sequence_id = ${sequence_id} and state in ('draft', 'sending')`
  await sql`
    delete from hub.recipients
    where draft_id in (select id from hub.drafts where sequence_id = ${sequence_id})
      and bounced_at is null and state in ('waiting', 'pushed', 'skipped', 'failed')`
}

/**
 * endSteps: sending → sent, failed if nobody got it, or unclear, once the sequence has ended; unclear →
 * sent or failed once a person has decided.
 */
export async function endSteps(sql: Sql, sequence_id: string): Promise<void> {
  await sql`
    update hub.drafts as draft
    set state = case
        when mails.unclear then 'unclear'
        when mails.sent then 'sent'
        else 'failed'
      end,
      sent_at = case when mails.sent then coalesce(draft.sent_at, now()) end, paused_at = null, retry_at = null,
      updated_at = now()
    from (
      select step.id, coalesce(bool_or(mail.state = 'unclear'), false) as unclear,
        coalesce(bool_or(mail.state = 'sent'), false) as sent
      from hub.drafts as step
      left join hub.recipients as mail on mail.draft_id = step.id
      where step.sequence_id = ${sequence_id}
      group by step.id
    ) as mails
    where draft.id = mails.id and draft.state in ('sending', 'unclear')`
}

/** scheduleMails: waiting → pushed, with the office hours in which each mail may go. */
export async function scheduleMails(
  sql: Sql,
  mails: { draft_id: string; email: string; due_at: Date; due_until: Date }[],
): Promise<void> {
  await sql`
    update hub.recipients as mail
    set state = 'pushed', due_at = due.due_at, due_until = due.due_until
    from jsonb_to_recordset(${JSON.stringify(mails)})
      as due (draft_id uuid, email text, due_at timestamptz, due_until timestamptz)
    where mail.draft_id = due.draft_id and mail.email = due.email
      and mail.state in ('waiting', 'pushed')`
}

/** unscheduleMails: pushed → waiting for all mails of a recipient, whose time is found anew. */
export async function unscheduleMails(
  sql: Sql,
  { sequence_id, emails }: { sequence_id: string; emails: string[] },
): Promise<void> {
  await sql`
    update hub.recipients set state = 'waiting', due_at = null, due_until = null
    where draft_id in (select id from hub.drafts where sequence_id = ${sequence_id})
      and email = any(${emails}::text[]) and state = 'pushed'`
}

/** stopMails: waiting or pushed → skipped for all mails of recipients who left a sequence. */
export async function stopMails(
  sql: Sql,
  { sequence_id, emails }: { sequence_id: string; emails: string[] },
  reason: Words,
): Promise<void> {
  await sql`
    update hub.recipients
    set state = 'skipped', reason = ${stored(reason)}, due_at = null, due_until = null
    where draft_id in (select id from hub.drafts where sequence_id = ${sequence_id})
      and email = any(${emails}::text[]) and state in ('waiting', 'pushed')`
}

/**
 * clearStepMails: unclear → sent, or waiting for the next office hours, or skipped once the sequence
 * has ended. Without an address for all mails; returns whose mails they were.
 */
export function clearStepMails(
  sql: Sql,
  sequence_id: string,
  { email, to }: { email: string | null; to: 'sent' | 'waiting' | 'skipped' },
): Promise<{ draft_id: string; lead_id: string | null }[]> {
  return sql`
    update hub.recipients
    set state = ${to}, reason = null, retry_at = null, due_at = null, due_until = null,
      sent_at = case when ${to} = 'sent' then claimed_at end,
      claimed_at = case when ${to} = 'sent' then claimed_at end
    where draft_id in (select id from hub.drafts where sequence_id = ${sequence_id})
      and state = 'unclear' and (${email}::text is null or email = ${email})
    returning draft_id, lead_id`
}

/** doubtSteps takes restored steps back to drafts, once the mails on their way are unclear. */
export async function doubtSteps(sql: Sql): Promise<void> {
  await sql`
    update hub.drafts as step
    set state = 'draft', state_reason = null, approved_hash = null, approved_at = null, via = null,
      paused_at = null, retry_at = null, ${UNRENDERED}
    from hub.sequences as sequence
    where sequence.id = step.sequence_id and sequence.state in ('draft', 'running', 'paused')
      and step.state <> 'draft'`
}
