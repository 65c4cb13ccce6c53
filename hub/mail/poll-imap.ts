import { z } from 'zod'
import { everywhere } from '../db.ts'
import type { Mailing } from './approval.ts'
import { type ImapSettings, type IncomingMail, pollMailbox } from './imap.ts'
import { findLetters, markBounced, tell } from './outcome.ts'
import { readSalt } from './suppression.ts'

const Cursor = z.object({ uid_validity: z.string(), last_uid: z.int() }).nullable().catch(null)

/** Reads answers, bounces and complaints from the mailbox; answers how far it came. */
export async function pollImap(
  mailing: Mailing,
  settings: ImapSettings,
  from: unknown,
): Promise<unknown> {
  const { cursor, mails } = await pollMailbox(settings, Cursor.parse(from))
  const salt = await readSalt(mailing.config.paths)
  for (const mail of mails) {
    if (mail.is_bounce || mail.is_complaint) await takeReport(mailing, salt, mail)
    else if (!mail.is_auto_reply) await takeReply(mailing, mail)
  }
  return cursor
}

/** An answer to a letter of ours ends the follow-ups to that lead. */
async function takeReply(mailing: Mailing, mail: IncomingMail): Promise<void> {
  const message_ids = [...mail.references, ...(mail.in_reply_to ? [mail.in_reply_to] : [])]
  await everywhere(mailing.db, async (sql) => {
    const [letter] = await findLetters(sql, { message_ids, email: mail.from })
    if (!letter) return
    // When it was read: the letter's own date is its writer's word, and only this stops what waits.
    const changed = await sql`
      update hub.recipients set replied_at = now()
      where draft_id = ${letter.draft_id} and email = ${letter.email} and replied_at is null
      returning 1`
    if (changed.length > 0) await tell(sql, letter, 'replied')
  })
}

/** A letter that came back: of a bounce the addresses that failed, of a complaint the one it names. */
async function takeReport(mailing: Mailing, salt: Buffer, mail: IncomingMail): Promise<void> {
  const message_ids = mail.original_message_id ? [mail.original_message_id] : []
  const reports = mail.is_complaint
    ? [{ email: null, bounce: 'complaint' as const }]
    : mail.bounced.map(({ email, permanent }) => ({
        email,
        bounce: permanent ? ('hard' as const) : ('soft' as const),
      }))
  for (const { email, bounce } of reports) {
    await everywhere(mailing.db, async (sql) => {
      const [letter] = await findLetters(sql, { message_ids, email })
      if (letter) await markBounced(sql, salt, letter, bounce)
    })
  }
}
