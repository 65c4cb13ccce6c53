import { doublingDelay, type NextAttempt, nextAttempt } from '../../shared/backoff.ts'
import type { Language } from '../../shared/channel.ts'
import type { Sql } from '../../shared/sql.ts'
import type { Message, Notification, NotificationType, Outcome } from '../channels/channel.ts'
import { isWholeDigest, splitDigest } from '../channels/digest.ts'
import { findKind, deliver as sendMessage } from '../channels/kinds.ts'
import type { FormerSecret } from '../channels/sealed.ts'
import { createPacer } from '../scheduling.ts'
import type { JobContext, JobDeps, Queue } from './queue.ts'

/** After this many failures in a row a channel is paused. */
const BREAKER_AFTER = 5
const BREAKER_MAX_SECONDS = 30 * 60

/**
 * Sends one delivery once and records the attempt. If the process dies at any point, the message is
 * sent again with the same webhook-id: at least once, never lost.
 */
export const deliver: Queue = {
  name: 'deliver',
  slots: 20,
  per_group: 1,
  run: async (context, job) => {
    const delivery_id = job.data.delivery_id ?? job.id
    const [found] = await context.step(
      (sql) => sql<Claimed>`select * from private.claim_delivery(${delivery_id})`,
    )
    const claimed = found && (await splitIfDigest(context, found))
    if (!claimed) {
      await context.finish(job, async () => undefined)
      return { delivery_id, skipped: true }
    }
    if (claimed.refusal) {
      const refusal = claimed.refusal
      await context.finish(job, (sql) => cancel(sql, delivery_id, refusal))
      return { delivery_id, channel_id: claimed.channel_id, cancelled: refusal }
    }
    if (claimed.paused_until) {
      const until = claimed.paused_until
      await context.finish(job, (sql) => enqueueAgain(sql, claimed, until))
      return { delivery_id, channel_id: claimed.channel_id, paused_until: until }
    }
    const outcome = await send(context, claimed)
    const next = outcome.outcome === 'retry' ? planNextAttempt(claimed, outcome) : undefined
    await context.finish(job, (sql) => record(sql, claimed, outcome, next))
    return describe(claimed, outcome, next)
  },
}

/** The result of private.claim_delivery. */
type Claimed = {
  id: string
  channel_id: string
  kind: string
  type: NotificationType
  attempts: number
  used: number
  first_attempt_at: string
  payload: string
  target_sealed: string
  config_sealed: string | null
  secret_sealed: string | null
  former_sealed: FormerSecret[]
  failures: number
  language: Language
  time_zone: string
  refusal: string | null
  paused_until: string | null
}

/** Splits a digest that is about to be sent into its messages; undefined if another process has done so meanwhile. */
async function splitIfDigest(context: JobContext, claimed: Claimed): Promise<Claimed | undefined> {
  if (claimed.refusal || claimed.paused_until) return claimed
  const found = findKind(claimed.kind)
  const digest = notificationOf(claimed)
  if ('issue' in found || !isWholeDigest(digest)) return claimed
  const messages = await splitDigest(digest, found.kind.fits, createPacer())
  const parts = messages.map(({ type: _, ...payload }) => ({
    alert_ids: payload.alerts.map((alert) => alert.id),
    payload: JSON.stringify(payload),
  }))
  const [first] = parts
  if (!first) throw new Error(`the digest ${claimed.id} has no alerts`)
  const [row] = await context.step(
    (sql) => sql<{ is_split: boolean }>`
      select private.split_digest(${claimed.id}, ${JSON.stringify(parts)}::jsonb) as is_split`,
  )
  return row?.is_split ? { ...claimed, payload: first.payload } : undefined
}

function notificationOf({ type, payload }: Claimed): Notification {
  return { type, ...JSON.parse(payload) }
}

async function send({ deps }: JobContext, claimed: Claimed): Promise<Outcome> {
  const found = findKind(claimed.kind)
  if ('issue' in found) return failure(found.issue.message)
  let message: Message
  try {
    message = await messageOf(deps, claimed)
  } catch {
    return failure(
      'What is sealed in this channel does not open: SEAL_KEYS must hold the key it was sealed with.',
    )
  }
  return sendMessage(found.kind, message, deps)
}

function failure(error: string): Outcome {
  return { outcome: 'fail_permanent', throttled: false, counted: true, duration_ms: 0, error }
}

async function messageOf(
  { seal, public_url }: Pick<JobDeps, 'seal' | 'public_url'>,
  claimed: Claimed,
): Promise<Message> {
  const open = async (sealed: string | null) => (sealed === null ? null : seal.unseal(sealed))
  const [target, config, ...secrets] = await Promise.all([
    seal.unseal(claimed.target_sealed),
    open(claimed.config_sealed),
    open(claimed.secret_sealed),
    ...claimed.former_sealed.map(({ sealed }) => open(sealed)),
  ])
  return {
    id: claimed.id,
    notification: notificationOf(claimed),
    target,
    config: config === null ? undefined : JSON.parse(config),
    secrets: secrets.filter((secret) => secret !== null),
    now: new Date(),
    language: claimed.language,
    time_zone: claimed.time_zone,
    public_url,
    remote_ref: null,
    acknowledge_url: null,
  }
}

