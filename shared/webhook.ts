/** What a webhook receives: Standard Webhooks messages, with the alert as GET /alerts gives it. */
import { z } from 'zod'
import { Alert } from './alert.ts'
import { Instant } from './time.ts'

const ZoneReference = z
  .object({ id: z.uuid(), label: z.string() })
  .meta({ id: 'ZoneReference', description: 'The zone as it is called.' })

export const ALERT_MESSAGES = [
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
  .meta({ id: 'AlertMessage', description: 'One alert, or news about one.' })

export const DigestMessage = z
  .object({
    type: z.literal('alert.digest'),
    timestamp: Instant.meta({ description: 'When the quiet hours ended.' }),
    data: z.object({
      alert: Alert.meta({ description: 'The most severe of them.' }),
      zone: ZoneReference,
      alerts: z.array(Alert).meta({
        description: 'What was held, the most severe first; as many as fit into 20 kB.',
      }),
      alerts_total: z.int().meta({ description: 'How many were held.' }),
    }),
  })
  .meta({ id: 'DigestMessage', description: 'What quiet hours held, in one message.' })

export const TestMessage = z
  .object({
    type: z.literal('channel.test'),
    timestamp: Instant,
    data: z.object({ alert: z.null(), zone: z.null() }),
  })
  .meta({ id: 'TestMessage', description: 'Somebody tests the channel; nothing happened.' })
