import { answerOf } from './answer.ts'
import type { AnyKind, Issue, Message, Outcome } from './channel.ts'
import { mqtt } from './mqtt.ts'
import { type Transports, transmit } from './send.ts'
import { webhook } from './webhook.ts'

const LATER_KINDS = [
  'slack',
  'discord',
  'teams',
  'telegram',
  'email',
  'pagerduty',
  'ntfy',
  'pushover',
]

/** The available kinds of channels; each has its own file. */
export const CHANNEL_KINDS: ReadonlyMap<string, AnyKind> = new Map(
  [webhook, mqtt].map((kind) => [kind.kind, kind]),
)

/** The kind of this name or, if it is unknown, an issue that names the available kinds. */
export function findKind(kind: string): { kind: AnyKind } | { issue: Issue } {
  const found = CHANNEL_KINDS.get(kind)
  if (found) return { kind: found }
  const names = [...CHANNEL_KINDS.keys()].map((name) => `"${name}"`).join(' or ')
  const what = LATER_KINDS.includes(kind) ? 'is not available yet' : 'does not exist'
  const message = `The channel kind ${JSON.stringify(kind)} ${what}. Use ${names}.`
  return { issue: { path: 'kind', code: 'unavailable_kind', message } }
}

/**
 * Sends a message once and returns the outcome. Never throws because of the receiver. Where the message that it was to
 * change is gone, it is sent as a new one at once.
 */
export async function deliver(
  kind: AnyKind,
  message: Message,
  transports: Transports,
): Promise<Outcome> {
  const result = await transmit(await kind.render(message), transports)
  const { duration_ms } = result
  const outcome = { ...kind.classify(result, message.now), ...answerOf(result), duration_ms }
  if (!outcome.is_gone || message.remote_ref === null) return outcome
  const again = await deliver(kind, { ...message, remote_ref: null }, transports)
  return { ...again, duration_ms: outcome.duration_ms + again.duration_ms }
}
