/** What rings enclose: the flat areas in which places are looked up. */
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon'
import type { Geometry } from '../schemas/event.ts'
import type { ZonePolygon } from './polygon.ts'
import {
  isOnEdge,
  nearestLongitude,
  poleOf,
  ringArea_km2,
  TOLERANCE_DEG,
  toRing,
  type Vertex,
} from './ring.ts'

/** Degrees; −180 ≤ west ≤ east ≤ 180. What crosses the antimeridian has a box on either side. */
export interface Box {
  west: number
  south: number
  east: number
  north: number
}

/** The area inside a ring, in flat coordinates. */
interface Area {
  path: Vertex[]
  pole: 1 | -1 | 0
  area_km2: number
  /** Degrees; west and east are unwrapped. */
  extent: Box
  /** The area as a flat polygon in which a point can be tested at any longitude of `extent`. */
  flat: { type: 'Polygon'; coordinates: number[][][] }
}

export interface Part {
  shell: Area
  holes: Area[]
}

/** The parts of a polygon or multipolygon, each with its holes. */
export function toParts(
  polygon: ZonePolygon | (Geometry & { type: 'Polygon' | 'MultiPolygon' }),
): Part[] {
  const rings = polygon.type === 'Polygon' ? [polygon.coordinates] : polygon.coordinates
  return rings.flatMap(([shell, ...holes]) =>
    shell && shell.length > 0 ? [{ shell: toArea(shell), holes: holes.map(toArea) }] : [],
  )
}

/** The area inside a closed ring. */
export function toArea(positions: readonly (readonly number[])[]): Area {
  const ring = toRing(positions)
  const { path } = ring
  const pole = poleOf(ring)
  const extent = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity }
  for (const [lon, lat] of path) {
    extent.west = Math.min(extent.west, lon)
    extent.east = Math.max(extent.east, lon)
    extent.south = Math.min(extent.south, lat)
    extent.north = Math.max(extent.north, lat)
  }
  let flat = path.map(([lon, lat]) => [lon, lat])
  if (pole !== 0) {
    flat = closeOverPole(path, pole)
    if (pole > 0) extent.north = 90
    else extent.south = -90
  }
  return {
    path,
    pole,
    area_km2: ringArea_km2(ring),
    extent,
    flat: { type: 'Polygon', coordinates: [flat] },
  }
}

/** Three turns of the ring, closed along the pole. A point is tested on the middle turn, far from any seam. */
function closeOverPole(path: Vertex[], pole: 1 | -1): number[][] {
  const eastward = (path.at(-1)?.[0] ?? 0) > (path[0]?.[0] ?? 0) ? path : path.toReversed()
  const start = eastward[0]?.[0] ?? 0
  const turns = [-360, 0, 360].flatMap((turn) => eastward.map(([lon, lat]) => [lon + turn, lat]))
  const [west, east, lat] = [start - 360, start + 720, 90 * pole]
  return [[west, lat], ...turns, [east, lat], [west, lat]]
}

/** Whether an area contains a point; points on an edge count as inside when `edges` is true. */
function areaContains(area: Area, lon: number, lat: number, edges: boolean): boolean {
  const { extent, pole, path, flat } = area
  if (lat < extent.south - TOLERANCE_DEG || lat > extent.north + TOLERANCE_DEG) return false
  if (Math.abs(lat) > 90 - TOLERANCE_DEG) return containsPole(area, lat > 0 ? 1 : -1, edges)
  if (pole !== 0) {
    const start = Math.min(path[0]?.[0] ?? 0, path.at(-1)?.[0] ?? 0)
    const at = start + ((((lon - start) % 360) + 360) % 360)
    return flatContains(area, at, lat, edges)
  }
  const first = lon + 360 * Math.ceil((extent.west - TOLERANCE_DEG - lon) / 360)
  for (let at = first; at <= extent.east + TOLERANCE_DEG; at += 360) {
    if (flatContains({ path, flat }, at, lat, edges)) return true
  }
  return false
}

/** Whether an area contains a pole, where all longitudes are one point: it is inside a ring around it, and on the edge of one that touches it. */
function containsPole(area: Area, pole: 1 | -1, edges: boolean): boolean {
  const touches = area.path.some(([, lat]) => lat * pole > 90 - TOLERANCE_DEG)
  return touches ? edges : area.pole === pole
}

function flatContains(
  { path, flat }: Pick<Area, 'path' | 'flat'>,
  lon: number,
  lat: number,
  edges: boolean,
): boolean {
  const isIn = booleanPointInPolygon([lon, lat], flat, { ignoreBoundary: !edges })
  return isIn === edges ? isIn : isOnPath(path, lon, lat) === edges
}

function isOnPath(path: Vertex[], lon: number, lat: number): boolean {
  for (let i = 1; i < path.length; i++) {
    const from = path[i - 1]
    const to = path[i]
    if (!from || !to) continue
    // Cheap test first: most edges are above or below.
    if (lat > from[1] + TOLERANCE_DEG && lat > to[1] + TOLERANCE_DEG) continue
    if (lat < from[1] - TOLERANCE_DEG && lat < to[1] - TOLERANCE_DEG) continue
    if (isOnEdge([nearestLongitude(lon, (from[0] + to[0]) / 2), lat], from, to)) return true
  }
  return false
}

/** Whether a place is inside a part and not in one of its holes. Edges count as inside. */
export const partsContain = (parts: Part[], lon: number, lat: number) =>
  parts.some(
    ({ shell, holes }) =>
      areaContains(shell, lon, lat, true) &&
      !holes.some((hole) => areaContains(hole, lon, lat, false)),
  )
