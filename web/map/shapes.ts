import circle from '@turf/circle'
import type { Feature, FeatureCollection, MultiPolygon, Point, Polygon } from 'geojson'
import type { Map as MapLibre } from 'maplibre-gl'
import { containsPoint, prepareZone } from '../../shared/geometry/geometry.ts'
import type { ZoneShape } from '../../shared/geometry/polygon.ts'
import type { MapFeature, Zone } from '../api/queries.ts'
import { isBlind } from '../shared/blind.ts'
import { timeNow } from '../ui/clock.ts'
import { addInPortions } from './portions.ts'
import { symbolOf } from './symbols.ts'

const CORNERS = 72
/** Among so many zones nobody sees that a circle has corners. */
const FEW_CORNERS = 32
const MANY_ZONES = 500

/** What a zone is drawn with. */
type ZoneLook = { id: string; label: string; color: string | null; look: ZoneState }
/** `blind`: a source it watches delivers nothing; `snoozed`, `off`: its owner wants no alerts. */
export type ZoneState = 'on' | 'blind' | 'snoozed' | 'off'

/** The state that a zone is drawn in; what keeps alerts from being raised comes first. */
export function stateOf(
  zone: Pick<Zone, 'enabled' | 'snoozed_until' | 'coverage'>,
  now = timeNow(),
): ZoneState {
  if (!zone.enabled) return 'off'
  if (zone.snoozed_until && Date.parse(zone.snoozed_until) > now) return 'snoozed'
  const { coverage } = zone
  const isUnwatched =
    coverage.some(isBlind) ||
    (coverage.length > 0 && coverage.every(({ status }) => status === 'disabled'))
  return isUnwatched ? 'blind' : 'on'
}

/** The area of a zone as GeoJSON; a circle becomes a polygon of so many corners. */
export function areaOf(
  zone: Pick<Zone, 'shape_type' | 'lat' | 'lon' | 'radius_km'> & { polygon?: unknown },
  corners = CORNERS,
): Polygon | MultiPolygon {
  if (zone.shape_type === 'polygon' && zone.polygon) return zone.polygon as Polygon | MultiPolygon // safe: the API answers GeoJSON
  return circle([zone.lon, zone.lat], zone.radius_km, { steps: corners }).geometry
}

/** The area of a zone and what it is drawn with. */
function zoneFeature(zone: Zone, corners: number): Feature<Polygon | MultiPolygon, ZoneLook> {
  const { id, label } = zone
  const properties = { id, label, color: zone.color ?? null, look: stateOf(zone) }
  return { type: 'Feature', geometry: areaOf(zone, corners), properties }
}

/**
 * Makes the map show these zones: those that it holds already stay, for a zone that has not changed is
 * the same object as before. Returns what stops it.
 */
export function showZones(map: MapLibre, zones: Zone[], held: Map<string, Zone>): () => void {
  const wanted = new Set(zones.map(({ id }) => id))
  const remove = [...held.keys()].filter((id) => !wanted.has(id))
  for (const id of remove) held.delete(id)
  const corners = zones.length > MANY_ZONES ? FEW_CORNERS : CORNERS
  function* fresh() {
    for (const zone of zones) {
      if (held.get(zone.id) === zone) continue
      held.set(zone.id, zone)
      yield zoneFeature(zone, corners)
    }
  }
  return addInPortions(map, 'zones', fresh(), { remove })
}

type EventLook = {
  id: string
  title: string
  severity: number
  symbol: string
  /** Milliseconds, for the slider. */
  at: number
  /** How many events it stands for: over 1 for what the service has clustered. */
  count: number
  bbox: string | null
}

export function eventFeatures(features: MapFeature[]): FeatureCollection<Point, EventLook> {
  return {
    type: 'FeatureCollection',
    features: features.map(
      (given): Feature<Point, EventLook> => ({
        type: 'Feature',
        geometry: given.geometry as Point, // safe: the API answers points
        properties: {
          id: 'id' in given ? given.id : `cluster ${given.bbox.join(',')}`,
          title: given.properties.cluster ? '' : given.properties.title,
          severity: given.properties.severity,
          symbol: symbolOf(given.properties.severity),
          at: Date.parse(given.properties.ts),
          count: given.properties.cluster ? given.properties.count : 1,
          bbox: 'bbox' in given ? given.bbox.join(',') : null,
        },
      }),
    ),
  }
}

/** Whether a zone holds the point of an event, by the same rule as the service. */
export function holds(zone: Zone, event: { lat: number; lon: number }): boolean {
  // safe: the API answers the polygon of a zone as the service stores it
  return containsPoint(prepareZone(zone as ZoneShape & Zone), event.lat, event.lon).inside
}
