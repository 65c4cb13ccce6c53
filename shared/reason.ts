/** One sentence with the numbers, for people. */
import type { Check, CheckOf } from './checks.ts'

/** `reasonFor` says why a decision fell: the check that failed, or why all passed. */
export function reasonFor(
  event: { title: string },
  checks: readonly Check[],
  failed: Check | null,
): string {
  return `${event.title}: ${failed ? whyNot(failed) : why(checks)}.`
}

function why(checks: readonly Check[]): string {
  return checks
    .flatMap((check) => {
      if (check.name === 'severity') return [`${product(check)} reaches ${check.min_severity}`]
      if (check.name === 'geometry') return [place(check)]
      if (check.name === 'duplicate' && check.escalates) {
        return [`up from ${number(check.peak ?? 0)}, which was ${check.alert}`]
      }
      if (check.name === 'dwell' && check.dwell_minutes > 0 && check.stayed_minutes !== null) {
        return [`inside for ${number(check.stayed_minutes)} of ${check.dwell_minutes} minutes`]
      }
      if (check.name === 'quiet_hours' && check.overridden_by_emergency) {
        return [`an emergency (${check.emergency_severity} or more) passes quiet hours`]
      }
      return []
    })
    .sort((a, b) => Number(b.startsWith('severity')) - Number(a.startsWith('severity')))
    .join('; ')
}

function whyNot(check: Check): string {
  switch (check.name) {
    case 'enabled':
      return 'the zone is switched off'
    case 'filter':
      if (check.sources && !check.sources.includes(check.source)) {
        return `source ${check.source} is not among ${check.sources.join(', ')}`
      }
      if (check.types && !check.types.includes(check.type)) {
        return `type ${check.type} is not among ${check.types.join(', ')}`
      }
      return `the event is ${check.status}`
    case 'geometry':
      return place(check)
    case 'severity':
      return `${product(check)} stays below ${check.min_severity}`
    case 'duplicate':
      if (check.late) return 'the position is not newer than the last one seen'
      return `an alert exists already (${check.alert}, at most ${number(check.peak ?? 0)} so far)`
    case 'dwell':
      return `inside for ${number(check.stayed_minutes ?? 0)} of ${check.dwell_minutes} minutes`
    case 'snooze':
      return `the zone is snoozed until ${check.snoozed_until}`
    case 'quiet_hours':
      return check.quiet_mode === 'hold'
        ? `quiet hours hold it until ${check.window_end}`
        : `quiet hours until ${check.window_end} drop it`
  }
}

const product = ({ severity, multiplier, effective }: CheckOf<'severity'>) =>
  `severity ${severity} × ${multiplier} = ${number(effective)}`

function place(check: CheckOf<'geometry'>): string {
  const { passed, inside, distance_km, radius_km } = check
  const side = inside ? 'inside' : 'outside'
  const where =
    distance_km === null || radius_km === null
      ? `${side} the polygon`
      : `${kilometres(distance_km, radius_km)} km from the centre, ${side} ${radius_km} km`
  return passed && !inside ? `${where}, but its footprint touches the zone` : where
}

/** Rounded to 0.1 km unless that would hide on which side of the radius it lies. */
function kilometres(distance_km: number, radius_km: number): string {
  const short = number(distance_km)
  return Number(short) === radius_km ? String(Number(distance_km.toFixed(3))) : short
}

/** Rounded to 0.1. */
const number = (value: number) => String(Math.round(value * 10) / 10)
