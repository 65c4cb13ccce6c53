const MINUTE = 60
const HOUR = 60 * MINUTE

/**
 * How a message is tried again. A webhook, which a program reads, gets eight attempts over 31.6 hours. A message that people
 * read is tried until its deadline, sooner when it is about an emergency.
 */
export type Schedule = 'webhook' | 'message'

/** The delay in seconds before each attempt; the last one of a message repeats until its deadline. */
export const ATTEMPT_DELAYS_SECONDS = {
  webhook: [0, 5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR],
  message: [0, 30, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  urgent: [0, 5, 15, 45, 2 * MINUTE, 5 * MINUTE],
} as const satisfies Record<Schedule | 'urgent', readonly number[]>

const POLL_LIMIT_SECONDS = 15 * MINUTE
/** The longest Retry-After that is used as given. */
const HINT_LIMIT_SECONDS = 30 * 24 * HOUR
const THROTTLE_LIMIT_SECONDS = 30 * MINUTE

export type NextAttempt = { at: Date } | { give_up: 'attempts_used_up' | 'too_old' }

/**
 * When to try a delivery again, or why to give up. `attempts` is the number used so far; `counted` is false
 * when the last try did not use one (the receiver answered 429).
 */
export function nextAttempt(input: {
  schedule: Schedule
  is_urgent: boolean
  attempts: number
  counted: boolean
  retry_after_seconds?: number | undefined
  first_attempt_at: Date | null
  expires_at: Date
  now: Date
  random: () => number
}): NextAttempt {
  const { schedule, attempts, counted, first_attempt_at, expires_at, now, random } = input
  const left = (expires_at.getTime() - now.getTime()) / 1000
  if (left <= 0) return { give_up: 'too_old' }

  const is_webhook = schedule === 'webhook'
  const delays: readonly number[] =
    ATTEMPT_DELAYS_SECONDS[!is_webhook && input.is_urgent ? 'urgent' : schedule]
  const delay = delays[attempts] ?? (is_webhook ? undefined : delays.at(-1))
  if (delay === undefined) return { give_up: 'attempts_used_up' }

  const hint = input.retry_after_seconds ?? 0
  const age = first_attempt_at ? secondsBetween(first_attempt_at, now) : 0
  const own = counted ? jittered(delay, random) : throttledDelay(age, hint)
  // Jitter on Retry-After only adds time: the receiver must not be called earlier than it asked.
  const asked = hint * (1 + 0.1 * random())
  const wait = Math.min(Math.max(own, asked), left)
  return { at: new Date(now.getTime() + Math.round(wait * 1000)) }
}

/** The delay grows with the age of the delivery, so that a constant "Retry-After: 0" does not cause a busy loop. */
function throttledDelay(age: number, hint: number): number {
  const floor = hint > 0 ? age / 10 : Math.max(MINUTE, age)
  return Math.min(Math.max(floor, 1), THROTTLE_LIMIT_SECONDS)
}

/**
 * Seconds until the next poll of a feed: its interval while it works; while it fails, the time for which
 * it has been failing, up to 15 minutes. Never less than its Retry-After.
 */
export function nextPollSeconds(input: {
  interval_seconds: number
  failing_for_seconds: number
  retry_after_seconds?: number | undefined
  random: () => number
}): number {
  const { interval_seconds, failing_for_seconds, retry_after_seconds = 0, random } = input
  const backed_off = Math.min(failing_for_seconds, POLL_LIMIT_SECONDS)
  const wait = jittered(Math.max(interval_seconds, backed_off), random)
  return Math.max(wait, retry_after_seconds)
}

/**
 * The delay after this many failures in a row: 0 without failures, `first` after one, then twice as long
 * each time, up to `longest`. The unit is that of `first` and `longest`.
 */
export function doublingDelay(
  failures: number,
  { first, longest = Infinity }: { first: number; longest?: number },
): number {
  return failures < 1 ? 0 : Math.min(first * 2 ** (failures - 1), longest)
}

/** The delay plus or minus up to 10 %, so that many clients do not retry at the same time. */
export function jittered(wait: number, random: () => number): number {
  return wait * (0.9 + 0.2 * random())
}

/** Parses Retry-After (RFC 9110 §10.2.3), in seconds or as an HTTP-date; undefined when it is invalid. */
export function parseRetryAfter(value: string | null | undefined, now: Date): number | undefined {
  const text = value?.trim()
  if (!text) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text)), HINT_LIMIT_SECONDS)
  if (!/^[A-Z][a-z]{2,8}, /.test(text)) return undefined
  const at = Date.parse(text)
  if (Number.isNaN(at)) return undefined
  const seconds = Math.ceil((at - now.getTime()) / 1000)
  return Math.min(Math.max(seconds, 0), HINT_LIMIT_SECONDS)
}

function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, (to.getTime() - from.getTime()) / 1000)
}
