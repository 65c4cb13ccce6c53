import { z } from 'zod'
import { Delivery } from './alert.ts'
import { Instant } from './time.ts'

export const CHANNEL_STATUSES = ['ok', 'failing', 'disabled'] as const

const Label = z
  .string()
  .min(1)
  .max(120)
  .regex(/^[^\p{Cc}]*$/u, 'has no control characters')
  .regex(/\S/u, 'is not blank')
  .nullable()
  .meta({
    description: 'The name people see, 1–120 characters, not blank, or null.',
    pattern: '^[^\\p{Cc}]*[^\\p{Cc}\\s][^\\p{Cc}]*$',
    example: 'On call',
  })

const Target = z.string().min(1).max(2048).meta({
  description: 'Where it sends; what that is depends on the kind. A webhook has a URL.',
  example: 'https://example.com/hooks/watchpost',
})

const Config = z
  .record(z.string(), z.unknown())
  .nullable()
  .meta({
    description: 'Settings of the kind; a webhook takes `{headers?}`.',
    example: { headers: { 'X-Team': 'night' } },
  })

const OrgId = z.uuid().nullable().meta({
  description: 'Shares it with an organisation of which the caller is owner or admin.',
  example: null,
})

/** A channel as the API answers it. */
export const Channel = z
  .object({
    id: z.uuid(),
    kind: z.string().meta({ example: 'webhook' }),
    label: Label,
    target: z.string().meta({
      description: 'Masked for everybody but its owner and the admins of its organisation.',
      example: 'https://example.com/hooks/watchpost',
    }),
    config: Config.meta({ description: 'Settings of the kind; values masked like the target.' }),
    org_id: z.uuid().nullable(),
    owner_id: z.uuid(),
    enabled: z.boolean(),
    status: z.enum(CHANNEL_STATUSES),
    disabled_reason: z.string().nullable(),
    signing_secret: z.string().nullable().meta({
      description: 'Shown when it is made and when it is rotated; null at all other times.',
    }),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Channel', description: 'Where alerts go.' })
export type Channel = z.infer<typeof Channel>

/** Body of POST /channels. */
export const ChannelCreate = z
  .strictObject({
    kind: z.string().min(1).max(32).meta({ example: 'webhook' }),
    target: Target,
    label: Label.optional(),
    config: Config.optional(),
    org_id: OrgId.optional(),
    enabled: z.boolean().optional().meta({ description: 'Default true.' }),
    signing_secret: z.string().max(200).optional().meta({
      description:
        'Of a webhook: `whsec_` and 24–64 bytes in base64. Made for you when you leave it out.',
    }),
  })
  .meta({ id: 'ChannelCreate', description: 'A new channel.' })
export type ChannelCreate = z.infer<typeof ChannelCreate>

/** Body of PATCH /channels/:id. */
export const ChannelPatch = z
  .strictObject({
    label: Label.optional(),
    target: Target.optional(),
    config: Config.optional(),
    org_id: OrgId.optional(),
    enabled: z.boolean().optional().meta({
      description: 'True also clears `status` and `disabled_reason` of a channel that failed.',
    }),
  })
  .meta({ id: 'ChannelPatch', description: 'An absent field is unchanged; null clears.' })
export type ChannelPatch = z.infer<typeof ChannelPatch>

/** One attempt of a delivery and what the receiver answered. */
export const Attempt = z
  .object({
    attempt: z.int().meta({ description: 'The first is 1.' }),
    at: Instant,
    outcome: z.enum(['ok', 'retry', 'fail_permanent', 'disable_channel']),
    status_code: z.int().nullable().meta({ description: 'Null when there was no answer.' }),
    duration_ms: z.int(),
    error: z.string().nullable(),
    response_excerpt: z.string().nullable().meta({
      description:
        'The start of the answer; null for those who see the target masked: an answer may repeat it.',
    }),
  })
  .meta({ id: 'Attempt' })

/** A delivery as a channel lists it: with every attempt. */
export const ChannelDelivery = Delivery.extend({
  alert_id: z.uuid().nullable().meta({ description: 'Null for a test and for a digest.' }),
  created_at: Instant,
  next_attempt_at: Instant.nullable(),
  attempt_log: z
    .array(Attempt)
    .meta({ description: 'Every attempt of the last 30 days, the oldest first.' }),
}).meta({ id: 'ChannelDelivery', description: 'One message to this channel, attempt by attempt.' })
export type ChannelDelivery = z.infer<typeof ChannelDelivery>
