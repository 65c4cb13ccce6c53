import type { Sql } from '../../../shared/sql.ts'
import {
  aboutUs,
  allowedFor,
  type Evidence,
  JUDGE_VERSION,
  type Judge,
  type Judged,
  judgeOf,
  type Scene,
  type Verdict,
} from '../../agents/evidence/judge.ts'
import { opensGate } from '../../agents/evidence/measured.ts'
import { type Opinion, opinionKey, readOpinions } from '../../agents/evidence/opinions.ts'
import { isOutdated } from '../../agents/evidence/outdated.ts'
import { fillIn } from '../../agents/evidence/readers.ts'
import { draftSentences, isPersonal } from '../../agents/evidence/sentences.ts'
import type { Index } from '../../agents/evidence/support.ts'
import type { Project } from '../../db/db.ts'
import { hashOf } from '../../hash.ts'
import { namedIn, ownOf } from '../render/own-values.ts'
import type { Person } from './audience.ts'
import type { DraftRow } from './drafts.ts'

type Reader = NonNullable<Scene['reader']> & { own?: Record<string, string> }

/** A sentence of a draft with what the judge says of it. */
export type JudgedSentence = {
  sentence: string
  verdict: Verdict
  evidence_ids: string[]
  /** For a sentence with placeholders of a campaign: how many readers it does not hold for. */
  fails: number
  /** Some of them. */
  fails_for: { lead_id: string; name: string }[]
  /** What a model said; only a measured one decides. */
  opinion: Opinion | null
  /** The hash of the sentence, of its readers and of the verdict: what a person stands for. */
  basis: string
  stand: Stand | null
}
export type Stand = { by: 'session' | 'token'; name: string | null; at: string }

/** isOpen returns whether a sentence may be sent. */
export const isOpen = ({ verdict, stand }: Pick<JudgedSentence, 'verdict' | 'stand'>): boolean =>
  verdict === 'harmless' || verdict === 'supported' || stand !== null

/** Evidence of one reader or about us that a sentence is compared with; the newest. */
const MAX_EVIDENCE = 500
/** Readers for whom a sentence with placeholders is judged; for more it stays unsure. */
const MAX_READERS = 5000
const READERS_AT_ONCE = 500
const SHOWN_READERS = 5

type Given = {
  sql: Sql
  project: Pick<Project, 'id' | 'name'>
  draft: DraftRow
  people: Person[]
  signer: string | null
}

/**
 * judgeDraft judges every sentence of a draft as it is now. The verdicts of the code are computed
 * anew, so nothing can be out of date; a model's are looked up, and never asked for here.
 */
export async function judgeDraft(given: Given): Promise<JudgedSentence[]> {
  const { sql, project, draft, signer } = given
  const base = { language: draft.language, us: project.name, signers: [signer] }
  const sentences = draftSentences(draft)
  const reader = await readerOf(sql, draft)
  const ours = await evidenceAbout(sql, project.id, null)
  const evidence = reader ? [...(await evidenceAbout(sql, project.id, [reader.id])), ...ours] : ours
  const scene: Scene = { ...base, reader }
  // Of a campaign all sentences and readers share what is known about us.
  const index = aboutUs(base, reader ? [] : ours)
  const judge = reader ? judgeOf(scene, evidence) : judgeOf(scene, [], index)
  const found: JudgedSentence[] = []
  for (const sentence of sentences) {
    const isForEach = draft.audience.kind === 'list' && isPersonal(sentence)
    const verdict = judge(reader ? fillIn(sentence, reader) : sentence)
    if (!isForEach || verdict.verdict === 'harmless') {
      found.push(await judgedSentence({ draft, sentence, judged: verdict }))
    } else {
      found.push(await forEach({ ...given, sentence, base, index }))
    }
  }
  const asked = reader ? (sentence: string) => fillIn(sentence, reader) : (one: string) => one
  return settle(sql, { draft, project_id: project.id, found, evidence: current(evidence), asked })
}

