/**
 * The one implementation of zone geometry. Circles are haversine circles; polygons follow RFC 7946 except that their
 * edges are straight in longitude and latitude, go the short way when longer than 180°, and a ring that winds once
 * round the earth holds a pole. Edges count as inside, and longitudes 180 and −180 are one.
 */
import { distance } from '@turf/distance'
import { simplify as simplifyFlat } from '@turf/simplify'
import type { Geometry } from '../event.ts'
import { type Box, type Part, partsHold, toArea, toParts } from './area.ts'
import type { ZonePolygon, ZoneShape } from './polygon.ts'
import {
  EARTH_RADIUS_KM,
  type EdgeList,
  edgesMeet,
  edgesOf,
  findNearPair,
  listEdges,
  SAME_DEG,
  shiftNear,
  unwrap,
  type Vertex,
} from './ring.ts'
import { atOnce } from './work.ts'

interface Circle {
  lat: number
  lon: number
  radius_km: number
}

/** A zone whose shape has been parsed once, to be tested against many events. Treat it as immutable. */
export interface PreparedZone<Z extends ZoneShape = ZoneShape> {
  zone: Z
  /** Exactly one of the two is set. */
  circle: Circle | null
  parts: Part[] | null
  /** How many vertices a place is compared with; 0 for a circle. */
  vertices: number
  /** How far outside one position must be, in metres, to end a stay: max(100 m, 2 % of the radius). */
  leave_m: number
}

/** Wider than {@link SAME_DEG} and than any rounding, in degrees (0.1 m): what is inside must lie in a box. */
const PAD_DEG = 1e-6
/** Rounding must not put a point on the edge of a circle outside it. */
const SAME_KM = 1e-9
const MAX_BOXES = 8
/** How many edges are thinned together. */
const STRETCH = 250
const MAX_RADIUS_KM = 5000

const toRad = (degrees: number) => (degrees * Math.PI) / 180
const toDeg = (radians: number) => (radians * 180) / Math.PI

/**
 * `prepareZone` parses a zone's shape once.
 * Throws when a polygon zone has no polygon; what else can be wrong with a shape is `checkZone`'s to refuse.
 */
export function prepareZone<Z extends ZoneShape>(zone: Z): PreparedZone<Z> {
  if (zone.shape_type === 'circle') {
    const { lat, lon, radius_km } = zone
    const circle = { lat, lon, radius_km }
    return { zone, circle, parts: null, vertices: 0, leave_m: leaveDistance(radius_km) }
  }
  if (!zone.polygon) throw new Error('a zone with shape_type "polygon" needs a polygon, got null')
  const parts = toParts(zone.polygon)
  const vertices = outlines({ lines: [], parts }).reduce((sum, { length }) => sum + length, 0)
  return { zone, circle: null, parts, vertices, leave_m: leaveDistance(equalRadius_km(parts)) }
}

const leaveDistance = (radius_km: number) => Math.max(100, 0.02 * radius_km * 1000)

/** The radius of the spherical circle of the same area. */
function equalRadius_km(parts: Part[]): number {
  let area = 0
  for (const { shell, holes } of parts) {
    area += shell.area_km2 - holes.reduce((sum, hole) => sum + hole.area_km2, 0)
  }
  const cap = Math.min(Math.max(area, 0) / (2 * Math.PI * EARTH_RADIUS_KM ** 2), 2)
  return EARTH_RADIUS_KM * Math.acos(1 - cap)
}

/**
 * `containsPoint` tests a place in degrees. `distance_km` is the haversine distance to the centre of a circle
 * (mean earth radius 6371.0088 km), null for polygons.
 */
export function containsPoint(
  prepared: PreparedZone,
  lat: number,
  lon: number,
): { inside: boolean; distance_km: number | null } {
  const { circle, parts } = prepared
  if (!circle) return { inside: partsHold(parts ?? [], lon, lat), distance_km: null }
  const distance_km = distance([circle.lon, circle.lat], [lon, lat])
  return { inside: distance_km <= circle.radius_km + SAME_KM, distance_km }
}

