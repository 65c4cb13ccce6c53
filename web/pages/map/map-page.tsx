import { useQuery } from '@tanstack/react-query'
import type { FeatureCollection } from 'geojson'
import { Activity, Hexagon } from 'lucide-react'
import { lazy, Suspense, useMemo, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import {
  eventQuery,
  eventsQuery,
  type MapEvent,
  type MapFeature,
  zonesQuery,
} from '../../api/queries.ts'
import type { View } from '../../map/map-view.tsx'
import { PlaceSearch } from '../../map/place-search.tsx'
import type { Place } from '../../map/places.ts'
import { hasWebGL } from '../../map/webgl.ts'
import { loadPart } from '../../shared/connection.ts'
import { FailedQuery } from '../../shared/errors.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { useKeys } from '../../ui/keys.ts'
import { number, useLanguage, useText } from '../../ui/language.ts'
import { Empty, SkeletonRows } from '../../ui/states.tsx'
import { EventList } from './event-list.tsx'
import { EventPanel } from './event-panel.tsx'
import { mapText } from './map.text.ts'
import { TimeSlider } from './time-slider.tsx'

const MapView = lazy(() =>
  loadPart(() => import('../../map/map-view.tsx').then(({ MapView }) => ({ default: MapView }))),
)

const NONE: MapFeature[] = []
const HOURS = { day: 24, week: 168 } as const

/** The living map: events, zones, a slider over time, and what is known of a chosen event. */
export function MapPage() {
  const text = useText(mapText)
  const language = useLanguage()
  const [, navigate] = useLocation()
  const [search, setSearch] = useSearchParams()
  const window = search.get('window') === 'week' ? 'week' : 'day'
  const look = search.get('look') === 'globe' ? 'globe' : 'flat'
  const selected = search.get('event')
  const [view, setView] = useState<View>()
  const [until, setUntil] = useState<number>()
  const [at, setAt] = useState<Place>()
  const world = useQuery(eventsQuery(HOURS[window], null))
  // The world is asked first; a part of it only when its events are more than fit.
  const isClustered = world.data?.clustered ?? false
  const part = useQuery({
    ...eventsQuery(HOURS[window], view ?? null),
    enabled: isClustered && view !== undefined,
  })
  const zones = useQuery(zonesQuery)
  const footprint = useFootprint(selected)
  const shown = (isClustered ? part.data : undefined) ?? world.data
  const change = (name: string, value: string | null) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before)
        if (value === null) next.delete(name)
        else next.set(name, value)
        return next
      },
      { replace: name !== 'event' },
    )
  useKeys({ Escape: selected ? () => change('event', null) : undefined })
  const all = shown?.features ?? NONE
  const events = useMemo(
    () => all.filter(({ properties }) => until === undefined || Date.parse(properties.ts) <= until),
    [all, until],
  )
  const single = useMemo(() => events.filter(isEvent), [events])
  if (world.isError) return <FailedQuery error={world.error} onRetry={() => world.refetch()} />
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <div className="relative min-h-0 flex-1">
        {hasWebGL() ? (
          <Suspense>
            <MapView
              label={text.map}
              events={events}
              zones={zones.data ?? []}
              selected={selected}
              footprint={footprint}
              at={at}
              look={look}
              onEvent={(id) => change('event', id)}
              onZone={(id) => navigate(`/zones/${id}`)}
              onNothing={() => change('event', null)}
              onView={setView}
            />
          </Suspense>
        ) : null}
        <aside className="absolute inset-y-2 left-2 flex w-80 flex-col overflow-hidden rounded-panel bg-surface shadow-panel max-md:inset-x-2 max-md:top-auto max-md:h-2/5 max-md:w-auto">
          {selected ? (
            <EventPanel
              id={selected}
              zones={zones.data ?? []}
              onClose={() => change('event', null)}
            />
          ) : (
            <>
              <header className="flex items-baseline justify-between gap-2 border-b border-line px-4 py-3">
                <h1 className="text-lg">{text.events}</h1>
                <p className="text-sm text-muted" data-numbers>
                  {shown ? text.count(number(language, shown.total)) : null}
                </p>
              </header>
              {hasWebGL() ? (
                <PlaceSearch onPlace={setAt} className="mx-4 mt-2" />
              ) : (
                <p className="px-4 py-2 text-sm text-muted">{text.no_webgl}</p>
              )}
              {shown?.clustered ? (
                <p className="px-4 py-2 text-sm text-muted">{text.many}</p>
              ) : null}
              {zones.data?.length === 0 ? <FirstZone /> : null}
              {world.isPending ? (
                <SkeletonRows />
              ) : single.length === 0 ? (
                <Empty
                  picture={<Activity size={24} strokeWidth={1.5} aria-hidden />}
                  title={text.none}
                  text={text.none_text}
                  className="py-8"
                />
              ) : (
                <EventList events={single} onEvent={(id) => change('event', id)} />
              )}
            </>
          )}
        </aside>
      </div>
      <TimeSlider
        hours={HOURS[window]}
        window={window}
        look={look}
        until={until}
        events={all}
        onUntil={setUntil}
        onWindow={(next) => change('window', next === 'day' ? null : next)}
        onLook={(next) => change('look', next === 'flat' ? null : next)}
      />
    </div>
  )
}

function isEvent(feature: MapFeature): feature is MapEvent {
  return !feature.properties.cluster
}

/** The footprint of an event as the map draws it. */
function useFootprint(id: string | null): FeatureCollection | null {
  const { data } = useQuery({ ...eventQuery(id ?? ''), enabled: id !== null })
  return useMemo(() => {
    if (!id || !data?.event.geometry) return null
    const geometry = data.event.geometry as GeoJSON.Geometry // safe: the API answers GeoJSON
    return {
      type: 'FeatureCollection',
      features: [{ type: 'Feature', properties: {}, geometry }],
    }
  }, [id, data])
}

/** What the map teaches an account without zones. */
function FirstZone() {
  const text = useText(mapText)
  return (
    <div className="flex flex-col gap-2 border-b border-line p-4">
      <p className="flex items-center gap-2 font-medium">
        <Hexagon size={16} aria-hidden /> {text.first_zone}
      </p>
      <p className="text-sm text-muted">{text.first_zone_text}</p>
      <Link href="/zones/new" className={buttonClass({ variant: 'primary' })}>
        {text.create_zone}
      </Link>
    </div>
  )
}
