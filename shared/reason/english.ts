import type { Check, CheckOf, OffReason } from '../decide/checks.ts'
import type { Link } from '../decide/link.ts'
import { at, type Clock, kilometres, oneDecimal as number, type Sentences } from './sentences.ts'

export const english: Sentences = {
  because,
  whyNot,
  over: {
    left: 'it has left the zone',
    unseen: 'it was not seen for 24 hours',
    ended: 'the source says it is over',
    retracted: 'the source has withdrawn it',
  },
  changed: (update, numbers) => `${update}, now ${numbers}`,
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

function whyNot(check: Check, clock: Clock): string {
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
      return `the zone is snoozed until ${at(check.snoozed_until, clock)}`
    case 'quiet_hours':
      return check.quiet_mode === 'hold'
        ? `quiet hours hold it until ${at(check.window_end, clock)}`
        : `quiet hours until ${at(check.window_end, clock)} drop it`
    case 'aftershock':
      return aftershock(check, clock)
    case 'burst':
      return `${sentInHour(check)}, so it waits with the others until ${at(check.held_until, clock)}`
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

function aftershock(
  { magnitude, magnitude_gap, mainshock }: CheckOf<'aftershock'>,
  clock: Clock,
): string {
  if (!mainshock) return 'an aftershock'
  const { event_id, distance_km, limit_km, until } = mainshock
  const place = `${number(distance_km)} km away, within ${number(limit_km)} km`
  return `an aftershock of ${event_id}: M ${magnitude} is below ${mainshock.magnitude} − ${magnitude_gap}, ${place}, until ${clock(until)}`
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
