import { z } from 'zod'
import { Link } from '../decide/link.ts'
import { Instant } from '../time.ts'
import { EVENT_STATUSES, EventType, Severity } from './event.ts'
import { readOnly } from './read-only.ts'

export const ALERT_STATUSES = [
  'pending',
  'held',
  'dispatched',
  'failed',
  'suppressed',
  'recorded',
] as const
export const DELIVERY_STATUSES = [
  'queued',
  'held',
  'sending',
  'succeeded',
  'failed',
  'expired',
  'cancelled',
] as const

export const Delivery = z
  .object({
    id: z
      .uuid()
      .meta({ description: 'The id of the delivery; also the webhook-id of its message.' }),
    channel_id: z.uuid(),
    channel: z
      .string()
      .meta({ description: 'The label of the channel, or its kind if it has none.' }),
    kind: z.string().meta({ description: 'The type of the message.', example: 'alert.raised' }),
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.int(),
    last_error: z.string().nullable(),
    delivered_at: Instant.nullable(),
    redelivery_of: z.uuid().nullable(),
    step: z.int().min(1).max(5).nullable().meta({
      description:
        'The step of the zone’s `escalation` that sent it, because nobody had acknowledged the alert; null for other messages.',
    }),
  })
  .meta({ id: 'Delivery', description: 'One message to one channel.' })
export type Delivery = z.infer<typeof Delivery>

const AlertUpdate = z
  .object({
    at: Instant,
    kind: z
      .enum(['revised', 'escalated', 'ended', 'retracted', 'reopened', 'linked', 'unlinked'])
      .meta({
        description:
          '`reopened`: the alert was resolved, and its event escalated. `linked`: another source reports the same ' +
          'event. `unlinked`: a source says that it is over or withdraws it while another one still reports it. The last ' +
          'two are recorded and never sent.',
      }),
    event_id: z.string().optional().meta({
      description:
        'The event that changed, when it is not `event_id` of the alert but another of its `event_ids`.',
    }),
    changes: z.record(z.string(), z.tuple([z.unknown(), z.unknown()])).meta({
      description:
        'What changed, from and to: of the event `severity`, `title`, `status`, `ts`, `place` (lat and lon), `magnitude`, `depth_km`, `ends_at`, `type`, `url`; for `reopened` it is `resolved`; `escalated` also has `seen_at` when the alert had been acknowledged.',
      example: {
        severity: [43, 65],
        place: [
          { lat: 33.5, lon: -116.8 },
          { lat: 33.6, lon: -116.8 },
        ],
      },
    }),
  })
  .meta({ id: 'AlertUpdate', description: 'A later change of an event that already has an alert.' })

/** The event of an alert, as it was when the alert was raised or as it is now. */
export const EventReference = z
  .object({
    id: z.string(),
    source: z.string(),
    type: EventType,
    title: z.string(),
    lat: z.number(),
    lon: z.number(),
    ts: Instant,
    severity: Severity,
    subject: z.string().nullable().meta({
      description: 'The thing it is about, e.g. `mmsi:230123456`; null for most events.',
    }),
    status: z.enum(EVENT_STATUSES),
    url: z.string().nullable(),
    magnitude: z.number().nullable().meta({ description: 'Where the source gives one.' }),
    depth_km: z.number().nullable().meta({ description: 'Where the source gives one.' }),
    ends_at: Instant.nullable().meta({
      description: 'Until when it lasts, where the source says so.',
    }),
  })
  .meta({ id: 'EventReference', description: 'The event of an alert.' })
export type EventReference = z.infer<typeof EventReference>

const AlertEvent = z
  .object({
    event_id: z.string(),
    source: z.string(),
    title: z.string(),
    ts: Instant,
    severity: Severity,
    magnitude: z.number().nullable(),
    status: z.enum(EVENT_STATUSES),
    url: z.string().nullable(),
    attribution: z.string(),
    added_at: Instant.meta({ description: 'When the revision that was added was first seen.' }),
    link: Link.nullable().meta({
      description: 'Why it is taken to be the same; null for an event that raised the alert.',
    }),
  })
  .meta({ id: 'AlertEvent', description: 'An event of an alert as it is now, shortly.' })

