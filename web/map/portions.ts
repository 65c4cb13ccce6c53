import type { Feature, Geometry } from 'geojson'
import type { GeoJSONSource, GeoJSONSourceDiff, Map as MapLibre } from 'maplibre-gl'

/** What is handed to the map's worker at once is copied on the main thread, which must stay free for the reader. */
const MAX_POSITIONS = 6_000

/** portionsOf puts features together until they have so many positions. */
export function* portionsOf<T extends Feature>(features: Iterable<T>): Generator<T[]> {
  let portion: T[] = []
  let positions = 0
  for (const feature of features) {
    portion.push(feature)
    positions += countOf(feature.geometry)
    if (positions < MAX_POSITIONS) continue
    yield portion
    portion = []
    positions = 0
  }
  if (portion.length > 0) yield portion
}

function countOf(geometry: Geometry): number {
  if (geometry.type === 'GeometryCollection') return 0
  const count = (parts: unknown): number =>
    Array.isArray(parts) && Array.isArray(parts[0])
      ? parts.reduce((sum: number, part) => sum + count(part), 0)
      : 1
  return count(geometry.coordinates)
}

/** Adds features to a source one portion after the other, until the function it returns is called. */
export function addInPortions(
  map: MapLibre,
  name: string,
  features: Iterable<Feature>,
  { remove = [] }: { remove?: string[] } = {},
): () => void {
  let isOver = false
  const update = (diff: GeoJSONSourceDiff) => map.getSource<GeoJSONSource>(name)?.updateData(diff)
  const add = async () => {
    if (remove.length > 0) await update({ remove })
    if (isOver) return
    for (const portion of portionsOf(features)) {
      // What was taken is added in any case: the features may be those that were not held yet.
      await update({ add: portion })
      if (isOver) return
    }
  }
  // A map that was removed meanwhile needs no more of it.
  add().catch((error) => isOver || console.error('map:', error))
  return () => {
    isOver = true
  }
}
