import { toParts } from '../../shared/geometry/area.ts'
import { distance_km } from '../../shared/geometry/geometry.ts'
import type { Geometry } from '../../shared/schemas/event.ts'
import type { Track } from '../api/queries.ts'
import { bearingOf } from './tracks.ts'

/** How large a footprint is: its area, and its width and height at its middle; of a line its length. */
export type Extent =
  | { area_km2: number; width_km: number; height_km: number }
  | { length_km: number }

export function extentOf(geometry: Geometry): Extent | null {
  switch (geometry.type) {
    case 'Point':
    case 'MultiPoint':
      return null
    case 'LineString':
      return { length_km: lengthOf(geometry.coordinates) }
    case 'MultiLineString':
      return { length_km: geometry.coordinates.reduce((sum, line) => sum + lengthOf(line), 0) }
    case 'Polygon':
    case 'MultiPolygon': {
      const parts = toParts(geometry)
      const holes = parts.flatMap((part) => part.holes)
      const sum = (areas: { area_km2: number }[]) =>
        areas.reduce((all, { area_km2 }) => all + area_km2, 0)
      const boxes = parts.map(({ shell }) => shell.extent)
      const [west, east] = [
        Math.min(...boxes.map((box) => box.west)),
        Math.max(...boxes.map((box) => box.east)),
      ]
      const [south, north] = [
        Math.min(...boxes.map((box) => box.south)),
        Math.max(...boxes.map((box) => box.north)),
      ]
      const lat = (south + north) / 2
      const middle = (west + east) / 2
      return {
        area_km2: sum(parts.map(({ shell }) => shell)) - sum(holes),
        // Half of it, for beyond 180° the way back is shorter.
        width_km: 2 * distance_km({ lat, lon: west }, { lat, lon: middle }),
        height_km: distance_km({ lat: south, lon: west }, { lat: north, lon: west }),
      }
    }
  }
}

function lengthOf(line: readonly number[][]): number {
  let sum = 0
  for (const [index, [lon = 0, lat = 0]] of line.entries()) {
    const [lon0 = 0, lat0 = 0] = line[index - 1] ?? [lon, lat]
    sum += distance_km({ lat: lat0, lon: lon0 }, { lat, lon })
  }
  return sum
}

const DIRECTIONS = ['n', 'ne', 'e', 'se', 's', 'sw', 'w', 'nw'] as const
export type Direction = (typeof DIRECTIONS)[number]

/** A way in numbers. What lies in a gap is not counted: nobody knows the way. */
export type Way = {
  length_km: number
  seconds: number
  gaps: number
  towards: Direction | null
  moved_at: string
}

export function wayOf(steps: Track['steps']): Way | null {
  const [first, last] = [steps[0], steps.at(-1)]
  if (!first || !last || steps.length < 2) return null
  let length_km = 0
  let moved_at = first.ts
  for (const [index, step] of steps.entries()) {
    const before = steps[index - 1]
    if (!before) continue
    if (step.lat !== before.lat || step.lon !== before.lon) moved_at = step.ts
    if (step.flag === null) length_km += distance_km(before, step)
  }
  const bearing = bearingOf(steps)
  return {
    length_km,
    seconds: (Date.parse(last.ts) - Date.parse(first.ts)) / 1000,
    gaps: steps.filter(({ flag }) => flag !== null).length,
    towards: bearing === null ? null : (DIRECTIONS[Math.round(bearing / 45) % 8] ?? null),
    moved_at,
  }
}