export const Alert = z
  .object({
    id: z.uuid(),
    zone_id: z.uuid(),
    zone_name: z.string(),
    event_id: z.string(),
    event: EventReference.meta({ description: 'The event as it was when the alert was raised.' }),
    current: EventReference.meta({ description: 'The event as it is now.' }),
    event_ids: z
      .array(AlertEvent)
      .min(1)
      .meta({
        description:
          'All events of the alert: first its own, then those of other sources that report the same thing. One alert is ' +
          'raised for all of them; its severity is the highest of those that still stand.',
      }),
    attribution: z.string().meta({
      description: 'Whom to name as the source of the event, in its own words.',
      example: 'Earthquake data: U.S. Geological Survey',
    }),
    severity: z
      .number()
      .meta({ description: 'The effective severity: severity × multiplier, at most 100.' }),
    reason: z
      .string()
      .meta({ description: 'Why the alert was raised, in one sentence with the numbers.' }),
    status: z.enum(ALERT_STATUSES),
    raised_at: Instant,
    held_until: Instant.nullable(),
    dispatched_at: Instant.nullable().meta({
      description: 'When the first delivery succeeded; null before.',
    }),
    channel: z
      .string()
      .nullable()
      .meta({ description: 'The channel of the first delivery that succeeded; null before.' }),
    deliveries: z.array(Delivery),
    updates: z.array(AlertUpdate),
    resolved: z.boolean(),
    resolved_at: Instant.nullable(),
    resolved_by: z
      .uuid()
      .nullable()
      .meta({ description: 'The account that resolved it; null also when it was deleted.' }),
    resolved_via: z.enum(['api', 'console', 'mcp']).nullable(),
    seen_at: Instant.nullable().meta({
      description:
        'When somebody first acknowledged it, or resolved it, since it was raised or escalated last; null: nobody has. ' +
        'An escalation clears it, and has the former time among its `changes`.',
    }),
    seen_by: z.uuid().nullable().meta({
      description:
        'The account that acknowledged it; null through the link of a message, which knows no person, and when it was deleted.',
    }),
    seen_via: z.enum(['api', 'console', 'mcp', 'channel']).nullable().meta({
      description: '`channel`: through the link of a message, which can be forwarded.',
    }),
    seen_channel: z
      .string()
      .nullable()
      .meta({
        description:
          'The label of the channel whose message had the link, or its kind if it has none. Null otherwise, and when you ' +
          'cannot see this channel or it was deleted for good.',
      }),
    note: z.string().nullable(),
    updated_at: Instant,
  })
  .meta({ id: 'Alert', description: 'An alert and how it was delivered.' })
export type Alert = z.infer<typeof Alert>

/** What only the service sets in an alert. */
export const ALERT_READ_ONLY = [
  'id',
  'zone_id',
  'zone_name',
  'event_id',
  'event',
  'current',
  'event_ids',
  'attribution',
  'severity',
  'reason',
  'status',
  'raised_at',
  'held_until',
  'dispatched_at',
  'channel',
  'deliveries',
  'updates',
  'resolved_at',
  'resolved_by',
  'resolved_via',
  'seen_at',
  'seen_by',
  'seen_via',
  'seen_channel',
  'updated_at',
] as const satisfies (keyof Alert)[]

/** Body of PATCH /alerts/:id. */
export const AlertPatch = z
  .strictObject({
    resolved: z.boolean().optional(),
    note: z
      .string()
      .max(4000)
      // PostgreSQL cannot store it.
      .regex(/^[^\0]*$/, 'Must not contain the character U+0000.')
      .nullable()
      .optional()
      .meta({ description: 'Null clears the note.', pattern: '^[^\\u0000]*$' }),
    ...readOnly(ALERT_READ_ONLY),
  })
  .meta({
    id: 'AlertPatch',
    description:
      'An absent field is unchanged. The alert can be sent back as it was read, with changes.',
  })

/** Body of POST /alerts/:id/redeliver. */
export const Redelivery = z
  .strictObject({
    delivery_ids: z.array(z.uuid()).min(1).max(100).optional().meta({
      description:
        'The deliveries to send again. Default: the failed and expired ones or, where there are none, the cancelled ones.',
    }),
  })
  .meta({ id: 'Redelivery' })

/** What POST /alerts/:id/redeliver made. */
export const Redelivered = z.object({
  delivery_ids: z
    .array(z.uuid())
    .meta({ description: 'The new deliveries, each with a new webhook-id.' }),
  skipped: z
    .array(z.object({ delivery_id: z.uuid(), reason: z.string() }))
    .meta({ description: 'The deliveries that are not sent again, and why.' }),
})
