import type { Sql } from '../../shared/sql.ts'
import { bilingual, joined, type Words } from '../i18n/words.ts'
import { missingSections, parseContext, type WritingSection } from './project-folder.ts'
import { projectsText } from './projects.text.ts'

/** The file that says it is the source of what we know about ourselves. */
const SOURCE = 'CONTEXT.md'
const MAX_OWN = 60
const MAX_LENGTH = 1000

export type OwnFact = { id: string; lead_id: null; fact: string; source: string }

/** ownFacts lists what CONTEXT.md says about us that a mail may say. */
export function ownFacts(text: string): string[] {
  const { description, value_proposition, proof_points, offers } = parseContext(text)
  // A paragraph is one fact: a sentence may take back the one before it. One that is too long is
  // none, because its rest could.
  const facts = [description, value_proposition, proof_points, offers]
    .join('\n')
    .split(/\n+/)
    .map((line) =>
      line
        .replace(/^\s*(?:[-*+]|\d+[.)]) /, '')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter((fact) => fact.length > 10 && fact.length <= MAX_LENGTH)
  return [...new Set(facts)].slice(0, MAX_OWN)
}

/**
 * keepOwnFacts makes the evidence about us what CONTEXT.md says now: what it no longer says can no
 * longer be claimed.
 */
export async function keepOwnFacts(
  sql: Sql,
  project_id: string,
  text: string,
  mission_id: string | null = null,
): Promise<OwnFact[]> {
  const facts = ownFacts(text)
  await sql`
    delete from hub.evidence
    where project_id = ${project_id} and lead_id is null and source = ${SOURCE}
      and not fact = any(${facts}::text[])`
  await sql`
    insert into hub.evidence (project_id, lead_id, fact, source, mission_id)
    select ${project_id}::uuid, null, given.fact, ${SOURCE}, ${mission_id}::uuid
    from unnest(${facts}::text[]) as given (fact)
    where not exists (
      select from hub.evidence as known
      where known.project_id = ${project_id} and known.lead_id is null
        and known.source = ${SOURCE} and known.fact = given.fact
    )`
  return sql<OwnFact>`
    select id, lead_id, fact, source from hub.evidence
    where project_id = ${project_id} and lead_id is null and source = ${SOURCE}
    order by array_position(${facts}::text[], fact)`
}

/** What an agent that writes for a project has to say about what it was not told; null if nothing. */
export function missingNote(text: string): Words | null {
  const missing = missingSections(text)
  return missing.length === 0 ? null : bilingual(projectsText).not_said(namesOf(missing))
}

/** The names of sections, as a list in a sentence. */
export function namesOf(sections: WritingSection[]): Words {
  const { sections: names } = bilingual(projectsText)
  return joined(
    sections.map((section) => names[section]),
    ', ',
  )
}
