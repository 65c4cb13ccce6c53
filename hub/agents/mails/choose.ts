import { bilingual } from '../../i18n/words.ts'
import { type Audience, MAX_NAMED } from '../../mail/drafts/audience.ts'
import { type AgentContext, MissionFailure } from '../agent.ts'
import type { LeadRow } from '../evidence/given.ts'
import { chosenFor } from '../recipients/chosen.ts'
import { newestLeads } from '../recipients/newest.ts'
import { resolveText } from '../recipients/resolve.text.ts'
import { spokenGroups } from '../recipients/spoken.ts'
import { stopText } from '../stop.text.ts'

const say = bilingual(resolveText)

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
    return one ? [{ ...first, countries: countriesOf(readers, one.ids) }] : recipients
  }
  const large = groups.find(({ ids }) => ids.length > MAX_NAMED)
  if (large) throw new MissionFailure(say.too_many_readers(large.ids.length, MAX_NAMED))
  return groups.map(({ ids }) => ({
    audience: { kind: 'list', filter: { ...filter, lead_ids: ids } },
    lead: null,
    countries: countriesOf(readers, ids),
  }))
}

const countriesOf = (leads: { id: string; country: string | null }[], ids: string[]) => {
  const wanted = new Set(ids)
  return leads.filter(({ id }) => wanted.has(id)).map(({ country }) => country)
}

const toLead = (lead: LeadRow): Recipient => ({
  audience: { kind: 'lead', lead_id: lead.id },
  lead,
  countries: [lead.country],
})
