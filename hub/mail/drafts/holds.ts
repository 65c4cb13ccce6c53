import type { Sql } from '../../../shared/sql.ts'
import { stored, type Words } from '../../i18n/words.ts'
import { requireChange } from './state.ts'

// What can hold up a draft that is being sent: a person, an unavailable server, the daily limit.

/** pauseDraft holds a draft until somebody resumes it. */
export async function pauseDraft(sql: Sql, id: string): Promise<void> {
  const changed = await sql`
    update hub.drafts set paused_at = coalesce(paused_at, now()), updated_at = now()
    where id = ${id} and state = 'sending'
    returning id`
  await requireChange(sql, 'pause', id, changed)
}

/** resumeDraft continues a draft at once, even if it was waiting for a server. */
export async function resumeDraft(sql: Sql, id: string): Promise<void> {
  const changed = await sql`
    update hub.drafts set paused_at = null, retry_at = null, updated_at = now()
    where id = ${id} and state = 'sending'
    returning id`
  await requireChange(sql, 'resume', id, changed)
}

/** postponeDraft makes a draft wait for a server, each time twice as long. */
export async function postponeDraft(
  sql: Sql,
  id: string,
  { reason, first_seconds }: { reason: Words; first_seconds: number },
): Promise<void> {
  await sql`
    update hub.drafts
    set state_reason = ${stored(reason)}, retries = retries + 1,
      retry_at = now() + make_interval(secs => least(${first_seconds} * power(2, retries), 3600))
    where id = ${id} and state = 'sending'`
}

/**
 * explainDraft stores why nothing is sent at the moment although no server is unavailable; null: it
 * is being sent.
 */
export async function explainDraft(sql: Sql, id: string, reason: Words | null): Promise<void> {
  const kept = reason && stored(reason)
  await sql`
    update hub.drafts
    set state_reason = ${kept}, retries = 0, retry_at = null
    where id = ${id} and state = 'sending'
      and (retries > 0 or state_reason is distinct from ${kept}::jsonb)`
}
