/** Shapes with fewer corners, for maps. */
import { simplify as simplifyFlat } from '@turf/simplify'
import type { Geometry } from '../schemas/event.ts'
import { toArea } from './area.ts'
import type { ZonePolygon } from './polygon.ts'
import { nearestLongitude } from './ring.ts'

/** The number of edges that are simplified at a time. */
const SIMPLIFY_CHUNK_EDGES = 250

/**
 * Simplifies a polygon for a map, with a tolerance of 1/200 of each ring's extent. Longitudes are returned unwrapped
 * (within −360…360). A ring that would change its meaning is returned unchanged.
 */
export function simplify(polygon: ZonePolygon): ZonePolygon {
  if (polygon.type === 'Polygon') {
    return { type: 'Polygon', coordinates: polygon.coordinates.map(simplifyRing) }
  }
  return {
    type: 'MultiPolygon',
    coordinates: polygon.coordinates.map((rings) => rings.map(simplifyRing)),
  }
}

function thinned(path: number[][], tolerance: number): number[][] {
  if (path.length > SIMPLIFY_CHUNK_EDGES) return thinnedLine(path, tolerance)
  const options = { tolerance, highQuality: true }
  return simplifyFlat({ type: 'Polygon', coordinates: [path] }, options).coordinates[0] ?? path
}

/** In pieces, because the algorithm is quadratic and deeply recursive for outlines full of spikes. */
function thinnedLine(path: number[][], tolerance: number): number[][] {
  const options = { tolerance, highQuality: true }
  const thin = path.slice(0, 1)
  for (let from = 0; from < path.length - 1; from += SIMPLIFY_CHUNK_EDGES) {
    const coordinates = path.slice(from, from + SIMPLIFY_CHUNK_EDGES + 1)
    thin.push(...simplifyFlat({ type: 'LineString', coordinates }, options).coordinates.slice(1))
  }
  return thin
}

function simplifyRing(ring: number[][]): number[][] {
  const { path, extent, pole, area_km2 } = toArea(ring)
  if (pole !== 0 || path.length < 8) return ring
  const turn = nearestLongitude(extent.west, 0) - extent.west
  const tolerance = Math.max(extent.east - extent.west, extent.north - extent.south) / 200
  const thin = thinned(
    path.map(([x, y]) => [x + turn, y]),
    tolerance,
  )
  const fitsWire = thin.every(([lon = 0]) => Math.abs(lon) <= 360)
  // Without its intermediate vertices a long edge could take the other way round.
  const meansTheSame = Math.abs(toArea(thin).area_km2 - area_km2) <= 0.05 * area_km2
  return fitsWire && meansTheSame ? thin : ring
}

/**
 * A footprint as a map of this many degrees a pixel shows it: corners that nobody could see are left out, and so are
 * parts and holes smaller than that, but for the last part. 0: as it is.
 */
export function simplifyFootprint(geometry: Geometry, degrees: number): Geometry {
  if (degrees === 0) return geometry
  // Rings too: as such, one without an area is refused.
  const line = (path: number[][]) => thinnedLine(path, degrees).map(rounding(degrees))
  switch (geometry.type) {
    case 'Point':
    case 'MultiPoint':
      return geometry
    case 'LineString':
      return { type: 'LineString', coordinates: line(geometry.coordinates) }
    case 'MultiLineString':
      return { type: 'MultiLineString', coordinates: geometry.coordinates.map(line) }
    case 'Polygon':
      return { type: 'Polygon', coordinates: partOf(geometry.coordinates, degrees, line) }
    case 'MultiPolygon': {
      const seen = geometry.coordinates.filter(([shell = []]) => spanOf(shell) >= degrees)
      const kept = seen.length > 0 ? seen : geometry.coordinates.slice(0, 1)
      return {
        type: 'MultiPolygon',
        coordinates: kept.map((rings) => partOf(rings, degrees, line)),
      }
    }
  }
}

function partOf(
  [shell = [], ...holes]: number[][][],
  degrees: number,
  line: (path: number[][]) => number[][],
): number[][][] {
  // A ring has four positions at least; thinned to fewer it was a sliver.
  const thin = line(shell)
  const outer = thin.length < 4 ? shell : thin
  const inner = holes.filter((hole) => spanOf(hole) >= degrees).map(line)
  return [outer, ...inner.filter(({ length }) => length >= 4)]
}

/** The longer side of the box around a path, in degrees. */
function spanOf(path: number[][]): number {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [lon = 0, lat = 0] of path) {
    west = Math.min(west, lon)
    east = Math.max(east, lon)
    south = Math.min(south, lat)
    north = Math.max(north, lat)
  }
  return Math.max(east - west, north - south)
}

/** To a tenth of a pixel. */
function rounding(degrees: number): (position: number[]) => number[] {
  const factor = 10 ** Math.max(0, Math.min(6, Math.ceil(-Math.log10(degrees)) + 1))
  return ([lon = 0, lat = 0]) => [
    Math.round(lon * factor) / factor,
    Math.round(lat * factor) / factor,
  ]
}
