import { number, useLanguage } from '../../../../web/ui/language.ts'

type Point = { name: string; value: number }
const WIDTH = 720
const HEIGHT = 200
const SIDE = 8
const TOP = 24
const BOTTOM = 28

/** A line chart from zero. The first, the last and the highest point show their number. */
export function LineChart({ label, points }: { label: string; points: Point[] }) {
  const language = useLanguage()
  const values = points.map(({ value }) => value)
  const least = Math.min(0, ...values)
  const most = Math.max(least + 1, ...values)
  const x = (at: number) =>
    points.length === 1 ? WIDTH / 2 : SIDE + ((WIDTH - 2 * SIDE) * at) / (points.length - 1)
  const y = (value: number) =>
    TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - least) / (most - least))
  const named = new Set([0, values.indexOf(Math.max(...values)), points.length - 1])
  const anchor = (at: number) =>
    points.length === 1
      ? 'middle'
      : at === 0
        ? 'start'
        : at === points.length - 1
          ? 'end'
          : 'middle'
  return (
    <figure className="rounded-panel border border-line bg-surface p-5">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        aria-hidden
        className="block h-auto w-full overflow-visible"
      >
        <line x1={0} x2={WIDTH} y1={y(0)} y2={y(0)} stroke="var(--line)" />
        <polyline
          points={points.map(({ value }, at) => `${x(at)},${y(value)}`).join(' ')}
          fill="none"
          stroke="var(--bar)"
          strokeWidth={2}
          strokeLinejoin="round"
        />
        {points.map(({ name, value }, at) =>
          named.has(at) ? (
            <g key={`${at}`}>
              <circle cx={x(at)} cy={y(value)} r={4} fill="var(--bar)" />
              <text
                x={x(at)}
                y={y(value) - 10}
                textAnchor={anchor(at)}
                className="fill-fg text-xs font-medium"
              >
                {number(language, value)}
              </text>
              {at === 0 || at === points.length - 1 ? (
                <text
                  x={x(at)}
                  y={HEIGHT - 6}
                  textAnchor={anchor(at)}
                  className="fill-muted text-xs"
                >
                  {name}
                </text>
              ) : null}
            </g>
          ) : null,
        )}
      </svg>
      <table className="sr-only">
        <caption>{label}</caption>
        <tbody>
          {points.map(({ name, value }, at) => (
            <tr key={`${at}`}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
