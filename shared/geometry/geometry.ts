/**
 * The geometry of zones. Circles are haversine circles. Polygons follow RFC 7946, except that edges are straight in
 * longitude and latitude and take the short way round when longer than 180°, and that a ring that winds once round the
 * earth contains a pole. Edges count as inside, and longitudes 180 and −180 are the same.
 */
import { distance } from '@turf/distance'
import type { Geometry } from '../schemas/event.ts'
import { type Box, type Part, partsContain, toParts } from './area.ts'
import type { ZoneShape } from './polygon.ts'
import {
  EARTH_RADIUS_KM,
  type EdgeList,
  edgesMeet,
  edgesOf,
  findNearPair,
  listEdges,
  nearestLongitude,
  TOLERANCE_DEG,
  unwrap,
  type Vertex,
} from './ring.ts'
import { runToEnd } from './steps.ts'

interface Circle {
  lat: number
  lon: number
  radius_km: number
}

/** A zone whose shape is parsed, for tests against many events. Immutable. */
export interface PreparedZone<Z extends ZoneShape = ZoneShape> {
  zone: Z
  /** Exactly one of `circle` and `parts` is set. */
  circle: Circle | null
  parts: Part[] | null
  /** The number of vertices; 0 for a circle. */
  vertices: number
  /** A single position this many metres outside ends a stay: max(100 m, 2 % of the radius). */
  stay_margin_m: number
}

/** The padding of boxes, about 0.1 m: more than {@link TOLERANCE_DEG} and any rounding error. */
const PAD_DEG = 1e-6
/** So that rounding does not put a point on the edge of a circle outside it. */
const TOLERANCE_KM = 1e-9
const MAX_BOXES = 8
const MAX_RADIUS_KM = 5000

const toRad = (degrees: number) => (degrees * Math.PI) / 180
const toDeg = (radians: number) => (radians * 180) / Math.PI

/**
 * Parses the shape of a zone. Throws when a polygon zone has no polygon. Other problems of a shape are found by
 * `checkZone`.
 */
export function prepareZone<Z extends ZoneShape>(zone: Z): PreparedZone<Z> {
  if (zone.shape_type === 'circle') {
    const { lat, lon, radius_km } = zone
    const circle = { lat, lon, radius_km }
    return { zone, circle, parts: null, vertices: 0, stay_margin_m: leaveDistance(radius_km) }
  }
  if (!zone.polygon) throw new Error('a zone with shape_type "polygon" needs a polygon, got null')
  const parts = toParts(zone.polygon)
  const vertices = outlines({ lines: [], parts }).reduce((sum, { length }) => sum + length, 0)
  return {
    zone,
    circle: null,
    parts,
    vertices,
    stay_margin_m: leaveDistance(equalRadius_km(parts)),
  }
}

const leaveDistance = (radius_km: number) => Math.max(100, 0.02 * radius_km * 1000)

/** The radius of a circle on the sphere with the same area. */
function equalRadius_km(parts: Part[]): number {
  let area = 0
  for (const { shell, holes } of parts) {
    area += shell.area_km2 - holes.reduce((sum, hole) => sum + hole.area_km2, 0)
  }
  const cap = Math.min(Math.max(area, 0) / (2 * Math.PI * EARTH_RADIUS_KM ** 2), 2)
  return EARTH_RADIUS_KM * Math.acos(1 - cap)
}

/**
 * Whether a zone contains a place, given in degrees. `distance_km` is the haversine distance to the centre of a circle
 * (mean earth radius 6371.0088 km); null for polygons.
 */
export function containsPoint(
  prepared: PreparedZone,
  lat: number,
  lon: number,
): { inside: boolean; distance_km: number | null } {
  const { circle, parts } = prepared
  if (!circle) return { inside: partsContain(parts ?? [], lon, lat), distance_km: null }
  const distance_km = distance([circle.lon, circle.lat], [lon, lat])
  return { inside: distance_km <= circle.radius_km + TOLERANCE_KM, distance_km }
}

/** The haversine distance of two places in km (mean earth radius 6371.0088 km). */
export function distance_km(
  from: { lat: number; lon: number },
  to: { lat: number; lon: number },
): number {
  return distance([from.lon, from.lat], [to.lon, to.lat])
}

/** The distance in metres from a place outside a zone to its nearest edge; 0 inside. */
export function distanceOutside_m(prepared: PreparedZone, lat: number, lon: number): number {
  const { inside, distance_km } = containsPoint(prepared, lat, lon)
  if (inside) return 0
  if (prepared.circle) return ((distance_km ?? 0) - prepared.circle.radius_km) * 1000
  const paths = (prepared.parts ?? []).flatMap(({ shell, holes }) =>
    [shell, ...holes].map((area) => area.path),
  )
  return nearest_km(lat, lon, paths) * 1000
}