function planNextAttempt(claimed: Claimed, outcome: Outcome): NextAttempt {
  return nextAttempt({
    attempts: claimed.used + (outcome.counted ? 1 : 0),
    counted: outcome.counted,
    retry_after_seconds: outcome.retry_after_seconds,
    first_attempt_at: new Date(claimed.first_attempt_at),
    now: new Date(),
    random: Math.random,
  })
}

/**
 * Stores the attempt, the delivery, its alert and channel, and the next job, in the job's
 * transaction.
 */
async function record(
  sql: Sql,
  claimed: Claimed,
  outcome: Outcome,
  next: NextAttempt | undefined,
): Promise<void> {
  const status =
    outcome.outcome === 'ok'
      ? 'succeeded'
      : next && 'at' in next
        ? 'queued'
        : next?.give_up === 'too_old'
          ? 'expired'
          : 'failed'
  const at = next && 'at' in next ? next.at.toISOString() : null
  const recorded = await sql<{ id: string }>`
    insert into watchpost.delivery_attempts (
      delivery_id, attempt, outcome, status_code, duration_ms, error, response_excerpt)
    values (
      ${claimed.id}, ${claimed.attempts + 1}, ${outcome.outcome}, ${outcome.status ?? null},
      ${Math.round(outcome.duration_ms)}, ${outcome.error ?? null}, ${outcome.response_excerpt ?? null})
    on conflict (delivery_id, attempt) do nothing
    returning id`
  if (recorded.length === 0) return
  await sql`
    select private.settle_delivery(${claimed.id}, ${status}, ${outcome.error ?? null}, ${at}::timestamptz)`
  if (at) await enqueueAgain(sql, claimed, at)
  await recordChannelHealth(sql, claimed, outcome)
}

/** Enqueues the next job of a delivery that has to wait. */
async function enqueueAgain(sql: Sql, claimed: Claimed, at: string): Promise<void> {
  await sql`
    select private.enqueue('deliver', gen_random_uuid(), jsonb_build_object('delivery_id', ${claimed.id}::text),
      ${at}::timestamptz, ${claimed.channel_id})`
}

async function cancel(sql: Sql, id: string, why: string): Promise<void> {
  await sql`select private.settle_delivery(${id}, 'cancelled', ${why}, null)`
}

async function recordChannelHealth(sql: Sql, claimed: Claimed, outcome: Outcome): Promise<void> {
  if (outcome.outcome === 'ok') {
    if (claimed.failures > 0) {
      await sql`
        update watchpost.channels
        set failures = 0, status = 'ok', paused_until = null, failing_reason = null, failing_since = null
        where id = ${claimed.channel_id} and status <> 'disabled'`
    }
    return
  }
  if (outcome.outcome === 'disable_channel') {
    await sql`
      update watchpost.channels
      set enabled = false, status = 'disabled', failing_reason = null, failing_since = null, disabled_reason = ${outcome.error ?? 'The receiver asked for it.'}
      where id = ${claimed.channel_id}`
    return
  }
  await sql`
    update watchpost.channels
    set failures = failures + 1, status = 'failing', failing_reason = ${outcome.error ?? null},
        failing_since = coalesce(failing_since, now()),
        paused_until = greatest(paused_until, now() + make_interval(secs => ${pauseSeconds(claimed, outcome)}))
    where id = ${claimed.channel_id} and status <> 'disabled'`
}

/**
 * How long to pause the channel: as long as the receiver asked, or longer the longer it has been
 * failing.
 */
function pauseSeconds({ failures }: Claimed, outcome: Outcome): number {
  const asked = outcome.throttled ? (outcome.retry_after_seconds ?? 10) : 0
  const over = failures + 2 - BREAKER_AFTER
  const breaker = doublingDelay(over, { first: 10, longest: BREAKER_MAX_SECONDS })
  return Math.min(Math.max(asked, breaker), BREAKER_MAX_SECONDS)
}

function describe(claimed: Claimed, outcome: Outcome, next: NextAttempt | undefined) {
  return {
    delivery_id: claimed.id,
    channel_id: claimed.channel_id,
    kind: claimed.kind,
    type: claimed.type,
    attempt: claimed.attempts + 1,
    result: outcome.outcome,
    ...(outcome.status === undefined ? {} : { status: outcome.status }),
    ...(outcome.error === undefined ? {} : { error: outcome.error }),
    ...(next && 'at' in next ? { next_attempt_at: next.at.toISOString() } : {}),
    ...(next && 'give_up' in next ? { gave_up: next.give_up } : {}),
  }
}
