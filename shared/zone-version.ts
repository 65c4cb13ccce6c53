import { ZoneFields } from './zone.ts'

/**
 * The fields of a kept zone version, from the row that zone_versions holds as JSON; its times are as
 * Postgres writes them, and its look is not kept. Throws a ZodError for a definition that is no zone.
 */
export function zoneOfVersion(definition: unknown): ZoneFields {
  const { snoozed_until, ...rest } = definition as Record<string, unknown> // safe: a whole row as JSON
  return ZoneFields.parse({
    ...rest,
    color: null,
    icon: null,
    snoozed_until: typeof snoozed_until === 'string' ? new Date(snoozed_until).toISOString() : null,
  })
}
