import type { Sql } from '../../../shared/sql.ts'
import { bilingual, joined, type Language, type Words } from '../../i18n/words.ts'
import { type AudienceFilter, peopleOf, readersOf } from '../../mail/drafts/audience.ts'
import type { Refusals } from '../../mail/suppression.ts'
import type { Earlier } from '../agent.ts'
import { sequenceWanted } from '../mails/sequence-wanted.ts'
import type { AgentName } from '../names.ts'
import { languageOfTask, namedLanguage } from '../run/facts.ts'
import { languageIn, namedIn } from '../run/thread.ts'
import { resolveFollowUp } from './follow-up.ts'
import { newestLeads } from './newest.ts'
import { resolveText } from './resolve.text.ts'
import { resolveLeads } from './resolve.ts'
import { type Reader, spokenGroups, spokenWords, unwrittenWords } from './spoken.ts'

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
  /** In which languages a mixed group would be written to, with how many in each. */
  spoken: Words | null
}

const NONE: Preview = {
  kind: 'none',
  because: null,
  filter: null,
  total: 0,
  leads: [],
  spoken: null,
}

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
    /** Of who asks. */
    language: Language
    refusals: Refusals
  },
): Promise<Preview> {
  const { project_id, agent, task, earlier, refusals } = given
  const takes = agent ? TAKES[agent] : undefined
  if (!takes) return NONE
  const resolved = earlier
    ? await resolveFollowUp(sql, project_id, { words: task, earlier, as: takes.as })
    : await resolveLeads(sql, project_id, task, takes.as)
  const speak = (leads: (Reader & { id: string })[]) =>
    agent === 'marketing' ? spokenFor(leads, given) : null
  if (resolved.kind === 'nobody') {
    if (agent !== 'marketing') return NONE
    const rows = await newestLeads(sql, project_id)
    const leads = rows.map(lineOf)
    const spoken = speak(rows)
    return { ...NONE, kind: 'newest', because: say.newest, total: leads.length, leads, spoken }
  }
  if (resolved.kind === 'filter') {
    const { filter, because } = resolved
    if (agent !== 'marketing') return { ...NONE, kind: 'unclear', because: say.no_group }
    const audience = { kind: 'list' as const, filter }
    const { people } = await peopleOf(sql, { project_id, audience, template: 'letter', refusals })
    const leads = people.slice(0, SHOWN).map((one) => lineOf({ ...one, id: one.lead_id }))
    const spoken = speak(await readersOf(sql, { project_id, filter, refusals }))
    return { kind: 'filter', because, filter, total: people.length, leads, spoken }
  }
  const rows = await sql<LeadLine & Reader>`
    select id, name, company, email, country, language from hub.leads
    where id = any(${resolved.lead_ids}::uuid[]) and project_id = ${project_id}
    order by created_at desc, id`
  const { most = rows.length } = takes
  const isTooMany = resolved.kind === 'leads' && rows.length > most
  const kind = isTooMany ? 'unclear' : resolved.kind
  return {
    kind,
    because: isTooMany ? say.one_only(rows.length) : resolved.because,
    filter: null,
    total: rows.length,
    leads: rows.slice(0, SHOWN).map(lineOf),
    spoken: kind === 'leads' ? speak(rows) : null,
  }
}

/** How many are written to in which language, where that is not one, and who gets another than their own. */
function spokenFor(
  leads: (Reader & { id: string })[],
  { task, earlier, language: asker }: { task: string; earlier?: Earlier[]; language: Language },
): Words | null {
  const thread = earlier && { words: task, earlier }
  const language = thread ? languageIn(thread) : languageOfTask(task, asker)
  const named_language = thread ? namedIn(thread) : namedLanguage(task)
  const asked = { language, named_language }
  const groups = spokenWords(spokenGroups(asked, leads))
  const isOne = sequenceWanted(task, language)
  const parted = groups && isOne ? say.one_language(groups, say.languages[language]) : groups
  const said = [parted, unwrittenWords(asked, leads)].filter((words) => words !== undefined)
  return said.length > 0 ? joined(said, isOne ? ' ' : '. ') : null
}

const lineOf = ({ id, name, company, email }: LeadLine): LeadLine => ({ id, name, company, email })
