import { z } from 'zod'
import type { Reach } from '../zones/zone-rows.ts'
import { warnOfReach } from '../zones/zone-warnings.ts'

export const LostWarnings = z.array(z.string()).optional().meta({
  description: 'The zones that passed on and lost channels or reach nobody now, and what follows.',
})
export const PassedOn = z.object({ zones: z.int(), channels: z.int() }).meta({
  description:
    'How many of their shared zones and channels now belong to the owner of the organisation.',
})

/** What private.remove_member and private.leave_org answer. */
export type Removal = {
  passed_on: z.infer<typeof PassedOn> | null
  zones: {
    label: string
    org_id: string | null
    channel_ids: string[] | null
    reach: Reach | null
  }[]
}

/** A removal in the form of the API. */
export function tellRemoval({ passed_on, zones }: Removal) {
  const warnings = zones.flatMap((zone) =>
    (zone.reach ? warnOfReach(zone, zone.reach) : []).map(
      (text) => `Zone "${zone.label}": ${text}`,
    ),
  )
  return {
    passed_on: passed_on ?? { zones: 0, channels: 0 },
    ...(warnings.length > 0 ? { warnings } : {}),
  }
}
