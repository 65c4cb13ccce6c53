import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { healthQuery } from '../../api/queries.ts'
import { addressOf } from '../../api/settings.ts'
import { FailedQuery, hasFailed } from '../../shared/errors.tsx'
import { Badge } from '../../ui/badge.tsx'
import { duration, number, useLanguage, useText } from '../../ui/language.ts'
import { SkeletonRows } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { reportsText } from './reports.text.ts'

const TONES = { ok: 'good', stale: 'warn', down: 'bad', disabled: 'plain' } as const

/** Which sources deliver, how much, and how soon. */
export function Status() {
  const text = useText(reportsText)
  const language = useLanguage()
  const found = useQuery(healthQuery)
  if (found.isPending) return <SkeletonRows />
  if (hasFailed(found)) return <FailedQuery error={found.error} onRetry={() => found.refetch()} />
  const health = found.data
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-baseline justify-between gap-3">
        <p className="font-medium">{text.overall[health.status]}</p>
        <a
          href={addressOf('/status')}
          className="inline-flex min-h-7 items-center text-sm text-accent-text hover:underline"
        >
          {text.public_page}
        </a>
      </div>
      <ul className="grid gap-3 lg:grid-cols-2">
        {health.sources.map((source) => (
          <li
            key={source.source}
            className="flex min-w-0 flex-col gap-2 rounded-panel border border-line bg-surface p-4"
          >
            <div className="flex items-start justify-between gap-3">
              <div className="min-w-0">
                <h2 className="break-words">
                  <code className="font-sans">{source.title}</code>
                </h2>
                <p className="text-xs text-muted">
                  <code className="font-sans">{source.attribution}</code>
                </p>
              </div>
              <Badge tone={TONES[source.status]}>{text.statuses[source.status]}</Badge>
            </div>
            <dl className="grid grid-cols-2 gap-x-3 gap-y-1 text-sm" data-numbers>
              <Fact name={text.last_success}>
                {source.last_success_at ? <Time at={source.last_success_at} /> : text.never}
              </Fact>
              <Fact name={text.last_event}>
                {source.last_event_at ? <Time at={source.last_event_at} /> : text.never}
              </Fact>
              <Fact name={text.events_24h}>{number(language, source.events_24h)}</Fact>
              <Fact name={text.latency}>
                {source.latency_seconds.p50 === null ? (
                  text.nothing
                ) : (
                  <time dateTime={`PT${source.latency_seconds.p50}S`} title={text.latency_hint}>
                    {duration(language, source.latency_seconds.p50)}
                  </time>
                )}
              </Fact>
            </dl>
            {source.error ? (
              <code className="text-xs break-words text-bad">{source.error}</code>
            ) : null}
            {source.rejected_24h > 0 ? (
              <p className="text-sm text-warn">
                {text.rejected(number(language, source.rejected_24h))}
              </p>
            ) : null}
          </li>
        ))}
      </ul>
    </div>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex flex-col">
      <dt className="text-muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
