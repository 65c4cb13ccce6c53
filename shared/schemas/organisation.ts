import { z } from 'zod'
import { Instant } from '../time.ts'
import { readOnly } from './read-only.ts'

export const MEMBER_ROLES = ['owner', 'admin', 'member'] as const

const GivenRole = z.enum(['admin', 'member']).meta({
  description: '`owner` cannot be set here; ownership moves only by transfer.',
  example: 'member',
})

/** A member of an organisation, or an invite to it that nobody has accepted yet. */
export const Member = z
  .object({
    id: z.uuid(),
    user_id: z.uuid().nullable().meta({ description: 'Null until the invite is accepted.' }),
    email: z.string().meta({ example: 'ayse@example.com' }),
    role: z.enum(MEMBER_ROLES),
    status: z.enum(['active', 'invited']),
    joined_at: Instant.nullable(),
    invite_expires_at: Instant.nullable().meta({
      description:
        'Until when the invite can be accepted; it may be past. Null for an active member.',
    }),
  })
  .meta({ id: 'Member' })
export type Member = z.infer<typeof Member>

/** Body of POST /orgs/:id/members. */
export const MemberInvite = z
  .strictObject({
    email: z.email().max(254).meta({ example: 'ayse@example.com' }),
    role: GivenRole.optional().meta({ description: 'Default `member`.', example: 'member' }),
  })
  .meta({ id: 'MemberInvite' })

/** What only the service sets in a member. */
export const MEMBER_READ_ONLY = [
  'id',
  'user_id',
  'email',
  'status',
  'joined_at',
  'invite_expires_at',
] as const satisfies (keyof Member)[]

/** Body of PATCH /orgs/:id/members/:userId. */
export const MemberPatch = z
  .strictObject({
    role: z.enum(MEMBER_ROLES).optional().meta({
      description: '`owner` cannot be given here; ownership moves only by transfer.',
      example: 'member',
    }),
    ...readOnly(MEMBER_READ_ONLY),
  })
  .meta({
    id: 'MemberPatch',
    description: 'The member can be sent back as it was read, with another role.',
  })
