/** Events that an account sends itself. */
import { z } from 'zod'
import { GivenInstant, NullableInstant } from '../time.ts'
import { EVENT_STATUSES, EventType, Geometry, Severity } from './event.ts'

const MAX_PUSHED = 1000
/** How many items an account may send within a day, by its plan. */
export const MAX_PUSHED_A_DAY = { pro: 100_000, enterprise: 1_000_000 }
const MAX_POSITIONS = 10_000

const Text = z
  .string()
  .refine(
    (text) => !text.includes('\0') && text.isWellFormed(),
    'Must be valid Unicode without U+0000',
  )
const Word = Text.regex(/^\S+$/, 'Must not be empty or contain spaces')

/** A footprint with longitudes and latitudes in range, and not too many of them. */
const Footprint = Geometry.superRefine(({ coordinates }, context) => {
  const positions = positionsOf(coordinates)
  if (positions.length > MAX_POSITIONS) {
    context.addIssue({ code: 'custom', message: `Must have at most ${MAX_POSITIONS} positions` })
  }
  const isOutside = ([lon = 0, lat = 0]: number[]) => Math.abs(lon) > 360 || Math.abs(lat) > 90
  if (positions.length === 0 || positions.some(isOutside)) {
    context.addIssue({ code: 'custom', message: 'Must hold (lon, lat) positions in degrees' })
  }
})

type Nested = number | Nested[]

function positionsOf(nested: Nested[]): number[][] {
  const numbers = nested.filter((part) => typeof part === 'number')
  if (numbers.length > 0) return [numbers]
  return nested.flatMap((part) => (typeof part === 'number' ? [] : positionsOf(part)))
}

/** An event of one's own, as it is sent. */
export const PushedEvent = z
  .strictObject({
    id: Word.max(120).meta({
      description:
        'Your id of the event, unique within the source. The same id again is a revision of the event.',
      example: 'station-7:2026-03-01',
    }),
    type: EventType,
    title: Text.trim().min(1).max(500),
    lat: z.number().min(-90).max(90),
    lon: z.number().min(-180).max(180),
    ts: GivenInstant.meta({ description: 'When it happened.' }),
    severity: Severity.default(0),
    subject: Word.max(128).nullable().default(null).meta({
      description:
        'What it is about; the positions of a moving thing have `mmsi:<nine digits>` or `icao24:<six hex digits>`.',
    }),
    status: z.enum(EVENT_STATUSES).default('active'),
    url: z
      .url({ protocol: /^https?$/, error: 'Must be an http or https URL' })
      .nullable()
      .default(null),
    geometry: Footprint.nullable().default(null),
    ends_at: NullableInstant.default(null),
    revised_at: NullableInstant.default(null).meta({
      ...NullableInstant.meta(),
      description:
        'When this state was known; an older one never replaces a newer. Without it any change is a revision.',
    }),
    magnitude: z.number().nullable().default(null),
    depth_km: z.number().nullable().default(null),
  })
  .meta({ id: 'PushedEvent', description: 'An event of one’s own.' })
export type PushedEvent = z.infer<typeof PushedEvent>

export const Push = z
  .strictObject({
    source: z
      .string()
      .regex(/^custom:[a-z][a-z0-9-]*$/, 'Must have the form custom:<name>, e.g. custom:buoys')
      .max(64)
      .meta({ example: 'custom:buoys' }),
    org_id: z.uuid().nullable().optional().meta({
      description:
        'Sends the events for an organisation that the caller belongs to; its members see them. Otherwise only the caller does.',
    }),
    // Each item is validated for itself, so that one mistake does not stop the others.
    events: z
      .array(z.unknown())
      .min(1)
      .max(MAX_PUSHED)
      .optional()
      .meta({
        type: 'array',
        items: { $ref: '#/components/schemas/PushedEvent' },
        minItems: 1,
        maxItems: MAX_PUSHED,
      }),
    geojson: z
      .object({
        type: z.literal('FeatureCollection'),
        features: z.array(z.unknown()).min(1).max(MAX_PUSHED).meta({
          description:
            'Features with the fields of an event among their properties; `name` counts as `title`, `time` as `ts`.',
        }),
      })
      .optional()
      .meta({ description: 'A GeoJSON FeatureCollection (RFC 7946).' }),
    cap: z
      .array(Text.max(64 * 1024))
      .min(1)
      .max(100)
      .optional()
      .meta({
        description:
          'Documents of the Common Alerting Protocol 1.1 or 1.2, as text. An update is a revision of the alert that it references, a cancel ends it.',
      }),
    nmea: z.array(Text.max(1_000)).min(1).max(MAX_PUSHED).optional().meta({
      description: 'AIS sentences (`!AIVDM`), the parts of a message one after the other.',
    }),
  })
  .superRefine(({ events, geojson, cap, nmea }, context) => {
    const given = [events, geojson, cap, nmea].filter((form) => form !== undefined)
    if (given.length === 1) return
    context.addIssue({
      code: 'custom',
      path: ['events'],
      message: 'Send exactly one of events, geojson, cap and nmea.',
    })
  })
  .meta({ id: 'Push', description: 'Events of one’s own.' })

export const PushOutcome = z
  .object({
    index: z.int().min(0).meta({ description: 'The position of the item in the request, from 0.' }),
    id: z.string().nullable().meta({ description: 'Your id, if it could be read.' }),
    event_id: z.string().nullable().meta({
      description: 'The id of the stored event; null if the item was refused.',
      example: 'custom:buoys:0b9d3c5e7a11.station-7:2026-03-01',
    }),
    outcome: z.enum(['created', 'revised', 'unchanged', 'superseded', 'no_event', 'refused']).meta({
      description:
        '`unchanged`: it was stored like this already, or a newer state was; `superseded`: a later item of the request has the same id; `no_event`: it is understood but no event, such as a part of a message; `refused`: see `reason`.',
    }),
    reason: z.string().nullable().meta({
      description:
        'Why the item was refused, or is not an event; of a new event, that it comes too late to raise an alert.',
    }),
  })
  .meta({ id: 'PushOutcome', description: 'What became of an item.' })
export type PushOutcome = z.infer<typeof PushOutcome>

export const Pushed = z
  .object({
    accepted: z.int().meta({ description: 'How many events were stored or known already.' }),
    refused: z.int(),
    ignored: z.array(z.string()).meta({
      description:
        'Properties of GeoJSON features that an event does not have. They are not stored.',
    }),
    results: z
      .array(PushOutcome)
      .meta({ description: 'One for each item, in the order of the request.' }),
  })
  .meta({ id: 'Pushed', description: 'What became of the items.' })
