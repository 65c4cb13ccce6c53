import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import type { Geometry } from '../../../shared/schemas/event.ts'
import { eventQuery, type Track, type Zone } from '../../api/queries.ts'
import { Severity } from '../../event/severity.tsx'
import { TypeIcon } from '../../event/type-icon.tsx'
import { Why } from '../../event/why.tsx'
import { extentOf, wayOf } from '../../map/extent.ts'
import { holds } from '../../map/shapes.ts'
import { FailedQuery, hasFailed } from '../../shared/errors.tsx'
import { IconButton } from '../../ui/button.tsx'
import { duration, number, useLanguage, useText } from '../../ui/language.ts'
import { FactsLine } from '../../ui/lists/facts-line.tsx'
import { SkeletonRows } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useWords } from '../../ui/words.tsx'
import { mapText } from './map.text.ts'

/** What is known of an event: its numbers, its revisions, the zones that hold it, and why they did or did not alert. */
export function EventPanel({
  id,
  zones,
  track,
  onClose,
}: {
  id: string
  zones: Zone[]
  track: Track | null
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
      {hasFailed(found) ? (
        <FailedQuery error={found.error} onRetry={() => found.refetch()} />
      ) : null}
      {event ? (
        <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4">
          <FactsLine className="shrink-0">
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
          {event.geometry || track ? <Shapes geometry={event.geometry} track={track} /> : null}
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
          {event.revisions.length === 0 ? null : (
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
          )}
          <p className="text-xs text-muted">{event.attribution}</p>
        </div>
      ) : null}
    </div>
  )
}

/** The footprint and the way in words, for those who do not see the map. */
function Shapes({ geometry, track }: { geometry: Geometry | null; track: Track | null }) {
  const text = useText(mapText)
  const language = useLanguage()
  const extent = geometry && extentOf(geometry)
  const way = track && wayOf(track.steps)
  const say = (value: number) => number(language, value, { maximumSignificantDigits: 3 })
  if (!extent && !way) return null
  return (
    <dl className="grid shrink-0 grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-sm">
      {extent ? (
        <>
          <dt className="text-muted">{text.footprint}</dt>
          <dd data-numbers>
            {'area_km2' in extent
              ? text.area(say(extent.area_km2), say(extent.width_km), say(extent.height_km))
              : text.line(say(extent.length_km))}
          </dd>
        </>
      ) : null}
      {way ? (
        <>
          <dt className="text-muted">{text.track}</dt>
          <dd data-numbers>
            <FactsLine>
              {text.way(say(way.length_km), duration(language, way.seconds))}
              {way.towards ? text.towards[way.towards] : null}
              <span>
                {text.moved} <Time at={way.moved_at} />
              </span>
            </FactsLine>
            {way.gaps > 0 ? <p className="text-muted">{text.gaps(way.gaps)}</p> : null}
          </dd>
        </>
      ) : null}
    </dl>
  )
}
