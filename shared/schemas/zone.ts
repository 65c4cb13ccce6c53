/** The schema of a watch zone, its defaults, and the rules across its fields. */
import { z } from 'zod'
import { Aftershocks, GivenAftershocks } from '../decide/aftershock.ts'
import { Escalation, escalationIssues } from '../decide/escalation.ts'
import { ClockTime, QuietWindows, quietIssues } from '../decide/quiet-hours.ts'
import { GivenPolygon, ZonePolygon } from '../geometry/polygon.ts'
import { runToEnd } from '../geometry/steps.ts'
import { Instant, NullableInstant } from '../time.ts'
import { EventType, SOURCE } from './event.ts'
import { readOnly } from './read-only.ts'
import { checkShapeInSteps, checkSwappedCoordinates, type Issue } from './zone-shape.ts'

const TRACKED_TYPES: readonly string[] = ['vessel', 'aircraft']

const Threshold = z.number().min(0).max(100)

/** A text on one line that shows something. */
const Line = z
  .string()
  .min(1)
  .regex(/^[^\p{Cc}]*$/u, 'Must not contain control characters')
  .regex(/\S/u, 'Must not be blank')
  .refine((text) => text.isWellFormed(), 'Must be valid Unicode')
const LINE = '^[^\\p{Cc}]*[^\\p{Cc}\\s][^\\p{Cc}]*$'

/** The name of a zone in a list of its owner's. */
export const ExternalId = Line.max(200).meta({ pattern: LINE, example: 'store-0412' })

