import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import { eventQuery, type Zone } from '../../api/queries.ts'
import { Severity } from '../../event/severity.tsx'
import { TypeIcon } from '../../event/type-icon.tsx'
import { Why } from '../../event/why.tsx'
import { holds } from '../../map/shapes.ts'
import { FailedQuery } from '../../shared/errors.tsx'
import { IconButton } from '../../ui/button.tsx'
import { FactsLine } from '../../ui/facts-line.tsx'
import { number, useLanguage, useText } from '../../ui/language.ts'
import { SkeletonRows } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useWords } from '../../ui/words.tsx'
import { mapText } from './map.text.ts'

/** What is known of an event: its numbers, its revisions, the zones that hold it, and why they did or did not alert. */
export function EventPanel({
  id,
  zones,
  onClose,
}: {
  id: string
  zones: Zone[]
  onClose: () => void
}) {
  const text = useText(mapText)
  const words = useWords()
  const language = useLanguage()
  const found = useQuery(eventQuery(id))
  const [asked, setAsked] = useState<string>()
  const event = found.data?.event
  const around = event ? zones.filter((zone) => holds(zone, event)) : []
  const chosen = around.find((zone) => zone.id === asked) ?? around[0]
  const say = (value: number) => number(language, value, { maximumFractionDigits: 1 })
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <header className="flex items-start gap-2 border-b border-line py-3 pr-2 pl-4">
        <h1 className="min-w-0 flex-1 text-lg text-pretty">{event?.title ?? id}</h1>
        <IconButton label={words.close} onClick={onClose}>
          <X size={16} aria-hidden />
        </IconButton>
      </header>
      {found.isPending ? <SkeletonRows rows={4} /> : null}
      {found.isError ? <FailedQuery error={found.error} onRetry={() => found.refetch()} /> : null}
      {event ? (
        <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4">
          <FactsLine>
            <TypeIcon type={event.type} />
            <Severity severity={event.severity} />
            {event.magnitude === null ? null : text.magnitude(say(event.magnitude))}
            {event.depth_km === null ? null : text.depth(say(event.depth_km))}
            <Time at={event.ts} />
            {event.url ? (
              <a
                href={event.url}
                target="_blank"
                rel="noreferrer noopener"
                className="text-accent-text hover:underline"
              >
                {text.source}
              </a>
            ) : null}
          </FactsLine>
          <section className="flex flex-col gap-2">
            <h2>{text.in_zones}</h2>
            {around.length === 0 ? <p className="text-muted">{text.in_no_zone}</p> : null}
            {around.length > 1 ? (
              <div className="flex flex-wrap gap-1">
                {around.map((zone) => (
                  <button
                    key={zone.id}
                    type="button"
                    aria-pressed={zone.id === chosen?.id}
                    onClick={() => setAsked(zone.id)}
                    className="rounded-control border border-line px-2 py-1 text-sm aria-pressed:bg-selected"
                  >
                    {zone.label}
                  </button>
                ))}
              </div>
            ) : (
              <p>{chosen?.label}</p>
            )}
            {chosen ? <Why zone_id={chosen.id} event_id={id} /> : null}
          </section>
          <section className="flex flex-col gap-1">
            <h2>{text.revisions(event.revisions.length)}</h2>
            <ul>
              {event.revisions.map((revision) => (
                <li
                  key={revision.revision}
                  className="flex items-center justify-between gap-2 border-t border-line py-1.5 text-sm"
                >
                  <span className="text-muted">{text.revision(revision.revision)}</span>
                  <Severity severity={revision.severity} />
                  <Time at={revision.first_seen_at} className="text-muted" />
                </li>
              ))}
            </ul>
          </section>
          <p className="text-xs text-muted">{event.attribution}</p>
        </div>
      ) : null}
    </div>
  )
}
