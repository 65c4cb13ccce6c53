import { type ReactNode, useEffect, useRef, useState } from 'react'
import { day } from './time.tsx'
import { useWords } from './words.tsx'

/** The current width of an element. */
function useWidth(): [React.RefObject<HTMLDivElement | null>, number] {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const node = ref.current
    if (!node) return
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0))
    observer.observe(node)
    return () => observer.disconnect()
  }, [])
  return [ref, width]
}

const HEIGHT = 132
const TOP = 20
const BOTTOM = 20

type DayValue = { day: string; value: number }

/**
 * A bar for each day, from zero. The highest and the last bar show their number; a table has all of
 * them for screen readers.
 */
export function DayBars({ label, days }: { label: string; days: DayValue[] }) {
  const { locale } = useWords()
  const [ref, width] = useWidth()
  const [hovered, setHovered] = useState<number>()
  const max = Math.max(1, ...days.map(({ value }) => value))
  const highest = days.findIndex(({ value }) => value === max)
  const step = width / Math.max(1, days.length)
  const bar = Math.max(2, Math.min(24, step - 3))
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / max)
  const named = hovered === undefined ? [highest, days.length - 1] : [hovered]
  const dates = hovered === undefined ? [0, days.length - 1] : [hovered]
  const format = new Intl.NumberFormat(locale)
  return (
    <figure>
      <div ref={ref}>
        <svg
          width={width}
          height={HEIGHT}
          aria-hidden
          className="block overflow-visible"
          onPointerLeave={() => setHovered(undefined)}
        >
          <line x1={0} x2={width} y1={HEIGHT - BOTTOM} y2={HEIGHT - BOTTOM} stroke="var(--line)" />
          {days.map(({ day: on, value }, at) => {
            const x = at * step + step / 2
            const isQuiet = hovered === undefined ? false : hovered !== at
            return (
              <g key={on} onPointerEnter={() => setHovered(at)}>
                <rect x={at * step} y={0} width={step} height={HEIGHT} fill="transparent" />
                {value > 0 ? (
                  <rect
                    x={x - bar / 2}
                    y={y(value)}
                    width={bar}
                    height={HEIGHT - BOTTOM - y(value)}
                    rx={Math.min(2, bar / 2)}
                    fill={isQuiet ? 'var(--bar-quiet)' : 'var(--bar)'}
                  />
                ) : null}
                {named.includes(at) && (value > 0 || hovered === at) ? (
                  <text
                    x={x}
                    y={y(value) - 6}
                    textAnchor={anchor(at, days.length)}
                    className="fill-fg text-xs font-medium"
                  >
                    {format.format(value)}
                  </text>
                ) : null}
                {dates.includes(at) ? (
                  <text
                    x={at === 0 ? 0 : at === days.length - 1 ? width : x}
                    y={HEIGHT - 4}
                    textAnchor={anchor(at, days.length)}
                    className="fill-muted text-xs"
                  >
                    {day(on, locale)}
                  </text>
                ) : null}
              </g>
            )
          })}
        </svg>
      </div>
      <table className="sr-only">
        <caption>{label}</caption>
        <tbody>
          {days.map(({ day: on, value }) => (
            <tr key={on}>
              <th scope="row">{day(on, locale)}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

function anchor(at: number, count: number): 'start' | 'middle' | 'end' {
  if (at === 0) return 'start'
  return at === count - 1 ? 'end' : 'middle'
}

export type BarRow = { key: string; label: ReactNode; value: number; colour?: string }

/** Bars with names, from zero, each with its number. */
export function NamedBars({ label, rows }: { label: string; rows: BarRow[] }) {
  const { locale } = useWords()
  const max = Math.max(1, ...rows.map(({ value }) => value))
  const format = new Intl.NumberFormat(locale)
  return (
    <dl aria-label={label} className="flex flex-col gap-1">
      {rows.map(({ key, label, value, colour }) => (
        <div key={key} className="grid grid-cols-[9rem_minmax(0,1fr)] items-center gap-3">
          <dt className="flex min-w-0 items-center gap-2 leading-tight">{label}</dt>
          <dd className="flex h-7 items-center gap-2" data-numbers>
            <svg
              height={12}
              className="shrink"
              style={{ width: `${(value / max) * 88}%` }}
              aria-hidden
            >
              <rect width="100%" height={12} rx={2} fill={colour ?? 'var(--bar)'} />
            </svg>
            <span className={value === 0 ? 'text-muted' : 'font-medium'}>
              {format.format(value)}
            </span>
          </dd>
        </div>
      ))}
    </dl>
  )
}
