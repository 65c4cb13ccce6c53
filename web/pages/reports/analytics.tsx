import { useQuery } from '@tanstack/react-query'
import { ChartColumn } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { analyticsQuery } from '../../api/queries.ts'
import { FailedQuery, hasFailed } from '../../shared/errors.tsx'
import { DayBars, NamedBars } from '../../ui/chart.tsx'
import { duration, number, useLanguage, useText } from '../../ui/language.ts'
import { Empty, SkeletonRows } from '../../ui/states.tsx'
import { Period, usePeriod } from './period.tsx'
import { reportsText } from './reports.text.ts'

/** Alerts by day, source and zone, how soon they are resolved, and how many messages arrive. */
export function Analytics() {
  const text = useText(reportsText)
  const language = useLanguage()
  const [days, setDays] = usePeriod()
  const found = useQuery(analyticsQuery(days))
  if (found.isPending) return <SkeletonRows />
  if (hasFailed(found)) return <FailedQuery error={found.error} onRetry={() => found.refetch()} />
  const counted = found.data
  const say = (value: number) => number(language, value)
  const { succeeded, failed } = counted.deliveries
  const { p50, p95 } = counted.resolve_seconds
  const share =
    succeeded + failed > 0
      ? number(language, succeeded / (succeeded + failed), {
          style: 'percent',
          // Never 100 % while something was lost.
          roundingMode: 'floor',
          maximumFractionDigits: 1,
        })
      : text.nothing
  return (
    <div className="flex flex-col gap-8" aria-busy={found.isFetching}>
      <div>
        <Period days={days} onDays={setDays} />
      </div>
      <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-panel border border-line bg-line lg:grid-cols-4">
        <Fact name={text.alerts} value={say(counted.alerts_window)} />
        <Fact name={text.resolved} value={say(counted.alerts_resolved)} />
        <Fact
          name={text.resolve_time}
          value={
            p50 === null ? (
              text.nothing
            ) : (
              <time dateTime={`PT${p50}S`}>{duration(language, p50)}</time>
            )
          }
          more={
            p95 === null
              ? undefined
              : `${text.resolve_half}, ${text.resolve_most(duration(language, p95))}`
          }
        />
        <Fact
          name={text.delivered}
          value={share}
          more={failed > 0 ? text.lost(say(failed)) : succeeded > 0 ? text.nothing_lost : undefined}
        />
      </dl>
      {counted.alerts_window === 0 ? (
        <Empty
          picture={<ChartColumn size={24} strokeWidth={1.5} aria-hidden />}
          title={text.none}
          text={text.none_text}
        />
      ) : (
        <>
          <Section title={text.by_day} hint={text.by_day_hint}>
            <DayBars
              label={text.by_day}
              days={counted.alerts_by_day.map(({ day, count }) => ({ day, value: count }))}
            />
          </Section>
          <div className="grid gap-8 lg:grid-cols-2">
            <Section title={text.by_source}>
              <NamedBars
                label={text.by_source}
                rows={counted.alerts_by_source.map(({ source, count }) => ({
                  key: source,
                  label: <code>{source}</code>,
                  value: count,
                }))}
              />
            </Section>
            <Section title={text.by_zone}>
              <NamedBars
                label={text.by_zone}
                rows={counted.alerts_by_zone.map(({ zone_id, zone, count }) => ({
                  key: zone_id,
                  label: (
                    <Link
                      href={`/zones/${zone_id}`}
                      title={zone}
                      className="line-clamp-2 min-h-6 py-1 break-words hover:underline"
                    >
                      {zone}
                    </Link>
                  ),
                  value: count,
                }))}
              />
            </Section>
          </div>
        </>
      )}
    </div>
  )
}

function Fact({
  name,
  value,
  more,
}: {
  name: string
  value: ReactNode
  more?: string | undefined
}) {
  return (
    <div className="flex flex-col gap-1 bg-surface p-4">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="text-xl font-semibold" data-numbers>
        {value}
      </dd>
      {more ? <dd className="text-sm text-muted">{more}</dd> : null}
    </div>
  )
}

function Section({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  return (
    <section className="flex min-w-0 flex-col gap-3">
      <header className="flex flex-wrap items-baseline justify-between gap-2">
        <h2>{title}</h2>
        {hint ? <p className="text-sm text-muted">{hint}</p> : null}
      </header>
      {children}
    </section>
  )
}
