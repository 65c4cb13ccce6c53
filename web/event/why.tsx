import { useQuery } from '@tanstack/react-query'
import { Check as Passed, X } from 'lucide-react'
import { explainReason } from '../../shared/reason/reason.ts'
import { type Check, explanationQuery } from '../api/queries.ts'
import { FailedQuery } from '../shared/errors.tsx'
import { localeOf, number, useLanguage, useText } from '../ui/language.ts'
import { Skeleton } from '../ui/states.tsx'
import { absolute } from '../ui/time.tsx'
import { whyText } from './why.text.ts'

const SIZE = 72

/** Why an event did or did not raise an alert in a zone: each check with a picture of its numbers. */
export function Why({ zone_id, event_id }: { zone_id: string; event_id: string }) {
  const text = useText(whyText)
  const language = useLanguage()
  const explained = useQuery(explanationQuery(zone_id, event_id))
  if (explained.isPending) return <Skeleton className="h-24 w-full rounded-control" />
  if (explained.isError) {
    return <FailedQuery error={explained.error} onRetry={() => explained.refetch()} />
  }
  const { raised, checks, live } = explained.data
  const clock = (at: string) => absolute(at, localeOf(language))
  return (
    <div className="flex flex-col gap-2">
      <p className="font-medium">{raised ? text.raised : text.not_raised}</p>
      <p className="text-sm text-pretty text-muted">{explainReason(checks, { language, clock })}</p>
      {live ? <p className="text-sm text-muted">{text.live}</p> : null}
      <ul className="flex flex-col">
        {checks.map((check) => (
          <CheckLine key={check.name} check={check} />
        ))}
      </ul>
    </div>
  )
}

function CheckLine({ check }: { check: Check }) {
  const text = useText(whyText)
  const Icon = check.passed ? Passed : X
  return (
    <li className="flex items-center gap-3 border-t border-line py-2 text-sm">
      <Icon
        size={16}
        role="img"
        aria-label={check.passed ? text.passed : text.failed}
        className={check.passed ? 'shrink-0 text-good' : 'shrink-0 text-bad'}
      />
      <div className="min-w-0 flex-1">
        <p>{text.names[check.name]}</p>
        <p className="text-muted">
          <Numbers check={check} />
        </p>
      </div>
      <Picture check={check} />
    </li>
  )
}

/** What a check compared, in words and numbers. */
function Numbers({ check }: { check: Check }) {
  const text = useText(whyText)
  const language = useLanguage()
  const say = (value: number) => number(language, value, { maximumFractionDigits: 1 })
  if (check.name === 'geometry') {
    if (check.distance_km !== null && check.radius_km !== null) {
      return text.distance(`${say(check.distance_km)} km`, `${say(check.radius_km)} km`)
    }
    if (check.footprint_touches) return text.touches
    return check.inside ? text.inside : text.outside
  }
  if (check.name === 'severity') {
    const sum = text.threshold(say(check.effective), say(check.min_severity))
    return check.multiplier === 1
      ? sum
      : `${text.multiplied(say(check.severity), say(check.multiplier))} = ${sum}`
  }
  if (check.name === 'quiet_hours' && check.window_start && check.window_end) {
    const at = new Intl.DateTimeFormat(localeOf(language), { timeStyle: 'short' })
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
    return text.quiet(
      at.format(Date.parse(check.window_start)),
      at.format(Date.parse(check.window_end)),
      zone,
    )
  }
  return null
}

function Picture({ check }: { check: Check }) {
  if (check.name === 'geometry' && check.distance_km !== null && check.radius_km !== null) {
    return <Ring distance={check.distance_km} radius={check.radius_km} passed={check.passed} />
  }
  if (check.name === 'severity') {
    return <Bar effective={check.effective} threshold={check.min_severity} passed={check.passed} />
  }
  if (check.name === 'quiet_hours' && check.window_start && check.window_end) {
    return <Clock from={check.window_start} to={check.window_end} />
  }
  return null
}

const toneOf = (passed: boolean) => (passed ? 'var(--good)' : 'var(--bad)')

/** The zone as a circle, and how far from its middle the event was, on the same scale. */
function Ring({ distance, radius, passed }: { distance: number; radius: number; passed: boolean }) {
  const middle = SIZE / 2
  const scale = (middle - 6) / Math.max(distance, radius)
  return (
    <svg width={SIZE} height={SIZE} aria-hidden className="shrink-0">
      <circle
        cx={middle}
        cy={middle}
        r={Math.max(2, radius * scale)}
        fill="var(--accent)"
        fillOpacity={0.12}
        stroke="var(--line-strong)"
      />
      <line
        x1={middle}
        y1={middle}
        x2={middle + distance * scale}
        y2={middle}
        stroke="var(--muted)"
        strokeDasharray="2 2"
      />
      <circle cx={middle + distance * scale} cy={middle} r={4} fill={toneOf(passed)} />
    </svg>
  )
}

/** The effective severity as a bar from 0 to 100, with a mark where the zone's threshold is. */
function Bar(given: { effective: number; threshold: number; passed: boolean }) {
  const x = (value: number) => (value / 100) * SIZE
  return (
    <svg width={SIZE} height={24} aria-hidden className="shrink-0 overflow-visible">
      <rect y={8} width={SIZE} height={8} rx={4} fill="var(--line)" />
      <rect y={8} width={x(given.effective)} height={8} rx={4} fill={toneOf(given.passed)} />
      <line
        x1={x(given.threshold)}
        x2={x(given.threshold)}
        y1={3}
        y2={21}
        stroke="var(--text)"
        strokeWidth={2}
      />
    </svg>
  )
}

const DAY_MINUTES = 24 * 60

/** The hours of a day as a dial, midnight on top, with the quiet ones filled. */
function Clock({ from, to }: { from: string; to: string }) {
  const middle = SIZE / 2
  const radius = middle - 8
  const turn = (at: string) => {
    const date = new Date(at)
    return ((date.getHours() * 60 + date.getMinutes()) / DAY_MINUTES) * 2 * Math.PI
  }
  const point = (angle: number) =>
    `${middle + radius * Math.sin(angle)} ${middle - radius * Math.cos(angle)}`
  const [start, end] = [turn(from), turn(to)]
  const span = (end - start + 2 * Math.PI) % (2 * Math.PI)
  const path = `M ${middle} ${middle} L ${point(start)} A ${radius} ${radius} 0 ${span > Math.PI ? 1 : 0} 1 ${point(end)} Z`
  return (
    <svg width={SIZE} height={SIZE} aria-hidden className="shrink-0">
      <circle cx={middle} cy={middle} r={radius} fill="none" stroke="var(--line-strong)" />
      <path d={path} fill="var(--accent)" fillOpacity={0.3} />
      <line x1={middle} y1={4} x2={middle} y2={10} stroke="var(--muted)" />
    </svg>
  )
}
