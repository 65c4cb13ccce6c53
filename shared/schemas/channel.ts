import { z } from 'zod'
import { GivenInstant, Instant, isTimeZone } from '../time.ts'
import { LANGUAGES } from '../words/texts.ts'
import { Delivery } from './alert.ts'
import { readOnly } from './read-only.ts'

/** The messages that a channel can choose; `channel.test` is always sent. */
export const CHANNEL_MESSAGES = [
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
] as const
/** Revisions are many, and what people do with an alert is no news of the event: both only where they are chosen. */
const CHOSEN_MESSAGES: string[] = [
  'alert.revised',
  'alert.acknowledged',
  'alert.resolved',
  'alert.reopened',
]
export const DEFAULT_MESSAGES = CHANNEL_MESSAGES.filter((type) => !CHOSEN_MESSAGES.includes(type))

const CHANNEL_STATUSES = ['ok', 'failing', 'disabled', 'unconfirmed'] as const

const Label = z
  .string()
  .min(1)
  .max(120)
  .regex(/^[^\p{Cc}]*$/u, 'Must not contain control characters')
  .regex(/\S/u, 'Must not be blank')
  .nullable()
  .meta({
    description: 'The display name: 1–120 characters, not blank, or null.',
    pattern: '^[^\\p{Cc}]*[^\\p{Cc}\\s][^\\p{Cc}]*$',
    example: 'On call',
  })

const Target = z.string().min(1).max(2048).meta({
  description: 'Where messages go; the form depends on the kind. For a webhook it is a URL.',
  example: 'https://example.com/hooks/watchpost',
})

const Config = z
  .record(z.string(), z.unknown())
  .nullable()
  .meta({
    description: 'Settings of this kind of channel; a webhook accepts `{headers?}`.',
    example: { headers: { 'X-Team': 'night' } },
  })

const Messages = z
  .array(z.enum(CHANNEL_MESSAGES))
  .min(1)
  .refine((types) => new Set(types).size === types.length, 'Name each type once.')
  .meta({
    description:
      'The types of messages that it takes. Default, also for null: all but `alert.revised`, `alert.acknowledged`, `alert.resolved` and `alert.reopened`; the incidents of PagerDuty follow those three in any case. `channel.failing` and `channel.recovered` are about another channel of its owner. Without `alert.digest`, what quiet hours held is sent one by one.',
    example: DEFAULT_MESSAGES,
  })

/** Of messages; a webhook sends data, and its sentences are English. */
const MessageLanguage = z.enum(LANGUAGES).meta({
  description:
    'The language of its messages: `en` or `tr`. A webhook sends data, whose sentences are English. Default `en`.',
  example: 'en',
})

const MessageTimeZone = z
  .string()
  .max(64)
  .refine(
    isTimeZone,
    'Is not a known time zone. Send an IANA name such as "Europe/Berlin" or "UTC".',
  )
  .meta({
    description:
      'The IANA time zone in which its messages tell times. A webhook sends times in UTC. Default `UTC`.',
    example: 'Europe/Istanbul',
  })

const OrgId = z.uuid().nullable().meta({
  description: 'Shares the channel with an organisation of which the caller is owner or admin.',
  example: null,
})

