import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, ok } from '../../api/client.ts'
import { Severity } from '../../event/severity.tsx'
import { errorMessage } from '../../shared/errors.tsx'
import { DayBars } from '../../ui/chart.tsx'
import { useText } from '../../ui/language.ts'
import { Skeleton } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useWords } from '../../ui/words.tsx'
import type { bodyOf } from './draft.ts'
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

/** What the zone would have alerted, by day, with its events; it follows the form. */
export function Preview({ body }: { body: ReturnType<typeof bodyOf> }) {
  const text = useText(zonesText)
  const words = useWords()
  // Its names decide nothing: typing them asks for no other preview.
  const given = body && { ...body, label: text.new_title, external_id: null }
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
      aria-busy={preview.isFetching}
      className="flex max-h-[45%] shrink-0 flex-col gap-2 overflow-y-auto border-t border-line p-4 max-lg:max-h-none"
    >
      <h3>{text.preview}</h3>
      {rested === undefined ? <p className="text-muted">{text.preview_none}</p> : null}
      {preview.isError ? (
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
          <p className="text-sm text-muted">
            {text.suppressed(
              Object.values(preview.data.suppressed).reduce((sum, count) => sum + count, 0),
            )}
          </p>
          {preview.data.suggestion ? (
            <p className="text-sm text-pretty" lang="en">
              {preview.data.suggestion}
            </p>
          ) : null}
          <ul>
            {preview.data.events.map((event) => (
              <li
                key={`${event.event_id} ${event.raised_at}`}
                className="flex items-center gap-3 border-t border-line py-1.5 text-sm"
              >
                <Severity severity={event.severity} />
                <span className="min-w-0 flex-1 truncate">{event.title}</span>
                <Time at={event.ts} className="text-muted" />
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </section>
  )
}
