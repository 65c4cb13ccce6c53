/**
 * The decision whether a revision of an event raises an alert in a zone. A pure function: live matching, preview and
 * explain all use it.
 */
import {
  BANDS,
  bandOf,
  type Check,
  type CheckName,
  checkDwell,
  checkEnabled,
  checkFilter,
  checkGeometry,
  checkQuietHours,
  checkSeverity,
  checkSnooze,
  type DecidableEvent,
  effectiveSeverity,
  type OffReason,
  type ZoneRule,
} from './checks.ts'
import { isMoving } from './event.ts'
import {
  distance_km,
  distanceOutside_m,
  type PreparedZone,
  prepareZone,
} from './geometry/geometry.ts'
import {
  type AlertOutcome,
  advanceStay,
  type EventMemory,
  Memory,
  type StayMemory,
  type StayStep,
} from './match-memory.ts'
import { quietWindowAt } from './quiet-hours.ts'
import { decisionReason } from './reason.ts'

export { Memory }

/** How an existing alert changes. */
export type Update = 'revised' | 'escalated' | 'ended' | 'retracted'

export interface Decision {
  /**
   * `raised`: an alert is sent now; `held`: it is recorded and sent when quiet hours end; `suppressed`: it is recorded
   * and never sent (snooze, or quiet hours that drop); `none`: nothing is recorded.
   */
  outcome: AlertOutcome | 'none'
  raised: boolean
  /** The first check that failed. */
  failed_at: CheckName | null
  checks: Check[]
  effective_severity: number
  /** When a held alert or update is sent. */
  held_until: Date | null
  /** One sentence with the numbers. */
  reason: string
  /** How the existing alert changes. */
  update: Update | null
  /** Whether the update is sent. Snooze and quiet hours apply to it, and updates of unsent alerts are not sent. */
  update_delivery: 'now' | 'held' | 'suppressed' | null
  /** The memory for the next revision; the same object as given when it is unchanged. */
  memory: Memory | null
}

/** The existing alert; for a moving subject that of the current stay. */
type Alert = Pick<EventMemory, 'status' | 'peak' | 'held_until'>

/** The input of the checks. */
interface DecisionInput {
  prepared: PreparedZone<ZoneRule>
  rule: ZoneRule
  event: DecidableEvent
  at: Date
  off: OffReason | null
  visible: boolean
  effective: number
  /** Advances the stay by this position; null when the subject does not move. */
  step: ((inside: boolean) => StayStep) | null
  /** The existing alert of an event that does not move. */
  alert: Alert | null
}

export interface DecideOptions {
  /** The list of checks ends at the first one that failed. */
  brief?: boolean
  /** Why the zone is off although its `enabled` is true: it was deleted or paused. */
  off?: OffReason | null
  /** Whether everybody who reads the zone may see the event. */
  visible?: boolean
}

const RANK = { none: 0, suppressed: 1, held: 2, raised: 3 } as const
/** A change of place or time by this much is an update. */
const MOVED_KM = 1
const MOVED_MS = 60_000

/**
 * Decides a revision of an event, first seen `at`, for a zone. `memory` is the memory that the previous decision
 * returned for this zone and event (for a moving subject: this zone and subject); null at first.
 *
 * All eight checks are listed, unless `brief`. A zone that is off or does not hear of the event remembers nothing of it.
 * Pass a prepared zone when it is tested against many events. Throws for a polygon zone without a polygon and for an unknown time zone.
 */
export function decide(
  zone: ZoneRule | PreparedZone<ZoneRule>,
  event: DecidableEvent,
  memory: Memory | null,
  at: Date,
  { brief = false, off = null, visible = true }: DecideOptions = {},
): Decision {
  const prepared = 'stay_margin_m' in zone ? zone : prepareZone(zone)
  const rule = prepared.zone
  const stayBefore = memory?.kind === 'stay' ? memory : null
  const eventBefore = memory?.kind === 'event' ? memory : null
  const isFarOutside = () =>
    distanceOutside_m(prepared, event.lat, event.lon) > prepared.stay_margin_m
  const input: DecisionInput = {
    prepared,
    rule,
    event,
    at,
    off,
    visible,
    effective: effectiveSeverity(event.severity, rule.severity_multiplier),
    step: isMoving(event.subject)
      ? once((inside: boolean) => advanceStay(stayBefore, { ts: event.ts, inside }, isFarOutside))
      : null,
    alert: eventBefore && withExpiredHold(eventBefore, at),
  }
  const checks: Check[] = []
  let failed: Check | null = null
  for (const check of makeChecks(input)) {
    checks.push(check)
    if (check.passed) continue
    failed ??= check
    if (brief) break
  }
  const failed_at = failed?.name ?? null
  const outcome = outcomeOf(failed_at, rule)
  const news = input.step
    ? rememberStay(input, stayBefore, checks, outcome)
    : rememberEvent(input, eventBefore, checks, outcome)
  const delivery = news.update ? deliverUpdate(input, news.alert) : null
  return {
    outcome,
    raised: outcome === 'raised',
    failed_at,
    checks,
    effective_severity: input.effective,
    held_until: outcome === 'held' ? quietEnd(input) : (delivery?.held_until ?? null),
    reason: decisionReason(event, checks, failed),
    update: news.update,
    update_delivery: delivery?.when ?? null,
    memory: news.memory,
  }
}

