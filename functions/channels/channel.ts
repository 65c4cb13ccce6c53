import type { SendRequest, SendResult } from './send.ts'
import type { AllowList } from './target.ts'

/** What a message can be about; on a webhook it is the `type`. */
export const CARD_TYPES = [
  'alert.raised',
  'alert.revised',
  'alert.escalated',
  'alert.ended',
  'alert.retracted',
  'alert.digest',
  'channel.test',
] as const
export type CardType = (typeof CARD_TYPES)[number]

/** An alert as `GET /alerts` gives it; a kind reads from it only what it shows. */
export type CardAlert = { readonly [field: string]: unknown }

/** What every kind renders from, and all it may know. */
export type Card = {
  type: CardType
  /** The event's time, ISO 8601; the moment itself where there is no event. */
  timestamp: string
  /** Null for what is about a zone or a channel. */
  alert: CardAlert | null
  /** All alerts of a digest, the most severe first. */
  alerts?: readonly CardAlert[]
  zone: { id: string; label: string } | null
}

/** One problem of a channel as somebody entered it; `path` begins with `target` or `config`. */
export type Issue = { path: string; code: string; message: string }

/** A card on its way to one channel. `id` is the same on every attempt. */
export type Message = {
  id: string
  card: Card
  target: string
  /** As it was accepted by `check`. */
  config: unknown
  /** The current signing secret first; two while one replaces the other. */
  secrets: readonly string[]
  now: Date
}

export type Classified = {
  outcome: 'ok' | 'retry' | 'fail_permanent' | 'disable_channel'
  status?: number
  retry_after_seconds?: number
  /** The receiver is overloaded: slow the whole channel down, not only this delivery. */
  throttled: boolean
  /** False when this try uses up no attempt; see `nextAttempt`. */
  counted: boolean
  /** One sentence for people, without the target; absent when all went well. */
  error?: string
  /** The start of what the receiver said. */
  response_excerpt?: string
}

export type Outcome = Classified & { duration_ms: number }

export type ChannelKind = {
  kind: string
  check(input: { target: string; config: unknown; allow: AllowList }): Issue[]
  mask(target: string): string
  render(message: Message): Promise<SendRequest>
  classify(result: SendResult, now: Date): Classified
}
