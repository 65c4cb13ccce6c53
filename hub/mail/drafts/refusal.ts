import { ApiError } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import { bilingual } from '../../i18n/words.ts'
import { leadsText } from '../../leads/leads.text.ts'
import { stopSequences } from '../sequences/stop.ts'
import { type Salt, suppress } from '../suppression.ts'
import { recordOutcome } from './outcome.ts'
import type { Mail } from './state.ts'

const say = bilingual(leadsText)

/**
 * recordRefusal records that a reader asked in words for no more mail: neither the address we wrote to
 * nor the one they answered from gets any.
 */
export async function recordRefusal(
  sql: Sql,
  salt: Salt,
  mail: Mail,
  from: string | null = null,
): Promise<void> {
  const emails = [...new Set([mail.email, ...(from ? [from] : [])])]
  await suppress(sql, salt, { emails, reason: 'unsubscribed', project_id: mail.project_id })
  for (const email of emails) {
    await stopSequences(sql, { project_id: null, email }, 'opted_out')
  }
  const changed = await sql`
    update hub.recipients set unsubscribed_at = now()
    where draft_id = ${mail.draft_id} and email = ${mail.email} and unsubscribed_at is null
    returning 1`
  if (changed.length > 0) await recordOutcome(sql, mail, 'unsubscribed')
}

/** Whether a reply of the lead, or from its address, may ask for no more mail and nobody decided. */
export async function mayRefuse(sql: Sql, lead_id: string): Promise<boolean> {
  return (await openRefusals(sql, lead_id)).length > 0
}

/**
 * decideRefusal ends the question whether a reply asked for no more mail: its address is suppressed for
 * good, or gets mail again.
 *
 * @throws ApiError `conflict` if no such question is open.
 */
export async function decideRefusal(
  sql: Sql,
  salt: Salt,
  { lead_id, refuses }: { lead_id: string; refuses: boolean },
): Promise<void> {
  const decided = refuses ? 'asked' : 'denied'
  let isOpen = false
  for (const mail of await openRefusals(sql, lead_id)) {
    const changed = await sql`
      update hub.recipients set opt_out = ${decided}
      where draft_id = ${mail.draft_id} and email = ${mail.email} and opt_out = 'open'
      returning 1`
    if (changed.length === 0) continue
    isOpen = true
    await sql`
      update hub.activities
      set details = details || jsonb_build_object('opt_out', ${decided}::text, 'decided_at', now())
      where lead_id = ${mail.lead_id} and kind = 'replied'
        and details ->> 'draft_id' = ${mail.draft_id} and details ->> 'opt_out' = 'open'`
    if (refuses) await recordRefusal(sql, salt, mail)
  }
  if (!isOpen) throw new ApiError('conflict', say.no_open_refusal)
}

/** The same mails for which `peopleOf` leaves the lead out. */
function openRefusals(sql: Sql, lead_id: string): Promise<Mail[]> {
  return sql`
    select r.draft_id, r.project_id, r.lead_id, r.email, d.subject
    from hub.leads as lead
    join hub.recipients as r on r.lead_id = lead.id or r.email = lower(trim(lead.email))
    join hub.drafts as d on d.id = r.draft_id
    where lead.id = ${lead_id} and r.project_id = lead.project_id and r.opt_out = 'open'
    order by r.claimed_at, r.draft_id`
}
