import { z } from 'zod'
import { everywhere, sqlState } from '../../db/db.ts'
import type { Log } from '../../log.ts'
import type { Mailing } from '../drafts/approval.ts'
import { answeredBy, isReadable, takeMail, takeReport } from '../inbox/incoming.ts'
import { readSalt, type Salt } from '../suppression.ts'
import { type ImapSettings, type IncomingMail, pollMailbox } from './imap.ts'

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
    try {
      await take(mailing, salt, mail)
    } catch (error) {
      // What the database refuses about one mail it refuses each time; those after it must come in.
      if (!REFUSED_VALUE.test(sqlState(error) ?? '')) throw error
      mailing.log({ msg: 'mail not kept', uid: mail.uid, error: String(error) })
    }
  }
  return cursor
}

/** Data exceptions, violated constraints, and limits such as that of an index row. */
const REFUSED_VALUE = /^(22|23|54)/

async function take(mailing: Mailing & { log: Log }, salt: Salt, mail: IncomingMail) {
  if (!mail.is_report) return takeMail(mailing, mail)
  // Anybody can forge a report: one that names no mail of ours changes nothing, and is logged.
  const isOurs = await takeReport(mailing, salt, mail)
  if (!isOurs) mailing.log({ msg: 'report not believed', uid: mail.uid, subject: mail.subject })
}
