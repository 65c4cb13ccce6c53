/** The checks of a decision, each with the numbers it is based on. */
import { z } from 'zod'
import { containsPoint, type PreparedZone, touchesGeometry } from '../geometry/geometry.ts'
import {
  EVENT_STATUSES,
  EventType,
  type NormalisedEvent,
  PositionFlag,
  Severity,
} from '../schemas/event.ts'
import type { ZoneFields } from '../schemas/zone.ts'
import { Instant } from '../time.ts'
import { AftershockCheck } from './aftershock.ts'
import { BurstCheck } from './burst.ts'
import { latenessOf } from './lateness.ts'
import { Link } from './link.ts'
import { AlertOutcome, type StayStep } from './match-memory.ts'
import { type QuietHours, quietWindowAt } from './quiet-hours.ts'

/** The fields of a zone that a decision depends on. */
export type ZoneRule = Omit<
  ZoneFields,
  'label' | 'color' | 'icon' | 'org_id' | 'channel_ids' | 'escalation' | 'external_id'
>

/** The fields of an event revision that a decision depends on. */
export type DecidableEvent = Required<
  Pick<
    NormalisedEvent,
    | 'id'
    | 'source'
    | 'type'
    | 'title'
    | 'lat'
    | 'lon'
    | 'ts'
    | 'severity'
    | 'subject'
    | 'status'
    | 'geometry'
    | 'magnitude'
    | 'depth_km'
    | 'ends_at'
  >
> & {
  /** Of a position: nothing was heard of the subject for long before it, or nothing moves that fast from the one before. */
  flag: PositionFlag | null
  /** When the event was first seen here: its first revision, not this one. */
  known_since: string
}

const check = <N extends string>(name: N) => ({ name: z.literal(name), passed: z.boolean() })

/** Why a zone is off: what its owner did to it, or the state of its owner's account. */
export const OffReason = z.enum(['deleted', 'disabled', 'paused_by_plan', 'owner_banned'])
export type OffReason = z.infer<typeof OffReason>

const EnabledCheck = z
  .object({
    ...check('enabled'),
    enabled: z.boolean().meta({ description: 'The field of the zone.' }),
    reason: OffReason.nullable().meta({
      description: 'Why the zone was off: `enabled` is false, or it was deleted or paused.',
    }),
  })
  .meta({ id: 'EnabledCheck' })

const FilterCheck = z
  .object({
    ...check('filter'),
    source: z.string(),
    sources: z.array(z.string()).nullable(),
    type: EventType,
    types: z.array(EventType).nullable(),
    status: z.enum(EVENT_STATUSES),
    visible: z.boolean().meta({
      description:
        'Whether everybody who reads the zone may see the event. A private event raises no alert in a shared zone.',
    }),
    late: z.boolean().meta({
      description:
        'Whether the event was first seen later than its type and severity are news. A late event raises an alert only ' +
        'while it lasts: when its `ends_at` has not passed.',
    }),
    delay_hours: z.number().meta({ description: 'How long after its time it was first seen.' }),
    news_for_hours: z.number().nullable().meta({
      description: 'For how long such an event is news; null for a position.',
    }),
    ends_at: Instant.nullable(),
    flag: PositionFlag.nullable().meta({
      description:
        'A position after a `jump` does not count; the next one tells where the subject is.',
    }),
  })
  .meta({
    id: 'FilterCheck',
    description:
      'What the zone hears of: its sources and types, and events that are still news. An ended or retracted event never raises an alert.',
  })

const GeometryCheck = z
  .object({
    ...check('geometry'),
    shape_type: z.enum(['circle', 'polygon']),
    match: z.enum(['point', 'footprint']),
    inside: z
      .boolean()
      .meta({ description: 'Whether the event’s point is inside, edges included.' }),
    footprint_touches: z.boolean().nullable().meta({
      description:
        'Whether the event’s geometry touches the zone; null when the point or `match` already decides.',
    }),
    distance_km: z.number().nullable().meta({ description: 'Distance to the centre of a circle.' }),
    radius_km: z.number().nullable(),
  })
  .meta({ id: 'GeometryCheck' })

const SeverityCheck = z
  .object({
    ...check('severity'),
    severity: Severity,
    multiplier: z.number(),
    effective: z.number().meta({ description: 'min(severity × multiplier, 100), unrounded.' }),
    min_severity: z.number(),
  })
  .meta({ id: 'SeverityCheck' })

const DuplicateCheck = z
  .object({
    ...check('duplicate'),
    alert: AlertOutcome.nullable().meta({
      description: 'The state of the existing alert, if any.',
    }),
    peak: z.number().nullable().meta({ description: 'The highest effective severity so far.' }),
    escalates: z.boolean().meta({
      description:
        'Whether it reaches a higher band than before, or emergency_severity for the first time.',
    }),
    late: z.boolean().meta({
      description: 'Whether the position is not newer than the last one of this subject.',
    }),
    linked_event_id: z.string().nullable().meta({
      description:
        'The event of the existing alert, when another source reports the same thing; otherwise null.',
    }),
    link: Link.nullable().meta({
      description: 'Why they are taken to be the same, where this decision links them.',
    }),
  })
  .meta({ id: 'DuplicateCheck' })

const DwellCheck = z
  .object({
    ...check('dwell'),
    not_applicable: z.boolean().meta({ description: 'True when the subject does not move.' }),
    dwell_minutes: z.number(),
    stayed_minutes: z.number().nullable(),
    began_at: Instant.nullable(),
  })
  .meta({ id: 'DwellCheck' })

