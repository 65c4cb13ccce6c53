import Flatbush from 'flatbush'
import type { Steps } from './steps.ts'

/**
 * A closed ring of longitudes and latitudes in flat coordinates. Longitudes are periodic, so a ring is first unwrapped:
 * every edge takes the short way round, and the path continues past ±180 instead of jumping.
 */

/** A vertex in degrees: unwrapped longitude, latitude. */
export type Vertex = readonly [lon: number, lat: number]

interface Ring {
  /** The vertices in order; the last one is the first one shifted by 360° × winding. */
  path: Vertex[]
  /** How often the ring goes round the earth: 0, or ±1 when it contains a pole. */
  winding: number
}

/** The mean radius of the earth, the same as in turf, so that areas and distances agree. */
export const EARTH_RADIUS_KM = 6371.0088

/** Places closer than this (about 0.1 mm) count as the same, so that rounding errors do not matter. */
export const TOLERANCE_DEG = 1e-9

const toRad = (degrees: number) => (degrees * Math.PI) / 180

/** A longitude shifted by multiples of 360° to within 180° of another. */
export function nearestLongitude(lon: number, near: number): number {
  return lon - 360 * Math.round((lon - near) / 360)
}

/**
 * Unwraps positions so that no edge is longer than 180°; an edge of exactly 180° keeps its direction. Repeated positions
 * are dropped. Works for lines too.
 */
export function unwrap(positions: readonly (readonly number[])[]): Vertex[] {
  const path: Vertex[] = []
  let turns = 0
  for (const position of positions) {
    const [lon = Number.NaN, lat = Number.NaN] = position
    const last = path.at(-1)
    if (last) {
      const step = lon + 360 * turns - last[0]
      if (step > 180) turns -= Math.ceil((step - 180) / 360)
      if (step < -180) turns += Math.ceil((-180 - step) / 360)
      if (lon + 360 * turns === last[0] && lat === last[1]) continue
    }
    path.push([lon + 360 * turns, lat])
  }
  return path
}

/** Unwraps a closed ring of positions and computes its winding. */
export function toRing(positions: readonly (readonly number[])[]): Ring {
  const path = unwrap(positions)
  const first = path[0] ?? [0, 0]
  const last = path.at(-1) ?? first
  return { path, winding: Math.round((last[0] - first[0]) / 360) }
}

/** +1 or −1 for a ring that contains the north or south pole, otherwise 0. The sign of the mean latitude decides; 0 is north. */
export function poleOf(ring: Ring): 1 | -1 | 0 {
  if (ring.winding === 0) return 0
  let sum = 0
  for (let i = 1; i < ring.path.length; i++) sum += ring.path[i]?.[1] ?? 0
  return sum < 0 ? -1 : 1
}

/** The area of a ring in km², exact on a sphere for edges that are straight in longitude and latitude. */
export function ringArea_km2(ring: Ring): number {
  let belowPath = 0
  for (const [[lon1, lat1], [lon2, lat2]] of edgesOf(ring.path)) {
    const a = toRad(lat1)
    const b = toRad(lat2)
    // For almost level edges the quotient loses all precision; the midpoint does not.
    const meanSine =
      Math.abs(b - a) < 1e-6 ? Math.sin((a + b) / 2) : (Math.cos(a) - Math.cos(b)) / (b - a)
    belowPath += toRad(lon2 - lon1) * meanSine
  }
  const pole = poleOf(ring)
  const turn = 2 * Math.PI * Math.abs(ring.winding)
  const area = pole === 0 ? Math.abs(belowPath) : turn - pole * Math.sign(ring.winding) * belowPath
  return area * EARTH_RADIUS_KM ** 2
}

/** Each pair of consecutive vertices. */
export function* edgesOf(path: readonly Vertex[]): Generator<[Vertex, Vertex]> {
  for (let i = 1; i < path.length; i++) {
    const from = path[i - 1]
    const to = path[i]
    if (from && to) yield [from, to]
  }
}

/** Edges in their order, and a spatial index of their boxes, which are centred within −180…180. */
export interface EdgeList {
  edges: { a: Vertex; b: Vertex }[]
  /** Undefined when there are no edges. */
  index: Flatbush | undefined
}

/** Indexes the edges of paths. */
export function listEdges(paths: readonly (readonly Vertex[])[]): EdgeList {
  const edges = paths.flatMap((path) => [...edgesOf(path)]).map(([a, b]) => ({ a, b }))
  if (edges.length === 0) return { edges, index: undefined }
  const index = new Flatbush(edges.length)
  for (const { a, b } of edges) index.add(...boxOf(a, b))
  index.finish()
  return { edges, index }
}

type Bounds = [west: number, south: number, east: number, north: number]