/** A channel in the form of the API. */
export const Channel = z
  .object({
    id: z.uuid(),
    kind: z.string().meta({ example: 'webhook' }),
    label: Label,
    target: z.string().meta({
      description: 'Masked for everybody except the owner and the admins of its organisation.',
      example: 'https://example.com/hooks/watchpost',
    }),
    config: Config.meta({
      description: 'Settings of this kind of channel; the values are masked like the target.',
    }),
    org_id: z.uuid().nullable(),
    owner_id: z.uuid(),
    enabled: z.boolean(),
    status: z.enum(CHANNEL_STATUSES).meta({
      description:
        '`failing`: it is tried again; `disabled`: see `disabled_reason`; `unconfirmed`: an e-mail address that nobody has confirmed yet, to which nothing else is sent.',
    }),
    disabled_reason: z.string().nullable(),
    failing_reason: z.string().nullable().meta({
      description: 'The last error while the status is `failing`, otherwise null.',
      example: null,
    }),
    failing_since: Instant.nullable().meta({
      description:
        'Since when it has been failing without a success; null unless the status is `failing`.',
      example: null,
    }),
    messages: Messages,
    language: MessageLanguage,
    time_zone: z.string().meta({
      description: 'The IANA time zone in which its messages tell times.',
      example: 'Europe/Istanbul',
    }),
    signing_secret: z.string().nullable().meta({
      description:
        'Shown when the channel is created and when the secret is rotated; otherwise null.',
    }),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Channel', description: 'A channel that alerts are sent to.' })
export type Channel = z.infer<typeof Channel>

/** Body of POST /channels. */
export const ChannelCreate = z
  .strictObject({
    kind: z.string().min(1).max(32).meta({ example: 'webhook' }),
    target: Target,
    label: Label.optional(),
    config: Config.optional(),
    org_id: OrgId.optional(),
    messages: Messages.nullable().optional(),
    language: MessageLanguage.optional(),
    time_zone: MessageTimeZone.optional(),
    enabled: z.boolean().optional().meta({ description: 'Default true.' }),
    signing_secret: z.string().max(200).optional().meta({
      description:
        'For a webhook: `whsec_` followed by 24–64 bytes in base64. Generated when it is left out.',
    }),
  })
  .meta({ id: 'ChannelCreate', description: 'A new channel.' })
export type ChannelCreate = z.infer<typeof ChannelCreate>

/** What only the service sets in a channel. */
export const CHANNEL_READ_ONLY = [
  'id',
  'kind',
  'owner_id',
  'status',
  'disabled_reason',
  'failing_reason',
  'failing_since',
  'signing_secret',
  'created_at',
  'updated_at',
] as const satisfies (keyof Channel)[]

/** Body of PATCH /channels/:id. */
export const ChannelPatch = z
  .strictObject({
    label: Label.optional(),
    target: Target.optional(),
    config: Config.optional(),
    org_id: OrgId.optional(),
    messages: Messages.nullable().optional(),
    language: MessageLanguage.optional(),
    time_zone: MessageTimeZone.optional(),
    enabled: z.boolean().optional().meta({
      description:
        'Switching a channel on, like giving it another target or config, makes its `status` ok again.',
    }),
    ...readOnly(CHANNEL_READ_ONLY),
  })
  .meta({
    id: 'ChannelPatch',
    description:
      'An absent field is unchanged; null clears a field. The channel can be sent back as it was read, with changes.',
  })
export type ChannelPatch = z.infer<typeof ChannelPatch>

/** Body of POST /channels/:id/recover. */
export const Recovery = z
  .strictObject({
    since: GivenInstant.refine(
      (time) => Date.parse(time) <= Date.now(),
      'This time has not come yet. Send the time at which the messages began to fail.',
    ).meta({
      description: 'Messages that failed, expired or were cancelled at or after this time.',
    }),
  })
  .meta({ id: 'Recovery' })

/** What POST /channels/:id/recover made. */
export const Recovered = z
  .object({
    recovered: z.int().meta({ description: 'How many messages are sent again.' }),
    remaining: z.int().meta({
      description: 'How many more there are, when it is not 0; send the request again for them.',
    }),
    skipped: z
      .array(z.object({ reason: z.string(), count: z.int() }))
      .meta({ description: 'How many messages are not sent again, and why.' }),
  })
  .meta({ id: 'Recovered' })

/** An attempt of a delivery and the answer of the receiver. */
const Attempt = z
  .object({
    attempt: z.int().meta({ description: 'The number of the attempt, starting at 1.' }),
    at: Instant,
    outcome: z.enum(['ok', 'retry', 'fail_permanent', 'disable_channel']),
    status_code: z
      .int()
      .nullable()
      .meta({ description: 'The HTTP status; null when there was no answer.' }),
    duration_ms: z.int(),
    error: z.string().nullable(),
    response_excerpt: z.string().nullable().meta({
      description:
        'The first 1 KB of the answer; a longer one ends in “… (cut)”. Null for callers who see a masked target, because an answer may repeat it.',
    }),
    request_id: z.string().nullable().meta({
      description:
        'What the receiver calls the request (its `X-Request-Id` or the like), for questions to its support; null when it does not say.',
    }),
  })
  .meta({ id: 'Attempt' })

/** A delivery in the list of a channel, with every attempt. */
export const ChannelDelivery = Delivery.extend({
  alert_id: z
    .uuid()
    .nullable()
    .meta({ description: 'Null for a test, and for a message about a source or a channel.' }),
  created_at: Instant,
  next_attempt_at: Instant.nullable().meta({
    description:
      'When it is tried next: after a failure, when its channel is paused, when the pace of the channel allows it, or when an earlier message about the same alert has been settled.',
  }),
  expires_at: Instant.nullable().meta({
    description:
      'When it is given up and becomes `expired`. A webhook: 48 hours after its first attempt. A message for people: 6 hours after it was due when it is about one alert, otherwise 24 hours. Null until it is first taken up.',
  }),
  attempt_log: z
    .array(Attempt)
    .meta({ description: 'Every attempt of the last 30 days, oldest first.' }),
}).meta({ id: 'ChannelDelivery', description: 'A message to this channel, with every attempt.' })
export type ChannelDelivery = z.infer<typeof ChannelDelivery>
