import type { Sql } from '../../../shared/sql.ts'
import { hashOf } from '../../hash.ts'
import { type Evidence, JUDGE_VERSION } from './judge.ts'

/** What a model said of a sentence. */
export type Opinion = {
  verdict: 'supported' | 'contradicted' | 'not_stated'
  evidence_ids: string[]
  quote: string | null
  model: string
}

/** The hash by which an opinion is found again: an edit of anything else costs nothing. */
export function opinionKey(sentence: string, evidence: Evidence[]): string {
  const said = evidence.map(({ id, lead_id, fact }) => [id, lead_id, fact])
  return hashOf([JUDGE_VERSION, sentence, said.sort((a, b) => (String(a) < String(b) ? -1 : 1))])
}

/** The opinions with these keys, by key. */
export async function readOpinions(
  sql: Sql,
  project_id: string,
  keys: string[],
): Promise<Map<string, Opinion[]>> {
  const rows = await sql<Opinion & { key: string }>`
    select key, verdict, evidence_ids, quote, model from hub.opinions
    where project_id = ${project_id} and key = any(${keys}::text[])
    order by created_at, model`
  return Map.groupBy(rows, ({ key }) => key)
}

/** saveOpinion keeps what a model said; a second answer replaces the first. */
export async function saveOpinion(
  sql: Sql,
  project_id: string,
  key: string,
  { verdict, evidence_ids, quote, model }: Opinion,
): Promise<void> {
  await sql`
    insert into hub.opinions (project_id, key, model, verdict, evidence_ids, quote)
    values (${project_id}, ${key}, ${model}, ${verdict}, ${evidence_ids}::uuid[], ${quote})
    on conflict (project_id, key, model) do update
    set verdict = excluded.verdict, evidence_ids = excluded.evidence_ids, quote = excluded.quote,
      created_at = now()`
}
