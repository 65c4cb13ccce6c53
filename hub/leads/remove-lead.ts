import { ApiError } from '../../shared/problem.ts'
import type { Sql } from '../../shared/sql.ts'
import { bilingual } from '../i18n/words.ts'
import { stopSequences } from '../mail/sequences/stop.ts'
import { leadsText } from './leads.text.ts'

const say = bilingual(leadsText)

/**
 * removeLead deletes a lead with everything known about it and its unsent mails; sent mails remain.
 * Throws 409 while a mail to it is being sent.
 */
export async function removeLead(sql: Sql, id: string): Promise<void> {
  await refuseUnderway(sql, id)
  await stopSequences(sql, { project_id: null, lead_id: id }, 'lead_deleted')
  await sql`
    delete from hub.drafts
    where audience ->> 'lead_id' = ${id} and state in ('draft', 'rendered', 'rejected', 'failed')`
  await sql`delete from hub.leads where id = ${id}`
}

export async function refuseUnderway(sql: Sql, id: string): Promise<void> {
  const [draft] = await sql<{ state: keyof typeof say.mail }>`
    select state from hub.drafts
    where audience ->> 'lead_id' = ${id}
      and state in ('approved', 'pushed', 'sending', 'unclear')
    limit 1`
  if (!draft) return
  throw new ApiError('conflict', say.mail[draft.state])
}
