import { z } from 'zod'
import type { Geometry } from '../../../shared/schemas/event.ts'
import { countVertices, type LonLat, MAX_VERTICES, toGeometry, toRing } from './geometry.ts'

/** About 10 metres, far below the precision of any footprint. */
const DECIMALS = 4

const Position = z.tuple([z.number(), z.number()], z.unknown())
const Rings = z.array(z.array(Position)).min(1)
const Area = z.discriminatedUnion('type', [
  z.object({ type: z.literal('Polygon'), coordinates: Rings }),
  z.object({ type: z.literal('MultiPolygon'), coordinates: z.array(Rings) }),
])

/**
 * Combines GeoJSON areas into one footprint: rings closed, longitudes continuous across the
 * antimeridian. Returns why it cannot if one of them is invalid or there are too many vertices.
 */
export function toFootprint(
  areas: readonly unknown[],
): { geometry: Geometry } | { reason: string } {
  const polygons: LonLat[][][] = []
  for (const area of areas) {
    const read = Area.safeParse(area)
    if (!read.success) {
      const [issue] = read.error.issues
      return { reason: `geometry.${issue?.path.join('.')}: ${issue?.message}` }
    }
    const { type, coordinates } = read.data
    try {
      for (const rings of type === 'Polygon' ? [coordinates] : coordinates) {
        polygons.push(rings.map(toRoundedRing))
      }
    } catch (error) {
      return { reason: `geometry: ${error instanceof Error ? error.message : String(error)}` }
    }
  }
  if (polygons.length === 0) return { reason: 'geometry: has no area' }
  const geometry = toGeometry(polygons)
  const vertices = countVertices(geometry)
  if (vertices <= MAX_VERTICES) return { geometry }
  return { reason: `geometry: ${vertices} vertices are more than ${MAX_VERTICES}` }
}

function toRoundedRing(positions: readonly (readonly [number, number, ...unknown[]])[]): LonLat[] {
  return toRing(positions.map(([lon, lat]) => [round(lon), round(lat)]))
}

function round(degrees: number): number {
  return Number(degrees.toFixed(DECIMALS))
}
