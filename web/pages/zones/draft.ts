import type { MultiPolygon, Polygon } from 'geojson'
import type { Schemas } from '../../api/client.ts'
import type { Zone } from '../../api/queries.ts'
import {
  numberIn,
  type QuietDraft,
  quietBody,
  quietDraft,
  type StepDraft,
  stepsBody,
  stepsDraft,
} from './draft-rules.ts'

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
  /** What is typed into the fields of numbers; empty for the default. */
  severity_multiplier: string
  dwell_minutes: string
  /** Empty for no limit. */
  max_alerts_per_hour: string
  match: 'point' | 'footprint'
  leavesAftershocks: boolean
  magnitude_gap: string
  /** Empty: all of them. */
  sources: string[]
  /** `#rrggbb`; empty for none. */
  color: string
  /** A name of Lucide; empty for none. */
  icon: string
  quiet: QuietDraft
  quiet_hours_tz: string
  quiet_mode: 'hold' | 'drop'
  /** Empty for none. */
  emergency_severity: string
  /** Null: all channels. */
  channel_ids: string[] | null
  /** Whether channels are being chosen, although none is chosen yet. */
  isChoosing: boolean
  steps: StepDraft[]
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
    severity_multiplier: String(zone?.severity_multiplier ?? 1),
    dwell_minutes: String(zone?.dwell_minutes ?? 0),
    max_alerts_per_hour: zone?.max_alerts_per_hour?.toString() ?? '',
    match: zone?.match ?? 'footprint',
    leavesAftershocks: zone?.aftershocks != null,
    magnitude_gap: String(zone?.aftershocks?.magnitude_gap ?? 2),
    sources: zone?.sources ?? [],
    color: zone?.color ?? '',
    icon: zone?.icon ?? '',
    quiet: quietDraft(zone),
    quiet_hours_tz: zone?.quiet_hours_tz ?? own_tz,
    quiet_mode: zone?.quiet_mode ?? 'hold',
    emergency_severity: zone?.emergency_severity?.toString() ?? '',
    channel_ids: zone?.channel_ids ?? null,
    isChoosing: (zone?.channel_ids?.length ?? 0) > 0,
    steps: stepsDraft(zone),
    org_id: zone?.org_id ?? '',
    enabled: zone?.enabled ?? true,
    external_id: zone?.external_id ?? '',
  }
}

/** What is sent to the API; undefined while a polygon is not drawn. */
export function bodyOf(draft: Draft) {
  const { shape_type, polygon, radius_km, types, sources, isChoosing: _, ...more } = draft
  const { leavesAftershocks, magnitude_gap, quiet, steps, ...rest } = more
  if (shape_type === 'polygon' && !polygon) return undefined
  return {
    ...rest,
    types: types.length > 0 ? types : null,
    sources: sources.length > 0 ? sources : null,
    severity_multiplier: numberIn(draft.severity_multiplier) ?? 1,
    dwell_minutes: numberIn(draft.dwell_minutes) ?? 0,
    max_alerts_per_hour: numberIn(draft.max_alerts_per_hour),
    aftershocks: leavesAftershocks ? { magnitude_gap: numberIn(magnitude_gap) ?? 2 } : null,
    color: draft.color || null,
    icon: draft.icon || null,
    ...quietBody(quiet),
    escalation: stepsBody(steps),
    emergency_severity: numberIn(draft.emergency_severity),
    org_id: draft.org_id || null,
    external_id: draft.external_id.trim() || null,
    ...(shape_type === 'polygon'
      ? { shape_type, polygon: polygon as never } // safe: GeoJSON, as the API takes it
      : { shape_type, polygon: null, radius_km }),
  }
}

/**
 * What a preview is asked of: the form without what decides nothing, so that typing a name asks for no other
 * preview.
 */
export function previewOf(body: NonNullable<ReturnType<typeof bodyOf>>) {
  return { ...body, label: '–', external_id: null, color: null, icon: null }
}
