/**
 * The decision: does this revision of an event raise an alert in this zone? Pure; live matching, preview and explain
 * call this and nothing else.
 */
import {
  BANDS,
  bandOf,
  type Check,
  type CheckName,
  checkDwell,
  checkFilter,
  checkGeometry,
  checkQuietHours,
  checkSeverity,
  checkSnooze,
  type DecidableEvent,
  effectiveSeverity,
  type ZoneRule,
} from './checks.ts'
import { isMoving } from './event.ts'
import { distance_km, outsideBy_m, type PreparedZone, prepareZone } from './geometry/geometry.ts'
import {
  type EventMemory,
  Memory,
  type StayMemory,
  type Step,
  stepStay,
  type Told,
} from './memory.ts'
import { quietWindowAt } from './quiet-hours.ts'
import { reasonFor } from './reason.ts'

export { Memory }

/** What happens to an alert that exists already. */
export type Update = 'revised' | 'escalated' | 'ended' | 'retracted'

export interface Decision {
  /**
   * `raised`: an alert goes out now; `held`: recorded, waits for the end of quiet hours; `suppressed`: recorded, never
   * goes out (snooze, or quiet hours that drop); `none`: leaves no trace.
   */
  outcome: Told | 'none'
  raised: boolean
  /** The first check that failed. */
  failed_at: CheckName | null
  checks: Check[]
  effective_severity: number
  /** When what is held goes out, the alert or its update. */
  held_until: Date | null
  /** One sentence with the numbers. */
  reason: string
  /** News about the alert that exists. */
  update: Update | null
  /** Whether that news goes out: it too keeps snooze and quiet hours, and follows an alert that never went out. */
  update_delivery: 'now' | 'held' | 'suppressed' | null
  /** To be kept for the next revision; the very object given when nothing changed. */
  memory: Memory | null
}

/** The alert that exists already; for a moving subject the one of this stay. */
type Alert = Pick<EventMemory, 'status' | 'peak' | 'held_until'>

/** What the checks are made on. */
interface Case {
  prepared: PreparedZone<ZoneRule>
  rule: ZoneRule
  event: DecidableEvent
  at: Date
  effective: number
  /** The memory moved on by this position; null for what does not move. */
  step: ((inside: boolean) => Step) | null
  /** The alert about an event that does not move. */
  alert: Alert | null
}

const RANK = { none: 0, suppressed: 1, held: 2, raised: 3 } as const
/** A place or time that differs by this much is news. */
const MOVED_KM = 1
const MOVED_MS = 60_000

/**
 * `decide` tests one revision, first seen `at`, against one zone. `memory` is what the decision before returned for
 * this zone and event (for a moving subject: this zone and subject), null at first.
 *
 * All eight checks are listed; with `brief` the list ends at the first that failed and all else is the same. Prepare a
 * zone once when it meets many events. Throws for a polygon zone without polygon and for an unknown time zone.
 */
export function decide(
  zone: ZoneRule | PreparedZone<ZoneRule>,
  event: DecidableEvent,
  memory: Memory | null,
  at: Date,
  { brief = false }: { brief?: boolean } = {},
): Decision {
  const prepared = 'leave_m' in zone ? zone : prepareZone(zone)
  const rule = prepared.zone
  const stayBefore = memory?.kind === 'stay' ? memory : null
  const eventBefore = memory?.kind === 'event' ? memory : null
  const strayed = () => outsideBy_m(prepared, event.lat, event.lon) > prepared.leave_m
  const facts: Case = {
    prepared,
    rule,
    event,
    at,
    effective: effectiveSeverity(event.severity, rule.severity_multiplier),
    step: isMoving(event.subject)
      ? once((inside: boolean) => stepStay(stayBefore, { ts: event.ts, inside }, strayed))
      : null,
    alert: eventBefore && settled(eventBefore, at),
  }
  const checks: Check[] = []
  let failed: Check | null = null
  for (const check of makeChecks(facts)) {
    checks.push(check)
    if (check.passed) continue
    failed ??= check
    if (brief) break
  }
  const failed_at = failed?.name ?? null
  const outcome = outcomeOf(failed_at, rule)
  const news = facts.step
    ? rememberStay(facts, stayBefore, checks, outcome)
    : rememberEvent(facts, eventBefore, checks, outcome)
  const delivery = news.update ? deliverUpdate(facts, news.alert) : null
  return {
    outcome,
    raised: outcome === 'raised',
    failed_at,
    checks,
    effective_severity: facts.effective,
    held_until: outcome === 'held' ? quietEnd(facts) : (delivery?.held_until ?? null),
    reason: reasonFor(event, checks, failed),
    update: news.update,
    update_delivery: delivery?.when ?? null,
    memory: news.memory,
  }
}

/** `decisionCost` is what a decision may take, in the units of work.ts: most of it is the look for the place. */
export function decisionCost({ vertices }: PreparedZone, event: { geometry?: unknown }): number {
  const looks = event.geometry ? 2 : 1
  return 40 + (looks * vertices) / 4
}

/** `isInside` is the geometry check alone. */
export function isInside(prepared: PreparedZone<ZoneRule>, event: DecidableEvent): boolean {
  return checkGeometry(prepared, event).passed
}

