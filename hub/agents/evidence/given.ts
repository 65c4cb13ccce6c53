import { raw } from '../../../shared/sql.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import type { AgentContext, Fact } from '../agent.ts'
import { MissionFailure } from '../agent.ts'
import { leftOutText } from '../left-out.text.ts'
import { one } from '../run/facts.ts'
import { MAX_PARTS, summarised } from '../run/summary.ts'
import { wordsOf } from '../run/words.ts'
import type { StepName } from '../step-names.ts'
import { stopText } from '../stop.text.ts'

const told = bilingual(leftOutText)

/** The source of evidence that does not come from a file. */
export const SOURCES = {
  pasted: { en: 'pasted text', tr: 'yapıştırılan metin' },
  task: { en: 'the task', tr: 'görevin metni' },
  part: { en: '{x}, part {n}', tr: '{x}, {n}. bölüm' },
} satisfies Record<string, Words>

/**
 * givenTexts reads what a mission was given in addition to its task: pasted text and files, each
 * completely.
 */
export async function givenTexts(context: AgentContext): Promise<Fact[]> {
  const { input } = context.mission
  const texts: Fact[] = []
  if (input.text?.trim()) {
    texts.push({ label: SOURCES.pasted[context.language], text: input.text })
  }
  for (const path of input.files ?? []) {
    const text = await context.read(path)
    if (text === undefined) throw new MissionFailure(bilingual(stopText).no_file(path))
    texts.push({ label: path, text })
  }
  return texts
}

/** Characters of all given texts together that one call of the model has room for. */
export const MAX_GIVEN = 3000

/** givenText returns the same as facts for the model; what is too long for its context is summarised. */
export async function givenText(context: AgentContext): Promise<Fact[]> {
  const texts = await givenTexts(context)
  const share = Math.floor(MAX_GIVEN / Math.max(1, texts.length))
  const facts: Fact[] = []
  for (const [index, { label, text }] of texts.entries()) {
    if (text.length <= share) facts.push({ label, text })
    else {
      const most = Math.max(1, Math.floor(MAX_PARTS / texts.length))
      const given = { label, text, number: index + 1, length: share, most }
      facts.push({ label, text: await summarised(context, given) })
    }
  }
  return facts
}

export type LeadRow = {
  id: string
  name: string | null
  email: string | null
  company: string | null
  title: string | null
  website: string | null
  country: string | null
  language: string | null
  stage: string
}
export const leadRowColumns = raw(
  'id, name, email, company, title, website, country, language, stage',
)
export type EvidenceRow = {
  id: string
  lead_id: string | null
  fact: string
  source: string
  column?: string | null
  said_by_lead?: boolean
  created_at?: string
}

/** Evidence of one lead that an agent reads. */
const MAX_OF_A_LEAD = 200

/** The evidence about some leads, newest first; the facts of lists in the order of their columns. */
export function evidenceOf(
  context: AgentContext,
  lead_ids: string[],
  name: StepName = 'evidence',
): Promise<EvidenceRow[]> {
  return context.step(
    name,
    (sql) => sql<EvidenceRow>`
      select found.id, found.lead_id, found.fact, found.source, found.column, found.said_by_lead,
        found.created_at
      from unnest(${lead_ids}::uuid[]) as lead (id)
      cross join lateral (
        select id, lead_id, fact, source, import_column as column, said_by_lead, created_at
        from hub.evidence
        where lead_id = lead.id order by created_at desc, id limit ${MAX_OF_A_LEAD}
      ) as found`,
  )
}

/**
 * fittest chooses the evidence that a model is given: first what shares words with the task, else
 * in the order given, which is the newest first. What is left out is told.
 */
export function fittest<T extends { fact: string }>(
  context: Pick<AgentContext, 'leaveOut' | 'mission'>,
  { rows, most, who }: { rows: T[]; most: number; who: string | Words },
): T[] {
  if (rows.length <= most) return rows
  context.leaveOut(told.evidence(who, most, rows.length))
  const wanted = new Set(wordsOf(context.mission.task).map((word) => word.slice(0, 5)))
  const shared = (fact: string) =>
    wordsOf(fact).filter((word) => word.length > 3 && wanted.has(word.slice(0, 5))).length
  const chosen = new Set(
    rows
      .map((row) => ({ row, points: shared(row.fact) }))
      .sort((a, b) => b.points - a.points)
      .slice(0, most)
      .map(({ row }) => row),
  )
  return rows.filter((row) => chosen.has(row))
}

/** A lead as a fact for the model, one line per field. */
export function leadFact(lead: LeadRow, evidence: EvidenceRow[]): Fact {
  const lines = [
    lead.name && `name: ${one(lead.name)}`,
    lead.company && `company: ${one(lead.company)}`,
    lead.title && `title: ${one(lead.title)}`,
    lead.country && `country: ${one(lead.country)}`,
    lead.website && `website: ${one(lead.website)}`,
    `stage: ${lead.stage}`,
    ...evidence.filter((row) => row.lead_id === lead.id).map((row) => `known: ${one(row.fact)}`),
  ]
  const text = lines.filter(Boolean).join('\n')
  return { label: 'lead', text }
}

export const nameOf = (lead: LeadRow) => lead.company ?? lead.name ?? lead.email ?? lead.id
