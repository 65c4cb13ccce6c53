import type { ZoneFields } from './zone.ts'

/**
 * The fields of a stored zone version. It was validated when it was written, and matching reads very many
 * versions, so only its time is converted.
 */
export function parseZoneVersion(definition: unknown): ZoneFields {
  const row = definition as ZoneFields // safe: a trigger writes whole rows of zones, checked on their way in
  const { snoozed_until } = row
  return { ...row, snoozed_until: snoozed_until && new Date(snoozed_until).toISOString() }
}
