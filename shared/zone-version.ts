import type { ZoneFields } from './zone.ts'

/**
 * The fields of a kept zone version, from the row that zone_versions holds as JSON. It was checked
 * when it was written, and matching reads very many: nothing is parsed again but its one time.
 */
export function zoneOfVersion(definition: unknown): ZoneFields {
  const row = definition as ZoneFields // safe: a trigger writes whole rows of zones, checked on their way in
  const { snoozed_until } = row
  return { ...row, snoozed_until: snoozed_until && new Date(snoozed_until).toISOString() }
}
