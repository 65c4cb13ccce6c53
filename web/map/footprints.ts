import type { Feature, Geometry, Position } from 'geojson'
import type { Map as MapLibre } from 'maplibre-gl'
import { addInPortions } from './portions.ts'
import { splitAt180 } from './tracks.ts'

type Given = {
  id: string
  geometry: unknown
  properties: { severity: number; ts: string }
}
/** `at` in milliseconds, for the slider; `order`: what is small lies on what is large. */
export type FootprintLook = { id: string; severity: number; at: number; order: number }

/** A footprint as the map draws it. */
export function footprintFeature({
  id,
  geometry,
  properties: { severity, ts },
}: Given): Feature<Geometry, FootprintLook> {
  const drawn = drawable(geometry as Geometry) // safe: the API answers GeoJSON
  const properties = { id, severity, at: Date.parse(ts), order: -spanOf(drawn) }
  return { type: 'Feature', geometry: drawn, properties }
}

/** Makes the map show these footprints: those that it holds already stay. Returns what stops it. */
export function showFootprints(
  map: MapLibre,
  footprints: readonly Given[],
  held: Map<string, Given>,
): () => void {
  const wanted = new Set(footprints.map(({ id }) => id))
  const remove = [...held.keys()].filter((id) => !wanted.has(id))
  for (const id of remove) held.delete(id)
  function* fresh() {
    for (const footprint of footprints) {
      if (held.get(footprint.id) === footprint) continue
      held.set(footprint.id, footprint)
      yield footprintFeature(footprint)
    }
  }
  return addInPortions(map, 'footprints', fresh(), { remove })
}

/** Areas go on past ±180° by themselves; a line must be cut there, or it would run round the world. */
export function drawable(geometry: Geometry): Geometry {
  if (geometry.type !== 'LineString' && geometry.type !== 'MultiLineString') return geometry
  const lines = geometry.type === 'LineString' ? [geometry.coordinates] : geometry.coordinates
  return { type: 'MultiLineString', coordinates: lines.flatMap(splitAt180) }
}

/** The height of a geometry in degrees, which no meridian cuts. */
function spanOf(geometry: Geometry): number {
  if (geometry.type === 'GeometryCollection') return 0
  let [south, north] = [Infinity, -Infinity]
  const look = (part: unknown): void => {
    const [first, second] = part as unknown[]
    if (typeof first === 'number') {
      const lat = (second as Position[number] | undefined) ?? 0 // safe: a position holds numbers
      south = Math.min(south, lat)
      north = Math.max(north, lat)
      return
    }
    for (const inner of part as unknown[]) look(inner) // safe: coordinates are nested lists
  }
  look(geometry.coordinates)
  return Number.isFinite(north) ? north - south : 0
}
