import type { Sql } from '../../shared/sql.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { outcomeText } from './drafts/outcome.text.ts'
import type { MailPause, MailSettings } from './settings.ts'

const say = bilingual(outcomeText)

/** How many mails may go today, how many went, and how many may still go. */
export type Volume = { cap: number; used: number; left: number }

/** How much mail may still be sent today, and how recent mail was received; over all projects. */
export type Today = Volume & {
  /** Of each sender, by its address in lower case: its mails of today, and the days before on which it sent. */
  senders: Map<string, { used: number; days: number }>
  /** Since mail was last confirmed, at most 30 days ago; and what became of these mails. */
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
  { daily_cap }: Pick<MailSettings, 'daily_cap'>,
  pause: MailPause,
): Promise<Today> {
  const rows = await sql<{
    sender: string | null
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
    select sender,
      count(*) filter (where claimed_at >= day.start)::int as used,
      count(distinct (claimed_at at time zone 'UTC')::date) filter (
        where claimed_at < day.start
      )::int as days,
      count(*) filter (where claimed_at >= since.start)::int as sent,
      count(*) filter (where claimed_at >= since.start and bounce = 'hard')::int as hard_bounces,
      count(*) filter (where claimed_at >= since.start and complained_at is not null)::int as complaints
    from day, since, hub.recipients
    where claimed_at is not null
    group by sender`
  const sum = (of: 'used' | 'sent' | 'hard_bounces' | 'complaints') =>
    rows.reduce((total, row) => total + row[of], 0)
  const [used, sent, hard_bounces, complaints] = [
    sum('used'),
    sum('sent'),
    sum('hard_bounces'),
    sum('complaints'),
  ]
  return {
    cap: daily_cap,
    used,
    left: Math.max(0, daily_cap - used),
    senders: new Map(
      rows.flatMap(({ sender, ...row }) => (sender === null ? [] : [[sender, row]])),
    ),
    sent,
    hard_bounces,
    complaints,
    alarm: alarmOf(sent, hard_bounces, complaints),
  }
}

/** The address of a sender as its mails are counted by. */
export const senderKey = (email: string) => email.toLowerCase()

/**
 * volumeOf returns what one sender may send: its ramp counts its own days and mails, in whichever projects, and the
 * daily limit counts the mails of all senders.
 */
export function volumeOf(
  today: Today,
  { daily_cap, ramp }: Pick<MailSettings, 'daily_cap' | 'ramp'>,
  sender: { email: string } | null,
): Volume & { day: number } {
  const { used = 0, days = 0 } = (sender && today.senders.get(senderKey(sender.email))) ?? {}
  const day = days + 1
  if (!ramp) return { cap: today.cap, used: today.used, left: today.left, day }
  const cap = Math.min(daily_cap, ramp.start + ramp.step * days)
  return { cap, used, left: Math.max(0, Math.min(cap - used, today.left)), day }
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
