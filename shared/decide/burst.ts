/**
 * Bursts: from a number of alerts an hour on, further ones of a zone are held and sent together. Only an alert that is
 * sent at once counts; updates and escalations of alerts never count and are never held.
 */
import { z } from 'zod'
import { Instant } from '../time.ts'
import { type QuietHours, quietWindowAt } from './quiet-hours.ts'

const HOUR_MS = 60 * 60 * 1000

/** The key of this memory of a zone; no event and no subject has it. */
export const BURST_KEY = 'burst'

/** What matching remembers of the alerts of a zone. */
export const BurstMemory = z.object({
  kind: z.literal('burst'),
  /** When its latest alerts were sent, oldest first; at most as many as its limit. */
  sent: z.array(Instant),
  /** When the present burst ends, for all that is held in it. */
  until: Instant.nullable(),
})
export type BurstMemory = z.infer<typeof BurstMemory>

export const BurstCheck = z
  .object({
    name: z.literal('burst'),
    passed: z.boolean(),
    sent: z.int().meta({
      description: 'How many alerts the zone sent at once in the hour before, of all sources.',
    }),
    max_alerts_per_hour: z.int(),
    window_end: Instant.nullable().meta({
      description: 'When the zone sends alerts at once again; null while it does.',
    }),
    held_until: Instant.nullable().meta({
      description: '`window_end`, or the end of the quiet hours in which that lies.',
    }),
    emergency_severity: z.number().nullable(),
    overridden_by_emergency: z.boolean(),
  })
  .meta({
    id: 'BurstCheck',
    description:
      'Only of a zone with `max_alerts_per_hour`. An alert beyond that is held, and sent in a digest.',
  })
export type BurstCheck = z.infer<typeof BurstCheck>

export interface BurstRule extends QuietHours {
  max_alerts_per_hour: number | null
  emergency_severity: number | null
}

/**
 * Checks whether a zone may send one more alert. `is_first`: there is no alert of the event yet. Null for a zone without a
 * limit.
 */
export function checkBurst(
  rule: BurstRule,
  memory: BurstMemory | null,
  { at, effective, is_first }: { at: Date; effective: number; is_first: boolean },
): BurstCheck | null {
  const { max_alerts_per_hour, emergency_severity } = rule
  if (max_alerts_per_hour === null) return null
  const sent = sentInHour(memory, at)
  const window_end = burstEnd(rule, memory, at)
  const isEmergency = emergency_severity !== null && effective >= emergency_severity
  const isHeld = window_end !== null && is_first
  return {
    name: 'burst',
    passed: !isHeld || isEmergency,
    sent: sent.length,
    max_alerts_per_hour,
    window_end: window_end?.toISOString() ?? null,
    held_until: window_end && afterQuiet(rule, window_end).toISOString(),
    emergency_severity,
    overridden_by_emergency: isHeld && isEmergency,
  }
}

/** When a zone that has sent as many alerts as it may sends them at once again; null when it does now. */
export function burstEnd(
  { max_alerts_per_hour }: { max_alerts_per_hour: number | null },
  memory: BurstMemory | null,
  at: Date,
): Date | null {
  if (max_alerts_per_hour === null) return null
  const decisive = sentInHour(memory, at).at(-max_alerts_per_hour)
  if (decisive === undefined) return null
  // An emergency that is sent meanwhile does not make the others wait longer.
  if (memory?.until && Date.parse(memory.until) > at.getTime()) return new Date(memory.until)
  return new Date(Date.parse(decisive) + HOUR_MS)
}

/** The memory after an alert was sent at once or held; the same object when neither happened. */
export function rememberBurst(
  { max_alerts_per_hour }: { max_alerts_per_hour: number | null },
  memory: BurstMemory | null,
  { at, raised, held }: { at: Date; raised: boolean; held: BurstCheck | null },
): BurstMemory | null {
  if (max_alerts_per_hour === null) return memory
  const { sent, until } = memory ?? { sent: [], until: null }
  if (raised) {
    const latest = [...sent, at.toISOString()].sort().slice(-max_alerts_per_hour)
    return { kind: 'burst', sent: latest, until }
  }
  if (!held || held.window_end === until) return memory
  return { kind: 'burst', sent, until: held.window_end }
}

/** When two sources are matched at once, an alert of one may be later than `at`; it counts as well. */
function sentInHour(memory: BurstMemory | null, at: Date): string[] {
  const from = new Date(at.getTime() - HOUR_MS).toISOString()
  return memory?.sent.filter((sent) => sent > from) ?? []
}

/** What is held outside quiet hours is not sent in them, even where they drop alerts. */
function afterQuiet(hours: QuietHours, at: Date): Date {
  return quietWindowAt(hours, at)?.end ?? at
}
