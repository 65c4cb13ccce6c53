import { EARTH_RADIUS_KM } from '../../../shared/geometry/ring.ts'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import { toInstant } from '../feed.ts'
import type { Detection } from '../formats/firms-csv.ts'
import { type LonLat, toGeometry, wrapLongitude } from '../formats/geometry.ts'
import { hash } from './alert-memory.ts'

/** Detections belong to one fire if they are this close to one of it, in space and in time. */
const REACH_KM = 1
const REACH_MS = 12 * 60 * 60_000

/** Detections that belong together, oldest first. */
export type Fire = [Detection, ...Detection[]]

/** Which fire a detection belonged to before: the hash of the detection, and the id of the fire. */
export type KnownFires = Readonly<Record<string, string>>

/** Groups detections into fires: each is within 1 km and 12 hours of another of its fire. */
export function toFires(detections: readonly Detection[]): Fire[] {
  const unique = [...new Map(detections.map((one) => [one.key, one])).values()]
  unique.sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1))
  const places = unique.map(toPlace)
  const parents = unique.map((_, index) => index)
  const rootOf = (index: number): number => {
    let root = index
    while (parents[root] !== root) {
      parents[root] = parents[parents[root] ?? root] ?? root
      root = parents[root] ?? root
    }
    return root
  }
  const cells = new Map<number, number[]>()
  for (const [index, place] of places.entries()) {
    const at = unique[index]?.at ?? 0
    for (const near of nearby(cells, place)) {
      const other = places[near]
      const is_recent = at - (unique[near]?.at ?? 0) <= REACH_MS
      if (!other || !is_recent || distance(place, other) > REACH_KM) continue
      const [a, b] = [rootOf(index), rootOf(near)]
      // The oldest detection is the root.
      if (a !== b) parents[Math.max(a, b)] = Math.min(a, b)
    }
    const cell = cellOf(place)
    const inside = cells.get(cell)
    if (inside) inside.push(index)
    else cells.set(cell, [index])
  }
  const fires = new Map<number, Fire>()
  for (const [index, detection] of unique.entries()) {
    const root = rootOf(index)
    const fire = fires.get(root)
    if (fire) fire.push(detection)
    else fires.set(root, [detection])
  }
  return [...fires.values()]
}

type Place = readonly [x: number, y: number, z: number]

/** A place on the globe in km from its centre: no edge at the antimeridian or the poles. */
function toPlace({ lat, lon }: Detection): Place {
  const [phi, lambda] = [(lat * Math.PI) / 180, (lon * Math.PI) / 180]
  const r = EARTH_RADIUS_KM
  return [
    r * Math.cos(phi) * Math.cos(lambda),
    r * Math.cos(phi) * Math.sin(lambda),
    r * Math.sin(phi),
  ]
}

function distance(a: Place, b: Place): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
}

const HALF = Math.ceil(EARTH_RADIUS_KM / REACH_KM) + 1
const SPAN = 2 * HALF + 1

function cellOf([x, y, z]: Place): number {
  const [i, j, k] = [x, y, z].map((value) => Math.floor(value / REACH_KM) + HALF)
  return ((i ?? 0) * SPAN + (j ?? 0)) * SPAN + (k ?? 0)
}

function* nearby(cells: ReadonlyMap<number, number[]>, place: Place): Generator<number> {
  const middle = cellOf(place)
  for (const i of [-1, 0, 1]) {
    for (const j of [-1, 0, 1]) {
      for (const k of [-1, 0, 1]) {
        yield* cells.get(middle + (i * SPAN + j) * SPAN + k) ?? []
      }
    }
  }
}

/**
 * The id of each fire: that under which one of its detections was known, of several that of the oldest;
 * else one made of its first detection. No two fires get the same.
 */
export function idsOf(fires: readonly Fire[], known: KnownFires): string[] {
  const taken = new Set<string>()
  return fires.map((fire) => {
    const before = fire.flatMap(({ key }) => known[hash(key)] ?? [])
    const free = [...before, ...fire.map(({ key }) => hash(key))].find((id) => !taken.has(id))
    // The comma in front: the name of a single detection is taken already.
    const id = free ?? hash(`,${fire.map(({ key }) => key).join()}`)
    taken.add(id)
    return id
  })
}

/** A fire as an event: where its strongest detection is, as of its latest one. */
export function toFireEvent(fire: Fire, id: string): NormalisedEvent {
  const strongest = fire.reduce((a, b) => ((b.frp ?? 0) > (a.frp ?? 0) ? b : a))
  const last = fire.at(-1) ?? fire[0]
  return {
    id: `firms:${id}`,
    source: 'firms',
    type: 'wildfire',
    title: titleOf(fire, strongest),
    lat: strongest.lat,
    lon: strongest.lon,
    ts: toInstant(last.at),
    severity: Math.max(...fire.map(({ severity }) => severity)),
    subject: null,
    status: 'active',
    url: null,
    geometry: footprintOf(fire),
    ends_at: toInstant(last.at + REACH_MS),
    revised_at: null,
    aliases: [],
  }
}

function titleOf(fire: Fire, strongest: Detection): string {
  const power = fire.reduce((sum, { frp }) => sum + (frp ?? 0), 0)
  const megawatts = `${Number(power.toFixed(1))} MW`
  const instruments = [...new Set(fire.map(({ instrument }) => instrument))].sort().join(', ')
  if (fire.length > 1) return `Fire ${megawatts}, ${fire.length} detections (${instruments})`
  const unit = /^\d/.test(strongest.confidence) ? '%' : ''
  return `Fire ${megawatts} (${instruments}, confidence ${strongest.confidence}${unit})`
}

/** The convex hull of the detections; points if they have no area, null for a single one. */
function footprintOf(fire: Fire): NormalisedEvent['geometry'] {
  const [{ lon: near }] = fire
  const places = new Map(
    fire.map(({ lon, lat }): [string, LonLat] => {
      return [`${lon},${lat}`, [lon - 360 * Math.round((lon - near) / 360), lat]]
    }),
  )
  const points = [...places.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1])
  if (points.length === 1) return null
  const hull = [...halfHull(points), ...halfHull(points.toReversed())]
  const [first] = hull
  if (hull.length > 2 && first) return toGeometry([[[...hull, first]]])
  return { type: 'MultiPoint', coordinates: points.map(([lon, lat]) => [wrapLongitude(lon), lat]) }
}

/** One side of a convex hull (Andrew's monotone chain), without its last point. */
function halfHull(points: readonly LonLat[]): LonLat[] {
  const hull: LonLat[] = []
  for (const point of points) {
    while (hull.length > 1 && !turnsLeft(hull.at(-2), hull.at(-1), point)) hull.pop()
    hull.push(point)
  }
  return hull.slice(0, -1)
}

function turnsLeft(a: LonLat | undefined, b: LonLat | undefined, c: LonLat): boolean {
  if (!a || !b) return true
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 1e-12
}
