import type { Sql } from '../../../shared/sql.ts'
import { bilingual, stored } from '../../i18n/words.ts'
import { endPostponement } from '../sequences/stop.ts'
import { inboxText } from './inbox.text.ts'

const say = bilingual(inboxText)

/** awayDay is the day until which a lead is away, as `2026-12-07`; null if it is not. */
export async function awayDay(sql: Sql, lead_id: string): Promise<string | null> {
  const [row] = await sql<{ until: string | null }>`
    select max(away_until)::text as until from hub.inbox_mails
    where lead_id = ${lead_id} and away_until > (now() at time zone 'utc')::date`
  return row?.until ?? null
}

/** waitForReturn makes a mail wait until its reader is back, and says so. */
export async function waitForReturn(
  sql: Sql,
  { draft_id, email, until }: { draft_id: string; email: string; until: string },
): Promise<void> {
  await sql`
    update hub.recipients
    set retry_at = ${`${until}T00:00:00Z`}::timestamptz, reason = ${stored(say.away(until))}
    where draft_id = ${draft_id} and email = ${email} and state = 'pushed'`
}

/** endWait lets mail go to a lead again that is back earlier than it said. */
export async function endWait(sql: Sql, lead_id: string): Promise<void> {
  await sql`
    update hub.inbox_mails set away_until = (now() at time zone 'utc')::date
    where lead_id = ${lead_id} and away_until > (now() at time zone 'utc')::date`
  await sql`
    update hub.recipients set retry_at = null, reason = null
    where lead_id = ${lead_id} and state = 'pushed' and retry_at > now()`
  await endPostponement(sql, lead_id)
}
