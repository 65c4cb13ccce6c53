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

export const AlertMessage = z
  .object({
    type: z.enum(ALERT_MESSAGES),
    timestamp: Instant.meta({ description: 'The time of the event.' }),
    data: z.object({ alert: Alert, zone: ZoneReference }),
  })
  .meta({ id: 'AlertMessage', description: 'An alert, or a change of one.' })

export const DigestMessage = z
  .object({
    type: z.literal('alert.digest'),
    timestamp: Instant.meta({ description: 'When the quiet hours ended.' }),
    data: z.object({
      alert: Alert.meta({ description: 'The most severe of the alerts.' }),
      zone: ZoneReference,
      alerts: z.array(Alert).meta({
        description: 'The alerts that were held, most severe first; as many as fit into 20 kB.',
      }),
      alerts_total: z.int().meta({ description: 'How many alerts were held.' }),
    }),
  })
  .meta({ id: 'DigestMessage', description: 'The alerts that quiet hours held, in one message.' })

export const TestMessage = z
  .object({
    type: z.literal('channel.test'),
    timestamp: Instant,
    data: z.object({ alert: z.null(), zone: z.null() }),
  })
  .meta({ id: 'TestMessage', description: 'A test of the channel. It is not about an event.' })
