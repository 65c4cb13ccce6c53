import { DAY_MINUTES, minutesIn, nextShift } from '../../event/time-zone.ts'
import { timeNow } from '../../ui/clock.ts'
import { useText } from '../../ui/language.ts'
import { useWords } from '../../ui/words.tsx'
import { zonesText } from './zones.text.ts'

const SIZE = 88
const MIDDLE = SIZE / 2
const RADIUS = MIDDLE - 12

/** What time it is in a time zone, and when its clocks change next. */
export function ZoneClock({ tz }: { tz: string }) {
  const text = useText(zonesText)
  const { locale } = useWords()
  const now = timeNow()
  const minutes = minutesIn(tz, now)
  if (minutes === null) return null
  const shift = nextShift(tz, now)
  const clock = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  return (
    <div className="flex flex-col gap-1 text-sm text-muted">
      <p>{text.clock_now(clock)}</p>
      <p>
        {shift
          ? text.clock_shift(
              new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: tz }).format(
                shift.at,
              ),
              shift.minutes > 0 ? text.clock_forward : text.clock_back,
            )
          : text.clock_steady}
      </p>
    </div>
  )
}

/** A quiet window on a dial of 24 hours, with the time it is there. */
export function QuietDial({ start, end, tz }: { start: string; end: string; tz: string }) {
  return <Dial from={minutesOf(start)} to={minutesOf(end)} now={minutesIn(tz, timeNow())} />
}

/** Minutes since midnight of `HH:MM`; null for anything else. */
const minutesOf = (time: string) => {
  const [, hours, minutes] = time.match(/^(\d\d):(\d\d)$/) ?? []
  return hours && minutes ? Number(hours) * 60 + Number(minutes) : null
}

/** How many minutes a window lasts; 24:00 is the end of its day. */
function spanOf(from: number, to: number): number {
  return to === DAY_MINUTES ? to - from : (to - from + DAY_MINUTES) % DAY_MINUTES
}

function Dial({ from, to, now }: Record<'from' | 'to' | 'now', number | null>) {
  const angle = (minutes: number) => (minutes / DAY_MINUTES) * 2 * Math.PI
  const point = (minutes: number, radius: number) =>
    `${MIDDLE + radius * Math.sin(angle(minutes))} ${MIDDLE - radius * Math.cos(angle(minutes))}`
  const span = from === null || to === null ? 0 : spanOf(from, to)
  return (
    <svg width={SIZE} height={SIZE} aria-hidden className="shrink-0">
      <circle cx={MIDDLE} cy={MIDDLE} r={RADIUS} fill="none" stroke="var(--line-strong)" />
      {span === DAY_MINUTES ? (
        <circle cx={MIDDLE} cy={MIDDLE} r={RADIUS} fill="var(--accent)" fillOpacity={0.3} />
      ) : span > 0 && from !== null && to !== null ? (
        <path
          d={`M ${MIDDLE} ${MIDDLE} L ${point(from, RADIUS)} A ${RADIUS} ${RADIUS} 0 ${span > DAY_MINUTES / 2 ? 1 : 0} 1 ${point(to, RADIUS)} Z`}
          fill="var(--accent)"
          fillOpacity={0.3}
        />
      ) : null}
      {[0, 6, 12, 18].map((hour) => (
        <text
          key={hour}
          x={MIDDLE + (RADIUS + 7) * Math.sin(angle(hour * 60))}
          y={MIDDLE - (RADIUS + 7) * Math.cos(angle(hour * 60)) + 3}
          textAnchor="middle"
          fontSize={9}
          className="fill-muted"
        >
          {hour}
        </text>
      ))}
      {now === null ? null : (
        <>
          <path
            d={`M ${MIDDLE} ${MIDDLE} L ${point(now, RADIUS - 6)}`}
            stroke="var(--text)"
            strokeWidth={2}
          />
          <circle cx={MIDDLE} cy={MIDDLE} r={2.5} fill="var(--text)" />
        </>
      )}
    </svg>
  )
}
