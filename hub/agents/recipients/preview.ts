import type { Sql } from '../../../shared/sql.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import { type AudienceFilter, peopleOf } from '../../mail/drafts/audience.ts'
import type { Refusals } from '../../mail/suppression.ts'
import type { Earlier } from '../agent.ts'
import type { AgentName } from '../names.ts'
import { resolveFollowUp } from './follow-up.ts'
import { newestLeads } from './newest.ts'
import { resolveText } from './resolve.text.ts'
import { resolveLeads } from './resolve.ts'

const say = bilingual(resolveText)

/** How agents that work on leads take them; the others have none. */
const TAKES: Partial<Record<AgentName, { as: 'recipient' | 'subject'; most?: number }>> = {
  marketing: { as: 'recipient' },
  sales: { as: 'recipient', most: 1 },
  research: { as: 'subject' },
  web_research: { as: 'subject' },
}
const SHOWN = 10

type LeadLine = {
  id: string
  name: string | null
  company: string | null
  email: string | null
}

/** Whom a mission would be for, before it is given. */
export type Preview = {
  kind: 'leads' | 'filter' | 'newest' | 'unclear' | 'none'
  because: Words | null
  filter: AudienceFilter | null
  total: number
  leads: LeadLine[]
}

const NONE: Preview = { kind: 'none', because: null, filter: null, total: 0, leads: [] }

/**
 * previewRecipients says whom an agent would take for a task, which may go on from earlier missions;
 * `unclear` lists who may be meant.
 */
export async function previewRecipients(
  sql: Sql,
  given: {
    project_id: string
    agent: AgentName | null
    task: string
    earlier?: Earlier[]
    refusals: Refusals
  },
): Promise<Preview> {
  const { project_id, agent, task, earlier, refusals } = given
  const takes = agent ? TAKES[agent] : undefined
  if (!takes) return NONE
  const resolved = earlier
    ? await resolveFollowUp(sql, project_id, { words: task, earlier, as: takes.as })
    : await resolveLeads(sql, project_id, task, takes.as)
  if (resolved.kind === 'nobody') {
    if (agent !== 'marketing') return NONE
    const leads = (await newestLeads(sql, project_id)).map(lineOf)
    return { ...NONE, kind: 'newest', because: say.newest, total: leads.length, leads }
  }
  if (resolved.kind === 'filter') {
    const { filter, because } = resolved
    if (agent !== 'marketing') return { ...NONE, kind: 'unclear', because: say.no_group }
    const audience = { kind: 'list' as const, filter }
    const { people } = await peopleOf(sql, { project_id, audience, template: 'letter', refusals })
    const leads = people.slice(0, SHOWN).map((one) => lineOf({ ...one, id: one.lead_id }))
    return { kind: 'filter', because, filter, total: people.length, leads }
  }
  const leads = await sql<LeadLine>`
    select id, name, company, email from hub.leads
    where id = any(${resolved.lead_ids}::uuid[]) and project_id = ${project_id}
    order by created_at desc, id`
  const { most = leads.length } = takes
  const isTooMany = resolved.kind === 'leads' && leads.length > most
  return {
    kind: isTooMany ? 'unclear' : resolved.kind,
    because: isTooMany ? say.one_only(leads.length) : resolved.because,
    filter: null,
    total: leads.length,
    leads: leads.slice(0, SHOWN),
  }
}

const lineOf = ({ id, name, company, email }: LeadLine): LeadLine => ({ id, name, company, email })
