import type { Position } from 'geojson'
import type { GeoJSONSource, Map as MapLibre, MapMouseEvent, MapTouchEvent } from 'maplibre-gl'
import { distance_km } from '../../shared/geometry/geometry.ts'
import type { Draft } from '../pages/zones/draft.ts'
import type { Colours } from './base.ts'
import { EMPTY, placeData } from './layers.ts'
import { areaOf } from './shapes.ts'

type Circle = Pick<Draft, 'lat' | 'lon' | 'radius_km'>

/** What a zone may have. */
const [LEAST_KM, MOST_KM] = [0.1, 5000]
const HANDLE = 'radius'

/** The radius of a circle whose ring is dragged to a place, in three digits, as nobody drags closer. */
export function radiusTo(centre: { lat: number; lon: number }, to: { lat: number; lon: number }) {
  const km = Math.min(MOST_KM, Math.max(LEAST_KM, distance_km(centre, to)))
  return Number(km.toPrecision(3))
}

/** The easternmost point of a circle's ring. */
export function eastOf(circle: Circle): { lat: number; lon: number } {
  const area = areaOf({ ...circle, shape_type: 'circle' })
  const ring: Position[] = area.type === 'Polygon' ? (area.coordinates[0] ?? []) : []
  const [lon = 0, lat = 0] = ring.reduce((east, point) =>
    (point[0] ?? 0) > (east[0] ?? 0) ? point : east,
  )
  return { lat, lon }
}

/** A mark on the ring of a circle, by which its radius is dragged. */
export type Handle = {
  show: (circle: Circle | null) => void
  isDragged: () => boolean
  /** Whether a click there is meant for the mark. */
  isAt: (point: MapMouseEvent['point']) => boolean
}

/** Adds the mark to a map; it is told of each radius on the way. */
export function addHandle(
  map: MapLibre,
  colours: Colours,
  onRadius: (radius_km: number) => void,
): Handle {
  map.addSource(HANDLE, { type: 'geojson', data: EMPTY })
  map.addLayer({
    id: HANDLE,
    type: 'circle',
    source: HANDLE,
    paint: {
      'circle-radius': 7,
      'circle-color': '#ffffff',
      'circle-stroke-color': colours.accent,
      'circle-stroke-width': 2,
    },
  })
  let shown: Circle | null = null
  let isDragged = false
  const end = () => {
    isDragged = false
    map.off('mousemove', drag)
    map.off('touchmove', drag)
  }
  function drag({ lngLat, originalEvent }: MapMouseEvent | MapTouchEvent) {
    // The button may have been released outside the map, which is not told.
    if (originalEvent instanceof MouseEvent && originalEvent.buttons === 0) end()
    else if (shown) onRadius(radiusTo(shown, { lat: lngLat.lat, lon: lngLat.lng }))
  }
  map.on('mousedown', HANDLE, (event) => {
    // The map stays where it is.
    event.preventDefault()
    isDragged = true
    map.on('mousemove', drag)
  })
  map.on('touchstart', HANDLE, (event) => {
    if (event.points.length !== 1) return
    event.preventDefault()
    isDragged = true
    map.on('touchmove', drag)
  })
  for (const event of ['mouseup', 'touchend', 'touchcancel'] as const) map.on(event, end)
  const canvas = map.getCanvas()
  map.on('mouseenter', HANDLE, () => {
    canvas.style.cursor = 'ew-resize'
  })
  map.on('mouseleave', HANDLE, () => {
    canvas.style.cursor = ''
  })
  return {
    show: (circle) => {
      shown = circle
      map.getSource<GeoJSONSource>(HANDLE)?.setData(placeData(circle && eastOf(circle)))
    },
    isDragged: () => isDragged,
    isAt: (point) => map.queryRenderedFeatures(point, { layers: [HANDLE] }).length > 0,
  }
}
