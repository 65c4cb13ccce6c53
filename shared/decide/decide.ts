/**
 * The decision whether a revision of an event raises an alert in a zone. A pure function: live matching, preview and
 * explain all use it.
 */

import { distanceOutside_m, type PreparedZone, prepareZone } from '../geometry/geometry.ts'
import { decisionReason } from '../reason/reason.ts'
import { isMoving } from '../schemas/event.ts'
import { checkAftershock, type Mainshocks } from './aftershock.ts'
import {
  type Alert,
  alertOf,
  type DecisionInput,
  type DecisionOutcome,
  deliverUpdate,
  holdEnd,
  isEscalation,
  rememberEvent,
  rememberStay,
  type StayEnd,
  type Update,
  withExpiredHold,
} from './alert-change.ts'
import { type BurstMemory, checkBurst, rememberBurst } from './burst.ts'
import {
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
import { advanceStay, Memory } from './match-memory.ts'

export { Memory }

export interface Decision {
  /**
   * `raised`: an alert is sent now; `held`: it is recorded and sent when quiet hours end; `suppressed`: it is recorded
   * and never sent (snooze, or quiet hours that drop); `none`: nothing is recorded.
   */
  outcome: DecisionOutcome
  raised: boolean
  /** The first check that failed. */
  failed_at: CheckName | null
  checks: Check[]
  effective_severity: number
  /** When a held alert or update is sent. */
  held_until: Date | null
  /** One sentence with the numbers; empty for a brief decision with a check that failed. */
  reason: string
  /** How the existing alert changes. */
  update: Update | null
  /** With the update `ended` of a stay: how it ended, and the position that raised its alert, if that is known. */
  stay_end: StayEnd | null
  /** Whether the update is sent. Snooze and quiet hours apply to it, and updates of unsent alerts are not sent. */
  update_delivery: 'now' | 'held' | 'suppressed' | null
  /** The memory for the next revision; the same object as given when it is unchanged. */
  memory: Memory | null
  /** The memory of the zone's alerts for its next decision; the same object as given when it is unchanged. */
  burst: BurstMemory | null
}

export interface DecideOptions {
  /** The list of checks ends at the first one that failed, which then has no sentence. */
  brief?: boolean
  /** Why the zone is off although its `enabled` is true: it was deleted or paused. */
  off?: OffReason | null
  /** Whether everybody who reads the zone may see the event. */
  visible?: boolean
  /** For a zone that excludes aftershocks: the earthquakes that may have caused the event. */
  mainshocks?: Mainshocks
  /** For a zone with a limit an hour: the `burst` of its previous decision; null at first. */
  burst?: BurstMemory | null
}

const RANK = { none: 0, suppressed: 1, held: 2, raised: 3 } as const
/**
 * Decides a revision of an event, first seen `at`, for a zone. `memory` is the memory that the previous decision
 * returned for this zone and event (for a moving subject: this zone and subject); null at first.
 *
 * All checks are listed, unless `brief`. A zone that is off or does not hear of the event remembers nothing of it.
 * Pass a prepared zone when it is tested against many events. Throws for a polygon zone without a polygon and for an unknown time zone.
 */
export function decide(
  zone: ZoneRule | PreparedZone<ZoneRule>,
  event: DecidableEvent,
  memory: Memory | null,
  at: Date,
  { brief = false, off = null, visible = true, mainshocks = [], burst = null }: DecideOptions = {},
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
    mainshocks,
    burst,
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
  const hold = outcome === 'held' ? holdEnd(input, failed) : null
  const news = input.step
    ? rememberStay(input, stayBefore, checks, outcome, hold)
    : rememberEvent(input, eventBefore, checks, outcome, hold)
  const delivery = news.update ? deliverUpdate(input, news.alert) : null
  return {
    outcome,
    raised: outcome === 'raised',
    failed_at,
    checks,
    effective_severity: input.effective,
    held_until: hold ?? delivery?.held_until ?? null,
    reason: brief && failed ? '' : decisionReason(event, checks, failed),
    update: news.update,
    stay_end: news.stay_end ?? null,
    update_delivery: delivery?.when ?? null,
    memory: news.memory,
    burst: rememberBurst(rule, burst, {
      at,
      raised: outcome === 'raised' && checks.some(isFirstAlert),
      held: failed?.name === 'burst' ? failed : null,
    }),
  }
}

/** The estimated cost of a decision, in the units of shared/geometry/steps.ts; most of it is the geometry check. */
export function decisionCost(
  { vertices }: PreparedZone,
  event: { geometry?: unknown },
  mainshocks: Mainshocks = [],
): number {
  const looks = event.geometry ? 2 : 1
  return 40 + (looks * vertices) / 4 + mainshocks.length / 10
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
  const aftershock = checkAftershock(rule, event, input)
  if (aftershock) yield aftershock

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
    linked_event_id: null,
    link: null,
  }
  yield dwell
  yield snooze
  yield quiet()
  const is_first = alert === null
  const burst = checkBurst(rule, input.burst, { at, effective: input.effective, is_first })
  if (burst) yield burst
}

const isFirstAlert = (check: Check) => check.name === 'duplicate' && check.alert === null

function outcomeOf(failed_at: CheckName | null, rule: ZoneRule): DecisionOutcome {
  if (failed_at === null) return 'raised'
  if (failed_at === 'snooze') return 'suppressed'
  if (failed_at === 'burst') return 'held'
  if (failed_at === 'quiet_hours') return rule.quiet_mode === 'hold' ? 'held' : 'suppressed'
  return 'none'
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

/** Calls a function at most once; later calls return the first result. */
function once<A extends unknown[], R>(make: (...args: A) => R): (...args: A) => R {
  let made: { value: R } | null = null
  return (...args) => {
    made ??= { value: make(...args) }
    return made.value
  }
}