/** Every field that a caller can set, as stored: no field is missing, and null means none. */
export const ZoneFields = z.object({
  label: Line.max(120).meta({
    description: 'The display name: 1–120 characters, not blank.',
    pattern: LINE,
    example: 'Bosphorus',
  }),
  lat: z.number().min(-90).max(90).meta({
    description: 'Latitude in degrees of the centre; for a polygon only the position of its label.',
    example: 41.05,
  }),
  lon: z.number().min(-180).max(180).meta({
    description:
      'Longitude in degrees of the centre; for a polygon only the position of its label.',
    example: 29.03,
  }),
  radius_km: z
    .number()
    .min(0.1)
    .max(5000)
    .meta({ description: 'Radius of a circle in kilometres. Default 50.', example: 50 }),
  shape_type: z.enum(['circle', 'polygon']).meta({
    description: 'Default `polygon` when a polygon is given, else `circle`.',
    example: 'circle',
  }),
  // Lazy, because the OpenAPI generator forgets the null of a named union otherwise.
  polygon: z.lazy(() => ZonePolygon).nullable(),
  match: z.enum(['point', 'footprint']).meta({
    description:
      '`point`: the event’s point is inside; `footprint`: also when its geometry touches the zone. Default `footprint`.',
    example: 'footprint',
  }),
  min_severity: Threshold.meta({
    description:
      'An event counts when severity × severity_multiplier (unrounded, at most 100) reaches this. ' +
      'Default 40; 0 when `types` names only vessel or aircraft.',
    example: 40,
  }),
  severity_multiplier: z
    .number()
    .min(0.1)
    .max(5)
    .meta({ description: 'Multiplies every event’s severity. Default 1.', example: 1 }),
  dwell_minutes: z.number().min(0).max(10_080).meta({
    description:
      'How long a moving subject (`mmsi:`, `icao24:`) must stay inside before it alerts. Default 0. Does not apply to other events.',
    example: 0,
  }),
  quiet_hours_start: ClockTime.nullable().meta({
    description:
      'HH:MM. Send both times or neither; the window may cross midnight, and start = end means off.',
    example: '22:00',
  }),
  quiet_hours_end: ClockTime.nullable().meta({
    description: 'HH:MM: the first minute that is not quiet any more.',
    example: '07:00',
  }),
  quiet_hours_tz: z.string().min(1).max(64).meta({
    description: 'IANA time zone of the quiet hours. Default `UTC`.',
    example: 'Europe/Istanbul',
  }),
  quiet_windows: QuietWindows.nullable().meta({
    description:
      'Instead of quiet_hours_start and quiet_hours_end: up to 8 windows, e.g. for weekdays and weekends apart. ' +
      'Windows that overlap or follow each other count as one.',
    example: null,
  }),
  quiet_mode: z.enum(['hold', 'drop']).meta({
    description:
      '`hold`: alerts are recorded and sent as one digest when the window ends; `drop`: they are recorded as suppressed. Default `hold`.',
    example: 'hold',
  }),
  emergency_severity: Threshold.nullable().meta({
    description:
      'An effective severity at or above this is sent during quiet hours, as an aftershock, and beyond max_alerts_per_hour. ' +
      'It does not bypass snooze, dwell or the threshold.',
    example: 90,
  }),
  // Lazy, because the OpenAPI generator forgets the null of a named object otherwise.
  aftershocks: z.lazy(() => Aftershocks).nullable(),
  max_alerts_per_hour: z
    .int()
    .min(1)
    .max(1000)
    .nullable()
    .meta({
      description:
        'The most alerts that are sent at once in any hour: 1–1000. Further ones are held until the hour allows more, and ' +
        'sent as one digest per channel. Null, the default: no limit.',
      example: null,
    }),
  escalation: Escalation.nullable().meta({
    description:
      'Up to 5 steps: if nobody has acknowledged an alert after so many minutes, its message `alert.raised` is also sent to ' +
      'the channels of the step, with `data.unacknowledged`. Not to be confused with `alert.escalated`, which says that the ' +
      'event became worse. Steps count from when the alert was sent, and anew from when it escalated; they stop when it is ' +
      'acknowledged, resolved, ended or retracted, and when the zone is snoozed, disabled, deleted or paused. In quiet ' +
      'hours they wait or are dropped like other messages. A change of the zone applies to the steps that wait, but adds ' +
      'none to alerts that were sent. Null, the default: no steps.',
    example: null,
  }),
  color: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'Must be a colour of the form #rrggbb')
    .toLowerCase()
    .nullable()
    .meta({ example: '#d9480f' }),
  icon: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/, 'Must be 1–32 characters from a–z, 0–9 and -')
    .nullable()
    .meta({ example: 'anchor' }),
  org_id: z.uuid().nullable().meta({
    description: 'Shares the zone with an organisation the caller belongs to.',
    example: null,
  }),
  channel_ids: z.array(z.uuid()).max(100).nullable().meta({
    description:
      'The channels for its alerts. `[]`: none; null: every enabled channel of the owner and of the organisation.',
    example: null,
  }),
  sources: z
    .array(z.string().regex(SOURCE, 'Must be the name of a source').max(64))
    .min(1)
    .max(100)
    .nullable()
    .meta({
      description:
        'Only events of these sources, or of one’s own as `custom:<name>`; null means all.',
      example: ['usgs'],
    }),
  types: z
    .array(EventType)
    .min(1)
    .max(100)
    .nullable()
    .meta({
      description: 'Only events of these types; null means all.',
      example: ['earthquake'],
    }),
  snoozed_until: Instant.nullable().meta({
    description: 'No alerts are sent before this time.',
    example: null,
  }),
  enabled: z.boolean().meta({ description: 'Default true.', example: true }),
  external_id: ExternalId.nullable().meta({
    description:
      'Your name for the zone, by which `POST /zones/bulk` finds it again: 1–200 characters. Unique among your private ' +
      'zones, and among the zones of an organisation; null, the default: none.',
    example: 'store-0412',
  }),
})
export type ZoneFields = z.infer<typeof ZoneFields>

const Settable = z.strictObject({
  ...ZoneFields.partial().shape,
  polygon: z
    .lazy(() => GivenPolygon)
    .nullable()
    .optional()
    .meta({ description: 'Makes the zone a polygon.' }),
  aftershocks: z
    .lazy(() => GivenAftershocks)
    .nullable()
    .optional()
    .meta({ description: 'Null, the default: aftershocks raise alerts like other earthquakes.' }),
  snoozed_until: NullableInstant.optional().meta({
    description: 'No alerts are sent before this time.',
    example: '2026-03-02T06:00:00.000Z',
  }),
})

