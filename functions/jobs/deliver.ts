import { describeError } from '../../shared/problem.ts'
import type { AnyKind, Message, Outcome } from '../channels/channel.ts'
import { deliver as sendMessage } from '../channels/kinds.ts'
import { type Claimed, type Claims, claimDeliveries, openMessage } from './deliver-claim.ts'
import { createHostSlots } from './deliver-hosts.ts'
import {
  describe,
  expiryReason,
  failure,
  planNextAttempt,
  record,
  settle,
  waitUntil,
} from './deliver-outcome.ts'
import { originsOfDeliveries } from './deliver-traces.ts'
import { linksOf } from './message-links.ts'
import type { JobContext, Queue, Work } from './queue.ts'

/**
 * Far more than connections to the database: a slot waits for its receiver most of the time, and receivers that answer
 * after 200 ms take five messages a second from each.
 */
const SLOTS = 200
/** A turn that comes so soon is waited for here: a job more would take longer. */
const SHORT_WAIT_MS = 250
/** How long a delivery waits when too many requests to its host are under way. */
const CROWDED_MS = 500

const hosts = createHostSlots()

/**
 * Sends each delivery once and records the attempt. If the process dies at any point, the message is
 * sent again with the same webhook-id: at least once, never lost. Deliveries are taken up and recorded many at a time.
 */
export const deliver: Queue = {
  name: 'deliver',
  slots: SLOTS,
  per_group: 1,
  gives_way: true,
  origins: (sql, jobs) => originsOfDeliveries(sql, jobs, deliveryOf),
  run: (context, jobs) => {
    const claims = claimDeliveries(context, jobs.map(deliveryOf))
    return (job) => deliverOne(context, job, claims)
  },
}

const deliveryOf = (job: Work) => job.data.delivery_id ?? job.id

async function deliverOne(context: JobContext, job: Work, claims: Claims) {
  const delivery_id = deliveryOf(job)
  let claimed = await claims(delivery_id)
  const wait_ms = turnIn(claimed)
  if (wait_ms !== undefined && wait_ms <= SHORT_WAIT_MS) {
    await new Promise((resolve) => setTimeout(resolve, wait_ms + 2))
    claimed = await claimDeliveries(context, [delivery_id])(delivery_id)
  }
  if (!claimed) {
    await context.finish(job, async () => undefined)
    return { delivery_id, skipped: true }
  }
  return handle(context, job, claimed)
}

/** Sends what was claimed, or does what is to be done instead. */
async function handle(context: JobContext, job: Work, claimed: Claimed) {
  const { id: delivery_id, channel_id, refusal, wait_until, waits_for } = claimed
  if (refusal) {
    await settle(context, job, { claimed, status: 'cancelled', why: refusal })
    return { delivery_id, channel_id, cancelled: refusal }
  }
  if (claimed.is_late) {
    const why = expiryReason(claimed)
    await settle(context, job, { claimed, status: 'expired', why })
    return { delivery_id, channel_id, expired: why }
  }
  if (wait_until) {
    await waitUntil(context, job, claimed, wait_until)
    return { delivery_id, channel_id, waits_for, until: wait_until }
  }
  return attempt(context, job, claimed)
}

/** How many milliseconds a delivery waits for the pace of its channel. */
function turnIn(claimed: Claimed | undefined): number | undefined {
  if (claimed?.waits_for !== 'turn' || !claimed.wait_until) return undefined
  return Math.max(0, Date.parse(claimed.wait_until) - Date.parse(claimed.claimed_at))
}

/** Sends what was claimed, unless its host has as many requests under way as it may. */
async function attempt(context: JobContext, job: Work, claimed: Claimed) {
  const { delivery_id, channel_id } = { delivery_id: claimed.id, channel_id: claimed.channel_id }
  const began = performance.now()
  const opened = await openMessage(context.deps, claimed)
  const now = () => new Date(Date.parse(claimed.claimed_at) + performance.now() - began)
  const leave = await hosts.enter(opened.host, Math.min(SLOTS, context.deps.max_slots ?? SLOTS))
  if (!leave) {
    const until = new Date(now().getTime() + CROWDED_MS).toISOString()
    await waitUntil(context, job, claimed, until)
    return { delivery_id, channel_id, waits_for: 'host', until }
  }
  try {
    const outcome =
      'issue' in opened
        ? failure(opened.issue)
        : await sendOrFail(context, claimed, {
            kind: opened.kind,
            message: { ...opened.message, ...(await linksOf(context, claimed, opened.message)) },
          })
    const next = outcome.outcome === 'retry' ? planNextAttempt(claimed, outcome, now()) : undefined
    await record(context, job, { claimed, opened, outcome, next })
    return describe(claimed, outcome, next)
  } finally {
    leave()
  }
}

/** Sends a message. One that cannot be written would be no better at the next attempt, so it fails for good. */
async function sendOrFail(
  { deps }: JobContext,
  { id }: Claimed,
  { kind, message }: { kind: AnyKind; message: Message },
): Promise<Outcome> {
  try {
    return await sendMessage(kind, message, deps)
  } catch (error) {
    deps.log({
      msg: 'writing a message',
      delivery_id: id,
      kind: kind.kind,
      error: describeError(error),
    })
    return failure(
      `The message could not be written for ${kind.kind}. This is a fault of Watchpost, and the log of the service has the details.`,
    )
  }
}
