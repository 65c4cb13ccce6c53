import { timeNow } from '../../ui/clock.ts'
import { useLanguage, useText } from '../../ui/language.ts'
import { useWords } from '../../ui/words.tsx'
import { nextShift, offsetOf } from './clock.ts'
import { zonesText } from './zones.text.ts'

const SIZE = 88
const MIDDLE = SIZE / 2
const RADIUS = MIDDLE - 12
const DAY_MINUTES = 24 * 60

/** The quiet hours on a dial of 24 hours, with the time it is there, and when its clocks change next. */
export function QuietClock({ start, end, tz }: { start: string; end: string; tz: string }) {
  const text = useText(zonesText)
  const language = useLanguage()
  const { locale } = useWords()
  const now = timeNow()
  const offset = offsetOf(tz, now)
  if (offset === null) return null
  const minutes = (((Math.floor(now / 60_000) + offset) % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES
  const shift = nextShift(tz, now)
  const clock = (value: number) =>
    `${String(Math.floor(value / 60)).padStart(2, '0')}:${String(value % 60).padStart(2, '0')}`
  return (
    <div className="flex items-center gap-3 text-sm text-muted">
      <Dial from={minutesOf(start)} to={minutesOf(end)} now={minutes} />
      <div className="flex min-w-0 flex-col gap-1">
        <p>{text.clock_now(clock(minutes))}</p>
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
        <span lang={language} className="sr-only">
          {tz}
        </span>
      </div>
    </div>
  )
}

/** Minutes since midnight of `HH:MM`; null for anything else. */
const minutesOf = (time: string) => {
  const [, hours, minutes] = time.match(/^(\d\d):(\d\d)$/) ?? []
  return hours && minutes ? Number(hours) * 60 + Number(minutes) : null
}

function Dial({ from, to, now }: { from: number | null; to: number | null; now: number }) {
  const angle = (minutes: number) => (minutes / DAY_MINUTES) * 2 * Math.PI
  const point = (minutes: number, radius: number) =>
    `${MIDDLE + radius * Math.sin(angle(minutes))} ${MIDDLE - radius * Math.cos(angle(minutes))}`
  const span = from === null || to === null ? 0 : (to - from + DAY_MINUTES) % DAY_MINUTES
  return (
    <svg width={SIZE} height={SIZE} aria-hidden className="shrink-0">
      <circle cx={MIDDLE} cy={MIDDLE} r={RADIUS} fill="none" stroke="var(--line-strong)" />
      {span > 0 && from !== null && to !== null ? (
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
      <path
        d={`M ${MIDDLE} ${MIDDLE} L ${point(now, RADIUS - 6)}`}
        stroke="var(--text)"
        strokeWidth={2}
      />
      <circle cx={MIDDLE} cy={MIDDLE} r={2.5} fill="var(--text)" />
    </svg>
  )
}
