import type { Sql } from '../../../shared/sql.ts'
import { bilingual } from '../../i18n/words.ts'
import type { AudienceFilter } from '../../mail/drafts/audience.ts'
import { type AgentContext, MissionFailure } from '../agent.ts'
import { type LeadRow, leadRowColumns, nameOf } from '../evidence/given.ts'
import { resolveFollowUp } from './follow-up.ts'
import { resolveText } from './resolve.text.ts'
import { resolveLeads, withChoices } from './resolve.ts'

const say = bilingual(resolveText)

/** Whom a mission is for: single leads, or a group that only a campaign can reach. */
export type Chosen = { leads: LeadRow[] } | { filter: AudienceFilter }

/**
 * chosenFor returns whom a mission is for: the leads or the filter it was given, or else those whom
 * its task means (`resolveLeads`). Without either, no leads.
 *
 * @throws MissionFailure where the task does not decide it, naming who may be meant.
 */
export async function chosenFor(
  context: AgentContext,
  as: 'recipient' | 'subject',
): Promise<Chosen> {
  const { task, input } = context.mission
  if (input.filter) return { filter: input.filter }
  const ids = input.lead_ids ?? []
  const { thread, project } = context
  if (ids.length > 0) {
    const { leads } = await context.step('leads', async (sql) => ({
      leads: await leadsById(sql, project.id, ids),
    }))
    return { leads: all(leads, ids.length) }
  }
  const { resolved, leads } = await context.step('leads', async (sql) => {
    const resolved = thread
      ? await resolveFollowUp(sql, project.id, { ...thread, as })
      : await resolveLeads(sql, project.id, task, as)
    const leads = 'lead_ids' in resolved ? await leadsById(sql, project.id, resolved.lead_ids) : []
    return { resolved, leads }
  })
  if (resolved.kind === 'unclear') {
    const names = leads.map((lead) =>
      [lead.name, lead.company, lead.email].filter(Boolean).join(', '),
    )
    throw new MissionFailure(withChoices(resolved.because, names))
  }
  if (resolved.kind === 'filter') return { filter: resolved.filter }
  return { leads: all(leads, resolved.kind === 'leads' ? resolved.lead_ids.length : 0) }
}

/** The leads, unless some of them were deleted since they were chosen. */
function all(leads: LeadRow[], count: number): LeadRow[] {
  if (leads.length < count) throw new MissionFailure(say.gone(count - leads.length))
  return leads
}

/** chosenLeads is chosenFor for agents that take single leads, at most `most` of them. */
export async function chosenLeads(
  context: AgentContext,
  { as, most }: { as: 'recipient' | 'subject'; most: number },
): Promise<LeadRow[]> {
  const chosen = await chosenFor(context, as)
  if ('filter' in chosen) throw new MissionFailure(say.no_group)
  const { leads } = chosen
  if (leads.length <= most) return leads
  const reason = most === 1 ? say.one_only(leads.length) : say.at_most(leads.length, most)
  throw new MissionFailure(withChoices(reason, leads.slice(0, 10).map(nameOf)))
}

function leadsById(sql: Sql, project_id: string, ids: string[]): Promise<LeadRow[]> {
  return sql<LeadRow>`
    select ${leadRowColumns} from hub.leads
    where id = any(${ids}::uuid[]) and project_id = ${project_id}
    order by created_at desc, id`
}
