import type { Language } from '../../shared/words/texts.ts'
import type { AnyKind, Message, Notification, NotificationType } from '../channels/channel.ts'
import { CHANNEL_KINDS, findKind } from '../channels/kinds.ts'
import { isWholeDigest, splitDigest } from '../channels/message/digest.ts'
import type { FormerSecret } from '../channels/sealed.ts'
import { createPacer } from '../scheduling.ts'
import { callSpan, traceCall } from '../tracing/tracing.ts'
import type { JobContext, JobDeps } from './queue.ts'

/** A row of private.claim_deliveries. */
export type Claimed = {
  id: string
  channel_id: string
  kind: string
  type: NotificationType
  attempts: number
  used: number
  last_error: string | null
  claimed_at: string
  first_attempt_at: string
  expires_at: string
  is_urgent: boolean
  /** Null until it is sent. */
  payload: string | null
  remote_ref: string | null
  target_sealed: string
  config_sealed: string | null
  secret_sealed: string | null
  former_sealed: FormerSecret[]
  failures: number
  host: string | null
  host_failures: number | null
  language: Language
  time_zone: string
  refusal: string | null
  is_late: boolean
  wait_until: string | null
  waits_for: 'pause' | 'earlier' | 'turn' | null
}

/** What private.claim_deliveries needs to know of each kind. */
const KINDS = JSON.stringify(
  Object.fromEntries(
    [...CHANNEL_KINDS].map(([name, { schedule, pace, bundles }]) => [
      name,
      { schedule, bundles, ...pace },
    ]),
  ),
)

/** The deliveries that were taken up, by their ids; of one with nothing to send it answers undefined. */
export type Claims = (id: string) => Promise<Claimed | undefined>

/** Takes up deliveries together; each by itself if that fails. */
export function claimDeliveries(context: JobContext, ids: string[]): Claims {
  const taking = claimAll(context, ids)
  taking.catch(() => undefined)
  return async (id) => {
    const claimed = await context.tracing.span(
      callSpan('claim_deliveries', { 'messaging.batch.message_count': ids.length }),
      () =>
        taking.then(
          (all) => all.get(id),
          async (error) => {
            if (ids.length === 1) throw error
            return (await claimAll(context, [id])).get(id)
          },
        ),
    )
    if (!claimed || claimed.refusal || claimed.is_late || claimed.wait_until) return claimed
    return splitIfDigest(context, claimed)
  }
}

async function claimAll(context: JobContext, ids: string[]): Promise<Map<string, Claimed>> {
  const all = await context.step(
    (sql) => sql<Claimed>`
      select * from private.claim_deliveries(${ids}::uuid[], ${KINDS}::jsonb)`,
  )
  return new Map(all.map((claimed) => [claimed.id, claimed]))
}

/** Splits a digest that is about to be sent into its messages; undefined if another process has done so meanwhile. */
async function splitIfDigest(context: JobContext, claimed: Claimed): Promise<Claimed | undefined> {
  const found = findKind(claimed.kind)
  const digest = notificationOf(claimed)
  if ('issue' in found || !isWholeDigest(digest)) return claimed
  const messages = await splitDigest(
    digest,
    (part) => found.kind.fits(part, claimed),
    createPacer(),
  )
  const parts = messages.map(({ type: _, ...payload }) => ({
    alert_ids: payload.alerts.map((alert) => alert.id),
    payload: JSON.stringify(payload),
  }))
  const [first] = parts
  if (!first) throw new Error(`the digest ${claimed.id} has no alerts`)
  const { tracing } = context
  const [row] = await context.step((sql) =>
    traceCall(
      { tracing, sql },
      { name: 'split_digest' },
      () => sql<{ is_split: boolean }>`
        select private.split_digest(${claimed.id}, ${JSON.stringify(parts)}::jsonb) as is_split`,
    ),
  )
  return row?.is_split ? { ...claimed, payload: first.payload } : undefined
}

function notificationOf({ type, payload }: Claimed): Notification {
  return { type, ...JSON.parse(payload ?? '{}') }
}

/** A message that can be sent, or why it cannot; with the host whose limits it shares. */
export type Opened = { host: string } & ({ kind: AnyKind; message: Message } | { issue: string })

/** Opens what is sealed in a channel. */
export async function openMessage(
  { seal, public_url }: Pick<JobDeps, 'seal' | 'public_url'>,
  claimed: Claimed,
): Promise<Opened> {
  const found = findKind(claimed.kind)
  if ('issue' in found) return { host: '', issue: found.issue.message }
  const open = async (sealed: string | null) => (sealed === null ? null : seal.unseal(sealed))
  try {
    const [target, config, ...secrets] = await Promise.all([
      seal.unseal(claimed.target_sealed),
      open(claimed.config_sealed),
      open(claimed.secret_sealed),
      ...claimed.former_sealed.map(({ sealed }) => open(sealed)),
    ])
    const message: Message = {
      id: claimed.id,
      notification: notificationOf(claimed),
      target,
      config: config === null ? undefined : JSON.parse(config),
      secrets: secrets.filter((secret) => secret !== null),
      now: new Date(),
      language: claimed.language,
      time_zone: claimed.time_zone,
      public_url,
      remote_ref: claimed.remote_ref,
      acknowledge_url: null,
    }
    const host = found.kind.host(message.target, message.config)
    return { host: `${claimed.kind} ${host}`, kind: found.kind, message }
  } catch {
    const issue =
      'What is sealed in this channel does not open: SEAL_KEYS must hold the key it was sealed with.'
    return { host: '', issue }
  }
}