function boxOf(a: Vertex, b: Vertex): Bounds {
  const middle = nearestLongitude((a[0] + b[0]) / 2, 0)
  const half = Math.abs(b[0] - a[0]) / 2 + TOLERANCE_DEG
  const south = Math.min(a[1], b[1]) - TOLERANCE_DEG
  return [middle - half, south, middle + half, Math.max(a[1], b[1]) + TOLERANCE_DEG]
}

/**
 * Calls `isFound` for each pair of edges with overlapping boxes, one edge from each list, until it returns true. With the
 * same list twice, each pair is tested once. A call is one unit of work; a step covers one edge.
 */
export function* findNearPair(
  list: EdgeList,
  others: EdgeList,
  isFound: (i: number, j: number) => boolean,
): Steps<boolean> {
  if (!others.index) return false
  for (const [i, { a, b }] of list.edges.entries()) {
    const [west, south, east, north] = boxOf(a, b)
    let asked = 1
    let found = false
    const ask = (j: number) => {
      if (found || (list === others && j <= i)) return false
      asked++
      found = isFound(i, j)
      return false
    }
    for (const turn of [-360, 0, 360]) {
      others.index.search(west + turn, south, east + turn, north, ask)
    }
    if (found) return true
    yield asked
  }
  return false
}

/** The side of the line a→b on which a point is: 1 left, −1 right, 0 when nearer than {@link TOLERANCE_DEG}. */
function sideOf(p: Vertex, a: Vertex, b: Vertex): number {
  const dx = b[0] - a[0]
  const dy = b[1] - a[1]
  const distance = (dx * (p[1] - a[1]) - dy * (p[0] - a[0])) / Math.hypot(dx, dy)
  return Math.abs(distance) < TOLERANCE_DEG ? 0 : Math.sign(distance)
}

/** Whether all vertices are on one line, so that the ring encloses nothing. */
export function isFlat({ path }: Ring): boolean {
  const from = path[0]
  if (!from) return true
  const span = (v: Vertex) => Math.hypot(v[0] - from[0], v[1] - from[1])
  const to = path.reduce((far, vertex) => (span(vertex) > span(far) ? vertex : far), from)
  return isSame(from, to) || path.every((vertex) => sideOf(vertex, from, to) === 0)
}

const isSame = (a: Vertex, b: Vertex) =>
  Math.abs(a[0] - b[0]) < TOLERANCE_DEG && Math.abs(a[1] - b[1]) < TOLERANCE_DEG

/** Whether p is on the edge a→b, including its ends. */
export function isOnEdge(p: Vertex, a: Vertex, b: Vertex): boolean {
  if (p[1] < Math.min(a[1], b[1]) - TOLERANCE_DEG || p[1] > Math.max(a[1], b[1]) + TOLERANCE_DEG)
    return false
  if (p[0] < Math.min(a[0], b[0]) - TOLERANCE_DEG || p[0] > Math.max(a[0], b[0]) + TOLERANCE_DEG)
    return false
  return isSame(a, b) || sideOf(p, a, b) === 0
}

/** Whether two edges share a point, also when they are multiples of 360° apart. */
export function edgesMeet(a: Vertex, b: Vertex, c: Vertex, d: Vertex): boolean {
  const turn = nearestLongitude((c[0] + d[0]) / 2, (a[0] + b[0]) / 2) - (c[0] + d[0]) / 2
  const e: Vertex = [c[0] + turn, c[1]]
  const f: Vertex = [d[0] + turn, d[1]]
  if (isOnEdge(e, a, b) || isOnEdge(f, a, b) || isOnEdge(a, e, f) || isOnEdge(b, e, f)) return true
  return sideOf(e, a, b) * sideOf(f, a, b) < 0 && sideOf(a, e, f) * sideOf(b, e, f) < 0
}

/** Whether the path p→v→q crosses from one side of the path a→v→n to the other. */
function changesSides(v: Vertex, [a, n]: [Vertex, Vertex], [p, q]: [Vertex, Vertex]): boolean {
  const zero = Math.atan2(a[1] - v[1], a[0] - v[0])
  const turnTo = (x: Vertex) =>
    (Math.atan2(x[1] - v[1], x[0] - v[0]) - zero + 4 * Math.PI) % (2 * Math.PI)
  const opening = turnTo(n)
  return turnTo(p) < opening !== turnTo(q) < opening
}

/**
 * A place where a ring crosses itself or runs along itself, or null. A ring that only touches itself in a vertex is
 * allowed, because inside and outside stay well defined.
 */
export function* findCrossing(ring: Ring): Steps<Vertex | null> {
  const list = listEdges([ring.path])
  const { edges } = list
  let found: Vertex | null = null
  yield* findNearPair(list, list, (i, j) => {
    found = crossingOf(edges, i, j)
    return found !== null
  })
  return found
}

