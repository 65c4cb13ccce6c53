import type { Sql } from '../../../shared/sql.ts'
import type { Config } from '../../config.ts'
import type { Project } from '../../db/db.ts'
import { absent } from '../../i18n/failure.ts'
import { brandOf } from '../brand/brand-of.ts'
import { readRefusals } from '../opt-outs.ts'
import { peopleOf } from './audience.ts'
import type { DraftRow } from './drafts.ts'
import { isOpen, judgeDraft } from './judged.ts'

/**
 * How many sentences of a draft, or of a step of a sequence, its approval will wait for: the same as
 * on its page.
 */
export async function countHeld(
  sql: Sql,
  project: Project,
  config: Config,
  id: string,
): Promise<number> {
  const [row] = await sql<DraftRow>`
    select * from hub.drafts where id = ${id} and project_id = ${project.id}`
  if (!row) throw absent('draft')
  // The subject with Re: says nothing that the one of the first step does not say.
  const draft = row.is_reply ? { ...row, subject: '' } : row
  const { audience, template } = draft
  const refusals = await readRefusals(config.paths)
  const written = audience.kind === 'list' ? [draft] : []
  const base = { project_id: project.id, audience, template, refusals, written }
  const { people } = await peopleOf(sql, base)
  const signer = (await brandOf(sql, config, project)).sender_name
  const sentences = await judgeDraft({ sql, project, draft, people, signer })
  return sentences.filter((sentence) => !isOpen(sentence)).length
}