/** The estimated cost of a decision, in the units of shared/geometry/steps.ts; most of it is the geometry check. */
export function decisionCost({ vertices }: PreparedZone, event: { geometry?: unknown }): number {
  const looks = event.geometry ? 2 : 1
  return 40 + (looks * vertices) / 4
}

/** Whether an event passes the geometry check. */
export function isInside(prepared: PreparedZone<ZoneRule>, event: DecidableEvent): boolean {
  return checkGeometry(prepared, event).passed
}

/** Makes the checks one at a time, so that a brief decision makes no more than it needs. */
function* makeChecks(input: DecisionInput): Generator<Check> {
  const { rule, event, at, prepared } = input
  const enabled = checkEnabled(rule, input.off)
  yield enabled
  const filter = checkFilter(rule, event, at, input.visible)
  yield filter
  const geometry = checkGeometry(prepared, event)
  yield geometry
  const severity = checkSeverity(rule, event)
  yield severity

  const watched = enabled.passed && filter.passed
  const step = watched ? (input.step?.(geometry.passed) ?? null) : null
  const alert = step ? alertOf(step.stay, at) : input.alert
  const dwell = checkDwell(rule, event, input.step ? (geometry.passed ? step : null) : undefined)
  const snooze = checkSnooze(rule, at)
  const quiet = once(() => checkQuietHours(rule, at, input.effective))
  const escalates =
    watched && geometry.passed && severity.passed && isEscalation(input, alert?.peak ?? null)
  yield {
    name: 'duplicate',
    passed:
      !step?.late &&
      (alert === null || (escalates && improvesAlert(input, alert, { dwell, snooze, quiet }))),
    alert: alert?.status ?? null,
    peak: alert?.peak ?? null,
    escalates,
    late: step?.late ?? false,
  }
  yield dwell
  yield snooze
  yield quiet()
}

function outcomeOf(failed_at: CheckName | null, rule: ZoneRule): Decision['outcome'] {
  if (failed_at === null) return 'raised'
  if (failed_at === 'snooze') return 'suppressed'
  if (failed_at === 'quiet_hours') return rule.quiet_mode === 'hold' ? 'held' : 'suppressed'
  return 'none'
}

/** Whether the severity reaches a higher band than before, or `emergency_severity` for the first time. */
function isEscalation({ rule, effective }: DecisionInput, peak: number | null): boolean {
  if (peak === null) return false
  if (BANDS.indexOf(bandOf(effective)) > BANDS.indexOf(bandOf(peak))) return true
  const { emergency_severity } = rule
  return emergency_severity !== null && effective >= emergency_severity && peak < emergency_severity
}

/** Whether an escalation would be delivered where the existing alert was held or suppressed. */
function improvesAlert(
  { rule }: DecisionInput,
  alert: Alert,
  later: { dwell: Check; snooze: Check; quiet: () => Check },
): boolean {
  const failing = !later.dwell.passed
    ? 'dwell'
    : !later.snooze.passed
      ? 'snooze'
      : !later.quiet().passed
        ? 'quiet_hours'
        : null
  return RANK[outcomeOf(failing, rule)] > RANK[alert.status]
}

/** The alert, as raised when it was held and its quiet window is over. */
function withExpiredHold(alert: Alert, at: Date): Alert {
  const { status, held_until } = alert
  const isOver = status === 'held' && held_until !== null && Date.parse(held_until) <= at.getTime()
  return isOver ? { ...alert, status: 'raised' } : alert
}

