import type { MapFeature, Track } from '../api/queries.ts'
import { cutAt } from './tracks.ts'

/**
 * The events as they were at a time: what had not happened is left out, and what has moved on since is where it was.
 * Undefined: as they are.
 */
export function movedTo(
  features: MapFeature[],
  tracks: readonly Track[],
  until: number | undefined,
): MapFeature[] {
  if (until === undefined) return features
  const known = new Map(tracks.map((track) => [track.event_id, track]))
  return features.flatMap((feature): MapFeature[] => {
    if (Date.parse(feature.properties.ts) <= until) return [feature]
    const track = 'id' in feature ? known.get(feature.id) : undefined
    const step = track && cutAt(track.steps, until).at(-1)
    if (!step || feature.properties.cluster || !('id' in feature)) return []
    const { lat, lon, ts, severity } = step
    return [
      {
        ...feature,
        geometry: { type: 'Point', coordinates: [lon, lat] },
        properties: { ...feature.properties, lat, lon, ts, severity },
      },
    ]
  })
}

type Place = { lat: number; lon: number }

/** Where the chosen event was at a time: on its way, or where it is. */
export function placeAt(
  event: Place | undefined,
  track: Track | null,
  until: number | undefined,
): Place | null {
  if (!track) return event ?? null
  const step = (until === undefined ? track.steps : cutAt(track.steps, until)).at(-1)
  return step ?? null
}
