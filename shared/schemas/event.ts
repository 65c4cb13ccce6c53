import { z } from 'zod'
import { Instant } from '../time.ts'

/** The types of events. Each feed maps its own terms to one of these. */
export const EVENT_TYPES = [
  'earthquake',
  'vessel',
  'aircraft',
  'wildfire',
  'storm',
  'flood',
  'volcano',
  'tsunami',
  'drought',
  'weather',
  'conflict',
  'other',
] as const

export const EVENT_STATUSES = ['active', 'ended', 'retracted'] as const

export const EventType = z.enum(EVENT_TYPES).meta({ id: 'EventType' })
export type EventType = z.infer<typeof EventType>

/** An integer 0–100; bands 0–19 minor, 20–39 low, 40–59 moderate, 60–79 severe, 80–100 extreme. */
export const Severity = z.int().min(0).max(100)

const Position = z.array(z.number()).min(2).max(3)

/** Any GeoJSON geometry (RFC 7946 §3.1) but a GeometryCollection. */
export const Geometry = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('Point'), coordinates: Position }),
    z.object({ type: z.literal('MultiPoint'), coordinates: z.array(Position) }),
    z.object({ type: z.literal('LineString'), coordinates: z.array(Position) }),
    z.object({ type: z.literal('MultiLineString'), coordinates: z.array(z.array(Position)) }),
    z.object({ type: z.literal('Polygon'), coordinates: z.array(z.array(Position)) }),
    z.object({ type: z.literal('MultiPolygon'), coordinates: z.array(z.array(z.array(Position))) }),
  ])
  .meta({ id: 'Geometry', description: 'A GeoJSON geometry of (lon, lat) positions.' })
export type Geometry = z.infer<typeof Geometry>

/** What is wrong with the step to a position from the one before. */
export const PositionFlag = z.enum(['gap', 'jump']).meta({
  id: 'PositionFlag',
  description:
    'Of a position: `gap` when nothing was heard of the subject for long before it, `jump` when nothing moves that fast from the position before.',
})
export type PositionFlag = z.infer<typeof PositionFlag>

/** The name of a source: of a feed, or of one's own events. */
export const SOURCE = /^(custom:)?[a-z][a-z0-9-]*$/

/** A canonical event as a feed returns it, before it is stored. */
export const NormalisedEvent = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z][a-z0-9-]*:\S+$/, 'Must have the form <source>:<source_specific_id>')
    .max(255),
  source: z.string().regex(SOURCE).max(64),
  type: EventType,
  title: z.string().min(1).max(500),
  lat: z.number().min(-90).max(90),
  lon: z.number().min(-180).max(180),
  ts: Instant,
  severity: Severity,
  /** The id of a thing that moves or persists, e.g. `mmsi:230123456`; null for most events. */
  subject: z.string().max(128).nullable(),
  status: z.enum(EVENT_STATUSES),
  url: z.url().nullable(),
  /** The original footprint; null when the event is only a point. */
  geometry: Geometry.nullable(),
  /** When a hazard that lasts ends; null for events without duration. */
  ends_at: Instant.nullable(),
  /** The feed's update time; null when it has none: then any change is a revision. */
  revised_at: Instant.nullable(),
  /** Of an earthquake, where the feed gives them. */
  magnitude: z.number().nullish(),
  depth_km: z.number().nullish(),
  /** Other ids of this event at the same source. */
  aliases: z.array(z.string().max(255)),
})
export type NormalisedEvent = z.infer<typeof NormalisedEvent>

/** Whether a subject moves. The positions of a moving subject form stays, and dwell applies to them. */
export function isMoving(subject: string | null): boolean {
  return subject !== null && /^(mmsi|icao24):/.test(subject)
}