function alertOf(stay: StayMemory | null, at: Date): Alert | null {
  if (!stay?.alert) return null
  return withExpiredHold(
    { status: stay.alert, peak: stay.peak ?? 0, held_until: stay.held_until },
    at,
  )
}

interface AlertChange {
  update: Update | null
  alert: Alert | null
  memory: Memory | null
}

function rememberEvent(
  input: DecisionInput,
  memory: EventMemory | null,
  checks: Check[],
  outcome: Decision['outcome'],
): AlertChange {
  const { event, effective, alert } = input
  const { severity, title, lat, lon, ts, status } = event
  const last = { severity, title, lat, lon, ts, status }
  if (outcome !== 'none') {
    const peak = Math.max(effective, memory?.peak ?? 0)
    const next = {
      kind: 'event' as const,
      status: outcome,
      peak,
      held_until: heldUntil(input, outcome),
    }
    return { update: null, alert, memory: { ...next, last } }
  }
  const isOn = checkEnabled(input.rule, input.off).passed && input.visible
  if (!memory || !isOn) return { update: null, alert, memory }
  const counts = ['filter', 'geometry', 'severity'].every((name) =>
    checks.some((check) => check.name === name && check.passed),
  )
  const update = updateFor(event, memory, counts && isEscalation(input, memory.peak))
  const peak = counts ? Math.max(memory.peak, effective) : memory.peak
  if (!update && peak === memory.peak) return { update, alert, memory }
  return { update, alert, memory: { ...memory, peak, last: update ? last : memory.last } }
}

function updateFor(
  event: DecidableEvent,
  { last }: EventMemory,
  escalates: boolean,
): Update | null {
  if (event.status !== 'active') return event.status === last.status ? null : event.status
  if (escalates) return 'escalated'
  const isNews =
    last.status !== 'active' ||
    last.severity !== event.severity ||
    last.title !== event.title ||
    Math.abs(Date.parse(last.ts) - Date.parse(event.ts)) >= MOVED_MS ||
    distance_km(last, event) > MOVED_KM
  return isNews ? 'revised' : null
}

/** Of a stay only an escalation is an update, because there are thousands of positions. */
function rememberStay(
  input: DecisionInput,
  memory: StayMemory | null,
  checks: Check[],
  outcome: Decision['outcome'],
): AlertChange {
  const passed = (name: CheckName) => checks.some((check) => check.name === name && check.passed)
  const unchanged = { update: null, alert: null, memory }
  if (!input.step || !passed('enabled') || !passed('filter')) return unchanged
  const { stay, late } = input.step(passed('geometry'))
  if (late || !stay) return unchanged
  const alert = alertOf(stay, input.at)
  const counts = passed('geometry') && passed('severity')
  const peak = Math.max(input.effective, stay.peak ?? 0)
  if (outcome !== 'none') {
    const held_until = heldUntil(input, outcome)
    return { update: null, alert, memory: { ...stay, alert: outcome, peak, held_until } }
  }
  if (!alert || !counts) return { update: null, alert, memory: stay }
  const update = isEscalation(input, stay.peak) ? 'escalated' : null
  return { update, alert, memory: { ...stay, peak } }
}

const quietEnd = ({ rule, at }: DecisionInput) => quietWindowAt(rule, at)?.end ?? null

const heldUntil = (input: DecisionInput, outcome: Decision['outcome']) =>
  outcome === 'held' ? (quietEnd(input)?.toISOString() ?? null) : null

/** An update follows what happened to its alert; after that, snooze and quiet hours apply to it. */
function deliverUpdate(
  input: DecisionInput,
  alert: Alert | null,
): { when: 'now' | 'held' | 'suppressed'; held_until: Date | null } {
  const { rule, at } = input
  if (alert?.status === 'held' && alert.held_until) {
    return { when: 'held', held_until: new Date(alert.held_until) }
  }
  if (alert?.status === 'suppressed' || !checkSnooze(rule, at).passed) {
    return { when: 'suppressed', held_until: null }
  }
  if (checkQuietHours(rule, at, input.effective).passed) return { when: 'now', held_until: null }
  if (rule.quiet_mode === 'drop') return { when: 'suppressed', held_until: null }
  return { when: 'held', held_until: quietEnd(input) }
}

/** Calls a function at most once; later calls return the first result. */
function once<A extends unknown[], R>(make: (...args: A) => R): (...args: A) => R {
  let made: { value: R } | null = null
  return (...args) => {
    made ??= { value: make(...args) }
    return made.value
  }
}