/** `distance_km` is the haversine distance of two places, with the mean earth radius 6371.0088 km. */
export function distance_km(
  from: { lat: number; lon: number },
  to: { lat: number; lon: number },
): number {
  return distance([from.lon, from.lat], [to.lon, to.lat])
}

/** `outsideBy_m` is how many metres a place lies outside the zone, to the nearest edge; 0 inside. */
export function outsideBy_m(prepared: PreparedZone, lat: number, lon: number): number {
  const { inside, distance_km } = containsPoint(prepared, lat, lon)
  if (inside) return 0
  if (prepared.circle) return ((distance_km ?? 0) - prepared.circle.radius_km) * 1000
  const paths = (prepared.parts ?? []).flatMap(({ shell, holes }) =>
    [shell, ...holes].map((area) => area.path),
  )
  return nearest_km(lat, lon, paths) * 1000
}

/**
 * The shortest haversine distance to any edge, by branch and bound: an edge is halved while it might come nearer than
 * the best yet. Stops as soon as something lies within `enough_km`.
 */
function nearest_km(lat: number, lon: number, paths: Vertex[][], enough_km = 0): number {
  const from = [lon, lat]
  const away = ([x, y]: Vertex) => distance(from, [x, y])
  let best = Infinity
  const search = (a: Vertex, b: Vertex): void => {
    const middle: Vertex = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]
    const there = away(middle)
    if (there < best) best = there
    const half = length_km(a, b) / 2
    // Both ends were measured: on a piece this short, the nearest place is less than half² / 2·distance nearer.
    if (best <= enough_km || half < 1e-5 || half < 1e-3 * there || there - half >= best) return
    search(a, middle)
    search(middle, b)
  }
  for (const path of paths) {
    for (const vertex of path) best = Math.min(best, away(vertex))
  }
  for (const path of paths) {
    for (const [a, b] of edgesOf(path)) {
      if (best <= enough_km) return best
      search(a, b)
    }
  }
  return best
}

/** An upper bound of an edge's length. */
function length_km(a: Vertex, b: Vertex): number {
  const nearestToEquator = a[1] * b[1] <= 0 ? 0 : Math.min(Math.abs(a[1]), Math.abs(b[1]))
  const width = (b[0] - a[0]) * Math.cos(toRad(nearestToEquator))
  return toRad(Math.hypot(width, b[1] - a[1])) * EARTH_RADIUS_KM
}

/** An event's footprint, laid out the same way as a zone. */
interface Footprint {
  points: Vertex[]
  lines: Vertex[][]
  parts: Part[]
}

// One event is tested against many zones, so its footprint is laid out once.
const footprints = new WeakMap<Geometry, Footprint>()

function footprintOf(geometry: Geometry): Footprint {
  const known = footprints.get(geometry)
  if (known) return known
  const footprint: Footprint = { points: [], lines: [], parts: [] }
  if (geometry.type === 'Point') footprint.points = unwrap([geometry.coordinates])
  else if (geometry.type === 'MultiPoint') {
    footprint.points = geometry.coordinates.flatMap((position) => unwrap([position]))
  } else if (geometry.type === 'LineString') footprint.lines = [unwrap(geometry.coordinates)]
  else if (geometry.type === 'MultiLineString') footprint.lines = geometry.coordinates.map(unwrap)
  else footprint.parts = toParts(geometry)
  footprints.set(geometry, footprint)
  return footprint
}

/** The outlines of a footprint: lines, and the rings of its areas. */
const outlines = ({ lines, parts }: Pick<Footprint, 'lines' | 'parts'>) => [
  ...lines,
  ...parts.flatMap(({ shell, holes }) => [shell.path, ...holes.map((hole) => hole.path)]),
]