/** Body of a create; what is absent gets its default from {@link zoneDefaults}. */
export const ZoneCreate = Settable.required({ label: true, lat: true, lon: true }).meta({
  id: 'ZoneCreate',
  description: 'A new zone. Absent fields get their defaults.',
})
export type ZoneCreate = z.infer<typeof ZoneCreate>

/** A zone in the form of the API. */
export const Zone = ZoneFields.extend({
  id: z.uuid(),
  owner_id: z.uuid(),
  version: z.int().min(1).meta({ description: 'Increases by one with every change.', example: 1 }),
  created_at: Instant,
  updated_at: Instant,
  coverage: z
    .array(z.object({ source: z.string(), status: z.enum(['ok', 'stale', 'down', 'disabled']) }))
    .meta({
      description: 'The sources that this zone watches, and their health.',
      example: [{ source: 'usgs', status: 'ok' }],
    }),
}).meta({ id: 'Zone', description: 'A watch zone.' })
export type Zone = z.infer<typeof Zone>

/** What only the service sets in a zone. */
export const ZONE_READ_ONLY = ['id', 'owner_id', 'version', 'created_at', 'updated_at'] as const

/** Body of an update: an absent field is unchanged, and null clears a nullable field. */
export const ZonePatch = Settable.extend({
  ...readOnly(ZONE_READ_ONLY),
  coverage: Zone.shape.coverage.optional().meta({
    readOnly: true,
    description: 'Ignored: the health of the sources changes all the time.',
  }),
}).meta({
  id: 'ZonePatch',
  description:
    'An absent field is unchanged; null clears a field. The zone can be sent back as it was read, with changes.',
})
export type ZonePatch = z.infer<typeof ZonePatch>

/** Whether a zone watches only vessels and aircraft. */
export function tracksOnly({ types }: Pick<ZoneCreate, 'types'>): boolean {
  return types?.every((type) => TRACKED_TYPES.includes(type)) ?? false
}

/** Fills the fields that a create leaves out. Not for updates. */
export function zoneDefaults(input: ZoneCreate): ZoneFields {
  const defaults = {
    radius_km: 50,
    shape_type: input.polygon ? 'polygon' : 'circle',
    polygon: null,
    match: 'footprint',
    min_severity: tracksOnly(input) ? 0 : 40,
    severity_multiplier: 1,
    dwell_minutes: 0,
    quiet_hours_start: null,
    quiet_hours_end: null,
    quiet_hours_tz: 'UTC',
    quiet_windows: null,
    quiet_mode: 'hold',
    emergency_severity: null,
    aftershocks: null,
    max_alerts_per_hour: null,
    escalation: null,
    color: null,
    icon: null,
    org_id: null,
    channel_ids: null,
    sources: null,
    types: null,
    snoozed_until: null,
    enabled: true,
    external_id: null,
  } as const
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  // safe: defaults and input together name every field, and both are typed.
  return { ...defaults, ...Object.fromEntries(given) } as ZoneFields
}

/** Checks a complete zone, after defaults or merging: the rules across fields and its polygon. Returns the issues. */
export function checkZone(fields: ZoneFields): Issue[] {
  const issues = checkFields(fields)
  if (!fields.polygon) return issues
  const inShape = runToEnd(checkShapeInSteps(fields.polygon))
  return [
    ...issues,
    ...(inShape.length > 0 ? inShape : checkSwappedCoordinates(fields.polygon, fields)),
  ]
}

/** The part of `checkZone` that does not concern the polygon. */
export function checkFields(fields: ZoneFields): Issue[] {
  const issues: Issue[] = [...quietIssues(fields), ...escalationIssues(fields)]
  if (fields.shape_type === 'circle' && fields.polygon !== null) {
    issues.push({
      path: 'shape_type',
      code: 'contradiction',
      message: 'A zone with a polygon is not a circle. Leave out shape_type, or send polygon null.',
    })
  }
  if (fields.shape_type === 'polygon' && fields.polygon === null) {
    issues.push({
      path: 'polygon',
      code: 'required',
      message: 'A polygon zone needs a polygon. Send one, or shape_type "circle".',
    })
  }
  return issues
}
