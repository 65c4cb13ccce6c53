import type { Check } from '../../shared/decide/checks.ts'
import type { News } from '../../shared/reason/reason.ts'
import type { Language } from '../../shared/words/texts.ts'
import type { AnyRequest, SendRequest, SendResult } from './transport/send.ts'
import type { AllowList } from './transport/target.ts'

/** The types of notifications; the `type` of a webhook message. */
const NOTIFICATION_TYPES = [
  'alert.raised',
  'alert.revised',
  'alert.escalated',
  'alert.ended',
  'alert.retracted',
  'alert.acknowledged',
  'alert.resolved',
  'alert.reopened',
  'alert.digest',
  'zone.blind',
  'zone.sighted',
  'channel.failing',
  'channel.recovered',
  'channel.test',
  'channel.confirmation',
] as const
export type NotificationType = (typeof NOTIFICATION_TYPES)[number]

/** An alert in the form of `GET /alerts`. A kind of channel reads only the fields that it renders. */
export type NotificationAlert = { readonly [field: string]: unknown }

/** The source that a `zone.blind` or `zone.sighted` is about, in the form of the webhook message. */
type NotificationSource = { readonly [field: string]: unknown }

/** The channel that a `channel.failing` or `channel.recovered` is about, in the form of the webhook message. */
type NotificationChannel = { readonly [field: string]: unknown }

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
  /** Of an `alert.raised` that a step of the zone's escalation sent: since when nobody has acknowledged the alert. */
  unacknowledged?: { step: number; steps: number; after_minutes: number; since: string }
  /** Of the alert of a drill: every message says so in its title. */
  drill?: { id: string }
  /** What no longer reaches `zones`, or does again; the first few of `zones_total`. */
  source?: NotificationSource
  /** What is wrong with the source; absent for webhooks, which send the sentence, and null where only that is known. */
  cause?: Cause | null
  zones?: readonly { id: string; label: string }[]
  zones_total?: number
  /** Another channel, which nothing reaches, or which works again. */
  channel?: NotificationChannel
  /** By the id of its alert, what the sentence of each is made of; absent for webhooks, which send the sentence. */
  facts?: Readonly<Record<string, Facts>>
}

/** What a decision was based on, so that its reason can be told in the language and time zone of a channel. */
export type Facts = { checks: readonly Check[]; news: News | null }

/** What is wrong with a source (private.source_cause). `said` is the text of a program, always English. */
export type Cause = { code: string; said?: string | null; at?: string; seconds?: number }

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
  language: Language
  /** An IANA name; times in the message are told in it. */
  time_zone: string
  /** The address of this service without a trailing slash; null where the jobs do not know it. */
  public_url: string | null
  /**
   * What the receiver called the first message about this alert on this channel; null before that message has been
   * delivered, and where a digest carried it, because other alerts are in there too.
   */
  remote_ref: string | null
  /** The link on which a reader says that they have seen the alert; null where there is none. */
  acknowledge_url: string | null
  /** Of a mail: the link that asks for consent, and the one that withdraws it. */
  confirm_url?: string | null
  unsubscribe_url?: string | null
}

/** How the words of a message are written. */
export type Style = Pick<Message, 'language' | 'time_zone'>

export type Classification = {
  outcome: 'ok' | 'retry' | 'fail_permanent' | 'disable_channel'
  status?: number
  retry_after_seconds?: number
  /** The receiver is overloaded: pause the whole channel, not only this delivery. */
  throttled: boolean
  /** What `throttled` and `retry_after_seconds` are about: this channel (the default), or every channel at its host. */
  throttles?: 'channel' | 'host'
  /** False when this try does not count as an attempt; see `nextAttempt`. */
  counted: boolean
  /** A sentence for people, without the target; absent on success. */
  error?: string
  /** What the receiver calls this message, at most 500 characters: the `remote_ref` of what changes it later. */
  remote_ref?: string
  /** The receiver has moved: the channel's target from now on. */
  new_target?: string
  /** The message that was to be changed is gone: send a new one instead. */
  is_gone?: true
}

/** A kind's own pace for one channel; every hint of the receiver comes before it. */
type Pace = { messages: number; per_seconds: number }

export type Outcome = Classification & {
  duration_ms: number
  /** The start of the receiver's answer. */
  response_excerpt?: string
  /** What the receiver calls the request. */
  request_id?: string
}

/** A kind of channel; `R` is what it sends: a request by HTTP, or a mail. */
export type ChannelKind<R = SendRequest> = {
  kind: string
  /** What it is sent by, where that is not HTTP. */
  transport?: Exclude<AnyRequest['transport'], 'http' | undefined>
  /** `webhook`: eight attempts over 31.6 hours. `message`: again and again until nobody wants to read it any more. */
  schedule: 'webhook' | 'message'
  /** How fast one channel may be sent to; null: as fast as it answers. */
  pace: Pace | null
  check(input: { target: string; config: unknown; allow: AllowList }): Issue[]
  /** Whose limits all channels there share, such as `discord.com`. */
  host(target: string, config: unknown): string
  mask(target: string): string
  /** False where each alert is a thing of its own, so that nothing is gained by a digest when the pace is too slow. */
  bundles?: false
  /** Whether a digest of these alerts is not too large for one message. */
  fits(notification: Notification, style: Style): boolean
  render(message: Message): Promise<R>
  classify(result: SendResult, now: Date): Classification
}

export type AnyKind = ChannelKind<AnyRequest>
