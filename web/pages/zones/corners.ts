import type { MultiPolygon, Polygon, Position } from 'geojson'
import { parseShapes, Unreadable } from './import/shapes.ts'

/** What the form shows of an area: its corners, a line each, or GeoJSON where it is more than one ring. */
export function cornersOf(area: Polygon | MultiPolygon | null): string {
  if (!area) return ''
  const [ring, ...rings] = area.type === 'Polygon' ? area.coordinates : area.coordinates.flat()
  if (!ring || rings.length > 0) return JSON.stringify(area)
  // The last corner is the first once more, which nobody has to write.
  return ring
    .slice(0, -1)
    .map(([lon = 0, lat = 0]) => `${round(lat)}, ${round(lon)}`)
    .join('\n')
}

/** About a decimetre. */
const round = (degrees: number) => Math.round(degrees * 1_000_000) / 1_000_000

/** areaFrom reads what cornersOf writes, and an area in any form that can be imported; null for none. */
export function areaFrom(text: string): Polygon | MultiPolygon | null {
  if (text.trim() === '') return null
  let shapes: ReturnType<typeof parseShapes>['shapes']
  try {
    shapes = parseShapes(text).shapes
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
  const areas = shapes.flatMap(({ polygon }) => polygon ?? [])
  if (areas.length === 0 && shapes.length >= 3) {
    const ring: Position[] = shapes.map(({ lat, lon }) => [lon, lat])
    return { type: 'Polygon', coordinates: [[...ring, ring[0] as Position]] } // safe: three at least
  }
  const [area] = areas
  return area && areas.length === 1 && shapes.length === 1 ? area : null
}

/** The middle of the box around an area: where its label stands. */
export function middleOf(area: Polygon | MultiPolygon): { lat: number; lon: number } {
  const [west, south, east, north] = boxOf(area)
  return { lat: (south + north) / 2, lon: (west + east) / 2 }
}

/** west, south, east and north of an area. */
export function boxOf(area: Polygon | MultiPolygon): [number, number, number, number] {
  const rings = area.type === 'Polygon' ? area.coordinates : area.coordinates.flat()
  return rings
    .flat()
    .reduce<[number, number, number, number]>(
      ([west, south, east, north], [lon = 0, lat = 0]) => [
        Math.min(west, lon),
        Math.min(south, lat),
        Math.max(east, lon),
        Math.max(north, lat),
      ],
      [180, 90, -180, -90],
    )
}
