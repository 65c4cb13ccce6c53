type Props = {
  label: string
  weeks: { week: string; values: number[] }[]
  series: { name: string; colour: string }[]
}

const HEIGHT = 120
const BAR = 5
const GAP = 14

/** Groups of bars, one group a week, from zero; the table beside it has the numbers. */
export function WeekBars({ label, weeks, series }: Props) {
  const max = Math.max(1, ...weeks.flatMap(({ values }) => values))
  const group = series.length * (BAR + 1) + GAP
  return (
    <figure>
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${weeks.length * group} ${HEIGHT + 4}`}
        preserveAspectRatio="none"
        className="h-36 w-full"
      >
        <line x1={0} x2={weeks.length * group} y1={HEIGHT} y2={HEIGHT} stroke="var(--line)" />
        {weeks.map(({ week, values }, at) =>
          values.map((value, one) => {
            const height = (HEIGHT * value) / max
            return (
              <rect
                key={`${week}-${series[one]?.name}`}
                x={at * group + GAP / 2 + one * (BAR + 1)}
                y={HEIGHT - height}
                width={BAR}
                height={height}
                fill={series[one]?.colour}
              />
            )
          }),
        )}
      </svg>
      <figcaption className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted">
        {series.map(({ name, colour }) => (
          <span key={name} className="flex items-center gap-1.5">
            <svg width="10" height="10" aria-hidden>
              <rect width="10" height="10" rx="2" fill={colour} />
            </svg>
            {name}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}
