/** A zone as it was at a time: one of its stored versions, and the plan and ban of its owner then. */
import type { OffReason } from '../decide/checks.ts'
import type { ZoneFields } from './zone.ts'

/** A stored version: what a caller can set, and what decides whether the zone is off. */
export type ZoneVersion = ZoneFields & { owner_id: string; deleted_at: string | null }

/** Plan and ban of an account, from a time until its next state. */
export type OwnerState = {
  user_id: string
  valid_from: string
  plan: string
  banned_until: string | null
}

/**
 * The fields of a stored zone version. It was validated when it was written, and matching reads very many
 * versions, so only its time is converted, and fields get their defaults that are newer than it.
 */
export function parseZoneVersion(definition: unknown): ZoneVersion {
  const row = definition as ZoneVersion // safe: a trigger writes whole rows of zones, checked on their way in
  const { snoozed_until } = row
  return { ...NEWER, ...row, snoozed_until: snoozed_until && new Date(snoozed_until).toISOString() }
}

const NEWER = { aftershocks: null, max_alerts_per_hour: null, escalation: null, external_id: null }

/** Why a zone raised nothing at a time; null when it was on. `states` are sorted by time. */
export function offReason(
  { owner_id, deleted_at, enabled }: Pick<ZoneVersion, 'owner_id' | 'deleted_at' | 'enabled'>,
  states: readonly OwnerState[],
  at: Date,
): OffReason | null {
  if (deleted_at) return 'deleted'
  const state = states.findLast(
    (one) => one.user_id === owner_id && Date.parse(one.valid_from) <= at.getTime(),
  )
  if (state?.plan === 'free') return 'paused_by_plan'
  if (state?.banned_until && new Date(state.banned_until) > at) return 'owner_banned'
  return enabled ? null : 'disabled'
}