const SnoozeCheck = z
  .object({ ...check('snooze'), snoozed_until: Instant.nullable() })
  .meta({ id: 'SnoozeCheck' })

const QuietHoursCheck = z
  .object({
    ...check('quiet_hours'),
    window_start: Instant.nullable(),
    window_end: Instant.nullable(),
    quiet_mode: z.enum(['hold', 'drop']),
    emergency_severity: z.number().nullable(),
    overridden_by_emergency: z.boolean(),
  })
  .meta({ id: 'QuietHoursCheck' })

export const Check = z
  .discriminatedUnion('name', [
    EnabledCheck,
    FilterCheck,
    GeometryCheck,
    SeverityCheck,
    DuplicateCheck,
    DwellCheck,
    SnoozeCheck,
    QuietHoursCheck,
    AftershockCheck,
    BurstCheck,
  ])
  .meta({ id: 'Check', description: 'A check of a decision, with its numbers.' })
export type Check = z.infer<typeof Check>
export type CheckName = Check['name']
export type CheckOf<N extends CheckName> = Extract<Check, { name: N }>

/**
 * The names of the checks that every decision makes, in this order. A zone that excludes aftershocks has `aftershock`
 * after `severity`, and one with a limit an hour has `burst` at the end.
 */
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

/**
 * min(severity × multiplier, 100). It is rounded to 9 decimals only to remove floating-point noise, so that 100 × 0.57
 * reaches 57.
 */
export function effectiveSeverity(severity: number, multiplier: number): number {
  return Math.min(Math.round(severity * multiplier * 1e9) / 1e9, 100)
}

/** `off`: why the zone is off although `enabled` may be true. */
export function checkEnabled({ enabled }: ZoneRule, off: OffReason | null): CheckOf<'enabled'> {
  const reason = off ?? (enabled ? null : 'disabled')
  return { name: 'enabled', passed: reason === null, enabled, reason }
}

export function checkFilter(
  rule: ZoneRule,
  event: DecidableEvent,
  at: Date,
  visible = true,
): CheckOf<'filter'> {
  const { sources, types } = rule
  const { source, type, status, ends_at, flag } = event
  const lateness = latenessOf(event)
  const lasts = ends_at !== null && Date.parse(ends_at) > at.getTime()
  const passed =
    (sources === null || sources.includes(source)) &&
    (types === null || types.includes(type)) &&
    status === 'active' &&
    visible &&
    (!lateness.late || lasts) &&
    flag !== 'jump'
  const facts = { source, sources, type, types, status, visible, ...lateness, ends_at, flag }
  return { name: 'filter', passed, ...facts }
}

export function checkGeometry(
  prepared: PreparedZone<ZoneRule>,
  event: DecidableEvent,
): CheckOf<'geometry'> {
  const { shape_type, match } = prepared.zone
  const { inside, distance_km } = containsPoint(prepared, event.lat, event.lon)
  const footprint_touches =
    !inside && match === 'footprint' && event.geometry
      ? touchesGeometry(prepared, event.geometry)
      : null
  return {
    name: 'geometry',
    passed: inside || footprint_touches === true,
    shape_type,
    match,
    inside,
    footprint_touches,
    distance_km,
    radius_km: prepared.circle?.radius_km ?? null,
  }
}

export function checkSeverity(rule: ZoneRule, event: DecidableEvent): CheckOf<'severity'> {
  const effective = effectiveSeverity(event.severity, rule.severity_multiplier)
  return {
    name: 'severity',
    passed: effective >= rule.min_severity,
    severity: event.severity,
    multiplier: rule.severity_multiplier,
    effective,
    min_severity: rule.min_severity,
  }
}

/**
 * The dwell check. It is tested on positions inside, in event time; a lack of positions never completes a dwell. `step`
 * is the stay at this position, null when the position is outside, undefined when the subject does not move.
 */
export function checkDwell(
  { dwell_minutes }: ZoneRule,
  event: DecidableEvent,
  step: StayStep | null | undefined,
): CheckOf<'dwell'> {
  if (step === undefined) {
    const none = { stayed_minutes: null, began_at: null }
    return { name: 'dwell', passed: true, not_applicable: true, dwell_minutes, ...none }
  }
  const began_at = step && !step.late ? (step.stay?.began_at ?? null) : null
  const stayed_minutes = began_at ? (Date.parse(event.ts) - Date.parse(began_at)) / 60_000 : null
  const passed = (stayed_minutes ?? 0) >= dwell_minutes
  return { name: 'dwell', passed, not_applicable: false, dwell_minutes, stayed_minutes, began_at }
}

export function checkSnooze(
  { snoozed_until }: Pick<ZoneRule, 'snoozed_until'>,
  at: Date,
): CheckOf<'snooze'> {
  const passed = snoozed_until === null || at.getTime() >= Date.parse(snoozed_until)
  return { name: 'snooze', passed, snoozed_until }
}

export function checkQuietHours(
  rule: QuietHours & Pick<ZoneRule, 'quiet_mode' | 'emergency_severity'>,
  at: Date,
  effective: number,
): CheckOf<'quiet_hours'> {
  const { quiet_mode, emergency_severity } = rule
  const window = quietWindowAt(rule, at)
  const isEmergency = emergency_severity !== null && effective >= emergency_severity
  return {
    name: 'quiet_hours',
    passed: window === null || isEmergency,
    window_start: window?.start.toISOString() ?? null,
    window_end: window?.end.toISOString() ?? null,
    quiet_mode,
    emergency_severity,
    overridden_by_emergency: window !== null && isEmergency,
  }
}
