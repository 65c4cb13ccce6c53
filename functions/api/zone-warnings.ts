import { z } from 'zod'
import type { Reach, ReachedZone, ZoneRow } from './zone-rows.ts'

export const Warnings = z.array(z.string()).optional().meta({
  description: 'Why this zone will hardly ever raise an alert, or where its alerts do not go.',
})

/** The warnings for a zone; absent when there are none. */
export function warn(zone: ReachedZone): { warnings?: string[] } {
  const warnings: string[] = []
  const strongest = Math.min(100 * zone.severity_multiplier, 100)
  if (strongest < zone.min_severity) {
    warnings.push(
      `min_severity ${zone.min_severity} can never be reached: with severity_multiplier ${zone.severity_multiplier} the highest effective severity is ${strongest}.`,
    )
  }
  if (zone.coverage.length === 0) {
    warnings.push('No source of this service matches the sources and types of the zone.')
  }
  if (!zone.enabled) warnings.push('The zone is switched off.')
  if (zone.channel_ids?.length === 0) {
    warnings.push('channel_ids is empty: alerts are recorded but not sent.')
  } else if (zone.reach) {
    warnings.push(...warnOfReach(zone, zone.reach))
  }
  return warnings.length > 0 ? { warnings } : {}
}

/** The warnings about the channels of a zone. */
export function warnOfReach(
  { channel_ids, org_id }: Pick<ZoneRow, 'channel_ids' | 'org_id'>,
  { lost, is_reached }: Reach,
): string[] {
  const warnings: string[] = []
  const left = (channel_ids?.length ?? 0) - lost.length
  const why = 'was deleted, or the owner of the zone no longer sees it'
  if (lost.length > 0 && left > 0) {
    warnings.push(
      `${lost.length} of ${lost.length + left} channels in channel_ids gets no alerts: it ${why}.`,
    )
  }
  if (lost.length > 0 && left === 0) {
    const all = org_id ? 'the owner and of the organisation' : 'the owner'
    warnings.push(
      `No channel in channel_ids is left: each ${why}. Alerts go to every enabled channel of ${all}; change channel_ids to choose.`,
    )
  }
  if (!is_reached) {
    warnings.push(
      'No enabled channel gets the alerts of this zone: they are recorded but not sent.',
    )
  }
  return warnings
}
