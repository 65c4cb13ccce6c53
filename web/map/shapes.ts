import circle from '@turf/circle'
import type { Feature, FeatureCollection, MultiPolygon, Point, Polygon } from 'geojson'
import { containsPoint, prepareZone } from '../../shared/geometry/geometry.ts'
import type { ZoneShape } from '../../shared/geometry/polygon.ts'
import type { MapFeature, Zone } from '../api/queries.ts'
import { timeNow } from '../ui/clock.ts'
import { symbolOf } from './symbols.ts'

const CORNERS = 72

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
  const isBlind = zone.coverage.some(({ status }) => status === 'stale' || status === 'down')
  return isBlind ? 'blind' : 'on'
}

/** The area of a zone as GeoJSON; a circle becomes a polygon of 72 corners. */
export function areaOf(
  zone: Pick<Zone, 'shape_type' | 'lat' | 'lon' | 'radius_km'> & { polygon?: unknown },
): Polygon | MultiPolygon {
  if (zone.shape_type === 'polygon' && zone.polygon) return zone.polygon as Polygon | MultiPolygon // safe: the API answers GeoJSON
  return circle([zone.lon, zone.lat], zone.radius_km, { steps: CORNERS }).geometry
}

export function zoneFeatures(zones: Zone[]): FeatureCollection<Polygon | MultiPolygon, ZoneLook> {
  return {
    type: 'FeatureCollection',
    features: zones.map((zone) => ({
      type: 'Feature',
      geometry: areaOf(zone),
      properties: {
        id: zone.id,
        label: zone.label,
        color: zone.color ?? null,
        look: stateOf(zone),
      },
    })),
  }
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