/** Where the edges i and j of a ring cross, or null. */
function crossingOf(edges: EdgeList['edges'], i: number, j: number): Vertex | null {
  const [e, f] = [edges[i], edges[j]]
  if (!e || !f) return null
  const middle = (f.a[0] + f.b[0]) / 2
  const turn = nearestLongitude(middle, (e.a[0] + e.b[0]) / 2) - middle
  const count = edges.length
  const gap = (j - i + count) % count
  const areNeighbours = gap === 1 || gap === count - 1
  if (!areNeighbours && isOnOneSide(e, f, turn)) return null
  const c: Vertex = [f.a[0] + turn, f.a[1]]
  const d: Vertex = [f.b[0] + turn, f.b[1]]
  if (areNeighbours) return foldBack(e.a, e.b, c, d)
  const after = (index: number) => edges[(index + 1) % count]
  return crossing({ a: e.a, b: e.b, next: after(i) }, { a: c, b: d, next: after(j) })
}

/** Whether f, shifted by `turn`, is completely on one side of e. A cheap test that excludes most near pairs. */
function isOnOneSide(
  e: { a: Vertex; b: Vertex },
  f: { a: Vertex; b: Vertex },
  turn: number,
): boolean {
  const dx = e.b[0] - e.a[0]
  const dy = e.b[1] - e.a[1]
  const toC = dx * (f.a[1] - e.a[1]) - dy * (f.a[0] + turn - e.a[0])
  const toD = dx * (f.b[1] - e.a[1]) - dy * (f.b[0] + turn - e.a[0])
  if (toC * toD <= 0) return false
  const least = TOLERANCE_DEG * (Math.abs(dx) + Math.abs(dy))
  return Math.abs(toC) > least && Math.abs(toD) > least
}

/** The shared vertex when neighbouring edges overlap beyond it, otherwise null. */
function foldBack(a: Vertex, b: Vertex, c: Vertex, d: Vertex): Vertex | null {
  const [from, shared, to] = isSame(b, c) ? [a, b, d] : [b, a, c]
  if (sideOf(to, shared, from) !== 0) return null
  const ahead =
    (from[0] - shared[0]) * (to[0] - shared[0]) + (from[1] - shared[1]) * (to[1] - shared[1])
  return ahead > 0 ? shared : null
}

interface Edge {
  a: Vertex
  b: Vertex
  /** The next edge on the ring, possibly shifted by multiples of 360°. */
  next: { a: Vertex; b: Vertex } | undefined
}

function crossing(e: Edge, f: Edge): Vertex | null {
  const sides = [sideOf(f.a, e.a, e.b), sideOf(f.b, e.a, e.b)] as const
  const others = [sideOf(e.a, f.a, f.b), sideOf(e.b, f.a, f.b)] as const
  if (sides[0] * sides[1] < 0 && others[0] * others[1] < 0) return meeting(e, f)
  const along = sides[0] === 0 && sides[1] === 0 ? overlap(e, f) : null
  return along ?? touch(e, f) ?? touch(f, e)
}

/** The intersection of two crossing edges. */
function meeting(e: Edge, f: Edge): Vertex {
  const [dx, dy] = [e.b[0] - e.a[0], e.b[1] - e.a[1]]
  const [ex, ey] = [f.b[0] - f.a[0], f.b[1] - f.a[1]]
  const along = ((f.a[0] - e.a[0]) * ey - (f.a[1] - e.a[1]) * ex) / (dx * ey - dy * ex)
  return [e.a[0] + along * dx, e.a[1] + along * dy]
}

/** A point of two edges on one line when they share more than an end, otherwise null. */
function overlap(e: Edge, f: Edge): Vertex | null {
  const axis = Math.abs(e.b[0] - e.a[0]) > Math.abs(e.b[1] - e.a[1]) ? 0 : 1
  const from = Math.max(Math.min(e.a[axis], e.b[axis]), Math.min(f.a[axis], f.b[axis]))
  const to = Math.min(Math.max(e.a[axis], e.b[axis]), Math.max(f.a[axis], f.b[axis]))
  return to - from > TOLERANCE_DEG ? f.a : null
}

/** The end of e when it is on f and the ring crosses itself there. The start of f belongs to the edge before it. */
function touch(e: Edge, f: Edge): Vertex | null {
  const v = e.b
  if (!e.next || !f.next || isSame(v, f.a) || !isOnEdge(v, f.a, f.b)) return null
  const follow = (edge: { a: Vertex; b: Vertex }): Vertex => [
    v[0] + edge.b[0] - edge.a[0],
    v[1] + edge.b[1] - edge.a[1],
  ]
  const leaves = isSame(v, f.b) ? follow(f.next) : f.b
  return changesSides(v, [e.a, follow(e.next)], [f.a, leaves]) ? v : null
}
