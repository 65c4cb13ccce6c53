import type { SendRequest, SendResult } from './send.ts'
import type { AllowList } from './target.ts'

/** The types of notifications; the `type` of a webhook message. */
const NOTIFICATION_TYPES = [
  'alert.raised',
  'alert.revised',
  'alert.escalated',
  'alert.ended',
  'alert.retracted',
  'alert.digest',
  'zone.blind',
  'zone.sighted',
  'channel.test',
] as const
export type NotificationType = (typeof NOTIFICATION_TYPES)[number]

/** An alert in the form of `GET /alerts`. A kind of channel reads only the fields that it renders. */
export type NotificationAlert = { readonly [field: string]: unknown }

/** The source that a `zone.blind` or `zone.sighted` is about, in the form of the webhook message. */
export type NotificationSource = { readonly [field: string]: unknown }

/** The content that every kind of channel renders: an alert or several, a source, or a test. */
export type Notification = {
  type: NotificationType
  /** The time of the event (ISO 8601), or the current time when there is no event. */
  timestamp: string
  /** Null when the notification is not about an alert. */
  alert: NotificationAlert | null
  /** The alerts that this message of a digest carries, most severe first. */
  alerts?: readonly NotificationAlert[]
  /** Which message of a digest this is, of how many, and how many alerts they carry together. */
  part?: number
  parts?: number
  alerts_total?: number
  /** What a digest says before its alerts; null where nothing needs to be said. */
  summary?: string | null
  zone: { id: string; label: string } | null
  /** What no longer reaches `zones`, or does again; the first few of `zones_total`. */
  source?: NotificationSource
  zones?: readonly { id: string; label: string }[]
  zones_total?: number
}

/** A problem in the input for a channel; `path` starts with `target` or `config`. */
export type Issue = { path: string; code: string; message: string }

/** A notification on its way to one channel. `id` is the same on every attempt. */
export type Message = {
  id: string
  notification: Notification
  target: string
  /** As accepted by `check`. */
  config: unknown
  /** The signing secrets, the current one first; two during a rotation. */
  secrets: readonly string[]
  now: Date
}

export type Classification = {
  outcome: 'ok' | 'retry' | 'fail_permanent' | 'disable_channel'
  status?: number
  retry_after_seconds?: number
  /** The receiver is overloaded: pause the whole channel, not only this delivery. */
  throttled: boolean
  /** False when this try does not count as an attempt; see `nextAttempt`. */
  counted: boolean
  /** A sentence for people, without the target; absent on success. */
  error?: string
  /** The start of the receiver's answer. */
  response_excerpt?: string
}

export type Outcome = Classification & { duration_ms: number }

export type ChannelKind = {
  kind: string
  check(input: { target: string; config: unknown; allow: AllowList }): Issue[]
  mask(target: string): string
  /** Whether a digest of these alerts is not too large for one message. */
  fits(notification: Notification): boolean
  render(message: Message): Promise<SendRequest>
  classify(result: SendResult, now: Date): Classification
}
