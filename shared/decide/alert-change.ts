/** What a decision does to an alert that exists: what is remembered of it, and which news of it is told. */

import { distance_km, type PreparedZone } from '../geometry/geometry.ts'
import type { Mainshocks } from './aftershock.ts'
import { BANDS, bandOf } from './bands.ts'
import type { BurstMemory } from './burst.ts'
import {
  type Check,
  type CheckName,
  checkEnabled,
  checkQuietHours,
  checkSnooze,
  type DecidableEvent,
  effectiveSeverity,
  type OffReason,
  type ZoneRule,
} from './checks.ts'
import {
  type AlertOutcome,
  type EventMemory,
  endedStay,
  type Memory,
  type StayMemory,
  type StayStep,
  UNSEEN_MS,
} from './match-memory.ts'
import { quietWindowAt } from './quiet-hours.ts'

/** What a decision makes of an event; `none`: nothing is recorded. */
export type DecisionOutcome = AlertOutcome | 'none'

/** How an existing alert changes. */
export type Update = 'revised' | 'escalated' | 'ended' | 'retracted'

/** `left`: the subject is outside; `unseen`: it was not seen for 24 hours. */
export interface StayEnd {
  how: 'left' | 'unseen'
  alert_event_id: string | null
}

/** The existing alert; for a moving subject that of the current stay. */
export type Alert = Pick<EventMemory, 'status' | 'peak' | 'held_until'>

/** The input of the checks. */
export interface DecisionInput {
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
  mainshocks: Mainshocks
  burst: BurstMemory | null
}

/** A change of place or time by this much is an update. */
const MOVED_KM = 1
const MOVED_MS = 60_000

/** Whether the severity reaches a higher band than before, or `emergency_severity` for the first time. */
export function isEscalation({ rule, effective }: DecisionInput, peak: number | null): boolean {
  if (peak === null) return false
  if (BANDS.indexOf(bandOf(effective)) > BANDS.indexOf(bandOf(peak))) return true
  const { emergency_severity } = rule
  return emergency_severity !== null && effective >= emergency_severity && peak < emergency_severity
}

/** The alert, as raised when it was held and its quiet window is over. */
export function withExpiredHold(alert: Alert, at: Date): Alert {
  const { status, held_until } = alert
  const isOver = status === 'held' && held_until !== null && Date.parse(held_until) <= at.getTime()
  return isOver ? { ...alert, status: 'raised' } : alert
}

export function alertOf(stay: StayMemory | null, at: Date): Alert | null {
  if (!stay?.alert) return null
  return withExpiredHold(
    { status: stay.alert, peak: stay.peak ?? 0, held_until: stay.held_until },
    at,
  )
}

interface AlertChange {
  update: Update | null
  stay_end?: StayEnd | null
  alert: Alert | null
  memory: Memory | null
}

export function rememberEvent(
  input: DecisionInput,
  memory: EventMemory | null,
  checks: Check[],
  outcome: DecisionOutcome,
  hold: Date | null,
): AlertChange {
  const { event, effective, alert } = input
  const { severity, title, lat, lon, ts, status } = event
  const last = { severity, title, lat, lon, ts, status }
  if (outcome !== 'none') {
    const peak = Math.max(effective, memory?.peak ?? 0)
    const held_until = hold?.toISOString() ?? null
    const next = { kind: 'event' as const, status: outcome, peak, held_until }
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

/** Of a stay only its end and an escalation are updates, because there are thousands of positions. */
export function rememberStay(
  input: DecisionInput,
  memory: StayMemory | null,
  checks: Check[],
  outcome: DecisionOutcome,
  hold: Date | null,
): AlertChange {
  const passed = (name: CheckName) => checks.some((check) => check.name === name && check.passed)
  const unchanged = { update: null, alert: null, memory }
  if (!input.step || !passed('enabled') || !passed('filter')) return unchanged
  const { stay, late } = input.step(passed('geometry'))
  if (late || !stay) return unchanged
  const ended = endOf(memory, stay)
  const alert = alertOf(ended ? memory : stay, input.at)
  const news = ended
    ? { update: 'ended' as const, stay_end: ended, alert }
    : { update: null, stay_end: null, alert }
  const counts = passed('geometry') && passed('severity')
  const peak = Math.max(input.effective, stay.peak ?? 0)
  if (outcome !== 'none') {
    const raised = { alert: outcome, alert_event_id: input.event.id, peak }
    const held_until = hold?.toISOString() ?? null
    return { ...news, memory: { ...stay, ...raised, held_until } }
  }
  if (!alert || !counts || ended) return { ...news, memory: stay }
  const update = isEscalation(input, stay.peak) ? 'escalated' : null
  return { ...news, update, memory: { ...stay, peak } }
}

/** How the stay with an alert ended with this position; null when there was none, or it goes on. */
function endOf(before: StayMemory | null, stay: StayMemory): StayEnd | null {
  if (!before?.began_at || !before.alert || stay.began_at === before.began_at) return null
  const { alert_event_id } = before
  const isUnseen = Date.parse(stay.last_seen_at) - Date.parse(before.last_seen_at) > UNSEEN_MS
  return { how: isUnseen ? 'unseen' : 'left', alert_event_id }
}

/**
 * Ends a stay whose subject was last seen more than 24 hours before `at`; null when it was seen since. `told` is its zone
 * and what its alert told last; null when the zone is off or the alert is gone: then nothing is told.
 */
export function endUnseenStay(
  told: [PreparedZone<ZoneRule>, Pick<DecidableEvent, 'severity'>] | null,
  memory: StayMemory,
  at: Date,
) {
  if (!memory.began_at || at.getTime() - Date.parse(memory.last_seen_at) <= UNSEEN_MS) return null
  const over = { memory: endedStay(memory, memory.last_seen_at) }
  const alert = alertOf(memory, at)
  if (!told || !alert) return { ...over, ...NOT_TOLD }
  const [{ zone: rule }, event] = told
  const effective_severity = effectiveSeverity(event.severity, rule.severity_multiplier)
  const { when, held_until } = deliverUpdate({ rule, at, effective: effective_severity }, alert)
  const stay_end: StayEnd = { how: 'unseen', alert_event_id: memory.alert_event_id }
  const update = 'ended' as const
  return { ...over, update, stay_end, update_delivery: when, held_until, effective_severity }
}

const NOT_TOLD = {
  update: null,
  stay_end: null,
  update_delivery: null,
  held_until: null,
  effective_severity: 0,
}

const quietEnd = ({ rule, at }: Pick<DecisionInput, 'rule' | 'at'>) =>
  quietWindowAt(rule, at)?.end ?? null

/** What quiet hours hold goes out when they end, however many alerts were sent in the hour before. */
export function holdEnd(input: DecisionInput, failed: Check | null): Date | null {
  if (failed?.name !== 'burst') return quietEnd(input)
  return failed.held_until === null ? null : new Date(failed.held_until)
}

/** An update follows what happened to its alert; after that, snooze and quiet hours apply to it. */
export function deliverUpdate(
  input: Pick<DecisionInput, 'rule' | 'at' | 'effective'>,
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
