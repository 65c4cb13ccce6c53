import { z } from 'zod'
import { effectiveSeverity } from '../../../shared/decide/checks.ts'
import type { Obstacles, Reach, ReachedZone, StepReach, ZoneRow } from './zone-rows.ts'

export const Warnings = z.array(z.string()).optional().meta({
  description:
    'Why this zone will hardly ever raise an alert, where its alerts do not go, or which of its settings does nothing.',
})

/** The warnings for a zone; absent when there are none. */
export function warn(zone: ReachedZone): { warnings?: string[] } {
  const { obstacles } = zone
  const warnings = [
    ...(obstacles?.paused ? [PAUSED[obstacles.paused]] : []),
    ...(zone.enabled ? [] : ['The zone is switched off.']),
    ...warnOfSeverity(zone, obstacles?.highest ?? []),
    ...warnOfSources(zone, obstacles),
    ...(zone.aftershocks && zone.types?.includes('earthquake') === false ? [NO_QUAKES] : []),
  ]
  if (zone.channel_ids?.length === 0) {
    warnings.push('channel_ids is empty: alerts are recorded but not sent.')
  } else if (zone.reach) {
    warnings.push(...warnOfReach(zone, zone.reach))
  }
  warnings.push(...(zone.reach?.steps ?? []).flatMap(warnOfStep))
  return warnings.length > 0 ? { warnings } : {}
}

const PAUSED = {
  paused_by_plan: 'The zone is paused, because the account of its owner is below the Pro plan.',
  owner_banned: 'The zone is paused, because the account of its owner is banned.',
} as const

const NO_QUAKES = 'aftershocks does nothing: the types of the zone do not include earthquake.'

/** Which types cannot reach the threshold. */
function warnOfSeverity(zone: ZoneRow, highest: Obstacles['highest']): string[] {
  const { min_severity, severity_multiplier } = zone
  const known = highest.flatMap(({ type, severity }) =>
    severity === null ? [] : [{ type, severity }],
  )
  const all = known.length > 0 ? known : [{ type: null, severity: 100 }]
  return all.flatMap(({ type, severity }) => {
    const effective = effectiveSeverity(severity, severity_multiplier)
    if (effective >= min_severity) return []
    const whose = type ? ` by events of type ${type}` : ''
    const most = type ? `their highest severity is ${severity}, and ` : ''
    return [
      `min_severity ${min_severity} can never be reached${whose}: ${most}with severity_multiplier ${severity_multiplier} the highest effective severity is ${effective}.`,
    ]
  })
}

/** Which sources send nothing, and which types no source has. */
function warnOfSources({ sources, coverage }: ZoneRow, obstacles: Obstacles | null): string[] {
  const silent = obstacles?.silent ?? []
  const warnings = silent.map(({ source, status }) =>
    status === 'unknown'
      ? `This service has no source "${source}". GET /api/sources/health lists its sources.`
      : `The source "${source}" is switched off in this service.`,
  )
  if (silent.length > 0 && silent.length === sources?.length) return warnings
  const isCustom = sources?.some((source) => source.startsWith('custom')) ?? false
  if (!isCustom && coverage.every(({ status }) => status === 'disabled')) {
    return [...warnings, 'No source of this service matches the sources and types of the zone.']
  }
  const missing = (obstacles?.highest ?? []).filter(({ severity }) => severity === null)
  if (!isCustom && missing.length > 0) {
    const types = missing.map(({ type }) => type).join(', ')
    warnings.push(`No source of the zone has events of type ${types}.`)
  }
  return warnings
}

/** The warnings about a step of the escalation. */
function warnOfStep({ after_minutes, channels, lost, is_reached }: StepReach): string[] {
  const step = `The step of escalation after ${after_minutes} minutes`
  if (channels === 0) return [`${step} does nothing: its channel_ids is empty.`]
  if (!is_reached) {
    return [
      `${step} tells nobody: each of its channels is disabled or not confirmed, takes no alert.raised, was deleted, or is no longer seen by the owner of the zone.`,
    ]
  }
  if (lost === 0) return []
  return [
    `${step} tells ${channels - lost} of its ${channels} channels: the others were deleted, or the owner of the zone no longer sees them.`,
  ]
}

/** The warnings about the channels of a zone. */
export function warnOfReach(
  { channel_ids, org_id }: Pick<ZoneRow, 'channel_ids' | 'org_id'>,
  { lost, unconfirmed, is_reached }: Reach,
): string[] {
  const warnings: string[] = []
  const left = (channel_ids?.length ?? 0) - lost.length
  const why = 'was deleted, or the owner of the zone no longer sees it'
  if (lost.length > 0 && left > 0) {
    const gone =
      lost.length === 1
        ? `gets no alerts: it ${why}`
        : 'get no alerts: they were deleted, or the owner of the zone no longer sees them'
    warnings.push(`${lost.length} of ${lost.length + left} channels in channel_ids ${gone}.`)
  }
  if (lost.length > 0 && left === 0) {
    const all = org_id ? 'the owner and of the organisation' : 'the owner'
    warnings.push(
      `No channel in channel_ids is left: each ${why}. Alerts go to every enabled channel of ${all}; change channel_ids to choose.`,
    )
  }
  if (unconfirmed > 0) {
    const [which, whose, it] =
      unconfirmed === 1
        ? ['1 channel gets', 'its address is', 'it']
        : [`${unconfirmed} channels get`, 'their addresses are', 'them']
    warnings.push(
      `${which} no alerts of this zone until ${whose} confirmed with the link that was mailed to ${it}.`,
    )
  }
  if (!is_reached) {
    warnings.push(
      'No enabled channel gets the alerts of this zone: they are recorded but not sent.',
    )
  }
  return warnings
}
