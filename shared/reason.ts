/** Sentences for people that explain a decision with its numbers. */
import type { Check, CheckOf, OffReason } from './checks.ts'
import type { Link } from './link.ts'

/** Why a decision was made: the check that failed, or why all checks passed. */
export function decisionReason(
  event: { title: string },
  checks: readonly Check[],
  failed: Check | null,
): string {
  return `${event.title}: ${failed ? whyNot(failed) : why(checks)}.`
}

/** What has changed about an existing alert, with the current numbers. */
export function updateReason(
  event: { title: string },
  checks: readonly Check[],
  update: 'revised' | 'escalated' | 'ended' | 'retracted',
  stayEnd: 'left' | 'unseen' | null = null,
): string {
  if (stayEnd === 'left') return `${event.title}: it has left the zone.`
  if (stayEnd === 'unseen') return `${event.title}: it was not seen for 24 hours.`
  if (update === 'ended') return `${event.title}: the source says it is over.`
  if (update === 'retracted') return `${event.title}: the source has withdrawn it.`
  const parts = checks.filter(({ name }) => name === 'severity' || name === 'geometry')
  const numbers = parts.map((check) => (check.passed ? because(check) : whyNot(check)))
  return `${event.title}: ${update}, now ${numbers.reverse().join('; ')}.`
}

/** The order of the checks in the sentence for an alert. */
const REASON_ORDER = [
  'severity',
  'geometry',
  'aftershock',
  'duplicate',
  'dwell',
  'quiet_hours',
  'burst',
] as const

function why(checks: readonly Check[]): string {
  const parts = REASON_ORDER.map((name) => checks.find((check) => check.name === name))
  return parts.flatMap((check) => (check ? (because(check) ?? []) : [])).join('; ')
}

function because(check: Check): string | null {
  switch (check.name) {
    case 'severity':
      return `${product(check)} reaches ${check.min_severity}`
    case 'geometry':
      return place(check)
    case 'duplicate':
      return check.escalates
        ? `${sameAs(check)}up from ${number(check.peak ?? 0)}, which was ${check.alert}`
        : null
    case 'dwell':
      return check.dwell_minutes > 0 && check.stayed_minutes !== null ? stayed(check) : null
    case 'quiet_hours':
      return check.overridden_by_emergency
        ? `an emergency (${check.emergency_severity} or more) passes quiet hours`
        : null
    case 'aftershock':
      return check.overridden_by_emergency
        ? `an emergency (${check.emergency_severity} or more), although an aftershock`
        : null
    case 'burst':
      return check.overridden_by_emergency
        ? `an emergency (${check.emergency_severity} or more), although ${sentInHour(check)}`
        : null
    default:
      return null
  }
}

function whyNot(check: Check): string {
  switch (check.name) {
    case 'enabled':
      return OFF[check.reason ?? 'disabled']
    case 'filter':
      if (!check.visible) return 'not everybody who reads the zone may see the event'
      if (check.sources && !check.sources.includes(check.source)) {
        return `source ${check.source} is not among ${check.sources.join(', ')}`
      }
      if (check.types && !check.types.includes(check.type)) {
        return `type ${check.type} is not among ${check.types.join(', ')}`
      }
      if (check.status !== 'active') return `the event is ${check.status}`
      if (check.flag === 'jump') return JUMP
      return `first seen ${number(check.delay_hours)} hours after it happened, which is news for ${check.news_for_hours}`
    case 'geometry':
      return place(check)
    case 'severity':
      return `${product(check)} stays below ${check.min_severity}`
    case 'duplicate':
      if (check.late) return 'the position is not newer than the last one seen'
      return `${sameAs(check)}an alert exists already (${check.alert}, at most ${number(check.peak ?? 0)} so far)`
    case 'dwell':
      return stayed(check)
    case 'snooze':
      return `the zone is snoozed until ${check.snoozed_until}`
    case 'quiet_hours':
      return check.quiet_mode === 'hold'
        ? `quiet hours hold it until ${check.window_end}`
        : `quiet hours until ${check.window_end} drop it`
    case 'aftershock':
      return aftershock(check)
    case 'burst':
      return `${sentInHour(check)}, so it waits with the others until ${check.held_until}`
  }
}

const JUMP =
  'nothing moves that fast from the position before, so the next position tells where it is'

/** Of an event that another source has reported before. */
function sameAs({ linked_event_id, link }: CheckOf<'duplicate'>): string {
  if (linked_event_id === null) return ''
  const same = `the same was reported as ${link?.event_id ?? linked_event_id}`
  return link ? `${same} (${apart(link)}); ` : `${same}; `
}

/** How far apart the reports of two sources are. */
function apart({ rule, seconds_apart, distance_km, magnitude_apart, name }: Link): string {
  const hours = `${number(seconds_apart / 3600)} hours`
  switch (rule) {
    case 'earthquake':
      return `${number(seconds_apart)} s, ${number(distance_km)} km and ${number(magnitude_apart ?? 0)} in magnitude apart`
    case 'storm':
      return `${name}, ${hours} and ${number(distance_km)} km apart`
    case 'wildfire':
      return `${hours} and ${number(distance_km)} km apart`
    case 'tsunami':
      return `by ${name}, ${hours} apart`
  }
}

function aftershock({ magnitude, magnitude_gap, mainshock }: CheckOf<'aftershock'>): string {
  if (!mainshock) return 'an aftershock'
  const { event_id, distance_km, limit_km, until } = mainshock
  const place = `${number(distance_km)} km away, within ${number(limit_km)} km`
  return `an aftershock of ${event_id}: M ${magnitude} is below ${mainshock.magnitude} − ${magnitude_gap}, ${place}, until ${until}`
}

const sentInHour = ({ sent, max_alerts_per_hour }: CheckOf<'burst'>) =>
  `${sent} ${sent === 1 ? 'alert was' : 'alerts were'} sent in the hour before, of at most ${max_alerts_per_hour}`

const OFF: Record<OffReason, string> = {
  deleted: 'the zone was deleted',
  disabled: 'the zone was switched off',
  paused_by_plan: 'the zone was paused, because the account of its owner was below the Pro plan',
  owner_banned: 'the zone was paused, because the account of its owner was banned',
}

const stayed = ({ stayed_minutes, dwell_minutes }: CheckOf<'dwell'>) =>
  `inside for ${number(stayed_minutes ?? 0)} of ${dwell_minutes} minutes`

function product({ severity, multiplier, effective }: CheckOf<'severity'>): string {
  const isCapped = severity * multiplier > 100
  return `severity ${severity} × ${multiplier} ${isCapped ? 'is capped at' : '='} ${effective}`
}

function place(check: CheckOf<'geometry'>): string {
  const { passed, inside, distance_km, radius_km } = check
  const side = inside ? 'inside' : 'outside'
  const where =
    distance_km === null || radius_km === null
      ? `${side} the polygon`
      : `${kilometres(distance_km, radius_km)} km from the centre, ${side} ${radius_km} km`
  return passed && !inside ? `${where}, but its footprint touches the zone` : where
}

/** Rounded to 0.1 km, or to 1 m where that would hide on which side of the radius it is. */
function kilometres(distance_km: number, radius_km: number): string {
  const short = number(distance_km)
  return Number(short) === radius_km ? String(Number(distance_km.toFixed(3))) : short
}

/** Rounded to 0.1. */
const number = (value: number) => String(Math.round(value * 10) / 10)
