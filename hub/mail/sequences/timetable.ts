import type { MailSettings } from '../settings.ts'
import { daysAfter, nextOpening, type Opening, type SendWindow } from './window.ts'

/** One recipient, as far as the time of its mails depends on it. */
export type Timed = {
  email: string
  time_zones: string[]
  /** The mails it has had of this sequence, and when it had the last one. */
  had: number
  last_sent_at: Date | null
  /** Not before this time, because it is away. */
  wait_until: Date | null
}
type Hours = Pick<SendWindow, 'days' | 'from' | 'to'>

/** How much mail may go on a day: what is left today, and the limit with its ramp from tomorrow on. */
export type Allowance = { left_today: number; cap_today: number } & Pick<
  MailSettings,
  'daily_cap' | 'ramp'
>

const DAY_MS = 24 * 60 * 60 * 1000
/** Two years of days; a plan does not look further. */
const MAX_MOVES = 750

/** dueOf returns when the next mail of a recipient may go; null if it is never office hours for it. */
export function dueOf(
  { time_zones, last_sent_at, wait_until }: Omit<Timed, 'email' | 'had'>,
  { wait_days, window, now }: { wait_days: number; window: Hours; now: Date },
): Opening | null {
  const earliest = Math.max(
    now.getTime(),
    last_sent_at ? daysAfter(time_zones, last_sent_at, wait_days).getTime() : 0,
    wait_until?.getTime() ?? 0,
  )
  return nextOpening(time_zones, window, new Date(earliest))
}

/**
 * timetable plans when each mail would go if nobody replied and no other mail were sent: for each
 * recipient one time a step, null for those it has had. A day (UTC) takes as many as the limit allows;
 * the others go in the next opening. Follow-ups go before first mails, as the mailer sends them.
 */
export function timetable(
  people: Timed[],
  given: { waits: number[]; window: Hours; now: Date; allowance: Allowance },
): Map<string, (Date | null)[]> {
  const { waits, window, now, allowance } = given
  const plan = new Map(people.map(({ email }) => [email, waits.map((): Date | null => null)]))
  const used = new Map<number, number>()
  const today = Math.floor(now.getTime() / DAY_MS)
  const isFull = (at: Date) => {
    const day = Math.floor(at.getTime() / DAY_MS)
    return (used.get(day) ?? 0) >= capOf(allowance, day - today)
  }
  // Thousands of recipients share few time zones, and most the hour of their last mail.
  const dueAt = kept(
    ({ time_zones, last_sent_at, wait_until }: Timed) =>
      [...time_zones, last_sent_at?.getTime(), wait_until?.getTime()].join(),
    (one, wait_days) => dueOf(one, { wait_days, window, now }),
  )
  const openingOn = kept(
    ({ time_zones }: Timed) => time_zones.join(),
    ({ time_zones }, day) => nextOpening(time_zones, window, new Date(day * DAY_MS)),
  )
  const byRecipient = new Map(people.map((one) => [one.email, { ...one }]))
  waits.forEach((wait_days, step) => {
    const due = [...byRecipient.values()].flatMap((one) => {
      if (one.had > step) return []
      const opening = dueAt(one, wait_days)
      return opening ? [{ one, opening }] : []
    })
    due.sort((a, b) => a.opening.from.getTime() - b.opening.from.getTime())
    for (const { one, opening } of due) {
      let at: Opening | null = opening
      for (let moves = 0; at && isFull(at.from) && moves < MAX_MOVES; moves += 1) {
        at = openingOn(one, Math.floor(at.from.getTime() / DAY_MS) + 1)
      }
      if (!at) continue
      const day = Math.floor(at.from.getTime() / DAY_MS)
      used.set(day, (used.get(day) ?? 0) + 1)
      const times = plan.get(one.email)
      if (times) times[step] = at.from
      one.last_sent_at = at.from
    }
  })
  return plan
}

/** Remembers the openings that a function finds, by a number and by a key of what else it looks at. */
function kept<T>(keyOf: (given: T) => string, find: (given: T, number: number) => Opening | null) {
  const known = new Map<number, Map<string, Opening | null>>()
  return (given: T, number: number): Opening | null => {
    const of = known.get(number) ?? new Map<string, Opening | null>()
    known.set(number, of)
    const key = keyOf(given)
    const before = of.get(key)
    if (before !== undefined) return before
    const found = find(given, number)
    of.set(key, found)
    return found
  }
}

/** The limit of a day so many days from today, if mail goes on each of them. */
function capOf({ left_today, cap_today, daily_cap, ramp }: Allowance, days: number): number {
  if (days <= 0) return left_today
  return ramp ? Math.min(daily_cap, cap_today + ramp.step * days) : daily_cap
}
