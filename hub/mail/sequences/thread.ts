import { type Database, everywhere } from '../../db/db.ts'
import { hashOf } from '../../hash.ts'
import type { From } from '../brand/brand.ts'
import type { DraftRow } from '../drafts/drafts.ts'
import type { MailSettings } from '../settings.ts'

/** What a sequence is approved to be sent from, and that it goes by SMTP. */
export const senderHash = (from: From | null, { smtp }: Pick<MailSettings, 'smtp'>): string =>
  hashOf([from, smtp !== null])

/** The Message-IDs of the mails of earlier steps that a recipient got, the first one first. */
export async function earlierMails(
  db: Database,
  { sequence_id, step }: Pick<DraftRow, 'sequence_id' | 'step'>,
  email: string,
): Promise<string[]> {
  if (!sequence_id) return []
  const rows = await everywhere(
    db,
    (sql) => sql<{ message_id: string }>`
      select mail.message_id
      from hub.recipients as mail
      join hub.drafts as earlier on earlier.id = mail.draft_id
      where earlier.sequence_id = ${sequence_id} and earlier.step < ${step}
        and mail.email = ${email} and mail.state = 'sent' and mail.message_id is not null
      order by earlier.step`,
  )
  return rows.map(({ message_id }) => message_id)
}
