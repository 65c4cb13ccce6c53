import { bilingual } from '../../i18n/words.ts'
import type { Audience } from '../../mail/drafts/audience.ts'
import { type AgentContext, MissionFailure } from '../agent.ts'
import type { LeadRow } from '../evidence/given.ts'
import { chosenFor } from '../recipients/chosen.ts'
import { newestLeads } from '../recipients/newest.ts'
import { stopText } from '../stop.text.ts'

/** Leads who get a mail of their own; more get one campaign. */
export const MAX_LEADS = 5

/** Whom a mail is for: one lead, or a list of them. */
export type Recipient = { audience: Audience; lead: LeadRow | null; countries: (string | null)[] }

/** chooseRecipients returns the recipients: the given ones, those whom the task means, or else the newest leads. */
export async function chooseRecipients(context: AgentContext): Promise<Recipient[]> {
  const chosen = await chosenFor(context, 'recipient')
  if ('filter' in chosen) {
    const { filter } = chosen
    const countries = [filter.country ?? null]
    return [{ audience: { kind: 'list', filter }, lead: null, countries }]
  }
  const { leads } = chosen
  if (leads.length > MAX_LEADS) {
    const filter = { lead_ids: leads.map(({ id }) => id) }
    const countries = leads.map(({ country }) => country)
    return [{ audience: { kind: 'list', filter }, lead: null, countries }]
  }
  if (leads.length > 0) return leads.map(toLead)
  const newest = await context.step('newest leads', (sql) => newestLeads(sql, context.project.id))
  if (newest.length === 0) {
    throw new MissionFailure(bilingual(stopText).nobody)
  }
  return newest.map(toLead)
}

const toLead = (lead: LeadRow): Recipient => ({
  audience: { kind: 'lead', lead_id: lead.id },
  lead,
  countries: [lead.country],
})
