import { z } from 'zod'
import { everywhere } from '../../db/db.ts'
import type { Log } from '../../log.ts'
import type { Mailing } from '../drafts/approval.ts'
import { findMails, recordBounce, recordOutcome } from '../drafts/outcome.ts'
import { readSalt, type Salt } from '../suppression.ts'
import { type ImapSettings, type IncomingMail, pollMailbox } from './imap.ts'
import type { Report } from './report.ts'

const Cursor = z.object({ uid_validity: z.string(), last_uid: z.int() }).nullable().catch(null)

/** Reads answers, bounces and complaints from the mailbox; answers how far it came. */
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
      // Anybody can write one: what names no mail of ours changes nothing, and is said.
      if (!isOurs) mailing.log({ msg: 'report not believed', uid: mail.uid, subject: mail.subject })
    } else if (!mail.is_auto_reply) await takeReply(mailing, mail)
  }
  return cursor
}

/**
 * An answer to a mail of ours ends the follow-ups to that lead. One that only comes from the lead's
 * address may be anybody's: it ends them too, is marked in the timeline, and can be taken back.
 */
async function takeReply(mailing: Mailing, mail: IncomingMail): Promise<void> {
  const message_ids = [...mail.references, ...(mail.in_reply_to ? [mail.in_reply_to] : [])]
  await everywhere(mailing.db, async (sql) => {
    const [named] = await findMails(sql, { message_ids, email: null })
    const [ours] = named ? [named] : await findMails(sql, { message_ids: [], email: mail.from })
    if (!ours) return
    // When it was read: the answer's own date is its writer's word, and only this stops what waits.
    const changed = await sql`
      update hub.recipients set replied_at = now()
      where draft_id = ${ours.draft_id} and email = ${ours.email} and replied_at is null
      returning 1`
    if (changed.length === 0) return
    await recordOutcome(sql, ours, 'replied', named ? {} : { only_address: true })
  })
}

/**
 * A mail that came back, or was called spam. Only its Message-ID proves that it was ours, and a
 * bounce has to name the address it went to as well. Answers whether it was about one of ours.
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
