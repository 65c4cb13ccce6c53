import { ApiError } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import { absent } from '../../i18n/failure.ts'
import { bilingual } from '../../i18n/words.ts'
import { createLead, moveStage } from '../../leads/leads.ts'
import { recordActivity } from '../../leads/timeline.ts'
import { decideRefusal, recordRefusal } from '../drafts/refusal.ts'
import type { Mail } from '../drafts/state.ts'
import { asksToStop } from '../imap/opt-out-words.ts'
import type { Salt } from '../suppression.ts'
import { readAnswered } from './answers.ts'
import { inboxText } from './inbox.text.ts'
import { keepSaid, recordReply } from './incoming.ts'
import { awayDay, endWait } from './waits.ts'

const say = bilingual(inboxText)

// What a person decides about a mail of the inbox.

/** The mail of ours that a mail is about. */
async function ourMail(sql: Sql, id: string): Promise<Mail> {
  const [mail] = await sql<Mail>`
    select mail.draft_id, mail.project_id, mail.lead_id, mail.our_email as email, draft.subject
    from hub.inbox_mails as mail join hub.drafts as draft on draft.id = mail.draft_id
    where mail.id = ${id}`
  if (!mail) throw absent('mail')
  return mail
}

/** markReply makes a mail a reply, with all that follows from one. */
export async function markReply(sql: Sql, id: string): Promise<void> {
  const mail = await readAnswered(sql, id)
  const ours = await ourMail(sql, id)
  const [changed] = await sql`
    update hub.inbox_mails set kind = 'reply', matched_by = 'person', away_until = null
    where id = ${id} and kind in ('unrelated', 'out_of_office')
    returning id`
  if (!changed) throw new ApiError('conflict', say.not_open)
  const opt_out = asksToStop(mail.subject, mail.text) === 'no' ? null : ('open' as const)
  if (opt_out)
    await sql`update hub.inbox_mails set opt_out = coalesce(opt_out, 'open') where id = ${id}`
  const given = { from: mail.from_email, message_id: mail.message_id }
  await recordReply(
    sql,
    { ours, matched_by: 'person' },
    { id, mail: given, text: mail.text, opt_out },
  )
}

/**
 * markUnrelated says that a mail is no reply. Once no other reply of the lead is left, follow-ups may go to
 * it again.
 */
export async function markUnrelated(sql: Sql, id: string): Promise<void> {
  const ours = await ourMail(sql, id)
  const [changed] = await sql`
    update hub.inbox_mails set kind = 'unrelated', matched_by = 'person', away_until = null
    where id = ${id} and kind in ('reply', 'out_of_office')
    returning old.kind as was`
  if (!changed) throw new ApiError('conflict', say.not_open)
  const { lead_id } = ours
  if (lead_id && changed.was === 'out_of_office' && !(await awayDay(sql, lead_id))) {
    await endWait(sql, lead_id)
  }
  const [other] = await sql`
    select from hub.inbox_mails
    where draft_id = ${ours.draft_id} and our_email = ${ours.email} and kind = 'reply' limit 1`
  if (other) return
  await sql`
    update hub.recipients set replied_at = null, last_replied_at = null
    where draft_id = ${ours.draft_id} and email = ${ours.email}`
  if (!ours.lead_id) return
  const [reply] = await sql`
    select from hub.recipients where lead_id = ${ours.lead_id} and replied_at is not null limit 1`
  if (reply) return
  await moveStage(
    sql,
    { project_id: ours.project_id, lead_id: ours.lead_id },
    { from: ['replied'], to: 'contacted', details: { by: 'no_answer' } },
  )
}

/**
 * assign says whose a mail from another address is: a lead of the project, which may be the one that we
 * wrote to, or a new one. What it says becomes evidence about that lead.
 */
export async function assign(
  sql: Sql,
  id: string,
  given: { lead_id: string } | { is_new: true },
): Promise<void> {
  const mail = await readAnswered(sql, id)
  const { project_id } = mail
  const lead_id = 'lead_id' in given ? given.lead_id : await addSender(sql, mail)
  const [lead] = await sql`
    select from hub.leads where id = ${lead_id} and project_id = ${project_id}`
  if (!lead) throw absent('lead')
  const [changed] = await sql<{ was: string | null; kind: string; opt_out: string | null }>`
    update hub.inbox_mails set lead_id = ${lead_id}, whose_at = now()
    where id = ${id}
    returning old.lead_id as was, kind, opt_out`
  await sql`update hub.answers set lead_id = ${lead_id} where inbox_mail_id = ${id}`
  if (changed?.kind !== 'reply') return
  if (!changed.opt_out) await keepSaid(sql, { project_id, lead_id }, mail.text)
  if (changed.was === lead_id) return
  const details = { subject: mail.subject, text: mail.text?.slice(0, 4000), inbox_id: id }
  await recordActivity(sql, { project_id, lead_id, kind: 'replied', details })
  await moveStage(
    sql,
    { project_id, lead_id },
    { from: ['new', 'contacted'], to: 'replied', details: { by: 'replied' } },
  )
}

async function addSender(
  sql: Sql,
  { project_id, from_email, from_name }: Awaited<ReturnType<typeof readAnswered>>,
): Promise<string> {
  if (!from_email) throw new ApiError('conflict', say.closed.no_address)
  const { id } = await createLead(sql, project_id, {
    email: from_email,
    name: from_name,
    source: 'inbox',
  })
  return id
}

/** decideOptOut ends the question whether a mail asks for no more mail. */
export async function decideOptOut(
  sql: Sql,
  salt: Salt,
  { id, refuses }: { id: string; refuses: boolean },
): Promise<void> {
  const ours = await ourMail(sql, id)
  const { from_email } = await readAnswered(sql, id)
  const [open] = await sql`
    select from hub.recipients
    where draft_id = ${ours.draft_id} and email = ${ours.email} and opt_out = 'open'`
  if (!open) throw new ApiError('conflict', say.not_open)
  if (ours.lead_id) await decideRefusal(sql, salt, { lead_id: ours.lead_id, refuses })
  else {
    await sql`
      update hub.recipients set opt_out = ${refuses ? 'asked' : 'denied'}
      where draft_id = ${ours.draft_id} and email = ${ours.email} and opt_out = 'open'`
  }
  if (!refuses) return
  await recordRefusal(sql, salt, ours, from_email)
  await sql`
    update hub.inbox_mails set handled_at = coalesce(handled_at, now()) where id = ${id}`
}
