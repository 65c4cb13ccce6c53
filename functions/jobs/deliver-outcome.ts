import { doublingDelay, type NextAttempt, nextAttempt } from '../../shared/backoff.ts'
import type { Sql } from '../../shared/sql.ts'
import type { Outcome } from '../channels/channel.ts'
import { findKind } from '../channels/kinds.ts'
import { sealReceiver } from '../channels/sealed.ts'
import { callSpan } from '../tracing/tracing.ts'
import type { Claimed, Opened } from './deliver-claim.ts'
import type { JobContext, Work } from './queue.ts'

/** After this many failures in a row a channel is paused, for at most this long. */
const BREAKER_AFTER = 5
const BREAKER_MAX_SECONDS = { webhook: 30 * 60, message: 5 * 60 }
/** The same for a host that does not answer. Short: other people's channels wait too. */
const HOST_BREAKER_AFTER = 10
const HOST_BREAKER_MAX_SECONDS = 60
/** The longest pause that a receiver may ask for. */
const PAUSE_MAX_SECONDS = 30 * 60
const PAUSE_SECONDS = 10
const MAX_REF_LENGTH = 500

export function failure(error: string): Outcome {
  return { outcome: 'fail_permanent', throttled: false, counted: true, duration_ms: 0, error }
}

export function planNextAttempt(claimed: Claimed, outcome: Outcome, now: Date): NextAttempt {
  return nextAttempt({
    schedule: scheduleOf(claimed),
    is_urgent: claimed.is_urgent,
    attempts: claimed.used + (outcome.counted ? 1 : 0),
    counted: outcome.counted,
    retry_after_seconds: outcome.retry_after_seconds,
    first_attempt_at: new Date(claimed.first_attempt_at),
    expires_at: new Date(claimed.expires_at),
    now,
    random: Math.random,
  })
}

/** Why a message is given up whose deadline is over. */
export function expiryReason({ attempts, last_error }: Claimed): string {
  const tried = attempts === 1 ? 'one attempt' : `${attempts} attempts`
  const why =
    attempts === 0 ? 'It was never its turn.' : `There were ${tried}, the last with: ${last_error}`
  return `It could not be delivered before its deadline. ${why}`.replace('were one', 'was one')
}

type Attempted = {
  claimed: Claimed
  opened: Opened
  outcome: Outcome
  next: NextAttempt | undefined
}

/** What becomes of a delivery that was taken up; see private.settle_deliveries. */
type Settlement = {
  id: string
  channel_id: string
  /** Undefined: it is not settled, it only waits until next_at. */
  status?: string
  error?: string | undefined
  next_at?: string | null
  waits_for?: Claimed['waits_for']
  attempt?: object
  health?: object
}

async function storeAll(sql: Sql, settlements: object[]): Promise<void> {
  await sql`select private.settle_deliveries(${JSON.stringify(settlements)}::jsonb)`
}

const finish = (context: JobContext, job: Work, settlement: Settlement) =>
  context.tracing.span(callSpan('settle_deliveries'), () =>
    context.finishTogether(job, settlement, storeAll),
  )

/** Ends a delivery without an attempt. */
export function settle(
  context: JobContext,
  job: Work,
  { claimed, status, why }: { claimed: Claimed; status: 'cancelled' | 'expired'; why: string },
) {
  const { id, channel_id } = claimed
  return finish(context, job, { id, channel_id, status, error: why })
}

/** A job is due a little after the moment by this machine's clock, which the database's may be behind. */
const CLOCKS_APART_MS = 10

/** Enqueues the next job of a delivery that has to wait. */
export async function waitUntil(
  context: JobContext,
  job: Work,
  { id, channel_id, waits_for }: Claimed,
  next_at: string,
): Promise<void> {
  await finish(context, job, { id, channel_id, next_at, waits_for })
  context.lookAt(job.name, new Date(Date.parse(next_at) + CLOCKS_APART_MS))
}

/** Stores the attempt, the delivery, its alert, its channel and host, and the next job. */
export async function record(context: JobContext, job: Work, attempted: Attempted): Promise<void> {
  const { claimed, opened, outcome, next } = attempted
  const { id, channel_id } = claimed
  const { remote_ref } = outcome
  const attempt = {
    attempt: claimed.attempts + 1,
    outcome: outcome.outcome,
    status_code: outcome.status,
    duration_ms: Math.round(outcome.duration_ms),
    error: outcome.error,
    response_excerpt: outcome.response_excerpt,
    request_id: outcome.request_id,
    remote_ref: remote_ref && remote_ref.length <= MAX_REF_LENGTH ? remote_ref : undefined,
  }
  const health = {
    host: opened.host.replace(/^\S* /, '') || null,
    is_host_failure: isHostFailure(outcome),
    ...pausesAfter(claimed, outcome),
    moved: await sealNewTarget(context, attempted),
  }
  const next_at = next && 'at' in next ? next.at.toISOString() : null
  const status = statusAfter(outcome, next)
  await finish(context, job, { id, channel_id, status, next_at, attempt, health })
}

