import { ApiError } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import { bilingual, stored, type Words } from '../../i18n/words.ts'
import { flowText } from './flow.text.ts'
import type { State } from './flow.ts'
import { forgetApproved, UNRENDERED } from './state.ts'

const say = bilingual(flowText)

// What becomes of drafts when something changes that they were rendered with.

const RENDERED: State[] = ['rendered', 'approved', 'pushed']

/**
 * outdateDrafts takes every rendered and approved draft of a project back to `rendered`, to be
 * rendered again and approved again. Mails that are being sent are not touched. Throws 409 while
 * one is being pushed; returns how many there are.
 */
export async function outdateDrafts(sql: Sql, project_id: string, reason: Words): Promise<number> {
  const drafts = await sql<{ id: string; is_pushing: boolean }>`
    select id, coalesce(pushing_until > now(), false) as is_pushing from hub.drafts
    where project_id = ${project_id} and state = any(${RENDERED}::text[])
    order by id
    for update`
  if (drafts.some(({ is_pushing }) => is_pushing)) throw new ApiError('conflict', say.being_pushed)
  const ids = drafts.map(({ id }) => id)
  await sql`
    update hub.drafts
    set state = 'rendered', state_reason = ${stored(reason)}, approved_hash = null,
      approved_at = null, via = null, retry_at = null, retries = 0, is_stale = true,
      updated_at = now()
    where id = any(${ids}::uuid[]) and state = any(${RENDERED}::text[])`
  await forgetApproved(sql, ids)
  return ids.length
}

/** unrenderDraft makes a draft text again that cannot be rendered any more: rendered → draft. */
export async function unrenderDraft(sql: Sql, id: string, reason: Words): Promise<void> {
  await sql`
    update hub.drafts
    set state = 'draft', state_reason = ${stored(reason)}, ${UNRENDERED}, updated_at = now()
    where id = ${id} and state = 'rendered' and is_stale`
}
