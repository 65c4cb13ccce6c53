import { z } from 'zod'
import type { Geometry } from '../../shared/event.ts'
import { nearestLongitude } from '../../shared/geometry/ring.ts'

/** A footprint with more vertices is refused: what is left out must not depend on chance. */
const MAX_VERTICES = 10_000
/** About 10 metres, far below the precision of any footprint. */
const DECIMALS = 4

const Position = z.tuple([z.number(), z.number()], z.unknown())
const Ring = z.array(Position).min(4, 'a ring has fewer than 4 positions')
const Area = z.discriminatedUnion('type', [
  z.object({ type: z.literal('Polygon'), coordinates: z.array(Ring).min(1) }),
  z.object({ type: z.literal('MultiPolygon'), coordinates: z.array(z.array(Ring).min(1)) }),
])

/**
 * Combines GeoJSON areas into one footprint: rings closed, longitudes continuous across the
 * antimeridian. Returns why it cannot if one of them is invalid or there are too many vertices.
 */
export function toFootprint(
  areas: readonly unknown[],
): { geometry: Geometry } | { reason: string } {
  const polygons: [number, number][][][] = []
  let vertices = 0
  for (const area of areas) {
    const read = Area.safeParse(area)
    if (!read.success) {
      const [issue] = read.error.issues
      return { reason: `geometry.${issue?.path.join('.')}: ${issue?.message}` }
    }
    const { type, coordinates } = read.data
    for (const rings of type === 'Polygon' ? [coordinates] : coordinates) {
      const polygon = rings.map(toRing)
      for (const ring of polygon) {
        vertices += ring.length
        if (ring.some(([lon, lat]) => Math.abs(lat) > 90 || Math.abs(lon) > 360)) {
          return { reason: 'geometry.coordinates: a position is not on Earth' }
        }
      }
      polygons.push(polygon)
    }
  }
  if (polygons.length === 0) return { reason: 'geometry: has no area' }
  if (vertices > MAX_VERTICES) {
    return { reason: `geometry: ${vertices} vertices are more than ${MAX_VERTICES}` }
  }
  const [first, ...others] = polygons
  if (first && others.length === 0) return { geometry: { type: 'Polygon', coordinates: first } }
  return { geometry: { type: 'MultiPolygon', coordinates: polygons } }
}

function toRing(
  positions: readonly (readonly [number, number, ...unknown[]])[],
): [number, number][] {
  const ring: [number, number][] = []
  for (const [lon, lat] of positions) {
    const last = ring.at(-1)
    ring.push([round(last ? nearestLongitude(lon, last[0]) : lon), round(lat)])
  }
  const [first] = ring
  const last = ring.at(-1)
  if (first && last && (first[0] !== last[0] || first[1] !== last[1])) ring.push([...first])
  return ring
}

function round(degrees: number): number {
  return Number(degrees.toFixed(DECIMALS))
}

/** How many vertices a geometry has. */
export function countVertices(geometry: Geometry): number {
  const count = (node: unknown): number =>
    Array.isArray(node) && Array.isArray(node[0])
      ? node.reduce((sum: number, part) => sum + count(part), 0)
      : 1
  return count(geometry.coordinates)
}