function statusAfter({ outcome }: Outcome, next: NextAttempt | undefined): string {
  if (outcome === 'ok') return 'succeeded'
  if (!next) return 'failed'
  if ('at' in next) return 'queued'
  return next.give_up === 'too_old' ? 'expired' : 'failed'
}

/** Where the receiver says that it has moved, the new target as it is stored. */
async function sealNewTarget({ deps }: JobContext, { claimed, opened, outcome }: Attempted) {
  if (outcome.new_target === undefined || 'issue' in opened) return undefined
  const receiver = { target: outcome.new_target, config: null }
  const { target_sealed, target_masked } = await sealReceiver(opened.kind, receiver, deps.seal)
  return { from: claimed.target_sealed, target_sealed, target_masked }
}

function scheduleOf({ kind }: Pick<Claimed, 'kind'>) {
  const found = findKind(kind)
  return 'kind' in found ? found.kind.schedule : 'webhook'
}

/** For how long the channel and its host are left alone after an attempt, in seconds. */
export function pausesAfter(
  claimed: Pick<Claimed, 'kind' | 'failures' | 'host_failures'>,
  outcome: Outcome,
): { channel_seconds: number; host_seconds: number } {
  return {
    channel_seconds: channelPause(claimed, outcome),
    host_seconds: hostPause(claimed, outcome),
  }
}

/** How long the receiver asked for a pause, of the channel or of its whole host. */
function askedPause(outcome: Outcome, whose: 'channel' | 'host'): number {
  if (!outcome.throttled || (outcome.throttles ?? 'channel') !== whose) return 0
  return Math.min(outcome.retry_after_seconds ?? PAUSE_SECONDS, PAUSE_MAX_SECONDS)
}

/**
 * How long to pause the channel: as long as the receiver asked, or longer the longer it has been
 * failing.
 */
function channelPause(claimed: Pick<Claimed, 'kind' | 'failures'>, outcome: Outcome): number {
  const over = claimed.failures + 2 - BREAKER_AFTER
  const longest = BREAKER_MAX_SECONDS[scheduleOf(claimed)]
  const breaker = doublingDelay(over, { first: PAUSE_SECONDS, longest })
  return Math.max(askedPause(outcome, 'channel'), breaker)
}

/** Whether nobody answered, which says something about all channels of this host. */
function isHostFailure({ outcome, status }: Outcome): boolean {
  return outcome === 'retry' && status === undefined
}

function hostPause({ host_failures }: Pick<Claimed, 'host_failures'>, outcome: Outcome): number {
  const over = isHostFailure(outcome) ? (host_failures ?? 0) + 2 - HOST_BREAKER_AFTER : 0
  const breaker = doublingDelay(over, { first: 5, longest: HOST_BREAKER_MAX_SECONDS })
  return Math.max(askedPause(outcome, 'host'), breaker)
}

/** The log line of an attempt. */
export function describe(claimed: Claimed, outcome: Outcome, next: NextAttempt | undefined) {
  return {
    delivery_id: claimed.id,
    channel_id: claimed.channel_id,
    kind: claimed.kind,
    type: claimed.type,
    attempt: claimed.attempts + 1,
    result: outcome.outcome,
    ...(outcome.outcome === 'ok' ? latencyOf(claimed) : {}),
    ...(outcome.status === undefined ? {} : { status: outcome.status }),
    ...(outcome.error === undefined ? {} : { error: outcome.error }),
    ...(next && 'at' in next ? { next_attempt_at: next.at.toISOString() } : {}),
    ...(next && 'give_up' in next ? { gave_up: next.give_up } : {}),
  }
}

/** Of the first message of an alert, how long after its event was first seen the receiver had accepted it. */
function latencyOf({ type, payload }: Claimed): { latency_ms?: number } {
  if (type !== 'alert.raised' || payload === null) return {}
  const { alert }: { alert: { raised_at: string } } = JSON.parse(payload)
  return { latency_ms: Math.max(0, Date.now() - Date.parse(alert.raised_at)) }
}
