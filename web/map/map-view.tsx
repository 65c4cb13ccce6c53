import 'maplibre-gl/dist/maplibre-gl.css'
import type { FeatureCollection } from 'geojson'
import type { GeoJSONSource, Map as MapLibre } from 'maplibre-gl'
import { useEffect, useRef, useState } from 'react'
import type { Footprint, MapFeature, Track, Zone } from '../api/queries.ts'
import { timeNow } from '../ui/clock.ts'
import { onTheme } from '../ui/theme.ts'
import { baseStyle, coloursOf, fetchWorld, fillBase } from './base.ts'
import { showFootprints } from './footprints.ts'
import { keepView, lastView } from './last-view.ts'
import { addLayers, EMPTY, placeData, setData, showFootprintsUntil } from './layers.ts'
import { openMap } from './open-map.ts'
import type { Place } from './places.ts'
import { eventFeatures, showZones } from './shapes.ts'
import { addSymbols } from './symbols.ts'
import { headFeatures, trackFeatures } from './tracks.ts'
import type { View } from './view.ts'
import { addZoneSymbol, zoneIconFeatures } from './zone-symbols.tsx'

type Look = 'flat' | 'globe'

/** A place is shown with what is around it. */
const PLACE_ZOOM = 8
const GLOBE_ZOOM = 1.6

type Props = {
  label: string
  events: MapFeature[]
  zones: Zone[]
  footprints: Footprint[]
  tracks: Track[]
  /** Up to when it shows what happened; undefined: up to now. */
  until: number | undefined
  /** The whole stretch of time, in milliseconds. */
  span: number
  /** The id of what is chosen: the map goes there if it does not show it. */
  selected: string | null
  /** Its place, its footprint, and its way. */
  chosen: { lat: number; lon: number } | null
  footprint: FeatureCollection | null
  track: Track | null
  /** A place to go to. */
  at: Place | undefined
  look: Look
  onEvent: (id: string) => void
  onZone: (id: string) => void
  onNothing: () => void
  onView: (view: View) => void
}

/** The living map. It needs WebGL: `hasWebGL` says whether there is any. */
export function MapView(props: Props) {
  const {
    label,
    events,
    zones,
    footprints,
    tracks,
    until,
    span,
    selected,
    chosen,
    footprint,
    track,
    at,
    look,
  } = props
  const place = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  const [map, setMap] = useState<MapLibre>()

  useEffect(() => {
    if (!place.current) return
    const container = place.current
    const created = openMap({
      container,
      style: { version: 8, sources: {}, layers: [] },
      ...lastView({ width_px: container.clientWidth, covered_px: coveredOf(container)[0] }),
      renderWorldCopies: true,
    })
    if (!created) return
    created.touchZoomRotate.disableRotation()
    let stopBase = (): void => undefined
    let dresses = 0
    const dress = () => {
      const colours = coloursOf(container)
      stopBase()
      dresses += 1
      const current = dresses
      const isOver = () => current !== dresses
      created.setStyle(baseStyle(colours), { diff: false })
      created.once('style.load', async () => {
        // What fails is said by fillBase, which asks again.
        void fetchWorld().catch(() => undefined)
        addSymbols(created, colours)
        await addLayers(created, colours, isOver)
        if (isOver()) return
        setMap(created)
        // After the events: a slow machine draws those first.
        stopBase = fillBase(created)
      })
    }
    listen(created, latest)
    created.on('styleimagemissing', ({ id }) => {
      const current = dresses
      void addZoneSymbol(created, id, coloursOf(container), () => current !== dresses)
    })
    latest.current.onView(viewOf(created))
    created.on('error', ({ error }) => console.error('map:', error))
    dress()
    const stopTheme = onTheme(() => {
      setMap(undefined)
      dress()
    })
    return () => {
      stopTheme()
      dresses += 1
      stopBase()
      created.remove()
      setMap(undefined)
    }
  }, [])

  useEffect(() => setData(map, 'events', eventFeatures(events)), [map, events])
  const held = useRef(new Map<string, Zone>())
  useEffect(() => {
    // A map that is dressed anew holds none.
    if (!map) held.current = new Map()
    else return showZones(map, zones, held.current)
  }, [map, zones])
  useEffect(() => setData(map, 'zone-icons', zoneIconFeatures(zones)), [map, zones])
  const drawn = useRef(new Map<string, Footprint>())
  useEffect(() => {
    if (!map) drawn.current = new Map()
    else return showFootprints(map, footprints, drawn.current)
  }, [map, footprints])
  useEffect(() => {
    if (map) showFootprintsUntil(map, until)
  }, [map, until])
  useEffect(() => {
    if (!map) return
    const shown = { until: until ?? timeNow(), span, chosen: track ?? undefined }
    setData(map, 'tracks', trackFeatures(tracks, shown))
    setData(map, 'heads', headFeatures(tracks, shown.until))
  }, [map, tracks, until, span, track])
  useEffect(() => setData(map, 'footprint', footprint ?? EMPTY), [map, footprint])
  useEffect(() => setData(map, 'chosen', placeData(chosen)), [map, chosen])
  const shown = useRef<string>(undefined)
  useEffect(() => {
    if (!map || !chosen || selected === shown.current) return
    // Not again while it moves: the reader may have gone elsewhere.
    shown.current = selected ?? undefined
    showPlace(map, chosen)
  }, [map, selected, chosen])
  useEffect(() => {
    if (!map || !at) return
    setData(map, 'place', placeData(at))
    map.easeTo({ center: [at.lon, at.lat], zoom: Math.max(map.getZoom(), PLACE_ZOOM) })
  }, [map, at])
  useEffect(() => {
    map?.setProjection({ type: look === 'globe' ? 'globe' : 'mercator' })
    // The whole world is small on a globe.
    if (look === 'globe' && map && map.getZoom() < GLOBE_ZOOM) map.easeTo({ zoom: GLOBE_ZOOM })
  }, [map, look])
  return (
    <section aria-label={label} className="absolute inset-0" data-ready={map !== undefined}>
      <div ref={place} className="h-full" />
    </section>
  )
}

