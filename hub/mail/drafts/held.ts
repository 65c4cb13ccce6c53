import type { Sql } from '../../../shared/sql.ts'
import type { Config } from '../../config.ts'
import type { Project } from '../../db/db.ts'
import { brandOf } from '../brand/brand-of.ts'
import { readRefusals } from '../opt-outs.ts'
import { peopleOf } from './audience.ts'
import { readDraft } from './draft-view.ts'
import { isOpen, judgeDraft } from './judged.ts'

/** How many sentences of a draft its approval will wait for: the same as on the draft's page. */
export async function countHeld(
  sql: Sql,
  project: Project,
  config: Config,
  id: string,
): Promise<number> {
  const draft = await readDraft(sql, project.id, id)
  const { audience, template } = draft
  const refusals = await readRefusals(config.paths)
  const { people } = await peopleOf(sql, { project_id: project.id, audience, template, refusals })
  const signer = (await brandOf(sql, config, project)).sender_name
  const sentences = await judgeDraft({ sql, project, draft, people, signer })
  return sentences.filter((sentence) => !isOpen(sentence)).length
}
