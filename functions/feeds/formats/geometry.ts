import { unwrap } from '../../../shared/geometry/ring.ts'
import type { Geometry } from '../../../shared/schemas/event.ts'

/** The most vertices that a footprint may have. */
export const MAX_VERTICES = 10_000

/** A longitude and a latitude in degrees. */
export type LonLat = [lon: number, lat: number]
type Ring = LonLat[]

const CIRCLE_VERTICES = 48
const KM_PER_DEGREE = 111.195
const MAX_RADIUS_KM = 5000

/** A longitude within −180…180. */
export function wrapLongitude(lon: number): number {
  return lon >= -180 && lon <= 180 ? lon : lon - 360 * Math.floor((lon + 180) / 360)
}

/**
 * A ring of valid positions, closed and continuous across ±180°. Throws for fewer than four positions or one
 * that is no place.
 */
export function toRing(positions: readonly (readonly number[])[]): Ring {
  const places = positions.map((position) => {
    const [lon = Number.NaN, lat = Number.NaN] = position
    if (!(Math.abs(lat) <= 90 && Math.abs(lon) <= 360)) {
      throw new Error(`has the position ${lat},${lon}, which is not a place on Earth`)
    }
    return [lon, lat] as const
  })
  const ring = unwrap(places).map(([lon, lat]): LonLat => [lon, lat])
  const [first, last] = [ring[0], ring.at(-1)]
  if (first && last && (first[0] !== last[0] || first[1] !== last[1])) {
    if (Math.abs(first[0] - last[0]) > 180) throw new Error('winds round a pole')
    ring.push([...first])
  }
  if (ring.length < 4) throw new Error('has fewer than three corners')
  return ring
}

/** A polygon about a place; null when it would contain a pole or is not a circle on a map any more. */
export function circle([lon, lat]: LonLat, radius_km: number): Ring | null {
  const radius = radius_km / KM_PER_DEGREE
  if (radius_km > MAX_RADIUS_KM || Math.abs(lat) + radius >= 89) return null
  const [phi, distance] = [toRadians(lat), toRadians(radius)]
  const ring = Array.from({ length: CIRCLE_VERTICES }, (_, index): LonLat => {
    const bearing = (-2 * Math.PI * index) / CIRCLE_VERTICES
    const sine =
      Math.sin(phi) * Math.cos(distance) + Math.cos(phi) * Math.sin(distance) * Math.cos(bearing)
    const east = Math.atan2(
      Math.sin(bearing) * Math.sin(distance) * Math.cos(phi),
      Math.cos(distance) - Math.sin(phi) * sine,
    )
    return [round(lon + toDegrees(east)), round(toDegrees(Math.asin(sine)))]
  })
  return toRing(ring)
}

/** Polygons as one geometry. */
export function toGeometry(polygons: Ring[][]): Geometry {
  const [only] = polygons
  return only && polygons.length === 1
    ? { type: 'Polygon', coordinates: only }
    : { type: 'MultiPolygon', coordinates: polygons }
}

/** How many positions a geometry has. */
export function countVertices({ coordinates }: Geometry): number {
  const count = (part: unknown): number =>
    Array.isArray(part)
      ? typeof part[0] === 'number'
        ? 1
        : part.reduce((sum: number, inner) => sum + count(inner), 0)
      : 0
  return count(coordinates)
}

/**
 * A geometry of GeoJSON with its rings closed and continuous across ±180°, or why it is not one. Positions
 * keep their two coordinates only.
 */
export function readGeometry(geometry: Geometry): Geometry {
  const place = (position: number[]): LonLat => {
    const [lon = Number.NaN, lat = Number.NaN] = position
    if (!(Math.abs(lat) <= 90 && Math.abs(lon) <= 360)) {
      throw new Error(`has the position ${lat},${lon}, which is not a place on Earth`)
    }
    return [lon, lat]
  }
  switch (geometry.type) {
    case 'Point':
      return { type: 'Point', coordinates: place(geometry.coordinates) }
    case 'MultiPoint':
    case 'LineString':
      return { type: geometry.type, coordinates: geometry.coordinates.map(place) }
    case 'MultiLineString':
      return { type: geometry.type, coordinates: geometry.coordinates.map((l) => l.map(place)) }
    case 'Polygon':
      return { type: 'Polygon', coordinates: geometry.coordinates.map(toRing) }
    case 'MultiPolygon':
      return {
        type: 'MultiPolygon',
        coordinates: geometry.coordinates.map((polygon) => polygon.map(toRing)),
      }
  }
}

/**
 * The point that stands for a geometry: of polygons the centroid of the largest, or if that lies outside a
 * point inside; of points the one nearest to their mean; of a line its last vertex. Null if it is empty.
 */
