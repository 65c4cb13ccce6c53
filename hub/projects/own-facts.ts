import type { Sql } from '../../shared/sql.ts'
import { bilingual, joined, type Words } from '../i18n/words.ts'
import { missingSections, parseContext, type WritingSection } from './project-folder.ts'
import { projectsText } from './projects.text.ts'

/** The file that says it is the source of what we know about ourselves. */
const SOURCE = 'CONTEXT.md'
const MAX_OWN = 60
const MAX_LENGTH = 1000

export type OwnFact = { id: string; lead_id: null; fact: string; source: string }

const ITEM = /^\s*(?:[-*+]|\d+[.)]) /
const HEADING = /^#{3,}\s|:\s*$/
/** Headings of what is not so, not yet so, or not about us. */
const DENIES =
  /(?<!\p{L})(?:not|never|no|don['’]t|avoid|wrong|false|plan(?:s|ned)?|to-?\s?do|until|former(?:ly)?|future|ideas?|drafts?|competitors?|değil|asla|hiç|yanlış|henüz|plan(?:lar|lanan)|yapılacak\p{L}*|eski(?:den)?|rakip\p{L}*|fikir\p{L}*|taslak|\p{L}+m[ae]y[ıi]n|\p{L}+m[ıiuü]yoruz|\p{L}+[ns]?m[ae]z)(?!\p{L})/iu

/** Whether an item only says what its own items are: "Never say:", "Never say" above deeper ones. */
function deniesItems(item: string, isAboveDeeper: boolean): boolean {
  const said = DENIES.exec(item)
  if (!said) return false
  const isAtEdge = said.index === 0 || said.index + said[0].length === item.length
  return /:$/.test(item) || (isAboveDeeper && isAtEdge)
}

const depthOf = (line: string) => line.search(/\S/)

/**
 * The lines of a text without the list or paragraph under a heading that denies it: "Never say:". An
 * item may be such a heading for the deeper ones below it or, without them, for the rest of its list.
 */
function saidLines(text: string): string[] {
  const lines = text.split('\n')
  let denied: 'list' | 'paragraph' | 'begins' | undefined
  let deniedBelow: number | undefined
  return lines.filter((line, at) => {
    const isItem = ITEM.test(line)
    if (line.trim() === '') {
      if (denied === 'paragraph') denied = undefined
      return false
    }
    if (deniedBelow !== undefined && depthOf(line) > deniedBelow) return false
    deniedBelow = undefined
    if (!isItem && HEADING.test(line)) {
      denied = DENIES.test(line) ? 'begins' : undefined
      return true
    }
    if (denied === 'list' && !isItem) denied = undefined
    if (denied === 'begins') denied = isItem ? 'list' : 'paragraph'
    if (denied !== undefined) return false
    if (isItem) {
      const next = lines.slice(at + 1).find((other) => other.trim() !== '') ?? ''
      const isAboveDeeper = depthOf(next) > depthOf(line)
      if (deniesItems(line.replace(ITEM, '').trim(), isAboveDeeper)) {
        if (isAboveDeeper) deniedBelow = depthOf(line)
        else denied = 'list'
      }
    }
    return true
  })
}

/** ownFacts lists what CONTEXT.md says about us that a mail may say. */
export const ownFacts = (text: string): string[] => statements(text).facts

/** The statements about us, and how many of them are none that a mail may say: too long, or too many. */
function statements(text: string): { facts: string[]; long: number; more: number } {
  const { description, value_proposition, proof_points, offers } = parseContext(text)
  // A paragraph is one fact: a sentence may take back the one before it. One that is too long is
  // none, because its rest could.
  const said = saidLines([description, value_proposition, proof_points, offers].join('\n\n'))
    .map((line) => line.replace(ITEM, '').replace(/\s+/g, ' ').trim())
    .filter((fact) => fact.length > 10)
  const all = [...new Set(said)]
  const short = all.filter((fact) => fact.length <= MAX_LENGTH)
  return {
    facts: short.slice(0, MAX_OWN),
    long: all.length - short.length,
    more: Math.max(0, short.length - MAX_OWN),
  }
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

/** What an agent that writes for a project has to say about what it was not told, or told in vain; null if nothing. */
export function contextNote(text: string): Words | null {
  const say = bilingual(projectsText)
  const missing = missingSections(text)
  const { long, more } = statements(text)
  const notes = [
    missing.length > 0 && say.not_said(namesOf(missing)),
    long > 0 && say.too_long(long, MAX_LENGTH),
    more > 0 && say.too_many(more, MAX_OWN),
  ].filter((note) => note !== false)
  return notes.length === 0 ? null : joined(notes, ' ')
}

/** The names of sections, as a list in a sentence. */
export function namesOf(sections: WritingSection[]): Words {
  const { sections: names } = bilingual(projectsText)
  return joined(
    sections.map((section) => names[section]),
    ', ',
  )
}
