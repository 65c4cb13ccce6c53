import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, ok, type Schemas } from '../../api/client.ts'
import { Severity } from '../../event/severity.tsx'
import { errorMessage, hasFailed } from '../../shared/errors.tsx'
import { Button } from '../../ui/button.tsx'
import { DayBars, NamedBars } from '../../ui/chart.tsx'
import { number, useLanguage, useText } from '../../ui/language.ts'
import { Skeleton } from '../../ui/states.tsx'
import { absolute, Time } from '../../ui/time.tsx'
import { useWords } from '../../ui/words.tsx'
import { type bodyOf, previewOf } from './draft.ts'
import { previewText } from './preview.text.ts'
import { zonesText } from './zones.text.ts'

const DAYS = 30
/** A preview is asked for when the form has rested for so long. */
const REST_MS = 400

/** The value once it has not changed for a while. */
function useRested<T>(value: T, key: string): T {
  const [rested, setRested] = useState(value)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says when the value has changed
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), REST_MS)
    return () => clearTimeout(timer)
  }, [key])
  return rested
}

/**
 * What the zone would have alerted, by day, with its events; it follows the form. Beside a map its height is fixed, so
 * that the map does not change its size while somebody draws on it.
 */
export function Preview({
  body,
  onThreshold,
}: {
  body: ReturnType<typeof bodyOf>
  onThreshold: (min_severity: number) => void
}) {
  const text = useText(zonesText)
  const more = useText(previewText)
  const words = useWords()
  const given = body && previewOf(body)
  const rested = useRested(given, JSON.stringify(given))
  const preview = useQuery({
    queryKey: ['preview', rested],
    queryFn: ({ signal }) =>
      ok(
        api.POST('/api/v1/zones/preview', {
          params: { query: { days: DAYS, limit: 20 } },
          body: rested as NonNullable<typeof rested>, // safe: not asked without one
          signal,
        }),
      ),
    enabled: rested !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
  return (
    <section
      aria-label={text.preview}
      aria-busy={preview.isFetching}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
      tabIndex={0}
      className="-outline-offset-2 relative flex shrink-0 flex-col gap-2 overflow-y-auto border-t border-line p-4 max-lg:order-3 lg:h-[45%]"
    >
      <h3>{text.preview}</h3>
      {rested === undefined ? <p className="text-muted">{text.preview_none}</p> : null}
      {hasFailed(preview) ? (
        <p role="alert" className="text-bad">
          {errorMessage(preview.error, words)}
        </p>
      ) : null}
      {preview.isPending && rested ? <Skeleton className="h-24 w-full rounded-control" /> : null}
      {preview.data && rested ? (
        <>
          <p>
            {text.preview_days(DAYS)}: <strong>{text.preview_count(preview.data.count)}</strong>
          </p>
          <DayBars
            label={text.preview_chart}
            days={preview.data.by_day.map(({ day, count }) => ({ day, value: count }))}
          />
          {preview.data.by_source.length > 0 ? (
            <>
              <p className="text-sm text-muted">{more.by_source}</p>
              <NamedBars
                label={more.by_source}
                rows={preview.data.by_source.map(({ source, count }) => ({
                  key: source,
                  label: source,
                  value: count,
                }))}
              />
            </>
          ) : null}
          <Suppressed counts={preview.data.suppressed} />
          <Suggestion preview={preview.data} onThreshold={onThreshold} />
          <ul>
            {preview.data.events.map((event) => (
              <li
                key={`${event.event_id} ${event.raised_at}`}
                className="flex items-center gap-3 border-t border-line py-1.5 text-sm"
              >
                <Severity severity={event.severity} />
                <span className="flex min-w-0 flex-1 flex-col">
                  <span className="truncate">{event.title}</span>
                  {event.steps_at.length > 0 ? <Steps event={event} /> : null}
                </span>
                <Time at={event.ts} className="shrink-0 text-muted" />
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </section>
  )
}

/** When the steps of an alert would have run. */
function Steps({ event }: { event: Schemas['Preview']['events'][number] }) {
  const text = useText(previewText)
  const { locale } = useWords()
  const times = event.steps_at.map((at) => absolute(at, locale))
  return (
    <span className="text-muted text-pretty">{text.steps(times.length, times.join('; '))}</span>
  )
}

/** What would make the preview more useful: another threshold, a larger or a smaller zone, or more time. */
function Suggestion({
  preview,
  onThreshold,
}: {
  preview: Schemas['Preview']
  onThreshold: (min_severity: number) => void
}) {
  const text = useText(previewText)
  const { count, suggestion, suggested_threshold: threshold, days_with_data } = preview
  const isQuiet = count === 0 && Object.values(preview.suppressed).every((one) => one === 0)
  return (
    <>
      {threshold ? (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-pretty">
          {text.suggested(threshold.min_severity, threshold.count)}
          <Button size="sm" onClick={() => onThreshold(threshold.min_severity)}>
            {text.use(threshold.min_severity)}
          </Button>
        </p>
      ) : null}
      {!threshold && count > 0 && suggestion ? <p>{text.many}</p> : null}
      {isQuiet ? <p>{text.nothing}</p> : null}
      {days_with_data < DAYS ? (
        <p className="text-sm text-muted">
          {text.since} <Time at={preview.data_from} />
        </p>
      ) : null}
    </>
  )
}

/** How many events inside raised nothing, and by which rule. */
function Suppressed({ counts }: { counts: Schemas['Preview']['suppressed'] }) {
  const text = useText(previewText)
  const language = useLanguage()
  const rules = Object.keys(text.rules) as (keyof typeof counts)[] // safe: its keys
  const rows = rules
    .map((rule) => ({ key: rule, label: text.rules[rule], value: counts[rule] }))
    .filter(({ value }) => value > 0)
    .toSorted((a, b) => b.value - a.value)
  const sum = rows.reduce((total, { value }) => total + value, 0)
  if (sum === 0) return null
  return (
    <>
      <p className="text-sm text-muted">{text.suppressed(sum, number(language, sum))}</p>
      <NamedBars label={text.by_rule} rows={rows} />
    </>
  )
}
