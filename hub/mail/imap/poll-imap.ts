import { z } from 'zod'
import type { Sql } from '../../../shared/sql.ts'
import { everywhere } from '../../db/db.ts'
import type { Log } from '../../log.ts'
import type { Mailing } from '../drafts/approval.ts'
import { findMails, recordBounce, recordOutcome } from '../drafts/outcome.ts'
import { recordRefusal } from '../drafts/refusal.ts'
import type { Mail } from '../drafts/state.ts'
import { readSalt, type Salt } from '../suppression.ts'
import { type ImapSettings, type IncomingMail, pollMailbox } from './imap.ts'
import { asksToStop } from './opt-out-words.ts'
import { reportedBy, withoutLetter } from './reply.ts'
import type { Report } from './report.ts'

const Cursor = z.object({ uid_validity: z.string(), last_uid: z.int() }).nullable().catch(null)

/** Reads replies, bounces and complaints from the mailbox; returns how far it has read. */
export async function pollImap(
  mailing: Mailing & { log: Log },
  settings: ImapSettings,
  from: unknown,
): Promise<unknown> {
  const { cursor, mails } = await pollMailbox(settings, Cursor.parse(from), {
    wants: async (mail) =>
      !mail.is_report &&
      !mail.is_auto_reply &&
      (await everywhere(mailing.db, (sql) => answeredBy(sql, mail))) !== undefined,
  })
  const salt = await readSalt(mailing.config.paths)
  for (const mail of mails) {
    if (mail.is_report) {
      const isOurs = mail.report && (await takeReport(mailing, salt, mail.report))
      // Anybody can forge a report: one that names no mail of ours changes nothing, and is logged.
      if (!isOurs) mailing.log({ msg: 'report not believed', uid: mail.uid, subject: mail.subject })
    } else if (!mail.is_auto_reply) await takeReply(mailing, salt, mail)
  }
  return cursor
}

/**
 * A reply to a mail of ours stops the follow-ups to that lead. If only its sender address matches
 * the lead, it may be forged: it stops them too, is marked in the timeline, and can be undone.
 */
async function takeReply(mailing: Mailing, salt: Salt, mail: IncomingMail): Promise<void> {
  const { message_id, subject } = mail
  await everywhere(mailing.db, async (sql) => {
    const answered = await answeredBy(sql, mail)
    if (!answered) return
    const { ours, is_named } = answered
    if (await isTold(sql, ours, message_id)) return
    const said = mail.text === null ? '' : withoutLetter(mail.text, await letterOf(sql, ours))
    const text = said === '' ? null : said
    const judged = asksToStop(subject, text)
    // Anybody can forge an address, and an opt-out is for ever.
    const opt_out = judged === 'no' ? null : judged === 'yes' && is_named ? 'asked' : 'open'
    // The time of reading, because the reply's own date is not reliable; only this stops waiting
    // mails.
    const changed = await sql<{ is_first: boolean }>`
      update hub.recipients set replied_at = coalesce(replied_at, now()), last_replied_at = now(),
        opt_out = case when opt_out = 'asked' then opt_out else coalesce(${opt_out}, opt_out) end
      where draft_id = ${ours.draft_id} and email = ${ours.email}
      returning old.replied_at is null as is_first`
    if (!changed[0]?.is_first && text === null && !opt_out) return
    await recordOutcome(sql, ours, 'replied', {
      ...(is_named ? {} : { only_address: true }),
      ...(opt_out ? { opt_out } : {}),
      ...(text === null ? {} : { text }),
      ...(message_id ? { message_id } : {}),
    })
    if (opt_out === 'asked') await recordRefusal(sql, salt, ours, mail.from)
    // Only the answer to a Message-ID of ours is certainly theirs.
    else if (is_named && text !== null && ours.lead_id) await keepSaid(sql, ours, text)
  })
}

/** The letter as it was rendered; its lines with personal fields differ from those that were sent. */
async function letterOf(sql: Sql, { draft_id }: Mail): Promise<string> {
  const [draft] = await sql<{ text: string | null }>`
    select rendered_text as text from hub.drafts where id = ${draft_id}`
  return draft?.text ?? ''
}

/** The mail of ours that a mail answers: by its Message-ID, or else only by the sender's address. */
async function answeredBy(
  sql: Sql,
  { references, in_reply_to, from }: IncomingMail,
): Promise<{ ours: Mail; is_named: boolean } | undefined> {
  const message_ids = [...references, ...(in_reply_to ? [in_reply_to] : [])]
  const [named] = await findMails(sql, { message_ids, email: null })
  if (named) return { ours: named, is_named: true }
  const [ours] = await findMails(sql, { message_ids: [], email: from })
  return ours && { ours, is_named: false }
}

/** A mailbox that was renumbered is read again. */
async function isTold(sql: Sql, { lead_id }: Mail, message_id: string | null): Promise<boolean> {
  if (!message_id || !lead_id) return false
  const [told] = await sql`
    select from hub.activities
    where lead_id = ${lead_id} and kind = 'replied' and details ->> 'message_id' = ${message_id}`
  return told !== undefined
}

/** What a lead wrote about itself is evidence about it, in its own words. */
async function keepSaid(sql: Sql, { project_id, lead_id }: Mail, text: string): Promise<void> {
  const facts = reportedBy(text)
  const source = `reply ${new Date().toISOString().slice(0, 10)}`
  await sql`
    insert into hub.evidence (project_id, lead_id, fact, source, said_by_lead)
    select ${project_id}::uuid, ${lead_id}::uuid, given.fact, ${source}, true
    from unnest(${facts}::text[]) as given (fact)
    where not exists (
      select from hub.evidence as known
      where known.lead_id = ${lead_id} and known.said_by_lead and known.fact = given.fact
    )`
}

/**
 * A bounce or a complaint. Only its Message-ID proves that the mail was ours, and a bounce must
 * also name the address it was sent to. Returns whether it was about a mail of ours.
 */
async function takeReport(mailing: Mailing, salt: Salt, report: Report): Promise<boolean> {
  return everywhere(mailing.db, async (sql) => {
    const mails = await findMails(sql, { message_ids: report.original_ids, email: null })
    let isOurs = false
    for (const mail of mails) {
      const recipient = report.bounced.find(({ emails }) => emails.includes(mail.email))
      if (report.kind === 'bounce' && !recipient) continue
      const bounce = recipient?.permanent ? 'hard' : 'soft'
      await recordBounce(sql, salt, mail, report.kind === 'complaint' ? 'complaint' : bounce)
      isOurs = true
    }
    return isOurs
  })
}
