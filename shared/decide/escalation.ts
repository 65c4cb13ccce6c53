/** Escalation: the steps of a zone that tell further channels of an alert that nobody acknowledges. */
import { z } from 'zod'
import type { Issue } from '../schemas/zone-shape.ts'

const EscalationStep = z
  .strictObject({
    after_minutes: z.int().min(1).max(1440).meta({
      description:
        'How long nobody has acknowledged the alert then, counted from when it was sent; more than in the step before.',
      example: 10,
    }),
    channel_ids: z
      .array(z.uuid())
      .max(100)
      .meta({
        description:
          'The channels that are told then, also those that were told before. They are tested as `channel_ids` of the zone ' +
          'are, and again when the step is due.',
      }),
  })
  .meta({ id: 'EscalationStep' })

export const Escalation = z.array(EscalationStep).min(1).max(5)
export type Escalation = z.infer<typeof Escalation>

/** The rules across the steps of a zone. */
export function escalationIssues({ escalation }: { escalation: Escalation | null }): Issue[] {
  return (escalation ?? []).flatMap(({ after_minutes }, index) => {
    const before = escalation?.[index - 1]?.after_minutes
    if (before === undefined || after_minutes > before) return []
    return [
      {
        path: `escalation.${index}.after_minutes`,
        code: 'not_ascending',
        message: `Each step comes later than the one before it, and this one is after ${after_minutes} minutes, not more than ${before}.`,
      },
    ]
  })
}
