import { z } from 'zod'
import { everywhere } from '../../db/db.ts'
import type { Log } from '../../log.ts'
import type { Mailing } from '../drafts/approval.ts'
import { answeredBy, isReadable, takeMail, takeReport } from '../inbox/incoming.ts'
import { readSalt } from '../suppression.ts'
import { type ImapSettings, pollMailbox } from './imap.ts'

const Cursor = z.object({ uid_validity: z.string(), last_uid: z.int() }).nullable().catch(null)

/** Reads replies, bounces and complaints from the mailbox; returns how far it has read. */
export async function pollImap(
  mailing: Mailing & { log: Log },
  settings: ImapSettings,
  from: unknown,
): Promise<unknown> {
  const { cursor, mails } = await pollMailbox(settings, Cursor.parse(from), {
    wants: async (mail) => {
      if (mail.is_report) return false
      const answered = await everywhere(mailing.db, (sql) => answeredBy(sql, mail))
      return answered !== undefined && isReadable(mail, answered)
    },
  })
  const salt = await readSalt(mailing.config.paths)
  for (const mail of mails) {
    if (!mail.is_report) {
      await takeMail(mailing, mail)
      continue
    }
    // Anybody can forge a report: one that names no mail of ours changes nothing, and is logged.
    const isOurs = await takeReport(mailing, salt, mail)
    if (!isOurs) mailing.log({ msg: 'report not believed', uid: mail.uid, subject: mail.subject })
  }
  return cursor
}
