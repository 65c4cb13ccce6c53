import { z } from 'zod'
import { everywhere } from '../../db/db.ts'
import type { Log } from '../../log.ts'
import type { Mailing } from '../drafts/approval.ts'
import { findMails, recordBounce, recordOutcome } from '../drafts/outcome.ts'
import { readSalt, type Salt } from '../suppression.ts'
import { type ImapSettings, type IncomingMail, pollMailbox } from './imap.ts'
import type { Report } from './report.ts'

const Cursor = z.object({ uid_validity: z.string(), last_uid: z.int() }).nullable().catch(null)

/** Reads replies, bounces and complaints from the mailbox; returns how far it has read. */
export async function pollImap(
  mailing: Mailing & { log: Log },
  settings: ImapSettings,
  from: unknown,
): Promise<unknown> {
  const { cursor, mails } = await pollMailbox(settings, Cursor.parse(from))
  const salt = await readSalt(mailing.config.paths)
  for (const mail of mails) {
    if (mail.is_report) {
      const isOurs = mail.report && (await takeReport(mailing, salt, mail.report))
      // Anybody can forge a report: one that names no mail of ours changes nothing, and is logged.
      if (!isOurs) mailing.log({ msg: 'report not believed', uid: mail.uid, subject: mail.subject })
    } else if (!mail.is_auto_reply) await takeReply(mailing, mail)
  }
  return cursor
}

/**
 * A reply to a mail of ours stops the follow-ups to that lead. If only its sender address matches
 * the lead, it may be forged: it stops them too, is marked in the timeline, and can be undone.
 */
async function takeReply(mailing: Mailing, mail: IncomingMail): Promise<void> {
  const message_ids = [...mail.references, ...(mail.in_reply_to ? [mail.in_reply_to] : [])]
  await everywhere(mailing.db, async (sql) => {
    const [named] = await findMails(sql, { message_ids, email: null })
    const [ours] = named ? [named] : await findMails(sql, { message_ids: [], email: mail.from })
    if (!ours) return
    // The time of reading, because the reply's own date is not reliable; only this stops waiting
    // mails.
    const changed = await sql`
      update hub.recipients set replied_at = now()
      where draft_id = ${ours.draft_id} and email = ${ours.email} and replied_at is null
      returning 1`
    if (changed.length === 0) return
    await recordOutcome(sql, ours, 'replied', named ? {} : { only_address: true })
  })
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
