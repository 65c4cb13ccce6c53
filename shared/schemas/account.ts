import { z } from 'zod'
import { Instant, NullableInstant } from '../time.ts'
import { Alert, Delivery } from './alert.ts'
import { AuditRow } from './audit.ts'
import { Channel } from './channel.ts'
import { FeedLink } from './feed-link.ts'
import { MEMBER_ROLES } from './organisation.ts'
import { readOnly } from './read-only.ts'
import { Zone } from './zone.ts'

const PLANS = ['free', 'pro', 'enterprise'] as const
const SCOPES = ['read', 'write', 'ingest'] as const

const Name = z
  .string()
  .min(1)
  .max(120)
  .regex(/^[^\p{Cc}]*$/u, 'Must not contain control characters')
  .regex(/\S/u, 'Must not be blank')
  .meta({ pattern: '^[^\\p{Cc}]*[^\\p{Cc}\\s][^\\p{Cc}]*$' })

/** An organisation as one of its members sees it. */
export const Org = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ example: 'Port operations' }),
    role: z.enum(MEMBER_ROLES).meta({ description: 'The caller’s role.' }),
    members: z.int().meta({ description: 'How many members have joined.' }),
    created_at: Instant,
  })
  .meta({ id: 'Org', description: 'People who share zones and channels.' })
export type Org = z.infer<typeof Org>

const OrgName = Name.meta({ example: 'Port operations' })

/** Body of POST /account/orgs. */
export const OrgCreate = z.strictObject({ name: OrgName }).meta({ id: 'OrgCreate' })

/** What only the service sets in an organisation. */
export const ORG_READ_ONLY = [
  'id',
  'role',
  'members',
  'created_at',
] as const satisfies (keyof Org)[]

/** Body of PATCH /account/orgs/:id. */
export const OrgPatch = z
  .strictObject({ name: OrgName.optional(), ...readOnly(ORG_READ_ONLY) })
  .meta({
    id: 'OrgPatch',
    description: 'The organisation can be sent back as it was read, with another name.',
  })

/** Body of POST /account/orgs/:id/transfer. */
export const OrgTransfer = z
  .strictObject({ user_id: z.guid().meta({ description: 'A member who has joined.' }) })
  .meta({ id: 'OrgTransfer' })

/** The account: who is signed in, the limits of the plan and the current usage. */
export const Account = z
  .object({
    user_id: z.uuid(),
    email: z.string().meta({ example: 'ayse@example.com' }),
    plan: z
      .enum(PLANS)
      .meta({ description: 'The plan of the account itself. Below `pro` the API cannot be used.' }),
    created_at: Instant,
    limits: z
      .object({
        requests_per_minute: z.int(),
        zones: z.int(),
        channels: z.int(),
        members: z
          .int()
          .meta({ description: 'Members of each organisation that the account owns.' }),
        keys: z.int(),
        organisations: z.int().meta({ description: 'Organisations that the account owns.' }),
      })
      .meta({ description: 'What the plan allows.' }),
    counts: z.object({ zones: z.int(), channels: z.int(), keys: z.int(), organisations: z.int() }),
    orgs: z.array(Org),
  })
  .meta({ id: 'Account' })

/** A key as it is listed, without its secret. */
export const Key = z
  .object({
    id: z.uuid(),
    name: z.string(),
    prefix: z
      .string()
      .meta({ description: 'The first characters of the key.', example: 'wp_live_3fKq' }),
    scopes: z.array(z.enum(SCOPES)),
    expires_at: Instant.nullable(),
    revoked_at: Instant.nullable(),
    last_used_at: Instant.nullable().meta({ description: 'Accurate to about a minute.' }),
    created_at: Instant,
  })
  .meta({ id: 'Key', description: 'An API key.' })
export type Key = z.infer<typeof Key>

/** Body of POST /account/keys. */
export const KeyCreate = z
  .strictObject({
    name: Name.meta({ description: 'What the key is for.', example: 'Night shift dashboard' }),
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .max(SCOPES.length)
      .meta({ description: '`write` includes `read`.', example: ['read'] }),
    expires_at: NullableInstant.optional().meta({
      description: 'When the key stops working. Default: never.',
    }),
  })
  .meta({ id: 'KeyCreate' })

/** An invite to the caller's address. */
export const Invite = z
  .object({
    id: z.uuid().meta({ description: 'The id of the invite, and later of the member.' }),
    org: z.object({ id: z.uuid(), name: z.string() }),
    email: z.string(),
    role: z.enum(MEMBER_ROLES),
    invited_by: z.string().nullable().meta({ description: 'The email address of the inviter.' }),
    expires_at: Instant,
    created_at: Instant,
  })
  .meta({
    id: 'Invite',
    description:
      'An invite. The address that it names accepts it by its id, or with the token in its link.',
  })

/** Body of POST /account/invites/accept: either field. */
export const InviteAccept = z
  .strictObject({
    token: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .meta({ description: 'What follows `#` in the link.', example: '3q2-7wX9kQ' }),
    id: z.uuid().optional().meta({ description: 'The id of an invite to the caller’s address.' }),
  })
  .refine(({ token, id }) => (token === undefined) !== (id === undefined), {
    path: ['token'],
    message: 'Send either "token", from the link, or "id", from GET /account/invites.',
  })
  .meta({ id: 'InviteAccept', minProperties: 1, maxProperties: 1 })

/** Body of DELETE /account. */
export const AccountDelete = z
  .strictObject({
    confirm: z.string().max(254).meta({
      description: 'The email address of the account, as a confirmation.',
      example: 'ayse@example.com',
    }),
  })
  .meta({ id: 'AccountDelete' })

const DeletedAt = Instant.nullable().meta({
  description: 'When it was deleted; null unless it is deleted and can still be restored.',
})
export const ExportedZone = Zone.omit({ coverage: true }).extend({ deleted_at: DeletedAt })
export const ExportedChannel = Channel.omit({ signing_secret: true }).extend({
  deleted_at: DeletedAt,
})
export const ExportedDelivery = Delivery.extend({
  alert_id: z.uuid().nullable(),
  created_at: Instant,
})

/** The export: everything an account owns, without secrets. */
export const AccountExport = z
  .object({
    exported_at: Instant,
    account: Account,
    keys: z.array(Key),
    zones: z.array(ExportedZone),
    feed_links: z
      .array(FeedLink)
      .meta({ description: 'The links that the account made, without their addresses.' }),
    channels: z.array(ExportedChannel).meta({ description: 'With masked targets and settings.' }),
    alerts: z
      .array(Alert)
      .meta({ description: 'The alerts of the account’s own zones, newest first.' }),
    deliveries: z
      .array(ExportedDelivery)
      .meta({ description: 'The deliveries to the account’s own channels.' }),
    audit: z.array(AuditRow).meta({
      description:
        'The account’s audit log; actions of others appear without their IP address and user agent.',
    }),
  })
  .meta({ id: 'AccountExport' })
