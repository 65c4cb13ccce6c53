import { invalid } from '../../../shared/problem.ts'
import type { ZonePatch } from '../../../shared/schemas/zone.ts'
import type { Issue } from '../../../shared/schemas/zone-shape.ts'

/** What the database says of the channels and the organisation that a zone names. */
export type References = { unusable: string[]; unusable_in_steps: string[]; foreign_org: boolean }
type Referring = Pick<ZonePatch, 'channel_ids' | 'escalation'>

/** The channels that the steps of an escalation name. */
export const stepChannels = ({ escalation }: Referring) => [
  ...new Set(escalation?.flatMap(({ channel_ids }) => channel_ids)),
]

/** The issues of what a zone names that the caller or its owner cannot see. */
export function referenceIssues(found: References | undefined, fields: Referring): Issue[] {
  const issues: Issue[] = []
  const unknown = (ids: readonly string[] | null | undefined, path: string, unusable: string[]) => {
    for (const [index, id] of (ids ?? []).entries()) {
      if (!unusable.includes(id)) continue
      issues.push({
        path: `${path}.${index}`,
        code: 'unknown_channel',
        message: `There is no channel ${id} that both you and the owner of the zone can see.`,
      })
    }
  }
  unknown(fields.channel_ids, 'channel_ids', found?.unusable ?? [])
  for (const [index, { channel_ids }] of (fields.escalation ?? []).entries()) {
    unknown(channel_ids, `escalation.${index}.channel_ids`, found?.unusable_in_steps ?? [])
  }
  if (found?.foreign_org) {
    issues.push({
      path: 'org_id',
      code: 'unknown_organisation',
      message: 'You do not belong to this organisation. GET /me lists yours.',
    })
  }
  return issues
}

/** Throws 422 for them. */
export function requireReferences(found: References | undefined, fields: Referring): void {
  const issues = referenceIssues(found, fields)
  if (issues.length > 0) throw invalid(issues)
}