/**
 * The shortest haversine distance to any edge, by branch and bound: an edge is halved as long as it may be nearer than
 * the best distance so far. Stops as soon as a distance is within `enough_km`.
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
    // Both ends are measured; on a piece this short, no point is nearer by more than half² / (2 · distance).
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

/** The footprint of an event, parsed like a zone. */
interface Footprint {
  points: Vertex[]
  lines: Vertex[][]
  parts: Part[]
}

// An event is tested against many zones, so its parsed footprint is cached.
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
 * Whether a GeoJSON geometry shares a point with a zone, including its edges. Geometries are cached by identity and
 * must not be modified.
 */
export function touchesGeometry(prepared: PreparedZone, geometry: Geometry): boolean {
  const footprint = footprintOf(geometry)
  const contains = ([lon, lat]: Vertex) => containsPoint(prepared, lat, lon).inside
  if (footprint.points.some(contains)) return true
  const paths = outlines(footprint)
  // One vertex tells on which side an outline is, unless the outline meets an edge of the zone.
  if (paths.some((path) => path[0] && contains(path[0]))) return true
  const { circle, parts } = prepared
  if (circle) {
    const { lat, lon, radius_km } = circle
    if (partsContain(footprint.parts, lon, lat)) return true
    const most_km = radius_km + TOLERANCE_KM
    return nearest_km(lat, lon, paths, most_km) <= most_km
  }
  const zoneParts = parts ?? []
  const holdsZone = ({ shell: { path } }: Part) =>
    path[0] !== undefined && partsContain(footprint.parts, path[0][0], path[0][1])
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
  return runToEnd(findNearPair(theirs, edges, meet))
}

// The edges of a zone are indexed when the first footprint needs them.
const zoneEdges = new WeakMap<Part[], EdgeList>()

/**
 * At most ten bounding boxes that cover a zone: MAX_BOXES and one for each pole. They cover more than the zone:
 * every place that `containsPoint` accepts is in a box, with either sign of ±180.
 */
export function boxesOf(zone: ZoneShape | PreparedZone): Box[] {
  const { circle, parts } = 'parts' in zone ? zone : prepareZone(zone)
  return circle ? toBoxes([circleExtent(circle)]) : partBoxes(parts ?? [])
}

function circleExtent({ lat, lon, radius_km }: Circle): Box {
  const radius = Math.min(radius_km, MAX_RADIUS_KM) / EARTH_RADIUS_KM
  const [south, north] = [lat - toDeg(radius), lat + toDeg(radius)]
  const ratio = Math.sin(radius) / Math.cos(toRad(lat))
  // Close to a pole the arcsine is too imprecise.
  const holdsPole = north > 90 - PAD_DEG || south < -90 + PAD_DEG || ratio >= 1
  const reach = holdsPole ? 180 : toDeg(Math.asin(ratio))
  return { west: lon - reach, south, east: lon + reach, north }
}

const partBoxes = (parts: Part[]) => {
  const extents = parts.map(({ shell: { pole, extent } }) =>
    pole === 0 ? extent : { ...extent, west: -180, east: 180 },
  )
  // A pole that is only touched is inside at every longitude.
  const poles = [90, -90]
    .filter((pole) => extents.some((extent) => reaches(extent, pole)))
    .map((pole) => ({ west: -180, south: pole, east: 180, north: pole }))
  return [...mergeBoxes(toBoxes(extents)), ...toBoxes(poles)]
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
    const west = nearestLongitude(extent.west - PAD_DEG, 0)
    const east = west + width
    if (east <= 180) return [{ west, south, east, north }]
    return [
      { west, south, east: 180, north },
      { west: -180, south, east: east - 360, north },
    ]
  })
}

/** Merges boxes across all but the widest gaps until MAX_BOXES are left. */
function mergeBoxes(boxes: Box[]): Box[] {
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

/** Bounding boxes that cover the point of an event and its footprint, if it has one. */
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
  return [...mergeBoxes(toBoxes([point, ...extents])), ...partBoxes(parts)]
}

/**
 * The box of an event as [west, south, east, north]; a footprint across the antimeridian gets the whole circle of
 * latitude.
 */
export function extentOfEvent(event: {
  lat: number
  lon: number
  geometry: Geometry | null
}): [number, number, number, number] {
  const boxes = boxOfEvent(event)
  const south = Math.min(...boxes.map((box) => box.south))
  const north = Math.max(...boxes.map((box) => box.north))
  if (event.geometry === null) return [event.lon, event.lat, event.lon, event.lat]
  const west = Math.min(...boxes.map((box) => box.west))
  const east = Math.max(...boxes.map((box) => box.east))
  return [west, south, east, north]
}
