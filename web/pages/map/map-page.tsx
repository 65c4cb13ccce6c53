import { useQuery } from '@tanstack/react-query'
import type { FeatureCollection } from 'geojson'
import { Activity, ChevronDown, ChevronUp, Hexagon } from 'lucide-react'
import { lazy, Suspense, useMemo, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import {
  eventQuery,
  eventsQuery,
  type Footprint,
  footprintsQuery,
  healthQuery,
  type MapEvent,
  type MapFeature,
  type Track,
  trackQuery,
  tracksQuery,
  type Zone,
  zonesQuery,
} from '../../api/queries.ts'
import { drawable } from '../../map/footprints.ts'
import { movedTo, placeAt } from '../../map/moved.ts'
import { PlaceSearch } from '../../map/place-search.tsx'
import type { Place } from '../../map/places.ts'
import { isPositions } from '../../map/tracks.ts'
import { useWebGL } from '../../map/use-webgl.ts'
import { around, type View, WORLD_VIEW } from '../../map/view.ts'
import { isBlind } from '../../shared/blind.ts'
import { loadPart } from '../../shared/connection.ts'
import { FailedQuery, hasFailed } from '../../shared/errors.tsx'
import { buttonClass, IconButton } from '../../ui/button.tsx'
import { cn } from '../../ui/class-names.ts'
import { useKeys } from '../../ui/keys.ts'
import { number, useLanguage, useText } from '../../ui/language.ts'
import { Empty, SkeletonRows } from '../../ui/states.tsx'
import { emptyHint } from './empty.ts'
import { EventList, type Listed } from './event-list.tsx'
import { EventPanel } from './event-panel.tsx'
import { filterIn } from './filter.ts'
import { Filters } from './filters.tsx'
import { mapText } from './map.text.ts'
import { barBefore, TimeSlider } from './time-slider.tsx'

const MapView = lazy(() =>
  loadPart(() => import('../../map/map-view.tsx').then(({ MapView }) => ({ default: MapView }))),
)

const NONE: MapFeature[] = []
const NO_AREAS: Footprint[] = []
const NO_TRACKS: Track[] = []
const NO_ZONES: Zone[] = []
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
  const canDraw = useWebGL()
  const [wantsFold, setFold] = useState(false)
  // Without a map the list is all there is, and a chosen event is what somebody asked for.
  const isFolded = wantsFold && canDraw && selected === null
  const hours = HOURS[window]
  const type = search.get('type')
  const severity = search.get('severity')
  const filter = useMemo(() => filterIn(type, severity), [type, severity])
  const world = useQuery(eventsQuery(hours, filter, null))
  // The world is asked first; a part of it only when its events are more than fit.
  const isClustered = world.data?.clustered ?? false
  // A cluster says only when the newest of its events was: of an earlier time it is asked for anew.
  const to = until === undefined ? undefined : barBefore(until, hours)
  const part = useQuery({
    ...eventsQuery(hours, filter, view ?? null, to),
    enabled: isClustered && view !== undefined,
  })
  const zones = useQuery(zonesQuery)
  const health = useQuery(healthQuery)
  const near = useMemo(() => around(view ?? WORLD_VIEW), [view])
  const isLooking = !canDraw || view !== undefined
  const areas = useQuery({
    ...footprintsQuery(hours, filter, near),
    enabled: canDraw && isLooking,
  })
  const moving = useQuery({ ...tracksQuery(hours, filter, near), enabled: isLooking })
  const chosen = useQuery({ ...eventQuery(selected ?? ''), enabled: selected !== null })
  const way = useQuery({ ...trackQuery(hours, selected ?? ''), enabled: selected !== null })
  const event = selected === null ? undefined : chosen.data?.event
  const track = selected === null ? null : (way.data ?? null)
  const footprint = useMemo(() => footprintOf(event?.geometry), [event?.geometry])
  const place = useMemo(() => placeAt(event, track, until), [event, track, until])
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
  const tracks = moving.data ?? NO_TRACKS
  const events = useMemo(() => movedTo(all, tracks, until), [all, tracks, until])
  const single = useMemo(
    (): Listed[] => [...events.filter(isEvent), ...tracks.filter(isPositions).map(listed)],
    [events, tracks],
  )
  const watched = (health.data?.sources ?? []).filter(({ status }) => status !== 'disabled')
  const hint = emptyHint({
    isEmpty: events.length === 0 && single.length === 0,
    filter,
    isPart: isClustered,
    window,
    isBlind: watched.length > 0 && watched.every(isBlind),
  })
  if (hasFailed(world)) return <FailedQuery error={world.error} onRetry={() => world.refetch()} />
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <div className="relative min-h-0 flex-1">
        {canDraw ? (
          <Suspense>
            <MapView
              label={text.map}
              events={events}
              zones={zones.data ?? NO_ZONES}
              footprints={areas.data?.features ?? NO_AREAS}
              tracks={tracks}
              until={until}
              selected={selected}
              span={hours * 3_600_000}
              chosen={place}
              footprint={footprint}
              track={track}
              at={at}
              look={look}
              onEvent={(id) => change('event', id)}
              onZone={(id) => navigate(`/zones/${id}`)}
              onNothing={() => change('event', null)}
              onView={setView}
            />
          </Suspense>
        ) : null}
        <aside
          className={cn(
            'absolute left-2 flex flex-col overflow-hidden rounded-panel bg-surface shadow-panel max-md:right-2 max-md:bottom-2 md:top-2 md:w-80',
            isFolded ? null : 'max-md:h-2/5 md:bottom-2',
          )}
        >
          {selected ? (
            <EventPanel
              id={selected}
              zones={zones.data ?? NO_ZONES}
              track={track}
              onClose={() => change('event', null)}
            />
          ) : (
            <>
              <header
                className={cn(
                  'flex items-center justify-between gap-2 py-2 pr-2 pl-4',
                  isFolded ? null : 'border-b border-line',
                )}
              >
                <h1 className="text-lg">{text.events}</h1>
                <p className="ml-auto text-sm text-muted" data-numbers>
                  {shown ? text.count(shown.total, number(language, shown.total)) : null}
                </p>
                {canDraw ? (
                  <IconButton
                    label={isFolded ? text.unfold : text.fold}
                    aria-expanded={!isFolded}
                    onClick={() => setFold(!isFolded)}
                  >
                    {isFolded ? (
                      <ChevronDown size={16} className="max-md:rotate-180" aria-hidden />
                    ) : (
                      <ChevronUp size={16} className="max-md:rotate-180" aria-hidden />
                    )}
                  </IconButton>
                ) : null}
              </header>
              {isFolded ? null : (
                <>
                  {canDraw ? (
                    <PlaceSearch onPlace={setAt} className="mx-4 mt-2" />
                  ) : (
                    <p className="px-4 py-2 text-sm text-muted">{text.no_webgl}</p>
                  )}
                  <Filters type={type} severity={severity} onChange={change} />
                  {shown?.clustered ? (
                    <p className="px-4 py-2 text-sm text-muted">{text.many}</p>
                  ) : null}
                  {areas.data?.isCut ? (
                    <p className="px-4 py-2 text-sm text-muted">{text.many_areas}</p>
                  ) : null}
                  {zones.data?.length === 0 ? <FirstZone /> : null}
                  {world.isPending ? (
                    <SkeletonRows />
                  ) : hint ? (
                    <Empty
                      picture={<Activity size={24} strokeWidth={1.5} aria-hidden />}
                      title={isClustered ? text.none_here : text.none}
                      text={text.none_text[hint]}
                      className="py-8"
                    />
                  ) : (
                    <EventList events={single} onEvent={(id) => change('event', id)} />
                  )}
                </>
              )}
            </>
          )}
        </aside>
      </div>
      <TimeSlider
        hours={hours}
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

/** What moves, as the list says it. */
function listed({ event_id, type, title, severity, ts }: Track): Listed {
  return { id: event_id, properties: { type, title, severity, ts }, isMoving: true }
}

/** The footprint of an event as the map draws it. */
function footprintOf(given: unknown): FeatureCollection | null {
  if (!given) return null
  const geometry = drawable(given as GeoJSON.Geometry) // safe: the API answers GeoJSON
  return { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry }] }
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