/**
 * `touchesGeometry` says whether a GeoJSON geometry shares a point with the zone, edges included.
 * Geometries are remembered by identity: treat them as immutable.
 */
export function touchesGeometry(prepared: PreparedZone, geometry: Geometry): boolean {
  const footprint = footprintOf(geometry)
  const contains = ([lon, lat]: Vertex) => containsPoint(prepared, lat, lon).inside
  if (footprint.points.some(contains)) return true
  const paths = outlines(footprint)
  // One vertex of each outline tells on which side it lies, unless it meets an edge of the zone.
  if (paths.some((path) => path[0] && contains(path[0]))) return true
  const { circle, parts } = prepared
  if (circle) {
    const { lat, lon, radius_km } = circle
    if (partsHold(footprint.parts, lon, lat)) return true
    return nearest_km(lat, lon, paths, radius_km + SAME_KM) <= radius_km + SAME_KM
  }
  const zoneParts = parts ?? []
  const holdsZone = ({ shell: { path } }: Part) =>
    path[0] !== undefined && partsHold(footprint.parts, path[0][0], path[0][1])
  return zoneParts.some(holdsZone) || outlinesMeet(zoneParts, paths)
}

function outlinesMeet(parts: Part[], paths: Vertex[][]): boolean {
  const edges = zoneEdges.get(parts) ?? listEdges(outlines({ lines: [], parts }))
  zoneEdges.set(parts, edges)
  const theirs = listEdges(paths)
  const meet = (i: number, j: number) => {
    const [e, f] = [theirs.edges[i], edges.edges[j]]
    return e !== undefined && f !== undefined && edgesMeet(e.a, e.b, f.a, f.b)
  }
  return atOnce(findNearPair(theirs, edges, meet))
}

// A zone's edges are indexed when the first footprint comes near.
const zoneEdges = new WeakMap<Part[], EdgeList>()

/**
 * `boxesOf` covers a zone with at most nine boxes (a handful unless a MultiPolygon is scattered). A superset on purpose:
 * whatever `containsPoint` calls inside lies in a box, at whichever sign of ±180 it is written.
 */
export function boxesOf(zone: ZoneShape | PreparedZone): Box[] {
  const { circle, parts } = 'parts' in zone ? zone : prepareZone(zone)
  return circle ? toBoxes([circleExtent(circle)]) : partBoxes(parts ?? [])
}

function circleExtent({ lat, lon, radius_km }: Circle): Box {
  const radius = Math.min(radius_km, MAX_RADIUS_KM) / EARTH_RADIUS_KM
  const [south, north] = [lat - toDeg(radius), lat + toDeg(radius)]
  const ratio = Math.sin(radius) / Math.cos(toRad(lat))
  // Close to a pole the arcsine is too steep to trust.
  const holdsPole = north > 90 - PAD_DEG || south < -90 + PAD_DEG || ratio >= 1
  const reach = holdsPole ? 180 : toDeg(Math.asin(ratio))
  return { west: lon - reach, south, east: lon + reach, north }
}

const partBoxes = (parts: Part[]) => {
  const extents = parts.map(({ shell: { pole, extent } }) =>
    pole === 0 ? extent : { ...extent, west: -180, east: 180 },
  )
  // A pole that is merely touched is inside at every longitude.
  const poles = [90, -90]
    .filter((pole) => extents.some((extent) => reaches(extent, pole)))
    .map((pole) => ({ west: -180, south: pole, east: 180, north: pole }))
  return [...fewer(toBoxes(extents)), ...toBoxes(poles)]
}

const reaches = (extent: Box, pole: number) =>
  pole > 0 ? extent.north > pole - PAD_DEG : extent.south < pole + PAD_DEG

