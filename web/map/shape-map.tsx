import 'maplibre-gl/dist/maplibre-gl.css'
import type { Map as MapLibre, MapOptions } from 'maplibre-gl'
import { useEffect, useRef, useState } from 'react'
import { boxOf } from '../pages/zones/corners.ts'
import type { Draft } from '../pages/zones/draft.ts'
import { baseStyle, type Colours, coloursOf, fillBase } from './base.ts'
import { addHandle, type Handle } from './circle-handle.ts'
import { type Drawn, drawArea, type Editor, editArea, isEditable } from './drawing.ts'
import { lastView } from './last-view.ts'
import { EMPTY, setData } from './layers.ts'
import { openMap } from './open-map.ts'
import type { Place } from './places.ts'
import { areaOf } from './shapes.ts'

type Shape = Pick<Draft, 'shape_type' | 'lat' | 'lon' | 'radius_km' | 'polygon'>
type Props = {
  label: string
  draft: Shape
  /** One that is being made is shown with what is around it: nobody knows yet where it will be. */
  isNew: boolean
  /** A place to go to. */
  at: Place | undefined
  onChange: (part: Partial<Draft>) => void
}

const PLACE_ZOOM = 8
const MAX_ZOOM = 12
const NEW_ZOOM = 3.5

/**
 * A map on which the shape of a zone is drawn: a click moves a circle, whose ring is dragged; clicks make the corners
 * of a polygon, and a polygon is moved and its corners are dragged.
 */
export function ShapeMap(props: Props) {
  const { label, draft, at } = props
  const place = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  const [map, setMap] = useState<MapLibre>()
  const colours = useRef<Colours>(undefined)
  const handle = useRef<Handle>(undefined)
  /** Whether the reader has gone elsewhere: else the map keeps the whole shape in view. */
  const isMoved = useRef(false)

  const area = draft.shape_type === 'polygon' ? draft.polygon : null
  const mode =
    draft.shape_type === 'circle' ? 'circle' : !area ? 'draw' : isEditable(area) ? 'edit' : 'look'
  const [editor, setEditor] = useState<Editor>()
  // Before the map's own effect, so that a drawing ends before its map does.
  useEffect(() => {
    if (!map || !colours.current) return
    const onDrawn = (drawn: Drawn) => latest.current.onChange(drawn)
    if (mode === 'draw') return drawArea(map, colours.current, onDrawn)
    if (mode !== 'edit') return
    const created = editArea(map, colours.current, onDrawn)
    setEditor(created)
    return () => {
      created.stop()
      setEditor(undefined)
    }
  }, [map, mode])
  useEffect(() => {
    if (area) editor?.show(area)
  }, [editor, area])

  useEffect(() => {
    const container = place.current
    if (!container) return
    let stopBase = (): void => undefined
    const inside = coloursOf(container)
    colours.current = inside
    const created = openMap({ container, style: baseStyle(inside), ...viewOf(latest.current) })
    if (!created) return
    isMoved.current = false
    created.on('movestart', ({ originalEvent }) => {
      if (originalEvent) isMoved.current = true
    })
    created.on('resize', () => {
      if (!isMoved.current) fit(created, latest.current)
    })
    created.on('click', ({ lngLat, point }) => {
      if (latest.current.draft.shape_type !== 'circle' || handle.current?.isAt(point)) return
      const { lat, lng } = lngLat.wrap()
      const round = (value: number) => Math.round(value * 10_000) / 10_000
      latest.current.onChange({ lat: round(lat), lon: round(lng) })
    })
    created.once('load', () => {
      stopBase = fillBase(created)
      // Not simplified: nothing but this shape is drawn, and a large circle would have corners.
      created.addSource('zones', { type: 'geojson', data: EMPTY, tolerance: 0 })
      created.addLayer({
        id: 'area',
        type: 'fill',
        source: 'zones',
        paint: { 'fill-color': inside.accent, 'fill-opacity': 0.16 },
      })
      created.addLayer({
        id: 'line',
        type: 'line',
        source: 'zones',
        paint: { 'line-color': inside.accent, 'line-width': 2 },
      })
      handle.current = addHandle(created, inside, (radius_km) =>
        latest.current.onChange({ radius_km }),
      )
      setMap(created)
    })
    return () => {
      stopBase()
      created.remove()
      setMap(undefined)
    }
  }, [])

  useEffect(() => {
    // What is being edited draws itself.
    const geometry = mode === 'circle' || mode === 'look' ? areaOf(draft) : null
    setData(
      map,
      'zones',
      geometry
        ? { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry }] }
        : EMPTY,
    )
    if (map) handle.current?.show(mode === 'circle' ? draft : null)
  }, [map, mode, draft])

  useEffect(() => {
    if (!map || !at) return
    // A circle goes there by itself.
    isMoved.current = latest.current.draft.shape_type !== 'circle'
    if (!isMoved.current) return
    map.easeTo({ center: [at.lon, at.lat], zoom: Math.max(map.getZoom(), PLACE_ZOOM) })
  }, [map, at])

  useEffect(() => {
    if (!map || mode !== 'circle' || isMoved.current || handle.current?.isDragged()) return
    const [west, south, east, north] = boxOf(areaOf(draft))
    const seen = map.getBounds()
    if (seen.contains([west, south]) && seen.contains([east, north])) return
    fit(map, latest.current)
  }, [map, mode, draft])

  return (
    <section
      aria-label={label}
      className="absolute inset-0"
      data-ready={map !== undefined}
      data-mode={mode}
    >
      <div ref={place} className="h-full" />
    </section>
  )
}

/** Brings the whole shape into view, at once: what is drawn stays under the pointer that draws it. */
function fit(map: MapLibre, props: Pick<Props, 'draft' | 'isNew'>): void {
  const { bounds, fitBoundsOptions } = viewOf(props)
  if (bounds) map.fitBounds(bounds, { ...fitBoundsOptions, animate: false })
}

/** Where the map begins: around the shape, or where the reader left the other map. */
function viewOf({
  draft,
  isNew,
}: Pick<Props, 'draft' | 'isNew'>): Pick<
  MapOptions,
  'center' | 'zoom' | 'bounds' | 'fitBoundsOptions'
> {
  if (draft.shape_type === 'polygon' && !draft.polygon) return lastView()
  const bounds = boxOf(areaOf(draft))
  return { bounds, fitBoundsOptions: { padding: 60, maxZoom: isNew ? NEW_ZOOM : MAX_ZOOM } }
}