export function representativePoint(geometry: Geometry): LonLat | null {
  switch (geometry.type) {
    case 'Point':
      return lonLat(geometry.coordinates)
    case 'MultiPoint':
      return nearestToMean(geometry.coordinates)
    case 'LineString':
      return lonLat(geometry.coordinates.at(-1))
    case 'MultiLineString':
      return lonLat(geometry.coordinates.at(-1)?.at(-1))
    case 'Polygon':
      return pointInPolygon(geometry.coordinates)
    case 'MultiPolygon': {
      const areas = geometry.coordinates.map(([shell = []]) => Math.abs(momentsOf(shell).area))
      return pointInPolygon(geometry.coordinates[areas.indexOf(Math.max(...areas))] ?? [])
    }
  }
}

function lonLat(position: number[] | undefined): LonLat | null {
  const [lon, lat] = position ?? []
  return lon === undefined || lat === undefined ? null : [wrapLongitude(lon), lat]
}

function nearestToMean(positions: number[][]): LonLat | null {
  // Not `unwrap`, which drops repeated positions.
  const [[near = 0] = []] = positions
  const points = positions.map(([lon = 0, lat = 0]): LonLat => {
    return [lon - 360 * Math.round((lon - near) / 360), lat]
  })
  const mean = (axis: 0 | 1) => points.reduce((sum, point) => sum + point[axis], 0) / points.length
  const [lon, lat] = [mean(0), mean(1)]
  const distance = (point: LonLat) =>
    Math.hypot((point[0] - lon) * Math.cos(toRadians(lat)), point[1] - lat)
  const [nearest] = points.toSorted((a, b) => distance(a) - distance(b))
  return lonLat(nearest)
}

function pointInPolygon(polygon: number[][][]): LonLat | null {
  const [shell = []] = polygon
  const { area, lon, lat } = momentsOf(shell)
  // A ring without an area has no inside.
  if (Math.abs(area) < 1e-12) return lonLat(shell[0])
  if (isInside([lon, lat], polygon)) return [wrapLongitude(lon), lat]
  return pointOnSurface(polygon, lat) ?? lonLat(shell[0])
}

/** The area, shrunk by the cosine of the latitude, and the centroid of a ring. */
function momentsOf(ring: number[][]): { area: number; lon: number; lat: number } {
  // Relative to the first vertex, so that small rings far from 0,0 lose no digits.
  const [[lon0 = 0, lat0 = 0] = []] = ring
  let [twice, x, y] = [0, 0, 0]
  for (const [[ax, ay], [bx, by]] of edgesOf(ring)) {
    const cross = (ax - lon0) * (by - lat0) - (bx - lon0) * (ay - lat0)
    twice += cross
    x += (ax + bx - 2 * lon0) * cross
    y += (ay + by - 2 * lat0) * cross
  }
  const lat = twice === 0 ? lat0 : lat0 + y / (3 * twice)
  const lon = twice === 0 ? lon0 : lon0 + x / (3 * twice)
  return { area: (twice / 2) * Math.cos(toRadians(lat)), lon, lat }
}

function isInside([lon, lat]: LonLat, polygon: number[][][]): boolean {
  let inside = false
  for (const ring of polygon) {
    for (const [[ax, ay], [bx, by]] of edgesOf(ring)) {
      if (ay > lat !== by > lat && lon < ax + ((lat - ay) / (by - ay)) * (bx - ax)) inside = !inside
    }
  }
  return inside
}

/** The middle of the widest part of a polygon at a latitude; a little beside it where a vertex lies there. */
function pointOnSurface(polygon: number[][][], middle: number): LonLat | null {
  const lats = polygon.flat().map(([, lat = 0]) => lat)
  const height = Math.max(...lats) - Math.min(...lats)
  for (const shift of [0, 0.013, -0.017, 0.11, -0.13, 0.31, -0.29]) {
    const lat = middle + shift * height
    const crossings = polygon
      .flatMap((ring) => [...edgesOf(ring)])
      .filter(([[, ay], [, by]]) => ay > lat !== by > lat)
      .map(([[ax, ay], [bx, by]]) => ax + ((lat - ay) / (by - ay)) * (bx - ax))
      .sort((a, b) => a - b)
    let widest: [number, number] | null = null
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      const [west = 0, east = 0] = [crossings[i], crossings[i + 1]]
      if (!widest || east - west > widest[1] - widest[0]) widest = [west, east]
    }
    if (widest && widest[1] > widest[0]) return [wrapLongitude((widest[0] + widest[1]) / 2), lat]
  }
  return null
}

function* edgesOf(ring: number[][]): Generator<[LonLat, LonLat]> {
  for (let i = 1; i < ring.length; i += 1) {
    const [ax = 0, ay = 0] = ring[i - 1] ?? []
    const [bx = 0, by = 0] = ring[i] ?? []
    yield [
      [ax, ay],
      [bx, by],
    ]
  }
}

const toRadians = (degrees: number) => (degrees * Math.PI) / 180
const toDegrees = (radians: number) => (radians * 180) / Math.PI
const round = (degrees: number) => Math.round(degrees * 1e5) / 1e5
