/** The steps of an alert that nobody acknowledges: what becomes of each, and when. */
import { z } from 'zod'
import type { ZoneFields } from '../schemas/zone.ts'
import { Instant } from '../time.ts'
import { checkQuietHours, checkSnooze, OffReason, type ZoneRule } from './checks.ts'
import { quietWindowAt } from './quiet-hours.ts'

/** Why a step that was due, or was to come, told nobody. */
const STEP_STOPS = [
  'acknowledged',
  'resolved',
  'ended',
  'retracted',
  'escalated',
  'suppressed',
  ...OffReason.options,
  'snoozed',
  'quiet_hours',
  'removed',
  'no_channel',
] as const
export const StepStop = z.enum(STEP_STOPS)
export type StepStop = z.infer<typeof StepStop>

/** A step of an alert, and what became of it. */
export const AlertStep = z
  .object({
    step: z.int().min(1).meta({ description: 'Its number in the escalation of the zone.' }),
    after_minutes: z.int(),
    began_at: Instant.meta({
      description: 'From when its minutes count: when the alert was sent, or its escalation.',
    }),
    due_at: Instant.meta({
      description: 'When it is due; later than its minutes when it has to wait.',
    }),
    status: z.enum(['waiting', 'ran', 'stopped']),
    reason: StepStop.nullable().meta({
      description:
        'Why it was stopped, else null: somebody acknowledged or resolved the alert; its event ended or was retracted, or it ' +
        '`escalated` and the steps began anew; the alert was suppressed; the zone was deleted, disabled, paused or snoozed, or ' +
        'its `quiet_mode` drops what comes in quiet hours; the step was `removed` from the zone; it had `no_channel` to tell.',
    }),
    settled_at: Instant.nullable().meta({ description: 'When it ran or was stopped.' }),
    channels: z
      .array(
        z.object({
          channel_id: z.uuid(),
          outcome: z
            .enum(['told', 'lost', 'disabled', 'unconfirmed', 'takes_no_alert_raised'])
            .meta({
              description:
                '`lost`: the channel was deleted, or the owner of the zone no longer sees it. `unconfirmed`: nobody has confirmed its address. `takes_no_alert_raised`: it is not ' +
                'among the `messages` of the channel.',
            }),
        }),
      )
      .meta({ description: 'The channels that the step had when it was due.' }),
  })
  .meta({
    id: 'AlertStep',
    description: 'A step of the escalation of an alert, and what became of it.',
  })
export type AlertStep = z.infer<typeof AlertStep>

/** The fields of a zone that decide about a step besides its account. */
export type StepRule = Pick<
  ZoneRule,
  | 'snoozed_until'
  | 'quiet_hours_start'
  | 'quiet_hours_end'
  | 'quiet_hours_tz'
  | 'quiet_windows'
  | 'quiet_mode'
  | 'emergency_severity'
>

/** What is known of an alert and its zone when one of its steps is due. */
export type StepFacts = {
  rule: StepRule
  /** Why nothing of the alert is left to be done; null: there is. */
  calm: 'acknowledged' | 'resolved' | 'ended' | 'retracted' | null
  alert_status: string
  held_until: string | null
  /** The effective severity. */
  severity: number
  off: OffReason | null
  /** Whether the zone still has a step after as many minutes. */
  is_in_zone: boolean
}

export type StepVerdict = { run: true } | { stop: StepStop } | { wait_until: Date }

/** Judges a step that is due. Snooze and quiet hours apply to it as to any other message of the zone. */
export function judgeStep(facts: StepFacts, at: Date): StepVerdict {
  const { rule, calm, alert_status, held_until, severity, off } = facts
  if (calm) return { stop: calm }
  if (off) return { stop: off }
  if (alert_status === 'suppressed') return { stop: 'suppressed' }
  if (!checkSnooze(rule, at).passed) return { stop: 'snoozed' }
  if (!facts.is_in_zone) return { stop: 'removed' }
  if (alert_status === 'held' && held_until) return { wait_until: new Date(held_until) }
  const quiet = checkQuietHours(rule, at, severity).passed ? null : quietWindowAt(rule, at)
  if (!quiet) return { run: true }
  return rule.quiet_mode === 'drop' ? { stop: 'quiet_hours' } : { wait_until: quiet.end }
}

/**
 * When the steps of an alert that was sent would run: in their order, later where quiet hours hold them, and not where they
 * are dropped. As if nobody acknowledged it and it did not end.
 */
export function stepTimes(
  rule: Omit<StepRule, 'snoozed_until'> & Pick<ZoneFields, 'escalation'>,
  severity: number,
  sent_at: Date,
): Date[] {
  const facts = {
    rule: { ...rule, snoozed_until: null },
    calm: null,
    alert_status: 'dispatched',
    held_until: null,
    severity,
    off: null,
    is_in_zone: true,
  }
  return (rule.escalation ?? []).flatMap(({ after_minutes }) => {
    const due = new Date(sent_at.getTime() + after_minutes * 60_000)
    const verdict = judgeStep(facts, due)
    if ('stop' in verdict) return []
    return ['run' in verdict ? due : verdict.wait_until]
  })
}
