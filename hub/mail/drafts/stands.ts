import { ApiError, invalid } from '../../../shared/problem.ts'
import { inProject } from '../../db/db.ts'
import { bilingual } from '../../i18n/words.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { examine, type Mailing, readGateInputs } from './approval.ts'
import { lockDraft } from './drafts.ts'
import { evidenceText } from './evidence.text.ts'
import type { State } from './flow.ts'
import type { Stand } from './judged.ts'

const say = bilingual(evidenceText)

/** While an approval counts, what it covers does not change. */
const BEFORE_APPROVAL: State[] = ['draft', 'rendered', 'failed', 'rejected']

/**
 * setStand records that a person stands for a sentence as it is now, for these readers and against
 * this evidence, or takes it back.
 */
export async function setStand(
  mailing: Mailing,
  given: { slug: string; id: string; sentence: string; stands: boolean; by: Stand['by'] },
): Promise<void> {
  const inputs = await readGateInputs(mailing)
  const { slug, id, sentence, stands, by } = given
  await inProject(mailing.db, slug, async (sql, project) => {
    await requireWritable(sql, project, await readLicense(mailing.config))
    const draft = await lockDraft(sql, project.id, id)
    if (!BEFORE_APPROVAL.includes(draft.state)) {
      throw new ApiError('wrong_state', say.out_of_order)
    }
    const { sentences } = await examine(sql, project, inputs, draft)
    const found = sentences.find((one) => one.sentence === sentence)
    const fail = (message: typeof say.no_sentence) =>
      invalid([{ path: 'sentence', code: 'not_found', message }])
    if (!found) throw fail(say.no_sentence)
    if (found.verdict === 'harmless' || found.verdict === 'supported') {
      throw fail(say.needs_nobody)
    }
    if (stands) {
      await sql`
        insert into hub.stands (draft_id, basis, project_id, sentence, verdict, stood_by)
        values (${id}, ${found.basis}, ${project.id}, ${sentence}, ${found.verdict}, ${by})
        on conflict (draft_id, basis) do nothing`
      return
    }
    await sql`delete from hub.stands where draft_id = ${id} and sentence = ${sentence}`
  })
}