/** The list lies over the left of a wide map, and over the lower part of a phone's. */
const LIST_PX = 340
const LIST_SHARE = 0.42
const WIDE_PX = 700
const MARGIN_PX = 24

/** How many pixels of a map the list covers, on its left and at its foot. */
const coveredOf = ({ clientWidth: width, clientHeight: height }: HTMLElement) =>
  width >= WIDE_PX ? ([LIST_PX, 0] as const) : ([0, height * LIST_SHARE] as const)

/** Moves the map to a place that is outside of it, behind the list, or on the other side of the globe. */
function showPlace(map: MapLibre, { lat, lon }: { lat: number; lon: number }): void {
  const { clientWidth: width, clientHeight: height } = map.getContainer()
  const [left, below] = coveredOf(map.getContainer())
  const { x, y } = map.project([lon, lat])
  const isWithin = (value: number, from: number, to: number) =>
    value > from + MARGIN_PX && value < to - MARGIN_PX
  const isSeen = isWithin(x, left, width) && isWithin(y, 0, height - below)
  if (isSeen && map.getProjection()?.type !== 'globe') return
  map.easeTo({ center: [lon, lat], offset: [left / 2, -below / 2] })
}

/** What is on top wins: a point, then an area or a way, then a zone. */
const POINTS = ['events', 'heads', 'clusters', 'event-clusters']
const SHAPES = ['tracks', 'track-gaps', 'footprints', 'footprint-lines', 'footprint-points']
const ZONES = ['zone-icons', 'zone-areas']
/** A line is thin; a click beside it is meant for it. */
const REACH_PX = 3

function listen(map: MapLibre, latest: { current: Props }): void {
  map.on('moveend', () => {
    const { lng, lat } = map.getCenter()
    const zoom = map.getZoom()
    keepView({ center: [lng, lat], zoom })
    latest.current.onView(viewOf(map))
  })
  map.on('mousemove', ({ point }) => {
    if (!map.getLayer('events')) return
    const layers = [...POINTS, ...SHAPES, ...ZONES]
    const found = map.queryRenderedFeatures(point, { layers })
    map.getCanvas().style.cursor = found.length > 0 ? 'pointer' : ''
  })
  map.on('click', async ({ point, lngLat }) => {
    if (!map.getLayer('events')) return
    const [found] = map.queryRenderedFeatures(point, { layers: POINTS })
    if (found?.layer.id === 'events' || found?.layer.id === 'heads') {
      return latest.current.onEvent(String(found.properties.id))
    }
    if (found?.layer.id === 'clusters') {
      const source = map.getSource<GeoJSONSource>('events')
      const zoom = await source?.getClusterExpansionZoom(Number(found.properties.cluster_id))
      return map.easeTo({ center: lngLat, zoom: zoom ?? map.getZoom() + 2 })
    }
    if (found) {
      const [west = 0, south = 0, east = 0, north = 0] = String(found.properties.bbox)
        .split(',')
        .map(Number)
      return map.fitBounds([west, south, east, north], { padding: 60, maxZoom: 12 })
    }
    const { x, y } = point
    const [shape] = map.queryRenderedFeatures(
      [
        [x - REACH_PX, y - REACH_PX],
        [x + REACH_PX, y + REACH_PX],
      ],
      { layers: SHAPES },
    )
    if (shape) return latest.current.onEvent(String(shape.properties.id))
    const [zone] = map.queryRenderedFeatures(point, { layers: ZONES })
    if (zone) return latest.current.onZone(String(zone.properties.id))
    latest.current.onNothing()
  })
}

/** What the map shows, as the API takes it: whole degrees, so that a small move asks for nothing new. */
function viewOf(map: MapLibre): View {
  const bounds = map.getBounds()
  const zoom = Math.round(map.getZoom())
  const isWorld = bounds.getEast() - bounds.getWest() >= 360
  const wrap = (lon: number) => ((((lon + 180) % 360) + 360) % 360) - 180
  const west = isWorld ? -180 : wrap(Math.floor(bounds.getWest()))
  const east = isWorld ? 180 : wrap(Math.ceil(bounds.getEast()))
  const south = Math.max(-90, Math.floor(bounds.getSouth()))
  const north = Math.min(90, Math.ceil(bounds.getNorth()))
  return { bbox: [west, south, east, north].join(','), zoom }
}
