/** What listmonk answers, as far as the hub reads it. */
import { z } from 'zod'

const Id = z.number().int().positive()

/** A list of subscribers. */
export const ListmonkList = z.object({
  id: Id,
  uuid: z.string(),
  name: z.string(),
  type: z.string(),
  optin: z.string(),
  tags: z
    .array(z.string())
    .nullable()
    .transform((tags) => tags ?? []),
  subscriber_count: z.number().int().catch(0),
})

const Subscription = z.object({
  id: Id,
  name: z.string(),
  tags: z
    .array(z.string())
    .nullish()
    .transform((tags) => tags ?? []),
  subscription_status: z.enum(['confirmed', 'unconfirmed', 'unsubscribed']).catch('unconfirmed'),
})

/** Somebody on lists, with what the hub and others know about them. */
export const Subscriber = z.object({
  id: Id,
  uuid: z.string(),
  email: z.string(),
  name: z.string(),
  status: z.enum(['enabled', 'disabled', 'blocklisted']),
  attribs: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform((attribs) => attribs ?? {}),
  lists: z
    .array(Subscription)
    .nullish()
    .transform((lists) => lists ?? []),
  updated_at: z.string(),
})
export type Subscriber = z.infer<typeof Subscriber>

export const CAMPAIGN_STATUSES = [
  'draft',
  'scheduled',
  'running',
  'paused',
  'finished',
  'cancelled',
] as const

/** A campaign and how far it has come. */
export const Campaign = z.object({
  id: Id,
  uuid: z.string(),
  name: z.string(),
  subject: z.string(),
  status: z.enum(CAMPAIGN_STATUSES),
  lists: z
    // The id of a list that was deleted is null.
    .array(z.object({ id: Id.nullable(), name: z.string() }))
    .nullish()
    .transform((all) => all ?? []),
  tags: z
    .array(z.string())
    .nullish()
    .transform((tags) => tags ?? []),
  to_send: z.number().int(),
  sent: z.number().int(),
  views: z.number().int(),
  clicks: z.number().int(),
  bounces: z.number().int().catch(0),
  started_at: z
    .string()
    .nullish()
    .transform((at) => at ?? null),
  updated_at: z.string(),
})
export type Campaign = z.infer<typeof Campaign>

/** What came back of a mail. */
export const Bounce = z.object({
  id: Id,
  type: z.enum(['hard', 'soft', 'complaint']),
  source: z.string(),
  email: z.string(),
  subscriber_id: z.number().int(),
  created_at: z.string(),
  campaign: z.object({ id: z.number().int(), name: z.string() }).nullish(),
})

/** A template, of campaigns or of single mails. */
export const Template = z.object({ id: Id, name: z.string(), type: z.string() })
