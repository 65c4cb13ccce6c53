import { bilingual } from '../../i18n/words.ts'
import { type Audience, MAX_NAMED } from '../../mail/drafts/audience.ts'
import { type AgentContext, MissionFailure } from '../agent.ts'
import type { LeadRow } from '../evidence/given.ts'
import { chosenFor } from '../recipients/chosen.ts'
import { newestLeads } from '../recipients/newest.ts'
import { resolveText } from '../recipients/resolve.text.ts'
import { type Reader, spokenGroups } from '../recipients/spoken.ts'
import { stopText } from '../stop.text.ts'

const say = bilingual(resolveText)

/** Leads who get a mail of their own; more get one campaign. */
export const MAX_LEADS = 5

/** Whom a mail is for: one lead, or a list of them. */
export type Recipient = { audience: Audience; lead: LeadRow | null; readers: Reader[] }

/** chooseRecipients returns the recipients: the given ones, those whom the task means, or else the newest leads. */
export async function chooseRecipients(context: AgentContext): Promise<Recipient[]> {
  const chosen = await chosenFor(context, 'recipient')
  if ('filter' in chosen) {
    const { filter } = chosen
    const readers = [{ country: filter.country ?? null, language: null }]
    return [{ audience: { kind: 'list', filter }, lead: null, readers }]
  }
  const { leads } = chosen
  if (leads.length > MAX_LEADS) {
    const filter = { lead_ids: leads.map(({ id }) => id) }
    return [{ audience: { kind: 'list', filter }, lead: null, readers: leads }]
  }
  if (leads.length > 0) return leads.map(toLead)
  const newest = await context.step('newest leads', (sql) => newestLeads(sql, context.project.id))
  if (newest.length === 0) {
    throw new MissionFailure(bilingual(stopText).nobody)
  }
  return newest.map(toLead)
}

/**
 * byLanguage makes of a list whose readers would be written to in several languages one list for
 * each, the larger first. Where the task names a language, or all read the same, it stays whole.
 */
export async function byLanguage(
  context: AgentContext,
  recipients: Recipient[],
): Promise<Recipient[]> {
  const [first] = recipients
  if (first?.audience.kind !== 'list' || context.named_language) return recipients
  const { filter } = first.audience
  const { readers } = await context.step('languages', async (sql) => ({
    readers: await context.readers(sql, filter),
  }))
  const groups = spokenGroups(context, readers)
  const [one] = groups
  if (groups.length < 2) {
    return one ? [{ ...first, readers }] : recipients
  }
  const large = groups.find(({ ids }) => ids.length > MAX_NAMED)
  if (large) throw new MissionFailure(say.too_many_readers(large.ids.length, MAX_NAMED))
  const byId = new Map(readers.map((reader) => [reader.id, reader]))
  return groups.map(({ ids }) => ({
    audience: { kind: 'list', filter: { ...filter, lead_ids: ids } },
    lead: null,
    readers: ids.flatMap((id) => byId.get(id) ?? []),
  }))
}

const toLead = (lead: LeadRow): Recipient => ({
  audience: { kind: 'lead', lead_id: lead.id },
  lead,
  readers: [lead],
})
