/** The messages of webhooks (Standard Webhooks), with alerts in the form of GET /alerts. */
import { z } from 'zod'
import { Instant } from '../time.ts'
import { Alert } from './alert.ts'

const ZoneReference = z
  .object({ id: z.uuid(), label: z.string() })
  .meta({ id: 'ZoneReference', description: 'The zone’s id and label.' })

const ALERT_MESSAGES = [
  'alert.raised',
  'alert.revised',
  'alert.escalated',
  'alert.ended',
  'alert.retracted',
  'alert.acknowledged',
  'alert.resolved',
  'alert.reopened',
] as const

const LeftOut = z
  .array(z.enum(['deliveries', 'updates', 'note']))
  .optional()
  .meta({
    description:
      'The fields of the alert that are empty here because the message would be larger than 20 kB with them. GET /alerts/:id has them.',
  })

const Unacknowledged = z
  .object({
    step: z
      .int()
      .min(1)
      .max(5)
      .meta({ description: 'Which step of the zone’s `escalation` this is.' }),
    steps: z.int().min(1).max(5).meta({ description: 'Of how many.' }),
    after_minutes: z.int().meta({ description: 'The minutes of the step.' }),
    since: Instant.meta({ description: 'When the alert was sent, or its escalation.' }),
  })
  .optional()
  .meta({
    description:
      'Only in `alert.raised`, and only when it was sent by a step of the zone’s `escalation`: nobody has acknowledged the ' +
      'alert since. It is not a type of its own, because it is the first message about this alert for most of the channels that ' +
      'get it; and it is not called an escalation, because `alert.escalated` says that the event became worse.',
  })

const DrillMark = z
  .object({ id: z.uuid().meta({ description: 'GET /zones/:id/drills/:drillId tells of it.' }) })
  .optional()
  .meta({
    description:
      'Only in a fire drill: nothing has happened. The event’s `source` is `drill` then, and its `title` begins with DRILL.',
  })

export const AlertMessage = z
  .object({
    type: z.enum(ALERT_MESSAGES),
    timestamp: Instant.meta({ description: 'The time of the event.' }),
    data: z.object({
      alert: Alert,
      zone: ZoneReference,
      drill: DrillMark,
      unacknowledged: Unacknowledged,
      left_out: LeftOut,
    }),
  })
  .meta({
    id: 'AlertMessage',
    description: 'An alert, a change of one, or what somebody did with it.',
  })

export const DigestMessage = z
  .object({
    type: z.literal('alert.digest'),
    timestamp: Instant.meta({ description: 'When the quiet hours or the burst ended.' }),
    data: z.object({
      alert: Alert.meta({ description: 'The first of `alerts`, the most severe of them.' }),
      zone: ZoneReference,
      drill: DrillMark,
      summary: z.string().nullable().meta({
        description:
          'How many of all its alerts were beyond max_alerts_per_hour; null when none was.',
        example: '14 more in this zone',
      }),
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
      'The alerts that quiet hours held, or that were beyond max_alerts_per_hour. A digest over 20 kB is sent as several messages.',
  })

/** How many zones a message about a source names. */
export const MAX_NAMED_ZONES = 25

const BlindSource = z.object({
  source: z.string().meta({ example: 'usgs' }),
  title: z.string(),
  attribution: z.string(),
  status: z.enum(['ok', 'stale', 'down']).meta({
    description: 'How the source is: `ok` in `zone.sighted`; otherwise as in GET /sources/health.',
  }),
  since: Instant.meta({ description: 'When the trouble began.' }),
  reason: z.string().meta({ description: 'What is wrong, or was wrong, with the source.' }),
})

const BlindData = z.object({
  source: BlindSource,
  zones: z.array(ZoneReference).meta({
    description: `The zones that watch this source and send their alerts to this channel, oldest first; at most ${MAX_NAMED_ZONES}.`,
  }),
  zones_total: z.int().min(1).meta({ description: 'How many zones there are in all.' }),
})

export const BlindMessage = z
  .object({
    type: z.literal('zone.blind'),
    timestamp: Instant.meta({ description: 'When it was decided to tell.' }),
    data: BlindData,
  })
  .meta({
    id: 'BlindMessage',
    description:
      'A source has been `stale` or `down` for longer than its limit, and no other source sees what it saw in these zones. Sent once to a channel.',
  })

export const SightedMessage = z
  .object({
    type: z.literal('zone.sighted'),
    timestamp: Instant.meta({ description: 'When it was decided to tell.' }),
    data: BlindData.extend({
      source: BlindSource.extend({
        until: Instant.meta({ description: 'When the source was well again.' }),
        blind_seconds: z
          .int()
          .meta({ description: 'How long the trouble lasted, from `since` to `until`.' }),
      }),
    }),
  })
  .meta({
    id: 'SightedMessage',
    description:
      'The source of a `zone.blind` is well again. Sent once to a channel that was told.',
  })

const TroubledChannel = z.object({
  id: z.uuid(),
  kind: z.string().meta({ example: 'webhook' }),
  label: z.string().nullable(),
  status: z.enum(['ok', 'failing', 'disabled']).meta({
    description:
      'How the channel is: `failing` for 15 minutes without a success, or `disabled` by its receiver; `ok` in `channel.recovered`.',
  }),
  since: Instant.meta({ description: 'When the trouble began.' }),
  reason: z.string().meta({ description: 'The last error.' }),
})

export const FailingMessage = z
  .object({
    type: z.literal('channel.failing'),
    timestamp: Instant.meta({ description: 'When it was decided to tell.' }),
    data: z.object({ channel: TroubledChannel }),
  })
  .meta({
    id: 'FailingMessage',
    description:
      'Nothing reaches another channel of the owner of this one. Sent once for each trouble, to one channel that works, never to the one it is about.',
  })

export const RecoveredMessage = z
  .object({
    type: z.literal('channel.recovered'),
    timestamp: Instant.meta({ description: 'When it was decided to tell.' }),
    data: z.object({
      channel: TroubledChannel.extend({
        until: Instant.meta({ description: 'When the channel was well again.' }),
        failing_seconds: z
          .int()
          .meta({ description: 'How long the trouble lasted, from `since` to `until`.' }),
      }),
    }),
  })
  .meta({
    id: 'RecoveredMessage',
    description:
      'The channel of a `channel.failing` has worked for 5 minutes. Sent once, to the channel that was told.',
  })

export const TestMessage = z
  .object({
    type: z.literal('channel.test'),
    timestamp: Instant,
    data: z.object({ alert: z.null(), zone: z.null() }),
  })
  .meta({ id: 'TestMessage', description: 'A test of the channel. It is not about an event.' })
