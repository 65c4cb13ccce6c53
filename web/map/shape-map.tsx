import 'maplibre-gl/dist/maplibre-gl.css'
import type { Polygon } from 'geojson'
import { AttributionControl, Map as MapLibre, NavigationControl } from 'maplibre-gl'
import { useEffect, useRef, useState } from 'react'
import { TerraDraw, TerraDrawPolygonMode } from 'terra-draw'
import { TerraDrawMapLibreGLAdapter } from 'terra-draw-maplibre-gl-adapter'
import type { Draft } from '../pages/zones/draft.ts'
import { baseStyle, coloursOf } from './base.ts'
import { lastView } from './last-view.ts'
import { EMPTY, setData } from './layers.ts'
import { areaOf } from './shapes.ts'
import './worker.ts'

type Shape = Pick<Draft, 'shape_type' | 'lat' | 'lon' | 'radius_km' | 'polygon'>
type Props = { label: string; draft: Shape; onChange: (part: Partial<Draft>) => void }

/** A map on which the shape of a zone is drawn: a click moves a circle, clicks make the corners of a polygon. */
export function ShapeMap(props: Props) {
  const { label, draft } = props
  const place = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  const [map, setMap] = useState<MapLibre>()

  useEffect(() => {
    const container = place.current
    if (!container) return
    let created: MapLibre | undefined
    let isOver = false
    const colours = coloursOf(container)
    void baseStyle(colours).then((style) => {
      if (isOver) return
      const { draft } = latest.current
      const isPlaced = draft.polygon !== null || draft.shape_type === 'circle'
      created = new MapLibre({
        container,
        style,
        ...(isPlaced ? { center: [draft.lon, draft.lat], zoom: 4 } : lastView()),
        attributionControl: false,
        maxPitch: 0,
        dragRotate: false,
      })
      created.addControl(new NavigationControl({ showCompass: false }), 'top-right')
      created.addControl(new AttributionControl({ compact: true }), 'top-right')
      created.on('click', ({ lngLat }) => {
        if (latest.current.draft.shape_type !== 'circle') return
        const { lat, lng } = lngLat.wrap()
        const round = (value: number) => Math.round(value * 10_000) / 10_000
        latest.current.onChange({ lat: round(lat), lon: round(lng) })
      })
      created.once('load', () => {
        if (isOver || !created) return
        created.addSource('zones', { type: 'geojson', data: EMPTY })
        created.addLayer({
          id: 'area',
          type: 'fill',
          source: 'zones',
          paint: { 'fill-color': colours.accent, 'fill-opacity': 0.16 },
        })
        created.addLayer({
          id: 'line',
          type: 'line',
          source: 'zones',
          paint: { 'line-color': colours.accent, 'line-width': 2 },
        })
        setMap(created)
      })
    })
    return () => {
      isOver = true
      created?.remove()
      setMap(undefined)
    }
  }, [])

  useEffect(() => {
    const isDrawn = draft.shape_type === 'circle' || draft.polygon !== null
    const feature = {
      type: 'Feature' as const,
      properties: {},
      geometry: isDrawn ? areaOf(draft as never) : null,
    } // safe: areaOf looks at the shape alone
    setData(
      map,
      'zones',
      isDrawn && feature.geometry
        ? { type: 'FeatureCollection', features: [{ ...feature, geometry: feature.geometry }] }
        : EMPTY,
    )
  }, [map, draft])

  const isDrawing = draft.shape_type === 'polygon' && draft.polygon === null
  useEffect(() => {
    if (!map || !isDrawing) return
    const drawing = new TerraDraw({
      adapter: new TerraDrawMapLibreGLAdapter({ map }),
      modes: [new TerraDrawPolygonMode()],
    })
    drawing.start()
    drawing.setMode('polygon')
    drawing.on('finish', (id) => {
      const drawn = drawing.getSnapshotFeature(id)
      if (drawn?.geometry.type !== 'Polygon') return
      latest.current.onChange({ polygon: drawn.geometry, ...middleOf(drawn.geometry) })
    })
    return () => drawing.stop()
  }, [map, isDrawing])

  return (
    <section aria-label={label} className="absolute inset-0" data-ready={map !== undefined}>
      <div ref={place} className="h-full" />
    </section>
  )
}

/** The middle of the box around a polygon: where its label stands. */
function middleOf({ coordinates: [ring = []] }: Polygon): { lat: number; lon: number } {
  const [lons, lats] = [ring.map(([lon = 0]) => lon), ring.map(([, lat = 0]) => lat)]
  const middle = (values: number[]) => (Math.min(...values) + Math.max(...values)) / 2
  return { lat: middle(lats), lon: middle(lons) }
}
