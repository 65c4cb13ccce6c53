/** The eight checks of a decision, with the numbers each was decided on. */
import { z } from 'zod'
import { EVENT_STATUSES, EventType, Instant, Severity } from './event.ts'
import { Told } from './memory.ts'

const check = <N extends string>(name: N) => ({ name: z.literal(name), passed: z.boolean() })

export const EnabledCheck = z.object({ ...check('enabled'), enabled: z.boolean() })

export const FilterCheck = z
  .object({
    ...check('filter'),
    source: z.string(),
    sources: z.array(z.string()).nullable(),
    type: EventType,
    types: z.array(EventType).nullable(),
    status: z.enum(EVENT_STATUSES),
  })
  .meta({ description: 'The zone’s sources and types; an ended or retracted event never raises.' })

export const GeometryCheck = z.object({
  ...check('geometry'),
  shape_type: z.enum(['circle', 'polygon']),
  match: z.enum(['point', 'footprint']),
  inside: z.boolean().meta({ description: 'Whether the event’s point is inside, edges included.' }),
  footprint_touches: z.boolean().nullable().meta({
    description:
      'Whether its geometry touches the zone; null when the point or `match` settled it.',
  }),
  distance_km: z.number().nullable().meta({ description: 'To the centre of a circle.' }),
  radius_km: z.number().nullable(),
})

export const SeverityCheck = z.object({
  ...check('severity'),
  severity: Severity,
  multiplier: z.number(),
  effective: z.number().meta({ description: 'min(severity × multiplier, 100), unrounded.' }),
  min_severity: z.number(),
})

export const DuplicateCheck = z.object({
  ...check('duplicate'),
  alert: Told.nullable().meta({ description: 'The alert that exists already, if any.' }),
  peak: z.number().nullable().meta({ description: 'The highest effective severity before.' }),
  escalates: z.boolean().meta({
    description: 'A higher band than ever before, or the first time at emergency_severity.',
  }),
  late: z.boolean().meta({ description: 'A moving subject’s position not newer than its last.' }),
})

export const DwellCheck = z.object({
  ...check('dwell'),
  not_applicable: z.boolean().meta({ description: 'The subject does not move.' }),
  dwell_minutes: z.number(),
  stayed_minutes: z.number().nullable(),
  began_at: Instant.nullable(),
})

export const SnoozeCheck = z.object({ ...check('snooze'), snoozed_until: Instant.nullable() })

export const QuietHoursCheck = z.object({
  ...check('quiet_hours'),
  window_start: Instant.nullable(),
  window_end: Instant.nullable(),
  quiet_mode: z.enum(['hold', 'drop']),
  emergency_severity: z.number().nullable(),
  overridden_by_emergency: z.boolean(),
})

export const Check = z.discriminatedUnion('name', [
  EnabledCheck,
  FilterCheck,
  GeometryCheck,
  SeverityCheck,
  DuplicateCheck,
  DwellCheck,
  SnoozeCheck,
  QuietHoursCheck,
])
export type Check = z.infer<typeof Check>
export type CheckName = Check['name']
export type CheckOf<N extends CheckName> = Extract<Check, { name: N }>

/** In the order in which they are made and listed. */
export const CHECK_NAMES = [
  'enabled',
  'filter',
  'geometry',
  'severity',
  'duplicate',
  'dwell',
  'snooze',
  'quiet_hours',
] as const satisfies readonly CheckName[]

export const BANDS = ['minor', 'low', 'moderate', 'severe', 'extreme'] as const
export type Band = (typeof BANDS)[number]

/** `bandOf` names a severity's band: 0–19 minor, 20–39 low, 40–59 moderate, 60–79 severe, 80–100 extreme. */
export function bandOf(severity: number): Band {
  return BANDS[Math.min(Math.max(Math.floor(severity / 20), 0), BANDS.length - 1)] ?? 'minor'
}

/**
 * `effectiveSeverity` is min(severity × multiplier, 100), unrounded: only the noise of binary fractions is taken off,
 * so that 100 × 0.57 reaches 57.
 */
export function effectiveSeverity(severity: number, multiplier: number): number {
  return Math.min(Math.round(severity * multiplier * 1e9) / 1e9, 100)
}
