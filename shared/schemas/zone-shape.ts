/** The rules that the polygon of a zone must follow. */
import { containsPoint, prepareZone } from '../geometry/geometry.ts'
import type { ZonePolygon } from '../geometry/polygon.ts'
import { findCrossing, isFlat, ringArea_km2, toRing } from '../geometry/ring.ts'
import type { Steps } from '../geometry/steps.ts'

const MAX_VERTICES = 10_000
/**
 * The most pairs of edges to compare: 100 times what an outline of 10,000 vertices from a map needs, and as
 * many as 2,000 edges that all run side by side.
 */
export const MAX_PAIRS = 2_000_000
/** A shape with a smaller area is treated as a line or a point. */
const MIN_AREA_KM2 = 1e-6

/** A problem in a request: its path (e.g. `polygon.coordinates.0`), a stable code and a message. */
export interface Issue {
  path: string
  code: string
  message: string
}

/** The issues of a polygon by itself, as Steps; the worst case takes about 0.1 s. `work` counts the pairs of edges. */
export function* checkShapeInSteps(
  polygon: ZonePolygon,
  work: { pairs: number } = { pairs: 0 },
): Steps<Issue[]> {
  const single = polygon.type === 'Polygon'
  const polygons = single ? [polygon.coordinates] : polygon.coordinates
  const rings = polygons.flatMap((part, p) =>
    part.map((ring, r) => ({ ring, path: `polygon.coordinates.${single ? r : `${p}.${r}`}` })),
  )
  const vertices = rings.reduce((sum, { ring }) => sum + ring.length, 0)
  if (vertices > MAX_VERTICES) {
    return [
      {
        path: 'polygon',
        code: 'too_many_vertices',
        message: `The polygon has ${vertices} vertices; the limit is ${MAX_VERTICES}. Simplify it.`,
      },
    ]
  }
  const issues: Issue[] = []
  for (const { ring, path } of rings) {
    const issue = yield* checkRing(ring, path, work)
    if (issue) issues.push(issue)
  }
  return issues
}

/** An issue when the label is in the polygon only with latitude and longitude swapped. */
export function checkSwappedCoordinates(
  polygon: ZonePolygon,
  label: { lat: number; lon: number },
): Issue[] {
  const shape = prepareZone({ ...label, radius_km: 0, shape_type: 'polygon', polygon })
  const { lat, lon } = label
  const isSwapped =
    Math.abs(lon) <= 90 &&
    !containsPoint(shape, lat, lon).inside &&
    containsPoint(shape, lon, lat).inside
  if (!isSwapped) return []
  return [
    {
      path: 'polygon',
      code: 'swapped_coordinates',
      message: `(lat ${lat}, lon ${lon}) lies outside the polygon, but inside it with the two swapped. GeoJSON positions are (lon, lat).`,
    },
  ]
}

/** The first issue of a ring, or null. Later issues would only be consequences of it. */
function* checkRing(
  positions: number[][],
  path: string,
  work: { pairs: number },
): Steps<Issue | null> {
  for (const [index, [lon = 0, lat = 0]] of positions.entries()) {
    if (Math.abs(lat) > 90) {
      return {
        path: `${path}.${index}`,
        code: 'latitude_out_of_range',
        message: `Latitude ${lat} is beyond ±90. Positions are (lon, lat): are they swapped?`,
      }
    }
    if (Math.abs(lon) > 360) {
      return {
        path: `${path}.${index}`,
        code: 'longitude_out_of_range',
        message: `Longitude ${lon} is beyond ±360. Shift the shape by multiples of 360°.`,
      }
    }
  }
  const [first, last] = [positions[0], positions.at(-1)]
  const isClosed =
    first?.[0] !== undefined &&
    last?.[0] !== undefined &&
    first[1] === last[1] &&
    (last[0] - first[0]) % 360 === 0
  if (!isClosed) {
    return {
      path,
      code: 'open_ring',
      message: 'The ring is open. Repeat its first position as its last.',
    }
  }
  const ring = toRing(positions)
  const noArea: Issue = {
    path,
    code: 'no_area',
    message:
      'The ring encloses no area. Send at least three corners that are not in line. An edge longer than 180° goes the short way round; add vertices in between.',
  }
  if (ring.winding === 0 && isFlat(ring)) return noArea
  // A ring that winds round the earth more than once crosses itself, so it is found below.
  // First the cost of laying out and indexing the ring.
  yield 40 + 10 * positions.length
  const search = findCrossing(ring)
  let step = search.next()
  for (; !step.done; step = search.next()) {
    work.pairs += step.value
    if (work.pairs > MAX_PAIRS) return tooTangled(path)
    yield step.value
  }
  const crossing = step.value
  if (crossing) {
    const where = `(lon ${round(crossing[0])}, lat ${round(crossing[1])})`
    return {
      path,
      code: 'self_crossing_ring',
      message: `The ring crosses or overlaps itself near ${where}. Draw each outline once, and each hole as a separate ring.`,
    }
  }
  return ringArea_km2(ring) < MIN_AREA_KM2 ? noArea : null
}

const tooTangled = (path: string): Issue => ({
  path,
  code: 'too_tangled',
  message:
    'Too many long edges run side by side to compare them all. Send fewer than 2,000 of them, or create several zones.',
})

const round = (degrees: number) => Math.round(degrees * 1e5) / 1e5
