/** What rings enclose: the flat areas in which places are looked up. */
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon'
import type { Geometry } from '../event.ts'
import type { ZonePolygon } from './polygon.ts'
import { isOnEdge, poleOf, ringArea_km2, SAME_DEG, shiftNear, toRing, type Vertex } from './ring.ts'

/** Degrees; −180 ≤ west ≤ east ≤ 180. What crosses the antimeridian has a box on either side. */
export interface Box {
  west: number
  south: number
  east: number
  north: number
}

/** What a ring encloses, laid out flat. */
export interface Area {
  path: Vertex[]
  pole: 1 | -1 | 0
  area_km2: number
  /** Degrees; west and east are unwrapped. */
  extent: Box
  /** The same as a flat polygon in which a point can be looked up at any longitude of `extent`. */
  flat: { type: 'Polygon'; coordinates: number[][][] }
}

export interface Part {
  shell: Area
  holes: Area[]
}

/** `toParts` lays out a polygon or multipolygon. */
export function toParts(
  polygon: ZonePolygon | (Geometry & { type: 'Polygon' | 'MultiPolygon' }),
): Part[] {
  const rings = polygon.type === 'Polygon' ? [polygon.coordinates] : polygon.coordinates
  return rings.flatMap(([shell, ...holes]) =>
    shell && shell.length > 0 ? [{ shell: toArea(shell), holes: holes.map(toArea) }] : [],
  )
}

/** `toArea` lays out one closed ring. */
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

/** Three turns of the ring, closed along the pole: on the middle turn no seam is near, however the ring winds back. */
function closeOverPole(path: Vertex[], pole: 1 | -1): number[][] {
  const eastward = (path.at(-1)?.[0] ?? 0) > (path[0]?.[0] ?? 0) ? path : path.toReversed()
  const start = eastward[0]?.[0] ?? 0
  const turns = [-360, 0, 360].flatMap((turn) => eastward.map(([lon, lat]) => [lon + turn, lat]))
  const [west, east, lat] = [start - 360, start + 720, 90 * pole]
  return [[west, lat], ...turns, [east, lat], [west, lat]]
}

/** Whether an area holds a point; what lies on its edge counts as `edges` says. */
function holds(area: Area, lon: number, lat: number, edges: boolean): boolean {
  const { extent, pole, path, flat } = area
  if (lat < extent.south - SAME_DEG || lat > extent.north + SAME_DEG) return false
  if (Math.abs(lat) > 90 - SAME_DEG) return holdsPole(area, lat > 0 ? 1 : -1, edges)
  if (pole !== 0) {
    const start = Math.min(path[0]?.[0] ?? 0, path.at(-1)?.[0] ?? 0)
    const at = start + ((((lon - start) % 360) + 360) % 360)
    return holdsFlat(area, at, lat, edges)
  }
  const first = lon + 360 * Math.ceil((extent.west - SAME_DEG - lon) / 360)
  for (let at = first; at <= extent.east + SAME_DEG; at += 360) {
    if (holdsFlat({ path, flat }, at, lat, edges)) return true
  }
  return false
}

/** Every longitude is the pole there: it is inside what winds round it and on the edge of what reaches it. */
function holdsPole(area: Area, pole: 1 | -1, edges: boolean): boolean {
  const touches = area.path.some(([, lat]) => lat * pole > 90 - SAME_DEG)
  return touches ? edges : area.pole === pole
}

function holdsFlat(
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
    // Cheap first: most edges lie above or below.
    if (lat > from[1] + SAME_DEG && lat > to[1] + SAME_DEG) continue
    if (lat < from[1] - SAME_DEG && lat < to[1] - SAME_DEG) continue
    if (isOnEdge([shiftNear(lon, (from[0] + to[0]) / 2), lat], from, to)) return true
  }
  return false
}

/** `partsHold` says whether a place is inside a part and not in one of its holes; edges count as inside. */
export const partsHold = (parts: Part[], lon: number, lat: number) =>
  parts.some(
    ({ shell, holes }) =>
      holds(shell, lon, lat, true) && !holes.some((hole) => holds(hole, lon, lat, false)),
  )
