import type { MultiPolygon, Polygon, Position } from 'geojson'
import type { Map as MapLibre } from 'maplibre-gl'
import {
  type HexColor,
  TerraDraw,
  TerraDrawPolygonMode,
  TerraDrawSelectMode,
  ValidateNotSelfIntersecting,
} from 'terra-draw'
import { TerraDrawMapLibreGLAdapter } from 'terra-draw-maplibre-gl-adapter'
import { middleOf } from '../pages/zones/corners.ts'
import type { Draft } from '../pages/zones/draft.ts'
import type { Colours } from './base.ts'

type Area = Polygon | MultiPolygon
/** What a drawing changes of a zone: its area and the place of its label. */
export type Drawn = Pick<Draft, 'lat' | 'lon'> & { polygon: Area }

/** Each corner is a mark of its own on the map; beyond this many they hide the area. */
const MAX_CORNERS = 500
/** About a decimetre. */
const PRECISION = 1_000_000
const MODE = 'polygon'

/** The outlines of an area's parts, or null where a part has a hole, which cannot be dragged. */
function outlinesOf(area: Area): Position[][] | null {
  const parts = area.type === 'Polygon' ? [area.coordinates] : area.coordinates
  return parts.every(({ length }) => length === 1) ? parts.flat() : null
}

/** Whether the corners of an area can be dragged. */
export function isEditable(area: Area): boolean {
  const outlines = outlinesOf(area)
  return outlines !== null && outlines.flat().length <= MAX_CORNERS
}

/** Lets the reader draw one polygon by its corners, until the function it returns is called. */
export function drawArea(
  map: MapLibre,
  colours: Colours,
  onDrawn: (drawn: Drawn) => void,
): () => void {
  const drawing = new TerraDraw({
    adapter: new TerraDrawMapLibreGLAdapter({ map }),
    modes: [new TerraDrawPolygonMode({ styles: stylesOf(colours) })],
  })
  drawing.start()
  drawing.setMode(MODE)
  drawing.on('finish', (id) => {
    const drawn = drawing.getSnapshotFeature(id)
    if (drawn?.geometry.type === 'Polygon') onDrawn(drawnOf([drawn.geometry.coordinates[0] ?? []]))
  })
  return () => drawing.stop()
}

/** What holds an area whose corners can be dragged. */
export type Editor = { show: (area: Area) => void; stop: () => void }

/** Lets the reader move an area and its corners, add a corner at the middle of a side, and take one away. */
export function editArea(map: MapLibre, colours: Colours, onDrawn: (drawn: Drawn) => void): Editor {
  const drawing = new TerraDraw({
    adapter: new TerraDrawMapLibreGLAdapter({ map }),
    modes: [
      new TerraDrawPolygonMode({ styles: stylesOf(colours) }),
      new TerraDrawSelectMode({
        allowManualDeselection: false,
        flags: {
          [MODE]: {
            feature: {
              draggable: true,
              validation: ValidateNotSelfIntersecting,
              coordinates: { midpoints: true, draggable: true, deletable: true },
            },
          },
        },
        styles: {
          selectedPolygonColor: hex(colours.accent),
          selectedPolygonFillOpacity: 0.16,
          selectedPolygonOutlineColor: hex(colours.accent),
          selectedPolygonOutlineWidth: 2,
          selectionPointColor: hex(colours.accent),
          selectionPointOutlineColor: '#ffffff',
          midPointColor: '#ffffff',
          midPointOutlineColor: hex(colours.accent),
          midPointOutlineWidth: 2,
        },
      }),
    ],
  })
  drawing.start()
  drawing.setMode('select')
  let ids: (string | number)[] = []
  let shown: Area | undefined
  drawing.on('finish', () => {
    const outlines = ids.map((id) => {
      const geometry = drawing.getSnapshotFeature(id)?.geometry
      return geometry?.type === 'Polygon' ? (geometry.coordinates[0] ?? []) : []
    })
    const drawn = drawnOf(outlines)
    shown = drawn.polygon
    onDrawn(drawn)
  })
  return {
    show: (area) => {
      if (area === shown) return
      shown = area
      for (const id of ids) drawing.deselectFeature(id)
      drawing.clear()
      const added = drawing.addFeatures(
        (outlinesOf(area) ?? []).map((outline) => ({
          type: 'Feature',
          geometry: { type: 'Polygon', coordinates: [outline.map(rounded)] },
          properties: { mode: MODE },
        })),
      )
      ids = added.flatMap(({ id, valid }) => (valid && id !== undefined ? [id] : []))
      const [first] = ids
      if (first !== undefined) drawing.selectFeature(first)
    },
    stop: () => drawing.stop(),
  }
}

function drawnOf(outlines: Position[][]): Drawn {
  const rings = outlines.map((outline) => outline.map(rounded))
  const [first = []] = rings
  const polygon: Area =
    rings.length > 1
      ? { type: 'MultiPolygon', coordinates: rings.map((ring) => [ring]) }
      : { type: 'Polygon', coordinates: [first] }
  return { polygon, ...middleOf(polygon) }
}

const rounded = (position: Position): Position =>
  position.slice(0, 2).map((degrees) => Math.round(degrees * PRECISION) / PRECISION)

function stylesOf(colours: Colours) {
  return {
    fillColor: hex(colours.accent),
    fillOpacity: 0.16,
    outlineColor: hex(colours.accent),
    outlineWidth: 2,
    closingPointColor: hex(colours.accent),
  }
}

/** The tokens of the theme are written so. */
const hex = (colour: string) => colour as HexColor // safe: tokens.css holds #rrggbb
