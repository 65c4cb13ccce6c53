import { useQuery } from '@tanstack/react-query'
import { Check as Passed, X } from 'lucide-react'
import { explainReason } from '../../shared/reason/reason.ts'
import type { Schemas } from '../api/client.ts'
import { type Check, explanationQuery, zoneQuery, zoneVersionsQuery } from '../api/queries.ts'
import { FailedQuery, hasFailed } from '../shared/errors.tsx'
import { localeOf, number, useLanguage, useText } from '../ui/language.ts'
import { Skeleton } from '../ui/states.tsx'
import { absolute } from '../ui/time.tsx'
import { DAY_MINUTES, DAY_MS, minutesIn, timeZoneAt } from './time-zone.ts'
import { whyText } from './why.text.ts'

const SIZE = 72

/** Why an event did or did not raise an alert in a zone: each check with a picture of its numbers. */
export function Why({ zone_id, event_id }: { zone_id: string; event_id: string }) {
  const text = useText(whyText)
  const language = useLanguage()
  const explained = useQuery(explanationQuery(zone_id, event_id))
  const time_zone = useTimeZone(zone_id, explained.data)
  if (explained.isPending) return <Skeleton className="h-24 w-full rounded-control" />
  if (hasFailed(explained)) {
    return <FailedQuery error={explained.error} onRetry={() => explained.refetch()} />
  }
  const { raised, checks, live } = explained.data
  const clock = (at: string) => absolute(at, localeOf(language), time_zone)
  return (
    <div className="flex flex-col gap-2">
      <p className="font-medium">{raised ? text.raised : text.not_raised}</p>
      <p className="text-sm text-pretty text-muted">{explainReason(checks, { language, clock })}</p>
      {live ? <p className="text-sm text-muted">{text.live}</p> : null}
      <ul className="flex flex-col">
        {checks.map((check) => (
          <CheckLine key={check.name} check={check} time_zone={time_zone} />
        ))}
      </ul>
    </div>
  )
}

type Judged = { check: Check; time_zone: string | undefined }

/**
 * The time zone of a zone's quiet hours when an event was decided, if they were in question: undefined otherwise, and
 * until it is known.
 */
function useTimeZone(zone_id: string, explained: Schemas['Explanation'] | undefined) {
  const isAsked = explained?.checks.some(
    (check) => check.name === 'quiet_hours' && check.window_start !== null,
  )
  const { data: zone } = useQuery({ ...zoneQuery(zone_id), enabled: isAsked === true })
  const hasChanged = zone !== undefined && explained?.zone_version !== zone.version
  const { data: history } = useQuery({
    ...zoneVersionsQuery(zone_id, zone?.version ?? 0),
    enabled: isAsked === true && hasChanged,
  })
  if (!explained || !zone || !hasChanged) return zone?.quiet_hours_tz
  return history && timeZoneAt(explained.zone_version, zone, history.versions)
}

function CheckLine({ check, time_zone }: Judged) {
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
          <Numbers check={check} time_zone={time_zone} />
        </p>
      </div>
      <Picture check={check} time_zone={time_zone} />
    </li>
  )
}

/** What a check compared, in words and numbers. */
function Numbers({ check, time_zone }: Judged) {
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
  if (check.name === 'quiet_hours' && check.window_start && check.window_end && time_zone) {
    const at = new Intl.DateTimeFormat(localeOf(language), {
      timeStyle: 'short',
      timeZone: time_zone,
    })
    return text.quiet(
      at.format(Date.parse(check.window_start)),
      at.format(Date.parse(check.window_end)),
      time_zone,
    )
  }
  return null
}

function Picture({ check, time_zone }: Judged) {
  if (check.name === 'geometry' && check.distance_km !== null && check.radius_km !== null) {
    return <Ring distance={check.distance_km} radius={check.radius_km} passed={check.passed} />
  }
  if (check.name === 'severity') {
    return <Bar effective={check.effective} threshold={check.min_severity} passed={check.passed} />
  }
  if (check.name === 'quiet_hours' && check.window_start && check.window_end && time_zone) {
    return <Clock from={check.window_start} to={check.window_end} time_zone={time_zone} />
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

/** The hours of a day in a time zone as a dial, midnight on top, with the quiet ones filled. */
function Clock({ from, to, time_zone }: Record<'from' | 'to' | 'time_zone', string>) {
  const middle = SIZE / 2
  const radius = middle - 8
  const turn = (at: string) =>
    ((minutesIn(time_zone, Date.parse(at)) ?? 0) / DAY_MINUTES) * 2 * Math.PI
  const point = (angle: number) =>
    `${middle + radius * Math.sin(angle)} ${middle - radius * Math.cos(angle)}`
  const [start, end] = [turn(from), turn(to)]
  const span = (end - start + 2 * Math.PI) % (2 * Math.PI)
  // Windows that follow each other are one, of days in a row.
  const isWholeDay = Date.parse(to) - Date.parse(from) >= DAY_MS
  const path = `M ${middle} ${middle} L ${point(start)} A ${radius} ${radius} 0 ${span > Math.PI ? 1 : 0} 1 ${point(end)} Z`
  return (
    <svg width={SIZE} height={SIZE} aria-hidden className="shrink-0">
      <circle cx={middle} cy={middle} r={radius} fill="none" stroke="var(--line-strong)" />
      {isWholeDay ? (
        <circle cx={middle} cy={middle} r={radius} fill="var(--accent)" fillOpacity={0.3} />
      ) : (
        <path d={path} fill="var(--accent)" fillOpacity={0.3} />
      )}
      <line x1={middle} y1={4} x2={middle} y2={10} stroke="var(--muted)" />
    </svg>
  )
}
