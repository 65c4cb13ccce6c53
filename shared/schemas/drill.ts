/** Fire drills: a made-up event that goes the whole way of a real one, and what became of it. */
import { z } from 'zod'
import { StepStop } from '../decide/alert-step.ts'
import { Check, effectiveSeverity } from '../decide/checks.ts'
import { containsPoint, prepareZone } from '../geometry/geometry.ts'
import { Instant } from '../time.ts'
import { EventType, Severity, SOURCE } from './event.ts'
import type { ZoneFields } from './zone.ts'

/** The source of the event that is told, whichever source it pretends to be of: nobody else reported it. */
export const DRILL_SOURCE = 'drill'

const Latitude = z.number().min(-90).max(90)
const Longitude = z.number().min(-180).max(180)

export const DrillRequest = z
  .strictObject({
    type: EventType.optional().meta({
      description: 'Default: the first of the zone’s `types`, or `earthquake`.',
    }),
    source: z.string().max(64).regex(SOURCE).optional().meta({
      description:
        'The source that the zone is to take it for, which its filter tests. Default: the first of the zone’s `sources`.',
    }),
    severity: Severity.optional().meta({
      description:
        'Default: the least that reaches `min_severity` with the zone’s `severity_multiplier`.',
    }),
    lat: Latitude.optional().meta({
      description:
        'With `lon`: where. Default: the centre of a circle; of a polygon its label, or a corner if that lies outside.',
    }),
    lon: Longitude.optional(),
    ignore_quiet_hours: z.boolean().default(false).meta({
      description:
        'Send it in quiet hours, too. Otherwise a drill in quiet hours sends nothing and says until when an alert would be held.',
    }),
    escalate: z.boolean().default(false).meta({
      description:
        'Run the steps of the zone’s `escalation` if nobody acknowledges the drill. Otherwise the answer only says when each would be due.',
    }),
  })
  .refine(({ lat, lon }) => (lat === undefined) === (lon === undefined), {
    path: ['lon'],
    message: 'Send lat and lon, or neither.',
  })
  .meta({ id: 'DrillRequest' })
export type DrillRequest = z.infer<typeof DrillRequest>

/** What a drill pretends. */
const DrillEvent = z.object({
  type: EventType,
  source: z.string(),
  severity: Severity,
  lat: Latitude,
  lon: Longitude,
})
export type DrillEvent = z.infer<typeof DrillEvent>

const DrillAttempt = z.object({
  at: Instant,
  outcome: z.enum(['ok', 'retry', 'fail_permanent', 'disable_channel']),
  status_code: z.int().nullable(),
  duration_ms: z.int(),
  error: z.string().nullable(),
})

const DrillChannel = z.object({
  channel_id: z.uuid(),
  channel: z.string().meta({ description: 'The label of the channel, or else its kind.' }),
  kind: z.string(),
  delivery_id: z.uuid().nullable().meta({
    description: 'Also the webhook-id of the message; null when none was made for this channel.',
  }),
  type: z
    .string()
    .nullable()
    .meta({
      description:
        'The type of the message: `alert.raised`; what a person has done with it, such as `alert.acknowledged`; or ' +
        '`alert.resolved` where the end of the drill closed an incident.',
    }),
  step: z.int().nullable().meta({
    description: 'The step of the escalation that told it; null for the first message.',
  }),
  outcome: z.enum(['waiting', 'succeeded', 'failed', 'held', 'skipped']).meta({
    description:
      '`waiting`: it is to be sent, or sent again. `held`: a real alert would wait until `held_until`. `skipped`: it gets nothing.',
  }),
  reason: z.string().nullable().meta({
    description:
      'Why it failed, is held or was skipped; while it waits after an attempt, the error of that.',
  }),
  next_attempt_at: Instant.nullable(),
  delivered_at: Instant.nullable(),
  attempts: z.array(DrillAttempt).meta({ description: 'Kept for 30 days.' }),
})

const DrillStep = z.object({
  step: z.int(),
  after_minutes: z.int(),
  channel_ids: z.array(z.uuid()),
  due_at: Instant.nullable().meta({
    description: 'When it is or would be due; null when nothing was sent.',
  }),
  status: z.enum(['not_run', 'waiting', 'ran', 'stopped']).meta({
    description: '`not_run`: `escalate` is false, or nothing was sent. Else as in the explanation.',
  }),
  reason: StepStop.nullable(),
})

export const Drill = z
  .object({
    id: z.uuid(),
    zone_id: z.uuid(),
    created_at: Instant,
    event: DrillEvent.meta({ description: 'The event that it pretends.' }),
    ignore_quiet_hours: z.boolean(),
    escalate: z.boolean(),
    status: z.enum(['waiting', 'stopped', 'held', 'no_channel', 'sending', 'done']).meta({
      description:
        '`waiting`: no job process has taken it up yet, so that no real event would be matched either. `stopped`: a check ' +
        'failed, and nothing is sent. `held`: a real alert would be held. `no_channel`: it would be sent, but reaches no ' +
        'channel. `sending`: some channel is still to be told. `done`: each has been told, or it failed.',
    }),
    decided_at: Instant.nullable(),
    zone_version: z.int().nullable(),
    raised: z.boolean().nullable().meta({
      description: 'Whether a real event like this would have raised an alert at once.',
    }),
    reason: z.string().nullable(),
    held_until: Instant.nullable(),
    checks: z.array(Check).meta({ description: 'All checks with their numbers, as in explain.' }),
    channels: z.array(DrillChannel).meta({
      description: 'What became of it at each channel of the zone that the caller sees.',
    }),
    hidden_channels: z.int().meta({
      description: 'How many more entries there are for channels that the caller does not see.',
    }),
    escalation: z.array(DrillStep),
    seen_at: Instant.nullable().meta({
      description: 'When somebody opened the link in a message and said that they had seen it.',
    }),
  })
  .meta({ id: 'Drill' })
export type Drill = z.infer<typeof Drill>

/** Whether something may still change without anybody doing anything. */
export const isUnderWay = ({ status }: Pick<Drill, 'status'>): boolean =>
  status === 'waiting' || status === 'sending'

/** The event that a drill pretends: what was asked for, else what just raises an alert in the zone. */
export function pretend(zone: ZoneFields, asked: DrillRequest): DrillEvent {
  const { type = zone.types?.[0] ?? 'earthquake', source = zone.sources?.[0] ?? DRILL_SOURCE } =
    asked
  const { severity = leastSeverity(zone) } = asked
  const { lat, lon } = asked.lat === undefined ? placeIn(zone) : asked
  return { type, source, severity, lat: lat ?? zone.lat, lon: lon ?? zone.lon }
}

function leastSeverity({ min_severity, severity_multiplier }: ZoneFields): number {
  for (let severity = 0; severity < 100; severity++) {
    if (effectiveSeverity(severity, severity_multiplier) >= min_severity) return severity
  }
  return 100
}

/** A place inside: the points on an edge of a polygon are. */
function placeIn(zone: ZoneFields): { lat: number; lon: number } {
  const { lat, lon, polygon } = zone
  if (!polygon || zone.shape_type === 'circle') return { lat, lon }
  if (containsPoint(prepareZone(zone), lat, lon).inside) return { lat, lon }
  const rings = polygon.type === 'Polygon' ? polygon.coordinates : polygon.coordinates[0]
  const [x = lon, y = lat] = rings?.[0]?.[0] ?? []
  return { lat: y, lon: ((((x + 180) % 360) + 360) % 360) - 180 }
}
