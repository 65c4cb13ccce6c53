/** The messages of webhooks (Standard Webhooks), with alerts in the form of GET /alerts. */
import { z } from 'zod'
import { Alert } from './alert.ts'
import { Instant } from './time.ts'

const ZoneReference = z
  .object({ id: z.uuid(), label: z.string() })
  .meta({ id: 'ZoneReference', description: 'The zone’s id and label.' })

const ALERT_MESSAGES = [
  'alert.raised',
  'alert.revised',
  'alert.escalated',
  'alert.ended',
  'alert.retracted',
] as const

const LeftOut = z
  .array(z.enum(['deliveries', 'updates', 'note']))
  .optional()
  .meta({
    description:
      'The fields of the alert that are empty here because the message would be larger than 20 kB with them. GET /alerts/:id has them.',
  })

export const AlertMessage = z
  .object({
    type: z.enum(ALERT_MESSAGES),
    timestamp: Instant.meta({ description: 'The time of the event.' }),
    data: z.object({ alert: Alert, zone: ZoneReference, left_out: LeftOut }),
  })
  .meta({ id: 'AlertMessage', description: 'An alert, or a change of one.' })

export const DigestMessage = z
  .object({
    type: z.literal('alert.digest'),
    timestamp: Instant.meta({ description: 'When the quiet hours ended.' }),
    data: z.object({
      alert: Alert.meta({ description: 'The first of `alerts`, the most severe of them.' }),
      zone: ZoneReference,
      alerts: z.array(Alert).meta({
        description:
          'The alerts that this message carries, most severe first; as many as fit into 20 kB.',
      }),
      part: z.int().min(1).meta({ description: 'Which message of the digest this is.' }),
      parts: z.int().min(1).meta({ description: 'How many messages the digest has.' }),
      alerts_total: z
        .int()
        .min(1)
        .meta({ description: 'How many alerts all messages of the digest carry together.' }),
      left_out: LeftOut,
    }),
  })
  .meta({
    id: 'DigestMessage',
    description:
      'The alerts that quiet hours held. A digest over 20 kB is sent as several messages.',
  })

export const TestMessage = z
  .object({
    type: z.literal('channel.test'),
    timestamp: Instant,
    data: z.object({ alert: z.null(), zone: z.null() }),
  })
  .meta({ id: 'TestMessage', description: 'A test of the channel. It is not about an event.' })
