import type { MultiPolygon, Polygon } from 'geojson'
import type { Schemas } from '../../api/client.ts'
import type { Zone } from '../../api/queries.ts'

/** A zone while it is being edited. */
export type Draft = {
  label: string
  shape_type: 'circle' | 'polygon'
  lat: number
  lon: number
  radius_km: number
  /** Null until it is drawn. */
  polygon: Polygon | MultiPolygon | null
  types: Schemas['EventType'][]
  min_severity: number
  quiet_hours_start: string
  quiet_hours_end: string
  quiet_hours_tz: string
  quiet_mode: 'hold' | 'drop'
  /** Empty for none. */
  emergency_severity: string
  /** Null: all channels. */
  channel_ids: string[] | null
  /** Whether channels are being chosen, although none is chosen yet. */
  isChoosing: boolean
  /** Empty for none. */
  org_id: string
  enabled: boolean
  /** Empty for none. */
  external_id: string
}

/** The draft of a zone, or of a new one at a place. */
export function draftOf(zone: Zone | undefined, place: { lat: number; lon: number }): Draft {
  const own_tz = Intl.DateTimeFormat().resolvedOptions().timeZone
  return {
    label: zone?.label ?? '',
    shape_type: zone?.shape_type ?? 'circle',
    lat: zone?.lat ?? place.lat,
    lon: zone?.lon ?? place.lon,
    radius_km: zone?.radius_km ?? 100,
    polygon: (zone?.polygon as Polygon | MultiPolygon | null | undefined) ?? null, // safe: the API answers GeoJSON
    types: zone?.types ?? [],
    min_severity: zone?.min_severity ?? 40,
    quiet_hours_start: zone?.quiet_hours_start ?? '',
    quiet_hours_end: zone?.quiet_hours_end ?? '',
    quiet_hours_tz: zone?.quiet_hours_tz ?? own_tz,
    quiet_mode: zone?.quiet_mode ?? 'hold',
    emergency_severity: zone?.emergency_severity?.toString() ?? '',
    channel_ids: zone?.channel_ids ?? null,
    isChoosing: (zone?.channel_ids?.length ?? 0) > 0,
    org_id: zone?.org_id ?? '',
    enabled: zone?.enabled ?? true,
    external_id: zone?.external_id ?? '',
  }
}

/** What is sent to the API; undefined while a polygon is not drawn. */
export function bodyOf(draft: Draft) {
  const { shape_type, polygon, radius_km, types, isChoosing: _, ...rest } = draft
  if (shape_type === 'polygon' && !polygon) return undefined
  return {
    ...rest,
    types: types.length > 0 ? types : null,
    quiet_hours_start: draft.quiet_hours_start || null,
    quiet_hours_end: draft.quiet_hours_end || null,
    emergency_severity:
      draft.emergency_severity.trim() === '' ? null : Number(draft.emergency_severity),
    org_id: draft.org_id || null,
    external_id: draft.external_id.trim() || null,
    ...(shape_type === 'polygon'
      ? { shape_type, polygon: polygon as never } // safe: GeoJSON, as the API takes it
      : { shape_type, polygon: null, radius_km }),
  }
}
