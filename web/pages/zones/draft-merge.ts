import { isSame } from '../../../shared/same.ts'
import type { Draft } from './draft.ts'
import type { zonesText } from './zones.text.ts'

/** The field, as people know it, that each part of a draft belongs to: parts of one field are taken over together. */
const FIELDS = {
  label: 'label',
  shape_type: 'shape_type',
  lat: 'shape_type',
  lon: 'shape_type',
  radius_km: 'shape_type',
  polygon: 'shape_type',
  types: 'types',
  min_severity: 'min_severity',
  severity_multiplier: 'severity_multiplier',
  dwell_minutes: 'dwell_minutes',
  max_alerts_per_hour: 'max_alerts_per_hour',
  match: 'match',
  leavesAftershocks: 'aftershocks',
  magnitude_gap: 'aftershocks',
  sources: 'sources',
  color: 'color',
  icon: 'icon',
  quiet: 'quiet_windows',
  quiet_hours_tz: 'quiet_hours_tz',
  quiet_mode: 'quiet_mode',
  emergency_severity: 'emergency_severity',
  channel_ids: 'channel_ids',
  isChoosing: 'channel_ids',
  steps: 'escalation',
  org_id: 'org_id',
  enabled: 'enabled',
  external_id: 'external_id',
} as const satisfies Record<keyof Draft, keyof typeof zonesText.en.fields>

export type DraftField = (typeof FIELDS)[keyof Draft]

const PARTS = Object.keys(FIELDS) as (keyof Draft)[] // safe: FIELDS has exactly the keys of a draft

/** The fields in which two drafts differ, each once, in the order of the form. */
export function changedFields(one: Draft, other: Draft): DraftField[] {
  const changed = PARTS.filter((part) => !isSame(one[part], other[part]))
  return [...new Set(changed.map((part) => FIELDS[part]))]
}

/** A draft with some fields as another one has them. */
export function withFields(draft: Draft, from: Draft, fields: readonly DraftField[]): Draft {
  const taken = PARTS.filter((part) => fields.includes(FIELDS[part]))
  return { ...draft, ...Object.fromEntries(taken.map((part) => [part, from[part]])) }
}