/** The one reader of a personal mail. */
async function readerOf(
  sql: Sql,
  draft: Pick<DraftRow, 'audience' | 'project_id' | 'language' | 'subject' | 'text' | 'slots'>,
): Promise<Reader | null> {
  const { audience, project_id } = draft
  if (audience.kind === 'list') return null
  const { lead_id } = audience
  const [lead] = await sql<Reader>`
    select id, name, company from hub.leads
    where id = ${lead_id} and project_id = ${project_id}`
  if (!lead) return null
  const { used } = await namedIn(sql, project_id, [draft])
  return { ...lead, own: await ownOf(sql, used, { ...draft, lead_id }) }
}

/** Evidence about some leads, or with null about us. */
function evidenceAbout(sql: Sql, project_id: string, leads: string[] | null): Promise<Evidence[]> {
  if (leads === null) {
    return sql<Evidence>`
      select id, lead_id, fact, import_column as column, said_by_lead, created_at
      from hub.evidence where project_id = ${project_id} and lead_id is null
      order by created_at desc, id limit ${MAX_EVIDENCE}`
  }
  return sql<Evidence>`
    select found.id, found.lead_id, found.fact, found.column, found.said_by_lead, found.created_at
    from unnest(${leads}::uuid[]) as lead (id)
    cross join lateral (
      select id, lead_id, fact, said_by_lead, created_at, coalesce(import_column, (
        select label from hub.lead_fields
        where project_id = evidence.project_id and key = evidence.field_key
      )) as column
      from hub.evidence where lead_id = lead.id and project_id = ${project_id}
      order by created_at desc, id limit ${MAX_EVIDENCE}
    ) as found`
}

/** The facts that no model may be shown as true today are left out: see `isOutdated`. */
function current(evidence: Evidence[], now = new Date()): Evidence[] {
  return evidence.filter(({ fact, created_at }) => !isOutdated(fact, created_at, now))
}

type ForEach = Given & {
  sentence: string
  base: Omit<Scene, 'reader'>
  /** What is known about us. */
  index: Index
}

/**
 * Judges a sentence with placeholders for each reader by what is known of that reader and of us. It
 * gives way between readers, so that a large campaign does not hold up the hub.
 */
