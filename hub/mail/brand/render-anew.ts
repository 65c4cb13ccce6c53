import { ApiError } from '../../../shared/problem.ts'
import { everywhere, inProject } from '../../db/db.ts'
import { failureOf } from '../../i18n/failure.ts'
import { bilingual } from '../../i18n/words.ts'
import type { Mailing } from '../drafts/approval.ts'
import { lockDraft } from '../drafts/drafts.ts'
import { flowText } from '../drafts/flow.text.ts'
import { unrenderDraft } from '../drafts/state-outdated.ts'
import { renderDraft } from '../render/rendering.ts'

const say = bilingual(flowText)

/**
 * renderAnew renders the drafts whose brand has changed, each in a transaction of its own, at most
 * `limit` of them; returns how many. One that no longer fits its template becomes text again and
 * says why.
 */
export async function renderAnew(
  { config, db }: Mailing,
  given: { limit?: number; isClosed?: () => boolean } = {},
): Promise<number> {
  const { limit = Number.POSITIVE_INFINITY, isClosed = () => false } = given
  let count = 0
  while (count < limit && !isClosed()) {
    const [next] = await everywhere(
      db,
      (sql) => sql<{ id: string; slug: string }>`
        select draft.id, project.slug from hub.drafts as draft
        join hub.projects as project on project.id = draft.project_id
        where draft.is_stale and draft.state = 'rendered'
        order by draft.updated_at, draft.id
        limit 1`,
    )
    if (!next) return count
    await renderOne({ config, db }, next)
    count += 1
  }
  return count
}

async function renderOne(
  { config, db }: Mailing,
  { id, slug }: { id: string; slug: string },
): Promise<void> {
  try {
    await inProject(db, slug, async (sql, project) => {
      const draft = await lockDraft(sql, project.id, id)
      if (draft.is_stale && draft.state === 'rendered')
        await renderDraft(sql, project, config, { id })
    })
  } catch (error) {
    // Deleted meanwhile, with its project or its lead.
    if (error instanceof ApiError && error.code === 'not_found') return
    if (!(error instanceof ApiError) || error.code !== 'invalid') throw error
    const why = say.not_rendered(failureOf(error))
    await inProject(db, slug, (sql) => unrenderDraft(sql, id, why))
  }
}
