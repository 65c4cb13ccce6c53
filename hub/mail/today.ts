import type { Sql } from '../../shared/sql.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { outcomeText } from './drafts/outcome.text.ts'
import type { MailPause, MailSettings } from './settings.ts'

const say = bilingual(outcomeText)

/** How much mail may still be sent today, and how recent mail was received; over all projects. */
export type Today = {
  cap: number
  used: number
  left: number
  /** Since mail was last confirmed, at most 30 days ago. */
  sent: number
  hard_bounces: number
  complaints: number
  /** Why mail must stop, or null. */
  alarm: { reason: 'bounces' | 'complaints'; detail: Words } | null
}

const MAX_BOUNCES = 0.02
const MAX_COMPLAINTS = 0.001
/** One or two bounces among the first few mails mean nothing yet. */
const MIN_BOUNCES = 3

/** readToday counts what was sent; the transaction must see all projects. A day is a UTC day. */
export async function readToday(
  sql: Sql,
  { daily_cap, ramp }: MailSettings,
  pause: MailPause,
): Promise<Today> {
  const [row] = await sql<{
    used: number
    days: number
    sent: number
    hard_bounces: number
    complaints: number
  }>`
    with day as (select date_trunc('day', now(), 'UTC') as start),
    since as (
      select greatest(now() - interval '30 days', ${pause.since}::timestamptz) as start
    )
    select
      count(*) filter (where claimed_at >= day.start)::int as used,
      count(distinct (claimed_at at time zone 'UTC')::date) filter (
        where claimed_at < day.start
      )::int as days,
      count(*) filter (where claimed_at >= since.start)::int as sent,
      count(*) filter (where bounced_at >= since.start and bounce = 'hard')::int as hard_bounces,
      count(*) filter (where complained_at >= since.start)::int as complaints
    from day, since
    left join hub.recipients on claimed_at is not null`
  const { used = 0, days = 0, sent = 0, hard_bounces = 0, complaints = 0 } = row ?? {}
  const cap = ramp ? Math.min(daily_cap, ramp.start + ramp.step * days) : daily_cap
  return {
    cap,
    used,
    left: Math.max(0, cap - used),
    sent,
    hard_bounces,
    complaints,
    alarm: alarmOf(sent, hard_bounces, complaints),
  }
}

function alarmOf(sent: number, hard_bounces: number, complaints: number): Today['alarm'] {
  const share = (count: number) => (100 * count) / sent
  if (complaints > MAX_COMPLAINTS * sent) {
    return { reason: 'complaints', detail: say.complaints(complaints, sent, share(complaints)) }
  }
  if (hard_bounces >= MIN_BOUNCES && hard_bounces > MAX_BOUNCES * sent) {
    return { reason: 'bounces', detail: say.bounces(hard_bounces, sent, share(hard_bounces)) }
  }
  return null
}