/** Pads extents and cuts them at the antimeridian. */
function toBoxes(extents: Box[]): Box[] {
  return extents.flatMap((extent) => {
    const south = Math.max(extent.south - PAD_DEG, -90)
    const north = Math.min(extent.north + PAD_DEG, 90)
    const width = extent.east - extent.west + 2 * PAD_DEG
    if (width >= 360) return [{ west: -180, south, east: 180, north }]
    const west = shiftNear(extent.west - PAD_DEG, 0)
    const east = west + width
    if (east <= 180) return [{ west, south, east, north }]
    return [
      { west, south, east: 180, north },
      { west: -180, south, east: east - 360, north },
    ]
  })
}

/** Joins boxes across all but the widest gaps, for shapes of very many parts. */
function fewer(boxes: Box[]): Box[] {
  if (boxes.length <= MAX_BOXES) return boxes
  const sorted = boxes.toSorted((a, b) => a.west - b.west)
  let reach = -Infinity
  const gaps = sorted.map((box) => {
    const gap = box.west - reach
    reach = Math.max(reach, box.east)
    return gap
  })
  const widest = gaps.toSorted((a, b) => b - a)[MAX_BOXES - 1] ?? 0
  const joined: Box[] = []
  for (const [index, box] of sorted.entries()) {
    const last = joined.at(-1)
    const splits = (gaps[index] ?? 0) > Math.max(widest, 0) || !last
    if (splits) joined.push({ ...box })
    else joined.splice(-1, 1, union(last, box))
  }
  return joined
}

const union = (a: Box, b: Box): Box => ({
  west: Math.min(a.west, b.west),
  south: Math.min(a.south, b.south),
  east: Math.max(a.east, b.east),
  north: Math.max(a.north, b.north),
})

/** `boxOfEvent` covers an event's point and, if it has one, its footprint. */
export function boxOfEvent(event: { lat: number; lon: number; geometry: Geometry | null }): Box[] {
  const point = { west: event.lon, south: event.lat, east: event.lon, north: event.lat }
  if (!event.geometry) return toBoxes([point])
  const { points, lines, parts } = footprintOf(event.geometry)
  const extents = [...points.map((vertex) => [vertex]), ...lines].map((path) =>
    path.reduce((box, [lon, lat]) => union(box, { west: lon, south: lat, east: lon, north: lat }), {
      west: Infinity,
      south: Infinity,
      east: -Infinity,
      north: -Infinity,
    }),
  )
  return [...fewer(toBoxes([point, ...extents])), ...partBoxes(parts)]
}

/**
 * `simplify` thins a polygon for a map: no vertex strays further than 1/200 of its ring's extent, in degrees.
 * Longitudes come back unwrapped (within −360…360); a ring that would lose its meaning is returned as it was.
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

/** In stretches: the algorithm compares all with all, and calls itself as often, where an outline is all spikes. */
function thinned(path: number[][], tolerance: number): number[][] {
  const options = { tolerance, highQuality: true }
  if (path.length <= STRETCH) {
    return simplifyFlat({ type: 'Polygon', coordinates: [path] }, options).coordinates[0] ?? path
  }
  const thin = path.slice(0, 1)
  for (let from = 0; from < path.length - 1; from += STRETCH) {
    const coordinates = path.slice(from, from + STRETCH + 1)
    thin.push(...simplifyFlat({ type: 'LineString', coordinates }, options).coordinates.slice(1))
  }
  return thin
}

function simplifyRing(ring: number[][]): number[][] {
  const { path, extent, pole, area_km2 } = toArea(ring)
  if (pole !== 0 || path.length < 8) return ring
  const turn = shiftNear(extent.west, 0) - extent.west
  const tolerance = Math.max(extent.east - extent.west, extent.north - extent.south) / 200
  const thin = thinned(
    path.map(([x, y]) => [x + turn, y]),
    tolerance,
  )
  const fitsWire = thin.every(([lon = 0]) => Math.abs(lon) <= 360)
  // Without its in-between vertices a long edge would go the other way round.
  const meansTheSame = Math.abs(toArea(thin).area_km2 - area_km2) <= 0.05 * area_km2
  return fitsWire && meansTheSame ? thin : ring
}
