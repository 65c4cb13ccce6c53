import { z } from 'zod'
import { Alert, Delivery } from './alert.ts'
import { AuditRow } from './audit.ts'
import { Channel } from './channel.ts'
import { MEMBER_ROLES } from './organisation.ts'
import { Instant } from './time.ts'
import { Zone } from './zone.ts'

export const PLANS = ['free', 'pro', 'enterprise'] as const
export const SCOPES = ['read', 'write', 'ingest'] as const

const Name = z
  .string()
  .min(1)
  .max(120)
  .regex(/^[^\p{Cc}]*$/u, 'has no control characters')
  .regex(/\S/u, 'is not blank')
  .meta({ pattern: '^[^\\p{Cc}]*[^\\p{Cc}\\s][^\\p{Cc}]*$' })

/** An organisation as one of its members sees it. */
export const Org = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ example: 'Port operations' }),
    role: z.enum(MEMBER_ROLES).meta({ description: 'The caller’s.' }),
    members: z.int().meta({ description: 'How many have joined.' }),
    created_at: Instant,
  })
  .meta({ id: 'Org', description: 'People who share zones and channels.' })
export type Org = z.infer<typeof Org>

/** Body of POST /account/orgs and PATCH /account/orgs/:id. */
export const OrgFields = z
  .strictObject({ name: Name.meta({ example: 'Port operations' }) })
  .meta({ id: 'OrgFields' })

/** Body of POST /account/orgs/:id/transfer. */
export const OrgTransfer = z
  .strictObject({ user_id: z.guid().meta({ description: 'A member who has joined.' }) })
  .meta({ id: 'OrgTransfer' })

/** Who is signed in, what the plan allows and how much of it is used. */
export const Account = z
  .object({
    user_id: z.uuid(),
    email: z.string().meta({ example: 'ayse@example.com' }),
    plan: z.enum(PLANS).meta({ description: 'The account’s own. Below `pro` the API is closed.' }),
    created_at: Instant,
    limits: z
      .object({
        requests_per_minute: z.int(),
        zones: z.int(),
        channels: z.int(),
        members: z.int().meta({ description: 'Of each organisation the account owns.' }),
        keys: z.int(),
        organisations: z.int().meta({ description: 'That the account owns.' }),
      })
      .meta({ description: 'What the plan allows.' }),
    counts: z.object({ zones: z.int(), channels: z.int(), keys: z.int(), organisations: z.int() }),
    orgs: z.array(Org),
  })
  .meta({ id: 'Account' })

/** A key as it is listed: it can be recognised, not used. */
export const Key = z
  .object({
    id: z.uuid(),
    name: z.string(),
    prefix: z.string().meta({ description: 'How it begins.', example: 'wp_live_3fKq' }),
    scopes: z.array(z.enum(SCOPES)),
    expires_at: Instant.nullable(),
    revoked_at: Instant.nullable(),
    last_used_at: Instant.nullable().meta({ description: 'Right to about a minute.' }),
    created_at: Instant,
  })
  .meta({ id: 'Key', description: 'An API key.' })
export type Key = z.infer<typeof Key>

/** Body of POST /account/keys. */
export const KeyCreate = z
  .strictObject({
    name: Name.meta({ description: 'What it is for.', example: 'Night shift dashboard' }),
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .max(SCOPES.length)
      .meta({ description: '`write` includes `read`.', example: ['read'] }),
    expires_at: Instant.nullable()
      .optional()
      .meta({ description: 'Refused from then on. Default: never.' }),
  })
  .meta({ id: 'KeyCreate' })

/** An invite to the caller's address. */
export const Invite = z
  .object({
    id: z.uuid().meta({ description: 'The id of the member it will become.' }),
    org: z.object({ id: z.uuid(), name: z.string() }),
    email: z.string(),
    role: z.enum(MEMBER_ROLES),
    invited_by: z.string().nullable().meta({ description: 'The address of whoever sent it.' }),
    expires_at: Instant,
    created_at: Instant,
  })
  .meta({ id: 'Invite', description: 'Accepted with the token in its link.' })

/** Body of POST /account/invites/accept. */
export const InviteAccept = z
  .strictObject({
    token: z
      .string()
      .min(1)
      .max(200)
      .meta({ description: 'The last part of the link.', example: '3q2-7wX9kQ' }),
  })
  .meta({ id: 'InviteAccept' })

/** Body of DELETE /account. */
export const AccountDelete = z
  .strictObject({
    confirm: z.string().max(254).meta({
      description: 'The address of the account, so that nothing is deleted by mistake.',
      example: 'ayse@example.com',
    }),
  })
  .meta({ id: 'AccountDelete' })

const DeletedAt = Instant.nullable().meta({ description: 'Null unless it can still be restored.' })
export const ExportedZone = Zone.omit({ coverage: true }).extend({ deleted_at: DeletedAt })
export const ExportedChannel = Channel.omit({ signing_secret: true }).extend({
  deleted_at: DeletedAt,
})
export const ExportedDelivery = Delivery.extend({
  alert_id: z.uuid().nullable(),
  created_at: Instant,
})

/** Everything an account owns, without secrets. */
export const AccountExport = z
  .object({
    exported_at: Instant,
    account: Account,
    keys: z.array(Key),
    zones: z.array(ExportedZone),
    channels: z.array(ExportedChannel).meta({ description: 'Targets and settings masked.' }),
    alerts: z.array(Alert).meta({ description: 'Of the own zones, the newest first.' }),
    deliveries: z.array(ExportedDelivery).meta({ description: 'To the own channels.' }),
    audit: z.array(AuditRow).meta({
      description: 'The own log; of what others did, without their address and software.',
    }),
  })
  .meta({ id: 'AccountExport' })