/** Made in order and one at a time, so that a brief decision pays for no more than it needs. */
function* makeChecks(facts: Case): Generator<Check> {
  const { rule, event, at, prepared } = facts
  yield { name: 'enabled', passed: rule.enabled, enabled: rule.enabled }
  const filter = checkFilter(rule, event)
  yield filter
  const geometry = checkGeometry(prepared, event)
  yield geometry
  const severity = checkSeverity(rule, event)
  yield severity

  const watched = rule.enabled && filter.passed
  const step = watched ? (facts.step?.(geometry.passed) ?? null) : null
  const alert = step ? alertOf(step.stay, at) : facts.alert
  const dwell = checkDwell(rule, event, facts.step ? (geometry.passed ? step : null) : undefined)
  const snooze = checkSnooze(rule, at)
  const quiet = once(() => checkQuietHours(rule, at, facts.effective))
  const escalates =
    watched && geometry.passed && severity.passed && isEscalation(facts, alert?.peak ?? null)
  yield {
    name: 'duplicate',
    passed:
      !step?.late &&
      (alert === null || (escalates && isBetterTold(facts, alert, { dwell, snooze, quiet }))),
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

/** A higher band than ever before, or the first time at `emergency_severity`. */
function isEscalation({ rule, effective }: Case, peak: number | null): boolean {
  if (peak === null) return false
  if (BANDS.indexOf(bandOf(effective)) > BANDS.indexOf(bandOf(peak))) return true
  const { emergency_severity } = rule
  return emergency_severity !== null && effective >= emergency_severity && peak < emergency_severity
}

/** Whether an escalation would get further than the alert that exists: people must not miss that it got worse. */
function isBetterTold(
  { rule }: Case,
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

/** What was held has gone out once its window is over. */
function settled(alert: Alert, at: Date): Alert {
  const { status, held_until } = alert
  const isOver = status === 'held' && held_until !== null && Date.parse(held_until) <= at.getTime()
  return isOver ? { ...alert, status: 'raised' } : alert
}

function alertOf(stay: StayMemory | null, at: Date): Alert | null {
  if (!stay?.alert) return null
  return settled({ status: stay.alert, peak: stay.peak ?? 0, held_until: stay.held_until }, at)
}

interface News {
  update: Update | null
  alert: Alert | null
  memory: Memory | null
}

function rememberEvent(
  facts: Case,
  memory: EventMemory | null,
  checks: Check[],
  outcome: Decision['outcome'],
): News {
  const { event, effective, alert, rule } = facts
  const { severity, title, lat, lon, ts, status } = event
  const last = { severity, title, lat, lon, ts, status }
  if (outcome !== 'none') {
    const peak = Math.max(effective, memory?.peak ?? 0)
    const next = {
      kind: 'event' as const,
      status: outcome,
      peak,
      held_until: heldUntil(facts, outcome),
    }
    return { update: null, alert, memory: { ...next, last } }
  }
  if (!memory || !rule.enabled) return { update: null, alert, memory }
  const counts = ['filter', 'geometry', 'severity'].every((name) =>
    checks.some((check) => check.name === name && check.passed),
  )
  const update = updateFor(event, memory, counts && isEscalation(facts, memory.peak))
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

/** Positions come by the thousand: of a stay only escalation is news. */
function rememberStay(
  facts: Case,
  memory: StayMemory | null,
  checks: Check[],
  outcome: Decision['outcome'],
): News {
  const passed = (name: CheckName) => checks.some((check) => check.name === name && check.passed)
  const unchanged = { update: null, alert: null, memory }
  if (!facts.step || !passed('enabled') || !passed('filter')) return unchanged
  const { stay, late } = facts.step(passed('geometry'))
  if (late || !stay) return unchanged
  const alert = alertOf(stay, facts.at)
  const counts = passed('geometry') && passed('severity')
  const peak = Math.max(facts.effective, stay.peak ?? 0)
  if (outcome !== 'none') {
    const held_until = heldUntil(facts, outcome)
    return { update: null, alert, memory: { ...stay, alert: outcome, peak, held_until } }
  }
  if (!alert || !counts) return { update: null, alert, memory: stay }
  const update = isEscalation(facts, stay.peak) ? 'escalated' : null
  return { update, alert, memory: { ...stay, peak } }
}

const quietEnd = ({ rule, at }: Case) => quietWindowAt(rule, at)?.end ?? null

const heldUntil = (facts: Case, outcome: Decision['outcome']) =>
  outcome === 'held' ? (quietEnd(facts)?.toISOString() ?? null) : null

/** An update goes the way of its alert, and then keeps snooze and quiet hours itself. */
function deliverUpdate(
  facts: Case,
  alert: Alert | null,
): { when: 'now' | 'held' | 'suppressed'; held_until: Date | null } {
  const { rule, at } = facts
  if (alert?.status === 'held' && alert.held_until) {
    return { when: 'held', held_until: new Date(alert.held_until) }
  }
  if (alert?.status === 'suppressed' || !checkSnooze(rule, at).passed) {
    return { when: 'suppressed', held_until: null }
  }
  if (checkQuietHours(rule, at, facts.effective).passed) return { when: 'now', held_until: null }
  if (rule.quiet_mode === 'drop') return { when: 'suppressed', held_until: null }
  return { when: 'held', held_until: quietEnd(facts) }
}

/** Calls a function at most once; later calls get the same answer. */
function once<A extends unknown[], R>(make: (...args: A) => R): (...args: A) => R {
  let made: { value: R } | null = null
  return (...args) => {
    made ??= { value: make(...args) }
    return made.value
  }
}
