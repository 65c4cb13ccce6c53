import { z } from 'zod'
import { Instant } from '../time.ts'

/** The formats of a feed, by the ending of its address. */
export const FEED_FORMATS = ['atom', 'geojson', 'ics'] as const
export type FeedFormat = (typeof FEED_FORMATS)[number]

export const FeedLink = z
  .object({
    id: z.uuid(),
    zone_id: z.uuid(),
    owner_id: z.uuid().meta({
      description:
        'Who made or rotated it last. The link works while that account may change the zone and has the Pro plan.',
    }),
    label: z.string().nullable().meta({ description: 'What it is for.', example: 'Team calendar' }),
    created_at: Instant,
    rotated_at: Instant.nullable().meta({
      description: 'When its addresses were replaced last; null: never.',
    }),
  })
  .meta({ id: 'FeedLink', description: 'A secret link to the feed of a zone.' })
export type FeedLink = z.infer<typeof FeedLink>

const Address = z.url()
/** A link as it is shown once. */
export const ShownFeedLink = FeedLink.extend({
  urls: z
    .object({ atom: Address, geojson: Address, ics: Address })
    .nullable()
    .meta({
      description:
        'The same feed in three formats. Whoever has an address reads the alerts of the zone without a key. Shown only ' +
        'in the answer that made it; null when an Idempotency-Key is replayed.',
    }),
})

/** Body of POST /zones/:id/feed-links. */
export const FeedLinkCreate = z
  .strictObject({
    label: z
      .string()
      .min(1)
      .max(120)
      // PostgreSQL cannot store it.
      .regex(/^[^\0]*$/, 'Must not contain the character U+0000.')
      .nullable()
      .optional()
      .meta({ description: 'What it is for.', pattern: '^[^\\u0000]*$' }),
  })
  .meta({ id: 'FeedLinkCreate' })