async function forEach(given: ForEach): Promise<JudgedSentence> {
  const { sql, project, draft, sentence, base, index, people } = given
  const readers = people.filter(({ skip }) => skip === null)
  const judged = { verdict: 'supported' as Verdict, evidence_ids: new Set<string>() }
  const failing: Reader[] = []
  if (readers.length > MAX_READERS) {
    const all = readers.map(({ lead_id, ...one }) => ({ ...one, id: lead_id }))
    return judgedSentence({ draft, sentence, judged: UNSURE, failing: all })
  }
  for (let at = 0; at < readers.length; at += READERS_AT_ONCE) {
    const some = readers.slice(at, at + READERS_AT_ONCE)
    const ids = some.map(({ lead_id }) => lead_id)
    const known = Map.groupBy(await evidenceAbout(sql, project.id, ids), ({ lead_id }) => lead_id)
    for (const { lead_id, name, company, own } of some) {
      const reader = { id: lead_id, name, company, own }
      const judge: Judge = judgeOf({ ...base, reader }, known.get(lead_id) ?? [], index)
      const one = judge(fillIn(sentence, reader))
      if (one.verdict === 'supported' || one.verdict === 'harmless') {
        for (const id of one.evidence_ids) judged.evidence_ids.add(id)
        continue
      }
      failing.push(reader)
      if (judged.verdict !== 'contradicted') judged.verdict = one.verdict
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  const none = readers.length === 0
  const verdict = none ? 'unsure' : judged.verdict
  return judgedSentence({
    draft,
    sentence,
    judged: { verdict, evidence_ids: [...judged.evidence_ids] },
    failing,
  })
}

const UNSURE: Judged = { verdict: 'unsure', evidence_ids: [] }

/** Evidence that a page shows beside one sentence. */
const SHOWN_EVIDENCE = 20

function judgedSentence(given: {
  draft: Pick<DraftRow, 'audience'>
  sentence: string
  judged: Judged
  failing?: Reader[]
}): JudgedSentence {
  const { draft, sentence, judged, failing = [] } = given
  const ids = failing.map(({ id, name, company, own = {} }) => [
    id,
    name,
    company,
    ...Object.entries(own).sort().flat(),
  ])
  return {
    sentence,
    verdict: judged.verdict,
    evidence_ids: judged.evidence_ids.slice(0, SHOWN_EVIDENCE),
    fails: failing.length,
    fails_for: failing.slice(0, SHOWN_READERS).map(({ id, name, company }) => ({
      lead_id: id,
      name: name ?? company ?? id,
    })),
    opinion: null,
    basis: hashOf([sentence, draft.audience, judged.verdict, ids.map(String).sort()]),
    stand: null,
  }
}

type Settling = {
  draft: DraftRow
  project_id: string
  found: JudgedSentence[]
  evidence: Evidence[]
  asked: (sentence: string) => string
}

/** Adds what models said of the unsure sentences, and what a person stands for. */
async function settle(sql: Sql, given: Settling): Promise<JudgedSentence[]> {
  const { draft, project_id, found, evidence, asked } = given
  const unsure = found.filter((one) => one.verdict === 'unsure' && one.fails === 0)
  const keys = new Map(unsure.map((one) => [one, opinionKey(asked(one.sentence), evidence)]))
  const opinions = await readOpinions(sql, project_id, [...keys.values()])
  const decided = found.map((one) => {
    const said = opinions.get(keys.get(one) ?? '') ?? []
    return withOpinion(draft, one, said)
  })
  const stands = await sql<{
    basis: string
    stood_by: Stand['by']
    name: string | null
    stood_at: string
  }>`
    select basis, stood_by, actor ->> 'name' as name, stood_at from hub.stands
    where draft_id = ${draft.id} and project_id = ${project_id}`
  const byBasis = new Map(
    stands.map((row) => [row.basis, { by: row.stood_by, name: row.name, at: row.stood_at }]),
  )
  return decided.map((one) => ({ ...one, stand: byBasis.get(one.basis) ?? null }))
}

/** A measured model decides; the word of any other is shown, and opens nothing. */
export function withOpinion(
  draft: Pick<DraftRow, 'audience'>,
  one: JudgedSentence,
  said: Opinion[],
  measured?: Parameters<typeof opensGate>[1],
): JudgedSentence {
  const decides = said.find(({ model }) =>
    opensGate({ sha256: model, judge_version: JUDGE_VERSION }, measured),
  )
  if (!decides || decides.verdict === 'not_stated') {
    return { ...one, opinion: decides ?? said.at(-1) ?? null }
  }
  const { verdict, evidence_ids } = decides
  const judged = judgedSentence({
    draft,
    sentence: one.sentence,
    judged: { verdict, evidence_ids },
  })
  return { ...judged, opinion: decides }
}

/** What an approval covers: any other verdict, evidence or stand is another draft. */
export function verdictState(sentences: JudgedSentence[]): unknown {
  return sentences.map(({ sentence, verdict, evidence_ids, basis, stand }) => [
    sentence,
    verdict,
    evidence_ids,
    basis,
    stand && [stand.by, stand.at],
  ])
}

/** The evidence that a model is shown for a draft's sentences; of a campaign only about us. */
export async function evidenceFor(
  sql: Sql,
  project_id: string,
  draft: Parameters<typeof readerOf>[1],
): Promise<{ evidence: Evidence[]; reader: Reader | null }> {
  const reader = await readerOf(sql, draft)
  const ours = await evidenceAbout(sql, project_id, null)
  if (!reader) return { evidence: current(ours), reader }
  const theirs = await evidenceAbout(sql, project_id, [reader.id])
  return { evidence: current(allowedFor([...theirs, ...ours], reader)), reader }
}
